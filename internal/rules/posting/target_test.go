package posting_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// bySource are events whose target belongs to a source: what that can hold decides whether something moves or is sold.
var bySource = []example{
	{name: "sale to a bank account", kind: posting.Withdrawal, out: "BTC: 1 BTC = 45000.00", target: "@Bank",
		holds: []string{"BTC: 1 BTC 30000.00 2025-01-05"},
		lines: "Dr Bank 45000.00; Cr BTC 30000.00; Cr Gain 15000.00", left: untouched},
	{name: "sale to a bank account with a fee", kind: posting.Withdrawal, out: "BTC: 1 BTC = 45000.00 fee 20.00", target: "@Bank",
		holds: []string{"BTC: 1 BTC 30000.00 2025-01-05"},
		lines: "Dr Bank 44980.00; Dr Network fees 20.00; Cr BTC 30000.00; Cr Gain 15000.00", left: untouched},
	{name: "sale of unknown type", kind: posting.Unknown, out: "BTC: 1 BTC = 45000.00", target: "@Bank",
		holds: []string{"BTC: 1 BTC 30000.00 2025-01-05"},
		lines: "Dr Bank 45000.00; Cr BTC 30000.00; Cr Gain 15000.00", left: untouched},
	{name: "purchase from a bank account", kind: posting.Deposit, in: "BTC: 1 BTC = 30010.00 fee 10.00", target: "@Bank",
		lines: "Cr Bank 30010.00; Dr Network fees 10.00; Dr BTC 30000.00", lots: "BTC 1 BTC 30000.00 2025-09-15"},
	{name: "withdrawal to an exchange", kind: posting.Withdrawal, out: "ETH: 1 ETH = 2400.00", target: "@Exchange",
		lines: "Dr Exchange 1500.00; Cr ETH 1500.00", lots: "Exchange 1 ETH 1500.00 2025-01-10"},
	{name: "money to an exchange", kind: posting.Withdrawal, out: "Bank: 100 USD = 100.00", target: "@Exchange",
		lines: "Dr Exchange 100.00; Cr Bank 100.00"},
	{name: "money to another bank account", kind: posting.Internal, out: "Bank: 100 USD = 100.00", target: "@Bank 2",
		lines: "Dr Bank 2 100.00; Cr Bank 100.00"},
	{name: "asset and money linked are a sale", kind: posting.Withdrawal, out: "BTC: 1 BTC = 45010.00", in: "Bank: 45000 USD = 45000.00",
		holds: []string{"BTC: 1 BTC 30000.00 2025-01-05"},
		lines: "Dr Bank 45000.00; Cr BTC 30000.00; Cr Gain 15000.00", left: untouched},
	{name: "money and asset linked are a purchase", kind: posting.Deposit, out: "Bank: 30000 USD = 30000.00", in: "BTC: 1 BTC = 30010.00",
		lines: "Dr BTC 30000.00; Cr Bank 30000.00", lots: "BTC 1 BTC 30000.00 2025-09-15"},
	{name: "unknown to the account that was named", kind: posting.Unknown, out: "ETH: 1 ETH = 2400.00", target: "Contractors",
		lines: "Dr Contractors 2400.00; Cr ETH 1500.00; Cr Gain 900.00"},
}

// byQuantity are events with a fee, of which the quantity or only the value is known.
var byQuantity = []example{
	{name: "fee known by value takes no quantity of an inflow", kind: posting.Income, in: "New: 0.1 ETH = 250.00 fee 50.00", target: "Other",
		lines: "Cr Other 250.00; Dr Network fees 50.00; Dr New 200.00", lots: "New 0.1 ETH 200.00 2025-09-15"},
	{name: "fee known by value takes no quantity of a purchase", kind: posting.Swap, out: "Exchange: 250 USD = 250.00",
		in:    "New: 0.1 ETH = 250.00 fee 50.00",
		lines: "Dr New 200.00; Dr Trading fees 50.00; Cr Exchange 250.00", lots: "New 0.1 ETH 200.00 2025-09-15"},
	{name: "fee known by value is a cost of what is sold", kind: posting.Expense, out: "ETH: 1 ETH = 2400.00 fee 12.00", target: "Target",
		lines: "Dr Target 2388.00; Dr Network fees 12.00; Cr ETH 1500.00; Cr Gain 900.00",
		left:  "ETH 1 ETH 1500.00 2025-01-10; ETH 3 ETH 6000.00 2025-06-01"},
	{name: "fee known by value takes no quantity of a conversion", kind: posting.Conversion, out: "ETH: 1 ETH = 2400.00 fee 12.00",
		in:    "WETH: 1 WETH = 2400.00",
		lines: "Dr WETH 1500.00; Cr ETH 1500.00", lots: "WETH 1 WETH 1500.00 2025-01-10"},
	{name: "fee quantity without a value of the fee", kind: posting.Income, in: "New: 0.05 ETH fee 0.005 = 120.00", target: "Other",
		lines: "Cr Other 120.00; Dr New 120.00", lots: "New 0.045 ETH 120.00 2025-09-15"},
}

