package invoice

import (
	"context"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Open opens a draft and books its entry.
func (s *Service) Open(ctx context.Context, invoiceID string) (Invoice, error) {
	return s.change(ctx, invoiceID, "invoice.opened", func(ctx context.Context, tx *db.Tx, b *snapshot.Books, i Invoice) (Invoice, error) {
		if i.Status != Draft {
			return i, fault.Conflictf("the invoice %s is %s: only a draft can be opened", i.Number, i.Status)
		}
		// Accounts may have been archived since.
		if _, err := resolve(ctx, tx, b, i.params(), i); err != nil {
			if fault.Refused(err) {
				return i, fault.Conflictf("the invoice %s cannot be opened as it is, edit it first: %v", i.Number, err)
			}
			return i, err
		}
		var err error
		i.Status = Open
		i.EntryID, err = s.bookOpening(ctx, tx, b, i)
		return i, err
	})
}

// Void makes an invoice void, which is final, and reverses its entries. An invoice of which something is settled cannot become void.
func (s *Service) Void(ctx context.Context, invoiceID, reason string) (Invoice, error) {
	return s.change(ctx, invoiceID, "invoice.voided", func(ctx context.Context, tx *db.Tx, _ *snapshot.Books, i Invoice) (Invoice, error) {
		if utf8.RuneCountInString(reason) > reasonMax {
			return i, fault.Invalidf("reason", "must have at most %d characters", reasonMax)
		}
		switch {
		case i.Status == Void:
			return i, fault.Conflictf("the invoice %s is void already", i.Number)
		case i.Status == Paid || !i.AmountDue.Equal(i.Total):
			return i, fault.Conflictf("%s of the invoice %s are settled: void the cash applications and credit notes that settle it first",
				i.Total.Sub(i.AmountDue).Fixed(i.Currency), i.Number)
		}
		if err := s.requireFree(ctx, tx, i); err != nil {
			return i, err
		}
		for _, entryID := range []string{i.WriteOffID, i.EntryID} {
			if entryID == "" {
				continue
			}
			if err := s.reverse(ctx, tx, entryID); err != nil {
				return i, err
			}
		}
		i.Status, i.AmountDue, i.VoidReason = Void, money.Decimal{}, reason
		return i, nil
	})
}

// WriteOffParams say how an invoice is written off.
type WriteOffParams struct {
	AccountID string // the expense; empty: bad debts
	Date      string // the accounting date: a date in the organization's time zone, or an instant; empty: today
}

// MarkUncollectible marks an open invoice as uncollectible and writes off what is due on it.
func (s *Service) MarkUncollectible(ctx context.Context, invoiceID string, p WriteOffParams) (Invoice, error) {
	return s.change(ctx, invoiceID, "invoice.marked_uncollectible",
		func(ctx context.Context, tx *db.Tx, b *snapshot.Books, i Invoice) (Invoice, error) {
			r := &resolver{tx: tx, books: b}
			if p.AccountID != "" {
				foreign, err := source.ForeignAccounts(ctx, tx, []string{p.AccountID})
				if err != nil {
					return i, err
				}
				r.account("ledger_account_id", p.AccountID, foreign, writeOffTypes)
			}
			date := r.accountingDate("accounting_date", p.Date, i.Date)
			if err := r.faults.Err(); err != nil {
				return i, err
			}
			if i.Status != Open {
				return i, fault.Conflictf("the invoice %s is %s: only an open one can be marked as uncollectible", i.Number, i.Status)
			}
			if err := s.requireFree(ctx, tx, i); err != nil {
				return i, err
			}
			control, err := roleAccount(ctx, tx, b, account.RoleTradeReceivable)
			if err != nil {
				return i, err
			}
			expense := p.AccountID
			if expense == "" {
				if expense, err = roleAccount(ctx, tx, b, account.RoleBadDebt); err != nil {
					return i, err
				}
			}
			lines, err := i.writeOff(ctx, tx, b, expense, control, date)
			if err != nil {
				return i, err
			}
			i.Status = Uncollectible
			i.WriteOffID, err = s.book(ctx, tx, i, journal.ByInvoice, date, "Invoice "+i.Number+" is uncollectible, "+i.CustomerName, lines)
			if err != nil {
				return i, err
			}
			return i, RecordMovement(ctx, tx, i.ID, i.WriteOffID, i.AmountDue.Neg())
		})
}

// writeOffTypes are the types of accounts to which an invoice is written off: an expense, or the allowance for doubtful accounts.
var writeOffTypes = []account.Type{account.Expense, account.Asset}

// Reopen opens an uncollectible invoice again and reverses the entry that wrote it off.
func (s *Service) Reopen(ctx context.Context, invoiceID string) (Invoice, error) {
	return s.change(ctx, invoiceID, "invoice.reopened", func(ctx context.Context, tx *db.Tx, _ *snapshot.Books, i Invoice) (Invoice, error) {
		if i.Status != Uncollectible {
			return i, fault.Conflictf("the invoice %s is %s: only an uncollectible one can be reopened", i.Number, i.Status)
		}
		if err := s.reverse(ctx, tx, i.WriteOffID); err != nil {
			return i, err
		}
		i.Status, i.WriteOffID = Open, ""
		return i, nil
	})
}

// Settle takes a positive amount off what is due on an open invoice, which is paid when nothing is left, or adds back a negative one,
// so that a paid invoice is open again; the latter only on an invoice of the organization itself. It locks the invoice, so that of two
// that settle more than is due the second gets an error of kind Conflict. The caller posts the entry that credits the control account. It
// runs in the caller's transaction.
func Settle(ctx context.Context, tx *db.Tx, invoiceID string, amount money.Decimal) (Invoice, error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return Invoice{}, err
	}
	before, err := findToChange(ctx, tx, invoiceID)
	if err != nil {
		return before, err
	}
	return SettleLocked(ctx, tx, before, amount)
}

