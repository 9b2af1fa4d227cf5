package posting_test

import (
	"errors"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// without removes the account of a role from the books.
func without(role string) func(*posting.Input) {
	return func(in *posting.Input) {
		in.Books.Accounts = map[string]string{}
		for r, account := range roles {
			if r != role {
				in.Books.Accounts[r] = account
			}
		}
	}
}

func TestRefusalsBlameAFieldAndSayWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		example
		change  func(*posting.Input)
		reason  posting.Reason
		field   string
		message string
	}{
		{example: example{kind: posting.TypeSpam, in: "ETH: 1 ETH = 2400.00", target: "Other"}, reason: posting.Spam,
			field: "transaction_type", message: "a transaction of the type SPAM cannot be booked; change its type first"},
		{example: example{kind: "GIFT", in: "ETH: 1 ETH = 2400.00"}, reason: posting.UnknownType, field: "transaction_type",
			message: `"GIFT" is not a transaction type`},
		{example: example{kind: posting.Deposit, in: "ETH: 1 ETH", target: "Other"}, reason: posting.NoValue, field: "value_fiat",
			message: "the value of ETH is not known"},
		{example: example{kind: posting.Swap, out: "ETH: 1 ETH", in: "USDC: 1 USDC"}, reason: posting.NoValue, field: "value_fiat",
			message: "the value of ETH is not known"},
		{example: example{kind: posting.Internal, out: "ETH: 1 ETH", in: "Cold: 0.9 ETH"}, reason: posting.NoValue, field: "value_fiat",
			message: "the value of ETH is not known"},
		{example: example{kind: posting.Internal, out: "ETH: 1 ETH fee 0.1"}, reason: posting.NoValue, field: "value_fiat",
			message: "the value of ETH is not known"},
		{example: example{kind: posting.Conversion, out: "ETH: 1 ETH", in: "WETH: 1 WETH fee 0.1"}, reason: posting.NoValue,
			field: "value_fiat", message: "the value of WETH is not known"},
		{example: example{kind: posting.Deposit, in: "Cold: 1 ETH fee 0.1", target: "@ETH"}, reason: posting.NoValue, field: "value_fiat",
			message: "the value of ETH is not known"},
		{example: example{kind: posting.Internal, out: "Bank: 0 USD = 10.00", in: "Savings: 0 USD = 11.00"}, reason: posting.NotAPair,
			field: "value_fiat", message: "more USD arrived than left"},
		{example: example{kind: posting.Swap, out: "Bank: 10 USD = 10.00", in: "New: 1 SOL = 20.00 fee 11.00"}, reason: posting.BadValue,
			field: "value_fiat", message: "the fee exceeds the value of what was given"},
		{example: example{kind: posting.Internal, in: "Cold: 1 ETH"}, reason: posting.NoValue, field: "value_fiat",
			message: "the value of ETH is not known"},
		{example: example{kind: posting.Income, in: "Bank: 5 USD", target: "Other"}, reason: posting.NoValue, field: "value_fiat",
			message: "the value of USD is not known"},
		{example: example{kind: posting.Deposit, in: "ETH: 1 ETH = 5.00 fee 6.00", target: "Other"}, reason: posting.BadValue,
			field: "value_fiat", message: "gross must be net plus fee, and none of them negative"},
		{example: example{kind: posting.Deposit, out: "Bank: 1 USD = 1.00", target: "Other"}, reason: posting.WrongDirection,
			field: "transaction_type", message: "DEPOSIT does not fit a transaction that leaves its source"},
		{example: example{kind: posting.Expense, in: "Bank: 1 USD = 1.00", target: "Other"}, reason: posting.WrongDirection,
			field: "transaction_type", message: "EXPENSE does not fit a transaction that comes into its source"},
		{example: example{kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", target: "DueFromB"}, reason: posting.NoPartner,
			field:   "transaction_id",
			message: "an INTERCOMPANY TRANSFER needs both its transactions; link this one to the other first"},
		{example: example{kind: posting.Internal}, reason: posting.NoPartner, field: "transaction_id", message: "names no transaction to book"},
		{example: example{kind: posting.Internal, out: "ETH: 1 ETH = 2400.00", in: "B/BETH: 1 ETH = 2400.00"},
			reason: posting.WrongEntity, field: "transaction_type",
			message: "the two transactions belong to different legal entities; use the type INTERCOMPANY TRANSFER"},
		{example: example{kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", in: "Cold: 1 ETH = 2400.00"},
			reason: posting.WrongEntity, field: "transaction_type",
			message: "both transactions belong to one legal entity, so this is not an INTERCOMPANY TRANSFER"},
		{example: example{kind: posting.StakingReward, out: "ETH: 1 ETH = 2400.00", in: "Cold: 1 ETH = 2400.00"},
			reason: posting.NotAPair, field: "transaction_type",
			message: "STAKING_REWARD cannot be booked with a linked transaction; remove the link or change the type"},
		{example: example{kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", in: "B/BUSDC: 1 USDC = 1.00"},
			reason: posting.NotAPair, field: "transaction_type",
			message: "ETH and USDC are not the same asset, so this is not a transfer of the type INTERCOMPANY TRANSFER"},
		{example: example{kind: posting.Bridge, out: "Bank: 1 USD = 1.00", in: "USDC: 1 USDC = 1.00"}, reason: posting.NotAPair,
			field:   "transaction_type",
			message: "USD and USDC are not the same asset, so this is not a transfer of the type BRIDGE"},
		{example: example{kind: posting.Intercompany, out: "ETH: 1 ETH", in: "EU/EETH: 1 ETH"}, change: func(in *posting.Input) {
			in.Books.Accounts = map[string]string{"due_from:EU": "x", "due_to:A": "y"}
		},
			reason: posting.MissingRate, field: "value_fiat.currency", message: "the rate from USD to EUR is needed"},
		{example: example{kind: posting.Internal, out: "ETH: 1 ETH = 2400.00", in: "USDC: 1 USDC = 1.00"}, reason: posting.NotAPair,
			field:   "transaction_type",
			message: "ETH and USDC are not the same asset, so this is not a transfer of the type INTERNAL TRANSFER"},
		{example: example{kind: posting.Internal, out: "ETH: 1 ETH = 2400.00", in: "Cold: 1.1 ETH = 2640.00"}, reason: posting.NotAPair,
			field: "quantity", message: "more ETH arrived than left"},
		{example: example{kind: posting.Conversion, out: "Bank: 1 USD = 1.00", in: "USDC: 1 USDC = 1.00"}, reason: posting.NotAPair,
			field: "transaction_type", message: "NON_TAXABLE_CONVERSION is for crypto assets only; use SWAP where money is exchanged"},
		{example: example{kind: posting.Deposit, in: "ETH: 0 ETH = 2400.00", target: "Other"}, reason: posting.NoQuantity,
			field: "quantity", message: "the quantity of ETH is not known"},
		{example: example{kind: posting.Deposit, in: "Bank: 1 USD fee -1 = 1.00", target: "Other"}, reason: posting.NoQuantity,
			field: "quantity", message: "the quantity must not be negative and must include the quantity of the fee"},
		{example: example{kind: posting.Internal, fees: []string{"ETH: 1 ETH = 2400.00"}}, reason: posting.NoPartner,
			field: "transaction_id", message: "names no transaction to book"},
		{example: example{kind: posting.Deposit, in: "ETH: 1 ETH fee 2 = 2400.00", target: "Other"}, reason: posting.NoQuantity,
			field: "quantity", message: "the quantity must not be negative and must include the quantity of the fee"},
		{example: example{kind: posting.Deposit, in: "ETH: 1 ETH = 2400.00"}, reason: posting.NoTarget, field: "ledger_account_id",
			message: "DEPOSIT needs the ledger account to book it to"},
		{example: example{kind: posting.Deposit, in: "B/BETH: 1 ETH = 2400.00", target: "@ETH"}, reason: posting.WrongTarget,
			field:   "ledger_account_id",
			message: "the account belongs to a source of another legal entity; book this as an INTERCOMPANY TRANSFER"},
		{example: example{kind: posting.Expense, out: "Bank: 1 USD = 1.00", target: "ETH"}, change: func(in *posting.Input) {
			in.Target.Lots = true
		}, reason: posting.WrongTarget, field: "ledger_account_id",
			message: "the account carries lots, and EXPENSE would change its balance without changing the lots; choose another account"},
		{example: example{kind: posting.Deposit, in: "ETH: 1 ETH fee 1 = 2400.00", target: "Other"}, reason: posting.NoQuantity,
			field: "quantity", message: "the fee takes the whole inflow, so nothing arrives"},
		{example: example{kind: posting.Conversion, out: "ETH: 1 ETH fee 1 = 2400.00", in: "WETH: 1 WETH"}, reason: posting.NotAPair,
			field: "quantity", message: "the fee takes all of the ETH, so nothing is left to convert"},
		{example: example{kind: posting.Expense, out: "ETH: 1 ETH = 2400.00", target: "Other"}, change: without(posting.RealizedGain),
			reason: posting.MissingRole, message: "no ledger account has the role realized_gain"},
		{example: example{kind: posting.Swap, out: "ETH: 1 ETH = 2400.00"}, change: without(posting.SwapClearing),
			reason: posting.MissingRole, message: "no ledger account has the role swap_clearing"},
		{example: example{kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", in: "B/BETH: 1 ETH = 2400.00"},
			change: without("due_to:A"), reason: posting.MissingRole, message: "no ledger account has the role due_to:A"},
		{example: example{kind: posting.Income, in: "X/Bank: 1 USD = 1.00", target: "Other"}, reason: posting.NoCurrency,
			message: "the legal entity X has no fiat base currency"},
		{example: example{kind: posting.Income, in: "EU/Bank: 1 USD = 1.00", target: "Other"}, reason: posting.MissingRate,
			field: "value_fiat.currency", message: "the rate from USD to EUR is needed"},
		{example: example{kind: posting.Income, in: "Bank: 1 USD = 1.00", fees: []string{"B/ETH: 1 ETH = 1.00"}, target: "Other"},
			reason: posting.WrongEntity, field: "transaction_id",
			message: "a fee must be paid by the legal entity of the transaction it was paid for"},
	} {
		in := c.input()
		if c.change != nil {
			c.change(&in)
		}
		_, err := bookInput(t, base(), in)
		var r *posting.Refusal
		if !errors.As(err, &r) {
			t.Errorf("%s: %v, want it refused: %s", c.kind, err, c.message)
			continue
		}
		if r.Reason != c.reason || r.Field != c.field || r.Message != c.message {
			t.Errorf("%s %q: %s\nwant %s %q: %s", r.Reason, r.Field, r.Message, c.reason, c.field, c.message)
		}
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s is no conflict", r.Message)
		}
		if r.Reason == posting.MissingRate && r.Rate != (posting.Rate{From: "USD", To: "EUR"}) {
			t.Errorf("names the rate %v", r.Rate)
		}
	}
}

func TestAnswersThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	plan, err := posting.Prepare(worked[1].input())
	if err != nil {
		t.Fatal(err)
	}
	slice := func(quantity, basis string, fee bool) posting.Answer {
		return posting.Answer{Slices: []posting.Slice{{Lot: "L", Quantity: dec(quantity), Basis: dec(basis), Fee: fee}}}
	}
	for name, answers := range map[string][]posting.Answer{
		"none": nil, "two": make([]posting.Answer, 2),
		"too much": {slice("2.496", "1", false)}, "too much fee": {slice("0.006", "1", true)}, "nothing": {slice("0", "1",
			false)}, "owing": {slice("1", "-1", false)},
		"not rounded": {slice("1", "1.001", false)},
	} {
		var r *posting.Refusal
		if _, err := plan.Entry(answers); !errors.As(err, &r) || r.Reason != posting.WrongAnswer {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ways lists the directions of each type, and whether it can be a pair. INTERCOMPANY TRANSFER is a pair of two legal
// entities.
var ways = map[posting.Type]string{
	posting.Deposit: "in pair", posting.Withdrawal: "out pair", posting.Swap: "in out pair", posting.Conversion: "in out pair",
	posting.Bridge:       "in out pair",
	posting.Intercompany: "", posting.Internal: "in out pair", posting.TypeFee: "out", posting.Minting: "in out pair",
	posting.StakingReward: "in", posting.ValidatorReward: "in",
	posting.Invoice: "in", posting.Bill: "out", posting.ClaimReward: "in", posting.Borrow: "in out", posting.Repayment: "in out",
	posting.ReservesChange: "in out pair",
	posting.RealizedPNL:    "in out", posting.Income: "in", posting.Expense: "out", posting.Refund: "in out",
	posting.Chargeback: "in out", posting.NFT: "in out pair",
	posting.TypeSpam: "", posting.Unknown: "in out pair",
}

func TestATypeIsBookedExactlyInTheDirectionsItHas(t *testing.T) {
	t.Parallel()
	if len(ways) != len(intake.Types) || len(posting.Types) != len(intake.Types) {
		t.Fatalf("%d types are booked and %d looked at, of %d", len(posting.Types), len(ways), len(intake.Types))
	}
	for i, name := range intake.Types {
		if name != string(posting.Types[i]) {
			t.Errorf("%s is called %s", name, posting.Types[i])
		}
	}
	for _, kind := range posting.Types {
		var got string
		for _, x := range []struct {
			name    string
			out, in *posting.Leg
		}{{"in", nil, leg("Cold: 1 ETH = 2400.00")}, {"out", leg("ETH: 1 ETH = 2400.00"), nil}, {"pair", leg("ETH: 1 ETH = 2400.00"),
			leg("Cold: 1 ETH = 2400.00")}} {
			if _, err := bookInput(t, base(), posting.Input{Type: kind, Out: x.out, In: x.in, Target: target("Other"), Books: books()}); err == nil {
				got += " " + x.name
			}
		}
		if got != "" {
			got = got[1:]
		}
		if got != ways[kind] {
			t.Errorf("%s is booked %q, want %q", kind, got, ways[kind])
		}
	}
}

func TestLotsWithoutCostAreCarriedToo(t *testing.T) {
	t.Parallel()
	in := example{kind: posting.Intercompany, out: "Dust: 1 ETH = 0.00", in: "B/BETH: 1 ETH = 0.00"}.input()
	s := &fifoEngine{}
	s.addLots("Dust: 1 ETH 0.00 2025-01-10")
	e, err := bookInput(t, s, in)
	if err != nil || len(e.Lines) != 0 || len(e.Lots) != 1 || !e.Lots[0].Basis.Equal(money.Decimal{}) {
		t.Errorf("%+v %v", e, err)
	}
}
