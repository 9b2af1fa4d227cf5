package lots

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// lifetime is when a lot was held, by accounting dates. Reports find the lots of some day by the node of the interval
// from enteredAt to emptiedAt (see calendar.IntervalNode). A nil time is not known; such a lot is treated as if it were
// not empty, which only costs time.
type lifetime struct {
	enteredAt    *time.Time // accounting date of its entry
	lastUsedAt   *time.Time // no use is dated later
	emptiedAt    *time.Time // set only if nothing is left
	intervalNode int64      // set only if nothing is left
}

// Entered returns the accounting date of the entry that brought the lot in, or the zero time if it is not known.
func (l lifetime) Entered() (at time.Time) {
	if l.enteredAt != nil {
		at = *l.enteredAt
	}
	return at
}

// setInterval sets from when to when a lot was held, or that it still is if either is nil.
func (l *lifetime) setInterval(entered, emptied *time.Time) {
	l.emptiedAt, l.intervalNode = nil, 0
	if entered != nil && emptied != nil {
		l.emptiedAt, l.intervalNode = emptied, calendar.IntervalNode(*entered, *emptied)
	}
}

// lifetimeRow is the stored lifetime of a lot, and the data it is computed from.
type lifetimeRow struct {
	ID           string     `db:"asset_id"`
	EntryID      string     `db:"journal_entry_id"`
	Open         bool       `db:"is_open"`
	EmptiedAt    *time.Time `db:"emptied_at"`
	IntervalNode int64      `db:"interval_node"`
	LastUsedAt   *time.Time `db:"last_used_at"`
	EnteredAt    *time.Time `db:"entered_at"`
	LastUse      *time.Time `db:"last_use"` // among the uses that stay
}

// updateLifetimes updates the lifetimes of lots that became empty, are no longer empty, or have other uses. For most lots the
// entry date and the last use are stored; only the others are looked up.
func (c *Changes) updateLifetimes(ctx context.Context, tx *db.Tx) error {
	changed, last, lookUp := map[string]*Lot{}, map[string]*time.Time{}, map[string]bool{}
	for i := range c.lots {
		changed[c.lots[i].ID] = &c.lots[i]
	}
	for _, u := range c.uses {
		last[u.LotID] = later(last[u.LotID], &u.AccountingDate)
		lookUp[u.LotID] = changed[u.LotID] == nil
	}
	for _, id := range c.emptied {
		l, at := changed[id], last[id]
		switch {
		case l == nil:
			lookUp[id] = true
		case !l.RemainingQuantity.IsZero():
			l.setInterval(nil, nil)
		case at != nil && l.enteredAt != nil && l.lastUsedAt != nil && !at.Before(*l.lastUsedAt):
			l.setInterval(l.enteredAt, at)
		default:
			lookUp[id] = true
		}
	}
	for id, l := range changed {
		if l.lastUsedAt != nil {
			l.lastUsedAt = later(l.lastUsedAt, last[id])
		}
	}
	maps.DeleteFunc(lookUp, func(id string, needed bool) bool { return id == "" || !needed })
	if len(lookUp) == 0 {
		return nil
	}
	rows, err := selectLifetimes(ctx, tx, slices.Sorted(maps.Keys(lookUp)), c.staleUses)
	if err != nil {
		return err
	}
	for _, r := range rows {
		r.LastUse = later(r.LastUse, last[r.ID])
		if l := changed[r.ID]; l != nil {
			c.updateLifetime(l, r)
		} else if err := c.updateStoredLifetime(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}

// updateLifetime updates the lifetime of a lot that is written anyway.
func (c *Changes) updateLifetime(l *Lot, r lifetimeRow) {
	l.lastUsedAt = later(r.LastUsedAt, r.LastUse)
	if l.enteredAt = c.entryDates[l.JournalEntryID]; l.JournalEntryID == r.EntryID {
		l.enteredAt = r.EnteredAt
	}
	l.setInterval(l.enteredAt, r.LastUse)
}

// updateStoredLifetime updates the lifetime of a lot of which nothing else is written.
func (c *Changes) updateStoredLifetime(ctx context.Context, tx *db.Tx, r lifetimeRow) error {
	l := Lot{JournalEntryID: r.EntryID}
	for _, n := range c.reassigned {
		if n.from == r.EntryID && n.table == Lots {
			l.JournalEntryID = n.to
		}
	}
	c.updateLifetime(&l, r)
	if r.Open {
		l.setInterval(nil, nil)
	}
	if l.intervalNode == r.IntervalNode && (l.intervalNode == 0 || l.emptiedAt.Equal(*r.EmptiedAt)) &&
		(l.lastUsedAt == nil || r.LastUsedAt != nil && l.lastUsedAt.Equal(*r.LastUsedAt)) {
		return nil
	}
	return saveLifetime(ctx, tx, r.ID, l.lifetime)
}

// later returns the later of two times, either of which may be nil.
func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}
