package transaction_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// sumsMigration is the migration that creates the table of sums.
const sumsMigration = 68

func TestTheSumsOfAnOlderDatabaseAreThoseOfItsTransactions(t *testing.T) {
	t.Parallel()
	eachTimed(t, func(t *testing.T, c company) {
		newWorld(t, c, 400)
		c.sound(t)
		dbtest.MigrateDown(t.Context(), t, c.db, sumsMigration, func(context.Context, *db.Tx) error { return nil })
		if err := c.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.sound(t)
	})
}

func TestTotalsAreTheSumsOfTheTransactionsUpToAnInstant(t *testing.T) {
	t.Parallel()
	eachTimed(t, func(t *testing.T, c company) {
		w := newWorld(t, c, 400)
		for _, s := range w.sources {
			for _, at := range []time.Time{time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 23, 59, 59, 0, time.UTC),
				time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)} {
				want := map[string]transaction.Total{}
				for _, x := range w.all {
					if x.Source.ID != s.ID || x.Status == transaction.Spam || x.At.After(at) {
						continue
					}
					for _, m := range x.Moves() {
						sum := want[m.AssetType]
						quantity := money.Decimal{}
						if m.Quantity == nil {
							sum.Unknown++
						} else {
							quantity = *m.Quantity
						}
						if x.Status == transaction.Pending {
							sum.Pending, sum.Waiting = sum.Pending.Add(quantity), sum.Waiting+1
						} else {
							sum.Booked = sum.Booked.Add(quantity)
						}
						want[m.AssetType] = sum
					}
				}
				got := map[string]transaction.Total{}
				if err := c.db.Read(c.ctx, c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
					got, err = transaction.Totals(ctx, tx, s.ID, at, nil)
					return err
				}); err != nil {
					t.Fatal(err)
				}
				for asset, sum := range want {
					if g := got[asset]; !g.Pending.Equal(sum.Pending) || !g.Booked.Equal(sum.Booked) || g.Waiting != sum.Waiting ||
						g.Unknown != sum.Unknown {
						t.Errorf("%s of %s at %s: %+v, want %+v", asset, s.ID, at, g, sum)
					}
				}
				if len(got) != len(want) {
					t.Errorf("%s at %s: %d assets, want %d", s.ID, at, len(got), len(want))
				}
			}
		}
	})
}
