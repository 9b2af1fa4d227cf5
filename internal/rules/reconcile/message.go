package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// namesMax is how many transactions a message names.
const namesMax = 5

func quantity(amount money.Decimal, asset string) string {
	return amount.Abs().Fixed(asset) + " " + asset
}

// netting says what an amount does to a source.
func netting(amount money.Decimal, asset string) string {
	if amount.Sign() < 0 {
		return quantity(amount, asset) + " that left"
	}
	return quantity(amount, asset) + " that arrived"
}

func (in Input) messageOfPending() string {
	what := fmt.Sprintf("%d transactions are not booked; together they are", in.Waiting)
	if in.Waiting == 1 {
		what = "1 transaction is not booked; it is"
	}
	next := "Book them, or mark what is spam"
	if !in.Rest().IsZero() {
		next += fmt.Sprintf("; a difference of %s %s would remain", in.Rest().Fixed(in.AssetType), in.AssetType)
	}
	return fmt.Sprintf("%s %s. %s.", what, netting(in.Pending, in.AssetType), next)
}

func (in Input) messageOfRounding() string {
	side := "Debit"
	if in.Rounding.Sign() > 0 {
		side = "Credit"
	}
	return fmt.Sprintf("Entries round amounts of transactions that are below the minor unit of %s; together that is %s. %s the account of "+
		"the source with %s, against the account for rounding differences.", in.AssetType, quantity(in.Rounding, in.AssetType), side,
		quantity(in.Rounding.RoundTo(in.AssetType), in.AssetType))
}

func messageOfRun(asset string, all []Transaction) string {
	sum := money.Decimal{}
	for _, t := range all {
		sum = sum.Add(t.Quantity)
	}
	verb := "is"
	if len(all) > 1 {
		verb = "are"
	}
	return fmt.Sprintf("Of what is not booked, %s %s %s, which is the difference. Book it.", names(all), verb, netting(sum, asset))
}

func messageOfDuplicate(t Transaction, twins []Transaction, extra int) string {
	which := "one of them"
	if extra > 1 {
		which = fmt.Sprintf("%d of them", extra)
	}
	return fmt.Sprintf("%s look the same. If that happened only once, reverse the entry of %s and mark the transaction as spam.",
		names(append(slices.Clone(twins), t)), which)
}

func messageOfFee(asset string, t Transaction, how string) string {
	fee := quantity(t.Fee, asset)
	switch how {
	case feeNotTaken:
		return fmt.Sprintf("The fee of %s, %s, is the difference: it seems not to be taken from what the source holds. Look at the statement "+
			"and book the fee.", t.Name, fee)
	case feeTwice:
		return fmt.Sprintf("Half of the fee of %s, %s, is the difference: it seems to be counted twice. Look at the statement, and add the "+
			"transaction again with the right fee.", t.Name, fee)
	}
	if t.OnlyFee {
		return fmt.Sprintf("%s is a fee of %s, which is the difference: it seems to be contained in another transaction already. Look at the "+
			"statement, reverse its entry and mark it as spam.", t.Name, fee)
	}
	return fmt.Sprintf("The fee of %s, %s, is the difference: it seems to be taken twice, here and in the quantity or in a transaction of "+
		"its own. Look at the statement and reverse one of them.", t.Name, fee)
}

func messageOfSign(asset string, t Transaction) string {
	is, was := "arrival", "left"
	if t.Quantity.Sign() < 0 {
		is, was = "outflow", "arrived"
	}
	return fmt.Sprintf("%s is recorded as an %s of %s. If that %s, the difference is explained: reverse its entry, and add the transaction "+
		"again with the right direction.", t.Name, is, quantity(t.Quantity, asset), was)
}

func messageOfMissing(asset string, s Step) string {
	when := "by " + instant(s.Until)
	if !s.After.IsZero() {
		when = "between " + instant(s.After) + " and " + instant(s.Until)
	}
	return fmt.Sprintf("A transaction seems to be missing: %s %s. Look at the statement of that time and import or add it.",
		netting(s.Amount.Neg(), asset), when)
}

func instant(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

// names lists the first few transactions.
func names(all []Transaction) string {
	var out []string
	for _, t := range all[:min(len(all), namesMax)] {
		out = append(out, t.Name)
	}
	if more := len(all) - len(out); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), more)
	}
	if n := len(out); n > 1 {
		return strings.Join(out[:n-1], ", ") + " and " + out[n-1]
	}
	return strings.Join(out, "")
}
