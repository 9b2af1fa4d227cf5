package holdings_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
)

// random fills a world with lots that come, go, come late and are corrected.
func (w *world) random(r *rand.Rand, lots, uses int) {
	date := func(from, days int) string {
		return day("2022-01-01").AddDate(0, 0, from+r.Intn(days)).Format(time.DateOnly)
	}
	for i := range lots {
		acquired := date(0, 900)
		entered := acquired
		if r.Intn(4) == 0 {
			entered = day(acquired).AddDate(0, 0, r.Intn(200)).Format(time.DateOnly)
		}
		l := w.lot(fmt.Sprintf("L%03d %s %s %s %d %d %s", i, []string{"A", "B"}[r.Intn(2)], []string{"BTC", "ETH", "SOL"}[r.Intn(3)],
			acquired, 1+r.Intn(9), r.Intn(5000), entered))
		l.remaining, l.left = dec(l.quantity), dec(l.basis)
	}
	for range uses {
		l := w.lots[r.Intn(len(w.lots))]
		at := day(l.entered).AddDate(0, 0, r.Intn(500)).Format(time.DateOnly)
		if l.remaining.IsZero() {
			if r.Intn(3) == 0 { // some of it comes back
				w.use(fmt.Sprintf("%s dispose* %s -1 -%s -%d 0 %s", l.name, at, "0", r.Intn(900), "long"))
				l.remaining = l.remaining.Add(dec("1"))
			}
			continue
		}
		quantity, basis := l.remaining, l.left
		if r.Intn(2) == 0 {
			quantity, basis = dec("1"), l.left.Quo(l.remaining, 2)
		}
		w.use(fmt.Sprintf("%s %s %s %s %s %d %d %s", l.name, []string{"dispose", "fee", "move", "convert"}[r.Intn(4)], at, quantity,
			basis, r.Intn(9000), r.Intn(9), []string{"short", "long"}[r.Intn(2)]))
		l.remaining, l.left = l.remaining.Sub(quantity), l.left.Sub(basis)
	}
	w.book()
}

// heldOn is what the notation says was held at the end of a day: by lot what was left of quantity and basis.
func (w *world) heldOn(date string) map[string][2]money.Decimal {
	out := map[string][2]money.Decimal{}
	for _, l := range w.lots {
		if l.entered <= date {
			out[l.name] = [2]money.Decimal{dec(l.quantity), dec(l.basis)}
		}
	}
	for _, u := range w.uses {
		if h, there := out[u.lot]; there && u.date <= date {
			out[u.lot] = [2]money.Decimal{h[0].Sub(dec(u.quantity)), h[1].Sub(dec(u.basis))}
		}
	}
	for name, h := range out {
		if h[0].IsZero() {
			delete(out, name)
		}
	}
	return out
}

func TestLotsAndBalancesOfAnyDayAreWhatHappenedUntilThen(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := rand.New(rand.NewSource(7))
		w.random(r, 60, 120)
		w.source("A", "wallet", "lac_A")
		s := holdings.NewService(w.d)
		for range 12 {
			date := day("2022-01-01").AddDate(0, 0, r.Intn(1500)).Format(time.DateOnly)
			want, byPlace := w.heldOn(date), map[string]money.Decimal{}
			for name, h := range want {
				l := w.find(name)
				byPlace[l.source+l.asset] = byPlace[l.source+l.asset].Add(h[0])
			}
			lots := all(t, 7, func(pr page.Request) (page.Page[holdings.TaxLot], error) {
				return s.AssetTaxLots(w.ctx, holdings.TaxLotsParams{AsOf: date}, pr)
			})
			for _, l := range lots {
				name := strings.TrimPrefix(l.ID, "ast_")
				if h, held := want[name]; !held || !h[0].Equal(l.RemainingQuantity) || !h[1].Equal(l.RemainingBasis) {
					t.Errorf("%s: %s has %s for %s, want %s for %s", date, name, l.RemainingQuantity, l.RemainingBasis, h[0], h[1])
				}
			}
			if len(lots) != len(want) {
				t.Errorf("%s: %d lots, want %d", date, len(lots), len(want))
			}
			held := all(t, 2, func(pr page.Request) (page.Page[holdings.Balance], error) {
				return s.TreasuryBalances(w.ctx, holdings.TreasuryParams{AsOf: date}, pr)
			})
			for _, b := range held {
				if k := b.SourceID + b.AssetType; !byPlace[k].Equal(b.Quantity) {
					t.Errorf("%s: %s holds %s, want %s", date, k, b.Quantity, byPlace[k])
				} else {
					delete(byPlace, k)
				}
			}
			for k, q := range byPlace {
				if !q.IsZero() {
					t.Errorf("%s: %s of %s are missing", date, q, k)
				}
			}
		}
	})
}

