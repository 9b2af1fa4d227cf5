package assetpolicy

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	AssetType string     `db:"asset_type"`
	InScope   bool       `db:"asc350_60"`
	OwnToken  bool       `db:"own_token"`
	CreatedAt time.Time  `db:"created_at"`
	UpdatedAt *time.Time `db:"updated_at"`
}

func policiesOf(rows []row) []Policy {
	out := make([]Policy, len(rows))
	for i, r := range rows {
		out[i] = Policy{AssetType: r.AssetType, InScope: r.InScope, OwnToken: r.OwnToken, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	}
	return out
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM asset_policies WHERE organization_id = @org"

func selectAll(ctx context.Context, tx *db.Tx) ([]Policy, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" ORDER BY asset_type")
	return policiesOf(rows), err
}

func selectByAssetType(ctx context.Context, tx *db.Tx, assetTypes []string) ([]Policy, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND asset_type {any}", assetTypes)
	return policiesOf(rows), err
}

// selectPage reads a page of policies in the order of symbols.
func selectPage(ctx context.Context, tx *db.Tx, above string, limit int) ([]Policy, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND asset_type > ? ORDER BY asset_type LIMIT ?", above, limit)
	return policiesOf(rows), err
}

func insert(ctx context.Context, tx *db.Tx, p Policy) error {
	return db.Insert(ctx, tx, "asset_policies", row{AssetType: p.AssetType, InScope: p.InScope, OwnToken: p.OwnToken,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt})
}

func update(ctx context.Context, tx *db.Tx, p Policy) error {
	_, err := tx.Exec(ctx, "UPDATE asset_policies SET asc350_60 = ?, own_token = ?, updated_at = ? WHERE organization_id = @org AND "+
		"asset_type = ?", p.InScope, p.OwnToken, p.UpdatedAt, p.AssetType)
	return err
}

func deleteRow(ctx context.Context, tx *db.Tx, assetType string) error {
	_, err := tx.Exec(ctx, "DELETE FROM asset_policies WHERE organization_id = @org AND asset_type = ?", assetType)
	return err
}
