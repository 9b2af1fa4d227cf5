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
	ImportID     *string       `db:"import_id"`
	ConnectionID *string       `db:"connection_id"`
	UserID       *string       `db:"user_id"`
	APIKeyID     *string       `db:"api_key_id"`
	Memo         *string       `db:"memo"`
}

func toHistory(sourceID string, o Observed) historyRow {
	return historyRow{SourceID: sourceID, AssetType: o.AssetType, At: o.At, Quantity: o.Quantity, ImportID: db.OrNull(o.ImportID),
		ConnectionID: db.OrNull(o.ConnectionID), UserID: db.OrNull(o.UserID), APIKeyID: db.OrNull(o.APIKeyID), Memo: db.OrNull(o.Memo)}
}

func observedOf(rows []historyRow) []Observed {
	out := make([]Observed, len(rows))
	for n, r := range rows {
		out[n] = Observed{Balance: Balance{AssetType: r.AssetType, Quantity: r.Quantity, At: r.At}, ImportID: db.OrEmpty(r.ImportID),
			ConnectionID: db.OrEmpty(r.ConnectionID), UserID: db.OrEmpty(r.UserID), APIKeyID: db.OrEmpty(r.APIKeyID), Memo: db.OrEmpty(r.Memo)}
	}
	return out
}

// upsertHistory stores what a source held at times.
func upsertHistory(ctx context.Context, tx *db.Tx, rows []historyRow) error {
	slices.SortFunc(rows, func(a, b historyRow) int { return cmp.Or(cmp.Compare(a.AssetType, b.AssetType), a.At.Compare(b.At)) })
	return db.Upsert(ctx, tx, "observed_balances", rows, `ON CONFLICT (organization_id, source_id, asset_type, observed_at)
		DO UPDATE SET quantity = excluded.quantity, import_id = excluded.import_id, connection_id = excluded.connection_id,
		user_id = excluded.user_id, api_key_id = excluded.api_key_id, memo = excluded.memo`)
}

var selectObserved = "SELECT " + db.Columns[historyRow]() + " FROM observed_balances WHERE organization_id = @org"

// selectHistory reads what a source held of an asset, the latest first, before a time.
func selectHistory(ctx context.Context, tx *db.Tx, sourceID, assetType string, before time.Time, limit int) ([]Observed, error) {
	rows, err := db.All[historyRow](ctx, tx, selectObserved+
		" AND source_id = ? AND asset_type = ? AND observed_at < ? ORDER BY observed_at DESC LIMIT ?", sourceID, assetType, before, limit)
	return observedOf(rows), err
}

// selectOne reads the balance of an asset at a time, if there is one.
func selectOne(ctx context.Context, tx *db.Tx, sourceID, assetType string, at time.Time) ([]Observed, error) {
	rows, err := db.All[historyRow](ctx, tx, selectObserved+" AND source_id = ? AND asset_type = ? AND observed_at = ?", sourceID,
		assetType, at)
	return observedOf(rows), err
}

// selectLastBefore reads the latest balance of each asset of a source up to a time.
func selectLastBefore(ctx context.Context, tx *db.Tx, sourceID string, at time.Time, assetTypes []string) ([]Observed, error) {
	var out []Observed
	if assetTypes == nil {
		var err error
		if assetTypes, err = selectAssetsOf(ctx, tx, sourceID); err != nil {
			return nil, err
		}
	}
	for _, asset := range assetTypes { // each is one look into the index, however long the history is
		rows, err := db.All[historyRow](ctx, tx, selectObserved+
			" AND source_id = ? AND asset_type = ? AND observed_at <= ? ORDER BY observed_at DESC LIMIT 1", sourceID, asset, at)
		if err != nil {
			return nil, err
		}
		out = append(out, observedOf(rows)...)
	}
	return out, nil
}

// selectAssetsOf reads the assets of the newest balances of a source. Whatever was stated is among them.
func selectAssetsOf(ctx context.Context, tx *db.Tx, sourceID string) ([]string, error) {
	return db.All[string](ctx, tx,
		"SELECT DISTINCT asset_type FROM stated_balances WHERE organization_id = @org AND source_id = ? ORDER BY asset_type", sourceID)
}

func selectAssetsOfSome(ctx context.Context, tx *db.Tx, sourceIDs []string) (map[string][]string, error) {
	type pair struct {
		SourceID  string `db:"source_id"`
		AssetType string `db:"asset_type"`
	}
	out := map[string][]string{}
	if len(sourceIDs) == 0 {
		return out, nil
	}
	rows, err := db.All[pair](ctx, tx,
		"SELECT DISTINCT source_id, asset_type FROM stated_balances WHERE organization_id = @org AND source_id {any}", sourceIDs)
	for _, r := range rows {
		out[r.SourceID] = append(out[r.SourceID], r.AssetType)
	}
	return out, err
}

func selectSourcesIn(ctx context.Context, tx *db.Tx, start, end time.Time) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT DISTINCT source_id FROM observed_balances WHERE organization_id = @org AND observed_at >= ? AND "+
		"observed_at < ? ORDER BY source_id", start, end)
}

// selectPage reads balances of a source, the latest first, after a position. Times and the asset may be zero.
func selectPage(ctx context.Context, tx *db.Tx, sourceID string, f Filter, after *Balance, limit int) ([]Observed, error) {
	q := db.Select(selectObserved).And("source_id = ?", sourceID)
	if f.AssetType != "" {
		q.And("asset_type = ?", f.AssetType)
	}
	if !f.first.IsZero() {
		q.And("observed_at >= ?", f.first)
	}
	if !f.last.IsZero() {
		q.And("observed_at <= ?", f.last)
	}
	if after != nil {
		q.And("(observed_at, asset_type) < (?, ?)", after.At, after.AssetType)
	}
	rows, err := db.All[historyRow](ctx, tx, q.Then("ORDER BY observed_at DESC, asset_type DESC LIMIT ?", limit), q.Args...)
	return observedOf(rows), err
}
