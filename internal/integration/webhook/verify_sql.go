package webhook

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// verifyRow is an endpoint with what must agree with it.
type verifyRow struct {
	row
	Sequence *int64 `db:"sequence"`
	Last     int64  `db:"last"`
}

func selectForVerify(ctx context.Context, tx *db.Tx) ([]verifyRow, error) {
	return db.All[verifyRow](ctx, tx, "SELECT "+db.Columns[row]()+`, (SELECT c.sequence FROM webhook_cursors c WHERE c.organization_id = @org
		AND c.webhook_endpoint_id = webhook_endpoints.webhook_endpoint_id AND c.deleted_at IS NULL) AS sequence,
		(SELECT s.event_sequence FROM organization_state s WHERE s.organization_id = @org) AS last
		FROM webhook_endpoints WHERE organization_id = @org ORDER BY webhook_endpoint_id`)
}

// selectOrphans reads the ids of endpoints that do not exist and were not deleted either.
func selectOrphans(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT c.webhook_endpoint_id FROM webhook_cursors c WHERE c.organization_id = @org AND c.deleted_at IS NULL
		AND NOT EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.organization_id = @org AND e.webhook_endpoint_id = c.webhook_endpoint_id)
		UNION SELECT d.webhook_endpoint_id FROM webhook_deliveries d WHERE d.organization_id = @org AND NOT EXISTS
		(SELECT 1 FROM webhook_cursors f WHERE f.organization_id = @org AND f.webhook_endpoint_id = d.webhook_endpoint_id)
		ORDER BY 1`)
}
