package journal

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// MoveToPeriod moves the entries of a range of dates to another period and returns how many there were. A draft that has no period
// yet gets none. It runs in the caller's transaction.
func MoveToPeriod(ctx context.Context, tx *db.Tx, m period.Reassignment) (int64, error) {
	return tx.Exec(ctx, `UPDATE journal_entries SET accounting_period_id = ?, updated_at = ?
		WHERE organization_id = @org AND accounting_date >= ? AND accounting_date < ? AND accounting_period_id = ?`, m.ToID, tx.Now(),
		m.Start, m.End, m.FromID)
}

// DraftsOfTransactions returns the ids of the drafts that book transactions and are dated from a time on, in the order of their dates.
// It runs in the caller's transaction.
func DraftsOfTransactions(ctx context.Context, tx *db.Tx, from time.Time) ([]string, error) {
	return db.All[string](ctx, tx,
		`SELECT journal_entry_id FROM journal_entries WHERE organization_id = @org AND status = 'draft' AND accounting_date >= ?
		AND {unindexed}transaction_id IS NOT NULL ORDER BY accounting_date, number`, from)
}

// SideAmount is the debit or credit of a line on an account, in the currency of the line.
type SideAmount struct {
	EntryID   string        `db:"journal_entry_id"`
	AccountID string        `db:"ledger_account_id"`
	Side      string        `db:"credit_or_debit"`
	Amount    money.Decimal `db:"amount"`
}

// SideAmounts returns the debits and credits of some entries, by entry and in the order of the lines. It runs in the caller's
// transaction.
func SideAmounts(ctx context.Context, tx *db.Tx, entryIDs []string) ([]SideAmount, error) {
	return db.All[SideAmount](ctx, tx, "SELECT "+db.Columns[SideAmount]()+
		" FROM journal_lines WHERE organization_id = @org AND journal_entry_id {any} ORDER BY journal_entry_id, position", entryIDs)
}
