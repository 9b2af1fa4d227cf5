package outbox

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	Sequence      int64     `db:"sequence"`
	EventID       string    `db:"event_id"`
	Type          string    `db:"type"`
	ObjectID      *string   `db:"object_id"`
	Data          string    `db:"data"`
	AuditSequence int64     `db:"audit_sequence"`
	CreatedAt     time.Time `db:"created_at"`
}

func (r row) event() Event {
	return Event{ID: r.EventID, Sequence: r.Sequence, AuditSequence: r.AuditSequence, Type: r.Type, CreatedAt: r.CreatedAt,
		ObjectID: db.OrEmpty(r.ObjectID), Data: r.Data}
}

func insert(ctx context.Context, tx *db.Tx, events []Event) error {
	rows := make([]row, len(events))
	for i, e := range events {
		rows[i] = row{Sequence: e.Sequence, EventID: e.ID, Type: e.Type, ObjectID: db.OrNull(e.ObjectID), Data: e.Data,
			AuditSequence: e.AuditSequence, CreatedAt: e.CreatedAt}
	}
	return db.Insert(ctx, tx, "events", rows...)
}

var selectEvents = "SELECT " + db.Columns[row]() + " FROM events WHERE organization_id = @org"

// selectPage reads events. Those of several types are found by the index of each type, because others may lie between them.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, after int64, limit int) ([]row, error) {
	if f.ObjectID == "" && len(f.Types) > 0 {
		return selectByType(ctx, tx, f, after, limit)
	}
	q := db.Select(selectEvents)
	if f.ObjectID != "" {
		q.And("object_id = ?", f.ObjectID)
	}
	if len(f.Types) > 0 {
		q.And("{unindexed}type {any}", f.Types)
	}
	return f.selectNext(ctx, tx, q, after, limit)
}

func selectByType(ctx context.Context, tx *db.Tx, f Filter, after int64, limit int) (found []row, err error) {
	for _, one := range f.Types {
		if slices.Contains(f.Without, one) {
			continue
		}
		rows, err := f.selectNext(ctx, tx, db.Select(selectEvents).And("type = ?", one), after, limit)
		if err != nil {
			return nil, err
		}
		found = append(found, rows...)
	}
	slices.SortFunc(found, func(a, b row) int {
		if f.Newest {
			a, b = b, a
		}
		return cmp.Compare(a.Sequence, b.Sequence)
	})
	return found[:min(limit, len(found))], nil
}

// selectNext adds the order and the position to a query for events.
func (f Filter) selectNext(ctx context.Context, tx *db.Tx, q *db.Query, after int64, limit int) ([]row, error) {
	if len(f.Without) > 0 {
		q.And("NOT ({unindexed}type {any})", f.Without)
	}
	if f.Newest {
		q.And("sequence < ?", after)
		return db.All[row](ctx, tx, q.Then("ORDER BY sequence DESC LIMIT ?", limit), q.Args...)
	}
	q.And("sequence > ?", after)
	return db.All[row](ctx, tx, q.Then("ORDER BY sequence LIMIT ?", limit), q.Args...)
}

func selectEvent(ctx context.Context, tx *db.Tx, eventID string) (row, error) {
	return db.One[row](ctx, tx, "event", selectEvents+" AND event_id = ?", eventID)
}

// positionRow is the last event of an organization that was handed to the job queue.
type positionRow struct {
	OrganizationID string `db:"organization_id"`
	Sequence       int64  `db:"sequence"`
}

// Begin inserts the position of a new organization, of which no event was handed to the job queue yet.
func Begin(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, "INSERT INTO relays (organization_id, sequence) VALUES (@org, 0)")
	return err
}

const behind = "SELECT organization_id, sequence FROM relays r WHERE sequence < (SELECT s.event_sequence FROM organization_state s WHERE " +
	"s.organization_id = r.organization_id)"

// selectBehind locks the positions of organizations whose events wait, except those that another node has locked. A nil
// list of ids means all organizations.
func selectBehind(ctx context.Context, tx *db.Tx, organizationIDs []string, limit int) ([]positionRow, error) {
	q := db.Select(behind)
	if organizationIDs != nil {
		q.And("organization_id {any}", organizationIDs)
	}
	return db.All[positionRow](ctx, tx, q.Then("ORDER BY organization_id LIMIT ? {skip_locked}", limit), q.Args...)
}

type waitingRow struct {
	Sequence int64  `db:"sequence"`
	EventID  string `db:"event_id"`
	Type     string `db:"type"`
}

func selectAfter(ctx context.Context, tx *db.Tx, p positionRow, limit int) ([]waitingRow, error) {
	return db.All[waitingRow](ctx, tx,
		"SELECT sequence, event_id, type FROM events WHERE organization_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
		p.OrganizationID, p.Sequence, limit)
}

