package outbox

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	Sequence      int64     `db:"sequence"`
	EventID       string    `db:"event_id"`
	Type          string    `db:"type"`
	AuditSequence int64     `db:"audit_sequence"`
	CreatedAt     time.Time `db:"created_at"`
}

func insert(ctx context.Context, tx *db.Tx, events []Event) error {
	rows := make([]row, len(events))
	for i, e := range events {
		rows[i] = row{Sequence: e.Sequence, EventID: e.ID, Type: e.Type, AuditSequence: e.AuditSequence, CreatedAt: e.CreatedAt}
	}
	return db.Insert(ctx, tx, "events", rows...)
}

type markRow struct {
	OrganizationID string `db:"organization_id"`
	Sequence       int64  `db:"sequence"`
}

// Begin stores that no event of a new organization was handed on yet.
func Begin(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, "INSERT INTO relays (organization_id, sequence) VALUES (@org, 0)")
	return err
}

const behind = "SELECT organization_id, sequence FROM relays r WHERE sequence < (SELECT h.event_sequence FROM organization_state h WHERE " +
	"h.organization_id = r.organization_id)"

// selectBehind takes the marks of organizations with events that wait and that no other node is at, of all or of some.
func selectBehind(ctx context.Context, tx *db.Tx, some []string, limit int) ([]markRow, error) {
	q := db.Select(behind)
	if some != nil {
		q.And("organization_id {any}", some)
	}
	return db.All[markRow](ctx, tx, q.Then("ORDER BY organization_id LIMIT ? {skip_locked}", limit), q.Args...)
}

type waitingRow struct {
	Sequence int64  `db:"sequence"`
	EventID  string `db:"event_id"`
	Type     string `db:"type"`
}

func selectAfter(ctx context.Context, tx *db.Tx, m markRow, limit int) ([]waitingRow, error) {
	return db.All[waitingRow](ctx, tx,
		"SELECT sequence, event_id, type FROM events WHERE organization_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
		m.OrganizationID, m.Sequence, limit)
}

func mark(ctx context.Context, tx *db.Tx, m markRow) error {
	_, err := tx.Exec(ctx, "UPDATE relays SET sequence = ? WHERE organization_id = ?", m.Sequence, m.OrganizationID)
	return err
}

type checkRow struct {
	Count  int64  `db:"n"`
	Lowest *int64 `db:"lowest"`
	Top    *int64 `db:"top"`
	Head   int64  `db:"head"`
}

func selectCheck(ctx context.Context, tx *db.Tx) (checkRow, error) {
	return db.One[checkRow](ctx, tx, "organization",
		`SELECT count(e.sequence) AS n, min(e.sequence) AS lowest, max(e.sequence) AS top, h.event_sequence AS head
		FROM organization_state h LEFT JOIN events e ON e.organization_id = h.organization_id
		WHERE h.organization_id = @org GROUP BY h.event_sequence`)
}

// countOrphans counts events of changes the audit log does not have.
func countOrphans(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count", `SELECT count(*) FROM events e
		LEFT JOIN audit_log a ON a.organization_id = e.organization_id AND a.sequence = e.audit_sequence
		WHERE e.organization_id = @org AND a.sequence IS NULL`)
}

type lagRow struct {
	Waiting int64      `db:"waiting"`
	Oldest  *time.Time `db:"oldest"`
}

// selectLag counts the events that were not handed on yet, and finds when the first of them was written.
func selectLag(ctx context.Context, tx *db.Tx) (lagRow, error) {
	return db.One[lagRow](ctx, tx, "count", `SELECT CAST(coalesce(sum(h.event_sequence - r.sequence), 0) AS {integer}) AS waiting,
		min(e.created_at) AS oldest FROM relays r JOIN organization_state h ON h.organization_id = r.organization_id
		LEFT JOIN events e ON e.organization_id = r.organization_id AND e.sequence = r.sequence + 1
		WHERE r.sequence < h.event_sequence`)
}
