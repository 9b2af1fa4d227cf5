package lots

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// UseFilter selects uses by every field that is not empty.
type UseFilter struct {
	ID, LotID, EntryID string
	LegalEntityIDs     []string
	SourceIDs          []string
	AssetTypes         []string
	PeriodID           string
	From, Until        time.Time // accounting dates, Until excluded
	Realized           bool      // only uses that realize a gain or a loss
}

// UseCursor is the position of a use by accounting date.
type UseCursor struct {
	Date time.Time
	ID   string
}

// conditions adds the conditions to a query. Only what names few rows uses an index, the rest is filtered.
func (f UseFilter) conditions(q *db.Query) *db.Query {
	equal := func(column, value string) {
		if value != "" {
			q.And(column+" = ?", value)
		}
	}
	equal("use_id", f.ID)
	equal("asset_id", f.LotID)
	equal("journal_entry_id", f.EntryID)
	among(q, "{unindexed}source_id", f.SourceIDs)
	among(q, "{unindexed}asset_type", f.AssetTypes)
	equal("{unindexed}accounting_period_id", f.PeriodID)
	among(q, "{unindexed}legal_entity_id", f.LegalEntityIDs)
	if !f.From.IsZero() {
		q.And("accounting_date >= ?", f.From)
	}
	if !f.Until.IsZero() {
		q.And("accounting_date < ?", f.Until)
	}
	if f.Realized {
		q.And("kind IN ('dispose', 'fee')")
	}
	return q
}

// among adds the condition that a column has one of some values, unless there are none.
func among(q *db.Query, column string, values []string) {
	switch len(values) {
	case 0:
	case 1:
		q.And(column+" = ?", values[0])
	default:
		q.And(column+" {any}", values)
	}
}

// ListUses returns uses by accounting date, beginning after a cursor unless that is nil. It is a building block.
func ListUses(ctx context.Context, tx *db.Tx, f UseFilter, after *UseCursor, limit int) ([]Use, error) {
	if after != nil {
		f.From = time.Time{} // the cursor is later
	}
	q := f.conditions(db.Select("SELECT " + db.Columns[useRow]() + " FROM lot_uses WHERE organization_id = @org"))
	if after != nil {
		q.And("(accounting_date, use_id) > (?, ?)", after.Date, after.ID)
	}
	rows, err := db.All[useRow](ctx, tx, q.Then("ORDER BY accounting_date, use_id LIMIT ?", int64(limit)), q.Args...)
	return usesOf(rows), err
}

// CorrectedAssets returns the assets of a legal entity of which disposals were corrected with an accounting date from one instant on and
// before another. It is a building block.
func CorrectedAssets(ctx context.Context, tx *db.Tx, legalEntityID string, from, until time.Time) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT DISTINCT asset_type FROM lot_uses WHERE organization_id = @org AND accounting_date >= ?
		AND accounting_date < ? AND {unindexed}legal_entity_id = ? AND is_correction AND kind IN ('dispose', 'fee') ORDER BY asset_type`,
		from, until, legalEntityID)
}

// UseSums are the sums of uses.
type UseSums struct {
	Quantity, Proceeds, Fee, Basis, Gain money.Decimal
	Currency                             string // empty if there is none, or more than one
	Found                                bool   // false if there is no use to add up
}

type useSumRow struct {
	Quantity *money.Decimal `db:"quantity"`
	Proceeds *money.Decimal `db:"proceeds"`
	Fee      *money.Decimal `db:"fee"`
	Basis    *money.Decimal `db:"basis"`
	Gain     *money.Decimal `db:"gain"`
	Currency *string        `db:"currency"`
}

// SumUses adds up uses. It is a building block.
func SumUses(ctx context.Context, tx *db.Tx, f UseFilter) (UseSums, error) {
	q := f.conditions(db.Select(`SELECT {dec_sum}(quantity) AS quantity, {dec_sum}(proceeds) AS proceeds, {dec_sum}(fee) AS fee,
		{dec_sum}(basis) AS basis, {dec_sum}(gain) AS gain,
		CASE WHEN min(currency) = max(currency) THEN min(currency) ELSE NULL END AS currency FROM lot_uses WHERE organization_id = @org`))
	r, err := db.One[useSumRow](ctx, tx, "disposition", q.Then(""), q.Args...)
	return UseSums{Quantity: orZero(r.Quantity), Proceeds: orZero(r.Proceeds), Fee: orZero(r.Fee), Basis: orZero(r.Basis),
		Gain: orZero(r.Gain), Currency: db.OrEmpty(r.Currency), Found: r.Quantity != nil}, err
}

func orZero(d *money.Decimal) money.Decimal {
	if d == nil {
		return money.Decimal{}
	}
	return *d
}

type addedRow struct {
	Quantity *money.Decimal `db:"quantity"`
	Basis    *money.Decimal `db:"basis"`
}

// Added returns what was acquired in one position of an accounting period: at a source, whatever the account, or on the account
// without a source. It is a building block.
func Added(ctx context.Context, tx *db.Tx, k PositionKey) (quantity, basis money.Decimal, err error) {
	r, err := db.One[addedRow](ctx, tx, "position",
		`SELECT {dec_sum}(added_quantity) AS quantity, {dec_sum}(added_basis) AS basis FROM lot_positions WHERE organization_id = @org
		AND legal_entity_id = ? AND source_id = ? AND (source_id <> '' OR ledger_account_id = ?) AND asset_type = ? AND chain = ? AND token_id = ?
		AND accounting_period_id = ?`,
		k.LegalEntityID, k.SourceID, k.LedgerAccountID, k.AssetType, k.Chain, k.TokenID, k.PeriodID)
	return orZero(r.Quantity), orZero(r.Basis), err
}