// SettleLocked is Settle for an invoice that FindSome has returned in the same transaction.
func SettleLocked(ctx context.Context, tx *db.Tx, before Invoice, amount money.Decimal) (Invoice, error) {
	after := before
	after.AmountDue = before.AmountDue.Sub(amount)
	switch {
	case before.Mirrored() && amount.Sign() < 0:
		return before, fault.Conflictf("the invoice %s is kept by %s: what is due on it follows from what that states", before.Number,
			before.Provider)
	case before.Status != Open && (before.Status != Paid || amount.Sign() > 0):
		return before, fault.Conflictf("the invoice %s is %s: nothing can be applied to it", before.Number, before.Status)
	case after.AmountDue.Sign() < 0:
		return before, fault.Conflictf("%s is due on the invoice %s, which is less than %s", before.AmountDue.Fixed(before.Currency),
			before.Number, amount.Fixed(before.Currency))
	case after.AmountDue.Cmp(before.Total) > 0:
		return before, fault.Conflictf("%s of the invoice %s are settled, which is less than %s",
			before.Total.Sub(before.AmountDue).Fixed(before.Currency), before.Number, amount.Neg().Fixed(before.Currency))
	case !amount.Equal(amount.RoundTo(before.Currency)):
		return before, fault.Conflictf("%s has more decimals than %s", amount, before.Currency)
	case amount.IsZero():
		return before, nil
	}
	if after.Status = Open; after.AmountDue.IsZero() {
		after.Status = Paid
	}
	if before.Mirrored() {
		after = before.settled(before.Stated.AmountDue.Sub(before.AmountDue).Add(amount))
	}
	return saveDue(ctx, tx, before, after)
}

// saveDue stores what is due on an invoice, and its status, and records the change.
func saveDue(ctx context.Context, tx *db.Tx, before, after Invoice) (Invoice, error) {
	now := tx.Now()
	after.UpdatedAt = &now
	if err := updateDue(ctx, tx, after); err != nil {
		return after, err
	}
	record(ctx, tx, "invoice.settled", before, after)
	return after, nil
}
