package price_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// world is an organization in New York, whose days end at 4 or 5 o'clock UTC.
type world struct {
	t   *testing.T
	db  *db.DB
	ctx context.Context
	org string
	*price.Service
}

func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
	return &world{t: t, db: d, ctx: ctx, org: f.Organization.ID, Service: price.NewService(d)}
}

func (w *world) write(do func(ctx context.Context, tx *db.Tx) error) {
	w.t.Helper()
	if err := w.db.Write(w.ctx, w.org, do); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) rate(base, quote, date, rate string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		_, err := fx.Store(ctx, tx, []fx.Quotation{{Base: base, Quote: quote, Date: date, Rate: money.MustParse(rate)}})
		return err
	})
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// put reads the notation "BTC USD 2026-01-31 64250.12" and stores such prices.
func (w *world) put(lines ...string) []price.Price {
	w.t.Helper()
	made, err := w.CreateBatch(w.ctx, params(lines...), false)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

func params(lines ...string) (out []price.Params) {
	for _, line := range lines {
		f := strings.Fields(line)
		out = append(out, price.Params{AssetType: f[0], Currency: f[1], Timestamp: f[2], Price: f[3]})
	}
	return out
}

// all writes the prices there are, the latest first, in that notation with their origin.
func (w *world) all(f price.Filter) []string {
	w.t.Helper()
	out := []string{}
	for p := (page.Request{Limit: 2}); ; {
		found, err := w.List(w.ctx, f, p)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, one := range found.Items {
			out = append(out, shown(one))
		}
		if p.Cursor = found.NextCursor; !found.HasMore {
			return out
		}
	}
}

func shown(p price.Price) string {
	text := fmt.Sprint(p.AssetType, " ", p.Currency, " ", clock.Format(p.At), " ", p.Value, " ", p.Origin)
	if p.UpdatedAt != nil {
		text += " again"
	}
	return text
}

// records counts what the audit log holds.
func (w *world) records() (n int64) {
	w.t.Helper()
	err := w.db.Read(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) (err error) {
		state, err := orgstate.Read(ctx, tx)
		n = state.AuditSequence
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}
