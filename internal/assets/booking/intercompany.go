package booking

import (
	"cmp"
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
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
	for _, l := range was.Lines {
		a := b.Accounts[l.LedgerAccountID]
		side := growsOf(a)
		if !account.IsIntercompany(a.Role) || l.Side != side {
			continue
		}
		q := journal.UnitQuery{LegalEntityID: l.LegalEntityID, LedgerAccountID: a.ID, At: by.AccountingDate,
			Unit: cmp.Or(l.Unit, b.Entities[l.LegalEntityID].BaseCurrency)}
		if by.ID == was.ID {
			q.At, q.Except = was.AccountingDate, &was
		}
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

// refuseSettled refuses to undo an entry and names the one that settled it.
func refuseSettled(b *snapshot.Books, was, settling journal.Entry, l journal.Line, unit string) error {
	quantity := l.Base.Fixed(unit)
	if l.Unit != "" && l.Quantity != nil {
		quantity = l.Quantity.String()
	}
	return fault.Conflictf("the entry %s cannot be undone: the entry %s of %s settled the %s %s that it booked to %s, which would be on the "+
		"wrong side without it; reverse %[2]s first", was.SequenceNumber(), settling.SequenceNumber(),
		calendar.DateOf(settling.AccountingDate, b.Zone), quantity, unit, b.Accounts[l.LedgerAccountID])
}
