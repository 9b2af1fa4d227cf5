package app_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/archive"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// moveTo exports the organization and goes on in another database.
func (h *history) moveTo(there *app.App) {
	want := h.describe()
	var content bytes.Buffer
	if _, err := archive.Write(h.ctx, h.app, h.org, "test", &content, nil); err != nil {
		h.Fatal(err)
	}
	from, err := archive.Open(bytes.NewReader(content.Bytes()), int64(content.Len()))
	if err != nil {
		h.Fatal(err)
	}
	if _, err := archive.Import(h.ctx, there, from, archive.ImportParams{}); err != nil {
		h.Fatal(err)
	}
	h.app = there
	if got := h.describe(); !slices.Equal(got, want) {
		h.Fatalf("after the move the books are %v and not %v", got, want)
	}
}

func TestSoakBooksWithARandomHistoryAgreeWithTheModelAfterAMove(t *testing.T) {
	t.Parallel()
	configs := map[db.Engine]func(testing.TB) db.Config{db.SQLite: dbtest.SQLite, db.Postgres: dbtest.Postgres}
	for from, source := range configs {
		for to, target := range configs {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				t.Parallel()
				now := clock.NewManual(time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC))
				open := func(c db.Config) *app.App {
					c.Clock = now
					return app.New(dbtest.Open(t, c), nil)
				}
				here, there := open(source(t)), open(target(t))
				rapid.Check(t, func(r *rapid.T) {
					h := newHistory(r, t.Context(), here, now)
					some := func(n int) {
						for range n {
							h.randomly(r)
						}
					}
					some(12)
					h.moveTo(there)
					some(8)
					h.step(r).compareWithModel()
				})
			})
		}
	}
}

// randomly does one of the operations.
func (h *history) randomly(r *rapid.T) {
	all := []func(){
		func() { h.createEntries(4, false) }, func() { h.edit() }, func() { h.deleteEntry() }, func() { h.post() }, func() { h.post() },
		func() { h.unpost() }, func() { h.reverse() }, func() { h.correct() }, func() { h.close() }, func() { h.reopen() },
		func() { h.changeZone() }, func() { h.archive() }, func() { h.unarchive() }, func() { h.storeRate() },
	}
	h.step(r)
	all[rapid.IntRange(0, len(all)-1).Draw(r, "operation")]()
}
