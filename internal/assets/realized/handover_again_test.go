package realized_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
)

// measured fails if a run of a month would book something that is not booked.
func (w *world) measured(what, month string) {
	w.Helper()
	w.Read(func(ctx context.Context, tx *db.Tx) error {
		for _, entityID := range []string{w.EntityID, w.SubsidiaryID} {
			if entityID == "" {
				continue // there is no subsidiary
			}
			if found, err := revaluation.Inspect(ctx, tx, w.Period(month), entityID); err != nil || found.Stale != "" {
				w.Errorf("%s, %s: %s %v", what, month, found.Stale, err)
			}
		}
		return nil
	})
}

// closeAll closes months for both legal entities.
func (w *world) closeAll(months ...string) {
	w.Helper()
	for _, month := range months {
		for _, entityID := range []string{w.EntityID, w.SubsidiaryID} {
			_, err := period.NewService(w.DB).Close(w.Ctx, w.Period(month).ID, entityID)
			w.Must(err)
		}
	}
}

// The parent holds three ETH that cost 300 and are impaired to 180 when it adopts fair value at 90. In the same month one of them goes to
// its subsidiary, and another becomes WETH, which is outside the scope of ASC 350-60. Both are carried at 90.
func TestOneRunIsEnoughInTheMonthInWhichFairValueIsAdopted(t *testing.T) {
	t.Parallel()
	const given, converted = "2025-10-10 A out 1 ETH = 92.00 > SubA in 1 ETH = 92.00 : INTERCOMPANY TRANSFER",
		"2025-10-11 A out 1 ETH = 92.00 > A in 1 WETH = 92.00 : NON_TAXABLE_CONVERSION"
	for _, c := range []struct {
		events                []string
		parents, subsidiaries string // balances
	}{
		{nil, "fair_value_adjustment:ETH -15, impairment_loss 120, retained_earnings_posted -90, unrealized_gain -15", ""},
		{[]string{given}, "due_from 95, fair_value_adjustment:ETH -10, impairment_loss 120, retained_earnings_posted -90, unrealized_gain -15",
			"accumulated_impairment:ETH -10, due_to -95, unrealized_loss 5"},
		{[]string{converted}, "accumulated_impairment:WETH -10, fair_value_adjustment:ETH -10, impairment_loss 120, " +
			"retained_earnings_posted -90, unrealized_gain -10", ""},
		{[]string{given, converted}, "accumulated_impairment:WETH -10, due_from 95, fair_value_adjustment:ETH -5, impairment_loss 120, " +
			"retained_earnings_posted -90, unrealized_gain -10", "accumulated_impairment:ETH -10, due_to -95, unrealized_loss 5"},
	} {
		eachGroup(t, "us_gaap impairment", "us_gaap impairment", func(w *world) {
			what := fmt.Sprint(c)
			october, measurement, from := int64(10), entity.MeasuredAtFairValue, "2025-10-01"
			w.live("2025-08-10 A in 3 ETH = 300.00 : DEPOSIT against 3010", "2025-08 revalue ETH 60, WETH 60",
				"2025-09 revalue ETH 90, WETH 90")
			_, err := entity.NewService(w.DB).WithClosings(snapshot.ClosedThrough).Update(w.Ctx, w.EntityID,
				entity.UpdateParams{Measurement: &measurement, MeasurementFrom: &from, FiscalYearStartMonth: &october})
			w.Must(err)
			w.live(c.events...)
			for _, kinds := range [][]revaluation.Kind{nil, nil, {revaluation.FairValue, revaluation.Impairment}, {revaluation.Adoption}} {
				w.prices("2025-10", "ETH 95, WETH 95")
				_, err := w.Revaluations.Run(w.Ctx, revaluation.RunParams{PeriodID: w.Period("2025-10").ID, Kinds: kinds})
				w.Must(err)
				w.measured(what, "2025-10")
				if got := w.adjusted(w.EntityID, "2025-10"); got != c.parents {
					w.Errorf("%s: the parent has %s", what, got)
				}
				if got := w.adjusted(w.SubsidiaryID, "2025-10"); got != c.subsidiaries {
					w.Errorf("%s: the subsidiary has %s", what, got)
				}
			}
			w.verified(what)
		})
	}
}