// split are events whose amount is divided among several accounts.
var split = []example{
	{name: "principal and interest", kind: posting.Repayment, out: "Bank: 1005 USD fee 5 = 1005.00 fee 5.00",
		target: "Loan 950.00 + Interest 50.00",
		lines:  "Dr Loan 950.00; Dr Interest 50.00; Dr Bank fees 5.00; Cr Bank 1005.00"},
	{name: "three departments", kind: posting.Expense, out: "Bank: 100 USD = 100.00",
		target: "Rent 33.3333% + Rent 33.3333% + Rent 33.3334%",
		lines:  "Dr Rent 33.33; Dr Rent 33.33; Dr Rent 33.34; Cr Bank 100.00"},
	{name: "equal parts by the remainder rule", kind: posting.Income, in: "Bank: 0.05 USD = 0.05",
		target: "A 14% + B 14% + C 14% + D 14% + E 14% + F 14% + G 16%",
		lines:  "Cr A 0.01; Cr B 0.01; Cr C 0.01; Cr E 0.01; Cr G 0.01; Dr Bank 0.05"},
	{name: "split payment in an asset", kind: posting.Expense, out: "ETH: 0.625 ETH = 1500.00", target: "Contractors 90% + Travel 10%",
		lines: "Dr Contractors 1350.00; Dr Travel 150.00; Cr ETH 937.50; Cr Gain 562.50"},
	{name: "split income in an asset", kind: posting.Income, in: "New: 1 ETH = 2400.00", target: "Sales 2000.00 + Tax 400.00",
		lines: "Cr Sales 2000.00; Cr Tax 400.00; Dr New 2400.00", lots: "New 1 ETH 2400.00 2025-09-15"},
	{name: "a fee split", kind: posting.TypeFee, out: "ETH: 0.01 ETH = 24.00", target: "Fees 50% + Gas 50%",
		lines: "Dr Fees 12.00; Dr Gas 12.00; Cr ETH 15.00; Cr Gain 9.00"},
}

func TestTargetsThatCannotHoldWhatMovedAreRefused(t *testing.T) {
	t.Parallel()
	missing := func(what string) string {
		return "the account belongs to a wallet, which cannot hold USD; link this transaction with the one in which the asset that was " + what +
			" the wallet (POST /v1/transactions/link) and book both as SWAP; if that one is missing, import it first; if it is booked, " +
			"which has booked this money too, reverse its entry first"
	}
	inEuros := func(moved string) string {
		return "the account is kept in EUR and the value of the ETH is in USD, so it is not known how much EUR was " + moved +
			"; link this transaction with that of the account (POST /v1/transactions/link; add that one first if it is missing) and book both " +
			"as SWAP, or mark this one as spam and add it again with another external_id and with value_fiat in EUR"
	}
	for _, c := range []struct {
		example
		reason  posting.Reason
		field   string
		message string
	}{
		{example{kind: posting.Deposit, in: "Bank: 100 USD = 100.00", target: "@Cold"}, posting.NoPartner, "ledger_account_id",
			missing("sold left")},
		{example{kind: posting.Withdrawal, out: "Bank: 100 USD = 100.00", target: "@Cold"}, posting.NoPartner, "ledger_account_id",
			missing("bought came into")},
		{example{kind: posting.Internal, out: "Bank: 100 USD = 100.00", target: "@Cold"}, posting.NoPartner, "ledger_account_id",
			missing("bought came into")},
		{example{kind: posting.Income, in: "Bank: 100 USD = 100.00", target: "@Cold"}, posting.NoPartner, "ledger_account_id",
			missing("sold left")},
		{example{kind: posting.Withdrawal, out: "ETH: 1 ETH = 2400.00", target: "@Bank in EUR"}, posting.WrongCurrency, "value_fiat.currency",
			inEuros("received")},
		{example{kind: posting.Swap, in: "ETH: 1 ETH = 2400.00", target: "@Bank in EUR"}, posting.WrongCurrency, "value_fiat.currency",
			inEuros("paid")},
		{example{kind: posting.Internal, out: "ETH: 1 ETH = 2400.00", target: "@Bank"}, posting.WrongTarget, "ledger_account_id",
			"the account belongs to a source that holds money only, so ETH cannot move to it; book a sale as WITHDRAWAL or SWAP"},
		{example{kind: posting.Bridge, in: "ETH: 1 ETH = 2400.00", target: "@Bank"}, posting.WrongTarget, "ledger_account_id",
			"the account belongs to a source that holds money only, so ETH cannot come from it; book a purchase as DEPOSIT or SWAP"},
		{example{kind: posting.Expense, out: "ETH: 1 ETH = 2400.00", target: "@Cold"}, posting.WrongTarget, "ledger_account_id",
			"the account belongs to a wallet, and EXPENSE would change its balance without moving ETH to it; " +
				"use INTERNAL TRANSFER or choose another account"},
		{example{kind: posting.Expense, out: "Bank: 10 USD = 10.00", target: "A 4.00 + B 5.00"}, posting.BadSplits, "splits",
			"add up to 9.00 USD, but 10.00 USD are booked to them"},
		{example{kind: posting.Internal, out: "ETH: 1 ETH = 2400.00", target: "A 50% + B 50%"}, posting.BadSplits, "splits",
			"a movement that keeps the cost of its lots has one account; book it without splits or as another type"},
		{example{kind: posting.Swap, out: "ETH: 1 ETH = 2400.00", in: "USDC: 2400 USDC", target: "A 50% + B 50%"}, posting.BadSplits, "splits",
			"a linked transaction is booked against the account of the other one; remove the link or the splits"},
		{example{kind: posting.Minting, in: "Own: 1000 OWN = 500.00", target: "A 50% + B 50%"}, posting.BadSplits, "splits",
			"a token of the legal entity's own is not booked to an account"},
	} {
		_, err := bookInput(t, base(), c.input())
		var r *posting.Refusal
		if !errors.As(err, &r) || r.Reason != c.reason || r.Field != c.field || r.Message != c.message {
			t.Errorf("%s %s%s to %s: %v\nwant %s %q: %s", c.kind, c.out, c.in, c.target, err, c.reason, c.field, c.message)
		}
	}
}

