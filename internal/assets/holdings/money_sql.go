package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

type rollForwardRow struct {
	AssetType       string        `db:"asset_type"`
	OpeningQuantity money.Decimal `db:"opening_quantity"`
	OpeningBasis    money.Decimal `db:"opening_basis"`
	ClosingQuantity money.Decimal `db:"closing_quantity"`
	ClosingBasis    money.Decimal `db:"closing_basis"`
	AddedBasis      money.Decimal `db:"added_basis"`
	DisposedBasis   money.Decimal `db:"disposed_basis"`
	Proceeds        money.Decimal `db:"proceeds"`
	Gain            money.Decimal `db:"gain"`
	Loss            money.Decimal `db:"loss"`
}

// selectRollForward sums up, for each asset of a legal entity, what was held before some periods, what is held after them, and
// the movements in between. Assets without holdings and movements are left out.
func selectRollForward(ctx context.Context, tx *db.Tx, first, last string, f Filter, after string, limit int) ([]rollForwardRow, error) {
	held := db.Select(`SELECT p.asset_type, CASE WHEN a.key < ? THEN p.quantity ELSE 0 END AS opening_quantity, CASE WHEN a.key < ?
		THEN p.basis ELSE 0 END AS opening_basis,
		p.quantity AS closing_quantity, p.basis AS closing_basis, CASE WHEN a.key < ? THEN 0 ELSE p.added_basis END AS added_basis, CASE
		WHEN a.key < ? THEN 0 ELSE 1 END AS moved,
		0 AS disposed_basis, 0 AS proceeds, 0 AS gain, 0 AS loss
		FROM lot_positions AS p JOIN accounting_periods AS a ON a.organization_id = @org AND a.accounting_period_id = p.accounting_period_id
		WHERE p.organization_id = @org AND a.key <= ? AND p.asset_type > ?`, first, first, first, first, last, after)
	f.narrow(held, "p.")
	realized := db.Select(`UNION ALL SELECT g.asset_type, 0, 0, 0, 0, 0, 1, g.basis, g.proceeds, g.gain, g.loss
		FROM lot_gains AS g JOIN accounting_periods AS b ON b.organization_id = @org AND b.accounting_period_id = g.accounting_period_id
		WHERE g.organization_id = @org AND b.key >= ? AND b.key <= ? AND g.asset_type > ?`, first, last, after)
	f.narrow(realized, "g.")
	text := `SELECT asset_type, {dec_sum}(opening_quantity) AS opening_quantity, {dec_sum}(opening_basis) AS opening_basis,
		{dec_sum}(closing_quantity) AS closing_quantity,
		{dec_sum}(closing_basis) AS closing_basis, {dec_sum}(added_basis) AS added_basis, {dec_sum}(disposed_basis) AS disposed_basis,
		{dec_sum}(proceeds) AS proceeds,
		{dec_sum}(gain) AS gain, {dec_sum}(loss) AS loss FROM (` + held.Then("") + realized.Then("") + `) AS m GROUP BY asset_type
		HAVING max(moved) = 1 OR NOT {dec_sum}(closing_quantity) = '0' ORDER BY asset_type LIMIT ?`
	args := append(append(held.Args, realized.Args...), int64(limit))
	return db.All[rollForwardRow](ctx, tx, text, args...)
}

// accountUnit is an account and a currency on it; the unit is empty for the base currency.
type accountUnit struct {
	entityAccount
	unit string
}

type moneyRow struct {
	LegalEntityID string        `db:"legal_entity_id"`
	AccountID     string        `db:"ledger_account_id"`
	Unit          string        `db:"unit"`
	Quantity      money.Decimal `db:"quantity"` // of the unit
	Amount        money.Decimal `db:"amount"`   // in the base currency
	Credits       money.Decimal `db:"credits"`  // to subtract from the amount
}

// amounts collects the balances of accounts.
type amounts struct {
	total map[entityAccount]money.Decimal // the whole account, in the base currency
	units map[accountUnit]move            // the part that has a unit
}

