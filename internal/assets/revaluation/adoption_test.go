package revaluation_test

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
)

// chooses switches the measurement of the legal entity from a day on.
func (w *world) chooses(measurement, from string) error {
	_, err := entity.NewService(w.d).WithClosings(snapshot.ClosedThrough).Update(w.ctx, w.entity,
		entity.UpdateParams{Measurement: &measurement, MeasurementFrom: &from})
	return err
}

// adopts switches the legal entity to fair value from a day on.
func (w *world) adopts(from string) {
	w.t.Helper()
	if err := w.chooses(entity.MeasuredAtFairValue, from); err != nil {
		w.t.Fatal(err)
	}
}

func TestAdoptionOfFairValueIsBookedToOpeningRetainedEarnings(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-03-10 2 3000")
		w.buy("L2 BTC 2025-03-10 1 50000")
		w.buy("L3 USDC 2025-03-10 100 100") // out of scope: it stays at cost less impairment
		w.adopts("2026-01-01")
		for unit, worth := range map[string]string{"ETH": "2000", "BTC": "45000", "USDC": "1"} {
			w.closing(unit, "2025-12", worth)
			w.closing(unit, "2026-01", worth)
		}
		w.say("December is at cost", w.run("2025-12"), "")
		w.price("ETH 2026-01-31T23:30:00Z 2100")
		w.say("January", w.run("2026-01"), "BTC adoption 0 to -5000: posted, ETH adoption 0 to 1000: posted, "+
			"BTC fair_value -5000 to -5000: none, ETH fair_value 1000 to 1200: posted, USDC impairment 0 to 0: none")
		w.say("January", w.moved("2026-01"),
			"fair_value_adjustment:BTC -5000, fair_value_adjustment:ETH 1200, retained_earnings_posted -4000, unrealized_gain 200")
		w.say("again", w.run("2026-01"), "BTC adoption 0 to -5000: kept, ETH adoption 0 to 1000: kept, "+
			"BTC fair_value -5000 to -5000: none, ETH fair_value 1000 to 1200: kept, USDC impairment 0 to 0: none")
		w.closing("ETH", "2026-02", "2000")
		w.closing("BTC", "2026-02", "45000")
		w.closing("USDC", "2026-02", "1")
		w.say("February", w.run("2026-02"),
			"BTC fair_value -5000 to -5000: none, ETH fair_value 1200 to 1000: posted, USDC impairment 0 to 0: none")
		w.price("ETH 2025-12-31T23:59:00Z 2050")
		r, err := w.try("2026-01", nil)
		if err != nil {
			t.Fatal(err)
		}
		w.say("another opening price", told(r), "BTC adoption 0 to -5000: kept, ETH adoption 0 to 1100: replaced, "+
			"BTC fair_value -5000 to -5000: none, ETH fair_value 1100 to 1200: replaced, USDC impairment 0 to 0: none")
		begins := w.period("2026-01").Start
		w.read(func(ctx context.Context, tx *db.Tx) error {
			e, err := journal.Find(ctx, tx, r.Items[1].EntryID)
			if err != nil || !e.AccountingDate.Equal(begins) {
				t.Errorf("%+v %v", e, err)
			}
			return nil
		})
		for _, row := range r.Rows {
			if row.SubjectID == "ast_L1" && (row.Kind == "adoption" && row.After.String() != "1100" ||
				row.Kind == "fair_value" && (row.Before.String() != "1100" || row.After.String() != "1200")) {
				t.Errorf("%+v", row)
			}
		}
	})
}

func TestAdoptionReleasesTheImpairmentThatWasBookedBefore(t *testing.T) {
	each(t, "us_gaap impairment", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-11-10 2 200")
		w.price("ETH 2025-12-10T00:00:00Z 70")
		w.closing("ETH", "2025-12", "130")
		w.say("December", w.run("2025-12"), "ETH impairment 0 to -60: posted")
		w.adopts("2026-01-01")
		w.sell("L1 2026-01-10 1 140")
		w.closing("ETH", "2026-01", "150")
		for _, outcome := range []string{"posted", "kept"} {
			w.say("January", w.run("2026-01"), "ETH adoption -60 to 60: "+outcome+", ETH fair_value 60 to 50: "+outcome)
		}
		w.say("120 of 2 units to retained earnings; a gain of 40 over cost, less 10 of the value that was recognized", w.moved("2026-01"),
			"accumulated_impairment:ETH 60, fair_value_adjustment:ETH 50, realized_gain 40, retained_earnings_posted 120, unrealized_loss -10")
		w.closing("ETH", "2026-02", "150")
		w.say("February", w.run("2026-02"), "ETH fair_value 50 to 50: none")
		if err := w.chooses(entity.MeasuredImpaired, ""); err != nil {
			t.Fatal(err)
		}
		w.say("back to impairment from the beginning", w.run("2026-01"),
			"ETH adoption 0 to 0: reversed, ETH fair_value 0 to 0: reversed, ETH impairment -60 to -30: posted")
		w.say("January", w.moved("2026-01"), "accumulated_impairment:ETH 30, realized_gain 70")
	})
}

