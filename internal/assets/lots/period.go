package lots

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
)

// MovePeriods moves what is dated in some ranges to another accounting period after the boundaries of periods changed: uses and
// corrections, lots with their entries, which must have been moved already, and what all of them add up to. It returns a conflict if
// something that has no entry of its own would leave or enter a closed period. It is a building block.
func MovePeriods(ctx context.Context, tx *db.Tx, moved []period.Reassignment) error {
	books, err := snapshot.Load(ctx, tx)
	if err != nil {
		return err
	}
	c := NewChanges()
	for _, m := range moved {
		uses, err := selectUsesBetween(ctx, tx, m)
		if err != nil {
			return err
		}
		corrections, err := selectCorrectionsBetween(ctx, tx, m)
		if err != nil {
			return err
		}
		entered, err := selectLotsBetween(ctx, tx, m)
		if err != nil {
			return err
		}
		entities := map[string]bool{}
		for _, u := range uses {
			entities[u.LegalEntityID] = true
			c.CountUse(u, -1)
			u.PeriodID = m.ToID
			c.CountUse(u, 1)
		}
		for _, r := range corrections {
			entities[r.LegalEntityID] = true
			from, to := r.key(), r.key()
			to.PeriodID = m.ToID
			c.Positions[from], c.Positions[to] = c.Positions[from].Minus(r.position()), c.Positions[to].Plus(r.position())
		}
		for _, l := range entered {
			c.Totals.CountLot(l, m.FromID, -1)
			c.Totals.CountLot(l, m.ToID, 1)
		}
		if len(entities) == 0 {
			continue
		}
		if err := requireOpen(books, entities, m); err != nil {
			return err
		}
		for _, table := range []string{"lot_uses", "lot_corrections"} {
			if err := moveBetween(ctx, tx, table, m); err != nil {
				return err
			}
		}
	}
	return c.Write(ctx, tx)
}

// requireOpen returns a conflict if one of the periods of a move is closed for one of some legal entities.
func requireOpen(books *snapshot.Books, entities map[string]bool, m period.Reassignment) error {
	for id := range entities {
		for _, periodID := range []string{m.FromID, m.ToID} {
			if p, there := books.PeriodOfEntry(periodID); there && p.Key <= books.ClosedThrough(id) {
				const why = "corrections of lots would leave or enter a closed period"
				return fault.ConflictAt([]fault.Field{{Name: "timezone", Message: why}}, "the time zone cannot be changed: %s, %s of %s",
					why, p.Key, books.Entities[id].Name)
			}
		}
	}
	return nil
}
