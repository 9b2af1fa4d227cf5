package integration_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// books is an organization whose general ledger is the fake of Rillet.
type books struct {
	*testing.T
	*apitest.Ledger
	s          *apitest.Service
	connection client.Connection
	gl         map[string]string // accounts of the general ledger by name
}

// mapped are the accounts that books map: by code, to names in the general ledger.
var mapped = map[string]string{"1010": "Checking", "4010": "Sales"}

func newBooks(t *testing.T, s *apitest.Service) *books {
	t.Helper()
	b := &books{T: t, Ledger: s.Found(t, "acme").OpenLedger(t), s: s, gl: map[string]string{}}
	b.connection = b.ConnectRillet(t, client.CreateConnection{})
	for a, err := range b.Client.GLAccounts(t.Context(), url.Values{"connection_id": {b.connection.ID}}) {
		b.must(err)
		b.gl[a.Name] = a.ID
	}
	for code, name := range mapped {
		b.set(code, name)
	}
	return b
}

func (b *books) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// set maps an account.
func (b *books) set(code, name string) client.GLMapping {
	b.Helper()
	m, err := b.Client.SetGLMapping(b.T.Context(), b.Accounts[code], client.SetGLMapping{GLAccountID: new(b.gl[name])})
	b.must(err)
	return m
}

// execute creates a run and executes it to its end.
func (b *books) execute(c client.CreateGLSyncRun) client.GLSyncRun {
	b.Helper()
	r, err := b.Client.CreateGLSyncRun(b.T.Context(), c)
	b.must(err)
	return b.finish(r.ID)
}

// finish executes a run to its end.
func (b *books) finish(id string) client.GLSyncRun {
	b.Helper()
	for range 20 {
		err := b.s.App.GeneralLedger.Run(b.T.Context(), b.Organization.ID, id)
		if err != nil && !errors.Is(err, task.ErrClaimed) {
			b.Fatal(err)
		}
		r, err := b.Client.GLSyncRun(b.T.Context(), id)
		b.must(err)
		if r.FinishedAt != nil {
			return r
		}
		b.wake()
	}
	b.Fatal("the run does not end")
	return client.GLSyncRun{}
}

// stored returns the journals of an entry that are not deleted in the general ledger.
func (b *books) stored(e client.JournalEntry) (out []*ledgertest.Entry) {
	b.s.Rillet.Mu.Lock()
	defer b.s.Rillet.Mu.Unlock()
	for _, one := range b.s.Rillet.Books().Entries {
		if !one.Gone && strings.Contains(one.Memo, "[Bursar "+strings.TrimPrefix(e.ID, "je_")+"-") {
			out = append(out, one)
		}
	}
	return out
}

// change changes the general ledger, as people do there.
func (b *books) change(do func(l *ledgertest.Books)) {
	b.s.Rillet.Mu.Lock()
	defer b.s.Rillet.Mu.Unlock()
	do(b.s.Rillet.Books())
}

// wake ends the pauses of runs, and the leases of nodes that have died.
func (b *books) wake() {
	b.Helper()
	b.must(b.s.App.DB.WriteAcross(b.T.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE gl_sync_runs SET claimed_until = NULL WHERE status IN ('pending', 'running')")
		return err
	}))
}

// results returns what a run did, a line for each entry.
func (b *books) results(id string) (out []string) {
	b.Helper()
	for r, err := range b.Client.GLSyncResults(b.T.Context(), id, nil) {
		b.must(err)
		text := fmt.Sprintf("%s %s %s", r.SequenceNumber, r.Action, r.Status)
		for _, c := range r.Changes {
			text += " " + c.Field
		}
		out = append(out, text)
	}
	return out
}

func (b *books) says(what string, got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// once requires that entries stand in the general ledger once.
func (b *books) once(all ...client.JournalEntry) {
	b.Helper()
	for _, e := range all {
		if n := len(b.stored(e)); n != 1 {
			b.Errorf("%s: %d journals", e.SequenceNumber, n)
		}
		got := b.Find(b.T, e.ID)
		if a := got.LatestGLSyncAttempt; !got.IsSync || got.LastSyncedAt == nil || a == nil || a.Status != "succeeded" ||
			a.Provider != "rillet" || a.ExternalID == nil || *a.ExternalID != b.stored(e)[0].ID {
			b.Errorf("%s: in the general ledger: %v, %s", e.SequenceNumber, got.IsSync, apitest.JSON(b.T, a))
		}
	}
}

// sales posts entries of January 2026.
func (b *books) sales(n int) (out []client.JournalEntry) {
	b.Helper()
	for i := range n {
		out = append(out, b.Post(b.T, "2026-01-15", fmt.Sprintf("Dr 1010 %d.50; Cr 4010 %d.50", 100+i, 100+i)))
	}
	return out
}

func eachBooks(t *testing.T, test func(b *books)) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) { test(newBooks(t, s)) })
}

