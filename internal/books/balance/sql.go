// Package balance keeps the sums of posted lines by legal entity, account, accounting period and tag, so that reports need not
// read the lines. It also keeps the quantities of assets and foreign currencies on accounts. The journal updates both with
// every posting.
package balance

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

type row struct {
	TagID           string        `db:"tag_id"`
	LegalEntityID   string        `db:"legal_entity_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	PeriodID        string        `db:"accounting_period_id"`
	Debits          money.Decimal `db:"debits"`
	Credits         money.Decimal `db:"credits"`
}

// Add adds movements to the balances. It writes them in the order of their keys, so that concurrent transactions cannot deadlock.
func Add(ctx context.Context, tx *db.Tx, totals book.Totals) error {
	var rows []row
	for _, k := range totals.Keys() {
		rows = append(rows, row{TagID: k.Tag, LegalEntityID: k.Entity, LedgerAccountID: k.Account, PeriodID: k.Period,
			Debits: totals[k].Debits, Credits: totals[k].Credits})
	}
	return db.Upsert(ctx, tx, "account_balances", rows,
		`ON CONFLICT (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id)
		DO UPDATE SET debits = {dec_add}(account_balances.debits, excluded.debits), credits = {dec_add}(account_balances.credits,
		excluded.credits)`)
}

// DeleteEmpty deletes balances that are zero, so that an account whose only entries were unposted can be deleted.
func DeleteEmpty(ctx context.Context, tx *db.Tx, keys []book.Key) error {
	for _, k := range keys {
		err := tx.Queue(ctx, `DELETE FROM account_balances WHERE organization_id = @org AND tag_id = ? AND legal_entity_id = ? AND
			ledger_account_id = ? AND accounting_period_id = ?
			AND debits = ? AND credits = ?`, k.Tag, k.Entity, k.Account, k.Period, money.Decimal{}, money.Decimal{})
		if err != nil {
			return err
		}
	}
	return nil
}

// All returns every balance of the organization.
func All(ctx context.Context, tx *db.Tx) (map[book.Key]book.Total, error) {
	rows, err := db.All[row](ctx, tx, "SELECT "+db.Columns[row]()+" FROM account_balances WHERE organization_id = @org")
	out := make(map[book.Key]book.Total, len(rows))
	for _, r := range rows {
		out[book.Key{Tag: r.TagID, Entity: r.LegalEntityID, Account: r.LedgerAccountID,
			Period: r.PeriodID}] = book.Total{Debits: r.Debits, Credits: r.Credits}
	}
	return out, err
}

type unitRow struct {
	LegalEntityID   string        `db:"legal_entity_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	Unit            string        `db:"unit"`
	PeriodID        string        `db:"accounting_period_id"`
	Quantity        money.Decimal `db:"quantity"`
	Amount          money.Decimal `db:"amount"`
}

// AddUnits adds movements of assets and foreign currencies to the stored quantities.
func AddUnits(ctx context.Context, tx *db.Tx, units Units) error {
	var rows []unitRow
	for _, k := range slices.SortedFunc(maps.Keys(units), compareUnits) {
		rows = append(rows, unitRow{LegalEntityID: k.Entity, LedgerAccountID: k.Account, Unit: k.Unit, PeriodID: k.Period,
			Quantity: units[k].Quantity, Amount: units[k].Amount})
	}
	return db.Upsert(ctx, tx, "account_units", rows,
		`ON CONFLICT (organization_id, legal_entity_id, ledger_account_id, unit, accounting_period_id)
		DO UPDATE SET quantity = {dec_add}(account_units.quantity, excluded.quantity), amount = {dec_add}(account_units.amount, excluded.amount)`)
}

// AllUnits returns the stored quantities of all assets and foreign currencies.
func AllUnits(ctx context.Context, tx *db.Tx) (Units, error) {
	rows, err := db.All[unitRow](ctx, tx, "SELECT "+db.Columns[unitRow]()+" FROM account_units WHERE organization_id = @org")
	out := Units{}
	for _, r := range rows {
		out[UnitKey{r.LegalEntityID, r.LedgerAccountID, r.Unit, r.PeriodID}] = Unit{r.Quantity, r.Amount}
	}
	return out, err
}