func updatePosition(ctx context.Context, tx *db.Tx, p positionRow) error {
	_, err := tx.Exec(ctx, "UPDATE relays SET sequence = ? WHERE organization_id = ?", p.Sequence, p.OrganizationID)
	return err
}

// sequenceRow compares the events of an organization with the last sequence number of its state and that of the last event deleted.
type sequenceRow struct {
	Count    int64  `db:"n"`
	First    *int64 `db:"first_sequence"`
	Last     *int64 `db:"last_sequence"`
	Expected int64  `db:"expected"`
	Deleted  int64  `db:"deleted"`
}

func selectSequence(ctx context.Context, tx *db.Tx) (sequenceRow, error) {
	return db.One[sequenceRow](ctx, tx, "organization",
		`SELECT count(e.sequence) AS n, min(e.sequence) AS first_sequence, max(e.sequence) AS last_sequence, s.event_sequence AS expected,
			r.deleted_through AS deleted
		FROM organization_state s JOIN relays r ON r.organization_id = s.organization_id
		LEFT JOIN events e ON e.organization_id = s.organization_id
		WHERE s.organization_id = @org GROUP BY s.event_sequence, r.deleted_through`)
}

// wrongMax bounds how many events are read that differ from their audit records.
const wrongMax = 10

// selectMismatched reads the numbers of the first events that do not report the change of an audit record, or not in the order of the log.
func selectMismatched(ctx context.Context, tx *db.Tx) ([]int64, error) {
	return db.All[int64](ctx, tx, `SELECT e.sequence FROM events e
		LEFT JOIN audit_log a ON a.organization_id = e.organization_id AND a.sequence = e.audit_sequence
		LEFT JOIN events b ON b.organization_id = e.organization_id AND b.sequence = e.sequence - 1
		WHERE e.organization_id = @org AND (a.sequence IS NULL OR a.action <> e.type OR a.created_at <> e.created_at
			OR b.audit_sequence >= e.audit_sequence OR e.object_id <> a.resource_id)
		ORDER BY e.sequence LIMIT ?`, wrongMax)
}

type lagRow struct {
	Waiting int64      `db:"waiting"`
	Oldest  *time.Time `db:"oldest"`
}

// selectLag counts the events that were not handed to the job queue yet, and finds when the first of them was written.
func selectLag(ctx context.Context, tx *db.Tx) (lagRow, error) {
	return db.One[lagRow](ctx, tx, "count", `SELECT CAST(coalesce(sum(s.event_sequence - r.sequence), 0) AS {integer}) AS waiting,
		min(e.created_at) AS oldest FROM relays r JOIN organization_state s ON s.organization_id = r.organization_id
		LEFT JOIN events e ON e.organization_id = r.organization_id AND e.sequence = r.sequence + 1
		WHERE r.sequence < s.event_sequence`)
}

// selectRetention reads for how many days the organization keeps events.
func selectRetention(ctx context.Context, tx *db.Tx) (int, error) {
	return db.One[int](ctx, tx, "organization", "SELECT retention_days FROM relays WHERE organization_id = @org")
}

func updateRetention(ctx context.Context, tx *db.Tx, days int) error {
	_, err := tx.Exec(ctx, "UPDATE relays SET retention_days = ? WHERE organization_id = @org", days)
	return err
}

// retentionRow says which events of an organization may be deleted.
type retentionRow struct {
	OrganizationID string `db:"organization_id"`
	Days           int    `db:"retention_days"`
	Relayed        int64  `db:"sequence"`

	Oldest *time.Time `db:"oldest"` // when the first event that is kept happened; nil if none is
}

func selectRetentions(ctx context.Context, tx *db.Tx, after string, limit int) ([]retentionRow, error) {
	return db.All[retentionRow](ctx, tx, `SELECT organization_id, retention_days, sequence, (SELECT e.created_at FROM events e WHERE
		e.organization_id = r.organization_id AND e.sequence = r.deleted_through + 1) AS oldest
		FROM relays r WHERE organization_id > ? ORDER BY organization_id LIMIT ?`, after, limit)
}

// selectOldest reads the oldest events, up to a limit, and up to one that was relayed.
func selectOldest(ctx context.Context, tx *db.Tx, r retentionRow, limit int) ([]ageRow, error) {
	return db.All[ageRow](ctx, tx, "SELECT sequence, created_at FROM events WHERE organization_id = @org AND sequence <= ? "+
		"ORDER BY sequence LIMIT ?", r.Relayed, limit)
}

type ageRow struct {
	Sequence  int64     `db:"sequence"`
	CreatedAt time.Time `db:"created_at"`
}

func deleteThrough(ctx context.Context, tx *db.Tx, sequence int64) error {
	if _, err := tx.Exec(ctx, "UPDATE relays SET deleted_through = ? WHERE organization_id = @org", sequence); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM events WHERE organization_id = @org AND sequence <= ?", sequence)
	return err
}
