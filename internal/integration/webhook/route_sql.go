package webhook

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type enabledRow struct {
	OrganizationID string `db:"organization_id"`
	EndpointID     string `db:"webhook_endpoint_id"`
	Types          string `db:"types"`
}

// selectEnabled reads the endpoints of organizations that events are sent to.
func selectEnabled(ctx context.Context, tx *db.Tx, organizationIDs []string) ([]enabledRow, error) {
	return db.All[enabledRow](ctx, tx, "SELECT "+db.Columns[enabledRow]()+" FROM webhook_endpoints WHERE organization_id {any} AND "+
		"status = 'enabled' ORDER BY organization_id, webhook_endpoint_id", organizationIDs)
}

type neglectedRow struct {
	OrganizationID string `db:"organization_id"`
	EndpointID     string `db:"webhook_endpoint_id"`
}

// lockBusy reads and locks the cursors of endpoints that are claimed, or to which nothing is sent yet, except those that are locked.
func lockBusy(ctx context.Context, tx *db.Tx, organizationIDs []string) (map[Deliver]bool, error) {
	rows, err := db.All[neglectedRow](ctx, tx, `SELECT organization_id, webhook_endpoint_id FROM webhook_cursors WHERE organization_id {any}
		AND (claimed_until > ? OR next_at > ?) ORDER BY organization_id, webhook_endpoint_id {skip_locked}`, organizationIDs, tx.Now(), tx.Now())
	out := make(map[Deliver]bool, len(rows))
	for _, r := range rows {
		out[Deliver(r)] = true
	}
	return out, err
}

// selectNeglected reads endpoints of all organizations that nobody has claimed, and that are behind the events or have a delivery that was
// to be tried again. It begins after one.
func selectNeglected(ctx context.Context, tx *db.Tx, after neglectedRow, limit int) ([]neglectedRow, error) {
	return db.All[neglectedRow](ctx, tx, `SELECT c.organization_id, c.webhook_endpoint_id FROM webhook_cursors c
		JOIN webhook_endpoints e ON e.organization_id = c.organization_id AND e.webhook_endpoint_id = c.webhook_endpoint_id
		JOIN organization_state s ON s.organization_id = c.organization_id
		WHERE e.status = 'enabled' AND (c.claimed_until IS NULL OR c.claimed_until <= ?) AND (c.next_at IS NULL OR c.next_at <= ?)
		AND (c.sequence < s.event_sequence OR c.wake_at <= ? OR c.claim IS NOT NULL)
		AND (c.organization_id, c.webhook_endpoint_id) > (?, ?)
		ORDER BY c.organization_id, c.webhook_endpoint_id LIMIT ?`, tx.Now(), tx.Now(), tx.Now(), after.OrganizationID, after.EndpointID, limit)
}

// loggedRow names a delivery.
type loggedRow struct {
	OrganizationID string `db:"organization_id"`
	DeliveryID     string `db:"webhook_delivery_id"`
}

// selectOlder reads and locks deliveries that were created and tried before a time and are not tried any more.
func selectOlder(ctx context.Context, tx *db.Tx, before time.Time, limit int) ([]loggedRow, error) {
	return db.All[loggedRow](ctx, tx, "SELECT organization_id, webhook_delivery_id FROM webhook_deliveries WHERE created_at < ? AND "+
		"(attempted_at IS NULL OR attempted_at < ?) AND status <> 'retrying' ORDER BY created_at LIMIT ? {skip_locked}", before, before, limit)
}

// selectOrphaned reads deliveries of endpoints that were deleted.
func selectOrphaned(ctx context.Context, tx *db.Tx, limit int) ([]loggedRow, error) {
	return db.All[loggedRow](ctx, tx, `SELECT d.organization_id, d.webhook_delivery_id FROM webhook_cursors c
		JOIN webhook_deliveries d ON d.organization_id = c.organization_id AND d.webhook_endpoint_id = c.webhook_endpoint_id
		WHERE c.deleted_at IS NOT NULL LIMIT ?`, limit)
}

func deleteDeliveries(ctx context.Context, tx *db.Tx, organizationID string, ids []string) error {
	if _, err := tx.Exec(ctx, "DELETE FROM webhook_attempts WHERE organization_id = ? AND webhook_delivery_id {any}", organizationID,
		ids); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM webhook_deliveries WHERE organization_id = ? AND webhook_delivery_id {any}", organizationID, ids)
	return err
}

// deleteFinished deletes the cursors of endpoints that were deleted and have no log any more.
func deleteFinished(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `DELETE FROM webhook_cursors WHERE deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d
		WHERE d.organization_id = webhook_cursors.organization_id AND d.webhook_endpoint_id = webhook_cursors.webhook_endpoint_id)`)
	return err
}
