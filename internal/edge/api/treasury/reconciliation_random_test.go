package treasury_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// TestTheFaultInARandomHistoryIsFound writes what happened at a source with one fault into the books, and what the source held as it was.
func TestTheFaultInARandomHistoryIsFound(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		for seed := range dbtest.Repeats(2, 20) {
			for _, fault := range []string{"missing_transaction", "duplicate", "wrong_fee", "unbooked"} {
				oneFault(t, service, rand.New(rand.NewPCG(uint64(seed), 19)), fault)
			}
		}
	})
}

func oneFault(t *testing.T, service *apitest.Service, r *rand.Rand, fault string) {
	t.Helper()
	s := newStatement(t, service, client.CreateSource{Currency: "USD"})
	start, count := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC), 6+r.IntN(8)
	at, held, wanted := r.IntN(count), money.FromInt(100_000), ""
	lines := []string{"T0 2025-02-28 in 100000 USD", "2025-02-28 seen 100000 USD"}
	for n := range count {
		// No two amounts are the same, nor are sums of some of them, and no fee is another one or twice as high.
		amount, fee := money.MustParse(fmt.Sprintf("%d.%02d", 1<<n*3, r.IntN(100))), money.MustParse(fmt.Sprintf("0.%02d", 2*n+1))
		direction, moved := "in", amount.Sub(fee)
		if r.IntN(2) == 0 {
			direction, moved = "out", amount.Neg()
		}
		day := start.AddDate(0, 0, n).Format(time.DateOnly)
		held = held.Add(moved)
		line := func(name string, amount, fee money.Decimal) string {
			return fmt.Sprintf("%s %s %s %s USD fee %s", name, day, direction, amount, fee)
		}
		name := fmt.Sprint("T", n+1)
		switch {
		case n != at:
			lines = append(lines, line(name, amount, fee))
		case fault == "duplicate":
			lines, wanted = append(lines, line(name, amount, fee), line("again", amount, fee)), moved.String()+" again "+name
		case fault == "unbooked":
			lines, wanted = append(lines, line(name, amount, fee)+" open"), moved.Neg().String()+" "+name
		case fault == "wrong_fee": // it is as high again: more left, or less arrived
			higher := amount
			if direction == "out" {
				higher = amount.Add(fee)
			}
			lines, wanted = append(lines, line(name, higher, fee.Add(fee))), fee.Neg().String()+" "+name
		default:
			wanted = moved.Neg().String()
		}
		if r.IntN(2) == 0 || n == count-1 {
			lines = append(lines, fmt.Sprintf("%s seen %s USD", day, held))
		}
	}
	s.write(lines...)
	for a, err := range s.n.Client.SourceReconciliation(t.Context(), s.source.ID, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != "difference" || len(a.Candidates) == 0 || a.Candidates[0].Kind != fault || a.Candidates[0].Explains != *a.Difference {
			t.Fatalf("%s in\n%s\n%s", fault, strings.Join(lines, "\n"), s.report(""))
		}
		first := a.Candidates[0]
		got := []string{money.MustParse(first.Explains).String()}
		for _, id := range first.TransactionIDs {
			got = append(got, s.names[id])
		}
		if want := strings.Fields(wanted); !slices.Equal(got, want) {
			t.Errorf("%s in\n%s\n%v, want %v", fault, strings.Join(lines, "\n"), got, want)
		}
	}
}

// TestRoundingIsWhatTheTransactionsAddUpTo books random amounts in tenths of a cent beside an opening balance, and counts in whole numbers.
func TestRoundingIsWhatTheTransactionsAddUpTo(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		for seed := range dbtest.Repeats(2, 20) {
			r := rand.New(rand.NewPCG(uint64(seed), 20))
			s := newStatement(t, service, client.CreateSource{Currency: "USD"})
			opening := r.IntN(100) * 1000
			s.correct("2025-02-01", "Dr", decimal(opening+10), "3010")
			exact, booked := opening+10, opening+10 // in tenths of a cent
			for n := range 5 + r.IntN(20) {
				amount, fee, direction := 100+r.IntN(100_000), r.IntN(50), "in"
				if r.IntN(2) == 0 {
					direction = "out"
					exact, booked = exact-amount, booked-cents(amount)
				} else {
					exact, booked = exact+amount-fee, booked+cents(amount)-cents(fee)
				}
				s.write(fmt.Sprintf("T%d 2025-03-%02d %s %s USD fee %s", n, 1+n, direction, decimal(amount), decimal(fee)))
			}
			s.write("2025-03-31 seen " + decimal(exact) + " USD")
			want := fmt.Sprintf("USD reconciled at 03-31: book %s", money.MustParse(decimal(booked)).Fixed("USD"))
			if cents(booked-exact) != 0 {
				want = fmt.Sprintf("USD difference at 03-31: book %s", money.MustParse(decimal(booked)).Fixed("USD"))
			}
			report := s.report("")
			if !strings.HasPrefix(report, want) {
				t.Errorf("%d: %s, want %s", seed, report, want)
			}
			if cents(booked-exact) != 0 && !strings.HasSuffix(report, "\n- rounding "+money.MustParse(decimal(booked-exact)).Fixed("USD")) {
				t.Errorf("%d: %s, want rounding of %s only", seed, report, decimal(booked-exact))
			}
		}
	})
}

// cents rounds tenths of a cent to cents, half to even, and returns tenths.
func cents(n int) int {
	sign := 1
	if n < 0 {
		sign, n = -1, -n
	}
	whole, rest := n/10, n%10
	if rest > 5 || rest == 5 && whole%2 == 1 {
		whole++
	}
	return sign * whole * 10
}

// decimal writes tenths of a cent in dollars.
func decimal(n int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%03d", sign, n/1000, n%1000)
}
