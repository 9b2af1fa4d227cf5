package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/reconcile"
)

func dec(text string) money.Decimal { return money.MustParse(text) }

func at(day string) time.Time {
	out, err := time.Parse("2006-01-02", "2025-"+day)
	if err != nil {
		panic(err)
	}
	return out
}

// history reads lines such as "T1 05-02 10 fee 0.1 pending": name, day, quantity, fee, and whether it is not booked or only a fee.
func history(text string) (out []reconcile.Transaction) {
	for line := range strings.SplitSeq(text, ";") {
		f := strings.Fields(line)
		t := reconcile.Transaction{ID: f[0], Name: f[0], At: at(f[1]), Quantity: dec(f[2]), Booked: !slices.Contains(f, "pending"),
			OnlyFee: slices.Contains(f, "only")}
		if n := slices.Index(f, "fee"); n > 0 {
			t.Fee = dec(f[n+1])
		}
		out = append([]reconcile.Transaction{t}, out...) // the latest first
	}
	return out
}

// explain explains a difference that appeared in one step.
func explain(difference, text string) []reconcile.Candidate {
	in := reconcile.Input{AssetType: "ETH", Difference: dec(difference), Transactions: history(text)}
	for _, t := range in.Transactions {
		if !t.Booked {
			in.Pending, in.Waiting, in.PendingIDs = in.Pending.Add(t.Quantity), in.Waiting+1, append(in.PendingIDs, t.ID)
		}
	}
	if !in.Rest().IsZero() {
		in.Steps = []reconcile.Step{{After: at("04-30"), Until: at("06-01"), Amount: in.Rest()}}
	}
	return reconcile.Explain(in)
}

func TestCandidatesAreListedByHowMuchTheyTell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, difference, history, want string }{
		{"no difference", "0", "T1 05-01 10", ""},
		{"what is missing arrived", "-3", "T1 05-01 10", "missing_transaction -3"},
		{"what is missing left", "3", "T1 05-01 10", "missing_transaction 3"},
		{"twice", "10", "T1 05-01 10; T2 05-02 10", "duplicate 10 T2 T1; missing_transaction 10"},
		{"an outflow twice", "-10", "T1 05-01 -10; T2 05-02 -10", "duplicate -10 T2 T1; missing_transaction -10"},
		{"three times", "20", "T1 05-01 10; T2 05-01 10; T3 05-01 10", "duplicate 20 T3 T2 T1; wrong_sign 20 T3; wrong_sign 20 T2; " +
			"wrong_sign 20 T1; missing_transaction 20"},
		{"twice, but far apart", "10", "T1 05-01 10; T2 05-09 10", "missing_transaction 10"},
		{"another direction is no duplicate", "10", "T1 05-01 10; T2 05-02 -10", "missing_transaction 10"},
		{"not booked", "-10", "T1 05-01 5; T2 05-02 10 pending", "unbooked -10 T2"},
		{"several are not booked", "-7", "T1 05-01 10 pending; T2 05-02 -3 pending", "unbooked -7 T2 T1"},
		{"a part is not booked", "-12", "T1 05-01 5; T2 05-02 10 pending", "unbooked -10 T2; missing_transaction -2"},
		{"one of those not booked", "-10", "T1 05-01 4 pending; T2 05-02 10 pending", "unbooked -10 T2; unbooked -14 T2 T1; " +
			"missing_transaction 4"},
		{"the fee was not taken", "0.25", "T1 05-01 -10 fee 0.25", "wrong_fee 0.25 T1; missing_transaction 0.25"},
		{"the fee was taken twice", "-0.25", "T1 05-01 9.75 fee 0.25", "wrong_fee -0.25 T1; missing_transaction -0.25"},
		{"the fee is twice as high", "-0.25", "T1 05-01 9.5 fee 0.5", "wrong_fee -0.25 T1; missing_transaction -0.25"},
		{"the wrong direction", "-20", "T1 05-01 -10", "wrong_sign -20 T1; missing_transaction -20"},
		{"before the step", "10", "T1 04-29 10; T2 04-30 10", "missing_transaction 10"},
		{"a twin before the step", "10", "T1 04-30 10; T2 05-02 10", "duplicate 10 T2 T1; missing_transaction 10"},
	} {
		var got []string
		for _, one := range explain(c.difference, c.history) {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", one.Kind, one.Explains, strings.Join(one.TransactionIDs, " "))))
			if one.Message == "" {
				t.Errorf("%s: %s has no message", c.name, one.Kind)
			}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, text, c.want)
		}
	}
}

func TestMessagesSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ difference, history, want string }{
		{"-10", "OT-1 05-02 10 pending", "1 transaction is not booked; it is 10 ETH that arrived. Book them, or mark what is spam."},
		{"-12", "OT-1 05-02 10 pending", "1 transaction is not booked; it is 10 ETH that arrived. Book them, or mark what is spam; " +
			"a difference of -2 ETH would remain."},
		{"3", "OT-1 05-02 10", "A transaction seems to be missing: 3 ETH that left between 2025-04-30 00:00:00 UTC and " +
			"2025-06-01 00:00:00 UTC. Look at the statement of that time and import or add it."},
		{"10", "OT-1 05-02 10; OT-2 05-02 10", "OT-1 and OT-2 look the same. If that happened only once, reverse the entry of one of them and " +
			"mark the transaction as spam."},
		{"-0.5", "OT-1 05-02 9 fee 1", "Half of the fee of OT-1, 1 ETH, is the difference: it seems to be counted twice. Look at the " +
			"statement, and add the transaction again with the right fee."},
		{"-20", "OT-1 05-02 -10", "OT-1 is recorded as an outflow of 10 ETH. If that arrived, the difference is explained: reverse its entry, " +
			"and add the transaction again with the right direction."},
	} {
		if got := explain(c.difference, c.history); len(got) == 0 || got[0].Message != c.want {
			t.Errorf("%+v, want\n%s", got, c.want)
		}
	}
}

