package lots

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

type correctionRow struct {
	AccountingDate time.Time `db:"accounting_date"`
	positionRow
}

const fromCorrections = " FROM lot_corrections WHERE organization_id = @org"

// ReadCorrections returns the corrections of lots by accounting period. It is a building block.
func ReadCorrections(ctx context.Context, tx *db.Tx) (map[PositionKey]Position, error) {
	rows, err := db.All[positionRow](ctx, tx, "SELECT "+db.Columns[positionRow]()+fromCorrections)
	out := map[PositionKey]Position{}
	for _, r := range rows {
		out[r.key()] = out[r.key()].Plus(r.position())
	}
	return out, err
}

// Removal is what entered on an accounting date and was removed with a later one or, if it is negative, what was removed on the date and
// had entered with an earlier one.
type Removal struct {
	Date     time.Time     `db:"accounting_date"`
	Quantity money.Decimal `db:"quantity"`
	Basis    money.Decimal `db:"basis"`
}

// Removals returns the removals of an asset of a legal entity with an accounting date from one instant on and before another, the latest
// first. Parts of other lots are left out. It is a building block.
func Removals(ctx context.Context, tx *db.Tx, legalEntityID, assetType string, from, until time.Time) ([]Removal, error) {
	rows, err := db.All[Removal](ctx, tx, `SELECT accounting_date, {dec_sum}(added_quantity) AS quantity, {dec_sum}(added_basis) AS basis`+
		fromCorrections+` AND accounting_date >= ? AND accounting_date < ? AND legal_entity_id = ? AND asset_type = ? AND token_id = ''
		GROUP BY accounting_date ORDER BY accounting_date DESC`, from, until, legalEntityID, assetType)
	return slices.DeleteFunc(rows, func(r Removal) bool { return r.Quantity.IsZero() }), err
}

func selectCorrectionsBetween(ctx context.Context, tx *db.Tx, m period.Reassignment) ([]positionRow, error) {
	return db.All[positionRow](ctx, tx, "SELECT "+db.Columns[positionRow]()+fromCorrections+" AND "+between, m.Start, m.End, m.FromID)
}

// addCorrections adds to the stored corrections.
func addCorrections(ctx context.Context, tx *db.Tx, corrections map[correctionKey]Position) error {
	var rows []correctionRow
	for _, k := range slices.SortedFunc(maps.Keys(corrections), func(a, b correctionKey) int {
		return cmp.Or(cmp.Compare(a.date, b.date), ComparePositions(a.PositionKey, b.PositionKey))
	}) {
		if p := corrections[k]; !p.IsZero() {
			rows = append(rows, correctionRow{time.UnixMilli(k.date).UTC(), toPositionRow(k.PositionKey, p)})
		}
	}
	return db.Upsert(ctx, tx, "lot_corrections", rows,
		`ON CONFLICT (organization_id, accounting_date, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id)
		DO UPDATE SET quantity = {dec_add}(lot_corrections.quantity, excluded.quantity),
		basis = {dec_add}(lot_corrections.basis, excluded.basis),
		added_quantity = {dec_add}(lot_corrections.added_quantity, excluded.added_quantity),
		added_basis = {dec_add}(lot_corrections.added_basis, excluded.added_basis),
		lot_count = lot_corrections.lot_count + excluded.lot_count`)
}
