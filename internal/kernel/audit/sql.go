package audit

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

type recordRow struct {
	Sequence     int64     `db:"sequence"`
	CreatedAt    time.Time `db:"created_at"`
	UserID       *string   `db:"user_id"`
	APIKeyID     *string   `db:"api_key_id"`
	AppID        *string   `db:"oauth_authorization_id"`
	FirmID       *string   `db:"firm_id"`
	RequestID    *string   `db:"request_id"`
	Action       string    `db:"action"`
	ResourceType string    `db:"resource_type"`
	ResourceID   string    `db:"resource_id"`
	Before       *string   `db:"before"`
	After        *string   `db:"after"`
	State        *string   `db:"state"`
	PreviousHash string    `db:"previous_hash"`
	Hash         string    `db:"hash"`
}

func insertRecords(ctx context.Context, tx *db.Tx, records []LogRecord) error {
	rows := make([]recordRow, len(records))
	for i, r := range records {
		rows[i] = recordRow{
			Sequence: r.Sequence, CreatedAt: r.CreatedAt,
			UserID: db.OrNull(r.UserID), APIKeyID: db.OrNull(r.APIKeyID), AppID: db.OrNull(r.AppID), FirmID: db.OrNull(r.FirmID),
			RequestID: db.OrNull(r.RequestID),
			Action:    r.Action, ResourceType: r.ResourceType, ResourceID: r.ResourceID,
			Before: db.OrNull(r.Before), After: db.OrNull(r.After), State: db.OrNull(r.State),
			PreviousHash: r.PreviousHash, Hash: r.Hash,
		}
	}
	return db.Insert(ctx, tx, "audit_log", rows...)
}

func (r recordRow) record() LogRecord {
	return LogRecord{
		Sequence: r.Sequence, CreatedAt: r.CreatedAt,
		UserID: db.OrEmpty(r.UserID), APIKeyID: db.OrEmpty(r.APIKeyID), AppID: db.OrEmpty(r.AppID), FirmID: db.OrEmpty(r.FirmID),
		RequestID: db.OrEmpty(r.RequestID),
		Action:    r.Action, ResourceType: r.ResourceType, ResourceID: r.ResourceID,
		Before: db.OrEmpty(r.Before), After: db.OrEmpty(r.After), State: db.OrEmpty(r.State),
		PreviousHash: r.PreviousHash, Hash: r.Hash,
	}
}

// selectAfter reads records after a sequence number, oldest first.
func selectAfter(ctx context.Context, tx *db.Tx, after int64, limit int) ([]LogRecord, error) {
	rows, err := db.All[recordRow](ctx, tx, "SELECT "+db.Columns[recordRow]()+
		" FROM audit_log WHERE organization_id = @org AND sequence > ? ORDER BY sequence LIMIT ?", after, limit)
	return records(rows), err
}

// selectTouched reads the resources that some actions changed after a sequence number, oldest first.
func selectTouched(ctx context.Context, tx *db.Tx, actions []string, after int64, limit int) ([]Touched, error) {
	return db.All[Touched](ctx, tx,
		"SELECT sequence, resource_id FROM audit_log WHERE organization_id = @org AND sequence > ? AND {unindexed}action {any} "+
			"ORDER BY sequence LIMIT ?", after, actions, limit)
}

// hasChanges reports whether there are records about resources of some types after a sequence number.
func hasChanges(ctx context.Context, tx *db.Tx, resourceTypes []string, after int64) (bool, error) {
	found, err := db.All[int64](ctx, tx, "SELECT sequence FROM audit_log WHERE organization_id = @org AND sequence > ? "+
		"AND {unindexed}resource_type {any} ORDER BY sequence LIMIT 1", after, resourceTypes)
	return len(found) > 0, err
}

// selectMade returns which of some resources were the subject of an action of an app or one of its keys.
func selectMade(ctx context.Context, tx *db.Tx, action string, resourceIDs []string, by Maker) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT DISTINCT resource_id FROM audit_log WHERE organization_id = @org AND resource_id {any} AND "+
		"{unindexed}action = ? AND (oauth_authorization_id = ? OR api_key_id {any})", resourceIDs, action, by.AuthorizationID,
		append([]string{}, by.APIKeyIDs...))
}

