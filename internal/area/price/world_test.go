package price_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/fx"
	"github.com/bursarhq/bursar/internal/area/org"
	"github.com/bursarhq/bursar/internal/area/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
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
	f, err := org.NewService(d).Found(t.Context(), org.FoundParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
	return &world{t, d, ctx, f.Organization.ID, price.NewService(d)}
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
		_, err := fx.Put(ctx, tx, []fx.Quotation{{Base: base, Quote: quote, Date: date, Rate: money.MustParse(rate)}})
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
