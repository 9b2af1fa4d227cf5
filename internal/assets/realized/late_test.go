package realized_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// closeThrough closes the months up to one.
func (w *world) closeThrough(key string) {
	w.Helper()
	var all []period.Period
	w.Read(func(ctx context.Context, tx *db.Tx) (err error) {
		all, err = period.All(ctx, tx)
		return err
	})
	slices.SortFunc(all, func(a, b period.Period) int { return cmp.Compare(a.Key, b.Key) })
	for _, p := range all {
		if p.Key > w.closed && p.Key <= key {
			for _, entityID := range []string{w.EntityID, w.SubsidiaryID} {
				if entityID != "" {
					_, err := period.NewService(w.DB).WithAdjustments(holdings.KeepAdjustments).Close(w.Ctx, p.ID, entityID)
					w.Must(err)
				}
			}
			w.closed = p.Key
		}
	}
}

// choose sets the cost basis scope and method.
func (w *world) choose(scope, method string) {
	w.Helper()
	for _, entityID := range []string{w.EntityID, w.SubsidiaryID} {
		if entityID != "" {
			_, err := entity.NewService(w.DB).Update(w.Ctx, entityID, entity.UpdateParams{CostBasisScope: &scope, CostBasisMethod: &method})
			w.Must(err)
		}
	}
}

// agree fails unless the ledger, the report and the schedule show the same book gain of a month, and returns it.
func (w *world) agree(what, month string) money.Decimal {
	w.Helper()
	_, book, scheduled := w.gains(month)
	if ledger := w.ledger(month); !book.Equal(ledger) || !scheduled.Equal(ledger) {
		w.Errorf("%s, %s: the ledger has a gain of %s, the report %s, the schedule %s", what, month, ledger, book, scheduled)
	}
	return book
}

// In August, 1 of 2 ETH is sold for 160. After August is closed, a deposit of July arrives, of which the sale consumes ETH now.
func TestSoakBookGainsEqualTheLedgerAfterALateDepositInAClosedMonth(t *testing.T) {
	t.Parallel()
	var table cases
	for _, c := range []struct {
		policy, july, august, september string
		late                            []string
		gain                            string // realized in September
		carrying                        string // per lot that was there in August
	}{
		// The sale consumed ETH carried at 150 and consumes ETH carried at 80: a gain of 10 becomes one of 80.
		{"ifrs fair_value", "150", "170", "155", []string{"1 ETH = 80.00"}, "70", "155"},
		{"ifrs fair_value", "150", "170", "155", []string{"0.5 ETH = 40.00"}, "35", "155"},
		{"ifrs fair_value", "150", "170", "155", []string{"0.5 ETH = 40.00", "0.5 ETH = 30.00"}, "80", "155"},
		// A gain of 90 becomes one of 80. Both units that are held are carried at 60: none is written up to 65.
		{"us_gaap impairment", "70", "60", "65", []string{"1 ETH = 80.00"}, "-10", "60"},
		{"us_gaap impairment", "70", "60", "65", []string{"0.5 ETH = 40.00"}, "-5", "60"},
		{"us_gaap impairment", "70", "60", "65", []string{"0.5 ETH = 40.00", "0.5 ETH = 30.00"}, "0", "60"},
		{"ifrs impairment", "70", "60", "65", []string{"1 ETH = 80.00"}, "-10", "65"},
	} {
		for _, scope := range []string{"source", "legal_entity"} {
			for _, measuredBefore := range []bool{false, true} {
				table.each(t, c.policy, func(w *world) {
					what := fmt.Sprint(c.policy, " ", scope, " ", c.late, " ", measuredBefore)
					w.choose(scope, "fifo")
					w.book("2025-07-10 A in 2 ETH = 200.00 : DEPOSIT against 3010", "2025-07 revalue at "+c.july)
					w.closeThrough("2025-07")
					w.book("2025-08-05 A out 1 ETH = 160.00 : SWAP against Bank", "2025-08 revalue at "+c.august)
					w.closeThrough("2025-08")
					august := w.agree(what, "2025-08")
					if measuredBefore {
						w.book("2025-09-01 A in 1 ETH = 60.00 : DEPOSIT against 3010", "2025-09 revalue at "+c.september)
					}
					for i, late := range c.late {
						w.book(fmt.Sprintf("2025-07-%02d A in %s : DEPOSIT against 3010", 5-i, late))
					}
					run := w.revalue("2025-09", c.september)
					if got := w.agree(what, "2025-09"); got.String() != c.gain {
						w.Errorf("%s: %s were realized in September, want %s", what, got, c.gain)
					}
					if got := w.agree(what, "2025-08"); !got.Equal(august) {
						w.Errorf("%s: the gain of the closed month became %s", what, got)
					}
					first := w.carrying(run)[w.first(run)]
					if got := first.amount.Quo(first.quantity, 2).String(); got != c.carrying {
						w.Errorf("%s: a unit of the first lot is carried at %s, want %s", what, got, c.carrying)
					}
				})
			}
		}
	}
}

