package booking_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/readiness"
)

// month returns the ID of a period.
func (w *world) month(key string) string {
	w.Helper()
	all, err := w.periods.List(w.ctx, period.Filter{}, page.Request{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range all.Items {
		if p.Key == key {
			return p.ID
		}
	}
	w.Fatalf("there is no %s", key)
	return ""
}

// checkResult returns the result of a readiness check for the first legal entity.
func (w *world) checkResult(s *period.Service, key, code string) period.CheckResult {
	w.Helper()
	r, err := s.Readiness(w.ctx, w.month(key), w.us)
	if err != nil {
		w.Fatal(err)
	}
	for _, v := range r.Checks {
		if v.Code == code {
			return v
		}
	}
	return period.CheckResult{}
}

// expectResult compares the result of one readiness check.
func (w *world) expectResult(s *period.Service, key, code string, status period.CheckStatus, count int64, says string) {
	w.Helper()
	v := w.checkResult(s, key, code)
	if v.Status != status || v.Count != count || !strings.Contains(v.Message, says) {
		w.Errorf("%s of %s: got %s, %d: %s", code, key, v.Status, v.Count, v.Message)
	}
}

func TestAPeriodIsNotReadyWhileTransactionsAreNotPosted(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		s := period.NewService(w.db, readiness.Checks()...).WithTransit(holdings.InTransit)
		bought := w.add("2025-11-10", "A in 2 ETH = 4000.00")
		w.add("2025-12-01", "A in 7 ETH = 4000.00")    // of the next month
		w.add("2025-11-11", "SubA in 7 ETH = 4000.00") // of somebody else
		w.book(w.add("2025-11-12", "A in 1 ETH = 2000.00"), "SWAP", "Bank")
		w.expectResult(s, "2025-11", readiness.CodeUnposted, period.Fail, 1, bought.SequenceNumber())
		id := w.month("2025-11")
		if _, err := s.Close(w.ctx, id, w.us); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "override_reason") {
			t.Errorf("close: %v", err)
		}
		if _, err := s.CloseWithOverride(w.ctx, id, w.us, " "); fault.KindOf(err) != fault.Invalid {
			t.Errorf("close without a reason: %v", err)
		}
		state, err := s.CloseWithOverride(w.ctx, id, w.us, " it is a test ")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range state.Entities {
			if e.LegalEntityID == w.us && (e.Closing == nil || e.Closing.OverrideReason != "it is a test") {
				t.Errorf("got %+v", e.Closing)
			}
		}
		all, err := s.Package(w.ctx, id, w.us)
		if err != nil || all.Entities[0].Closing.OverrideReason != "it is a test" {
			t.Errorf("got %+v %v", all, err)
		}
		w.read(func(ctx context.Context, tx *db.Tx) error {
			found, err := db.All[string](ctx, tx, "SELECT after FROM audit_log WHERE organization_id = @org AND action = 'accounting_period.closed'")
			if len(found) != 1 || !strings.Contains(found[0], `"override_reason":"it is a test"`) {
				t.Errorf("audited: %v", found)
			}
			return err
		})
	})
}

func TestOnlyTransactionsMayBeOverridden(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		s := period.NewService(w.db, readiness.Checks()...).WithTransit(holdings.InTransit)
		w.add("2025-11-10", "A in 2 ETH = 4000.00")
		w.book(w.add("2025-11-20", "B in 1 ETH = 2500.00"), "INTERNAL TRANSFER", "") // nothing is parked
		_, err := s.CloseWithOverride(w.ctx, w.month("2025-11"), w.us, "it is a test")
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "other half of their transfer") ||
			strings.Contains(err.Error(), "are not posted") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAPeriodIsNotReadyWhileLotsAreMissing(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		s := period.NewService(w.db, readiness.Checks()...).WithTransit(holdings.InTransit)
		zero := entity.ShortAtZeroBasis
		if _, err := w.entities.Update(w.ctx, w.us, entity.UpdateParams{ShortDisposal: &zero}); err != nil {
			t.Fatal(err)
		}
		w.book(w.add("2025-10-01", "A in 1 ETH = 2000.00"), "SWAP", "Bank")
		w.expectResult(s, "2025-10", readiness.CodeLotDeficit, period.Pass, 0, "")
		short := w.book(w.add("2025-11-10", "A out 1.5 ETH = 3900.00"), "SWAP", "Bank")
		w.expectResult(s, "2025-10", readiness.CodeLotDeficit, period.Pass, 0, "")
		w.expectResult(s, "2025-11", readiness.CodeLotDeficit, period.Fail, 1, "0.5 ETH on 2025-11-10")
		if v := w.checkResult(s, "2025-11", readiness.CodeLotDeficit); len(v.SampleIDs) != 1 || v.SampleIDs[0] != short.ID {
			t.Errorf("got %v", v.SampleIDs)
		}
		w.expectResult(s, "2025-12", readiness.CodeLotDeficit, period.Fail, 1, "")
		w.book(w.add("2025-09-01", "A in 0.5 ETH = 700.00"), "SWAP", "Bank") // late
		w.expectResult(s, "2025-11", readiness.CodeLotDeficit, period.Pass, 0, "")
	})
}

