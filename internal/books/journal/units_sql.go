package journal

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// unitSide is the sum of the debits or of the credits of lines.
type unitSide struct {
	Side     string        `db:"credit_or_debit"`
	Quantity money.Decimal `db:"quantity"`
	Amount   money.Decimal `db:"amount"`
}

func (r unitSide) addTo(sum balance.Unit, sign int64) balance.Unit {
	n := money.FromInt(sign)
	if r.Side == string(book.Credit) {
		n = n.Neg()
	}
	return balance.Unit{Quantity: sum.Quantity.Add(r.Quantity.Mul(n)), Amount: sum.Amount.Add(r.Amount.Mul(n))}
}

// linesOf returns the condition on the lines of a query, and their quantity. Lines in the base currency have no unit.
func (q UnitQuery) linesOf(inBase bool) (condition, quantity string) {
	switch {
	case q.Unit == "":
		return "CAST(? AS TEXT) = ''", "l.base_amount"
	case inBase:
		return "(l.unit IS NULL OR l.unit = ?)", "l.base_amount"
	}
	return "l.unit = ?", "l.quantity"
}

type datedSide struct {
	unitSide
	Date time.Time `db:"accounting_date"`
}

// selectUnitLinesAfter adds up the lines of posted entries after the time of the query, by date, without those of the transaction that
// does not count.
func selectUnitLinesAfter(ctx context.Context, tx *db.Tx, q UnitQuery, inBase bool) ([]datedSide, error) {
	condition, quantity := q.linesOf(inBase)
	return db.All[datedSide](ctx, tx, `SELECT l.accounting_date, l.credit_or_debit, {dec_sum}(`+quantity+`) AS quantity,
		{dec_sum}(l.base_amount) AS amount FROM journal_lines AS l WHERE l.organization_id = @org AND l.ledger_account_id = ?
		AND l.accounting_date > ? AND {unindexed}l.legal_entity_id = ? AND `+condition+` AND l.is_posted
		AND l.journal_entry_id NOT IN (SELECT e.journal_entry_id FROM journal_entries AS e
			WHERE e.organization_id = @org AND e.transaction_id = ?)
		GROUP BY l.accounting_date, l.credit_or_debit`, q.LedgerAccountID, q.At, q.LegalEntityID, q.Unit, q.ExceptTransactionID)
}

// selectUnitLines adds up the lines of posted entries from a time on.
func selectUnitLines(ctx context.Context, tx *db.Tx, q UnitQuery, inBase bool, from time.Time) ([]unitSide, error) {
	condition, quantity := q.linesOf(inBase)
	return db.All[unitSide](ctx, tx, `SELECT l.credit_or_debit, {dec_sum}(`+quantity+`) AS quantity, {dec_sum}(l.base_amount) AS amount
		FROM journal_lines AS l WHERE l.organization_id = @org AND l.ledger_account_id = ? AND l.accounting_date >= ?
		AND l.accounting_date <= ? AND {unindexed}l.legal_entity_id = ? AND `+condition+` AND l.is_posted GROUP BY l.credit_or_debit`,
		q.LedgerAccountID, from, q.At, q.LegalEntityID, q.Unit)
}

// selectUnitLinesOf adds up the lines of posted entries of the transaction that does not count.
func selectUnitLinesOf(ctx context.Context, tx *db.Tx, q UnitQuery, inBase bool) ([]unitSide, error) {
	condition, quantity := q.linesOf(inBase)
	return db.All[unitSide](ctx, tx, `SELECT l.credit_or_debit, {dec_sum}(`+quantity+`) AS quantity, {dec_sum}(l.base_amount) AS amount
		FROM journal_entries e JOIN journal_lines l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
		WHERE e.organization_id = @org AND e.transaction_id = ? AND l.accounting_date <= ? AND l.ledger_account_id = ?
		AND l.legal_entity_id = ? AND `+condition+` AND l.is_posted GROUP BY l.credit_or_debit`,
		q.ExceptTransactionID, q.At, q.LedgerAccountID, q.LegalEntityID, q.Unit)
}

// selectLastSettling reads the id of the last posted entry with a line on a side from the time of the query on, if there is one.
func selectLastSettling(ctx context.Context, tx *db.Tx, q UnitQuery, inBase bool, side book.Side) ([]string, error) {
	condition, _ := q.linesOf(inBase)
	return db.All[string](ctx, tx, `SELECT e.journal_entry_id FROM journal_lines AS l JOIN journal_entries AS e
		ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id
		WHERE l.organization_id = @org AND l.ledger_account_id = ? AND l.accounting_date >= ? AND {unindexed}l.legal_entity_id = ?
		AND `+condition+` AND l.is_posted AND l.credit_or_debit = ? AND (l.quantity IS NULL OR l.quantity <> '0')
		AND e.next_entry_id IS NULL AND e.originated_by <> ? ORDER BY l.accounting_date DESC, l.number DESC LIMIT 1`,
		q.LedgerAccountID, q.At, q.LegalEntityID, q.Unit, string(side), ByReversal)
}
