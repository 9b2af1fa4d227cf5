package glsync

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type mappingRow struct {
	ID              string     `db:"gl_mapping_id"`
	ConnectionID    string     `db:"connection_id"`
	LedgerAccountID string     `db:"ledger_account_id"`
	AccountID       string     `db:"gl_account_id"`
	CreatedAt       time.Time  `db:"created_at"`
	UpdatedAt       *time.Time `db:"updated_at"`
}

func selectMappings(ctx context.Context, tx *db.Tx, connectionID string) ([]stored, error) {
	rows, err := db.All[mappingRow](ctx, tx, "SELECT "+db.Columns[mappingRow]()+
		" FROM gl_mappings WHERE organization_id = @org AND connection_id = ? ORDER BY gl_mapping_id", connectionID)
	out := make([]stored, len(rows))
	for n, r := range rows {
		out[n] = stored(r)
	}
	return out, err
}

func insertMapping(ctx context.Context, tx *db.Tx, m stored) error {
	return db.Insert(ctx, tx, "gl_mappings", mappingRow(m))
}

func updateMapping(ctx context.Context, tx *db.Tx, m stored) error {
	return tx.Queue(ctx, "UPDATE gl_mappings SET gl_account_id = ?, updated_at = ? WHERE organization_id = @org AND gl_mapping_id = ?",
		m.AccountID, m.UpdatedAt, m.ID)
}

func deleteMapping(ctx context.Context, tx *db.Tx, mappingID string) error {
	return tx.Queue(ctx, "DELETE FROM gl_mappings WHERE organization_id = @org AND gl_mapping_id = ?", mappingID)
}
