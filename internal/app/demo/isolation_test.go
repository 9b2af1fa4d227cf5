package demo_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// isHidden counts the rows of every table by statements that do not pass the gate: in a transaction of another organization,
// PostgreSQL must show none of the company's.
func (w *world) isHidden(t *testing.T) {
	if w.app.DB.Engine() != db.Postgres {
		t.Skip("SQLite has no row-level security")
	}
	other, err := w.app.Org.Create(t.Context(), organization.CreateParams{Name: "Other", Email: "o@example.com", Currency: "USD",
		Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	mine := actor.From(w.ctx).OrganizationID
	count := func(org, table string) (n int64) {
		t.Helper()
		err := w.app.DB.Read(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			return tx.SQL().QueryRowContext(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE organization_id = '%s'", table, mine)).Scan(&n)
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	filled := 0
	for _, table := range db.Tables {
		if table.Kind != db.Tenant && !table.PerOrganization {
			continue
		}
		if n := count(other.Organization.ID, table.Name); n != 0 {
			t.Errorf("another organization sees %d rows of %s", n, table.Name)
		}
		if count(mine, table.Name) > 0 {
			filled++
		}
	}
	if filled < 30 {
		t.Errorf("only %d tables have rows that could be seen", filled)
	}
}
