package lots

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// MovePeriods moves uses and lots to another accounting period after the boundaries of periods changed. The entries must have
// been moved already. It is a building block.
func MovePeriods(ctx context.Context, tx *db.Tx, moved []period.Reassignment) error {
	c := NewChanges()
	for _, m := range moved {
		uses, err := selectUsesBetween(ctx, tx, m)
		if err != nil {
			return err
		}
		for _, u := range uses {
			c.CountUse(u, -1)
			u.PeriodID = m.ToID
			c.CountUse(u, 1)
		}
		entered, err := selectLotsBetween(ctx, tx, m)
		if err != nil {
			return err
		}
		for _, l := range entered {
			c.CountLot(l, m.FromID, -1)
			c.CountLot(l, m.ToID, 1)
		}
		if err := moveUsesBetween(ctx, tx, m); err != nil {
			return err
		}
	}
	return c.Write(ctx, tx)
}
