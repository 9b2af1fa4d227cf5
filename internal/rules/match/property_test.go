package match_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// drawCompany draws small books with few different amounts, so that sums agree often.
func drawCompany(t *rapid.T, invoicesMax int) company {
	var c company
	c.read("customer c1 Acme GmbH\ncustomer c2 Acme Ltd\ncustomer c3 Globex Inc | 0xA1 | cus_1\nearlier 1 0 c3 Wise")
	amount := rapid.SampledFrom([]string{"1.00", "2.00", "3.00", "4.50", "5.00", "7.25", "10.00", "0.01", "100.00", "33.333"})
	for n := range rapid.IntRange(0, invoicesMax).Draw(t, "invoices") {
		options := rapid.SampledFrom([]string{"", "", "", "", "", "", "status=paid", "status=draft", "entity=us", "entity=de",
			"currency=EUR", "reserved", "issued=03-09"}).Draw(t, "options")
		c.read(fmt.Sprintf("invoice %s%d %s %s due 0%d-0%d %s", rapid.SampledFrom([]string{"INV-10", "INV-10", "77"}).Draw(t, "series"), n,
			rapid.SampledFrom([]string{"c1", "c1", "c2", "c3"}).Draw(t, "customer"), amount.Draw(t, "amount"),
			rapid.IntRange(1, 3).Draw(t, "month"), rapid.IntRange(1, 3).Draw(t, "day"), options))
	}
	c.policy.Tolerance = money.MustParse(rapid.SampledFrom([]string{"0", "0", "1.00", "5.00"}).Draw(t, "tolerance"))
	return c
}

func drawDeposit(t *rapid.T) match.Deposit {
	payer := rapid.SampledFrom([]string{"", "Acme GmbH", "ACME", "Globex", "Globbex Inc", "Wise", "0xA1", "cus_1", "Hooli"}).Draw(t, "payer")
	memo := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"INV-100", "INV 101", "inv102", "770", "771", "invoice", "104", "INV-999",
		"Acme GmbH", "Globex", "2026"}), 0, 4).Draw(t, "memo"), " ")
	amount := rapid.IntRange(0, 4000).Draw(t, "amount")
	return deposit(fmt.Sprintf("%d.%02d %s / %s", amount/100, amount%100, payer, memo))
}

func TestAllocationsAddUpAndNeverExceedWhatIsDue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, d := drawCompany(t, 12), drawDeposit(t)
		byID := map[string]match.Invoice{}
		pool := 0
		for _, v := range c.invoices {
			byID[v.ID] = v
			if d.Excludes(&v).Code == "" {
				pool++
			}
		}
		got := match.New(c.customers, c.history, c.invoices).Match(d, c.policy)
		if d.Amount.Sign() > 0 && got.PoolSize != pool || len(got.Suggestions) > match.SuggestionsMax {
			t.Fatalf("the pool has %d, want %d; %d suggestions", got.PoolSize, pool, len(got.Suggestions))
		}
		seen := map[string]bool{}
		for n, s := range got.Suggestions {
			var sum money.Decimal
			for _, a := range s.Allocations {
				v := byID[a.InvoiceID]
				if sum = sum.Add(a.Amount); a.Amount.Sign() <= 0 || a.Amount.Cmp(v.AmountDue) > 0 || d.Excludes(&v).Code != "" {
					t.Fatalf("%s of %+v is allocated to %+v", a.Amount, d, v)
				}
			}
			checkSuggestion(t, s, d, sum, c.policy)
			if text := show(s); seen[text] || n > 0 && s.Confidence.Cmp(got.Suggestions[n-1].Confidence) > 0 {
				t.Fatalf("%s is listed twice or in the wrong place: %s", text, showAll(got))
			} else {
				seen[text] = true
			}
		}
	})
}

func checkSuggestion(t *rapid.T, s match.Suggestion, d match.Deposit, sum money.Decimal, p match.Policy) {
	ids := map[string]bool{}
	for _, a := range s.Allocations {
		ids[a.InvoiceID] = true
	}
	switch {
	case !s.Total.Equal(sum) || !d.Amount.Sub(s.Delta).Equal(sum):
		t.Fatalf("%s does not add up: allocated %s of %s", show(s), sum, d.Amount)
	case len(ids) != len(s.Allocations) || len(ids) == 0:
		t.Fatalf("%s pays an invoice twice, or none", show(s))
	case s.Confidence.Sign() <= 0 || s.Confidence.Cmp(money.MustParse("0.99")) > 0:
		t.Fatalf("%s has an impossible confidence", show(s))
	case s.Delta.Sign() < 0 && s.Delta.Abs().Cmp(p.Tolerance) > 0:
		t.Fatalf("%s writes off more than the tolerance", show(s))
	case s.Delta.Sign() > 0 && s.Type != match.Overpayment && s.Delta.Cmp(p.Tolerance) > 0:
		t.Fatalf("%s leaves more than the tolerance", show(s))
	case (s.Type == match.Combination || s.Type == match.Partial || s.Certain()) && !s.Delta.IsZero():
		t.Fatalf("%s has a difference", show(s))
	case s.Certain() && s.Confidence.Cmp(match.CertainMin) < 0:
		t.Fatalf("%s is certain", show(s))
	case len(s.Reasons) == 0:
		t.Fatalf("%s has no reasons", show(s))
	}
	if s.Type != match.Exact {
		for _, a := range s.Allocations {
			if a.CustomerID != s.Allocations[0].CustomerID {
				t.Fatalf("%s pays for two customers", show(s))
			}
		}
	}
}

func TestTheOrderOfTheInputsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, d := drawCompany(t, 12), drawDeposit(t)
		before := fmt.Sprintf("%+v", derefer(match.New(c.customers, c.history, c.invoices).Match(d, c.policy)))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r.Shuffle(len(c.invoices), func(i, j int) { c.invoices[i], c.invoices[j] = c.invoices[j], c.invoices[i] })
		r.Shuffle(len(c.customers), func(i, j int) { c.customers[i], c.customers[j] = c.customers[j], c.customers[i] })
		if after := fmt.Sprintf("%+v", derefer(match.New(c.customers, c.history, c.invoices).Match(d, c.policy))); after != before {
			t.Fatalf("in another order:\n%s\n%s", before, after)
		}
	})
}

// derefer makes a result printable.
func derefer(r match.Result) any {
	if r.Customer == nil {
		return r
	}
	c := *r.Customer
	r.Customer = nil
	return []any{c, r}
}

// explanations returns, by definition, everything that the ladder may list for one customer, as sets of numbers.
func explanations(open []match.Invoice, amount money.Decimal, tolerance money.Decimal) map[string]bool {
	all := map[string]bool{}
	for set := 1; set < 1<<len(open); set++ {
		var sum money.Decimal
		var numbers []string
		for i, v := range open {
			if set&(1<<i) != 0 {
				sum = sum.Add(v.AmountDue)
				numbers = append(numbers, v.Number)
			}
		}
		key := strings.Join(numbers, "+")
		if sum.Equal(amount) || len(numbers) == 1 && sum.Sub(amount).Abs().Cmp(tolerance) <= 0 {
			all[key] = true
		}
		if set == 1<<len(open)-1 && amount.Cmp(sum) > 0 || set == 1 && amount.Cmp(sum) < 0 {
			all[key] = true // an overpayment of all, a part of the oldest
		}
	}
	return all
}

func TestEveryExactSumIsFoundAndATruncatedAnswerIsASubset(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c company
		c.read("customer acme Acme GmbH")
		for n := range rapid.IntRange(0, 8).Draw(t, "invoices") {
			c.read(fmt.Sprintf("invoice A-10%d acme %d.00 due 01-1%d", n, rapid.IntRange(1, 12).Draw(t, "amount"), n))
		}
		c.policy.Tolerance = money.FromInt(int64(rapid.IntRange(0, 2).Draw(t, "tolerance")))
		d := deposit(fmt.Sprintf("%d.00 Acme GmbH", rapid.IntRange(1, 60).Draw(t, "deposit")))
		want := explanations(c.invoices, d.Amount, c.policy.Tolerance)
		full := match.New(c.customers, nil, c.invoices).WithAllSuggestions().Match(d, c.policy)
		exact := 0
		for _, s := range full.Suggestions {
			if s.Delta.IsZero() && s.Type != match.Partial {
				exact++
			}
			if !want[key(s)] {
				t.Fatalf("%s is no explanation", show(s))
			}
		}
		if hasExact(c.invoices, d.Amount) != (exact > 0) && len(c.invoices) <= 6 || full.Truncated {
			t.Fatalf("%d of %v for %s are exact; truncated %t", exact, showAll(full), d.Amount, full.Truncated)
		}
		limits := rapid.SliceOfN(rapid.IntRange(0, 6), 3, 3).Draw(t, "limits")
		cut := match.New(c.customers, nil, c.invoices).WithAllSuggestions().WithLimits(limits[0], limits[1], limits[2]).Match(d, c.policy)
		for _, s := range cut.Suggestions {
			if !want[key(s)] {
				t.Fatalf("%s is no explanation, with limits %v", show(s), limits)
			}
			if cut.Truncated && s.Certain() {
				t.Fatalf("%s is certain although not everything was compared", show(s))
			}
		}
		if !cut.Truncated && showAll(cut) != showAll(full) {
			t.Fatalf("%s is not complete: %s", showAll(cut), showAll(full))
		}
	})
}

func key(s match.Suggestion) string {
	var numbers []string
	for _, a := range s.Allocations {
		numbers = append(numbers, a.InvoiceNumber)
	}
	return strings.Join(numbers, "+")
}

func hasExact(open []match.Invoice, amount money.Decimal) bool {
	return slices.ContainsFunc(slices.Collect(func(yield func(money.Decimal) bool) {
		for set := 1; set < 1<<len(open); set++ {
			var sum money.Decimal
			for i, v := range open {
				if set&(1<<i) != 0 {
					sum = sum.Add(v.AmountDue)
				}
			}
			if !yield(sum) {
				return
			}
		}
	}), amount.Equal)
}

func TestSimilarityIsTheShareOfCommonTrigrams(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b        string
		common, all int
	}{
		{"acme", "acme", 5, 5},       // "  a", " ac", "acm", "cme", "me "
		{"acme", "acne", 2, 8},       // "  a" and " ac"
		{"word", "two words", 4, 11}, // as PostgreSQL's similarity() says: 0.363636
		{"hooli", "globex", 0, 1},    // nothing in common
		{"ab ab", "ab", 3, 3},        // repeated trigrams count once
		{"blue ocean", "ocean blue", 11, 11},
	} {
		if common, all := match.Similar(c.a, c.b); common != c.common || all != c.all {
			t.Errorf("%q and %q have %d of %d, want %d of %d", c.a, c.b, common, all, c.common, c.all)
		}
	}
}
