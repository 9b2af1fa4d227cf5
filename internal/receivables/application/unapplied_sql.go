package application

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type availableRow struct {
	DepositID string        `db:"deposit_transaction_id"`
	Currency  string        `db:"currency"`
	Amount    money.Decimal `db:"amount"`
}

// selectAvailable reads what is available of deposits, and what applications that wait for a review will use of it.
func selectAvailable(ctx context.Context, tx *db.Tx) ([]availableRow, error) {
	return db.All[availableRow](ctx, tx, `SELECT deposit_transaction_id, currency, available_amount AS amount FROM cash_applications
		WHERE organization_id = @org AND available_amount <> '0'
		UNION ALL SELECT deposit_transaction_id, currency, total_amount AS amount FROM cash_applications
		WHERE organization_id = @org AND {rare}(status = 'pending') AND source_application_id IS NOT NULL`)
}

// selectAllOfDeposits reads all applications of some deposits in the order of their ids.
func selectAllOfDeposits(ctx context.Context, tx *db.Tx, transactionIDs []string) ([]Application, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND deposit_transaction_id {any} ORDER BY cash_application_id", transactionIDs)
	if err != nil {
		return nil, err
	}
	return applicationsOf(ctx, tx, rows)
}

// byApplication is the condition for an entry e of an application, or the reversal of one; o is the entry before it in its chain.
const byApplication = "(e.originated_by = 'cash_application' OR e.originated_by = 'reversal' AND o.originated_by = 'cash_application')"

type unappliedRow struct {
	DepositID     string        `db:"deposit_transaction_id"`
	LegalEntityID string        `db:"legal_entity_id"`
	Unit          *string       `db:"unit"`
	Side          string        `db:"credit_or_debit"`
	Quantity      money.Decimal `db:"quantity"`
}

// selectUnappliedSince reads what the entries of applications, and their reversals, have booked to the account of unapplied cash from an
// instant on. An entry that books a deposit has its transaction, and one that books the use of its rest, or a payment that went back, is
// named by the application: such a payment may have been booked for another deposit before. Lines of revaluations have a unit without a
// quantity.
func selectUnappliedSince(ctx context.Context, tx *db.Tx, accountID string, from time.Time) ([]unappliedRow, error) {
	return db.All[unappliedRow](ctx, tx, `SELECT COALESCE(s.deposit_transaction_id,
		v.deposit_transaction_id, e.transaction_id, a.deposit_transaction_id, u.deposit_transaction_id, '') AS deposit_transaction_id,
		l.legal_entity_id, l.unit, l.credit_or_debit, {dec_sum}(CASE WHEN l.unit IS NULL THEN l.amount ELSE l.quantity END) AS quantity
		FROM journal_lines l
		JOIN journal_entries e ON e.organization_id = @org AND e.journal_entry_id = l.journal_entry_id
		LEFT JOIN journal_entries o ON o.organization_id = @org AND o.journal_entry_id = e.previous_entry_id
		LEFT JOIN cash_applications a ON a.organization_id = @org AND a.journal_entry_id = e.journal_entry_id
		LEFT JOIN cash_applications u ON u.organization_id = @org AND u.journal_entry_id = e.previous_entry_id
		LEFT JOIN cash_applications s ON s.organization_id = @org AND s.cash_application_id = a.source_application_id
		LEFT JOIN cash_applications v ON v.organization_id = @org AND v.cash_application_id = u.source_application_id
		WHERE l.organization_id = @org AND l.ledger_account_id = ? AND l.accounting_date >= ? AND l.is_posted = ?
		AND (l.unit IS NULL OR l.quantity IS NOT NULL) AND `+byApplication+`
		GROUP BY 1, 2, 3, 4`, accountID, from, true)
}

type paymentBackRow struct {
	PaymentID string  `db:"payment_id"`
	DepositID string  `db:"deposit_transaction_id"`
	EntryID   *string `db:"journal_entry_id"` // that was posted first
	Status    string  `db:"status"`
}

// selectPaymentsBack reads which payments went back of which deposits: r selects them by the payments, and s by the deposits.
func selectPaymentsBack(ctx context.Context, tx *db.Tx, by string, transactionIDs []string) ([]paymentBackRow, error) {
	return db.All[paymentBackRow](ctx, tx, "SELECT r.deposit_transaction_id AS payment_id, s.deposit_transaction_id, "+
		"r.journal_entry_id, r.status "+
		"FROM cash_applications r JOIN cash_applications s ON s.organization_id = @org AND s.cash_application_id = r.source_application_id "+
		"WHERE r.organization_id = @org AND "+by+".deposit_transaction_id {any} AND r.deposit_transaction_id <> s.deposit_transaction_id "+
		"ORDER BY r.cash_application_id", transactionIDs)
}

// selectEntriesOfDeposit reads the ids of the entries that applications of a deposit and of the payments that went back made, and of their
// reversals.
func selectEntriesOfDeposit(ctx context.Context, tx *db.Tx, transactionIDs []string) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT e.journal_entry_id FROM journal_entries e
		LEFT JOIN journal_entries o ON o.organization_id = @org AND o.journal_entry_id = e.previous_entry_id
		WHERE e.organization_id = @org AND e.transaction_id {any} AND `+byApplication+`
		UNION SELECT a.journal_entry_id FROM cash_applications a
		WHERE a.organization_id = @org AND a.deposit_transaction_id {any} AND a.journal_entry_id IS NOT NULL
		UNION SELECT r.next_entry_id FROM cash_applications u
		JOIN journal_entries r ON r.organization_id = @org AND r.journal_entry_id = u.journal_entry_id
		WHERE u.organization_id = @org AND u.deposit_transaction_id {any} AND r.next_entry_id IS NOT NULL`,
		transactionIDs, transactionIDs, transactionIDs)
}

// selectPending reads the applications that wait for their review, of deposits before an instant, without their allocations.
func selectPending(ctx context.Context, tx *db.Tx, before time.Time) ([]Application, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND {rare}(status = 'pending') AND txn_date < ? ORDER BY cash_application_id", before)
	out := make([]Application, len(rows))
	for n, r := range rows {
		out[n] = r.application()
	}
	return out, err
}