func TestMoneyThatMovesToASourceKeepsItsUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		example
		want string
	}{
		{example{kind: posting.Withdrawal, out: "BTC: 1 BTC = 40000.00 fee 15.00 EUR", target: "@Bank EUR"}, "39985 EUR"},
		{example{kind: posting.Deposit, in: "BTC: 1 BTC = 40000.00 fee 15.00 EUR", target: "@Bank EUR"}, "40000 EUR"},
		{example{kind: posting.Internal, out: "Bank: 100 EUR fee 2 = 100.00 fee 2.00 EUR", target: "@Bank EUR"}, "98 EUR"},
		{example{kind: posting.Deposit, in: "Bank: 100 EUR fee 2 = 100.00 fee 2.00 EUR", target: "@Exchange"}, "100 EUR"},
		{example{kind: posting.Withdrawal, out: "BTC: 1 BTC = 40000.00", target: "@Bank"}, "0 "},
	} {
		in := c.input()
		in.Books.Rates = map[posting.Rate]money.Decimal{{From: "EUR", To: "USD"}: dec("1.1")}
		s := base()
		s.addLots("BTC: 1 BTC 30000.00 2025-01-05")
		e, err := bookInput(t, s, in)
		if err != nil {
			t.Fatal(err)
		}
		if l := e.Lines[0]; l.Quantity.String()+" "+l.Unit != c.want {
			t.Errorf("%s %s%s: the line of the target has %s %s, want %s", c.kind, c.out, c.in, l.Quantity, l.Unit, c.want)
		}
	}
}

func TestSplitsCarryTheirMemosAndTagsAndAddUp(t *testing.T) {
	t.Parallel()
	in := example{kind: posting.Expense, out: "Bank: 100 USD = 100.00", target: "Rent 60%: Berlin + Rent 40%: Paris"}.input()
	in.Target.Splits[1].TagIDs = []string{"t"}
	e, err := bookInput(t, base(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(e.Lines[0].Memo, e.Lines[0].TagIDs, e.Lines[1].Memo, e.Lines[1].TagIDs); got != "Berlin[]Paris[t]" {
		t.Error(got)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n, whole := 2+r.IntN(99), money.FromInt(r.Int64N(1_000_000)).Quo(money.FromInt(100), 2)
		in := example{kind: posting.Expense, out: "Bank: 1 USD = 1.00"}.input()
		in.Out.Value.Gross = whole
		rest := money.FromInt(100)
		for i := range n {
			part := money.FromInt(1+r.Int64N(900)).Quo(money.FromInt(1000), 3)
			if i == n-1 {
				part = rest
			}
			rest = rest.Sub(part)
			in.Target.Splits = append(in.Target.Splits, posting.Split{Account: "A", Percent: &part})
		}
		e, err := bookInput(t, base(), in)
		if err != nil {
			t.Fatal(err)
		}
		var sum money.Decimal
		for _, l := range e.Lines {
			if l.Account == "A" {
				sum = sum.Add(l.Amount)
			}
		}
		if !sum.Equal(whole) {
			t.Fatalf("%d parts of %s add up to %s", n, whole, sum)
		}
	}
}
