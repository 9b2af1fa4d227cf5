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

// shape is what the books of an organization say, told by names, so that those of two organizations can be compared.
func (l *life) shape() (out []string) {
	err := l.app.DB.Read(l.ctx, l.org, func(ctx context.Context, tx *db.Tx) error {
		var names []string // ids and what to say instead
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
		states, err := states(ctx, tx)
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
		l.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// states gives every entry under its id: numbers are given anew elsewhere, and what was made by hand is imported there.
func states(ctx context.Context, tx *db.Tx) (out []string, err error) {
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

// elsewhere carries the books into another organization and compares.
func (l *life) elsewhere(format notation.Format) {
	var text bytes.Buffer
	w := notation.NewWriter(format, &text)
	if err := l.app.Exchange.Export(l.ctx, interchange.ExportParams{}, w); err != nil {
		l.Fatal(err)
	}
	if err := w.Close(); err != nil {
		l.Fatal(err)
	}
	o, err := l.app.Org.Get(l.ctx)
	if err != nil {
		l.Fatal(err)
	}
	f, err := l.app.Org.Create(l.ctx, organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: o.Timezone})
	if err != nil {
		l.Fatal(err)
	}
	there := *l
	there.org = f.Organization.ID
	there.ctx = actor.With(l.ctx, actor.Actor{OrganizationID: there.org})
	if _, err := l.app.Entities.Create(there.ctx, entity.CreateParams{Name: "DE", BaseCurrency: "EUR"}); err != nil {
		l.Fatal(err)
	}
	want := l.shape()
	for range 2 { // a second time adds nothing
		if _, err := l.app.Exchange.Import(there.ctx, interchange.ImportParams{Format: format, Name: "books"},
			bytes.NewReader(text.Bytes())); err != nil {
			l.Fatalf("%v\n%s", err, text.String())
		}
		if got := there.shape(); !slices.Equal(got, want) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					l.Fatalf("%s: of %d and %d\n%s\nshould be\n%s", format, len(got), len(want), got[i], want[i])
				}
			}
			l.Fatalf("%s: %d are %d", format, len(want), len(got))
		}
	}
	findings, err := l.app.VerifyOne(there.ctx, there.org)
	if err != nil || len(findings) > 0 {
		l.Fatalf("verify: %v %v", findings, err)
	}
}

func TestSoakBooksLivedAtRandomAreTheSameElsewhere(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		a := app.New(dbtest.Open(t, c), nil)
		rapid.Check(t, func(r *rapid.T) {
			l := begin(r, t.Context(), a, now)
			r.Repeat(map[string]func(*rapid.T){
				"batch":     func(r *rapid.T) { l.on(r).create(4, false) },
				"create":    func(r *rapid.T) { l.on(r).create(1, false) },
				"delete":    func(r *rapid.T) { l.on(r).remove() },
				"post":      func(r *rapid.T) { l.on(r).post() },
				"unpost":    func(r *rapid.T) { l.on(r).unpost() },
				"reverse":   func(r *rapid.T) { l.on(r).reverse() },
				"correct":   func(r *rapid.T) { l.on(r).correct() },
				"correct 2": func(r *rapid.T) { l.on(r).correct() },
				"close":     func(r *rapid.T) { l.on(r).close() },
				"zone":      func(r *rapid.T) { l.on(r).zone() },
				"archive":   func(r *rapid.T) { l.on(r).archive() },
				"rate":      func(r *rapid.T) { l.on(r).rate() },
				"wait":      func(r *rapid.T) { now.Advance(time.Duration(rapid.IntRange(1, 240).Draw(r, "hours")) * time.Hour) },
			})
			l.on(r)
			for _, format := range notation.Formats {
				l.elsewhere(format)
			}
		})
	})
}
