package application

import (
	"context"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// Void undoes an application: its entry is reversed, what it paid is due again, and its deposit can be applied again. An etag must be that
// of the application, or empty.
func (s *Service) Void(ctx context.Context, applicationID, reason, etag string) (a Application, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := snapshot.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := find(ctx, tx, applicationID, "{for_update}")
		if err != nil {
			return err
		}
		if err := before.requireVersion(etag); err != nil {
			return err
		}
		a, err = s.void(ctx, tx, before, reason)
		return err
	})
	return a, err
}

// void undoes an application that is locked.
func (s *Service) void(ctx context.Context, tx *db.Tx, before Application, reason string) (a Application, err error) {
	switch {
	case utf8.RuneCountInString(reason) > ReasonMax:
		return before, fault.Invalidf("reason", "must have at most %d characters", ReasonMax)
	case before.Status == Voided:
		return before, fault.Conflictf("the cash application %s is voided already", before.ID)
	case !before.used().IsZero():
		return before, fault.Conflictf("later cash applications use or pay back %s of what %s left unapplied: void those first",
			before.used().Fixed(before.Currency), before.ID)
	case !before.Returned.IsZero():
		return before, fault.Conflictf("%s of what %s paid went back: void those cash applications first",
			before.Returned.Fixed(before.Currency), before.ID)
	}
	a = before
	a.Status, a.VoidReason, a.Available, a.ProcessorStatus = Voided, reason, money.Decimal{}, before.afterVoid()
	if before.Status.booked() {
		if a.ErrorMessage, err = s.undo(ctx, tx, before); err != nil {
			return before, err
		}
	}
	switch {
	case before.isReturn():
		err = takeBack(ctx, tx, before.SourceID, before.Unapplied, before.Applied)
	case before.SourceID != "":
		err = useRest(ctx, tx, before.SourceID, before.Total.Neg())
	}
	if err != nil {
		return before, err
	}
	if a, err = save(ctx, tx, "cash_application.voided", before, a); err != nil {
		return before, err
	}
	return a, restate(ctx, tx, a)
}

// undo reverses the entry of an application and releases its invoices. It returns why the entry could not be removed from the ledger
// provider, or an empty text.
func (s *Service) undo(ctx context.Context, tx *db.Tx, a Application) (failure string, err error) {
	invoices, err := invoice.FindSomeUnchecked(ctx, tx, invoiceIDs(a.Allocations))
	if err != nil {
		return "", err
	}
	entry, err := journal.FindUnchecked(ctx, tx, a.EntryID)
	if err != nil {
		return "", err
	}
	reversal, err := s.journal.UndoInTx(ctx, tx, entry)
	if err != nil {
		if fault.KindOf(err) == fault.Conflict {
			err = fault.Conflictf("the cash application %s cannot be voided: %v", a.ID, err)
		}
		return "", err
	}
	for _, l := range a.Allocations {
		if i := invoices[l.InvoiceID]; i.Status != invoice.Open && i.Status != invoice.Paid && !i.Mirrored() {
			return "", fault.Conflictf("the cash application %s cannot be voided while the invoice %s that it pays is %s: reopen that first",
				a.ID, i.Number, i.Status)
		}
	}
	if err := release(ctx, tx, a, invoices); err != nil {
		return "", err
	}
	for _, l := range a.Allocations {
		if invoices[l.InvoiceID].Mirrored() {
			continue
		}
		if err := invoice.RecordMovement(ctx, tx, l.InvoiceID, reversal.ID, l.Amount); err != nil {
			return "", err
		}
	}
	if s.unpost != nil {
		if err := s.unpost(ctx, tx, a.EntryID); err != nil {
			return "the entry could not be removed from the ledger provider: " + err.Error(), nil
		}
	}
	return "", nil
}

func invoiceIDs(all []Allocation) []string {
	out := make([]string, len(all))
	for n, l := range all {
		out[n] = l.InvoiceID
	}
	return out
}

// explainEntry says which application made an entry, and what to do to undo it.
func explainEntry(ctx context.Context, tx *db.Tx, e journal.Entry) (string, error) {
	a, err := selectByEntry(ctx, tx, e)
	if err != nil || a == "" {
		return "books a cash application: void that", err
	}
	return "books the cash application " + a + ": void that with POST /v1/cash-applications/" + a + "/void", nil
}