// Five ETH of each are carried at 150 or 60, and one goes to the subsidiary and comes back.
func TestATransferThereAndBackLeavesNoBalanceAfterOneRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ parent, subsidiary, before, after string }{
		{"us_gaap fair_value", "ifrs fair_value", "150", "90"},
		{"us_gaap fair_value", "us_gaap fair_value", "150", "90"},
		{"us_gaap impairment", "us_gaap impairment", "60", "50"},
		{"ifrs fair_value", "ifrs fair_value", "150", "90"},
	} {
		eachGroup(t, c.parent, c.subsidiary, func(w *world) {
			what := fmt.Sprint(c)
			w.live("2025-09-10 A in 5 ETH = 500.00 : DEPOSIT against 3010", "2025-09-10 SubA in 5 ETH = 500.00 : DEPOSIT against 3010",
				"2025-09 revalue ETH "+c.before,
				"2025-10-10 A out 1 ETH = 120.00 > SubA in 1 ETH = 120.00 : INTERCOMPANY TRANSFER",
				"2025-10-11 SubA out 1 ETH = 120.00 > A in 1 ETH = 120.00 : INTERCOMPANY TRANSFER",
				"2025-10 revalue ETH "+c.after)
			w.measured(what, "2025-10")
			for _, entityID := range []string{w.EntityID, w.SubsidiaryID} {
				if got := w.adjusted(entityID, "2025-10"); strings.Contains(got, "due_") {
					w.Errorf("%s: %s", what, got)
				}
			}
			w.verified(what)
		})
	}
}

// The lot that a handover created does not exist any more after it was reversed in a later month, but was held at the end of the month.
func TestSoakRowsAddUpWhenAMonthIsMeasuredAgainAfterAReversal(t *testing.T) {
	t.Parallel()
	var table cases
	for _, policy := range []string{"us_gaap fair_value", "us_gaap impairment", "ifrs fair_value", "ifrs impairment"} {
		for _, event := range []string{"2025-09-10 A out 1 ETH = 120.00 > SubA in 1 ETH = 120.00 : INTERCOMPANY TRANSFER",
			"2025-09-10 A out 1 ETH = 120.00 > A in 1 WETH = 120.00 : NON_TAXABLE_CONVERSION"} {
			table.eachGroup(t, policy, policy, func(w *world) {
				what := policy + ", " + event
				w.live("2025-08-10 A in 3 ETH = 300.00 : DEPOSIT against 3010", "2025-08 revalue ETH 150", event,
					"2025-09 revalue ETH 120, WETH 120")
				w.closeAll("2025-08", "2025-09")
				_, err := w.Journal.Reverse(w.Ctx, w.linked, journal.ReverseParams{AccountingDate: "2025-10-05T00:00:00Z"})
				w.Must(err)
				for _, entityID := range []string{w.EntityID, w.SubsidiaryID} {
					_, err := period.NewService(w.DB).Reopen(w.Ctx, w.Period("2025-09").ID,
						period.ReopenParams{LegalEntityID: entityID, Reason: "measure again"})
					w.Must(err)
				}
				for _, month := range []string{"2025-09", "2025-10"} {
					w.live(month + " revalue ETH 120, WETH 120")
					w.verified(what)
					w.measured(what, month)
				}
				if got := w.adjusted(w.SubsidiaryID, "2025-10"); strings.Contains(got, "adjustment") {
					w.Errorf("%s: the subsidiary has %s", what, got)
				}
			})
		}
	}
}

// Two ETH that cost 200 are worth 60 and then 50 each, and one of them is handed over. A deposit of before arrives after both months are
// closed, so that its ETH was handed over instead: it is carried at 50, as if it had been booked in time.
func TestALateAcquisitionDoesNotWriteUpWhatWasHandedOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ policy, event, parents, subsidiaries string }{
		{"us_gaap impairment", "2025-09-10 A out 1 ETH = 70.00 > A in 1 WETH = 70.00 : NON_TAXABLE_CONVERSION",
			"accumulated_impairment:ETH -100, accumulated_impairment:WETH -30, impairment_loss 130", ""},
		{"us_gaap impairment", "2025-09-10 A out 1 ETH = 70.00 > SubA in 1 ETH = 70.00 : INTERCOMPANY TRANSFER",
			"accumulated_impairment:ETH -100", "accumulated_impairment:ETH -30"},
		{"us_gaap fair_value", "2025-09-10 A out 1 ETH = 70.00 > A in 1 WETH = 70.00 : NON_TAXABLE_CONVERSION",
			"accumulated_impairment:WETH -30, fair_value_adjustment:ETH 200", ""},
	} {
		eachGroup(t, c.policy, c.policy, func(w *world) {
			what := fmt.Sprint(c)
			w.live("2025-08-10 A in 2 ETH = 200.00 : DEPOSIT against 3010", "2025-08 revalue ETH 60, WETH 60", c.event,
				"2025-09 revalue ETH 50, WETH 50")
			w.closeAll("2025-08", "2025-09")
			w.live("2025-08-05 A in 1 ETH = 80.00 : DEPOSIT against 3010", "2025-10 revalue ETH 200, WETH 200")
			w.measured(what, "2025-10")
			if got := w.adjusted(w.EntityID, "2025-10"); !strings.HasPrefix(got, c.parents) {
				w.Errorf("%s: the parent has %s", what, got)
			}
			if got := w.adjusted(w.SubsidiaryID, "2025-10"); !strings.HasPrefix(got, c.subsidiaries) {
				w.Errorf("%s: the subsidiary has %s", what, got)
			}
			w.verified(what)
		})
	}
}

