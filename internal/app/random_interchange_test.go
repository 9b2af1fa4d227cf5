package app_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/notation"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// describe describes the books of an organization with names instead of ids, so that two organizations can be compared.
func (h *history) describe() (out []string) {
	err := h.app.DB.Read(h.ctx, h.org, func(ctx context.Context, tx *db.Tx) error {
		var names []string // pairs of an id and a name
		entities, err := entity.All(ctx, tx)
		if err != nil {
			return err
		}
		for _, e := range entities {
			names = append(names, e.ID, e.Name)
		}
		accounts, err := account.All(ctx, tx)
		if err != nil {
			return err
		}
		for _, a := range accounts {
			names = append(names, a.ID, a.Name)
		}
		tags, err := tag.All(ctx, tx)
		if err != nil {
			return err
		}
		for _, t := range tags {
			names = append(names, t.ID, t.Name)
		}
		byName := strings.NewReplacer(names...)
		states, err := entryStates(ctx, tx)
		if err != nil {
			return err
		}
		totals, err := storedTotals(ctx, tx)
		for k, v := range totals {
			states = append(states, k+" "+v)
		}
		for _, s := range states {
			out = append(out, byName.Replace(s))
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// entryStates describes every entry. Numbers are left out, because an import assigns new ones, and entries made by hand
// count as imported.
func entryStates(ctx context.Context, tx *db.Tx) (out []string, err error) {
	months := map[string]string{}
	all, err := period.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		months[p.ID] = p.Key
	}
	err = journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
		e.Number = 0
		if e.OriginatedBy == journal.ByHand {
			e.OriginatedBy = journal.ByImport
		}
		out = append(out, e.ID+" after "+e.PreviousID+" before "+e.NextID+" "+stateOf(e, months, nil))
		return nil
	})
	return out, err
}

// copyBooks exports the books, imports them into another organization and compares the two.
func (h *history) copyBooks(format notation.Format) {
	var text bytes.Buffer
	w := notation.NewWriter(format, &text)
	if err := h.app.Exchange.Export(h.ctx, interchange.ExportParams{}, w); err != nil {
		h.Fatal(err)
	}
	if err := w.Close(); err != nil {
		h.Fatal(err)
	}
	o, err := h.app.Org.Get(h.ctx)
	if err != nil {
		h.Fatal(err)
	}
	f, err := h.app.Org.Create(h.ctx, organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: o.Timezone})
	if err != nil {
		h.Fatal(err)
	}
	there := *h
	there.org = f.Organization.ID
	there.ctx = actor.With(h.ctx, actor.Actor{OrganizationID: there.org})
	if _, err := h.app.Entities.Create(there.ctx, entity.CreateParams{Name: "DE", BaseCurrency: "EUR"}); err != nil {
		h.Fatal(err)
	}
	want := h.describe()
	for range 2 { // a second time adds nothing
		if _, err := h.app.Exchange.Import(there.ctx, interchange.ImportParams{Format: format, Name: "books"},
			bytes.NewReader(text.Bytes())); err != nil {
			h.Fatalf("%v\n%s", err, text.String())
		}
		if got := there.describe(); !slices.Equal(got, want) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					h.Fatalf("%s: of %d and %d\n%s\nshould be\n%s", format, len(got), len(want), got[i], want[i])
				}
			}
			h.Fatalf("%s: %d are %d", format, len(want), len(got))
		}
	}
	findings, err := h.app.VerifyOrganization(there.ctx, there.org)
	if err != nil || len(findings) > 0 {
		h.Fatalf("verify: %v %v", findings, err)
	}
}

func TestSoakBooksWithARandomHistoryAreTheSameAfterExportAndImport(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		a := app.New(dbtest.Open(t, c), nil)
		rapid.Check(t, func(r *rapid.T) {
			h := newHistory(r, t.Context(), a, now)
			r.Repeat(map[string]func(*rapid.T){
				"batch":     func(r *rapid.T) { h.step(r).createEntries(4, false) },
				"create":    func(r *rapid.T) { h.step(r).createEntries(1, false) },
				"delete":    func(r *rapid.T) { h.step(r).deleteEntry() },
				"post":      func(r *rapid.T) { h.step(r).post() },
				"unpost":    func(r *rapid.T) { h.step(r).unpost() },
				"reverse":   func(r *rapid.T) { h.step(r).reverse() },
				"correct":   func(r *rapid.T) { h.step(r).correct() },
				"correct 2": func(r *rapid.T) { h.step(r).correct() },
				"close":     func(r *rapid.T) { h.step(r).close() },
				"zone":      func(r *rapid.T) { h.step(r).changeZone() },
				"archive":   func(r *rapid.T) { h.step(r).archive() },
				"rate":      func(r *rapid.T) { h.step(r).storeRate() },
				"wait":      func(r *rapid.T) { now.Advance(time.Duration(rapid.IntRange(1, 240).Draw(r, "hours")) * time.Hour) },
			})
			h.step(r)
			for _, format := range notation.Formats {
				h.copyBooks(format)
			}
		})
	})
}
