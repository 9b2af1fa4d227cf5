package journal

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// UnitQuery asks for the balance of an asset or a foreign currency on an account of a legal entity.
type UnitQuery struct {
	LegalEntityID, LedgerAccountID, Unit string
	// At is the time up to which entries count. If its period is closed, it is the beginning of the first open period, where an
	// entry of that time is posted.
	At time.Time
	// ExceptTransactionID is a transaction whose entries do not count.
	ExceptTransactionID string
}

// UnitBalance returns a quantity and its carrying amount in the base currency, debits less credits. It adds up the balances of
// earlier periods and the lines of the last one. It runs in the caller's transaction.
func UnitBalance(ctx context.Context, tx *db.Tx, b *snapshot.Books, q UnitQuery) (balance.Unit, error) {
	month := calendar.MonthOf(q.At, b.Zone)
	if through := b.ClosedThrough(q.LegalEntityID); month.Key() <= through {
		last, err := calendar.ParseKey(through)
		if err != nil {
			return balance.Unit{}, err
		}
		month = last.Next()
		q.At = month.Start(b.Zone)
	}
	var sum balance.Unit
	before, err := balance.UnitsOf(ctx, tx, q.LegalEntityID, q.LedgerAccountID, q.Unit)
	if err != nil {
		return sum, err
	}
	for id, u := range before {
		if p, there := b.PeriodByID(id); there && p.Key < month.Key() {
			sum.Quantity, sum.Amount = sum.Quantity.Add(u.Quantity), sum.Amount.Add(u.Amount)
		}
	}
	within, err := selectUnitLines(ctx, tx, q, month.Start(b.Zone))
	if err != nil {
		return sum, err
	}
	own, err := selectUnitLinesOf(ctx, tx, q)
	if err != nil {
		return sum, err
	}
	for _, r := range within {
		sum = r.addTo(sum, 1)
	}
	for _, r := range own {
		sum = r.addTo(sum, -1)
	}
	pending := balance.Units{}
	for _, e := range stateOf(tx).entries { // entries that are not written yet
		if e.Status == Posted && !e.AccountingDate.After(q.At) && (e.TransactionID == "" || e.TransactionID != q.ExceptTransactionID) {
			e.addUnits(pending, false)
		}
	}
	for k, u := range pending {
		if k.Entity == q.LegalEntityID && k.Account == q.LedgerAccountID && k.Unit == q.Unit {
			sum.Quantity, sum.Amount = sum.Quantity.Add(u.Quantity), sum.Amount.Add(u.Amount)
		}
	}
	return sum, nil
}
