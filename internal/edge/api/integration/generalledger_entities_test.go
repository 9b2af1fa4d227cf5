package integration_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

func TestAConnectionOfALegalEntitySendsItsLinesOnlyInItsBaseCurrency(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.AddEntity(b.T, "DE", "EUR")
		_, err := b.Client.Disconnect(b.T.Context(), b.connection.ID)
		b.must(err)
		rates := []client.StoreFXRate{{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: "2026-01-15", Rate: "1.25"}}
		_, err = b.Client.StoreFXRates(b.T.Context(), rates)
		b.must(err)
		b.connection = b.ConnectRillet(b.T, client.CreateConnection{LegalEntityIDs: []string{b.LegalEntity.ID}})
		for a, err := range b.Client.GLAccounts(b.T.Context(), nil) {
			b.must(err)
			b.gl[a.Name] = a.ID
		}
		b.set("1010", "Checking")
		b.set("4010", "Sales")
		mixed := b.PostTo(b.T, b.LegalEntity.ID, "2026-01-15",
			"Dr 1010 100.00 EUR US; Cr 4010 100.00 EUR US; Dr 1010 7.00 EUR DE; Cr 4010 7.00 EUR DE")
		foreign := b.PostTo(b.T, b.Names["DE"], "2026-01-15", "Dr 1010 5.00 EUR DE; Cr 4010 5.00 EUR DE")
		r := b.execute(client.CreateGLSyncRun{})
		if r.Counts["succeeded"] != 1 || len(r.LegalEntityIDs) != 1 || len(b.stored(foreign)) != 0 {
			b.Errorf("%+v", r)
		}
		b.once(mixed)
		j := b.stored(mixed)[0]
		if len(j.Lines) != 2 || j.Currency != "USD" || j.Lines[0].Amount.String() != "125" {
			b.Errorf("%+v", j)
		}
		b.change(func(l *ledgertest.Books) { l.Foreign = false })
		if again := b.execute(client.CreateGLSyncRun{}); again.Counts["unchanged"] != 1 {
			b.Errorf("%+v", again.Counts)
		}
	})
}

func TestVerifyFindsDamageOfWhatWasSent(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.sales(1)
		b.execute(client.CreateGLSyncRun{})
		for _, damage := range []struct{ do, undo, says string }{
			{"UPDATE gl_journals SET state = 'gone'", "UPDATE gl_journals SET state = 'present'", `its state "gone" is not valid`},
			{"UPDATE gl_journals SET state = 'absent'", "UPDATE gl_journals SET state = 'present'", "contradicts what was sent"},
			{"UPDATE gl_journals SET strays = '{'", "UPDATE gl_journals SET strays = NULL", "not JSON"},
			{"UPDATE gl_sync_runs SET status = 'pending'", "UPDATE gl_sync_runs SET status = 'completed'", "whether it has ended"},
		} {
			if found := b.damage(damage.do); !slices.ContainsFunc(found, func(text string) bool { return strings.Contains(text, damage.says) }) {
				b.Errorf("%s: %q", damage.do, found)
			}
			if found := b.damage(damage.undo); len(found) != 0 {
				b.Errorf("%s: %q", damage.undo, found)
			}
		}
	})
}

// damage changes stored data, and returns what verification finds then.
func (b *books) damage(statement string) (found []string) {
	b.Helper()
	ctx := actor.With(b.T.Context(), actor.Actor{OrganizationID: b.Organization.ID})
	b.must(b.s.App.DB.Write(ctx, b.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		if _, err = tx.Exec(ctx, statement+" WHERE organization_id = @org"); err == nil {
			found, err = glsync.Verify(ctx, tx)
		}
		return err
	}))
	return found
}
