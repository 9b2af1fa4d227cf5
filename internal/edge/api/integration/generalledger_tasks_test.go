package integration_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// watched is a general ledger that has a test watch what is sent.
type watched struct {
	*paced
	push func(ctx context.Context) error
}

func (w *watched) Push(ctx context.Context, j glsync.Journal) (glsync.Posted, error) {
	if err := w.push(ctx); err != nil {
		return glsync.Posted{}, err
	}
	return w.paced.Push(ctx, j)
}

// through returns a service that sends to a general ledger.
func (b *books) through(l glsync.Ledger) *glsync.Service {
	return glsync.NewService(b.s.App.DB, b.s.App.Connections).WithProvider(&glsync.Provider{Name: "rillet", Together: 4,
		Open: func(connection.Opened) func() glsync.Ledger { return func() glsync.Ledger { return l } }})
}

// pacedBooks returns a general ledger with the accounts of the fake.
func (b *books) pacedBooks() *paced {
	p := &paced{journal: map[string]int{}, chart: glsync.Chart{Currency: "USD"}}
	b.change(func(l *ledgertest.Books) {
		for _, a := range l.Accounts {
			p.chart.Accounts = append(p.chart.Accounts, glsync.ExternalAccount{ID: a.ID, Code: a.Code, Name: a.Name, Type: a.Type,
				Active: a.Active})
		}
	})
	return p
}

func TestAnEntryThatChangesWhileOthersAreSentIsCountedAsSkipped(t *testing.T) {
	eachBooks(t, func(b *books) {
		const many = 230 // more than are begun together
		all := make([]client.CreateJournalEntry, many)
		for n := range all {
			all[n] = b.Entry("2026-01-15", "posted", fmt.Sprintf("Dr 1010 %d.00; Cr 4010 %d.00", n+1, n+1))
		}
		made, err := b.Client.CreateJournalEntries(b.T.Context(), all)
		b.must(err)
		var once sync.Once
		s := b.through(&watched{b.pacedBooks(), func(context.Context) error {
			once.Do(func() {
				if _, err := b.Client.UnpostJournalEntry(context.Background(), made[many-1].ID); err != nil {
					b.Error(err)
				}
			})
			return nil
		}})
		r, err := b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
		b.must(err)
		b.must(s.Run(b.T.Context(), b.Organization.ID, r.ID))
		r, err = b.Client.GLSyncRun(b.T.Context(), r.ID)
		if b.must(err); r.Total != many || r.Done != many || r.Counts["succeeded"] != many-1 || r.Counts["skipped"] != 1 {
			b.Errorf("%+v", r)
		}
	})
}

// Another node may continue a run whose lease has ended, so that this one sends nothing any more.
func TestARunStopsSendingWhenItsLeaseEnds(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.sales(3)
		ends := func() {
			b.must(b.s.App.DB.WriteAcross(b.T.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, "UPDATE gl_sync_runs SET claimed_until = ? WHERE status = 'running'", tx.Now().Add(-time.Minute))
				return err
			}))
		}
		s := b.through(&watched{b.pacedBooks(), func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(20 * time.Second):
				b.Error("a request lasts longer than the lease")
				return errors.New("too late")
			}
		}})
		r, err := b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
		b.must(err)
		ended := make(chan error)
		go func() { ended <- s.Run(b.T.Context(), b.Organization.ID, r.ID) }()
		for {
			select {
			case err := <-ended:
				if !errors.Is(err, task.ErrClaimed) {
					b.Errorf("%v", err)
				}
				return
			case <-time.After(300 * time.Millisecond):
				ends()
			}
		}
	})
}

func TestRunsOfLongAgoAreForgottenAndWhatWasSentIsNot(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(1)
		r := b.execute(client.CreateGLSyncRun{})
		recent := b.execute(client.CreateGLSyncRun{})
		ctx := actor.With(b.T.Context(), actor.Actor{OrganizationID: b.Organization.ID})
		b.must(b.s.App.DB.Write(ctx, b.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE gl_sync_runs SET finished_at = ? WHERE organization_id = @org AND gl_sync_run_id = ?",
				tx.Now().AddDate(0, 0, -401), r.ID)
			return err
		}))
		if last := b.execute(client.CreateGLSyncRun{}); last.Counts["unchanged"] != 1 {
			b.Errorf("%+v", last)
		}
		_, err := b.Client.GLSyncRun(ctx, r.ID)
		apitest.WantError(b.T, "a run of long ago", err, http.StatusNotFound, nil, "")
		if _, err := b.Client.GLSyncRun(ctx, recent.ID); err != nil {
			b.Error(err)
		}
		if got := b.Find(b.T, all[0].ID); !got.IsSync || got.SyncDate == nil || got.LatestGLSyncAttempt != nil {
			b.Errorf("%+v", got)
		}
	})
}
