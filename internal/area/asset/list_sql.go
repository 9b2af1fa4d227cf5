package asset

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

var selectAssetRows = "SELECT " + db.Columns[lotRow]() + " FROM lots WHERE organization_id = @org"

func selectAsset(ctx context.Context, tx *db.Tx, assetID string) (Lot, error) {
	r, err := db.One[lotRow](ctx, tx, noun, selectAssetRows+" AND asset_id = ?", assetID)
	return r.lot(), err
}

// selectAssets reads downward from an id. The few lots of one transaction are found by its entry and then sorted.
func selectAssets(ctx context.Context, tx *db.Tx, f Filter, below string, limit int) ([]Lot, error) {
	q := db.Select(selectAssetRows)
	if below != "" {
		q.And("asset_id < ?", below)
	}
	among := func(column string, list []string) {
		if len(list) > 0 {
			q.And(column+" {any}", list)
		}
	}
	among("legal_entity_id", f.limited)
	among("legal_entity_id", f.LegalEntityIDs)
	among("asset_type", f.AssetTypes)
	among("source_id", f.sources)
	if f.LedgerAccountID != "" {
		q.And("ledger_account_id = ?", f.LedgerAccountID)
	}
	if f.Chain != "" {
		q.And("chain = ?", f.Chain)
	}
	if f.Manual != nil {
		q.And(map[bool]string{true: "origin = ?", false: "origin <> ?"}[*f.Manual], string(Manual))
	}
	if f.Open != nil {
		q.And("is_open = ?", *f.Open)
	}
	order := "ORDER BY asset_id DESC LIMIT ?"
	if f.TransactionID != "" {
		q.And("journal_entry_id = ? AND transaction_id = ?", f.entryID, f.TransactionID)
		order = "ORDER BY {unindexed}asset_id DESC LIMIT ?"
	}
	rows, err := db.All[lotRow](ctx, tx, q.Then(order, limit), q.Args...)
	return lotsOf(rows), err
}

func selectPoolSums(ctx context.Context, tx *db.Tx, pools []string) (map[string]poolSum, error) {
	if len(pools) == 0 {
		return nil, nil
	}
	rows, err := db.All[poolSum](ctx, tx, "SELECT pool, quantity, basis FROM lot_pools WHERE organization_id = @org AND pool {any}", pools)
	out := make(map[string]poolSum, len(rows))
	for _, s := range rows {
		out[s.Pool] = s
	}
	return out, err
}

// selectTakenFrom reads the uses of a lot back from a place.
func selectTakenFrom(ctx context.Context, tx *db.Tx, assetID string, before usePlace, limit int) ([]Use, error) {
	q := db.Select("SELECT "+db.Columns[useRow]()+fromUses+"asset_id = ?", assetID)
	if before.id != "" {
		q.And("(disposed_at, use_id) < (?, ?)", before.at, before.id)
	}
	rows, err := db.All[useRow](ctx, tx, q.Then("ORDER BY disposed_at DESC, use_id DESC LIMIT ?", limit), q.Args...)
	return usesOf(rows), err
}
