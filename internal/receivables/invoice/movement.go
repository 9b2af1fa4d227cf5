package invoice

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// RecordMovement records what a posted entry changes about an invoice that is booked here, or about the credit note of a customer: a
// positive amount adds to what is due. Together with the dates of the entries, movements say what was due on any day. It runs in the
// caller's transaction.
func RecordMovement(ctx context.Context, tx *db.Tx, documentID, entryID string, amount money.Decimal) error {
	return RecordMovements(ctx, tx, Moved{documentID, entryID, amount})
}

// RecordMovements is RecordMovement for several. It runs in the caller's transaction.
func RecordMovements(ctx context.Context, tx *db.Tx, all ...Moved) error {
	return db.Insert(ctx, tx, movementTable, all...)
}

// reverseMovements records the opposite of what an entry changes for its reversal.
func reverseMovements(ctx context.Context, tx *db.Tx, entryID, reversalID string) error {
	moved, err := selectMovementsOf(ctx, tx, entryID)
	if err != nil || len(moved) == 0 {
		return err
	}
	for n := range moved {
		moved[n].EntryID, moved[n].Amount = reversalID, moved[n].Amount.Neg()
	}
	return db.Insert(ctx, tx, movementTable, moved...)
}

// verifyMovements returns a sentence for each document whose movements do not add up to what is due on it, which is in open, and for each
// instant at which they are not what is booked to the control account. An entry that was replaced by a correction of lots keeps its
// movements: its reversal and its replacement have its date.
func verifyMovements(ctx context.Context, tx *db.Tx, open map[string]money.Decimal) (out []string, err error) {
	sums, err := selectDocumentSums(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, s := range sums {
		open[s.ID] = open[s.ID].Sub(s.Amount)
	}
	for _, id := range slices.Sorted(maps.Keys(open)) {
		if !open[id].IsZero() {
			out = append(out, fmt.Sprintf("receivables: the entries of %s do not add up to what is due on it, the difference is %s", id, open[id]))
		}
	}
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	control := b.Roles()[account.RoleTradeReceivable]
	moved, err := selectMovedByDate(ctx, tx, control)
	if err != nil {
		return nil, err
	}
	booked, err := selectControlByDate(ctx, tx, control)
	if err != nil {
		return nil, err
	}
	differences := map[time.Time]money.Decimal{} // what no line of the control account belongs to has no date
	for _, m := range moved {
		var at time.Time
		if m.Date != nil {
			at = *m.Date
		}
		differences[at] = differences[at].Add(m.Amount)
	}
	for _, l := range booked {
		if l.Side == string(book.Debit) {
			l.Amount = l.Amount.Neg()
		}
		differences[l.Date] = differences[l.Date].Add(l.Amount)
	}
	for _, at := range slices.SortedFunc(maps.Keys(differences), time.Time.Compare) {
		if !differences[at].IsZero() {
			out = append(out, fmt.Sprintf("receivables: what is due on invoices changes at %s by %s more than trade receivables do",
				clock.Format(at), differences[at]))
		}
	}
	return out, nil
}

// Receivable is what was due on an invoice on some day, or what was left of the credit note of a customer, which is negative.
type Receivable struct {
	DocumentID    string
	Number        string
	CreditNote    bool
	CustomerID    string
	LegalEntityID string
	Currency      string
	Date          time.Time
	DueDate       time.Time // of a credit note its date
	Amount        money.Decimal
}

// ReceivablesFilter narrows receivables by every field that is not empty.
type ReceivablesFilter struct {
	LegalEntityIDs []string
	CustomerIDs    []string
	DocumentID     string
	Currency       string
}

// Receivables returns what was due on the invoices that are booked here, and what was left of the credit of customers, before an instant,
// in the order of due dates. It takes what is due now and undoes the entries since, so that its cost depends on those and not on the age of
// the books. It runs in the caller's transaction.
func Receivables(ctx context.Context, tx *db.Tx, f ReceivablesFilter, before time.Time) ([]Receivable, error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil || b.Roles()[account.RoleTradeReceivable] == "" {
		return nil, err
	}
	moved, err := selectMovementsSince(ctx, tx, b.Roles()[account.RoleTradeReceivable], before)
	if err != nil {
		return nil, err
	}
	since := make(map[string]money.Decimal, len(moved))
	for _, m := range moved {
		since[m.DocumentID] = since[m.DocumentID].Add(m.Amount)
	}
	found, err := selectReceivables(ctx, tx, f, slices.Sorted(maps.Keys(since)))
	if err != nil {
		return nil, err
	}
	var out []Receivable
	for _, r := range found {
		if r.Amount = r.Amount.Sub(since[r.DocumentID]); !r.Amount.IsZero() {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Receivable) int {
		if c := a.DueDate.Compare(b.DueDate); c != 0 {
			return c
		}
		if a.DocumentID < b.DocumentID {
			return -1
		}
		return 1
	})
	return out, nil
}