func TestAdoptionNeedsThePricesAtTheBeginning(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-03-10 2 3000")
		w.adopts("2026-01-01")
		w.closing("ETH", "2026-01", "1500")
		_, err := w.try("2026-01", nil)
		w.refused("no opening price", err, fault.Conflict, "ETH/USD has no price at 2025-12-31T23:59:59.999Z")
		w.closing("ETH", "2025-12", "1400")
		w.say("January", w.run("2026-01"), "ETH adoption 0 to -200: posted, ETH fair_value -200 to 0: posted")
		w.say("January", w.moved("2026-01"), "retained_earnings_posted -200, unrealized_gain 200")
	})
}

func TestFairValueIsAdoptedOnTheFirstDayOfAnOpenFiscalYearOnly(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		if err := w.chooses(entity.MeasuredAtFairValue, ""); err != nil {
			t.Errorf("before there are lots: %v", err)
		}
		w.measures("us_gaap cost")
		w.buy("L1 ETH 2025-01-10 2 3000")
		var year string
		w.read(func(_ context.Context, tx *db.Tx) error { year = tx.Now().Format("2006"); return nil })
		for _, from := range []string{"", "2025-06-01", year + "-12-01"} {
			w.refused("from "+from, w.chooses(entity.MeasuredAtFairValue, from), fault.Conflict, "measurement_from",
				"first day of a fiscal year", year+"-01-01 is possible")
		}
		for _, from := range []string{"2026-01-02", "2026-01-15"} {
			w.refused("from "+from, w.chooses(entity.MeasuredAtFairValue, from), fault.Conflict, "measurement_from is "+from,
				"for example 2026-01-01 if that month is open")
			w.refused("from "+from, w.chooses(entity.MeasuredImpaired, from), fault.Invalid, "measurement_from")
		}
		w.refused("late in a year", w.chooses(entity.MeasuredAtFairValue, "2026-11-15"), fault.Conflict, "for example 2027-01-01 if")
		for _, from := range []string{"2026-13-01", "soon"} {
			w.refused("from "+from, w.chooses(entity.MeasuredAtFairValue, from), fault.Invalid, "measurement_from")
		}
		_, err := entity.NewService(w.d).Update(w.ctx, w.entity, entity.UpdateParams{MeasurementFrom: new("2026-01-01")})
		w.refused("alone", err, fault.Invalid, "measurement_from", "together with measurement")
		if _, err := period.NewService(w.d).WithTransit(holdings.InTransit).Close(w.ctx, w.period("2025-01").ID, ""); err != nil {
			t.Fatal(err)
		}
		w.refused("a closed month", w.chooses(entity.MeasuredAtFairValue, "2025-01-01"), fault.Conflict, "is possible")
		w.refused("a closed month", w.chooses(entity.MeasuredImpaired, "2025-01-01"), fault.Conflict, "after 2025-01")
		if err := w.chooses(entity.MeasuredImpaired, "2025-02-01"); err != nil {
			t.Errorf("another measurement applies from any open month on: %v", err)
		}
		april := int64(4)
		if _, err := entity.NewService(w.d).Update(w.ctx, w.entity, entity.UpdateParams{FiscalYearStartMonth: &april}); err != nil {
			t.Fatal(err)
		}
		w.refused("not a fiscal year", w.chooses(entity.MeasuredAtFairValue, "2026-01-01"), fault.Conflict, "-04-01 is possible")
		w.adopts("2025-04-01")
		w.adopts("2025-04-01") // changes nothing
		d, err := entity.NewService(w.d).Get(w.ctx, w.entity)
		if err != nil || len(d.Measurements) != 5 || d.Measurements[4].From != "2025-04-01" ||
			d.Measurements[4].Measurement != entity.MeasuredAtFairValue {
			t.Errorf("%+v %v", d.Measurements, err)
		}
		w.measures("ifrs impairment")
		if err := w.chooses(entity.MeasuredAtFairValue, ""); err != nil {
			t.Errorf("IAS 38 is no adoption: %v", err)
		}
	})
}
