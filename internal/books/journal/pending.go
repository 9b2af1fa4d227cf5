package journal

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// pendingWrites are what a database transaction adds to the journal: new entries, links of chains, and the effect of posted
// entries on the totals. They are written before the commit, once for all writes that share the transaction, and the
// totals are added up first, so that a busy account is written once.
type pendingWrites struct {
	entries   []Entry
	links     []Entry // entries of before that got a successor
	movements []movement
}

// movement is an entry that comes into the totals, or leaves them.
type movement struct {
	period  string
	lines   []book.Line
	units   balance.Units
	removed bool
}

type pendingKey struct{}

// pendingOf returns the pages of a transaction. What is added to them is removed again if the write is rolled back.
func pendingOf(tx *db.Tx) *pendingWrites {
	p := tx.Group().State(pendingKey{}, func() any { return &pendingWrites{} }).(*pendingWrites)
	if len(p.entries)+len(p.links)+len(p.movements) == 0 {
		tx.Group().BeforeCommit(p.flush)
	}
	entries, links, movements := len(p.entries), len(p.links), len(p.movements)
	tx.Group().OnRollback(func() {
		p.entries, p.links, p.movements = p.entries[:entries], p.links[:links], p.movements[:movements]
	})
	return p
}

// add puts a new entry into the journal, and hangs it behind the one before it in its chain.
func (p *pendingWrites) add(tx *db.Tx, e Entry, previous *Entry) {
	p.entries = append(p.entries, e)
	if e.Status == Posted {
		p.addMovement(e, false)
	}
	if previous == nil {
		return
	}
	for i := range p.entries { // it may be as new as this one
		if p.entries[i].ID == previous.ID {
			was := p.entries[i].NextID
			tx.Group().OnRollback(func() { p.entries[i].NextID = was })
			p.entries[i].NextID = e.ID
			return
		}
	}
	p.links = append(p.links, *previous)
}

// addMovement brings a posted entry into the totals, or takes it out.
func (p *pendingWrites) addMovement(e Entry, leaves bool) {
	lines := e.bookLines()
	book.MustBalance(lines)
	units := balance.Units{}
	e.addUnits(units, leaves)
	p.movements = append(p.movements, movement{e.PeriodID, lines, units, leaves})
}

func (p *pendingWrites) flush(ctx context.Context, tx *db.Tx) error {
	all := *p
	*p = pendingWrites{}
	if err := insertEntries(ctx, tx, all.entries); err != nil {
		return err
	}
	for _, e := range all.links {
		if err := updateNext(ctx, tx, e); err != nil {
			return err
		}
	}
	totals, left, units := book.Totals{}, book.Totals{}, balance.Units{}
	for _, m := range all.movements {
		units.Add(m.units)
		if m.removed {
			totals.Remove(m.period, m.lines)
			left.Remove(m.period, m.lines)
		} else {
			totals.Add(m.period, m.lines)
		}
	}
	if err := balance.Add(ctx, tx, totals); err != nil {
		return err
	}
	if err := balance.AddUnits(ctx, tx, units); err != nil {
		return err
	}
	return balance.DeleteEmpty(ctx, tx, left.Keys())
}

// addUnits adds what an entry brings to accounts of foreign money and of assets, or takes from them.
func (e Entry) addUnits(to balance.Units, leaves bool) {
	for _, l := range e.Lines {
		if l.Unit == "" || l.Quantity == nil || l.Base == nil {
			continue
		}
		quantity, amount := *l.Quantity, *l.Base
		if (l.Side == book.Credit) != leaves {
			quantity, amount = quantity.Neg(), amount.Neg()
		}
		to.AddMovement(balance.UnitKey{Entity: l.LegalEntityID, Account: l.LedgerAccountID, Unit: l.Unit, Period: e.PeriodID}, quantity, amount)
	}
}