// selectMoney returns the balances of accounts just before an instant, by unit. The balance without a unit is in the base
// currency: the whole account less what has a unit.
func selectMoney(ctx context.Context, tx *db.Tx, month period.Period, end time.Time, entities,
	accounts []string) (map[accountUnit]money.Decimal, error) {
	const through = ` JOIN accounting_periods AS p ON p.organization_id = @org AND p.accounting_period_id = b.accounting_period_id
		WHERE b.organization_id = @org AND b.legal_entity_id {any} AND b.ledger_account_id {any} AND p.key <= ? `
	kept := amounts{map[entityAccount]money.Decimal{}, map[accountUnit]move{}}
	totals, err := db.All[moneyRow](ctx, tx,
		`SELECT b.legal_entity_id, b.ledger_account_id, {dec_sum}(b.debits) AS amount, {dec_sum}(b.credits) AS credits FROM
			account_balances AS b`+through+
			` AND b.tag_id = '' GROUP BY b.legal_entity_id, b.ledger_account_id`, entities, accounts, month.Key)
	if err != nil {
		return nil, err
	}
	for _, r := range totals {
		kept.add(r, 1)
	}
	units, err := db.All[moneyRow](ctx, tx,
		`SELECT b.legal_entity_id, b.ledger_account_id, b.unit, {dec_sum}(b.quantity) AS quantity, {dec_sum}(b.amount) AS amount FROM
			account_units AS b`+through+
			` GROUP BY b.legal_entity_id, b.ledger_account_id, b.unit`, entities, accounts, month.Key)
	if err != nil {
		return nil, err
	}
	for _, r := range units {
		kept.addUnit(r, 1)
	}
	// Subtract the lines in the rest of the period.
	for side, sign := range map[string]int64{"DEBIT": -1, "CREDIT": 1} {
		lines, err := selectLines(ctx, tx, end, month.End, entities, accounts, side)
		if err != nil {
			return nil, err
		}
		for _, r := range lines {
			kept.add(r, sign)
			kept.addUnit(r, sign)
		}
	}
	return kept.byUnit(), nil
}

func (a amounts) add(r moneyRow, sign int64) {
	k := entityAccount{r.LegalEntityID, r.AccountID}
	a.total[k] = a.total[k].Add(r.Amount.Sub(r.Credits).Mul(money.FromInt(sign)))
}

func (a amounts) addUnit(r moneyRow, sign int64) {
	if r.Unit == "" {
		return
	}
	k, n := accountUnit{entityAccount{r.LegalEntityID, r.AccountID}, r.Unit}, money.FromInt(sign)
	a.units[k] = move{a.units[k].quantity.Add(r.Quantity.Mul(n)), a.units[k].basis.Add(r.Amount.Mul(n))}
}

// byUnit returns the balance of each unit, and the rest without one.
func (a amounts) byUnit() map[accountUnit]money.Decimal {
	out := map[accountUnit]money.Decimal{}
	for k, total := range a.total {
		out[accountUnit{k, ""}] = total
	}
	for k, u := range a.units {
		books := accountUnit{k.entityAccount, ""}
		out[k], out[books] = u.quantity, out[books].Sub(u.basis)
	}
	return out
}

// selectLines sums up the posted lines between two instants by account and unit.
func selectLines(ctx context.Context, tx *db.Tx, from, to time.Time, entities, accounts []string, side string) ([]moneyRow, error) {
	return db.All[moneyRow](ctx, tx,
		`SELECT legal_entity_id, ledger_account_id, COALESCE(unit, '') AS unit, {dec_sum}(COALESCE(quantity, amount)) AS quantity,
			{dec_sum}(COALESCE(base_amount, amount)) AS amount
		FROM journal_lines WHERE organization_id = @org AND ledger_account_id {any} AND accounting_date >= ? AND accounting_date < ? AND
		legal_entity_id {any} AND is_posted AND credit_or_debit = ?
		GROUP BY legal_entity_id, ledger_account_id, COALESCE(unit, '')`, accounts, from, to, entities, side)
}
