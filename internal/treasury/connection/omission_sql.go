package connection

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

type omissionCount struct {
	ConnectionID string `db:"connection_id"`
	Count        int64  `db:"n"`
}

// countOmissions counts the records of connections that were left out. It returns nothing for a connection without any.
func countOmissions(ctx context.Context, tx *db.Tx, connectionIDs []string) ([]omissionCount, error) {
	return db.All[omissionCount](ctx, tx, `SELECT connection_id, count(*) AS n FROM connection_omissions WHERE organization_id = @org AND
		connection_id {any} GROUP BY connection_id`, connectionIDs)
}

type omissionRow struct {
	Kind   string `db:"kind"`
	ID     string `db:"record_id"`
	Reason string `db:"reason"`
}

// selectOmissions reads records that were left out, the earliest first.
func selectOmissions(ctx context.Context, tx *db.Tx, connectionID string, limit int) ([]omissionRow, error) {
	return db.All[omissionRow](ctx, tx, "SELECT "+db.Columns[omissionRow]()+" FROM connection_omissions WHERE organization_id = @org AND "+
		"connection_id = ? ORDER BY noticed_at, kind, record_id LIMIT ?", connectionID, limit)
}

func upsertOmission(ctx context.Context, tx *db.Tx, connectionID string, o Omission) error {
	_, err := tx.Exec(ctx, `INSERT INTO connection_omissions (organization_id, connection_id, kind, record_id, reason, noticed_at)
		VALUES (@org, ?, ?, ?, ?, ?) ON CONFLICT (organization_id, connection_id, kind, record_id) DO UPDATE SET reason = excluded.reason`,
		connectionID, o.Kind, o.ID, o.Reason, tx.Now())
	return err
}

func deleteOmissions(ctx context.Context, tx *db.Tx, connectionID, kind string, ids []string) error {
	_, err := tx.Exec(ctx, "DELETE FROM connection_omissions WHERE organization_id = @org AND connection_id = ? AND kind = ? AND "+
		"record_id {any}", connectionID, kind, ids)
	return err
}

// selectOmitted returns those of some ids whose records were left out.
func selectOmitted(ctx context.Context, tx *db.Tx, connectionID string, ids []string) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT record_id FROM connection_omissions WHERE organization_id = @org AND connection_id = ? AND "+
		"record_id {any}", connectionID, ids)
}