func TestPostedEntriesReachTheGeneralLedgerOnce(t *testing.T) {
	eachBooks(t, func(b *books) {
		if c := b.connection; c.Status != "active" || len(c.SourceIDs) != 0 || c.SyncEveryMinutes != 0 ||
			!slices.Contains(c.Guidance.AllowedActions, "sync") {
			b.Errorf("%+v", c)
		}
		all := b.sales(3)
		b.Draft(b.T, "2026-01-15", apitest.Sale)
		dry := b.execute(client.CreateGLSyncRun{DryRun: true})
		if dry.Status != "completed" || dry.Total != 3 || dry.Counts["create"] != 3 || len(dry.Totals) != 1 || dry.Totals[0].Amount != "304.50" ||
			dry.Totals[0].Currency != "USD" || len(dry.Blockers) != 0 {
			b.Errorf("%+v", dry)
		}
		b.says("dry", b.results(dry.ID), "JE-1 create planned", "JE-2 create planned", "JE-3 create planned")
		if got := b.Find(b.T, all[0].ID); got.LatestGLSyncAttempt != nil || got.IsSync || len(b.stored(all[0])) != 0 {
			b.Errorf("a dry run has an effect: %+v", got)
		}
		r := b.execute(client.CreateGLSyncRun{StartDate: "2026-01-01", EndDate: "2026-01-31"})
		if r.Status != "completed" || r.Total != 3 || r.Done != 3 || r.Counts["succeeded"] != 3 {
			b.Errorf("%+v", r)
		}
		b.says("sync", b.results(r.ID), "JE-1 create succeeded", "JE-2 create succeeded", "JE-3 create succeeded")
		b.once(all...)
		j := b.stored(all[1])[0]
		if j.Date != "2026-01-15" || j.Currency != "USD" || len(j.Lines) != 2 || !j.Lines[0].Debit || j.Lines[0].Amount.String() != "101.5" {
			b.Errorf("%+v", j)
		}
		again := b.execute(client.CreateGLSyncRun{})
		if again.Total != 0 || again.Counts["unchanged"] != 3 || len(b.results(again.ID)) != 0 {
			b.Errorf("%+v", again)
		}
		b.once(all...)
		b.says("events", slices.Sorted(slices.Values(slices.DeleteFunc(b.events(), func(text string) bool {
			return !strings.HasPrefix(text, "journal_entry.sync")
		}))),
			"journal_entry.synced JE-1 true", "journal_entry.synced JE-2 true", "journal_entry.synced JE-3 true")
	})
}

// events returns the types of events about entries, with their numbers and whether they say that the entry is in the general ledger.
func (b *books) events() (out []string) {
	b.Helper()
	for e, err := range b.Client.Events(b.T.Context(), nil) {
		b.must(err)
		var data map[string]any
		b.must(json.Unmarshal(e.Data, &data))
		out = append(out, fmt.Sprintf("%s %v %v", e.Type, data["sequence_number"], data["is_sync"]))
	}
	return out
}

func TestALostAnswerLeadsToNoSecondJournal(t *testing.T) {
	for name, f := range map[string]providertest.Failure{
		"lost": providertest.Lost, "cut": providertest.Cut, "hung up": providertest.HangUp,
		"busy": providertest.Status(http.StatusTooManyRequests, "Retry-After", "2", "{}"),
		"down": providertest.Status(http.StatusBadGateway, "", "", "oops"),
	} {
		t.Run(name, func(t *testing.T) {
			eachBooks(t, func(b *books) {
				all := b.sales(4)
				for n := range 60 { // many more than the tries of one request
					if n%3 != 2 {
						b.s.Rillet.FailAt(n+1, f)
					}
				}
				r := b.execute(client.CreateGLSyncRun{})
				if r.Status != "completed" || r.Counts["succeeded"] != 4 || r.Done != 4 {
					b.Errorf("%+v %q", r, b.results(r.ID))
				}
				b.once(all...)
			})
		})
	}
}

// A node may end at any request; another one continues.
func TestARunThatIsInterruptedAtAnyRequestStoresNothingTwice(t *testing.T) {
	for _, at := range []int{1, 4, 6, 8, 9, 11, 14, 20} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			eachBooks(t, func(b *books) {
				all := b.sales(3)
				r, err := b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
				b.must(err)
				ctx, kill := context.WithCancel(b.T.Context())
				b.s.Rillet.BeforeRequest(at, kill)
				b.s.Rillet.FailAt(at, providertest.Lost)
				if err := b.s.App.GeneralLedger.Run(ctx, b.Organization.ID, r.ID); err == nil && ctx.Err() != nil {
					if got, err := b.Client.GLSyncRun(b.T.Context(), r.ID); err != nil || got.Status != "completed" {
						b.Errorf("it was interrupted and says nothing: %+v %v", got, err)
					}
				}
				b.wake()
				if got := b.finish(r.ID); got.Status != "completed" || got.Counts["succeeded"] != 3 {
					b.Errorf("%+v %q", got, b.results(r.ID))
				}
				b.once(all...)
			})
		})
	}
}
