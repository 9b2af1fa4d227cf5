package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

const (
	table      = "connections"
	syncTable  = "connection_syncs"
	eventTable = "connection_events"
)

type row struct {
	ID                string     `db:"connection_id"`
	Provider          string     `db:"provider"`
	AuthMethod        string     `db:"auth_method"`
	Name              string     `db:"name"`
	Status            string     `db:"status"`
	ExternalAccountID *string    `db:"external_account_id"`
	Mode              *string    `db:"mode"`
	LegalEntityID     string     `db:"legal_entity_id"`
	SourceID          string     `db:"source_id"`
	Credentials       *string    `db:"credentials"`
	TakesWebhooks     bool       `db:"takes_webhooks"`
	ErrorMessage      *string    `db:"error_message"`
	Revision          int64      `db:"revision"`
	CreatedAt         time.Time  `db:"created_at"`
	UpdatedAt         *time.Time `db:"updated_at"`
}

func toRow(c Connection) row {
	return row{ID: c.ID, Provider: c.Provider, AuthMethod: c.AuthMethod, Name: c.Name, Status: string(c.Status),
		ExternalAccountID: db.OrNull(c.ExternalAccountID), Mode: db.OrNull(string(c.Mode)), LegalEntityID: c.LegalEntityID,
		SourceID: c.SourceID, Credentials: db.OrNull(c.credentials), TakesWebhooks: c.TakesWebhooks,
		ErrorMessage: db.OrNull(c.ErrorMessage), Revision: c.revision, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
}

func (r row) connection() Connection {
	return Connection{ID: r.ID, Provider: r.Provider, AuthMethod: r.AuthMethod, Name: r.Name, Status: Status(r.Status),
		ExternalAccountID: db.OrEmpty(r.ExternalAccountID), Mode: Mode(db.OrEmpty(r.Mode)), LegalEntityID: r.LegalEntityID, SourceID: r.SourceID,
		credentials: db.OrEmpty(r.Credentials), TakesWebhooks: r.TakesWebhooks, ErrorMessage: db.OrEmpty(r.ErrorMessage), revision: r.Revision,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM connections WHERE organization_id = @org"

// progressRow is how far a connection was read.
type progressRow struct {
	ConnectionID  string     `db:"connection_id"`
	Status        string     `db:"status"`
	Stage         *string    `db:"stage"`
	Cursor        *string    `db:"cursor"`
	From          *time.Time `db:"read_from"`
	Through       *time.Time `db:"read_through"`
	SyncedThrough *time.Time `db:"synced_through"`
	FinishedAt    *time.Time `db:"finished_at"`
}

var selectProgresses = "SELECT " + db.Columns[progressRow]() + " FROM connection_syncs WHERE organization_id = @org"

func selectProgress(ctx context.Context, tx *db.Tx, connectionID string) (progressRow, error) {
	return db.One[progressRow](ctx, tx, noun, selectProgresses+" AND connection_id = ?", connectionID)
}

// withProgress adds how far connections were read.
func withProgress(ctx context.Context, tx *db.Tx, rows []row) ([]Connection, error) {
	out, ids, at := make([]Connection, len(rows)), make([]string, len(rows)), map[string]int{}
	for n, r := range rows {
		out[n], ids[n], at[r.ID] = r.connection(), r.ID, n
	}
	if len(rows) == 0 {
		return out, nil
	}
	found, err := db.All[progressRow](ctx, tx, selectProgresses+" AND connection_id {any}", ids)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		out[at[p.ConnectionID]].Progress = Progress{Running: p.Status != idle && p.Stage != nil, FinishedAt: p.FinishedAt}
	}
	counts, err := countOmissions(ctx, tx, ids)
	for _, n := range counts {
		p := &out[at[n.ConnectionID]].Progress
		if p.Omitted = n.Count; err == nil {
			p.Omissions, err = describeOmissions(ctx, tx, n.ConnectionID)
		}
	}
	return out, err
}

func selectOne(ctx context.Context, tx *db.Tx, connectionID, lock string) (Connection, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND connection_id = ? "+lock, connectionID)
	if err != nil {
		return Connection{}, err
	}
	found, err := withProgress(ctx, tx, []row{r})
	if err != nil {
		return Connection{}, err
	}
	return found[0], nil
}

// selectPage reads connections of legal entities, or of all if the list is empty.
func selectPage(ctx context.Context, tx *db.Tx, entities []string, above string, limit int) ([]Connection, error) {
	q := db.Select(selectRows).And("connection_id > ?", above)
	if len(entities) > 0 {
		q.And("legal_entity_id {any}", entities)
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY connection_id LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return withProgress(ctx, tx, rows)
}

// selectAll reads all connections, the oldest first. There are few.
func selectAll(ctx context.Context, tx *db.Tx) ([]Connection, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" ORDER BY connection_id")
	out := make([]Connection, len(rows))
	for n, r := range rows {
		out[n] = r.connection()
	}
	return out, err
}

type acrossRow struct {
	row
	OrganizationID string `db:"organization_id"`
}

// selectAcross reads a connection of any organization.
func selectAcross(ctx context.Context, tx *db.Tx, connectionID string) (Connection, string, error) {
	r, err := db.One[acrossRow](ctx, tx, noun, "SELECT "+db.Columns[acrossRow]()+" FROM connections WHERE connection_id = ?", connectionID)
	return r.connection(), r.OrganizationID, err
}

const (
	idle    = "idle"
	pending = "pending"
)

type syncRow struct {
	ConnectionID string    `db:"connection_id"`
	Status       string    `db:"status"`
	Tries        int64     `db:"tries"`
	Stage        string    `db:"stage"`
	CreatedAt    time.Time `db:"created_at"`
}

// insert stores a connection whose data is to be read.
func insert(ctx context.Context, tx *db.Tx, c Connection) error {
	if err := db.Insert(ctx, tx, table, toRow(c)); err != nil {
		return err
	}
	return db.Insert(ctx, tx, syncTable, syncRow{ConnectionID: c.ID, Status: pending, Stage: Start, CreatedAt: tx.Now()})
}

// update stores what can change about a connection.
func update(ctx context.Context, tx *db.Tx, c Connection) error {
	r := toRow(c)
	_, err := tx.Exec(ctx, `UPDATE connections SET name = ?, status = ?, external_account_id = ?, mode = ?, credentials = ?,
		takes_webhooks = ?, error_message = ?, revision = ?, updated_at = ? WHERE organization_id = @org AND connection_id = ?`,
		r.Name, r.Status, r.ExternalAccountID, r.Mode, r.Credentials, r.TakesWebhooks, r.ErrorMessage, r.Revision, r.UpdatedAt, r.ID)
	return err
}

// requestSync has all data of a connection read. One that is being read already stays as it is, and a pause after a failure ends.
func requestSync(ctx context.Context, tx *db.Tx, connectionID string) error {
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET stage = CASE WHEN stage IS NULL THEN 'start' ELSE stage END, status = 'pending',
		claimed_until = NULL, tries = 0, created_at = ?
		WHERE organization_id = @org AND connection_id = ? AND status <> 'running'`, tx.Now(), connectionID)
	return err
}

// restartSync has all data of a connection read with new credentials. It takes the connection from a worker that reads it with the former
// ones, which then stores nothing more.
func restartSync(ctx context.Context, tx *db.Tx, connectionID string) error {
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET stage = CASE WHEN stage IS NULL THEN 'start' ELSE stage END, status = 'pending',
		claim = NULL, claimed_until = NULL, tries = 0, created_at = ? WHERE organization_id = @org AND connection_id = ?`, tx.Now(), connectionID)
	return err
}

// lockSync has other transactions wait that store an event of a connection, or that a task is over. So whoever stores an event sees that
// the task is over, or is seen by it.
func lockSync(ctx context.Context, tx *db.Tx, connectionID string) error {
	_, err := db.One[string](ctx, tx, noun, "SELECT status FROM connection_syncs WHERE organization_id = @org AND connection_id = ? "+
		"{for_update}", connectionID)
	return err
}

// wake has the waiting events of a connection handled.
func wake(ctx context.Context, tx *db.Tx, connectionID string) error {
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET status = 'pending', claimed_until = NULL, tries = 0, created_at = ?
		WHERE organization_id = @org AND connection_id = ? AND status = 'idle'`, tx.Now(), connectionID)
	return err
}

// stopSync takes a connection from the worker that reads it.
func stopSync(ctx context.Context, tx *db.Tx, connectionID string) error {
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET status = 'idle', claim = NULL, claimed_until = NULL, stage = NULL, cursor = NULL,
		read_from = NULL, read_through = NULL, finished_at = ? WHERE organization_id = @org AND connection_id = ?`, tx.Now(), connectionID)
	return err
}

