package posting_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// fifoEngine is a minimal lot engine: first in, first out, per source. The books must agree with its lots.
type fifoEngine struct {
	lots []lot
	next int
}

type lot struct {
	id string
	posting.Place
	asset           posting.Asset
	quantity, basis money.Decimal
	at              time.Time
	pending         bool
}

func (s *fifoEngine) add(l lot) {
	s.next++
	l.id = fmt.Sprintf("L%d", s.next)
	s.lots = append(s.lots, l)
	slices.SortStableFunc(s.lots, func(a, b lot) int { return a.at.Compare(b.at) })
}

// answer selects lots without consuming them; apply does that.
func (s *fifoEngine) answer(asks []posting.LotRequest, currency func(entity string) string) []posting.Answer {
	left := slices.Clone(s.lots)
	answers := make([]posting.Answer, len(asks))
	for i, t := range asks {
		answers[i].Method = "FIFO"
		places, _ := money.MinorUnits(currency(t.From.Entity))
		for _, part := range []struct {
			want money.Decimal
			fee  bool
		}{{t.Fee, true}, {t.Quantity.Sub(t.Fee), false}} {
			for n := range left {
				l := &left[n]
				if part.want.Sign() <= 0 || l.quantity.IsZero() || l.asset != t.Asset || !qualifies(l.Place, t) {
					continue
				}
				quantity, basis := l.quantity, l.basis
				if quantity.Cmp(part.want) > 0 {
					quantity = part.want
					basis = l.basis.Mul(quantity).Quo(l.quantity, places)
				}
				l.quantity, l.basis, part.want = l.quantity.Sub(quantity), l.basis.Sub(basis), part.want.Sub(quantity)
				answers[i].Slices = append(answers[i].Slices, posting.Slice{Lot: l.id, Account: l.Account, Quantity: quantity, Basis: basis,
					AcquiredAt: l.at, Fee: part.fee, BasisPending: l.pending})
			}
		}
	}
	return answers
}

func qualifies(at posting.Place, t posting.LotRequest) bool {
	return at.Entity == t.From.Entity && at.Source == t.From.Source && (at.Account == t.From.Account || t.From.Source != "" && !t.AccountOnly)
}

// apply consumes the lots of the answers and adds those that the entry creates.
func (s *fifoEngine) apply(answers []posting.Answer, e posting.Entry) {
	for _, a := range answers {
		for _, u := range a.Slices {
			for n := range s.lots {
				if s.lots[n].id == u.Lot {
					s.lots[n].quantity, s.lots[n].basis = s.lots[n].quantity.Sub(u.Quantity), s.lots[n].basis.Sub(u.Basis)
				}
			}
		}
	}
	s.lots = slices.DeleteFunc(s.lots, func(l lot) bool { return l.quantity.IsZero() })
	for _, l := range e.Lots {
		s.add(lot{Place: l.Place, asset: l.Asset, quantity: l.Quantity, basis: l.Basis, at: l.AcquiredAt, pending: l.BasisPending})
	}
}

// roles names the accounts of the service as people read them.
var roles = map[string]string{
	posting.FeesNetwork: "Network fees", posting.FeesBank: "Bank fees", posting.FeesTrading: "Trading fees",
	posting.RealizedGain: "Gain", posting.RealizedLoss: "Loss", posting.FXGain: "FX gain", posting.FXLoss: "FX loss",
	posting.Suspense: "Suspense", posting.SwapClearing: "Swap clearing", posting.TransferClearing: "Transfer clearing",
	posting.UnrealizedGain: "Unrealized gain", posting.UnrealizedLoss: "Unrealized loss",
	posting.InterestIncome: "Interest income", posting.InterestExpense: "Interest expense",
	"due_from:B": "DueFromB", "due_to:A": "DueToA", "due_from:A": "DueFromA", "due_to:B": "DueToB",
}

func books() posting.Books {
	return posting.Books{Accounts: roles, Currencies: map[string]string{"A": "USD", "B": "USD", "EU": "EUR"},
		Rates: map[posting.Rate]money.Decimal{}}
}

func dec(text string) money.Decimal { return money.MustParse(text) }

func day(text string) time.Time {
	at, err := time.Parse("2006-01-02", text)
	if err != nil {
		panic(err)
	}
	return at
}

// base returns the lots that every example starts with.
func base() *fifoEngine {
	s := &fifoEngine{}
	s.addLots("ETH: 2.0 ETH 3000.00 2025-01-10", "ETH: 3.0 ETH 6000.00 2025-06-01")
	return s
}

