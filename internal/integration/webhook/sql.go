package webhook

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

const (
	table         = "webhook_endpoints"
	cursorTable   = "webhook_cursors"
	deliveryTable = "webhook_deliveries"
	attemptTable  = "webhook_attempts"
	replayTable   = "webhook_replays"
)

type row struct {
	ID                      string     `db:"webhook_endpoint_id"`
	URL                     string     `db:"url"`
	Description             *string    `db:"description"`
	Types                   string     `db:"types"`
	Ordered                 bool       `db:"ordered"`
	Status                  string     `db:"status"`
	StatusReason            *string    `db:"status_reason"`
	Secret                  string     `db:"secret"`
	PreviousSecret          *string    `db:"previous_secret"`
	PreviousSecretExpiresAt *time.Time `db:"previous_secret_expires_at"`
	Revision                int64      `db:"revision"`
	CreatedAt               time.Time  `db:"created_at"`
	UpdatedAt               *time.Time `db:"updated_at"`
}

func toRow(e Endpoint) row {
	return row{ID: e.ID, URL: e.URL, Description: db.OrNull(e.Description), Types: strings.Join(e.Types, " "), Ordered: e.Ordered,
		Status: string(e.Status), StatusReason: db.OrNull(e.StatusReason), Secret: e.secret, PreviousSecret: db.OrNull(e.previousSecret),
		PreviousSecretExpiresAt: e.PreviousSecretExpiresAt, Revision: e.revision, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt}
}

// endpointRow is an endpoint with what is shown of its cursor.
type endpointRow struct {
	row
	FailingSince *time.Time `db:"failing_since"`
}

func (r endpointRow) endpoint() Endpoint {
	return Endpoint{ID: r.ID, URL: r.URL, Description: db.OrEmpty(r.Description), Types: strings.Fields(r.Types), Ordered: r.Ordered,
		Status: Status(r.Status), StatusReason: db.OrEmpty(r.StatusReason), secret: r.Secret, previousSecret: db.OrEmpty(r.PreviousSecret),
		PreviousSecretExpiresAt: r.PreviousSecretExpiresAt, FailingSince: r.FailingSince, revision: r.Revision, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt}
}

var selectRows = "SELECT " + db.Columns[row]() + `, (SELECT c.failing_since FROM webhook_cursors c WHERE c.organization_id = @org AND
	c.webhook_endpoint_id = webhook_endpoints.webhook_endpoint_id) AS failing_since FROM webhook_endpoints WHERE organization_id = @org`

func selectEndpoint(ctx context.Context, tx *db.Tx, endpointID, lock string) (Endpoint, error) {
	r, err := db.One[endpointRow](ctx, tx, noun, selectRows+" AND webhook_endpoint_id = ? "+lock, endpointID)
	return r.endpoint(), err
}

func selectEndpoints(ctx context.Context, tx *db.Tx, above string, limit int) ([]Endpoint, error) {
	rows, err := db.All[endpointRow](ctx, tx, selectRows+" AND webhook_endpoint_id > ? ORDER BY webhook_endpoint_id LIMIT ?", above, limit)
	out := make([]Endpoint, len(rows))
	for i, r := range rows {
		out[i] = r.endpoint()
	}
	return out, err
}

func countEndpoints(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, noun, "SELECT count(*) FROM webhook_endpoints WHERE organization_id = @org")
}

// insertEndpoint stores an endpoint to which events after a sequence number are sent.
func insertEndpoint(ctx context.Context, tx *db.Tx, e Endpoint, after int64) error {
	if err := db.Insert(ctx, tx, table, toRow(e)); err != nil {
		return err
	}
	return db.Insert(ctx, tx, cursorTable, cursor{EndpointID: e.ID, Sequence: after})
}

func updateEndpoint(ctx context.Context, tx *db.Tx, e Endpoint) error {
	r := toRow(e)
	_, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET url = ?, description = ?, types = ?, ordered = ?, status = ?, status_reason = ?,
		secret = ?, previous_secret = ?, previous_secret_expires_at = ?, revision = ?, updated_at = ?
		WHERE organization_id = @org AND webhook_endpoint_id = ?`, r.URL, r.Description, r.Types, r.Ordered, r.Status, r.StatusReason, r.Secret,
		r.PreviousSecret, r.PreviousSecretExpiresAt, r.Revision, r.UpdatedAt, r.ID)
	return err
}

// deleteEndpoint deletes an endpoint, and marks its cursor so that its log is deleted later.
func deleteEndpoint(ctx context.Context, tx *db.Tx, endpointID string) error {
	if _, err := tx.Exec(ctx, "UPDATE webhook_cursors SET deleted_at = ?, claim = NULL, claimed_until = NULL, wake_at = NULL "+
		"WHERE organization_id = @org AND webhook_endpoint_id = ?", tx.Now(), endpointID); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM webhook_replays WHERE organization_id = @org AND webhook_endpoint_id = ?", endpointID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM webhook_endpoints WHERE organization_id = @org AND webhook_endpoint_id = ?", endpointID)
	return err
}

// cursor is how far events were sent to an endpoint.
type cursor struct {
	EndpointID   string     `db:"webhook_endpoint_id"`
	Sequence     int64      `db:"sequence"`      // the last event that was sent or left out
	Failures     int64      `db:"failures"`      // in a row, see probing
	FailingSince *time.Time `db:"failing_since"` // since when no delivery has succeeded
	NextAt       *time.Time `db:"next_at"`       // nothing is sent before
	WakeAt       *time.Time `db:"wake_at"`       // a job is scheduled for this time
	Claim        *string    `db:"claim"`
	ClaimedUntil *time.Time `db:"claimed_until"`
	DeletedAt    *time.Time `db:"deleted_at"`
}

// lockCursor reads the cursor of an endpoint and keeps others from changing it, and its deliveries, until the transaction ends.
func lockCursor(ctx context.Context, tx *db.Tx, endpointID string) (cursor, error) {
	return db.One[cursor](ctx, tx, noun, "SELECT "+db.Columns[cursor]()+" FROM webhook_cursors WHERE organization_id = @org AND "+
		"webhook_endpoint_id = ? {for_update}", endpointID)
}

func updateCursor(ctx context.Context, tx *db.Tx, c cursor) error {
	_, err := tx.Exec(ctx, `UPDATE webhook_cursors SET sequence = ?, failures = ?, failing_since = ?, next_at = ?, wake_at = ?, claim = ?,
		claimed_until = ? WHERE organization_id = @org AND webhook_endpoint_id = ?`, c.Sequence, c.Failures, c.FailingSince, c.NextAt, c.WakeAt,
		c.Claim, c.ClaimedUntil, c.EndpointID)
	return err
}
