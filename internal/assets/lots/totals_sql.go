package lots

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type positionRow struct {
	LegalEntityID   string        `db:"legal_entity_id"`
	SourceID        string        `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	AssetType       string        `db:"asset_type"`
	Chain           string        `db:"chain"`
	TokenID         string        `db:"token_id"`
	PeriodID        string        `db:"accounting_period_id"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
	AddedQuantity   money.Decimal `db:"added_quantity"`
	AddedBasis      money.Decimal `db:"added_basis"`
	Lots            int64         `db:"lot_count"`
}

func toPositionRow(k PositionKey, p Position) positionRow {
	return positionRow{
		LegalEntityID: k.LegalEntityID, SourceID: k.SourceID, LedgerAccountID: k.LedgerAccountID, AssetType: k.AssetType, Chain: k.Chain,
		TokenID: k.TokenID, PeriodID: k.PeriodID, Quantity: p.Quantity, Basis: p.Basis, AddedQuantity: p.AddedQuantity,
		AddedBasis: p.AddedBasis, Lots: p.Lots,
	}
}

func (r positionRow) key() PositionKey {
	return PositionKey{LegalEntityID: r.LegalEntityID, SourceID: r.SourceID, LedgerAccountID: r.LedgerAccountID, AssetType: r.AssetType,
		Chain: r.Chain, TokenID: r.TokenID, PeriodID: r.PeriodID}
}

func (r positionRow) position() Position {
	return Position{Quantity: r.Quantity, Basis: r.Basis, AddedQuantity: r.AddedQuantity, AddedBasis: r.AddedBasis, Lots: r.Lots}
}

type gainRow struct {
	LegalEntityID string        `db:"legal_entity_id"`
	AssetType     string        `db:"asset_type"`
	SourceID      string        `db:"source_id"`
	PeriodID      string        `db:"accounting_period_id"`
	Quantity      money.Decimal `db:"quantity"`
	Proceeds      money.Decimal `db:"proceeds"`
	Fee           money.Decimal `db:"fee"`
	Basis         money.Decimal `db:"basis"`
	Gain          money.Decimal `db:"gain"`
	Loss          money.Decimal `db:"loss"`
	Short         money.Decimal `db:"short_term"`
	Long          money.Decimal `db:"long_term"`
}

// ReadTotals returns the stored totals. It is a building block.
func ReadTotals(ctx context.Context, tx *db.Tx) (Totals, error) {
	t := NewTotals()
	positions, err := db.All[positionRow](ctx, tx, "SELECT "+db.Columns[positionRow]()+" FROM lot_positions WHERE organization_id = @org")
	if err != nil {
		return t, err
	}
	for _, r := range positions {
		t.Positions[r.key()] = r.position()
	}
	gains, err := db.All[gainRow](ctx, tx, "SELECT "+db.Columns[gainRow]()+" FROM lot_gains WHERE organization_id = @org")
	for _, r := range gains {
		t.Gains[GainKey{r.LegalEntityID, r.AssetType, r.SourceID, r.PeriodID}] = Gain{Quantity: r.Quantity, Proceeds: r.Proceeds,
			Fee: r.Fee, Basis: r.Basis, Gain: r.Gain, Loss: r.Loss, Short: r.Short, Long: r.Long}
	}
	return t, err
}

// BasisByAccount returns the basis of the lots of a pool of a legal entity by the ledger account that it stands on. It is a building
// block.
func BasisByAccount(ctx context.Context, tx *db.Tx, p *Pool) (map[string]money.Decimal, error) {
	rows, err := db.All[struct {
		LedgerAccountID string        `db:"ledger_account_id"`
		Basis           money.Decimal `db:"basis"`
	}](ctx, tx, `SELECT ledger_account_id, {dec_sum}(basis) AS basis FROM lot_positions WHERE organization_id = @org AND legal_entity_id = ?
		AND source_id <> '' AND asset_type = ? AND token_id = ? GROUP BY ledger_account_id`, p.LegalEntityID, p.AssetType, p.TokenID)
	out := make(map[string]money.Decimal, len(rows))
	for _, r := range rows {
		out[r.LedgerAccountID] = r.Basis
	}
	return out, err
}

func addPositions(ctx context.Context, tx *db.Tx, positions map[PositionKey]Position) error {
	var rows []positionRow
	for _, k := range slices.SortedFunc(maps.Keys(positions), ComparePositions) {
		if p := positions[k]; !p.IsZero() {
			rows = append(rows, toPositionRow(k, p))
		}
	}
	return db.Upsert(ctx, tx, "lot_positions", rows,
		`ON CONFLICT (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, accounting_period_id)
		DO UPDATE SET quantity = {dec_add}(lot_positions.quantity, excluded.quantity), basis = {dec_add}(lot_positions.basis, excluded.basis),
		added_quantity = {dec_add}(lot_positions.added_quantity, excluded.added_quantity),
		added_basis = {dec_add}(lot_positions.added_basis, excluded.added_basis),
		lot_count = lot_positions.lot_count + excluded.lot_count`)
}

func addGains(ctx context.Context, tx *db.Tx, gains map[GainKey]Gain) error {
	var rows []gainRow
	for _, k := range slices.SortedFunc(maps.Keys(gains), CompareGains) {
		g := gains[k]
		rows = append(rows, gainRow{LegalEntityID: k.LegalEntityID, AssetType: k.AssetType, SourceID: k.SourceID, PeriodID: k.PeriodID,
			Quantity: g.Quantity, Proceeds: g.Proceeds, Fee: g.Fee, Basis: g.Basis, Gain: g.Gain, Loss: g.Loss, Short: g.Short, Long: g.Long})
	}
	return db.Upsert(ctx, tx, "lot_gains", rows, `ON CONFLICT (organization_id, legal_entity_id, asset_type, source_id, accounting_period_id)
		DO UPDATE SET quantity = {dec_add}(lot_gains.quantity, excluded.quantity), proceeds = {dec_add}(lot_gains.proceeds, excluded.proceeds),
		fee = {dec_add}(lot_gains.fee, excluded.fee), basis = {dec_add}(lot_gains.basis, excluded.basis),
		gain = {dec_add}(lot_gains.gain, excluded.gain), loss = {dec_add}(lot_gains.loss, excluded.loss),
		short_term = {dec_add}(lot_gains.short_term, excluded.short_term),
		long_term = {dec_add}(lot_gains.long_term, excluded.long_term)`)
}