// A lot that a sale had consumed completely is held again after a late deposit. It is carried at what it was carried at in July or,
// because it was held in August too, at the price of August if that is lower.
func TestALotThatIsHeldAgainIsNotWrittenUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ policy, august, gain, carrying string }{
		{"us_gaap impairment", "80", "-10", "70"}, // sold for 90: the gain was 20 and is 10
		{"us_gaap impairment", "60", "-10", "60"},
		{"ifrs impairment", "60", "-10", "90"},
	} {
		each(t, c.policy, func(w *world) {
			w.book("2025-07-10 A in 1 ETH = 100.00 : DEPOSIT against 3010", "2025-07 revalue at 70")
			w.closeThrough("2025-07")
			w.book("2025-08-05 A out 1 ETH = 90.00 : SWAP against Bank", "2025-08 revalue at "+c.august)
			w.closeThrough("2025-08")
			w.want("2025-08", "tax -10, book 20: 20")
			w.book("2025-07-05 A in 1 ETH = 80.00 : DEPOSIT against 3010")
			run := w.revalue("2025-09", "90")
			if got := w.agree(c.policy, "2025-09"); got.String() != c.gain {
				w.Errorf("%s: %s were realized in September, want %s", c.policy, got, c.gain)
			}
			w.want("2025-08", "tax -10, book 20: 20")
			for _, l := range w.carrying(run) {
				if got := l.amount.Quo(l.quantity, 2).String(); got != c.carrying {
					w.Errorf("%s, %s in August: the lot is carried at %s, want %s", c.policy, c.august, got, c.carrying)
				}
			}
			if again := w.revalue("2025-09", "90"); again.Items[0].Outcome != revaluation.EntryKept {
				w.Errorf("a second run is %s", again.Items[0].Outcome)
			}
		})
	}
}

// carried is a lot after a revaluation.
type carried struct{ quantity, amount money.Decimal }

func (w *world) carrying(r revaluation.Run) map[string]carried {
	out := map[string]carried{}
	for _, row := range r.Rows {
		if row.Quantity.IsZero() || row.IsAccount() {
			continue // it explains what was released
		}
		out[row.SubjectID] = carried{row.Quantity, row.Cost.Add(row.After)}
	}
	return out
}

// first returns the lot of a run that was created first.
func (w *world) first(r revaluation.Run) string {
	return slices.Min(slices.Collect(maps.Keys(w.carrying(r))))
}

// revalue revalues a month at a price, or at the one that it has already.
func (w *world) revalue(month, price string) revaluation.Run {
	w.Helper()
	if !w.priced[month] {
		w.price(month, price)
	}
	r, err := w.Revaluations.Run(w.Ctx, revaluation.RunParams{PeriodID: w.Period(month).ID})
	w.Must(err)
	for _, i := range r.Items {
		before, after := money.Decimal{}, money.Decimal{}
		for _, row := range r.Rows {
			if row.Kind == i.Kind && row.Unit == i.Unit && row.LegalEntityID == i.LegalEntityID {
				before, after = before.Add(row.Before), after.Add(row.After)
			}
		}
		if !before.Equal(i.Before) || !after.Equal(i.After) {
			w.Errorf("%s of %s, %s: the rows explain %s to %s, the entry books %s to %s", i.Kind, i.Unit, month, before, after, i.Before, i.After)
		}
	}
	return r
}

// lateLife is a random history of a company and its subsidiary into whose closed months events arrive late.
type lateLife struct {
	*world
	random *rand.Rand
	held   map[string]int64   // by source and asset, in thousandths
	last   map[string]carried // by lot, at the end of closed months

	deposits []lateDeposit
}

