package integration_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// answers has the next requests answered by a function, or by the fake itself if it is nil.
func (b *books) answers(f providertest.Failure) {
	for n := range 300 {
		b.s.Rillet.FailAt(n+1, f)
	}
}

// pass sends an answer of the fake.
func pass(w http.ResponseWriter, a *httptest.ResponseRecorder) {
	w.Header().Set("Content-Type", a.Header().Get("Content-Type"))
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes())
}

// refused returns an answer that says that a request was understood, and will never succeed.
func refused() *httptest.ResponseRecorder {
	a := httptest.NewRecorder()
	a.Code = http.StatusUnprocessableEntity
	a.Body.WriteString(`{"title":"Unprocessable","detail":"There are too many."}`)
	return a
}

// loseNext begins a run, and ends it when a journal was stored whose answer nobody has seen.
func (b *books) loseNext() {
	b.Helper()
	ctx, kill := context.WithCancel(b.T.Context())
	defer kill()
	stored := false
	b.answers(func(w http.ResponseWriter, answer func() *httptest.ResponseRecorder) {
		before := len(b.s.Rillet.Books().Entries)
		a := answer()
		if len(b.s.Rillet.Books().Entries) > before {
			stored = true
			kill()
		}
		if stored {
			a = httptest.NewRecorder()
			a.Code = http.StatusServiceUnavailable
		}
		pass(w, a)
	})
	r, err := b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
	b.must(err)
	_ = b.s.App.GeneralLedger.Run(ctx, b.Organization.ID, r.ID) // it was interrupted
	_, err = b.Client.CancelGLSyncRun(b.T.Context(), r.ID)
	b.must(err)
	b.wake()
	if got := b.finish(r.ID); !stored || got.Status != "cancelled" || got.Counts["failed"] != 1 || got.Done != 1 {
		b.Fatalf("%v %+v", stored, got)
	}
	b.answers(nil)
}

// An earlier run may have stored a journal without an answer. A later one that fails for another reason knows no more about it.
func TestAJournalWithoutAnAnswerIsNotForgottenWhenTheNextRunIsRefused(t *testing.T) {
	refuse := func(which string) providertest.Failure {
		return func(w http.ResponseWriter, answer func() *httptest.ResponseRecorder) {
			a := answer()
			if strings.Contains(a.Body.String(), which) {
				a = refused()
			}
			pass(w, a)
		}
	}
	t.Run("when it is looked for", func(t *testing.T) {
		eachBooks(t, func(b *books) {
			all := b.sales(1)
			b.loseNext()
			b.answers(refuse(`"journal_entries"`))
			b.says("refused", b.results(b.execute(client.CreateGLSyncRun{}).ID), "JE-1 create failed")
			b.answers(nil)
			b.execute(client.CreateGLSyncRun{})
			b.once(all...)
		})
	})
	t.Run("before it is sent", func(t *testing.T) {
		eachBooks(t, func(b *books) {
			all := b.sales(1)
			b.execute(client.CreateGLSyncRun{})
			b.set("1010", "Digital assets")
			b.loseNext()
			b.answers(refuse("There is no journal entry"))
			b.says("refused", b.results(b.execute(client.CreateGLSyncRun{}).ID), "JE-1 replace failed")
			b.answers(nil)
			b.execute(client.CreateGLSyncRun{})
			b.once(all...)
		})
	})
}

// The answer to a request may be lost, and looking for its journal be refused afterwards, all in the same run.
func TestAJournalThatIsRefusedMayBeThereAllTheSame(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(1)
		stored := false
		b.answers(func(w http.ResponseWriter, answer func() *httptest.ResponseRecorder) {
			before, a := len(b.s.Rillet.Books().Entries), answer()
			switch {
			case len(b.s.Rillet.Books().Entries) > before:
				stored = true
				a = httptest.NewRecorder()
				a.Code = http.StatusBadGateway
			case stored:
				a = refused()
			}
			pass(w, a)
		})
		r := b.execute(client.CreateGLSyncRun{})
		b.says("refused", b.results(r.ID), "JE-1 create failed")
		for one, err := range b.Client.GLSyncResults(b.T.Context(), r.ID, nil) {
			b.must(err)
			if one.Error == nil || !strings.Contains(*one.Error, "may be in the general ledger all the same") {
				b.Errorf("it does not say that nobody knows: %+v", one)
			}
		}
		b.answers(nil)
		b.execute(client.CreateGLSyncRun{})
		b.once(all...)
	})
}
