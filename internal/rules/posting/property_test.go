package posting_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// world generates events and keeps the balances of the books.
type world struct {
	*rand.Rand
	*fifoEngine
	books    posting.Books
	balances map[[2]string]money.Decimal // by legal entity and account
	booked   map[string]int              // by type and direction
}

func (w *world) pick(of ...string) string { return of[w.IntN(len(of))] }

func (w *world) number(places int32) money.Decimal {
	n := money.FromInt(w.Int64N(1_000_000))
	if w.IntN(20) == 0 {
		n = money.FromInt(w.Int64N(3))
	}
	return n.Quo(money.FromInt([]int64{1, 3, 7, 100, 1000, 1_000_000}[w.IntN(6)]), places)
}

// places lists where assets are held. Two sources of an asset share no account, and only lots are booked to accounts that
// carry lots.
func (w *world) leg(entity, symbol string) *posting.Leg {
	source := entity + " " + symbol + w.pick("1", "2")
	l := &posting.Leg{Place: posting.Place{Source: "src " + source, Account: source, Entity: entity}, Asset: asset(symbol),
		At: day("2025-01-01").AddDate(0, 0, w.next)}
	l.Quantity = w.number(8)
	switch {
	case symbol == "NFTA":
		l.Quantity = money.FromInt(1)
	case w.IntN(2) == 0:
		l.FeeQuantity = l.Quantity.Mul(money.FromInt(w.Int64N(12))).Quo(money.FromInt(11), 8)
		if l.FeeQuantity.Cmp(l.Quantity) > 0 {
			l.FeeQuantity = l.Quantity
		}
	}
	if w.IntN(12) > 0 {
		gross := w.number(4)
		fee := gross.Mul(money.FromInt(w.Int64N(12))).Quo(money.FromInt(11), 4)
		if fee.Cmp(gross) > 0 || w.IntN(2) == 0 {
			fee = money.Decimal{}
		}
		l.Value = &posting.Value{Gross: gross, Fee: fee, Currency: w.pick("USD", "USD", "EUR")}
	}
	if w.IntN(10) == 0 {
		l.Offset = entity + " " + symbol + "3"
	}
	return l
}

func (w *world) input(kind posting.Type) posting.Input {
	in := posting.Input{Type: kind, Books: w.books, Policy: posting.Policy{
		NetFees: w.IntN(2) == 0, Capitalize: w.IntN(2) == 0, FairValue: w.IntN(2) == 0, ParkLoans: w.IntN(2) == 0}}
	entity, symbol := w.pick("A", "B", "EU"), w.pick("ETH", "USDC", "USD", "EUR", "NFTA")
	other, second := entity, symbol
	if kind == posting.Intercompany || w.IntN(10) == 0 {
		other = w.pick("A", "B", "EU")
	}
	if !slices.Contains([]posting.Type{posting.Internal, posting.Bridge, posting.Intercompany, posting.ReservesChange}, kind) ||
		w.IntN(4) == 0 {
		second = w.pick("ETH", "USDC", "USD", "EUR", "NFTA", "OWN")
	}
	switch w.IntN(3) {
	case 0:
		in.Out = w.leg(entity, symbol)
	case 1:
		in.In = w.leg(other, second)
	case 2:
		in.Out, in.In = w.leg(entity, symbol), w.leg(other, second)
		if second == symbol { // what arrives is about what left
			in.In.Quantity = in.Out.Quantity.Mul(money.FromInt(90+w.Int64N(11))).Quo(money.FromInt(100), 8)
			in.In.FeeQuantity = money.Decimal{}
		}
	}
	for range w.IntN(8) / 6 {
		in.Fees = append(in.Fees, *w.leg(entity, w.pick("ETH", "USDC", "USD")))
	}
	switch w.IntN(6) {
	case 0:
		in.Target = target(w.pick("Transfer clearing", "Swap clearing", "Suspense"))
	case 1:
		in.Target = posting.Target{Account: entity + " " + symbol + "1", Source: "src " + entity + " " + symbol + "1", Entity: entity,
			Lots: asset(symbol).Lots}
	case 2:
		in.Target = posting.Target{Account: entity + " " + symbol + "3", Lots: asset(symbol).Lots}
	case 3, 4:
		in.Target = target("Target")
		w.addUnits(&in, entity)
	}
	return in
}

