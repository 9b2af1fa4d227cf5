package lots

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

var selectAssetRows = "SELECT " + db.Columns[lotRow]() + " FROM lots WHERE organization_id = @org"

func selectAsset(ctx context.Context, tx *db.Tx, assetID string) (Lot, error) {
	r, err := db.One[lotRow](ctx, tx, Noun, selectAssetRows+" AND asset_id = ?", assetID)
	return r.lot(), err
}

// selectAssets reads lots in descending order of their IDs. Those of one transaction are few: they are found by its entry
// and then sorted.
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

// averageShares returns the shares of all open lots of some pools under a weighted average, by lot.
func averageShares(ctx context.Context, tx *db.Tx, pools []string) (map[string]money.Decimal, error) {
	if len(pools) == 0 {
		return nil, nil
	}
	slices.Sort(pools)
	pools = slices.Compact(pools)
	sums, err := db.All[poolRow](ctx, tx, "SELECT "+db.Columns[poolRow]()+" FROM lot_pools WHERE organization_id = @org AND pool {any}", pools)
	if err != nil {
		return nil, err
	}
	rows, err := db.All[lotRow](ctx, tx, "SELECT pool, asset_id, acquired_at, seq, remaining_quantity FROM lots "+
		"WHERE organization_id = @org AND pool {any} AND is_open", pools)
	return Shares(lotsOf(rows), poolsOf(sums)), err
}

// selectUsesOfLot reads a page of the uses of a lot, the latest first.
func selectUsesOfLot(ctx context.Context, tx *db.Tx, assetID string, before useCursor, limit int) ([]Use, error) {
	q := db.Select("SELECT "+db.Columns[useRow]()+fromUses+"asset_id = ?", assetID)
	if before.id != "" {
		q.And("(disposed_at, use_id) < (?, ?)", before.at, before.id)
	}
	rows, err := db.All[useRow](ctx, tx, q.Then("ORDER BY disposed_at DESC, use_id DESC LIMIT ?", limit), q.Args...)
	return usesOf(rows), err
}

type selectionRow struct {
	TransactionID string        `db:"transaction_id"`
	Position      int64         `db:"position"`
	AssetID       string        `db:"asset_id"`
	Quantity      money.Decimal `db:"quantity"`
	By            string        `db:"created_by"`
	At            time.Time     `db:"created_at"`
}

func selectSelection(ctx context.Context, tx *db.Tx, transactionID string) (Selection, error) {
	rows, err := db.All[selectionRow](ctx, tx, "SELECT "+db.Columns[selectionRow]()+
		" FROM lot_selections WHERE organization_id = @org AND transaction_id = ? ORDER BY position", transactionID)
	c := Selection{TransactionID: transactionID}
	for _, r := range rows {
		c.Picks, c.By, c.At = append(c.Picks, lot.Pick{Lot: r.AssetID, Quantity: r.Quantity}), r.By, &r.At
	}
	return c, err
}

func selectPicks(ctx context.Context, tx *db.Tx, transactionIDs []string) (map[string][]lot.Pick, error) {
	rows, err := db.All[selectionRow](ctx, tx, "SELECT "+db.Columns[selectionRow]()+
		" FROM lot_selections WHERE organization_id = @org AND transaction_id {any} ORDER BY transaction_id, position", transactionIDs)
	out := map[string][]lot.Pick{}
	for _, r := range rows {
		out[r.TransactionID] = append(out[r.TransactionID], lot.Pick{Lot: r.AssetID, Quantity: r.Quantity})
	}
	return out, err
}

// replaceSelection stores a selection in place of an earlier one.
func replaceSelection(ctx context.Context, tx *db.Tx, c Selection) error {
	if err := tx.Queue(ctx, "DELETE FROM lot_selections WHERE organization_id = @org AND transaction_id = ?", c.TransactionID); err != nil {
		return err
	}
	rows := make([]selectionRow, len(c.Picks))
	for i, p := range c.Picks {
		rows[i] = selectionRow{TransactionID: c.TransactionID, Position: int64(i), AssetID: p.Lot, Quantity: p.Quantity, By: c.By, At: *c.At}
	}
	return db.Insert(ctx, tx, "lot_selections", rows...)
}

// SelectedFor returns the numbers of the transactions that a lot is selected for. It is a building block.
func SelectedFor(ctx context.Context, tx *db.Tx, assetID string) ([]int64, error) {
	return db.All[int64](ctx, tx, "SELECT t.number FROM lot_selections c JOIN transactions t ON t.organization_id = @org AND "+
		"t.transaction_id = c.transaction_id "+
		"WHERE c.organization_id = @org AND c.asset_id = ? ORDER BY t.number", assetID)
}

// selectLifetimes reads the data that lifetimes of lots are computed from, without uses that are about to be deleted.
func selectLifetimes(ctx context.Context, tx *db.Tx, lotIDs, withoutUses []string) ([]lifetimeRow, error) {
	return db.All[lifetimeRow](ctx, tx, `SELECT l.asset_id, l.journal_entry_id, l.is_open, l.emptied_at, l.interval_node, l.last_used_at,
		(SELECT e.accounting_date FROM journal_entries AS e
			WHERE e.organization_id = @org AND e.journal_entry_id = l.journal_entry_id) AS entered_at,
		(SELECT max(u.accounting_date) FROM lot_uses AS u
			WHERE u.organization_id = @org AND u.asset_id = l.asset_id AND NOT u.use_id {any} GROUP BY u.asset_id) AS last_use
		FROM lots AS l WHERE l.organization_id = @org AND l.asset_id {any}`, withoutUses, lotIDs)
}

func saveLifetime(ctx context.Context, tx *db.Tx, lotID string, l lifetime) error {
	return tx.Queue(ctx, "UPDATE lots SET emptied_at = ?, interval_node = ?, last_used_at = ? WHERE organization_id = @org AND asset_id = ?",
		l.emptiedAt, l.intervalNode, l.lastUsedAt, lotID)
}
