package integration_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

// both is an entry of two legal entities. Only the part of DE is shown to a key for DE.
const both = "Dr 1010 777.00 US; Cr 4010 777.00 US; Dr 1010 5.00 DE; Cr 4010 5.00 DE"

// reader reads with a key that is limited to DE.
type reader struct {
	*books
	key    string
	client *client.Client
}

func (b *books) german() *reader {
	b.Helper()
	b.AddEntity(b.T, "DE", "USD")
	key := b.Limited(b.T, b.Names["DE"])
	return &reader{b, key, client.New(b.s.URL, key)}
}

// reads returns an answer, which must show nothing of US.
func (r *reader) reads(path string) apitest.Answer {
	r.Helper()
	a := r.s.Send(r.T, apitest.Request{Method: http.MethodGet, Path: path, Key: r.key})
	for _, hidden := range []string{"777.00", "778.00", "782.00", "791.00", "Shared memo", r.LegalEntity.ID} {
		if strings.Contains(string(a.Body), hidden) {
			r.Errorf("GET %s shows %q: %s", path, hidden, a.Body)
		}
	}
	return a
}

// sees reads a run and its results, and whether it is in the list. It returns whether it is shown.
func (r *reader) sees(run client.GLSyncRun) bool {
	r.Helper()
	one, results := r.reads("/v1/gl-sync-runs/"+run.ID), r.reads("/v1/gl-sync-runs/"+run.ID+"/results")
	shown := one.Status == http.StatusOK
	listed := strings.Contains(string(r.reads("/v1/gl-sync-runs?limit=100").Body), run.ID)
	if shown != listed || one.Status != results.Status || !shown && one.Status != http.StatusNotFound {
		r.Errorf("%s: %d, its results %d, in the list: %v", run.ID, one.Status, results.Status, listed)
	}
	return shown
}

// results returns what is shown of the results of a run.
func (r *reader) results(run client.GLSyncRun) (out []string) {
	r.Helper()
	for one, err := range r.client.GLSyncResults(r.T.Context(), run.ID, nil) {
		r.must(err)
		out = append(out, one.SequenceNumber+" "+one.Action+" "+one.Status)
	}
	return out
}

// falsify changes the amounts of all journals in the general ledger.
func (b *books) falsify() {
	b.change(func(l *ledgertest.Books) {
		for _, e := range l.Entries {
			for n := range e.Lines {
				e.Lines[n].Amount = e.Lines[n].Amount.Add(money.MustParse("1"))
			}
		}
	})
}

func TestARunOverLinesThatALimitedKeyDoesNotSeeIsNotShownToIt(t *testing.T) {
	eachBooks(t, func(b *books) {
		ctx, r := b.T.Context(), b.german()
		de := []string{b.Names["DE"]}
		mixed := b.PostTo(b.T, b.LegalEntity.ID, "2026-01-15", both)
		own := b.PostTo(b.T, de[0], "2026-01-15", "Dr 1010 9.00 DE; Cr 4010 9.00 DE")
		dry := b.execute(client.CreateGLSyncRun{LegalEntityIDs: de, DryRun: true})
		if len(dry.Totals) != 1 || dry.Totals[0].Amount != "791.00" {
			b.Errorf("%+v", dry)
		}
		b.set("4010", "Checking")
		sync := b.execute(client.CreateGLSyncRun{LegalEntityIDs: de})
		b.falsify()
		check := b.execute(client.CreateGLSyncRun{LegalEntityIDs: de, Check: true})
		b.says("check", b.results(check.ID), "JE-1 check changed lines", "JE-2 check changed lines")
		one := b.execute(client.CreateGLSyncRun{LegalEntityIDs: de, JournalEntryIDs: []string{mixed.ID}, Check: true})
		all := b.execute(client.CreateGLSyncRun{})
		_, err := b.Client.SetGLMapping(ctx, b.Accounts["4010"], client.SetGLMapping{})
		b.must(err)
		blocked := b.execute(client.CreateGLSyncRun{LegalEntityIDs: de})
		for what, run := range map[string]client.GLSyncRun{"dry run": dry, "sync": sync, "check": check, "entry": one, "all": all,
			"blocked": blocked} {
			if r.sees(run) {
				b.Errorf("%s is shown", what)
			}
			if _, err := r.client.CancelGLSyncRun(ctx, run.ID); statusOf(err) != http.StatusNotFound {
				b.Errorf("%s is cancelled: %v", what, err)
			}
		}
		alone := b.execute(client.CreateGLSyncRun{LegalEntityIDs: de, JournalEntryIDs: []string{own.ID}, Check: true})
		if !r.sees(alone) {
			b.Error("a run over its own lines is not shown")
		}
		r.says("alone", r.results(alone), "JE-2 check changed")
		if _, err := r.client.SyncJournalEntry(ctx, mixed.ID, client.SyncJournalEntry{}); statusOf(err) != http.StatusForbidden {
			b.Errorf("a shared entry is sent: %v", err)
		}
		if got := r.reads("/v1/journal-entries/" + mixed.ID); strings.Contains(string(got.Body), "general ledger") {
			b.Errorf("%s", got.Body)
		}
	})
}

