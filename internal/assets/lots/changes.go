package lots

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// Changes collects rows to be written to the lot tables. The embedded totals are differences to those that are stored.
type Changes struct {
	Totals

	entryDates   map[string]*time.Time // accounting dates of entries that may not be stored yet
	reassigned   []reassignment
	consumptions []Consumption // new
	removed      []Consumption // no longer there
	cleared      []Consumption // whose uses are all deleted, to be written again
	uses         []Use         // new
	deletedUses  []string      // single uses to delete
	staleUses    []string      // every use that is deleted, whichever way
	lots         []Lot         // new or changed
	deletedLots  map[string]bool
	emptied      []string // lots that are empty, or were
	pools        []Pool
}

// NewChanges returns changes that write nothing yet.
func NewChanges() *Changes {
	return &Changes{Totals: NewTotals(), entryDates: map[string]*time.Time{}, staleUses: []string{}, deletedLots: map[string]bool{}}
}

// Table is one in which rows name the entry they belong to.
type Table string

// The tables whose rows can be reassigned.
const (
	Consumptions Table = "lot_takes"
	Uses         Table = "lot_uses"
	Lots         Table = "lots"
)

// reassignment gives the rows of one entry to another one.
type reassignment struct {
	table    Table
	from, to string
}

// SetEntryDate tells the accounting date of an entry, which its lots repeat.
func (c *Changes) SetEntryDate(entryID string, date time.Time) { c.entryDates[entryID] = &date }

// Reassign gives the stored rows of an entry to another one.
func (c *Changes) Reassign(from, to string, tables ...Table) {
	for _, t := range tables {
		c.reassigned = append(c.reassigned, reassignment{t, from, to})
	}
}

// AddConsumption stores what an entry asks of a pool.
func (c *Changes) AddConsumption(k Consumption) { c.consumptions = append(c.consumptions, k) }

// RemoveConsumption deletes what an entry asked of a pool, but not the uses.
func (c *Changes) RemoveConsumption(k Consumption) { c.removed = append(c.removed, k) }

// AddUses stores and counts uses.
func (c *Changes) AddUses(uses ...Use) {
	for _, u := range uses {
		c.uses = append(c.uses, u)
		c.CountUse(u, 1)
	}
}

// RemoveUses deletes the uses that an entry wrote for a consumption, given all stored uses of that, and reports whether
// they can be written again. They cannot if other entries wrote uses for it, in a closed period for example, that do
// not cancel out: then everything stays and only differences may be added.
func (c *Changes) RemoveUses(k Consumption, stored []Use, entryID string) bool {
	var own, others []Use
	for _, u := range stored {
		if u.JournalEntryID == entryID && !u.Correction {
			own = append(own, u)
		} else {
			others = append(others, u)
		}
	}
	if len(Effective(others)) > 0 {
		return false
	}
	for _, u := range own {
		c.CountUse(u, -1)
		c.staleUses = append(c.staleUses, u.ID)
		if len(others) > 0 {
			c.deletedUses = append(c.deletedUses, u.ID)
		}
	}
	if len(others) == 0 && len(own) > 0 {
		c.cleared = append(c.cleared, k)
	}
	return true
}

// DeleteLot deletes a lot. It is not counted here, see CountLot.
func (c *Changes) DeleteLot(id string) { c.deletedLots[id] = true }

// SaveLot stores a lot unless it is deleted or as it was. stored is its state in the database, nil for a new lot.
func (c *Changes) SaveLot(l *Lot, stored *Lot, now time.Time) {
	if c.deletedLots[l.ID] || stored != nil && l.equal(stored) {
		return
	}
	if stored != nil {
		l.CreatedAt, l.lifetime, l.UpdatedAt = stored.CreatedAt, stored.lifetime, &now
	}
	if stored == nil || l.JournalEntryID != stored.JournalEntryID {
		l.enteredAt = c.entryDates[l.JournalEntryID]
	}
	if stored == nil { // it has no uses yet
		l.lastUse = l.enteredAt
	}
	c.lots = append(c.lots, *l)
	if l.RemainingQuantity.IsZero() || stored != nil && stored.RemainingQuantity.IsZero() {
		c.emptied = append(c.emptied, l.ID)
	}
}

// SavePool stores the sums of a pool.
func (c *Changes) SavePool(p Pool) { c.pools = append(c.pools, p) }

// Write brings all changes to the tables.
func (c *Changes) Write(ctx context.Context, tx *db.Tx) error {
	if err := c.updateLifetimes(ctx, tx); err != nil {
		return err
	}
	for _, r := range c.reassigned {
		if err := updateEntry(ctx, tx, r, c.entryDates[r.to]); err != nil {
			return err
		}
	}
	for _, do := range []func() error{
		func() error { return deleteUses(ctx, tx, c.deletedUses) },
		func() error { return deleteAtKeys(ctx, tx, fromUses, c.cleared) },
		func() error { return deleteAtKeys(ctx, tx, fromConsumptions, c.removed) },
		func() error { return deleteLots(ctx, tx, slices.Sorted(maps.Keys(c.deletedLots))) },
		func() error { return upsertPools(ctx, tx, c.pools) },
		func() error { return upsertLots(ctx, tx, c.lots) },
		func() error { return insertConsumptions(ctx, tx, c.consumptions) },
		func() error { return insertUses(ctx, tx, c.uses) },
		func() error { return addPositions(ctx, tx, c.Positions) },
		func() error { return addGains(ctx, tx, c.Gains) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceEntry gives what an entry consumed and created to another one that says the same after a reversal. If the
// reversal is in a later period because that of the entry was closed, the stored uses stay, and corrections take them
// back in the later period. It is a building block.
func ReplaceEntry(ctx context.Context, tx *db.Tx, replaced, reversal, by EntryRef) error {
	uses, err := UsesOfEntry(ctx, tx, replaced.EntryID)
	if err != nil {
		return err
	}
	created, err := OfEntries(ctx, tx, replaced.EntryID)
	if err != nil {
		return err
	}
	consumptions, err := ConsumptionsOfEntry(ctx, tx, replaced.EntryID) // it may have asked for lots and found none
	if err != nil || len(uses)+len(created)+len(consumptions) == 0 {
		return err
	}
	c, later := NewChanges(), reversal.PeriodID != replaced.PeriodID
	c.SetEntryDate(by.EntryID, by.AccountingDate)
	c.Reassign(replaced.EntryID, by.EntryID, Consumptions, Lots)
	for _, u := range uses {
		c.emptied = append(c.emptied, u.LotID)
		switch {
		case u.Correction: // it stays where it is booked
		case later:
			c.AddUses(u.negated().Under(reversal, tx), u.Under(by, tx))
		default:
			c.CountUse(u, -1)
			u.PeriodID = by.PeriodID
			c.CountUse(u, 1)
		}
	}
	if !later {
		if err := moveUses(ctx, tx, replaced.EntryID, by); err != nil {
			return err
		}
		c.Reassign(replaced.EntryID, by.EntryID, Uses)
	}
	for _, l := range created {
		c.emptied = append(c.emptied, l.ID)
		c.CountLot(l, reversal.PeriodID, -1)
		c.CountLot(l, by.PeriodID, 1)
	}
	return c.Write(ctx, tx)
}