func TestRoundingIsLeftOutOfWhatElseIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ difference, rounding, want, missing string }{
		{"0.37", "0.371", "rounding 0.371: Entries round amounts of transactions that are below the minor unit of USD; together that is " +
			"0.371 USD. Credit the account of the source with 0.37 USD, against the account for rounding differences.", ""},
		{"-10.37", "-0.37", "rounding -0.37: Entries round amounts of transactions that are below the minor unit of USD; together that is " +
			"0.37 USD. Debit the account of the source with 0.37 USD, against the account for rounding differences.", "-10"},
	} {
		in := reconcile.Input{AssetType: "USD", Difference: dec(c.difference), Rounding: dec(c.rounding)}
		if rest := in.Rest(); !rest.IsZero() {
			in.Steps = []reconcile.Step{{Until: at("06-01"), Amount: rest}}
		}
		found, missing := reconcile.Explain(in), ""
		if len(found) > 1 && found[1].Kind == reconcile.Missing {
			missing = found[1].Explains.String()
		}
		if got := fmt.Sprintf("%s %s: %s", found[0].Kind, found[0].Explains, found[0].Message); got != c.want {
			t.Errorf("%s, want\n%s", got, c.want)
		}
		if missing != c.missing || len(found) > 2 {
			t.Errorf("%s: %+v", c.difference, found)
		}
	}
}

// TestTheFaultThatWasMadeComesFirst makes one fault in a random history.
func TestTheFaultThatWasMadeComesFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all []reconcile.Transaction
		whole := 3
		for n := range rapid.IntRange(3, 30).Draw(t, "transactions") {
			// No quantity is twice or half another one, no sums of some of them are the same, and fees are smaller.
			whole *= 3
			quantity := dec(fmt.Sprintf("%d.%03d", whole, rapid.IntRange(1, 999).Draw(t, "fraction")))
			if rapid.Bool().Draw(t, "left") {
				quantity = quantity.Neg()
			}
			all = append(all, reconcile.Transaction{ID: fmt.Sprint("T", n), Name: fmt.Sprint("OT-", n), Quantity: quantity, Booked: true,
				At: at("05-01").Add(time.Duration(n) * time.Hour), Fee: dec(fmt.Sprintf("0.00%02d1", n+1))})
		}
		n := rapid.IntRange(0, len(all)-1).Draw(t, "which")
		wrong, in := all[n], reconcile.Input{AssetType: "ETH", Transactions: slices.Clone(all)}
		want := reconcile.Kind(rapid.SampledFrom([]string{"unbooked", "duplicate", "wrong_fee", "missing_transaction"}).Draw(t, "fault"))
		switch want {
		case reconcile.Unbooked:
			in.Transactions[n].Booked = false
			in.Difference, in.Pending, in.Waiting, in.PendingIDs = wrong.Quantity.Neg(), wrong.Quantity, 1, []string{wrong.ID}
		case reconcile.Duplicate:
			again := wrong
			again.ID, again.At = "again", wrong.At.Add(time.Minute)
			in.Transactions, in.Difference = append(in.Transactions, again), wrong.Quantity
		case reconcile.WrongFee:
			in.Transactions[n].Fee = wrong.Fee.Add(wrong.Fee)
			in.Transactions[n].Quantity = wrong.Quantity.Sub(wrong.Fee)
			in.Difference = wrong.Fee.Neg()
		default:
			in.Transactions, in.Difference = slices.Delete(in.Transactions, n, n+1), wrong.Quantity.Neg()
		}
		if rest := in.Rest(); !rest.IsZero() {
			in.Steps = []reconcile.Step{{Until: at("06-01"), Amount: rest}}
		}
		found := reconcile.Explain(in)
		if len(found) == 0 || found[0].Kind != want || !found[0].Explains.Equal(in.Difference) {
			t.Fatalf("%s of %+v: %+v", want, wrong, found)
		}
		if ids := found[0].TransactionIDs; want != reconcile.Missing && !slices.Contains(ids, wrong.ID) {
			t.Fatalf("%s of %s: %v", want, wrong.ID, ids)
		}
	})
}

// TestWhatIsNotBookedAndTheStepsAddUpToTheDifference has several steps and transactions that are not booked.
func TestWhatIsNotBookedAndTheStepsAddUpToTheDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := reconcile.Input{AssetType: "ETH", Pending: dec(fmt.Sprint(rapid.IntRange(-9, 9).Draw(t, "pending"))), Waiting: 1,
			PendingIDs: []string{"T1"}}
		in.Difference = in.Pending.Neg()
		for n := range rapid.IntRange(0, 4).Draw(t, "steps") {
			amount := dec(fmt.Sprint(rapid.IntRange(-9, 9).Draw(t, "amount")))
			in.Steps = append(in.Steps, reconcile.Step{Until: at(fmt.Sprintf("05-%02d", 10-n)), Amount: amount})
			in.Difference = in.Difference.Add(amount)
		}
		sum := money.Decimal{}
		for _, c := range reconcile.Explain(in) {
			if c.Kind == reconcile.Unbooked || c.Kind == reconcile.Missing {
				sum = sum.Add(c.Explains)
			}
		}
		if !sum.Equal(in.Difference) {
			t.Fatalf("%s, but the difference is %s: %+v", sum, in.Difference, in)
		}
	})
}