// A general ledger that was connected for all legal entities, and is now connected for one, has journals with lines of others.
func TestAConnectionOfALegalEntityShowsNothingOfWhatWasSentBeforeForOthers(t *testing.T) {
	eachBooks(t, func(b *books) {
		ctx, r := b.T.Context(), b.german()
		mixed := b.PostTo(b.T, b.LegalEntity.ID, "2026-01-15", both)
		own := b.PostTo(b.T, b.Names["DE"], "2026-01-15", "Dr 1010 9.00 DE; Cr 4010 9.00 DE")
		b.execute(client.CreateGLSyncRun{})
		b.falsify()
		b.of("DE")
		run := func(c client.CreateGLSyncRun) client.GLSyncRun {
			made, err := r.client.CreateGLSyncRun(ctx, c)
			b.must(err)
			done := b.finish(made.ID)
			if !r.sees(done) {
				b.Error("its own run is not shown")
			}
			return done
		}
		check := run(client.CreateGLSyncRun{Check: true})
		b.says("check", b.results(check.ID), "JE-1 check changed lines", "JE-2 check changed lines")
		r.says("shown of the check", r.results(check), "JE-2 check changed")
		dry := run(client.CreateGLSyncRun{DryRun: true})
		if len(dry.Totals) != 1 || !slices.Contains([]string{"5.00", "14.00"}, dry.Totals[0].Amount) {
			b.Errorf("%+v", dry.Totals)
		}
		sync := run(client.CreateGLSyncRun{})
		b.says("sync", b.results(sync.ID), "JE-1 remove succeeded", "JE-1 create succeeded")
		r.says("shown of the sync", r.results(sync), "JE-1 create succeeded")
		b.once(mixed, own)
		entry := b.Entry("2026-01-16", "posted", both)
		entry.LegalEntityID, entry.Memo = b.LegalEntity.ID, "Shared memo"
		refused := b.Create(b.T, entry)
		b.answers(func(w http.ResponseWriter, answer func() *httptest.ResponseRecorder) {
			before, a := len(b.s.Rillet.Books().Entries), answer()
			if len(b.s.Rillet.Books().Entries) > before {
				b.s.Rillet.Books().Entries = b.s.Rillet.Books().Entries[:before]
				a = httptest.NewRecorder()
				a.Code = http.StatusUnprocessableEntity
				a.Body.WriteString(`{"title":"Unprocessable","detail":"Shared memo is too long."}`)
			}
			pass(w, a)
		})
		failed := run(client.CreateGLSyncRun{JournalEntryIDs: []string{refused.ID}})
		b.answers(nil)
		if failed.Status != "failed" || failed.ErrorMessage == nil || !strings.Contains(*failed.ErrorMessage, "see the results") {
			b.Errorf("%s", apitest.JSON(b.T, failed))
		}
		for c, want := range map[*client.Client]string{b.Client: "Shared memo is too long", r.client: "use a key that is not limited"} {
			for one, err := range c.GLSyncResults(ctx, failed.ID, nil) {
				if b.must(err); one.Error == nil || !strings.Contains(*one.Error, want) {
					b.Errorf("want %q: %s", want, apitest.JSON(b.T, one))
				}
			}
		}
	})
}

// An entry that was sent with lines of another legal entity and has lost them since: what was sent is still hidden.
func TestWhatWasSentOfAnEntryStaysHiddenWhenItsLinesAreReplaced(t *testing.T) {
	eachBooks(t, func(b *books) {
		r := b.german()
		de := []string{b.Names["DE"]}
		e := b.PostTo(b.T, de[0], "2026-01-15", both)
		b.execute(client.CreateGLSyncRun{})
		b.falsify()
		before := b.execute(client.CreateGLSyncRun{LegalEntityIDs: de, Check: true})
		b.rewrite(e, client.UpdateJournalEntry{Lines: new(b.Lines("Dr 1010 5.00 DE; Cr 4010 5.00 DE"))})
		after := b.execute(client.CreateGLSyncRun{LegalEntityIDs: de, Check: true})
		for _, run := range []client.GLSyncRun{before, after} {
			if r.sees(run) {
				b.Errorf("a run over what was sent is shown: %q", b.results(run.ID))
			}
		}
		b.warned(e, "debit 777.00")
		r.reads("/v1/journal-entries/" + e.ID)
		r.reads("/v1/journal-entries?" + url.Values{"search": {e.SequenceNumber}}.Encode())
		b.execute(client.CreateGLSyncRun{LegalEntityIDs: de})
		if again := b.execute(client.CreateGLSyncRun{LegalEntityIDs: de, Check: true}); !r.sees(again) || again.Counts["equal"] != 1 {
			b.Errorf("%+v", again)
		}
	})
}
