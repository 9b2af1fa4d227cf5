package readiness_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/reporting/readiness"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/companytest"
)

// world is a company with a subsidiary, and the readiness checks of its periods.
type world struct {
	*companytest.Company
	periods *period.Service
}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	companytest.Each(t, func(c *companytest.Company) {
		c.AddSubsidiary()
		c.Must(c.DB.Write(c.Ctx, c.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			tx.Recorded() // creating periods is not a change that anybody asked for
			_, err := period.Ensure(ctx, tx, calendar.MonthOf(time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC), time.UTC))
			return err
		}))
		test(&world{Company: c, periods: period.NewService(c.DB, readiness.Checks()...)})
	})
}

// policy changes the accounting policy of the first legal entity.
func (w *world) policy(p entity.UpdateParams) {
	w.Helper()
	_, err := entity.NewService(w.DB).Update(w.Ctx, w.EntityID, p)
	w.Must(err)
}

func (w *world) revalue(key string) {
	w.Helper()
	_, err := w.Revaluations.Run(w.Ctx, revaluation.RunParams{PeriodID: w.Period(key).ID,
		LegalEntityIDs: []string{w.EntityID}})
	w.Must(err)
}

// result returns the result of a check for a legal entity.
func (w *world) result(ctx context.Context, key, code, legalEntityID string) (found period.CheckResult) {
	w.Helper()
	r, err := w.periods.Readiness(ctx, w.Period(key).ID, "")
	w.Must(err)
	for _, v := range r.Checks {
		if v.Code == code && v.LegalEntityID == legalEntityID {
			found = v
		}
	}
	return found
}

// passes fails the test unless a check of the first legal entity passes.
func (w *world) passes(key, code string) {
	w.Helper()
	v := w.result(w.Ctx, key, code, w.EntityID)
	if v.Status != period.Pass || v.Count != 0 || len(v.SampleIDs) != 0 || v.Message == "" {
		w.Errorf("%s of %s should pass: %+v", code, key, v)
	}
}

// fails fails the test unless a check of the first legal entity fails with this count, message and samples.
func (w *world) fails(key, code string, count int64, message string, samples ...string) {
	w.Helper()
	v := w.result(w.Ctx, key, code, w.EntityID)
	if v.Status != period.Fail || v.Count != count || v.Message != message || !slices.Equal(v.SampleIDs, samples) {
		w.Errorf("%s of %s: %s, %d\n\t%s %v\nwant %d\n\t%s %v", code, key, v.Status, v.Count, v.Message, v.SampleIDs, count, message, samples)
	}
	if other := w.result(w.Ctx, key, code, w.SubsidiaryID); other.Status != period.Pass {
		w.Errorf("%s of %s also fails for the other legal entity: %+v", code, key, other)
	}
}