// addUnits makes the target an account with a random balance of what moves.
func (w *world) addUnits(in *posting.Input, entity string) {
	in.Units, in.Target.Grows = w.IntN(4) > 0, []book.Side{"", book.Debit, book.Credit}[w.IntN(3)]
	if w.IntN(2) == 0 {
		return
	}
	sign := money.FromInt([]int64{1, -1}[w.IntN(2)])
	for _, unit := range []string{"ETH", "USDC", "USD", "EUR", "NFTA"} {
		in.Outstanding = append(in.Outstanding, posting.UnitBalance{Entity: entity, Account: "Target", Unit: unit,
			Quantity: w.number(8).Mul(sign), Carrying: w.number(2).Mul(sign)})
	}
}

// checkSettled checks that a line settles no more than is outstanding, and all of the carrying amount with the last unit.
func checkSettled(in posting.Input, e booking) error {
	for _, l := range e.Lines {
		if l.Effect != posting.SettlesBalance || in.Type != posting.Repayment {
			continue
		}
		for _, b := range in.Outstanding {
			if b.Unit != l.Unit || l.Account != b.Account {
				continue
			}
			left := b.Quantity.Abs().Sub(l.Quantity)
			if left.Sign() < 0 || left.IsZero() && !b.Carrying.IsZero() && !b.Carrying.Abs().Equal(l.Amount) {
				return fmt.Errorf("%s %s at %s settle %s at %s", l.Quantity, l.Unit, l.Amount, b.Quantity, b.Carrying)
			}
		}
	}
	return nil
}

func (w *world) balance(lines []posting.Line) {
	for _, l := range lines {
		key := [2]string{l.Entity, l.Account}
		if l.Side == book.Credit {
			l.Amount = l.Amount.Neg()
		}
		w.balances[key] = w.balances[key].Add(l.Amount)
	}
}

// total adds up the quantity or the basis of lots.
func (s *fifoEngine) total(of func(lot) money.Decimal) money.Decimal {
	var sum money.Decimal
	for _, l := range s.lots {
		sum = sum.Add(of(l))
	}
	return sum
}

func TestWhateverHappensTheBooksBalanceAndAgreeWithTheLots(t *testing.T) {
	t.Parallel()
	booked := map[string]int{}
	for seed := range uint64(30) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), fifoEngine: &fifoEngine{}, booked: booked, balances: map[[2]string]money.Decimal{}}
		w.books = books()
		w.books.Accounts = map[string]string{"due_from:EU": "DueFromEU", "due_to:EU": "DueToEU"}
		for role, account := range roles {
			w.books.Accounts[role] = account
		}
		w.books.Rates = map[posting.Rate]money.Decimal{{From: "USD", To: "EUR"}: dec("0.9213"), {From: "EUR", To: "USD"}: dec("1.0854")}
		for range 400 {
			in := w.input(posting.Types[w.IntN(len(posting.Types))])
			if err := w.happen(t, in); err != nil {
				t.Fatalf("seed %d, %s, out %+v, in %+v, target %+v, policy %+v: %v", seed, in.Type, in.Out, in.In, in.Target, in.Policy, err)
			}
		}
	}
	ways := maps.Clone(ways)
	ways[posting.Intercompany] = "pair"
	for kind, some := range ways {
		for way := range strings.FieldsSeq(some) {
			if booked[string(kind)+" "+way] < 10 {
				t.Errorf("%s %s was booked %d times, which shows nothing", kind, way, booked[string(kind)+" "+way])
			}
		}
	}
}

// happen books an event and checks all invariants.
func (w *world) happen(t *testing.T, in posting.Input) error {
	before, basisBefore := w.total(func(l lot) money.Decimal { return l.quantity }), w.total(func(l lot) money.Decimal { return l.basis })
	e, err := bookInput(t, w.fifoEngine, in)
	var refused *posting.Refusal
	if errors.As(err, &refused) {
		return nil
	}
	if err != nil {
		return err
	}
	way := "pair"
	if in.Out == nil {
		way = "in"
	} else if in.In == nil {
		way = "out"
	}
	w.booked[string(in.Type)+" "+way]++
	w.balance(e.Lines)
	after, basisAfter := w.total(func(l lot) money.Decimal { return l.quantity }), w.total(func(l lot) money.Decimal { return l.basis })
	return errors.Join(checkLines(w.books, e), checkGains(in, e), w.checkSubLedger(), checkCarried(e, basisBefore, basisAfter),
		checkSettled(in, e),
		checkQuantities(in, e, before, after))
}