// One ETH of July that cost 80 is handed over in September. It was worth 60 in July and 90 since. Whether it is booked in time, or after
// all months are closed, it is carried at 60, unless those that had it in July did not impair it, or write up again.
func TestSoakALowPriceOfBeforeAHandoverCountsHoweverLateTheLotIsBooked(t *testing.T) {
	t.Parallel()
	var table cases
	const given = "2025-09-10 A out 1 ETH = 90.00 > SubA in 1 ETH = 90.00 : INTERCOMPANY TRANSFER"
	const impaired = "us_gaap impairment"
	for _, c := range []struct {
		parent, subsidiary    string
		events                []string
		parents, subsidiaries string // impairments
	}{
		{impaired, impaired, []string{given}, "ETH -80", "ETH -20"},
		{impaired, impaired, []string{"2025-09-10 A out 1 ETH = 90.00 > A in 1 WETH = 90.00 : NON_TAXABLE_CONVERSION"}, "ETH -80, WETH -20", ""},
		{impaired, impaired, []string{"2025-09-10 A out 1 ETH = 90.00 > A in 20 SOL = 90.00 : NON_TAXABLE_CONVERSION"}, "ETH -80, SOL -20", ""},
		{impaired, impaired, []string{"2025-09-10 A out 1 ETH = 90.00 > A in 20 SOL = 90.00 : NON_TAXABLE_CONVERSION",
			"2025-09-11 A out 10 SOL = 45.00 > SubA in 10 SOL = 45.00 : INTERCOMPANY TRANSFER"}, "ETH -80, SOL -10", "SOL -10"},
		{"us_gaap cost", impaired, []string{given}, "", ""},
		{"ifrs impairment", impaired, []string{given}, "", ""},
		{impaired, "ifrs impairment", []string{given}, "ETH -80", ""}, // prices have risen since
	} {
		for _, late := range []bool{false, true} {
			table.eachGroup(t, c.parent, c.subsidiary, func(w *world) {
				what, deposit := fmt.Sprint(c, " late ", late), "2025-07-05 A in 1 ETH = 80.00 : DEPOSIT against 3010"
				w.live("2025-07-10 A in 2 ETH = 200.00 : DEPOSIT against 3010")
				if !late {
					w.live(deposit)
				}
				w.live("2025-07 revalue ETH 60, WETH 60, SOL 3", "2025-08 revalue ETH 90, WETH 90, SOL 4.50")
				w.live(c.events...)
				w.live("2025-09 revalue ETH 90, WETH 90, SOL 4.50")
				w.closeAll("2025-07", "2025-08", "2025-09")
				if late {
					w.live(deposit)
				}
				w.live("2025-10 revalue ETH 200, WETH 200, SOL 10")
				w.measured(what, "2025-10")
				if got := w.impaired(w.EntityID, "2025-10"); got != c.parents {
					w.Errorf("%s: the parent has %s", what, got)
				}
				if got := w.impaired(w.SubsidiaryID, "2025-10"); got != c.subsidiaries {
					w.Errorf("%s: the subsidiary has %s", what, got)
				}
				w.verified(what)
			})
		}
	}
}

// impaired returns the accumulated impairments of a legal entity at the end of a month: "ETH -80, WETH -20".
func (w *world) impaired(entityID, month string) string {
	w.Helper()
	var out []string
	for _, balance := range strings.Split(w.adjusted(entityID, month), ", ") {
		if asset, is := strings.CutPrefix(balance, "accumulated_impairment:"); is {
			out = append(out, asset)
		}
	}
	return strings.Join(out, ", ")
}
