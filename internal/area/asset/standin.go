package asset

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type Ledger struct{}

func (l *Ledger) Put(ctx context.Context, tx *db.Tx, lots []Lot) error {
	for _, x := range lots {
		if err := StandIn(ctx, tx, x); err != nil {
			return err
		}
	}
	return nil
}

func StandIn(ctx context.Context, tx *db.Tx, x Lot) error {
	pool := x.LegalEntityID + "/" + x.SourceID + "/" + x.AssetType + "/" + x.Chain
	if x.Pool != "" {
		pool = x.Pool
	}
	type poolRow struct {
		Pool     string        `db:"pool"`
		Entity   string        `db:"legal_entity_id"`
		Source   *string       `db:"source_id"`
		Asset    string        `db:"asset_type"`
		Currency string        `db:"currency"`
		Quantity money.Decimal `db:"quantity"`
		Basis    money.Decimal `db:"basis"`
		Seq      int64         `db:"seq"`
		Last     string        `db:"last_place"`
	}
	if _, err := db.Upsert(ctx, tx, "lot_pools", []poolRow{{pool, x.LegalEntityID, db.OrNull(x.SourceID), x.AssetType, x.Currency, x.RemainingQuantity, x.RemainingBasis, 1, ""}},
		"ON CONFLICT (organization_id, pool) DO UPDATE SET quantity = {dec_add}(lot_pools.quantity, excluded.quantity), basis = {dec_add}(lot_pools.basis, excluded.basis)"); err != nil {
		return err
	}
	type row struct {
		assetRow
		Unit string `db:"unit_key"`
		Open bool   `db:"is_open"`
	}
	return db.Insert(ctx, tx, "lots", row{assetRow{
		x.ID, pool, x.ID, 1, x.LegalEntityID, db.OrNull(x.SourceID), x.LedgerAccountID, x.AssetType, db.OrNull(x.Chain), db.OrNull(x.TokenID), x.AcquiredAt, x.Quantity, x.RemainingQuantity,
		x.CostBasis, x.RemainingBasis, x.Currency, string(x.Origin), db.OrNull(x.ParentID), db.OrNull(x.TransactionID), x.JournalEntryID, x.BasisPending, x.Provisional, x.CreatedAt, x.UpdatedAt,
	}, "", !x.RemainingQuantity.IsZero()})
}

func (l *Ledger) Alter(ctx context.Context, tx *db.Tx, before, after Lot) error {
	if err := l.Drop(ctx, tx, before); err != nil {
		return err
	}
	return l.Put(ctx, tx, []Lot{after})
}

func (l *Ledger) Drop(ctx context.Context, tx *db.Tx, x Lot) error {
	_, err := tx.Exec(ctx, "DELETE FROM lots WHERE organization_id = @org AND asset_id = ?", x.ID)
	return err
}
