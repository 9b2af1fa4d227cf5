package asset

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

type lifeRow struct {
	ID        string     `db:"asset_id"`
	EntryID   string     `db:"journal_entry_id"`
	Open      bool       `db:"is_open"`
	EmptiedAt *time.Time `db:"emptied_at"`
	Life      int64      `db:"life"`
	UsedBy    *time.Time `db:"used_by"`
	CameAt    *time.Time `db:"came_at"`
	LastUse   *time.Time `db:"last_use"` // among what stays
}

// settleLives notes when lots were emptied, by which reports find those of a time. What lots became empty or no longer are is known; those whose uses
// are others, and as many, are looked at too. Most know when they came and that nothing later was taken of them, so that nothing need be asked.
func (c *changes) settleLives(ctx context.Context, tx *db.Tx) error {
	lots, last, ask := map[string]*Lot{}, map[string]*time.Time{}, map[string]bool{}
	for i := range c.lots {
		lots[c.lots[i].ID] = &c.lots[i]
	}
	for _, u := range c.uses {
		last[u.LotID] = later(last[u.LotID], &u.AccountingDate)
		ask[u.LotID] = lots[u.LotID] == nil
	}
	for _, id := range c.settled {
		l, at := lots[id], last[id]
		switch {
		case l == nil:
			ask[id] = true
		case !l.RemainingQuantity.IsZero():
			l.live(nil, nil)
		case at != nil && l.cameAt != nil && l.usedBy != nil && !at.Before(*l.usedBy):
			l.live(l.cameAt, at)
		default:
			ask[id] = true
		}
	}
	for id, l := range lots {
		if l.usedBy != nil {
			l.usedBy = later(l.usedBy, last[id])
		}
	}
	maps.DeleteFunc(ask, func(id string, is bool) bool { return id == "" || !is })
	if len(ask) == 0 {
		return nil
	}
	rows, err := db.All[lifeRow](ctx, tx, `SELECT l.asset_id, l.journal_entry_id, l.is_open, l.emptied_at, l.life, l.used_by,
		(SELECT e.accounting_date FROM journal_entries AS e WHERE e.organization_id = @org AND e.journal_entry_id = l.journal_entry_id) AS came_at,
		(SELECT max(u.accounting_date) FROM lot_uses AS u WHERE u.organization_id = @org AND u.asset_id = l.asset_id AND NOT u.use_id {any} GROUP BY u.asset_id) AS last_use
		FROM lots AS l WHERE l.organization_id = @org AND l.asset_id {any}`, c.voided, slices.Sorted(maps.Keys(ask)))
	for _, r := range rows {
		r.LastUse = later(r.LastUse, last[r.ID])
		if l := lots[r.ID]; l != nil {
			l.settle(r, c)
		} else if err == nil {
			err = c.settleOther(ctx, tx, r)
		}
	}
	return err
}

// settle notes it of a lot that is written anyway.
func (l *Lot) settle(r lifeRow, c *changes) {
	l.usedBy = later(r.UsedBy, r.LastUse)
	if l.cameAt = c.came[l.JournalEntryID]; l.JournalEntryID == r.EntryID {
		l.cameAt = r.CameAt
	}
	l.live(l.cameAt, r.LastUse)
}

// settleOther notes it of a lot of which nothing else is written.
func (c *changes) settleOther(ctx context.Context, tx *db.Tx, r lifeRow) error {
	l := Lot{JournalEntryID: r.EntryID}
	for _, n := range c.renamed {
		if n.from == r.EntryID && slices.Contains(n.tables, "lots") {
			l.JournalEntryID = n.to
		}
	}
	l.settle(r, c)
	if r.Open {
		l.live(nil, nil)
	}
	if l.life == r.Life && (l.life == 0 || l.emptiedAt.Equal(*r.EmptiedAt)) && (l.usedBy == nil || r.UsedBy != nil && l.usedBy.Equal(*r.UsedBy)) {
		return nil
	}
	return tx.Put(ctx, "UPDATE lots SET emptied_at = ?, life = ?, used_by = ? WHERE organization_id = @org AND asset_id = ?", l.emptiedAt, l.life, l.usedBy, r.ID)
}

// live notes from when to when a lot was there. One of which that is not known is taken for one that is not empty, which only costs time.
func (l *Lot) live(came, emptied *time.Time) {
	l.emptiedAt, l.life = nil, 0
	if came != nil && emptied != nil {
		l.emptiedAt, l.life = emptied, calendar.Life(*came, *emptied)
	}
}

// later is the later one of two times, of which either may be missing.
func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}