// addLots adds lots, each written as "source/account: quantity asset basis date". A source has the name of its account; a
// lot without a source is parked.
func (s *fifoEngine) addLots(lots ...string) {
	for _, text := range lots {
		account, rest, _ := strings.Cut(text, ": ")
		w := strings.Fields(rest)
		source, account, apart := strings.Cut(account, "/")
		if !apart {
			account = source
		}
		place := posting.Place{Source: "src " + source, Account: account, Entity: "A"}
		if strings.HasSuffix(account, "clearing") || account == "Loan" {
			place.Source = ""
		}
		s.add(lot{Place: place, asset: asset(w[1]), quantity: dec(w[0]), basis: dec(w[2]), at: day(w[3])})
	}
}

func asset(symbol string) posting.Asset {
	a := posting.Asset{Symbol: symbol, Lots: !money.IsFiat(symbol), Own: symbol == "OWN"}
	if strings.HasPrefix(symbol, "NFT") {
		a.Token = "1"
	}
	return a
}

var legForm = regexp.MustCompile(`^(?:(\w+)/)?([^:>]+)(?:>([^:]+))?: (\S+) (\w+)(?: fee (\S+))?(?: = (\S+)(?: fee (\S+))?(?: (\w+))?)?$`)

// leg parses "entity/account>offset: quantity asset fee quantity = gross fee fee currency"; most parts are optional.
func leg(text string) *posting.Leg {
	if text == "" {
		return nil
	}
	m := legForm.FindStringSubmatch(text)
	if m == nil {
		panic("not a leg: " + text)
	}
	number := func(text string) money.Decimal {
		if text == "" {
			return money.Decimal{}
		}
		return dec(text)
	}
	l := &posting.Leg{Place: posting.Place{Source: "src " + m[2], Account: m[2], Entity: "A"}, Offset: m[3], Asset: asset(m[5]),
		Quantity: number(m[4]), FeeQuantity: number(m[6]), At: day("2025-09-15")}
	if m[1] != "" {
		l.Entity = m[1]
	}
	if m[7] != "" {
		l.Value = &posting.Value{Gross: number(m[7]), Fee: number(m[8]), Currency: "USD"}
		if m[9] != "" {
			l.Value.Currency = m[9]
		}
	}
	return l
}

// target parses the name of an account; with "@" it is the account of another source, which holds money if it is a bank, both
// if it is an exchange, and assets otherwise. "@Bank in EUR" is kept in euros. Splits are separated by plus signs:
// "Rent 60% + Travel 40%: to Berlin".
func target(text string) posting.Target {
	if strings.Contains(text, " + ") {
		return posting.Target{Splits: splits(text)}
	}
	account, source := strings.CutPrefix(text, "@")
	account, currency, _ := strings.Cut(account, " in ")
	t := posting.Target{Account: account, Clearing: strings.HasSuffix(account, "clearing") || account == "Suspense"}
	if source {
		t.Source, t.Entity, t.Holding, t.Currency = "src "+account, "A", posting.HoldsAssets, currency
		if strings.HasPrefix(account, "Bank") {
			t.Holding = posting.HoldsMoney
		} else if account == "Exchange" {
			t.Holding = posting.HoldsBoth
		}
	}
	return t
}

func splits(text string) (out []posting.Split) {
	for part := range strings.SplitSeq(text, " + ") {
		part, memo, _ := strings.Cut(part, ": ")
		account, number, _ := strings.Cut(part, " ")
		s := posting.Split{Account: account, Memo: memo}
		digits, percent := strings.CutSuffix(number, "%")
		if amount := dec(digits); percent {
			s.Percent = &amount
		} else {
			s.Amount = &amount
		}
		out = append(out, s)
	}
	return out
}

// booking holds the lot requests, their answers and the entry.
type booking struct {
	posting.Entry
	requests []posting.LotRequest
	answers  []posting.Answer
}

// bookInput prepares and computes the entry and applies it to the engine.
func bookInput(t *testing.T, s *fifoEngine, in posting.Input) (booking, error) {
	t.Helper()
	plan, err := posting.Prepare(in)
	if err != nil {
		return booking{}, err
	}
	currency := func(entity string) string { return in.Books.Currencies[entity] }
	d := booking{requests: plan.LotRequests, answers: s.answer(plan.LotRequests, currency)}
	d.Entry, err = plan.Entry(d.answers)
	if err == nil {
		s.apply(d.answers, d.Entry)
	}
	return d, err
}

// formatLines formats lines in an accountant's notation.
func formatLines(e booking) string {
	var out []string
	for _, l := range e.Lines {
		side := "Dr"
		if l.Side == book.Credit {
			side = "Cr"
		}
		text := side + " " + l.Account + " " + l.Amount.Fixed(l.Currency)
		if l.Currency != "USD" {
			text += " " + l.Currency
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// formatLots formats lots: account, quantity, basis, date, and a question mark if the basis is pending.
func formatLots(lots []lot) string {
	var out []string
	for _, l := range lots {
		text := fmt.Sprintf("%s %s %s %s %s", l.Account, l.quantity, l.asset.Symbol, l.basis.Fixed("USD"), l.at.Format("2006-01-02"))
		if l.pending {
			text += " ?"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}
