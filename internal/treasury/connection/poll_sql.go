package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// dueRow is a connection that is due.
type dueRow struct {
	OrganizationID string `db:"organization_id"`
	ConnectionID   string `db:"connection_id"`
	SyncMinutes    int64  `db:"sync_minutes"`

	claim string
}

const isDue = " WHERE due_at IS NOT NULL AND due_at <= ? AND status = 'idle' AND (polled_until IS NULL OR polled_until < ?)"

// selectDue reads the ids of connections of all organizations that are due, those that have waited longest at the beginning.
func selectDue(ctx context.Context, tx *db.Tx, limit int) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT connection_id FROM connection_syncs"+isDue+" ORDER BY due_at, connection_id LIMIT ?", tx.Now(),
		tx.Now(), limit)
}

// claimDue takes those of some connections that are still due.
func claimDue(ctx context.Context, tx *db.Tx, ids []string, claim string, until time.Time) ([]dueRow, error) {
	if _, err := tx.Exec(ctx, "UPDATE connection_syncs SET poll_claim = ?, polled_until = ?"+isDue+" AND connection_id {any}", claim, until,
		tx.Now(), tx.Now(), ids); err != nil {
		return nil, err
	}
	rows, err := db.All[dueRow](ctx, tx, `SELECT p.organization_id, p.connection_id, c.sync_minutes FROM connection_syncs p
		JOIN connections c ON c.organization_id = p.organization_id AND c.connection_id = p.connection_id
		WHERE p.due_at IS NOT NULL AND p.due_at <= ? AND p.poll_claim = ? AND c.status IN ('active', 'error') AND c.sync_minutes > 0
		ORDER BY p.due_at, p.connection_id`, tx.Now(), claim)
	for n := range rows {
		rows[n].claim = claim
	}
	return rows, err
}

// postponeDue stores that there was nothing new at the providers of connections, and when they are due again.
func postponeDue(ctx context.Context, tx *db.Tx, claim string, ids []string, due time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET due_at = ?, finished_at = ?, poll_claim = NULL, polled_until = NULL
		WHERE due_at IS NOT NULL AND due_at <= ? AND poll_claim = ? AND status = 'idle' AND connection_id {any}`, due, tx.Now(), tx.Now(), claim,
		ids)
	return err
}

// requestDue has connections of an organization read, unless they were disconnected meanwhile.
func requestDue(ctx context.Context, tx *db.Tx, organizationID, claim string, ids []string) error {
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET stage = CASE WHEN stage IS NULL THEN 'start' ELSE stage END, status = 'pending',
		cause = 'schedule', claimed_until = NULL, tries = 0, created_at = ?, poll_claim = NULL, polled_until = NULL
		WHERE organization_id = ? AND status = 'idle' AND due_at IS NOT NULL AND poll_claim = ? AND connection_id {any}`, tx.Now(),
		organizationID, claim, ids)
	return err
}
