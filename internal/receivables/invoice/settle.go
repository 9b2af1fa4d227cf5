package invoice

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// FindSome returns those of some invoices that the actor may see, by their ids, and locks them until the end of the database transaction.
// It runs in the caller's transaction.
func FindSome(ctx context.Context, tx *db.Tx, ids []string) (map[string]Invoice, error) {
	found, err := findSome(ctx, tx, ids, "{for_update}")
	for id, i := range found {
		if !i.visible(actor.From(ctx)) {
			delete(found, id)
		}
	}
	return found, err
}

// FindSomeUnchecked returns invoices by their ids, without checking that the actor may see them. It runs in the caller's transaction.
func FindSomeUnchecked(ctx context.Context, tx *db.Tx, ids []string) (map[string]Invoice, error) {
	return findSome(ctx, tx, ids, "")
}

func findSome(ctx context.Context, tx *db.Tx, ids []string, lock string) (map[string]Invoice, error) {
	out := make(map[string]Invoice, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	found, err := selectSome(ctx, tx, ids, lock)
	for _, i := range found {
		out[i.ID] = i
	}
	return out, err
}

// ControlAccount returns the id of the control account of receivables. It runs in the caller's transaction.
func ControlAccount(ctx context.Context, tx *db.Tx, b *snapshot.Books) (string, error) {
	return roleAccount(ctx, tx, b, account.RoleTradeReceivable)
}

// WriteOffAccount returns the id of the account of bad debts. It runs in the caller's transaction.
func WriteOffAccount(ctx context.Context, tx *db.Tx, b *snapshot.Books) (string, error) {
	return roleAccount(ctx, tx, b, account.RoleBadDebt)
}

// SettledByPayments returns what payments have settled of the invoices of the organization itself, by their ids: what is no longer due,
// less credit notes. Invoices of which they have settled nothing are left out. It runs in the caller's transaction.
func SettledByPayments(ctx context.Context, tx *db.Tx) (map[string]money.Decimal, error) {
	out := map[string]money.Decimal{}
	err := forEach(ctx, tx, func(chunk []Invoice) error {
		for _, i := range chunk {
			if settled := i.Total.Sub(i.AmountDue); !i.Mirrored() && i.Status != Void && !settled.IsZero() {
				out[i.ID] = settled
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = forEachCreditNote(ctx, tx, func(chunk []CreditNote) error {
		for _, c := range chunk {
			if c.InvoiceID == "" || c.Status != Issued {
				continue
			}
			if out[c.InvoiceID] = out[c.InvoiceID].Sub(c.Total); out[c.InvoiceID].IsZero() {
				delete(out, c.InvoiceID)
			}
		}
		return nil
	})
	return out, err
}

// Matching returns the invoice in the form that deposits are matched with.
func (i Invoice) Matching() match.Invoice {
	return match.Invoice{ID: i.ID, Number: i.Number, CustomerID: i.CustomerID, LegalEntityID: i.LegalEntityID, Status: match.Status(i.Status),
		Currency: i.Currency, Total: i.Total, AmountDue: i.AmountDue, IssueDate: i.Date, DueDate: i.DueDate}
}

// Pool describes the invoices that some deposits may pay.
type Pool struct {
	LegalEntityIDs []string // besides invoices of none
	Currency       string
	Until          time.Time // the latest date of an invoice
}

// CountPool counts the open invoices of a pool that the actor may see. It runs in the caller's transaction.
func CountPool(ctx context.Context, tx *db.Tx, p Pool) (int, error) {
	return selectPoolSize(ctx, tx, p, !actor.From(ctx).Limited())
}

// CustomerTotal is what a customer may have paid before.
type CustomerTotal struct {
	CustomerID string
	Total      money.Decimal
}

// OpenOf returns the open invoices of some customers, in no particular order: if there are more than a limit, the oldest. It runs in the
// caller's transaction.
func OpenOf(ctx context.Context, tx *db.Tx, customers []string, currency string, limit int) ([]match.Invoice, error) {
	return selectOpenOf(ctx, tx, customers, currency, limit)
}

// PaidWith returns the paid invoices of customers with given totals, up to a limit. It runs in the caller's transaction.
func PaidWith(ctx context.Context, tx *db.Tx, totals []CustomerTotal, currency string, limit int) ([]match.Invoice, error) {
	return selectPaidWith(ctx, tx, totals, currency, limit)
}

// WithAmountDue returns the open invoices of a pool on which an amount in one of some ranges is due, up to a limit. It runs in the caller's
// transaction.
func WithAmountDue(ctx context.Context, tx *db.Tx, p Pool, ranges []Range, limit int) ([]match.Invoice, error) {
	return selectWithAmountDue(ctx, tx, p, ranges, limit)
}

// NumbersUnchecked returns the numbers of invoices by their ids, without checking that the actor may see them. It runs in the caller's
// transaction.
func NumbersUnchecked(ctx context.Context, tx *db.Tx, ids []string) (map[string]string, error) {
	return selectNumbers(ctx, tx, ids)
}

// Numbered returns the invoices whose numbers memos may name, and whether there are more than a limit. It runs in the caller's transaction.
func Numbered(ctx context.Context, tx *db.Tx, l match.Lookup, limit int) ([]match.Invoice, bool, error) {
	return selectLookedUp(ctx, tx, l, limit)
}
