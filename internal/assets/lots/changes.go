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

	corrections  map[correctionKey]Position // what lots are counted with apart from their entries
	entryDates   map[string]*time.Time      // accounting dates of entries that may not be stored yet
	reassigned   []reassignment
	consumptions []Consumption // new
	removed      []Consumption // to delete
	cleared      []Consumption // to delete all uses of
	uses         []Use         // new
	deletedUses  []string      // single uses to delete
	staleUses    []string      // all deleted uses: those in deletedUses and those of cleared
	lots         []Lot         // new or changed
	deletedLots  map[string]bool
	emptied      []string // lots that are or were empty
	pools        []Pool
}

// NewChanges returns empty changes.
func NewChanges() *Changes {
	return &Changes{Totals: NewTotals(), corrections: map[correctionKey]Position{}, entryDates: map[string]*time.Time{},
		staleUses: []string{}, deletedLots: map[string]bool{}}
}

// Table is a table whose rows refer to an entry.
type Table string

// The tables whose rows can be reassigned.
const (
	Consumptions Table = "lot_consumptions"
	Uses         Table = "lot_uses"
	Lots         Table = "lots"
)

// reassignment moves the rows of one entry to another one.
type reassignment struct {
	table    Table
	from, to string
}

// SetEntryDate sets the accounting date of an entry, which is stored with its lots.
func (c *Changes) SetEntryDate(entryID string, date time.Time) { c.entryDates[entryID] = &date }

// Reassign moves the stored rows of an entry to another one.
func (c *Changes) Reassign(from, to string, tables ...Table) {
	for _, t := range tables {
		c.reassigned = append(c.reassigned, reassignment{t, from, to})
	}
}

// AddConsumption stores a consumption.
func (c *Changes) AddConsumption(k Consumption) { c.consumptions = append(c.consumptions, k) }

// RemoveConsumption deletes a consumption, but not its uses.
func (c *Changes) RemoveConsumption(k Consumption) { c.removed = append(c.removed, k) }

// AddUses stores and counts uses.
func (c *Changes) AddUses(uses ...Use) {
	for _, u := range uses {
		c.uses = append(c.uses, u)
		c.CountUse(u, 1)
	}
}

// RemoveUses deletes the uses that an entry wrote for a consumption, given all stored uses of the consumption, and reports
// whether it did. It does not if other entries wrote uses for the consumption, in a closed period for example, that do not
// cancel out: then only differences may be added.
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

// DeleteLot deletes a lot. It does not change the totals; see CountLot.
func (c *Changes) DeleteLot(id string) { c.deletedLots[id] = true }

// SaveLot stores a lot unless it is deleted or unchanged. stored is its state in the database, nil for a new lot.
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
		l.lastUsedAt = l.enteredAt
	}
	c.lots = append(c.lots, *l)
	if l.RemainingQuantity.IsZero() || stored != nil && stored.RemainingQuantity.IsZero() {
		c.emptied = append(c.emptied, l.ID)
	}
}

// SavePool stores the sums of a pool.
func (c *Changes) SavePool(p Pool) { c.pools = append(c.pools, p) }

// Write stores all changes.
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
		func() error { return addCorrections(ctx, tx, c.corrections) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceEntry moves what an entry consumed and created to its replacement, which has the same effect on lots. If the
// reversal has another date, because the period of the entry is closed for example, the stored uses stay, and corrections cancel
// them on that date. It is a building block.
func ReplaceEntry(ctx context.Context, tx *db.Tx, replaced, reversal, by EntryRef) error {
	uses, err := UsesOfEntry(ctx, tx, replaced.EntryID)
	if err != nil {
		return err
	}
	created, err := OfEntries(ctx, tx, replaced.EntryID)
	if err != nil {
		return err
	}
	consumptions, err := ConsumptionsOfEntry(ctx, tx, replaced.EntryID) // a consumption may have no uses
	if err != nil || len(uses)+len(created)+len(consumptions) == 0 {
		return err
	}
	c, later := NewChanges(), !reversal.AccountingDate.Equal(replaced.AccountingDate)
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
		c.CountLot(l, replaced.At(), reversal.At(), -1)
		c.CountLot(l, by.At(), by.At(), 1)
	}
	return c.Write(ctx, tx)
}
