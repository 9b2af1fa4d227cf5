package journal

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// pages are what a transaction adds to the journal: new entries, and what posted entries do to the totals. They are written at its end, for all
// writes that share it at once, the totals folded so that a busy account is written once.
type pages struct {
	entries   []Entry
	movements []movement
}

// movement is an entry that comes into the totals, or leaves them.
type movement struct {
	period string
	lines  []book.Line
	leaves bool
}

type pagesKey struct{}

func pagesOf(tx *db.Tx) *pages {
	return tx.Shared(pagesKey{}, func() any {
		p := &pages{}
		tx.AtEnd(p.flush)
		return p
	}).(*pages)
}

// add puts a new entry into the journal.
func (p *pages) add(tx *db.Tx, e Entry) {
	n := len(p.entries)
	tx.Undo(func() { p.entries = p.entries[:n] })
	p.entries = append(p.entries, e)
	if e.Status == Posted {
		p.move(tx, e, false)
	}
}

// move brings a posted entry into the totals, or takes it out.
func (p *pages) move(tx *db.Tx, e Entry, leaves bool) {
	lines := e.book()
	book.MustBalance(lines)
	n := len(p.movements)
	tx.Undo(func() { p.movements = p.movements[:n] })
	p.movements = append(p.movements, movement{e.PeriodID, lines, leaves})
}

func (p *pages) flush(ctx context.Context, tx *db.Tx) error {
	if err := insertEntries(ctx, tx, p.entries); err != nil {
		return err
	}
	totals := book.Totals{}
	for _, m := range p.movements {
		if m.leaves {
			totals.Remove(m.period, m.lines)
		} else {
			totals.Add(m.period, m.lines)
		}
	}
	return addTotals(ctx, tx, totals)
}
