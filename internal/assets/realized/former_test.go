package realized_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// adjusts revalues a month and returns what its items are: "5 ETH at 500 worth 400: -150 to -100".
func (w *world) adjusts(month, price string) string {
	w.Helper()
	var out []string
	for _, i := range w.revalue(month, price).Items {
		if i.Kind != revaluation.Exchange && i.Kind != revaluation.UnitBalance {
			out = append(out, fmt.Sprintf("%s %s at %s worth %s: %s to %s", i.Quantity, i.Unit, i.Cost, i.Value, i.Before, i.After))
		}
	}
	return strings.Join(out, ", ")
}

// unchanged returns what a month shows in which nothing changes after one.
func unchanged(before string) string {
	held, change, _ := strings.Cut(before, ": ")
	_, after, _ := strings.Cut(change, " to ")
	return held + ": " + after + " to " + after
}

// Deposits of March are reversed on a day of November after March was closed. April had them.
func TestSoakAMonthIsMeasuredWithTheLotsThatWereReversedInALaterOne(t *testing.T) {
	t.Parallel()
	var table cases
	for _, c := range []struct {
		policy       string
		method       string
		keeps        bool // the second deposit, of 1 ETH, which costs 140
		march, april string
		november     string // of what is left
	}{
		{"us_gaap impairment", "fifo", true, "5 ETH at 540 worth 350: 0 to -190", "5 ETH at 540 worth 400: -190 to -190",
			"1 ETH at 140 worth 90: -190 to -70"},
		{"ifrs impairment", "fifo", true, "5 ETH at 540 worth 350: 0 to -190", "5 ETH at 540 worth 400: -190 to -140",
			"1 ETH at 140 worth 90: -140 to -50"},
		{"ifrs fair_value", "fifo", true, "5 ETH at 540 worth 350: 0 to -190", "5 ETH at 540 worth 400: -190 to -140",
			"1 ETH at 140 worth 90: -140 to -50"},
		{"us_gaap fair_value", "fifo", true, "5 ETH at 540 worth 350: 0 to -190", "5 ETH at 540 worth 400: -190 to -140",
			"1 ETH at 140 worth 90: -140 to -50"},
		{"us_gaap impairment", "fifo", false, "4 ETH at 400 worth 280: 0 to -120", "4 ETH at 400 worth 320: -120 to -120",
			"0 ETH at 0 worth 0: -120 to 0"},
		{"ifrs impairment", "fifo", false, "4 ETH at 400 worth 280: 0 to -120", "4 ETH at 400 worth 320: -120 to -80",
			"0 ETH at 0 worth 0: -80 to 0"},
		{"ifrs fair_value", "fifo", false, "4 ETH at 400 worth 280: 0 to -120", "4 ETH at 400 worth 320: -120 to -80",
			"0 ETH at 0 worth 0: -80 to 0"},
		{"us_gaap fair_value", "fifo", false, "4 ETH at 400 worth 280: 0 to -120", "4 ETH at 400 worth 320: -120 to -80",
			"0 ETH at 0 worth 0: -80 to 0"},
		{"ifrs impairment", "weighted_average", true, "5 ETH at 540 worth 350: 0 to -190", "5 ETH at 540 worth 400: -190 to -140",
			"1 ETH at 140 worth 90: -140 to -50"},
	} {
		for _, again := range []bool{false, true} { // April was measured before the reversal, too
			table.each(t, c.policy, func(w *world) {
				what := fmt.Sprint(c.policy, " ", c.method, " ", c.keeps, " ", again)
				check := func(month, price, want string) {
					w.Helper()
					for range 2 { // a second run changes nothing
						if got := w.adjusts(month, price); got != want {
							w.Errorf("%s, %s: %s, want %s", what, month, got, want)
						}
						w.measured(what, month)
					}
				}
				w.choose("source", c.method)
				_, first := w.Transact("2025-03-05 A in 4 ETH = 400.00 : DEPOSIT against 3010")
				if c.keeps {
					w.live("2025-03-06 A in 1 ETH = 140.00 : DEPOSIT against 3010")
				}
				check("2025-03", "70", c.march)
				w.closeThrough("2025-03")
				if again {
					check("2025-04", "80", c.april)
				}
				_, err := w.Journal.Reverse(w.Ctx, first, journal.ReverseParams{AccountingDate: "2025-11-10"})
				w.Must(err)
				check("2025-04", "80", c.april)
				w.closeThrough("2025-04")
				check("2025-05", "80", unchanged(c.april))
				check("2025-11", "90", c.november)
				w.verified(what)
			})
		}
	}
}

