package docs_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// What one ETH of the table of transaction types is worth, has cost, and is owed at.
var (
	itsValue, itsCost, itsCarrying = money.MustParse("2400"), money.MustParse("1500"), money.MustParse("2000")
	one                            = money.MustParse("1")
)

// accountNames are the accounts of the table by role.
var accountNames = map[string]string{
	posting.FeesNetwork: "network fees", posting.Suspense: "suspense", posting.SwapClearing: "swap clearing",
	posting.TransferClearing: "transfer clearing", posting.RealizedGain: "realized", posting.RealizedLoss: "realized",
	posting.UnrealizedGain: "unrealized", posting.UnrealizedLoss: "unrealized", posting.InterestIncome: "interest",
	posting.InterestExpense: "interest", "due_from:B": "due from", "due_to:A": "due to", "due_from:A": "due from", "due_to:B": "due to",
}

// legOf returns a leg of one unit of an asset on an account.
func legOf(asset, account, entity string) *posting.Leg {
	return &posting.Leg{
		Place: posting.Place{Source: "source of " + account, Account: account, Entity: entity},
		Asset: posting.Asset{Symbol: asset, Lots: true}, Quantity: one, Value: &posting.Value{Gross: itsValue, Currency: "USD"},
		At: time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC),
	}
}

// casesOf returns what a transaction of a type can be, by what the table calls it.
func casesOf(kind posting.Type) map[string]posting.Input {
	target := posting.Target{Account: "target"}
	switch kind {
	case posting.Swap, posting.Conversion, posting.Bridge, posting.Internal, posting.TypeFee, posting.Minting, posting.NFT, posting.Unknown:
		target = posting.Target{} // the type says where it is booked unless the request does
	}
	from := func(change func(*posting.Target)) posting.Target {
		t := target
		change(&t)
		return t
	}
	elsewhere := from(func(t *posting.Target) { t.Source, t.Entity, t.Holding = "elsewhere", "A", posting.HoldsBoth })
	bank := from(func(t *posting.Target) { t.Source, t.Entity, t.Holding = "bank", "A", posting.HoldsMoney })
	claim := from(func(t *posting.Target) { t.Grows = book.Debit })
	debt := from(func(t *posting.Target) { t.Grows = book.Credit })
	parked := from(func(t *posting.Target) { t.Grows, t.Parked = book.Debit, true })
	owed := posting.UnitBalance{Entity: "A", Account: "target", Unit: "ETH", Quantity: one, Carrying: itsCarrying}
	owe := posting.UnitBalance{Entity: "A", Account: "target", Unit: "ETH", Quantity: one.Neg(), Carrying: itsCarrying.Neg()}
	in, out := legOf("ETH", "source", "A"), legOf("ETH", "source", "A")
	other := legOf("ETH", "other source", "A")
	switch kind {
	case posting.Swap, posting.Conversion, posting.Minting, posting.NFT:
		other.Asset.Symbol = "OTHER"
	case posting.Intercompany:
		other.Entity = "B"
	}
	cases := map[string]posting.Input{"in": {In: in, Target: target}, "out": {Out: out, Target: target}, "pair": {Out: out, In: other}}
	switch kind {
	case posting.Deposit:
		cases["in, from another source"] = posting.Input{In: in, Target: elsewhere}
		cases["in, from a bank account"] = posting.Input{In: in, Target: bank}
		cases["in, of what is owed"] = posting.Input{In: in, Target: claim, Outstanding: []posting.UnitBalance{owed}}
	case posting.Withdrawal:
		cases["out, to another source"] = posting.Input{Out: out, Target: elsewhere}
		cases["out, to a bank account"] = posting.Input{Out: out, Target: bank}
		cases["out, of what is owed"] = posting.Input{Out: out, Target: debt, Outstanding: []posting.UnitBalance{owe}}
	case posting.Intercompany:
		cases["pair, back"] = posting.Input{Out: out, In: other, Outstanding: []posting.UnitBalance{
			{Entity: "A", Account: "due to", Unit: "ETH", Quantity: one.Neg(), Carrying: itsCarrying.Neg()},
			{Entity: "B", Account: "due from", Unit: "ETH", Quantity: one, Carrying: itsCarrying}}}
	case posting.Borrow:
		cases["in"] = posting.Input{In: in, Target: debt}
		cases["out"] = posting.Input{Out: out, Target: claim}
		cases["out, parked"] = posting.Input{Out: out, Target: claim, Policy: posting.Policy{ParkLoans: true}}
	case posting.Repayment:
		cases["in"] = posting.Input{In: in, Target: claim, Outstanding: []posting.UnitBalance{owed}}
		cases["in, parked"] = posting.Input{In: in, Target: parked}
		cases["out"] = posting.Input{Out: out, Target: debt, Outstanding: []posting.UnitBalance{owe}}
	}
	for name, input := range cases {
		input.Type, input.Units = kind, true
		input.Books = posting.Books{Accounts: accountNames, Currencies: map[string]string{"A": "USD", "B": "USD"}}
		cases[name] = input
	}
	return cases
}