// event books a random deposit, sale, or move and perhaps a sale of what was moved: a transfer, a conversion, or a transfer between the
// company and its subsidiary.
func (l *lateLife) event(month string, day int) {
	l.Helper()
	sources, assets := []string{"A", "B", "SubA"}, []string{"ETH", "WETH"}
	from, asset := sources[l.random.IntN(3)], assets[l.random.IntN(2)]
	date := fmt.Sprintf("%s-%02d", month, day)
	quantity := min(1+l.random.Int64N(3000), l.held[from+asset])
	kind := l.random.IntN(7)
	if quantity == 0 {
		kind = 0
	}
	to, into := from, asset
	switch kind {
	case 0, 1:
		l.move(date, from, "in", asset, 1+l.random.Int64N(3000), "DEPOSIT against 3010")
		return
	case 2, 3:
		l.move(date, from, "out", asset, quantity, "SWAP against Bank")
		return
	case 4:
		into = assets[0]
		if asset == into {
			into = assets[1]
		}
		l.pair(date, from, asset, to, into, quantity, "NON_TAXABLE_CONVERSION")
	case 5:
		if to = "SubA"; from == to {
			to = "A"
		}
		l.pair(date, from, asset, to, into, quantity, "INTERCOMPANY TRANSFER")
	default:
		if from == "SubA" {
			return
		}
		if to = "A"; from == to {
			to = "B"
		}
		l.move(date, from, "out", asset, quantity, "WITHDRAWAL against "+to)
		l.held[to+asset] += quantity
	}
	if l.random.IntN(3) > 0 {
		l.move(fmt.Sprintf("%s-%02d", month, day+1), to, "out", into, 1+l.random.Int64N(quantity), "SWAP against Bank")
	}
}

// pair books two transactions that belong together.
func (l *lateLife) pair(date, from, asset, to, into string, quantity int64, booked string) {
	l.Helper()
	leg := func(source, direction, asset string) string {
		return fmt.Sprintf("%s %s %d.%03d %s = %d.%02d", source, direction, quantity/1000, quantity%1000, asset, quantity/10, quantity%100)
	}
	l.live(date + " " + leg(from, "out", asset) + " > " + leg(to, "in", into) + " : " + booked)
	l.held[from+asset] -= quantity
	l.held[to+into] += quantity
}

func (l *lateLife) move(date, source, direction, asset string, quantity int64, booked string) {
	l.Helper()
	if source == "SubA" && booked == "SWAP against Bank" {
		booked = "SWAP against SubBank"
	}
	_, entryID := l.Transact(fmt.Sprintf("%s %s %s %d.%03d %s = %d.%02d : %s", date, source, direction, quantity/1000, quantity%1000, asset,
		quantity*(20+l.random.Int64N(180))/1000, l.random.IntN(100), booked))
	if direction == "out" {
		quantity = -quantity
	} else {
		l.deposits = append(l.deposits, lateDeposit{entryID, source + asset, quantity})
	}
	l.held[source+asset] += quantity
}

// lateEvent books a deposit in a month that is closed and, perhaps, a sale of a part of it later.
func (l *lateLife) lateEvent(months []string) {
	l.Helper()
	source, asset, day := []string{"A", "B", "SubA"}[l.random.IntN(3)], []string{"ETH", "WETH"}[l.random.IntN(2)], 1+l.random.IntN(20)
	month, quantity := months[l.random.IntN(len(months))], 2+l.random.Int64N(3000)
	l.move(fmt.Sprintf("%s-%02d", month, day), source, "in", asset, quantity, "DEPOSIT against 3010")
	if l.random.IntN(3) == 0 {
		l.move(fmt.Sprintf("%s-%02d", month, day+1+l.random.IntN(6)), source, "out", asset, 1+l.random.Int64N(quantity), "SWAP against Bank")
	}
}

// lateDeposit is a deposit that can be reversed.
type lateDeposit struct {
	entryID, held string
	quantity      int64
}

// reverse reverses a random deposit of which nothing was used, with a date after all months that are measured.
func (l *lateLife) reverse() {
	l.Helper()
	n := l.random.IntN(len(l.deposits))
	if d := l.deposits[n]; l.held[d.held] >= d.quantity {
		_, err := l.Journal.Reverse(l.Ctx, d.entryID, journal.ReverseParams{AccountingDate: "2025-11-20"})
		if fault.KindOf(err) == fault.Conflict {
			return
		}
		l.Must(err)
		l.held[d.held] -= d.quantity
		l.deposits = slices.Delete(l.deposits, n, n+1)
	}
}

