package demo_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// world is the demo company, and the activity that it was generated from.
type world struct {
	app          *app.App
	ctx          context.Context
	zone         *time.Location
	sources      []source.Source
	transactions []transaction.Transaction
	truth        map[string]activity.Transaction // by external id and time
}

// Creating the demo company takes a while, so that all checks share one.
func TestTheDemoCompany(t *testing.T) {
	t.Parallel()
	var kept logs
	t.Cleanup(func() { kept.compare(t) })
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		kept.add(t, w)
		t.Run("has its sources with their accounts", w.hasSources)
		t.Run("has transactions of which just the spam is spam and most transfers are linked", w.hasTransactions)
		t.Run("has booked everything but the last days", w.isBooked)
		t.Run("holds just what its sources do", w.holdsWhatSourcesDo)
		t.Run("has books that balance", w.balances)
		t.Run("owes between its companies what the other side has", w.agreesBetweenCompanies)
		t.Run("has positions that are worth something and never less than nothing", w.hasPositions)
		t.Run("leaves nothing on the accounts that things pass through", w.isCleared)
		t.Run("has closed all months but the last ones", w.isClosed)
		t.Run("shows what can happen to entries", w.showsActivity)
		t.Run("offers only what succeeds", w.offersWhatSucceeds)
		t.Run("is hidden from other organizations", w.isHidden)
		t.Run("breaks no invariant", w.isSound)
	})
}

func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	a := app.New(d, nil)
	f, err := demo.Found(t.Context(), a, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{app: a, ctx: actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID}), truth: map[string]activity.Transaction{}}
	if w.zone, err = time.LoadLocation(f.Organization.Timezone); err != nil {
		t.Fatal(err)
	}
	w.transactions = everything(t, func(p page.Request) (page.Page[transaction.Transaction], error) {
		return a.Transactions.List(w.ctx, transaction.ListParams{Filter: transaction.Filter{IncludeSpam: true}, Request: p})
	})
	w.read(t, func(ctx context.Context, tx *db.Tx) error {
		w.sources, err = source.AllUnchecked(ctx, tx)
		return err
	})
	now := calendar.MonthOf(d.Clock().Now(), w.zone)
	for _, first := range []calendar.Month{now.Add(-activity.Months), now.Add(-activity.Months - 1)} { // the month may have turned meanwhile
		for _, x := range activity.Make(first).Transactions {
			w.truth[x.ExternalID+x.At.String()] = x
		}
	}
	return w
}

func (w *world) of(x transaction.Transaction) activity.Transaction {
	return w.truth[x.ExternalID+x.At.String()]
}

func (w *world) read(t *testing.T, do db.Func) {
	t.Helper()
	if err := w.app.DB.Read(w.ctx, actor.From(w.ctx).OrganizationID, do); err != nil {
		t.Fatal(err)
	}
}

// everything reads all pages of a list.
func everything[T any](t *testing.T, list func(page.Request) (page.Page[T], error)) (out []T) {
	t.Helper()
	p := page.Request{Limit: page.LimitMax}
	for {
		got, err := list(p)
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, got.Items...); !got.HasMore {
			return out
		}
		p.Cursor = got.NextCursor
	}
}
