package journal

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Movement is what a posted entry adds to an account, debits less credits, in the base currency.
type Movement struct {
	At     time.Time
	Amount money.Decimal
}

type movementRow struct {
	At     time.Time     `db:"accounting_date"`
	Side   string        `db:"credit_or_debit"`
	Amount money.Decimal `db:"base_amount"`
}

// Between returns what posted entries with lines of two accounts add to the first one in the books of a legal entity, of the latest entries
// of the other one up to an instant. It is a building block and does not check what the actor may see.
func Between(
	ctx context.Context, tx *db.Tx, legalEntityID, accountID, otherID string, at time.Time, limit int,
) ([]Movement, error) {
	rows, err := db.All[movementRow](ctx, tx, `SELECT l.accounting_date, l.credit_or_debit, l.base_amount FROM (
			SELECT DISTINCT journal_entry_id, accounting_date, number FROM journal_lines WHERE organization_id = @org AND ledger_account_id = ?
			AND accounting_date <= ? AND is_posted ORDER BY accounting_date DESC, number DESC LIMIT ?) o
		JOIN journal_lines l ON l.organization_id = @org AND l.journal_entry_id = o.journal_entry_id
		WHERE l.ledger_account_id = ? AND l.legal_entity_id = ? AND l.is_posted`, otherID, at, limit, accountID, legalEntityID)
	out := make([]Movement, len(rows))
	for n, r := range rows {
		if out[n] = (Movement{r.At, r.Amount}); book.Side(r.Side) == book.Credit {
			out[n].Amount = r.Amount.Neg()
		}
	}
	return out, err
}
