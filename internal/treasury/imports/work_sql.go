package imports

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// advance stores the progress or the end of an import, if the claim is still held; it reports whether it was.
func advance(ctx context.Context, tx *db.Tx, i Import, claim string) (bool, error) {
	c := i.Counts
	warnings, err := i.encodeWarnings()
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(ctx, `UPDATE imports SET status = ?, bytes_read = ?, rows_read = ?, created_count = ?, duplicate_count = ?,
		skipped_count = ?, faulty_count = ?, fault_count = ?,
		warnings = ?, error_message = ?, finished_at = ?, tries = 0
		WHERE organization_id = @org AND import_id = ? AND claim = ? AND status = 'running'`,
		string(i.Status), i.BytesRead, c.Rows, c.Created, c.Duplicates, c.Skipped, c.Faulty, c.Faults, warnings,
		db.OrNull(i.Error), i.FinishedAt, i.ID, claim)
	return n == 1, err
}

// leftover is an import with data that should have been deleted.
type leftover struct {
	OrganizationID string `db:"organization_id"`
	ID             string `db:"import_id"`
}

// abandonInterrupted prevents uploads whose lease has expired from becoming imports. Those of earlier versions have no lease.
func abandonInterrupted(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, "UPDATE imports SET claim = 'given up' WHERE status = 'uploading' AND claim IS NULL "+
		"AND (claimed_until IS NULL OR claimed_until < ?)", tx.Now())
	return err
}

// selectLeftovers lists ended imports that still have chunks, and abandoned uploads.
func selectLeftovers(ctx context.Context, tx *db.Tx) ([]leftover, error) {
	return db.All[leftover](ctx, tx, `SELECT DISTINCT c.organization_id, c.import_id FROM import_chunks c
		WHERE NOT EXISTS (SELECT 1 FROM imports i WHERE i.organization_id = c.organization_id AND i.import_id = c.import_id AND `+needed+`)
		UNION SELECT u.organization_id, u.import_id FROM imports u WHERE u.status = 'uploading' AND u.claim IS NOT NULL`)
}

type verifyRow struct {
	row
	Kept   int64  `db:"kept"`
	Last   *int64 `db:"last"`
	Stored int64  `db:"stored"`
	Pieces int64  `db:"pieces"`
	Top    *int64 `db:"top"`
}

// selectForVerify reads every import with the counts that Verify compares.
func selectForVerify(ctx context.Context, tx *db.Tx) ([]verifyRow, error) {
	return db.All[verifyRow](ctx, tx, "SELECT "+db.Columns[row]()+`,
		(SELECT count(*) FROM import_faults f WHERE f.organization_id = @org AND f.import_id = imports.import_id) AS kept,
		(SELECT max(l.position) FROM import_faults l WHERE l.organization_id = @org AND l.import_id = imports.import_id) AS last,
		(SELECT coalesce(sum(length(c.content)), 0) FROM import_chunks c WHERE c.organization_id = @org AND c.import_id =
		imports.import_id) AS stored,
		(SELECT count(*) FROM import_chunks p WHERE p.organization_id = @org AND p.import_id = imports.import_id) AS pieces,
		(SELECT max(t.position) FROM import_chunks t WHERE t.organization_id = @org AND t.import_id = imports.import_id) AS top
		FROM imports WHERE organization_id = @org ORDER BY import_id`)
}

// selectOrphans lists the ids of chunks and faults whose import does not exist.
func selectOrphans(ctx context.Context, tx *db.Tx, table string) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT DISTINCT r.import_id FROM "+table+" r WHERE r.organization_id = @org AND NOT EXISTS "+
		"(SELECT 1 FROM imports i WHERE i.organization_id = r.organization_id AND i.import_id = r.import_id) ORDER BY r.import_id")
}
