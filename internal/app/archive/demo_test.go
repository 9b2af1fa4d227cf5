package archive_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/statements"
)

// The demo company has two years of everything that is booked, measured, closed and suggested.
func TestTheReportsOfTheDemoCompanyAreTheSameAfterAMoveThereAndBack(t *testing.T) {
	t.Parallel()
	first := app.New(dbtest.Open(t, dbtest.SQLite(t)), nil)
	f, err := demo.Found(t.Context(), first, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	org := f.Organization.ID
	want, content := reportsOf(t, first, org), exported(t, first, org)
	for _, config := range []db.Config{dbtest.Postgres(t), dbtest.SQLite(t), dbtest.Postgres(t)} {
		there := app.New(dbtest.Open(t, config), nil)
		s := imported(t, there, content)
		t.Logf("%s: %d rows", config.URL, s.Rows)
		if got := reportsOf(t, there, org); got != want {
			t.Errorf("after a move to %q the reports are\n%s\nand not\n%s", config.URL, got, want)
		}
		closesNext(t, there, org, f.Owner.UserID, f.LegalEntity.ID)
		if found, err := there.VerifyOrganization(t.Context(), org); err != nil || len(found) > 0 {
			t.Errorf("after going on: %v, %v", found, err)
		}
		content = exported(t, there, org)
		want = reportsOf(t, there, org)
	}
}

// reportsOf returns the journal and the trial balance of an organization, and what it holds.
func reportsOf(t *testing.T, a *app.App, organizationID string) string {
	t.Helper()
	ctx := as(t, organizationID)
	trial, err := a.Reports.TrialBalance(ctx, statements.Params{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(trial)
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n" + journalOf(t, a, organizationID)
}

// closesNext closes the first month that is open for a legal entity, whatever its readiness says.
func closesNext(t *testing.T, a *app.App, organizationID, userID, entityID string) {
	t.Helper()
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: organizationID, UserID: userID, Role: actor.Owner, Scopes: actor.Scopes})
	var all []period.Period
	err := a.DB.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		all, err = period.All(ctx, tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if _, err = a.Periods.CloseWithOverride(ctx, p.ID, entityID, "a test of the move"); err == nil {
			return
		}
	}
	t.Errorf("no month can be closed: %v", err)
}