func TestLotsOnTheirWayAreListedAndThoseOfUnknownCostPreventTheClose(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		s := period.NewService(w.db, readiness.Checks()...).WithTransit(holdings.InTransit)
		w.book(w.add("2025-10-01", "A in 1 ETH = 2000.00"), "SWAP", "Bank")
		w.book(w.add("2025-10-31", "A out 0.5 ETH = 1500.00"), "INTERNAL TRANSFER", "")
		w.expectResult(s, "2025-10", period.CodeInTransit, period.Warn, 1, "0.5 ETH on")
		w.expectResult(s, "2025-10", period.CodeClearing, period.Pass, 0, "")
		w.book(w.add("2025-11-01", "B in 0.5 ETH = 1500.00"), "INTERNAL TRANSFER", "")
		w.expectResult(s, "2025-10", period.CodeInTransit, period.Warn, 1, "")
		w.expectResult(s, "2025-11", period.CodeInTransit, "", 0, "")
		w.expectResult(s, "2025-11", readiness.CodeBasisPending, period.Pass, 0, "")
		w.book(w.add("2025-11-02", "B in 0.25 ETH = 750.00"), "INTERNAL TRANSFER", "") // from nowhere
		w.expectResult(s, "2025-10", readiness.CodeBasisPending, period.Pass, 0, "")
		w.expectResult(s, "2025-11", readiness.CodeBasisPending, period.Fail, 1, "0.25 ETH of 2025-11-02")
		w.expectResult(s, "2025-11", period.CodeClearing, period.Fail, 1, "-750.00")
		w.expectResult(s, "2025-11", readiness.CodeLotsDiffer, period.Pass, 0, "")
	})
}

func TestWhatIsMeasuredNeedsAPriceAtTheEndOfThePeriod(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		s := period.NewService(w.db, readiness.Checks()...).WithTransit(holdings.InTransit)
		w.book(w.add("2025-10-01", "A in 1 ETH = 2000.00"), "SWAP", "Bank")
		w.expectResult(s, "2025-10", readiness.CodeMissingPrice, period.Pass, 0, "") // at cost
		fair := entity.MeasuredAtFairValue
		if _, err := w.entities.Update(w.ctx, w.us, entity.UpdateParams{Measurement: &fair, MeasurementFrom: new("2025-01-01")}); err != nil {
			t.Fatal(err)
		}
		w.expectResult(s, "2025-10", readiness.CodeMissingPrice, period.Fail, 1, "ETH")
		w.expectResult(s, "2025-12", readiness.CodeMissingPrice, period.Fail, 1, "ETH")
		if _, err := price.NewService(w.db).Create(w.ctx, price.Params{AssetType: "ETH", Currency: "USD",
			Timestamp: "2025-10-31T23:00:00Z", Price: "2100"}); err != nil {
			t.Fatal(err)
		}
		w.expectResult(s, "2025-10", readiness.CodeMissingPrice, period.Pass, 0, "")
		w.expectResult(s, "2025-10", readiness.CodeRevaluation, period.Fail, 1, "1 ETH in the holdings by 100.00 USD")
		if _, err := revaluation.NewService(w.db, w.journal).Run(w.ctx, revaluation.RunParams{PeriodID: w.month("2025-10"),
			LegalEntityIDs: []string{w.us}}); err != nil {
			t.Fatal(err)
		}
		w.expectResult(s, "2025-10", readiness.CodeRevaluation, period.Pass, 0, "")
		w.book(w.add("2025-11-01", "A out 1 ETH = 2200.00"), "SWAP", "Bank")
		w.expectResult(s, "2025-11", readiness.CodeMissingPrice, period.Pass, 0, "") // nothing is held
	})
}

func TestAPeriodIsNotReadyWhenLotsDifferFromTheBooks(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		s := period.NewService(w.db, readiness.Checks()...).WithTransit(holdings.InTransit)
		w.book(w.add("2025-10-01", "A in 1 ETH = 2000.00"), "SWAP", "Bank")
		w.expectResult(s, "2025-10", readiness.CodeLotsDiffer, period.Pass, 0, "")
		_ = w.db.Write(w.ctx, actor.From(w.ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx, "UPDATE lot_positions SET basis = '1990' WHERE organization_id = @org"); err != nil {
				t.Fatal(err)
			}
			r, err := s.Readiness(ctx, w.month("2025-10"), w.us)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range r.Checks {
				if v.Code == readiness.CodeLotsDiffer && (v.Status != period.Fail || !strings.Contains(v.Message,
					"2000.00 in the books, 1990.00 in lots")) {
					t.Errorf("got %+v", v)
				}
			}
			return errUndone
		})
	})
}
