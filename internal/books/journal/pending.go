package journal

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// pendingWrites are the changes of a database transaction to the journal: new entries, links of chains, and the effect of
// posted entries on the balances. They are written before the commit, once for all writes of a group commit. Movements
// are summed up first, so that the balance of a busy account is updated once.
type pendingWrites struct {
	entries   []Entry
	links     []Entry // entries of before that got a successor
	movements []movement
}

// movement is the effect of posting an entry on the balances, or of unposting it if removed is set.
type movement struct {
	period  string
	lines   []book.Line
	units   balance.Units
	removed bool
}

type pendingKey struct{}

// pendingOf returns the pending writes of a transaction. Additions are removed again if the write is rolled back.
func pendingOf(tx *db.Tx) *pendingWrites {
	p := stateOf(tx)
	if len(p.entries)+len(p.links)+len(p.movements) == 0 {
		tx.Group().BeforeCommit(p.flush)
	}
	entries, links, movements := len(p.entries), len(p.links), len(p.movements)
	tx.Group().OnRollback(func() {
		p.entries, p.links, p.movements = p.entries[:entries], p.links[:links], p.movements[:movements]
	})
	return p
}

// stateOf returns the pending writes of a transaction for reading.
func stateOf(tx *db.Tx) *pendingWrites {
	return tx.Group().State(pendingKey{}, func() any { return &pendingWrites{} }).(*pendingWrites)
}

// add adds a new entry and links the previous entry of its chain to it.
func (p *pendingWrites) add(tx *db.Tx, e Entry, previous *Entry) {
	p.entries = append(p.entries, e)
	if e.Status == Posted {
		p.addMovement(e, false)
	}
	if previous == nil {
		return
	}
	for i := range p.entries { // the previous entry may be pending too
		if p.entries[i].ID == previous.ID {
			was := p.entries[i].NextID
			tx.Group().OnRollback(func() { p.entries[i].NextID = was })
			p.entries[i].NextID = e.ID
			return
		}
	}
	p.links = append(p.links, *previous)
}

// addMovement adds a posted entry to the balances, or removes it.
func (p *pendingWrites) addMovement(e Entry, removed bool) {
	lines := e.bookLines()
	book.MustBalance(lines)
	units := balance.Units{}
	e.addUnits(units, removed)
	p.movements = append(p.movements, movement{e.PeriodID, lines, units, removed})
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

// addUnits adds the quantities of assets and foreign currencies that an entry moves to a sum, or subtracts them if
// removed is set.
func (e Entry) addUnits(to balance.Units, removed bool) {
	for _, l := range e.Lines {
		if l.Unit == "" || l.Quantity == nil || l.Base == nil {
			continue
		}
		quantity, amount := *l.Quantity, *l.Base
		if (l.Side == book.Credit) != removed {
			quantity, amount = quantity.Neg(), amount.Neg()
		}
		to.AddMovement(balance.UnitKey{Entity: l.LegalEntityID, Account: l.LedgerAccountID, Unit: l.Unit, Period: e.PeriodID}, quantity, amount)
	}
}
