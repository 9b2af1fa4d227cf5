package asset

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// Carry lets what was taken and made in stretches of time that changed their accounting period count in the new one.
// The entries are there already. It is a building block.
func Carry(ctx context.Context, tx *db.Tx, all []period.Moved) error {
	c := newChanges()
	for _, m := range all {
		uses, err := selectUsesBetween(ctx, tx, m)
		if err != nil {
			return err
		}
		for _, u := range uses {
			c.use(u, -1)
			u.PeriodID = m.ToID
			c.use(u, 1)
		}
		lots, err := selectLotsBetween(ctx, tx, m)
		if err != nil {
			return err
		}
		for _, l := range lots {
			c.enter(l, m.FromID, -1)
			c.enter(l, m.ToID, 1)
		}
		if err := moveUsesBetween(ctx, tx, m); err != nil {
			return err
		}
	}
	return c.write(ctx, tx)
}