// In New York, April ends on 1 May in UTC. Under a weighted average from then on, the lot that is left would cost 108 and not 140.
func TestAMethodThatIsElectedFromTheNextMonthOnMeasuresNothingBefore(t *testing.T) {
	t.Parallel()
	each(t, "ifrs impairment", func(w *world) {
		_, err := organization.NewService(w.DB, lots.MovePeriods).Update(w.Ctx, organization.UpdateParams{Timezone: new("America/New_York")})
		w.Must(err)
		w.choose("source", "fifo")
		_, err = entity.NewService(w.DB).Update(w.Ctx, w.EntityID, entity.UpdateParams{CostBasisMethod: new("weighted_average"),
			CostBasisFrom: new("2025-05-01")})
		w.Must(err)
		_, first := w.Transact("2025-03-05 A in 4 ETH = 400.00 : DEPOSIT against 3010")
		w.live("2025-03-06 A in 1 ETH = 140.00 : DEPOSIT against 3010")
		march := w.adjusts("2025-03", "110")
		if !strings.HasSuffix(march, ": 0 to -30") {
			w.Errorf("March: %s", march)
		}
		w.closeThrough("2025-03")
		_, err = w.Journal.Reverse(w.Ctx, first, journal.ReverseParams{AccountingDate: "2025-11-10"})
		w.Must(err)
		if got := w.adjusts("2025-04", "110"); got != unchanged(march) {
			w.Errorf("April: %s, March: %s", got, march)
		}
		w.verified("elected later")
	})
}

// deposit is a deposit of a random history, with the months in which it was made and reversed, counted from the first one.
type deposit struct {
	entryID        string
	quantity, cost int64
	made, reversed int
	accumulated    int64 // impairment so far
}

// measuredByHand returns what the deposits that are held at the end of a month are adjusted by.
func measuredByHand(policy string, all []*deposit, month int, price int64) (sum int64) {
	for _, d := range all {
		if d.made > month || d.reversed <= month {
			continue
		}
		excess := d.quantity*price - d.cost
		d.accumulated = min(d.accumulated, excess, 0)
		switch policy {
		case "us_gaap impairment":
			sum += d.accumulated
		case "ifrs impairment":
			sum += min(excess, 0)
		default:
			sum += excess
		}
	}
	return sum
}

// Deposits are reversed in months that follow the one that is measured next, whether they were measured before or not.
func TestSoakUnitsHeldAtTheEndOfAMonthAreMeasuredWhateverIsReversedLater(t *testing.T) {
	t.Parallel()
	var table cases
	months := []string{"2025-03", "2025-04", "2025-05", "2025-06", "2025-07", "2025-08", "2025-09"}
	for _, policy := range []string{"us_gaap impairment", "ifrs impairment", "ifrs fair_value", "us_gaap fair_value"} {
		table.each(t, policy, func(w *world) {
			seed := dbtest.Seed(w.T)
			r := rand.New(rand.NewPCG(seed, 0))
			var all []*deposit
			for m, month := range months {
				price := 50 + r.Int64N(100)
				for day := 1; day < 25; day += 4 + r.IntN(10) {
					d := &deposit{quantity: 1 + r.Int64N(9), made: m, reversed: len(months)}
					d.cost = d.quantity * (50 + r.Int64N(100))
					_, d.entryID = w.Transact(fmt.Sprintf("%s-%02d A in %d ETH = %d.00 : DEPOSIT against 3010", month, day, d.quantity, d.cost))
					all = append(all, d)
				}
				want := money.FromInt(measuredByHand(policy, all, m, price))
				for n := range 3 {
					var after money.Decimal
					for _, i := range w.revalue(month, fmt.Sprint(price)).Items {
						after = after.Add(i.After)
					}
					if !after.Equal(want) {
						w.Errorf("%s, seed %d, %s, run %d: adjusted to %s, by hand %s", policy, seed, month, n, after, want)
					}
					if d := all[r.IntN(len(all))]; d.reversed == len(months) && m+1 < len(months) {
						d.reversed = m + 1 + r.IntN(len(months)-m-1)
						_, err := w.Journal.Reverse(w.Ctx, d.entryID, journal.ReverseParams{AccountingDate: months[d.reversed] + "-26"})
						w.Must(err)
					}
					w.measured(fmt.Sprint(policy, ", seed ", seed), month)
				}
				if w.verified(fmt.Sprint(policy, ", seed ", seed)); w.Failed() {
					return
				}
				w.closeThrough(month)
			}
		})
	}
}