// requestDue requests the synchronizations of all organizations that finished before a time.
func requestDue(ctx context.Context, tx *db.Tx, before time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET stage = CASE WHEN stage IS NULL THEN 'start' ELSE stage END, status = 'pending',
		claimed_until = NULL, tries = 0, created_at = ?
		WHERE status = 'idle' AND finished_at < ? AND EXISTS (SELECT 1 FROM connections c WHERE c.organization_id =
		connection_syncs.organization_id AND c.connection_id = connection_syncs.connection_id AND c.status IN ('active', 'error'))`,
		tx.Now(), before)
	return err
}

const ofClaim = " WHERE organization_id = @org AND connection_id = ? AND claim = ? AND status = 'running'"

// begin stores what a synchronization is to read, and reports whether the claim was still held.
func begin(ctx context.Context, tx *db.Tx, c *task.Claim, from *time.Time, through time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET read_from = ?, read_through = ?"+ofClaim, from, through, c.ID, c.Text)
	return n == 1, err
}

// advance stores progress, and reports whether the claim was still held.
func advance(ctx context.Context, tx *db.Tx, c *task.Claim, stage, cursor string) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET stage = ?, cursor = ?, tries = 0"+ofClaim, db.OrNull(stage), db.OrNull(cursor), c.ID,
		c.Text)
	return n == 1, err
}

// finish stores that a task is over, unless events wait, and that all data was read if it was. If events wait, the task continues after a
// pause, in which tasks of other connections are claimed. It reports whether the claim was still held.
func finish(ctx context.Context, tx *db.Tx, c *task.Claim, all bool, pause time.Duration) (bool, error) {
	if err := lockSync(ctx, tx, c.ID); err != nil {
		return false, err
	}
	waiting, err := selectWaiting(ctx, tx, c.ID, 1)
	if err != nil {
		return false, err
	}
	through, status, until := "", idle, (*time.Time)(nil)
	if all {
		through = "synced_through = read_through, "
	}
	if len(waiting) > 0 {
		status, until = pending, new(tx.Now().Add(pause))
	}
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET "+through+`status = ?, claimed_until = ?, created_at = ?, stage = NULL, cursor = NULL,
		read_from = NULL, read_through = NULL, claim = NULL, tries = 0, started_at = NULL, finished_at = ?`+ofClaim, status, until, tx.Now(),
		tx.Now(), c.ID, c.Text)
	return n == 1, err
}

// postpone releases a task until a time, and reports whether the claim was still held.
func postpone(ctx context.Context, tx *db.Tx, c *task.Claim, until time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET status = 'pending', claim = NULL, claimed_until = ?"+ofClaim, until, c.ID, c.Text)
	return n == 1, err
}

// abandon ends a task that a person has to look at. The next one continues at its stage. It reports whether the claim was still held.
func abandon(ctx context.Context, tx *db.Tx, c *task.Claim) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET status = 'idle', claim = NULL, claimed_until = NULL, tries = 0, started_at = NULL, "+
		"finished_at = ?"+ofClaim, tx.Now(), c.ID, c.Text)
	return n == 1, err
}