// rowOf books a case and returns its columns: debit, credit, lots, and gain or loss.
func rowOf(input posting.Input) ([4]string, error) {
	plan, err := posting.Prepare(input)
	if err != nil {
		return [4]string{}, err
	}
	words := map[posting.Kind]string{posting.Consumed: "consumed", posting.Moved: "moved", posting.Converted: "converted",
		posting.Parked: "parked", posting.Unparked: "returned", posting.Created: "new lot"}
	var answers []posting.Answer
	var lots []string
	for _, r := range plan.LotRequests {
		lots = append(lots, words[r.Kind])
		answers = append(answers, posting.Answer{Method: "FIFO", Slices: []posting.Slice{{Lot: "1", Account: r.From.Account, Quantity: r.Quantity,
			Basis: itsCost, AcquiredAt: r.At, Fee: !r.Fee.IsZero()}}})
	}
	e, err := plan.Entry(answers)
	if err != nil {
		return [4]string{}, err
	}
	for _, l := range e.Lots {
		if l.Kind == posting.Created {
			lots = append(lots, words[l.Kind])
		}
	}
	var debits, credits, gains []string
	for _, l := range e.Lines {
		amounts := map[string]string{itsValue.String(): " at value", itsCost.String(): " at cost", itsCarrying.String(): " at carrying amount"}
		switch text := l.Account + amounts[l.Amount.String()]; {
		case l.Account == "realized" && l.Amount.Equal(itsValue.Sub(itsCost)):
			gains = append(gains, "value less cost")
		case l.Account == "unrealized" && l.Amount.Equal(itsValue.Sub(itsCarrying)):
			gains = append(gains, "value less carrying amount")
		case l.Account == "unrealized" && l.Amount.Equal(itsCarrying.Sub(itsCost)):
			gains = append(gains, "cost less carrying amount")
		case text == l.Account:
			return [4]string{}, fmt.Errorf("%s of %s is neither the value, the cost nor the carrying amount", l.Amount, l.Account)
		case l.Side == book.Debit:
			debits = append(debits, text)
		default:
			credits = append(credits, text)
		}
	}
	if len(gains) == 0 {
		gains = []string{"none"}
	}
	slices.Sort(gains)
	gains = slices.Compact(gains)
	return [4]string{strings.Join(debits, "; "), strings.Join(credits, "; "), strings.Join(lots, "; "), strings.Join(gains, "; ")}, nil
}

// typeTable returns the rows of the table of the guide: the columns besides the meaning, by type and transaction.
func typeTable(t *testing.T) map[string][4]string {
	t.Helper()
	rows := map[string][4]string{}
	for line := range strings.Lines(textOfGuide(t, "transaction-types")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 7 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for i, c := range cells {
			cells[i] = strings.Trim(c, " `")
		}
		key := cells[0] + ", " + cells[1]
		if _, twice := rows[key]; twice || cells[2] == "" {
			t.Errorf("%s is there twice, or its meaning is missing", key)
		}
		rows[key] = [4]string(cells[3:7])
	}
	return rows
}

// The table says what the posting rules do for every type, alone and as a pair, and nothing else.
func TestTheTableOfTransactionTypesIsWhatIsBooked(t *testing.T) {
	t.Parallel()
	rows := typeTable(t)
	for _, kind := range posting.Types {
		booked := 0
		for name, input := range casesOf(kind) {
			key := string(kind) + ", " + name
			want, err := rowOf(input)
			var refused *posting.Refusal
			switch got, there := rows[key]; {
			case errors.As(err, &refused):
				if there && kind != posting.TypeSpam {
					t.Errorf("%s is in the table, and is refused: %v", key, err)
				}
				continue
			case err != nil:
				t.Errorf("%s: %v", key, err)
			case !there:
				t.Errorf("the table lacks | `%s` | %s | | %s |", kind, name, strings.Join(want[:], " | "))
			case got != want:
				t.Errorf("%s: the table says\n%q, but it is booked as\n%q", key, got, want)
			}
			delete(rows, key)
			booked++
		}
		if kind == posting.TypeSpam {
			if got := rows["SPAM, any"]; got != [4]string{"nothing", "nothing", "none", "none"} || booked != 0 {
				t.Errorf("SPAM is booked as %q in the table, and %d times in fact", got, booked)
			}
			delete(rows, "SPAM, any")
		} else if booked == 0 {
			t.Errorf("%s is never booked", kind)
		}
	}
	for key := range rows {
		t.Errorf("the table has %s, which does not exist", key)
	}
}