func checkLines(books posting.Books, e booking) error {
	var lines []book.Line
	for _, l := range e.Lines {
		if l.Amount.Sign() <= 0 || !l.Amount.RoundTo(l.Currency).Equal(l.Amount) || l.Account == "" || l.Currency != books.Currencies[l.Entity] {
			return fmt.Errorf("line %+v", l)
		}
		lines = append(lines, book.Line{Entity: l.Entity, Account: l.Account, Side: l.Side, Amount: l.Amount, Currency: l.Currency})
	}
	if d := book.Differences(lines); len(d) > 0 {
		return fmt.Errorf("does not balance: %v in %s", d, formatLines(e))
	}
	return nil
}

// checkGains checks that the gains that follow from the requested proceeds add up to the gains in the books.
func checkGains(in posting.Input, e booking) error {
	var booked, gained money.Decimal
	for _, l := range e.Lines {
		switch l.Account {
		case "Gain":
			booked = booked.Add(l.Amount)
		case "Loss":
			booked = booked.Sub(l.Amount)
		}
	}
	for i, a := range e.requests {
		proceeds, there := a.Proceeds.Add(a.FeeProceeds), []money.Decimal{}
		for _, s := range e.answers[i].Slices {
			if s.Fee || a.Kind == posting.Consumed {
				gained = gained.Sub(s.Basis)
			}
			if s.Fee {
				there = append(there, s.Quantity)
			}
		}
		if missing := a.Fee.Sub(money.Sum(there...)); a.Kind == posting.Unparked && missing.Sign() > 0 { // what was never parked realizes nothing
			places, _ := money.MinorUnits(in.Books.Currencies[a.From.Entity])
			proceeds = money.Sum(money.Split(proceeds, append(there, missing), places)[:len(there)]...)
		}
		if in.Policy.NetFees {
			proceeds = proceeds.Sub(a.Costs)
		}
		gained = gained.Add(proceeds)
	}
	if !booked.Equal(gained) {
		return fmt.Errorf("gains are %s in the lines and %s of the lots: %s", booked, gained, formatLines(e))
	}
	return nil
}

// checkSubLedger checks that the balance of an account that carries lots equals their basis.
func (w *world) checkSubLedger() error {
	basis := map[[2]string]money.Decimal{}
	for _, l := range w.lots {
		key := [2]string{l.Entity, l.Account}
		basis[key] = basis[key].Add(l.basis)
	}
	for key, balance := range w.balances {
		symbol := strings.TrimPrefix(key[1], key[0]+" ")
		if symbol == key[1] || money.IsFiat(symbol[:3]) && symbol[:4] != "USDC" {
			continue
		}
		if !balance.Equal(basis[key]) {
			return fmt.Errorf("%s has %s and its lots %s", key[1], balance, basis[key])
		}
	}
	return nil
}

// checkCarried checks that carried lots keep their basis, converted if the currency differs, and that only the fee part
// realizes a gain.
func checkCarried(e booking, before, after money.Decimal) error {
	var used, fees, made money.Decimal
	carried, currencies := false, map[string]bool{}
	for i, a := range e.answers {
		for _, u := range a.Slices {
			used = used.Add(u.Basis)
			if u.Fee {
				fees = fees.Add(u.Basis)
				continue
			}
			if e.requests[i].Kind == posting.Consumed {
				return nil
			}
			carried = true
		}
	}
	for _, l := range e.Lots {
		currencies[l.Currency] = true
		if l.Kind != posting.Created {
			made = made.Add(l.Basis)
		} else {
			after = after.Sub(l.Basis)
		}
	}
	for _, l := range e.Lines {
		currencies[l.Currency] = true
	}
	if carried && len(currencies) == 1 && (!used.Equal(made.Add(fees)) || !before.Equal(after.Add(fees))) {
		return fmt.Errorf("basis %s became %s and %s of fees; before %s, after %s", used, made, fees, before, after)
	}
	return nil
}

// checkQuantities checks that the held quantity changes exactly by what arrived and left.
func checkQuantities(in posting.Input, e booking, before, after money.Decimal) error {
	var used, made money.Decimal
	for _, a := range e.answers {
		for _, s := range a.Slices {
			used = used.Add(s.Quantity)
		}
	}
	for _, l := range e.Lots {
		made = made.Add(l.Quantity)
		if l.Quantity.Sign() < 0 || l.Basis.Sign() < 0 {
			return fmt.Errorf("lot %+v", l)
		}
	}
	if !after.Equal(before.Sub(used).Add(made)) {
		return fmt.Errorf("%s were there, %s left, %s came, %s are", before, used, made, after)
	}
	if in.In != nil && in.In.Asset.Lots && !made.Equal(in.In.Quantity.Sub(in.In.FeeQuantity)) {
		return fmt.Errorf("%s landed, and the lots hold %s", in.In.Quantity.Sub(in.In.FeeQuantity), made)
	}
	return nil
}
