package observation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type statedRow struct {
	SourceID  string        `db:"source_id"`
	AssetType string        `db:"asset_type"`
	Account   string        `db:"account"`
	Quantity  money.Decimal `db:"quantity"`
	At        time.Time     `db:"stated_at"`
}

// selectStated reads the newest balances of the accounts of a source, by asset.
func selectStated(ctx context.Context, tx *db.Tx, sourceID string) ([]statedRow, error) {
	return db.All[statedRow](ctx, tx, "SELECT "+db.Columns[statedRow]()+
		" FROM stated_balances WHERE organization_id = @org AND source_id = ? ORDER BY asset_type, account", sourceID)
}

// upsertStated stores balances, unless newer ones are known.
func upsertStated(ctx context.Context, tx *db.Tx, rows []statedRow) error {
	slices.SortFunc(rows, func(a, b statedRow) int {
		return cmp.Or(cmp.Compare(a.AssetType, b.AssetType), cmp.Compare(a.Account, b.Account))
	})
	return db.Upsert(ctx, tx, "stated_balances", rows, `ON CONFLICT (organization_id, source_id, asset_type, account)
		DO UPDATE SET quantity = excluded.quantity, stated_at = excluded.stated_at WHERE excluded.stated_at >= stated_balances.stated_at`)
}

type historyRow struct {
	SourceID     string        `db:"source_id"`
	AssetType    string        `db:"asset_type"`
	At           time.Time     `db:"observed_at"`
	Quantity     money.Decimal `db:"quantity"`
	ConnectionID *string       `db:"connection_id"`
}

// upsertHistory stores what a source held at times.
func upsertHistory(ctx context.Context, tx *db.Tx, rows []historyRow) error {
	slices.SortFunc(rows, func(a, b historyRow) int { return cmp.Or(cmp.Compare(a.AssetType, b.AssetType), a.At.Compare(b.At)) })
	return db.Upsert(ctx, tx, "observed_balances", rows, `ON CONFLICT (organization_id, source_id, asset_type, observed_at)
		DO UPDATE SET quantity = excluded.quantity, connection_id = excluded.connection_id`)
}

// selectHistory reads what a source held of an asset, the latest first, before a time if it is not zero.
func selectHistory(ctx context.Context, tx *db.Tx, sourceID, assetType string, before time.Time, limit int) ([]historyRow, error) {
	q := db.Select("SELECT "+db.Columns[historyRow]()+" FROM observed_balances WHERE organization_id = @org").And("source_id = ?", sourceID).
		And("asset_type = ?", assetType)
	if !before.IsZero() {
		q.And("observed_at < ?", before)
	}
	return db.All[historyRow](ctx, tx, q.Then("ORDER BY observed_at DESC LIMIT ?", limit), q.Args...)
}

// selectLastBefore reads the latest observation of each asset of a source up to a time.
func selectLastBefore(ctx context.Context, tx *db.Tx, sourceID string, at time.Time) ([]historyRow, error) {
	return db.All[historyRow](ctx, tx, `SELECT o.source_id, o.asset_type, o.observed_at, o.quantity, o.connection_id FROM observed_balances o
		WHERE o.organization_id = @org AND o.source_id = ? AND o.observed_at = (SELECT max(l.observed_at) FROM observed_balances l
		WHERE l.organization_id = @org AND l.source_id = ? AND l.asset_type = o.asset_type AND l.observed_at <= ?)
		ORDER BY o.asset_type`, sourceID, sourceID, at)
}
