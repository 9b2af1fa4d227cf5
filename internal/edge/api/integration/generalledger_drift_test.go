package integration_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

// journal returns the journal of an entry in the general ledger; the caller holds its lock.
func journal(l *ledgertest.Books, e client.JournalEntry) *ledgertest.Entry {
	for _, one := range l.Entries {
		if strings.Contains(one.Memo, "[Bursar "+strings.TrimPrefix(e.ID, "je_")+"-") {
			return one
		}
	}
	return nil
}

// warned requires that an entry says what a check found, or that it says nothing if the text is empty.
func (b *books) warned(e client.JournalEntry, text string) {
	b.Helper()
	got := strings.Join(b.Find(b.T, e.ID).Guidance.Warnings, "\n")
	if text != "" && !strings.Contains(got, text) || text == "" && strings.Contains(got, "a check found") {
		b.Errorf("%s: %q, want %q", e.SequenceNumber, got, text)
	}
}

func TestWhatACheckFoundIsKeptUntilItIsRight(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(3)
		b.execute(client.CreateGLSyncRun{})
		b.change(func(l *ledgertest.Books) {
			journal(l, all[0]).Date = "2026-01-20"
			journal(l, all[1]).Gone = true
		})
		if c := b.readiness(b.LegalEntity.ID); c.Status != "pass" {
			b.Errorf("nobody has checked yet: %+v", c)
		}
		if r := b.execute(client.CreateGLSyncRun{Check: true}); !strings.Contains(strings.Join(r.Guidance.Warnings, " "), "general ledger: 1.") {
			b.Errorf("%q", r.Guidance.Warnings)
		}
		const changed, deleted = "date: 2026-01-20 instead of 2026-01-15", "deleted or voided"
		b.warned(all[0], changed)
		b.warned(all[1], deleted)
		b.warned(all[2], "")
		c := b.readiness(b.LegalEntity.ID)
		if c.Status != "warn" || c.Count != 2 || len(c.SampleIDs) != 2 || !strings.Contains(c.Message, "has changed in its general ledger, "+
			"as a check found: 1, among them "+all[0].SequenceNumber) {
			b.Errorf("%+v", c)
		}
		b.execute(client.CreateGLSyncRun{}) // sends what is missing, and leaves what was changed
		b.warned(all[0], changed)
		b.warned(all[1], "")
		b.execute(client.CreateGLSyncRun{Check: true})
		b.warned(all[0], changed)
		b.change(func(l *ledgertest.Books) { journal(l, all[0]).Date = "2026-01-15" })
		b.execute(client.CreateGLSyncRun{Check: true})
		b.warned(all[0], "")
		if c := b.readiness(b.LegalEntity.ID); c.Status != "pass" {
			b.Errorf("%+v", c)
		}
		b.change(func(l *ledgertest.Books) { journal(l, all[2]).Date = "2026-01-21" })
		b.execute(client.CreateGLSyncRun{Check: true})
		b.warned(all[2], "date: 2026-01-21")
		_, err := b.Client.Disconnect(b.T.Context(), b.connection.ID)
		b.must(err)
		b.warned(all[2], "") // it can be neither corrected nor checked any more
		b.of("US")
		b.warned(all[2], "date: 2026-01-21")
		b.set("1010", "Digital assets")
		b.execute(client.CreateGLSyncRun{}) // replaces it
		b.warned(all[2], "")
	})
}

func TestAnAttemptSaysWhatItWasFor(t *testing.T) {
	eachBooks(t, func(b *books) {
		e := b.sales(1)[0]
		action := func(want string) {
			b.Helper()
			if a := b.Find(b.T, e.ID).LatestGLSyncAttempt; a == nil || a.Action != want || a.Status != "succeeded" || a.ErrorCode != nil {
				b.Errorf("%+v, want %s", a, want)
			}
		}
		b.execute(client.CreateGLSyncRun{})
		action("create")
		b.set("1010", "Digital assets")
		b.execute(client.CreateGLSyncRun{})
		action("replace")
		_, err := b.Client.UnpostJournalEntry(b.T.Context(), e.ID)
		b.must(err)
		b.execute(client.CreateGLSyncRun{})
		action("remove")
	})
}

// nonsense is an answer that no general ledger gives.
func nonsense(w http.ResponseWriter, _ func() *httptest.ResponseRecorder) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte("<html>maintenance"))
}

func TestARunThatPausesSaysWhyAndUntilWhen(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(1)
		var lines bytes.Buffer
		b.s.App.GeneralLedger.WithLog(slog.New(slog.NewJSONHandler(&lines, nil)))
		r, err := b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
		b.must(err)
		for n := range 10 {
			b.s.Rillet.FailAt(n+1, nonsense)
		}
		b.must(b.s.App.GeneralLedger.Run(b.T.Context(), b.Organization.ID, r.ID))
		got, err := b.Client.GLSyncRun(b.T.Context(), r.ID)
		b.must(err)
		if got.Status != "pending" || got.ErrorMessage == nil || !strings.Contains(*got.ErrorMessage, "cannot be understood") ||
			got.NextAttemptAt == nil || !got.NextAttemptAt.After(got.CreatedAt) {
			b.Errorf("%+v", got)
		}
		var line struct {
			Level, Error, Provider string
			RunID                  string    `json:"gl_sync_run_id"`
			NextAt                 time.Time `json:"next_attempt_at"`
		}
		b.must(json.Unmarshal(lines.Bytes(), &line)) // one line
		if line.Level != "WARN" || line.Error != *got.ErrorMessage || line.Provider != "rillet" || line.RunID != r.ID ||
			!line.NextAt.Equal(*got.NextAttemptAt) {
			b.Errorf("%+v, %s", line, lines.String())
		}
		b.wake()
		if got := b.finish(r.ID); got.Status != "completed" || got.NextAttemptAt != nil {
			b.Errorf("%+v", got)
		}
		b.once(all...)
	})
}

func TestAMappingBetweenAccountsOfDifferentTypesWarns(t *testing.T) {
	eachBooks(t, func(b *books) {
		if m := b.mapping("1010"); len(m.Warnings) != 0 {
			b.Errorf("%q", m.Warnings)
		}
		for _, m := range []client.GLMapping{b.set("1010", "Sales"), b.mapping("1010")} {
			if m.Status != "mapped" || len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "Asset") ||
				!strings.Contains(m.Warnings[0], "4000 Sales is of the type Revenue") {
				b.Errorf("%+v", m)
			}
		}
	})
}
