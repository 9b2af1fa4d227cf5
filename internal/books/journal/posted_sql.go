package journal

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// Scope narrows the posted entries that PostedAfter returns; empty fields do not.
type Scope struct {
	LegalEntityIDs []string // entries that have at least one of them
	From, Until    time.Time
	EntryIDs       []string
}

// Position is the place of an entry in the order of accounting dates and numbers.
type Position struct {
	Date   time.Time
	Number int64
}

// PostedAfter returns the posted entries of a scope after a position, in the order of their dates and numbers, whatever the actor may see.
// Opening balances are left out. It runs in the caller's transaction.
func PostedAfter(ctx context.Context, tx *db.Tx, s Scope, after Position, limit int) ([]Entry, error) {
	if after.Date.IsZero() {
		after.Date = period.OpeningDate
	}
	q := db.Select("SELECT "+entryColumns+" FROM journal_entries e WHERE e.organization_id = @org AND e.status = 'posted'").
		And("(e.accounting_date, e.number) > (?, ?)", after.Date, after.Number).And("e.accounting_date > ?", period.OpeningDate)
	if !s.From.IsZero() {
		q.And("e.accounting_date >= ?", s.From)
	}
	if !s.Until.IsZero() {
		q.And("e.accounting_date < ?", s.Until)
	}
	if len(s.EntryIDs) > 0 {
		q.And("e.journal_entry_id {any}", s.EntryIDs)
	}
	if len(s.LegalEntityIDs) > 0 {
		q.And(partlyVisible, s.LegalEntityIDs, s.LegalEntityIDs)
	}
	rows, err := db.All[entryRow](ctx, tx, q.Then("ORDER BY e.accounting_date, e.number LIMIT ?", limit), q.Args...)
	entries := make([]Entry, len(rows))
	for i, r := range rows {
		entries[i] = r.entry()
	}
	if err != nil {
		return nil, err
	}
	return entries, fillLines(ctx, tx, entries)
}

// LegalEntityIDs returns the legal entities of an entry: its own first, then those of its lines.
func (e Entry) LegalEntityIDs() []string { return e.entities() }
