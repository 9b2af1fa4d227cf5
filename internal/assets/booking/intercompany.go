package booking

import (
	"cmp"
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// requireUnsettled returns an error if what an entry made due between two legal entities was settled since, so that undoing the entry
// leaves a receivable or a payable on the wrong side. By is the reversal, which is posted already, with a replacement if there is one,
// or the draft that the entry is about to become.
func requireUnsettled(ctx context.Context, tx *db.Tx, b *snapshot.Books, was, by journal.Entry) error {
	u := undoing{was: was, at: by.AccountingDate}
	if by.ID == was.ID {
		u = undoing{was: was, at: was.AccountingDate, except: &was}
	}
	refused, err := settledUndoings(ctx, tx, b, []undoing{u})
	return cmp.Or(err, refused[was.ID])
}

// undoing is an entry that is undone, and the time from which on it is. Except is the entry itself if it is not undone yet.
type undoing struct {
	was    journal.Entry
	at     time.Time
	except *journal.Entry
}

// UndoRefusals returns why posted entries can be neither reversed nor unposted: what they made due between legal entities was settled
// since. It also returns why they cannot be unposted: they have true-ups, or something was consumed after them from the same lots, so that
// it may have to consume others. Whether it really has to, only a replay could tell.
func (s *Service) UndoRefusals(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []journal.Undo) (
	map[string]journal.UndoRefusal, error) {
	undoings := make([]undoing, len(all))
	var entries, transactions []string
	for i, u := range all {
		undoings[i] = undoing{was: u.Entry, at: u.At, except: &u.Entry}
		if u.Entry.TransactionID != "" {
			entries, transactions = append(entries, u.Entry.ID), append(transactions, u.Entry.TransactionID)
		}
	}
	settled, err := settledUndoings(ctx, tx, b, undoings)
	if err != nil {
		return nil, err
	}
	trueUps, err := journal.TransactionsWithTrueUps(ctx, tx, transactions)
	if err != nil {
		return nil, err
	}
	followed, err := lots.EntriesBeforeOthers(ctx, tx, entries)
	out := map[string]journal.UndoRefusal{}
	for _, u := range all {
		var why journal.UndoRefusal
		switch e := u.Entry; {
		case settled[e.ID] != nil:
			why.Undo = settled[e.ID].Error()
		case e.TransactionID != "" && trueUps[e.TransactionID]:
			why.Unpost = "the entry has true-ups: reverse it instead of unposting it"
		case followed[e.ID]:
			why.Unpost = "later entries consume lots from where this one did, or put some: reverse it instead of unposting it"
		}
		out[u.Entry.ID] = why
	}
	return out, err
}

// unitKey is a balance between two legal entities.
type unitKey struct{ legalEntityID, ledgerAccountID, unit string }

// owedLine is a line of an entry that made something due between two legal entities.
type owedLine struct {
	journal.Line
	unitKey
	side book.Side
}

func owedLines(b *snapshot.Books, e journal.Entry) (out []owedLine) {
	for _, l := range e.Lines {
		a := b.Accounts[l.LedgerAccountID]
		if side := growsOf(a); account.IsIntercompany(a.Role) && l.Side == side {
			unit := cmp.Or(l.Unit, b.Entities[l.LegalEntityID].BaseCurrency)
			out = append(out, owedLine{l, unitKey{l.LegalEntityID, a.ID, unit}, side})
		}
	}
	return out
}

// settledUndoings returns, by entry, the error that requireUnsettled returns. It reads each balance once, however many entries changed it.
func settledUndoings(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []undoing) (map[string]error, error) {
	r := settlementReader{books: b, from: map[unitKey]undoing{}, histories: map[unitKey]journal.UnitHistory{},
		last: map[unitKey]*journal.Entry{}}
	for _, u := range all {
		for _, l := range owedLines(b, u.was) {
			r.include(l.unitKey, u)
		}
	}
	out := map[string]error{}
	for _, u := range all {
		for _, l := range owedLines(b, u.was) {
			settling, err := r.settling(ctx, tx, u, l)
			if err != nil {
				return nil, err
			}
			if settling != nil && out[u.was.ID] == nil {
				out[u.was.ID] = refuseSettled(b, u.was, *settling, l.Line, l.unit)
			}
		}
	}
	return out, nil
}

// settlementReader finds out which entries were settled, and keeps what it has read.
type settlementReader struct {
	books     *snapshot.Books
	from      map[unitKey]undoing // the earliest time from which an entry is undone, and the earliest entry
	histories map[unitKey]journal.UnitHistory
	last      map[unitKey]*journal.Entry // the last entry that settled something, nil if there is none
}

// include makes the reader read a balance from early enough on for an entry.
func (r *settlementReader) include(k unitKey, u undoing) {
	first, there := r.from[k]
	if !there || u.at.Before(first.at) {
		first.at = u.at
	}
	if !there || u.was.AccountingDate.Before(first.was.AccountingDate) {
		first.was = u.was
	}
	r.from[k] = first
}

func (k unitKey) query(at time.Time) journal.UnitQuery {
	return journal.UnitQuery{LegalEntityID: k.legalEntityID, LedgerAccountID: k.ledgerAccountID, Unit: k.unit, At: at}
}

// settling returns the entry that settled what a line made due, or nil if it can be undone.
func (r *settlementReader) settling(ctx context.Context, tx *db.Tx, u undoing, l owedLine) (*journal.Entry, error) {
	history, read := r.histories[l.unitKey]
	if !read {
		var err error
		if history, err = journal.ReadUnitHistory(ctx, tx, r.books, l.query(r.from[l.unitKey].at)); err != nil {
			return nil, err
		}
		r.histories[l.unitKey] = history
	}
	q := l.query(u.at)
	q.Except = u.except
	if overdrawn, err := history.IsOverdrawn(r.books, q, l.side); err != nil || !overdrawn {
		return nil, err
	}
	last, read := r.last[l.unitKey]
	if !read {
		q = l.query(r.from[l.unitKey].was.AccountingDate)
		found, there, err := journal.LastSettling(ctx, tx, r.books, q, l.side.Other())
		if err != nil {
			return nil, err
		}
		if there {
			last = &found
		}
		r.last[l.unitKey] = last
	}
	if last == nil || last.AccountingDate.Before(u.was.AccountingDate) {
		return nil, nil // the balance was on the wrong side before
	}
	return last, nil
}

// refuseSettled refuses to undo an entry and names the one that settled it, or a part of it.
func refuseSettled(b *snapshot.Books, was, settling journal.Entry, l journal.Line, unit string) error {
	booked, settled := unitsOf(l), money.Decimal{}
	for _, o := range settling.Lines {
		if o.LedgerAccountID == l.LedgerAccountID && o.LegalEntityID == l.LegalEntityID && o.Unit == l.Unit && o.Side != l.Side {
			settled = settled.Add(unitsOf(o))
		}
	}
	show := func(quantity money.Decimal) string {
		if l.Unit == "" {
			return quantity.Fixed(unit) + " " + unit
		}
		return quantity.String() + " " + unit
	}
	what := "the " + show(booked)
	if settled.Cmp(booked) < 0 {
		what = show(settled) + " of " + what
	}
	return fault.Conflictf("the entry %s cannot be undone: the entry %s of %s settled %s that it booked to %s, which would be on the "+
		"wrong side without it; reverse %[2]s first", was.SequenceNumber(), settling.SequenceNumber(),
		calendar.DateOf(settling.AccountingDate, b.Zone), what, b.Accounts[l.LedgerAccountID])
}

// unitsOf returns the quantity of a line in its unit, or its amount in the base currency if it has none.
func unitsOf(l journal.Line) money.Decimal {
	if l.Unit != "" && l.Quantity != nil {
		return *l.Quantity
	}
	return *l.Base
}
