package booking

import (
	"cmp"
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// requireUnsettled returns an error if what an entry made due between two legal entities was settled since, so that undoing the entry
// leaves a receivable or a payable on the wrong side. By is the reversal, which is posted already, with a replacement if there is one,
// or the draft that the entry is about to become.
func requireUnsettled(ctx context.Context, tx *db.Tx, b *snapshot.Books, was, by journal.Entry) error {
	if by.ID == was.ID {
		return requireUndoable(ctx, tx, b, was, was.AccountingDate, &was)
	}
	return requireUndoable(ctx, tx, b, was, by.AccountingDate, nil)
}

// UndoRefusal returns why a posted entry can be neither reversed at a time nor unposted: what it made due between legal entities was
// settled since. It returns an empty text if it can, as far as no lots have to be computed.
func (s *Service) UndoRefusal(ctx context.Context, tx *db.Tx, b *snapshot.Books, posted journal.Entry, at time.Time) (string, error) {
	err := requireUndoable(ctx, tx, b, posted, at, &posted)
	if fault.Refused(err) {
		return err.Error(), nil
	}
	return "", err
}

// requireUndoable returns an error as requireUnsettled does, given the time from which on the entry is undone. Except is the entry itself
// if it is not undone yet.
func requireUndoable(ctx context.Context, tx *db.Tx, b *snapshot.Books, was journal.Entry, at time.Time, except *journal.Entry) error {
	for _, l := range was.Lines {
		a := b.Accounts[l.LedgerAccountID]
		side := growsOf(a)
		if !account.IsIntercompany(a.Role) || l.Side != side {
			continue
		}
		q := journal.UnitQuery{LegalEntityID: l.LegalEntityID, LedgerAccountID: a.ID, At: at, Except: except,
			Unit: cmp.Or(l.Unit, b.Entities[l.LegalEntityID].BaseCurrency)}
		overdrawn, err := journal.IsOverdrawn(ctx, tx, b, q, side)
		if err != nil {
			return err
		}
		if !overdrawn {
			continue
		}
		q.At = was.AccountingDate
		settling, there, err := journal.LastSettling(ctx, tx, b, q, side.Other())
		if err != nil {
			return err
		}
		if there { // otherwise the balance was on the wrong side before
			return refuseSettled(b, was, settling, l, q.Unit)
		}
	}
	return nil
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
