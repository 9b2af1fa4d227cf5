package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type eventRow struct {
	ConnectionID string    `db:"connection_id"`
	ID           string    `db:"event_id"`
	Type         string    `db:"type"`
	ObjectType   string    `db:"object_type"`
	ObjectID     string    `db:"object_id"`
	ReceivedAt   time.Time `db:"received_at"`
}

// insertEvent stores an event, and reports whether it is new.
func insertEvent(ctx context.Context, tx *db.Tx, connectionID string, e Event) (bool, error) {
	n, err := tx.Exec(ctx, `INSERT INTO connection_events (organization_id, connection_id, event_id, type, object_type, object_id, received_at)
		VALUES (@org, ?, ?, ?, ?, ?, ?) ON CONFLICT (organization_id, connection_id, event_id) DO NOTHING`,
		connectionID, e.ID, e.Type, e.ObjectType, e.ObjectID, e.ReceivedAt)
	return n == 1, err
}

// selectWaiting reads events that are not handled yet, the oldest first.
func selectWaiting(ctx context.Context, tx *db.Tx, connectionID string, limit int) ([]Event, error) {
	rows, err := db.All[eventRow](ctx, tx, "SELECT "+db.Columns[eventRow]()+" FROM connection_events WHERE organization_id = @org AND "+
		"connection_id = ? AND handled_at IS NULL ORDER BY received_at, event_id LIMIT ?", connectionID, limit)
	out := make([]Event, len(rows))
	for n, r := range rows {
		out[n] = Event{ID: r.ID, Type: r.Type, ObjectType: r.ObjectType, ObjectID: r.ObjectID, ReceivedAt: r.ReceivedAt}
	}
	return out, err
}

func countWaiting(ctx context.Context, tx *db.Tx, connectionID string) (int64, error) {
	return db.One[int64](ctx, tx, noun, `SELECT count(*) FROM connection_events WHERE organization_id = @org AND connection_id = ? AND
		handled_at IS NULL`, connectionID)
}

func markHandled(ctx context.Context, tx *db.Tx, connectionID string, eventIDs []string) error {
	_, err := tx.Exec(ctx, "UPDATE connection_events SET handled_at = ? WHERE organization_id = @org AND connection_id = ? AND event_id {any}",
		tx.Now(), connectionID, eventIDs)
	return err
}

// deleteHandled deletes the events of all organizations that were handled before a time.
func deleteHandled(ctx context.Context, tx *db.Tx, before time.Time) error {
	_, err := tx.Exec(ctx, "DELETE FROM connection_events WHERE handled_at IS NOT NULL AND handled_at < ?", before)
	return err
}

// verifyRow is a connection with what must agree with it.
type verifyRow struct {
	row
	SyncStatus     *string `db:"sync_status"`
	HasCredentials bool    `db:"has_credentials"`
}

func selectForVerify(ctx context.Context, tx *db.Tx) ([]verifyRow, error) {
	return db.All[verifyRow](ctx, tx, "SELECT "+db.Columns[row]()+`,
		(SELECT p.status FROM connection_syncs p WHERE p.organization_id = @org AND p.connection_id = connections.connection_id) AS sync_status,
		EXISTS (SELECT 1 FROM connection_credentials k WHERE k.organization_id = @org AND k.connection_id = connections.connection_id)
		AS has_credentials
		FROM connections WHERE organization_id = @org ORDER BY connection_id`)
}
