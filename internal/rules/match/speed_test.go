//go:build unix

package match_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// hard is a case that is as much work as possible.
type hard struct {
	name     string
	matcher  *match.Matcher
	deposit  match.Deposit
	complete bool
}

// one returns a customer with 10,000 invoices whose amounts, in cents, a function returns.
func one(cents func(n int) int64) *match.Matcher {
	return spread(1, cents)
}

// spread returns 10,000 invoices of a number of customers.
func spread(customers int, cents func(n int) int64) *match.Matcher {
	all, invoices := books(customers, cents)
	return match.New(all, nil, invoices)
}

func books(customers int, cents func(n int) int64) (all []match.Customer, invoices []match.Invoice) {
	for n := range customers {
		all = append(all, match.Customer{ID: fmt.Sprint("cus_", n), Name: fmt.Sprintf("International Trading Partners %d GmbH", n)})
	}
	invoices = make([]match.Invoice, match.PoolMax)
	for n := range invoices {
		due := money.FromInt(cents(n)).Mul(money.MustParse("0.01"))
		at := date("01-01").Add(time.Duration(n) * time.Minute)
		invoices[n] = match.Invoice{ID: fmt.Sprintf("inv_%05d", n), Number: fmt.Sprintf("INV-%05d", n), Status: match.Open, Currency: "USD",
			CustomerID: all[n%customers].ID, Total: due, AmountDue: due, IssueDate: at, DueDate: at}
	}
	return all, invoices
}

// same returns 10,000 invoices of one customer with one number.
func same(cents func(n int) int64) *match.Matcher {
	all, invoices := books(1, cents)
	for i := range invoices {
		invoices[i].Number = "SAME-1"
	}
	return match.New(all, nil, invoices)
}

func hardCases() []hard {
	r := rand.New(rand.NewPCG(1, 2))
	payer := "International Trading Partners 0 GmbH"
	pay := func(amount, memo string) match.Deposit { return deposit(amount + " " + payer + " / " + memo) }
	random := func(int) int64 { return 1000 + r.Int64N(2_000_000) }
	var numbers strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&numbers, "INV-%05d,", 5*n)
	}
	var pieces strings.Builder
	for n := range 8000 {
		fmt.Fprintf(&pieces, "%c%d", 'a'+n%26, n%10)
	}
	return []hard{
		{"random amounts", one(random), pay("31415.93", ""), false},
		{"random amounts, a large deposit", one(random), pay("99999999.99", ""), false},
		{"one amount", one(func(int) int64 { return 10_000 }), pay("150.00", ""), true},
		{"one amount that fits", one(func(int) int64 { return 10_000 }), pay("500.00", ""), true},
		{"1 to 10,000", one(func(n int) int64 { return int64(n) + 1 }), pay("60.00", ""), false},
		{"1 to 10,000, a large deposit", one(func(n int) int64 { return int64(n) + 1 }), pay("15000.00", ""), false},
		{"even amounts and an odd deposit", one(func(int) int64 { return 2 * (1 + r.Int64N(1_000_000)) }), pay("20000.01", ""), false},
		{"small even amounts and an odd deposit", one(func(n int) int64 { return 2 * int64(n%1999+1) }), pay("119.99", ""), false},
		{"nearly equal amounts", one(func(n int) int64 { return 100_000_000 + 2*int64(n) }), pay("5000000.01", ""), false},
		{"a balance less two", one(func(n int) int64 { return int64(n) + 1 }), pay("500049.00", ""), false},
		{"a memo of numbers", one(random), pay("31415.93", numbers.String()), false},
		{"a memo of pieces", one(random), pay("31415.93", pieces.String()), false},
		{"names alike", spread(10_000, random), deposit("10.00 International Trading Partner"), true},
		{"names alike in the text", spread(10_000, random), deposit("10.00 / " + strings.Repeat("international trading ", 600)), false},
		{"one number", same(random), pay("31415.93", strings.Repeat("SAME-1 ", 2000)), false},
		{"400 customers", spread(400, random), pay("31415.93", ""), true},
	}
}

func TestTheWorkIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range hardCases() {
		got := c.matcher.Match(c.deposit, match.Policy{Tolerance: money.FromInt(5)})
		if got.Steps > match.StepsMax || got.Truncated == c.complete {
			t.Errorf("%s: %d steps of at most %d, truncated %t", c.name, got.Steps, match.StepsMax, got.Truncated)
		}
		again := c.matcher.Match(c.deposit, match.Policy{Tolerance: money.FromInt(5)})
		if showAll(again) != showAll(got) || again.Steps != got.Steps {
			t.Errorf("%s gives another result the second time", c.name)
		}
		t.Logf("%-40s %8d steps, pool %d, %d suggestions, truncated %t", c.name, got.Steps, got.PoolSize, len(got.Suggestions), got.Truncated)
	}
}

func TestMoreInvoicesThanThePoolHoldsAreCutToTheOldest(t *testing.T) {
	t.Parallel()
	var c company
	c.read("customer acme Acme GmbH")
	for n := range match.PoolMax + 1 {
		v := match.Invoice{ID: fmt.Sprintf("inv_%05d", n), Number: fmt.Sprintf("INV-%05d", n), Status: match.Open, Currency: "USD",
			CustomerID: "acme", AmountDue: money.FromInt(int64(n + 1)), DueDate: date("01-01").Add(time.Duration(n) * time.Minute)}
		v.IssueDate = v.DueDate
		c.invoices = append(c.invoices, v)
	}
	m := match.New(c.customers, nil, c.invoices)
	got := m.Match(deposit(fmt.Sprintf("%d.00 / INV-%05d", match.PoolMax+1, match.PoolMax)), match.Policy{})
	if got.PoolSize != match.PoolMax || !got.Truncated {
		t.Errorf("the pool has %d, truncated %t", got.PoolSize, got.Truncated)
	}
	for _, s := range got.Suggestions {
		if s.Certain() || strings.Contains(show(s), fmt.Sprintf("INV-%05d:", match.PoolMax)) {
			t.Errorf("%s comes from a pool that was cut", show(s))
		}
	}
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkMatch(b *testing.B) {
	for _, c := range hardCases() {
		b.Run(c.name, func(b *testing.B) {
			steps, before := 0, processorTime()
			for b.Loop() {
				steps = c.matcher.Match(c.deposit, match.Policy{Tolerance: money.FromInt(5)}).Steps
			}
			b.ReportMetric(float64(steps), "steps")
			b.ReportMetric((processorTime()-before).Seconds()*1000/float64(b.N), "cpu-ms")
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for _, customers := range []int{1, 400} {
		b.Run(fmt.Sprintf("customers=%d", customers), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			all, invoices := books(customers, func(int) int64 { return 1000 + r.Int64N(2_000_000) })
			before := processorTime()
			for b.Loop() {
				match.New(all, nil, invoices)
			}
			b.ReportMetric((processorTime()-before).Seconds()*1000/float64(b.N), "cpu-ms")
		})
	}
}