func TestDispositionsAddUpToTheGainsAndRollForwardsToEachOther(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.random(rand.New(rand.NewSource(11)), 40, 120)
		s := holdings.NewService(w.d)
		type total struct{ quantity, proceeds, fee, basis, gain, short, long money.Decimal }
		sums := map[string]total{}
		for _, d := range all(t, 9, func(pr page.Request) (page.Page[holdings.Disposition], error) {
			return s.ScheduleOfDispositions(w.ctx, holdings.DispositionsParams{}, pr)
		}) {
			x := sums[d.PeriodID+d.AssetType]
			x.quantity, x.proceeds, x.fee, x.basis, x.gain = x.quantity.Add(d.Quantity), x.proceeds.Add(d.Proceeds), x.fee.Add(
				d.Fee), x.basis.Add(d.Basis), x.gain.Add(d.Gain)
			if d.Term == "long" {
				x.long = x.long.Add(d.Gain)
			} else {
				x.short = x.short.Add(d.Gain)
			}
			sums[d.PeriodID+d.AssetType] = x
		}
		gains := all(t, 4, func(pr page.Request) (page.Page[holdings.Gains], error) {
			return s.RealizedGainsLosses(w.ctx, holdings.GainsParams{}, pr)
		})
		for _, g := range gains {
			x := sums[g.Period.ID+g.AssetType]
			if !x.quantity.Equal(g.Quantity) || !x.proceeds.Equal(g.Proceeds) || !x.fee.Equal(g.Fee) || !x.basis.Equal(g.Basis) ||
				!x.gain.Equal(g.Net()) || !x.short.Equal(g.ShortTerm) || !x.long.Equal(g.LongTerm) {
				t.Errorf("%s %s: %+v, want %+v", g.Period.Key, g.AssetType, g, x)
			}
			delete(sums, g.Period.ID+g.AssetType)
		}
		for k, x := range sums {
			if !x.quantity.IsZero() || !x.proceeds.IsZero() || !x.basis.IsZero() {
				t.Errorf("%s: %+v are in no period", k, x)
			}
		}
		for _, asset := range []string{"BTC", "ETH", "SOL"} {
			w.prices(asset+" 2021-12-31 100", asset+" 2022-12-31 321.5", asset+" 2023-12-31 99.99", asset+" 2025-12-31 5")
		}
		closing := map[string]money.Decimal{}
		for _, year := range [][2]string{{"2022-01-01", "2022-12-31"}, {"2023-01-01", "2023-12-31"}, {"2024-01-01", "2025-12-31"}} {
			for _, x := range all(t, 2, func(pr page.Request) (page.Page[holdings.RollForward], error) {
				return s.RollForward(w.ctx, holdings.RollForwardParams{Span: holdings.Span{StartDate: year[0], EndDate: year[1]}}, pr)
			}) {
				sum := x.Opening.Value.Add(x.Additions).Add(x.Transfers).Sub(x.Dispositions).Add(*x.Gains()).Sub(*x.Losses())
				if !sum.Equal(*x.Closing.Value) || !x.Opening.Value.Equal(closing[x.AssetType]) {
					t.Errorf("%s %s: %s to %s, but it adds up to %s and the year before ended with %s", year[0], x.AssetType, x.Opening.Value,
						x.Closing.Value, sum, closing[x.AssetType])
				}
				closing[x.AssetType] = *x.Closing.Value
			}
		}
	})
}
