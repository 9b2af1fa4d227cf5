package integration_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
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

// of connects the general ledger anew, for a legal entity only.
func (b *books) of(name string) {
	b.Helper()
	_, err := b.Client.Disconnect(b.T.Context(), b.connection.ID)
	b.must(err)
	b.connection = b.ConnectRillet(b.T, client.CreateConnection{LegalEntityIDs: []string{b.Names[name]}})
	for a, err := range b.Client.GLAccounts(b.T.Context(), url.Values{"connection_id": {b.connection.ID}}) {
		b.must(err)
		b.gl[a.Name] = a.ID
	}
	for code, name := range mapped {
		b.set(code, name)
	}
}

// rewrite unposts an entry, changes it, and posts it again.
func (b *books) rewrite(e client.JournalEntry, change client.UpdateJournalEntry) {
	b.Helper()
	_, err := b.Client.UnpostJournalEntry(b.T.Context(), e.ID)
	b.must(err)
	_, err = b.Client.UpdateJournalEntry(b.T.Context(), e.ID, change)
	b.must(err)
	_, err = b.Client.PostJournalEntry(b.T.Context(), e.ID)
	b.must(err)
}

const shared = "Dr 1010 5.00 US; Cr 4010 5.00 US; Dr 1010 7.00 DE; Cr 4010 7.00 DE"

func TestWhatWasSentOfALegalEntityIsRemovedWhenItsEntryIsNoLongerIts(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.AddEntity(b.T, "DE", "USD")
		b.of("US")
		ctx := b.T.Context()
		us, de := b.LegalEntity.ID, b.Names["DE"]
		stays, moved := b.PostTo(b.T, us, "2026-01-15", apitest.Sale), b.PostTo(b.T, us, "2026-01-15", apitest.Sale)
		part, deleted := b.PostTo(b.T, us, "2026-01-16", shared), b.PostTo(b.T, de, "2026-01-17", shared)
		b.execute(client.CreateGLSyncRun{})
		b.once(stays, moved, part, deleted)
		of := "Dr 1010 9.00 DE; Cr 4010 9.00 DE"
		b.rewrite(moved, client.UpdateJournalEntry{LegalEntityID: &de, Lines: new(b.Lines(of))})
		b.rewrite(part, client.UpdateJournalEntry{LegalEntityID: &de, Lines: new(b.Lines(of))})
		_, err := b.Client.UnpostJournalEntry(ctx, deleted.ID)
		b.must(err)
		b.must(b.Client.DeleteJournalEntry(ctx, deleted.ID))
		if r := b.execute(client.CreateGLSyncRun{Check: true}); r.Counts["equal"] != 4 {
			b.Errorf("%+v", r.Counts)
		}
		if r := b.execute(client.CreateGLSyncRun{}); r.Counts["remove"] != 3 || r.Counts["succeeded"] != 3 || r.Counts["unchanged"] != 1 {
			b.Errorf("%+v %q", r.Counts, b.results(r.ID))
		}
		for _, e := range []client.JournalEntry{moved, part, deleted} {
			if n := len(b.stored(e)); n != 0 {
				b.Errorf("%s: %d journals", e.SequenceNumber, n)
			}
		}
		b.once(stays)
	})
}

// A connection that takes the place of another one looks after what that one has sent for the same legal entity, and after nothing else.
func TestAConnectionLooksAfterWhatAnEarlierOneOfItsLegalEntityHasSent(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.AddEntity(b.T, "DE", "USD")
		b.of("US")
		moved := b.PostTo(b.T, b.LegalEntity.ID, "2026-01-15", apitest.Sale)
		b.execute(client.CreateGLSyncRun{})
		b.of("DE")
		const german = "Dr 1010 9.00 DE; Cr 4010 9.00 DE"
		other := b.PostTo(b.T, b.Names["DE"], "2026-01-15", german)
		b.execute(client.CreateGLSyncRun{})
		b.rewrite(moved, client.UpdateJournalEntry{LegalEntityID: new(b.Names["DE"]), Lines: new(b.Lines(german))})
		b.of("US")
		r := b.execute(client.CreateGLSyncRun{})
		if b.says("moved", b.results(r.ID), "JE-1 remove succeeded"); len(b.stored(moved)) != 0 {
			b.Errorf("%+v", r)
		}
		b.once(other)
	})
}

// An entry may stand in the general ledger twice for a while: in full, and the part of a legal entity. Each is one thing to do.
func TestAnEntryWithSeveralJournalsIsPlannedOnce(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.AddEntity(b.T, "DE", "USD")
		b.of("US")
		e := b.PostTo(b.T, b.LegalEntity.ID, "2026-01-15", apitest.Sale)
		between := b.PostTo(b.T, b.LegalEntity.ID, "2026-01-17", apitest.Sale)
		b.execute(client.CreateGLSyncRun{})
		b.rewrite(e, client.UpdateJournalEntry{AccountingDate: new("2026-01-20"), Lines: new(b.Lines(shared))})
		b.change(func(l *ledgertest.Books) { l.LockedThrough = "2026-01-15" })
		b.says("locked", b.results(b.execute(client.CreateGLSyncRun{}).ID), "JE-1 remove failed", "JE-1 create succeeded")
		b.change(func(l *ledgertest.Books) { l.LockedThrough = "" })
		_, err := b.Client.UnpostJournalEntry(b.T.Context(), e.ID)
		b.must(err)
		if dry := b.execute(client.CreateGLSyncRun{DryRun: true}); dry.Counts["remove"] != 2 || dry.Total != 2 {
			b.Errorf("%+v", dry)
		}
		r := b.execute(client.CreateGLSyncRun{JournalEntryIDs: []string{e.ID}})
		b.says("removed", b.results(r.ID), "JE-1 remove succeeded", "JE-1 remove succeeded")
		if r.Status != "completed" || r.Total != 2 || r.Counts["remove"] != 2 || len(b.stored(e)) != 0 {
			b.Errorf("%+v", r)
		}
		b.once(between)
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
			{"UPDATE gl_journals SET drift = '{'", "UPDATE gl_journals SET drift = NULL", "not JSON"},
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