// agrees compares the gains of all months in the ledger, the report and the schedule.
func (l *lateLife) agrees(what string, months []string) {
	l.Helper()
	for _, m := range months {
		l.realizedBy(what+", parent", l.EntityID, m)
		l.realizedBy(what+", subsidiary", l.SubsidiaryID, m)
	}
}

// measure revalues a month and compares the gains of all months. Under US GAAP no unit may be carried at more than before.
func (l *lateLife) measure(what, month string, months []string, closed map[string]money.Decimal) revaluation.Run {
	l.Helper()
	r := l.revalue(month, fmt.Sprint(20+l.random.Int64N(180)))
	for _, m := range months {
		gain := l.realizedBy(what+", parent", l.EntityID, m).Add(l.realizedBy(what+", subsidiary", l.SubsidiaryID, m))
		if was, there := closed[m]; there && !was.Equal(gain) {
			l.Errorf("%s, %s is closed, but its gain became %s instead of %s", what, m, gain, was)
		}
	}
	for lot, now := range l.carrying(r) {
		was, there := l.last[lot]
		// Amounts are rounded when lots are divided: by two cents at most.
		cents := money.MustParse("0.02")
		if there && now.amount.Sub(cents).Mul(was.quantity).Cmp(was.amount.Add(cents).Mul(now.quantity)) > 0 {
			l.Errorf("%s, %s: %s of the lot %s are carried at %s, before %s at %s", what, month, now.quantity, lot, now.amount,
				was.quantity, was.amount)
		}
	}
	l.Read(func(ctx context.Context, tx *db.Tx) error {
		for _, verify := range []func(context.Context, *db.Tx) ([]string, error){replay.Verify, revaluation.Verify} {
			found, err := verify(ctx, tx)
			if err != nil || len(found) > 0 {
				l.Errorf("%s, %s: %v %v", what, month, found, err)
			}
		}
		return nil
	})
	return r
}

// An ordinary run tries one scope of each policy.
func TestSoakBookGainsEqualTheLedgerHoweverLateEventsArriveInClosedMonths(t *testing.T) {
	t.Parallel()
	var table cases
	for _, policy := range []string{"ifrs fair_value", "ifrs impairment", "us_gaap impairment"} {
		scopes := []string{"source", "legal_entity"}
		if !dbtest.Soaking() {
			scopes = scopes[table.count%2:][:1]
		}
		for _, scope := range scopes {
			table.eachGroup(t, policy, policy, func(w *world) { w.liveLate(policy, scope) })
		}
	}
}

func (w *world) liveLate(policy, scope string) {
	seed := dbtest.Seed(w.T)
	what := fmt.Sprintf("%s, %s, seed %d", policy, scope, seed)
	l := &lateLife{world: w, random: rand.New(rand.NewPCG(seed, 0)), held: map[string]int64{}, last: map[string]carried{}}
	w.choose(scope, []string{"fifo", "lifo", "hifo"}[l.random.IntN(3)])
	months, closed := []string{}, map[string]money.Decimal{}
	for n, month := range []string{"2025-06", "2025-07", "2025-08", "2025-09", "2025-10"} {
		for day := 1; day < 25; day += 2 + l.random.IntN(6) {
			l.event(month, day)
		}
		before := slices.Clone(months)
		months = append(months, month)
		if l.random.IntN(2) == 0 {
			l.measure(what, month, months, closed)
		}
		for range l.random.IntN(3) {
			if n > 0 {
				l.lateEvent(before)
				l.agrees(what+", out of date after a late event", months)
			}
			l.event(month, 26)
			l.agrees(what+", out of date after an event", months)
			l.reverse()
			l.agrees(what+", out of date after a reversal", months)
			l.measure(what, month, months, closed)
		}
		r := l.measure(what, month, months, closed)
		w.closeThrough(month)
		if closed[month] = w.ledger(month); w.Failed() {
			return
		}
		if policy == "us_gaap impairment" { // under the others, a value may rise again
			maps.Copy(l.last, l.carrying(r))
		}
	}
}