// selectPage reads records before a sequence number, newest first.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, below int64, limit int) ([]LogRecord, error) {
	q := db.Select("SELECT "+db.Columns[recordRow]()+" FROM audit_log WHERE organization_id = @org").And("sequence < ?", below)
	if f.ResourceID != "" {
		q.And("resource_id = ?", f.ResourceID)
	}
	if f.Action != "" {
		q.And("action = ?", f.Action)
	}
	if f.UserID != "" {
		q.And("user_id = ?", f.UserID)
	}
	if !f.From.IsZero() {
		q.And("created_at >= ?", f.From)
	}
	if !f.To.IsZero() {
		q.And("created_at <= ?", f.To)
	}
	if hidden := Hidden(actor.From(ctx)); len(hidden) > 0 {
		q.And("NOT (resource_type {any})", hidden)
	}
	rows, err := db.All[recordRow](ctx, tx, q.Then("ORDER BY sequence DESC LIMIT ?", limit), q.Args...)
	return records(rows), err
}

// CountAction returns how many records of an action there are. It is a building block.
func CountAction(ctx context.Context, tx *db.Tx, action string) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM audit_log WHERE organization_id = @org AND action = ?", action)
}

// hasRecord reports whether the log has a record about a resource that the actor may know of.
func hasRecord(ctx context.Context, tx *db.Tx, resourceID string) (bool, error) {
	found, err := db.All[string](ctx, tx, "SELECT resource_type FROM audit_log WHERE organization_id = @org AND resource_id = ? LIMIT 1",
		resourceID)
	return len(found) > 0 && !slices.Contains(Hidden(actor.From(ctx)), found[0]), err
}

func records(rows []recordRow) []LogRecord {
	out := make([]LogRecord, len(rows))
	for i, r := range rows {
		out[i] = r.record()
	}
	return out
}

// anchorRow has the columns of a record that an anchor needs. The state of a close is long, so it is not read.
type anchorRow struct {
	Sequence   int64     `db:"sequence"`
	CreatedAt  time.Time `db:"created_at"`
	ResourceID string    `db:"resource_id"`
	After      *string   `db:"after"`
	Hash       string    `db:"hash"`
}

var selectAnchorRows = "SELECT " + db.Columns[anchorRow]() + " FROM audit_log WHERE organization_id = @org"

// selectOfAction reads the records of an action, oldest first.
func selectOfAction(ctx context.Context, tx *db.Tx, action string) ([]anchorRow, error) {
	return db.All[anchorRow](ctx, tx, selectAnchorRows+" AND action = ? ORDER BY sequence", action)
}

// selectActionOf reads the records of an action on one resource, oldest first.
func selectActionOf(ctx context.Context, tx *db.Tx, action, resourceID string) ([]anchorRow, error) {
	return db.All[anchorRow](ctx, tx, selectAnchorRows+" AND resource_id = ? AND {unindexed}action = ? ORDER BY sequence", resourceID, action)
}

// selectFacts reads what all records of a resource say about it, the last first.
func selectFacts(ctx context.Context, tx *db.Tx, r resource) (out []string, err error) {
	rows, err := db.All[struct {
		Before *string `db:"before"`
		After  *string `db:"after"`
	}](ctx, tx, "SELECT before, after FROM audit_log WHERE organization_id = @org AND resource_id = ? AND resource_type = ? "+
		"ORDER BY sequence DESC", r.id, r.kind)
	for _, row := range rows {
		out = append(out, db.OrEmpty(row.After), db.OrEmpty(row.Before))
	}
	return out, err
}

// selectSince reads the number of the first record at or after a time, or nil if there is none.
func selectSince(ctx context.Context, tx *db.Tx, at time.Time) (*int64, error) {
	return db.One[*int64](ctx, tx, "record", "SELECT min(sequence) FROM audit_log WHERE organization_id = @org AND created_at >= ?", at)
}

// selectOrganizationIDs goes from one organization to the next by the primary key, instead of reading all records.
func selectOrganizationIDs(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, `WITH RECURSIVE found (id) AS (SELECT min(a.organization_id) FROM audit_log AS a
		UNION ALL SELECT (SELECT min(b.organization_id) FROM audit_log AS b WHERE b.organization_id > f.id)
			FROM found AS f WHERE f.id IS NOT NULL)
		SELECT id FROM found WHERE id IS NOT NULL ORDER BY id`)
}
