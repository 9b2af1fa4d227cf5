package balance

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// ClosingUnits is the balance of an account in a unit at the end of a period, debits less credits.
type ClosingUnits struct {
	AccountID string        `db:"ledger_account_id"`
	Unit      string        `db:"unit"`
	Quantity  money.Decimal `db:"quantity"`
	Amount    money.Decimal `db:"amount"`
}

// UnitsThrough returns the balances in units of a legal entity at the end of the period with a key, by unit and account. It is a
// building block.
func UnitsThrough(ctx context.Context, tx *db.Tx, legalEntityID, key string) ([]ClosingUnits, error) {
	return db.All[ClosingUnits](ctx, tx,
		`SELECT u.ledger_account_id, u.unit, {dec_sum}(u.quantity) AS quantity, {dec_sum}(u.amount) AS amount FROM account_units u
		JOIN accounting_periods a ON a.organization_id = @org AND a.accounting_period_id = u.accounting_period_id AND a.key <= ?
		WHERE u.organization_id = @org AND u.legal_entity_id = ? GROUP BY u.ledger_account_id, u.unit ORDER BY u.unit,
		u.ledger_account_id`, key, legalEntityID)
}

// Through returns the balances of accounts of a legal entity at the end of the period with a key, debits less credits. Accounts
// without entries are left out. It is a building block.
func Through(ctx context.Context, tx *db.Tx, legalEntityID, key string, accountIDs []string) (map[string]money.Decimal, error) {
	rows, err := db.All[struct {
		AccountID string        `db:"ledger_account_id"`
		Debits    money.Decimal `db:"debits"`
		Credits   money.Decimal `db:"credits"`
	}](ctx, tx,
		`SELECT b.ledger_account_id, {dec_sum}(b.debits) AS debits, {dec_sum}(b.credits) AS credits FROM account_balances b
		JOIN accounting_periods a ON a.organization_id = @org AND a.accounting_period_id = b.accounting_period_id AND a.key <= ?
		WHERE b.organization_id = @org AND b.tag_id = '' AND b.legal_entity_id = ? AND b.ledger_account_id {any} GROUP BY
		b.ledger_account_id`, key, legalEntityID, accountIDs)
	out := make(map[string]money.Decimal, len(rows))
	for _, r := range rows {
		out[r.AccountID] = r.Debits.Sub(r.Credits)
	}
	return out, err
}
