package integration_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

// reread reads the accounts of the general ledger again.
func (b *books) reread() {
	b.Helper()
	_, err := b.Client.SyncConnection(b.T.Context(), b.connection.ID)
	b.must(err)
	b.Sync(b.T, b.connection.ID)
}

// mapping returns the mapping of an account.
func (b *books) mapping(code string) (out client.GLMapping) {
	b.Helper()
	for m, err := range b.Client.GLMappings(b.T.Context(), nil) {
		b.must(err)
		if m.LedgerAccountID == b.Accounts[code] {
			return m
		}
	}
	b.Fatalf("the account %s is not listed", code)
	return out
}

func TestAccountsAreSuggestedByCodeNameAndType(t *testing.T) {
	eachBooks(t, func(b *books) {
		code, typed := "7777", "Expense"
		made := b.NewAccount(b.T, client.CreateLedgerAccount{Name: "Hosting", Code: code, Type: typed})
		b.Accounts[code] = made.ID
		if m := b.mapping(code); m.Status != "unmapped" || len(m.Suggestions) != 0 || m.GLAccount != nil {
			b.Errorf("%+v", m)
		}
		b.change(func(l *ledgertest.Books) {
			l.Accounts = append(l.Accounts, l.Accounts[3], l.Accounts[3], l.Accounts[3])
			for n, with := range [][4]string{{"x1", code, "hosting ", typed}, {"x2", "6999", "Hosting", typed}, {"x3", code, "Hosting", "Asset"}} {
				a := &l.Accounts[len(l.Accounts)-3+n]
				a.ID, a.Code, a.Name, a.Type = with[0], with[1], with[2], with[3]
			}
		})
		b.reread()
		m := b.mapping(code)
		if len(m.Suggestions) != 2 || m.Suggestions[0].Confidence != "1" || !m.Suggestions[0].Certain || m.Suggestions[1].Certain ||
			m.Suggestions[1].Confidence != "0.7" || !slices.Equal(m.Suggestions[0].Reasons, []string{"same code", "same name", "same type"}) {
			b.Fatalf("%+v", m)
		}
		dry, err := b.Client.AcceptGLMappings(b.T.Context(), client.AcceptGLMappings{DryRun: true})
		if err != nil || len(dry) != 1 || b.mapping(code).Status != "unmapped" {
			b.Errorf("%+v %v", dry, err)
		}
		_, err = b.Client.AcceptGLMappings(b.T.Context(), client.AcceptGLMappings{ExpectedCount: new(int64(2))})
		apitest.WantConflict(b.T, err, "1 accounts would be mapped, not 2")
		done, err := b.Client.AcceptGLMappings(b.T.Context(), client.AcceptGLMappings{ExpectedCount: new(int64(1))})
		if err != nil || len(done) != 1 || b.mapping(code).Status != "mapped" || b.mapping(code).GLAccount.ExternalID != "x1" {
			b.Errorf("%+v %v", done, err)
		}
		b.change(func(l *ledgertest.Books) { l.Accounts = l.Accounts[:len(l.Accounts)-3] })
		b.reread()
		if m := b.mapping(code); m.Status != "unusable" || m.GLAccount.Usable || m.GLAccount.UnavailableReason == nil {
			b.Errorf("%+v", m)
		}
		removed, err := b.Client.SetGLMapping(b.T.Context(), made.ID, client.SetGLMapping{})
		if err != nil || removed.Status != "unmapped" || b.mapping(code).GLAccount != nil {
			b.Errorf("%+v %v", removed, err)
		}
	})
}

func TestAMappingThatCannotBeIsRefused(t *testing.T) {
	eachBooks(t, func(b *books) {
		ctx := b.T.Context()
		unknown := apitest.UnknownID(b.gl["Sales"])
		_, err := b.Client.SetGLMapping(ctx, b.Accounts["1010"], client.SetGLMapping{GLAccountID: &unknown})
		apitest.WantError(b.T, "unknown account", err, http.StatusNotFound, []string{"gl_account_id"}, "")
		_, err = b.Client.SetGLMapping(ctx, apitest.UnknownID(b.Accounts["1010"]), client.SetGLMapping{})
		apitest.WantError(b.T, "unknown ledger account", err, http.StatusNotFound, nil, "")
		_, err = b.Client.SetGLMapping(ctx, b.Accounts["1010"], client.SetGLMapping{GLAccountID: new(b.gl["Old clearing"])})
		apitest.WantError(b.T, "inactive", err, http.StatusConflict, []string{"gl_account_id"}, "inactive")
		kraken := b.ConnectKraken(b.T, client.CreateConnection{})
		_, err = b.Client.SetGLMapping(ctx, b.Accounts["1010"], client.SetGLMapping{ConnectionID: kraken.ID})
		apitest.WantError(b.T, "no general ledger", err, http.StatusBadRequest, []string{"connection_id"}, "no general ledger")
		_, err = b.Client.CreateGLSyncRun(ctx, client.CreateGLSyncRun{ConnectionID: apitest.UnknownID(kraken.ID), StartDate: "2026-02-01",
			EndDate: "2026-01-01", JournalEntryIDs: []string{"je_x"}})
		apitest.WantError(b.T, "a faulty run", err, http.StatusBadRequest, []string{"connection_id", "journal_entry_ids[0]", "start_date"}, "")
		_, err = b.Client.CreateGLSyncRun(ctx, client.CreateGLSyncRun{DryRun: true, Check: true})
		apitest.WantError(b.T, "both", err, http.StatusBadRequest, []string{"check"}, "")
		draft := b.Draft(b.T, "2026-01-15", apitest.Sale)
		_, err = b.Client.SyncJournalEntry(ctx, draft.ID, client.SyncJournalEntry{})
		apitest.WantConflict(b.T, err, draft.SequenceNumber, "not posted")
	})
}

// statusOf returns the status of an answer; 0 if it is no error.
func statusOf(err error) int {
	var e *client.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Status
}

func TestALimitedKeySendsOnlyThroughConnectionsOfItsLegalEntities(t *testing.T) {
	eachBooks(t, func(b *books) {
		ctx := b.T.Context()
		b.AddEntity(b.T, "DE", "EUR")
		limited := client.New(b.s.URL, b.Limited(b.T, b.Names["DE"]))
		whole := b.execute(client.CreateGLSyncRun{})
		if _, err := limited.GLSyncRun(ctx, whole.ID); statusOf(err) != http.StatusNotFound {
			b.Errorf("a run over everything: %v", err)
		}
		if _, err := limited.CreateGLSyncRun(ctx, client.CreateGLSyncRun{}); statusOf(err) != http.StatusForbidden {
			b.Errorf("a connection for everything: %v", err)
		}
		_, err := limited.SetGLMapping(ctx, b.Accounts["1010"], client.SetGLMapping{GLAccountID: new(b.gl["Sales"])})
		if statusOf(err) != http.StatusForbidden {
			b.Errorf("a mapping for everything: %v", err)
		}
		foreign := b.PostTo(b.T, b.Names["DE"], "2026-01-15", "Dr 1010 5.00 EUR DE; Cr 4010 5.00 EUR DE")
		r := b.execute(client.CreateGLSyncRun{LegalEntityIDs: []string{b.Names["DE"]}})
		if got, err := limited.GLSyncRun(ctx, r.ID); err != nil || got.Counts["succeeded"] != 1 {
			b.Errorf("%+v %v", got, err)
		}
		b.once(foreign)
	})
}
