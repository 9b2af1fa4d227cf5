package firm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// A client whose books are still to be created, because the service was killed before, cannot be ended: they would be created all the same,
// and nobody could end the work for them.
func TestAClientWhoseBooksAreNotCreatedYetCannotBeEnded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		organizations := organization.NewService(d)
		firms := firm.NewService(d, organizations)
		firms.QueueFollow = func(context.Context, *db.Tx, firm.Follow) error { return nil }
		f, err := organizations.Create(t.Context(), organization.CreateParams{Name: "Ledger", Email: "pat@ledger.example", Currency: "USD",
			Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner,
			Scopes: actor.Scopes})
		if _, err := firms.UpdateSettings(ctx, firm.UpdateSettingsParams{FirmName: new("Ledger")}); err != nil {
			t.Fatal(err)
		}
		var c firm.Client
		if err := d.Write(ctx, f.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
			c, err = firm.InsertNew(ctx, tx, firm.CreateClientParams{Name: "Acme", Email: "cfo@acme.example", BaseCurrency: "USD",
				Timezone: "UTC"})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := firms.EndClient(ctx, c.ID); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "being created") {
			t.Errorf("%v", err)
		}
		books := firm.MakeBooks{FirmOrganizationID: f.Organization.ID, FirmID: "frm_01jd00000000000000000000zz", ClientID: c.ID,
			OrganizationID: c.OrganizationID, Name: c.Name, BaseCurrency: "USD", Timezone: "UTC", UserID: f.Owner.UserID,
			MemberSince: f.Owner.JoinedAt}
		for range 2 { // as the job does, which may run again
			if err := firms.MakeBooks(ctx, books); err != nil {
				t.Fatal(err)
			}
		}
		if err := firms.EndClient(ctx, c.ID); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "nobody owns") {
			t.Errorf("%v", err)
		}
	})
}
