package balance

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// UnitsOf returns the quantities of one asset or foreign currency on an account of a legal entity, by accounting period. It runs in
// the caller's transaction.
func UnitsOf(ctx context.Context, tx *db.Tx, legalEntityID, ledgerAccountID, unit string) (map[string]Unit, error) {
	rows, err := db.All[struct {
		PeriodID string        `db:"accounting_period_id"`
		Quantity money.Decimal `db:"quantity"`
		Amount   money.Decimal `db:"amount"`
	}](ctx, tx, `SELECT accounting_period_id, quantity, amount FROM account_units
		WHERE organization_id = @org AND legal_entity_id = ? AND ledger_account_id = ? AND unit = ?`, legalEntityID, ledgerAccountID, unit)
	out := make(map[string]Unit, len(rows))
	for _, r := range rows {
		out[r.PeriodID] = Unit{r.Quantity, r.Amount}
	}
	return out, err
}

// AmountsInUnits returns the amounts of all units but one on an account of a legal entity, debits less credits, by accounting
// period. It runs in the caller's transaction.
func AmountsInUnits(ctx context.Context, tx *db.Tx, legalEntityID, ledgerAccountID, exceptUnit string) (map[string]money.Decimal, error) {
	rows, err := db.All[struct {
		PeriodID string        `db:"accounting_period_id"`
		Amount   money.Decimal `db:"amount"`
	}](ctx, tx, `SELECT accounting_period_id, {dec_sum}(amount) AS amount FROM account_units
		WHERE organization_id = @org AND legal_entity_id = ? AND ledger_account_id = ? AND unit <> ? GROUP BY accounting_period_id`,
		legalEntityID, ledgerAccountID, exceptUnit)
	out := make(map[string]money.Decimal, len(rows))
	for _, r := range rows {
		out[r.PeriodID] = r.Amount
	}
	return out, err
}

// QuantitiesOn returns the quantity of each asset and foreign currency on an account, over all legal entities and periods. It runs in
// the caller's transaction.
func QuantitiesOn(ctx context.Context, tx *db.Tx, ledgerAccountID string) (map[string]money.Decimal, error) {
	rows, err := db.All[struct {
		Unit     string        `db:"unit"`
		Quantity money.Decimal `db:"quantity"`
	}](ctx, tx, `SELECT unit, {dec_sum}(quantity) AS quantity FROM account_units WHERE organization_id = @org AND ledger_account_id = ?
		GROUP BY unit`, ledgerAccountID)
	out := make(map[string]money.Decimal, len(rows))
	for _, r := range rows {
		out[r.Unit] = r.Quantity
	}
	return out, err
}

// EntityUnit is the balance of an account of a legal entity in a unit, debits less credits, over all periods.
type EntityUnit struct {
	LegalEntityID string        `db:"legal_entity_id"`
	Unit          string        `db:"unit"`
	Quantity      money.Decimal `db:"quantity"`
	Amount        money.Decimal `db:"amount"`
}

// UnitsOn returns the balances of an account in each asset and foreign currency, by legal entity. It runs in the caller's transaction.
func UnitsOn(ctx context.Context, tx *db.Tx, ledgerAccountID string) ([]EntityUnit, error) {
	return db.All[EntityUnit](ctx, tx, `SELECT legal_entity_id, unit, {dec_sum}(quantity) AS quantity, {dec_sum}(amount) AS amount
		FROM account_units WHERE organization_id = @org AND ledger_account_id = ? GROUP BY legal_entity_id, unit`, ledgerAccountID)
}
