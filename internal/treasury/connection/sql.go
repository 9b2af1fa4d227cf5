package connection

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	table     = "connections"
	syncTable = "connection_syncs"
)

type row struct {
	ID                string     `db:"connection_id"`
	Provider          string     `db:"provider"`
	AuthMethod        string     `db:"auth_method"`
	Name              string     `db:"name"`
	Status            string     `db:"status"`
	ExternalAccountID *string    `db:"external_account_id"`
	Mode              *string    `db:"mode"`
	LegalEntityID     *string    `db:"legal_entity_id"`
	SourceID          *string    `db:"source_id"`
	ItemID            *string    `db:"item_id"`
	Settings          string     `db:"settings"`
	TakesWebhooks     bool       `db:"takes_webhooks"`
	Classify          *string    `db:"classify"`
	SyncMinutes       int64      `db:"sync_minutes"`
	Warnings          string     `db:"warnings"`
	ErrorMessage      *string    `db:"error_message"`
	RevocationError   *string    `db:"revocation_error"`
	Revision          int64      `db:"revision"`
	CreatedAt         time.Time  `db:"created_at"`
	UpdatedAt         *time.Time `db:"updated_at"`
}

func toRow(c Connection) row {
	return row{ID: c.ID, Provider: c.Provider, AuthMethod: c.AuthMethod, Name: c.Name, Status: string(c.Status),
		ExternalAccountID: db.OrNull(c.ExternalAccountID), Mode: db.OrNull(string(c.Mode)), LegalEntityID: db.OrNull(c.LegalEntityID),
		SourceID: db.OrNull(c.SourceID), ItemID: db.OrNull(c.ItemID), Settings: encodeSettings(c.Settings), TakesWebhooks: c.TakesWebhooks,
		Classify: db.OrNull(string(c.Classify)), SyncMinutes: int64(c.SyncMinutes), Warnings: encodeTexts(c.Warnings),
		ErrorMessage: db.OrNull(c.ErrorMessage), RevocationError: db.OrNull(c.RevocationError), Revision: c.revision, CreatedAt: c.CreatedAt,
		UpdatedAt: c.UpdatedAt}
}

func (r row) connection() Connection {
	c := Connection{ID: r.ID, Provider: r.Provider, AuthMethod: r.AuthMethod, Name: r.Name, Status: Status(r.Status),
		ExternalAccountID: db.OrEmpty(r.ExternalAccountID), Mode: Mode(db.OrEmpty(r.Mode)), LegalEntityID: db.OrEmpty(r.LegalEntityID),
		SourceID: db.OrEmpty(r.SourceID), ItemID: db.OrEmpty(r.ItemID), Settings: map[string]string{}, TakesWebhooks: r.TakesWebhooks,
		Classify: Classify(db.OrEmpty(r.Classify)), SyncMinutes: int(r.SyncMinutes), ErrorMessage: db.OrEmpty(r.ErrorMessage),
		RevocationError: db.OrEmpty(r.RevocationError), revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	// Verify finds what is not JSON.
	_ = json.Unmarshal([]byte(r.Settings), &c.Settings)
	_ = json.Unmarshal([]byte(r.Warnings), &c.Warnings)
	if c.SourceID != "" {
		c.Sources = []string{c.SourceID}
	}
	return c
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
	DueAt         *time.Time `db:"due_at"`
	RunID         *string    `db:"run_id"`
	Cause         *string    `db:"cause"`
}

var selectProgresses = "SELECT " + db.Columns[progressRow]() + " FROM connection_syncs WHERE organization_id = @org"

func selectProgress(ctx context.Context, tx *db.Tx, connectionID string) (progressRow, error) {
	return db.One[progressRow](ctx, tx, noun, selectProgresses+" AND connection_id = ?", connectionID)
}

// complete adds to connections what is stored in other tables: how far they were read, their sources and their credentials.
func complete(ctx context.Context, tx *db.Tx, rows []row) ([]Connection, error) {
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
		out[at[p.ConnectionID]].Progress = Progress{Running: p.Status != idle && p.Stage != nil, FinishedAt: p.FinishedAt, DueAt: p.DueAt}
	}
	sealed, err := selectCredentials(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	for _, k := range sealed {
		out[at[k.ConnectionID]].credentials = k.Sealed
	}
	if err := withSources(ctx, tx, out); err != nil {
		return nil, err
	}
	return out, withFindings(ctx, tx, ids, func(id string) *Progress { return &out[at[id]].Progress })
}

// withSources adds the sources of connections that have several.
func withSources(ctx context.Context, tx *db.Tx, all []Connection) error {
	var items []string
	for _, c := range all {
		if c.ItemID != "" {
			items = append(items, c.ItemID)
		}
	}
	if len(items) == 0 {
		return nil
	}
	found, err := source.OfItemsUnchecked(ctx, tx, items...)
	for _, s := range found {
		for n := range all {
			if all[n].ItemID == s.ItemID {
				all[n].Sources = append(all[n].Sources, s.ID)
			}
		}
	}
	return err
}

// withFindings adds what was noticed when connections were read.
func withFindings(ctx context.Context, tx *db.Tx, ids []string, of func(id string) *Progress) error {
	counts, err := countOmissions(ctx, tx, ids)
	for _, n := range counts {
		p := of(n.ConnectionID)
		if p.Omitted = n.Count; err == nil {
			p.Omissions, err = describeOmissions(ctx, tx, n.ConnectionID)
		}
	}
	if err != nil {
		return err
	}
	gaps, err := selectGaps(ctx, tx, ids)
	for _, g := range gaps {
		of(g.ConnectionID).Gaps = append(of(g.ConnectionID).Gaps, Gap{g.From, g.Through, g.Reason})
	}
	if err != nil {
		return err
	}
	return withWithdrawn(ctx, tx, ids, of)
}

// withWithdrawn adds the numbers of transactions that were taken back and are still booked.
func withWithdrawn(ctx context.Context, tx *db.Tx, ids []string, of func(id string) *Progress) error {
	rows, err := selectWithdrawals(ctx, tx, ids)
	if err != nil || len(rows) == 0 {
		return err
	}
	connectionOf, transactions := map[string]string{}, make([]string, len(rows))
	for n, r := range rows {
		connectionOf[r.TransactionID], transactions[n] = r.ConnectionID, r.TransactionID
	}
	found, err := transaction.FindSomeUnchecked(ctx, tx, transactions)
	for _, t := range found {
		if t.JournalEntryID != "" {
			p := of(connectionOf[t.ID])
			p.Withdrawn = append(p.Withdrawn, t.SequenceNumber())
		}
	}
	return err
}

type credentialsRow struct {
	ConnectionID string    `db:"connection_id"`
	Sealed       string    `db:"sealed"`
	StoredAt     time.Time `db:"stored_at"`
}

func selectCredentials(ctx context.Context, tx *db.Tx, ids []string) ([]credentialsRow, error) {
	return db.All[credentialsRow](ctx, tx, "SELECT "+db.Columns[credentialsRow]()+
		" FROM connection_credentials WHERE organization_id = @org AND connection_id {any}", ids)
}

func upsertCredentials(ctx context.Context, tx *db.Tx, connectionID, sealed string) error {
	return db.Upsert(ctx, tx, "connection_credentials", []credentialsRow{{connectionID, sealed, tx.Now()}},
		"ON CONFLICT (organization_id, connection_id) DO UPDATE SET sealed = excluded.sealed, stored_at = excluded.stored_at")
}

// replaceCredentials stores credentials in the place of others, if there still are any.
func replaceCredentials(ctx context.Context, tx *db.Tx, connectionID, sealed string) error {
	_, err := tx.Exec(ctx, "UPDATE connection_credentials SET sealed = ?, stored_at = ? WHERE organization_id = @org AND connection_id = ?",
		sealed, tx.Now(), connectionID)
	return err
}

func deleteCredentials(ctx context.Context, tx *db.Tx, connectionID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM connection_credentials WHERE organization_id = @org AND connection_id = ?", connectionID)
	return err
}

func selectOne(ctx context.Context, tx *db.Tx, connectionID, lock string) (Connection, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND connection_id = ? "+lock, connectionID)
	if err != nil {
		return Connection{}, err
	}
	found, err := complete(ctx, tx, []row{r})
	if err != nil {
		return Connection{}, err
	}
	return found[0], nil
}

// selectPage reads connections of legal entities, or of all if the list is empty, and those for all of the organization.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, entities []string, above string, limit int) ([]Connection, error) {
	q := db.Select(selectRows).And("connection_id > ?", above)
	if len(entities) > 0 {
		q.And("(legal_entity_id IS NULL OR legal_entity_id {any})", entities)
	}
	if f.Provider != "" {
		q.And("provider = ?", f.Provider)
	}
	const running = `EXISTS (SELECT 1 FROM connection_syncs p WHERE p.organization_id = @org AND p.connection_id = connections.connection_id
		AND p.status <> 'idle' AND p.stage IS NOT NULL)`
	switch f.Status {
	case "":
	case Syncing:
		q.And("status = ? AND "+running, string(Active))
	case Active:
		q.And("status = ? AND NOT "+running, string(Active))
	default:
		q.And("status = ?", string(f.Status))
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY connection_id LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return complete(ctx, tx, rows)
}

// selectAll reads all connections that meet a condition, the oldest first.
func selectAll(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]Connection, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND "+condition+" ORDER BY connection_id", args...)
	if err != nil {
		return nil, err
	}
	return complete(ctx, tx, rows)
}

// selectOfProvider reads the connections to a provider, the oldest first.
func selectOfProvider(ctx context.Context, tx *db.Tx, provider string) ([]Connection, error) {
	return selectAll(ctx, tx, "provider = ?", provider)
}

// selectOfProviders reads the connections to several providers, the oldest first.
func selectOfProviders(ctx context.Context, tx *db.Tx, providers []string) ([]Connection, error) {
	return selectAll(ctx, tx, "provider {any}", providers)
}

// selectOfSource reads the connections that have a source, or the item that it belongs to, which is empty if there is none: the oldest
// first.
func selectOfSource(ctx context.Context, tx *db.Tx, sourceID, itemID string) ([]Connection, error) {
	return selectAll(ctx, tx, "(source_id = ? OR item_id = ?)", sourceID, itemID)
}

// selectWithSource reads the connections that have one source, the oldest first.
func selectWithSource(ctx context.Context, tx *db.Tx) ([]Connection, error) {
	return selectAll(ctx, tx, "source_id IS NOT NULL")
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
	Stage        *string   `db:"stage"`
	Cause        *string   `db:"cause"`
	CreatedAt    time.Time `db:"created_at"`
}

// insert stores a connection, whose data is to be read unless its setup is not finished or nothing is read.
func insert(ctx context.Context, tx *db.Tx, c Connection, read bool) error {
	if err := db.Insert(ctx, tx, table, toRow(c)); err != nil {
		return err
	}
	r := syncRow{ConnectionID: c.ID, Status: idle, CreatedAt: tx.Now()}
	if read {
		r.Status, r.Stage, r.Cause = pending, new(Start), new(string(CauseSetup))
	}
	return db.Insert(ctx, tx, syncTable, r)
}

// update stores what can change about a connection.
func update(ctx context.Context, tx *db.Tx, c Connection) error {
	r := toRow(c)
	_, err := tx.Exec(ctx, `UPDATE connections SET name = ?, status = ?, external_account_id = ?, mode = ?, source_id = ?, item_id = ?,
		settings = ?, takes_webhooks = ?, classify = ?, sync_minutes = ?, warnings = ?, error_message = ?, revocation_error = ?, revision = ?,
		updated_at = ? WHERE organization_id = @org AND connection_id = ?`,
		r.Name, r.Status, r.ExternalAccountID, r.Mode, r.SourceID, r.ItemID, r.Settings, r.TakesWebhooks, r.Classify, r.SyncMinutes, r.Warnings,
		r.ErrorMessage, r.RevocationError, r.Revision, r.UpdatedAt, r.ID)
	return err
}

// requestSync has all data of a connection read. A pause after a failure ends. If a worker is busy with the connection, another run begins
// when it is done, because it may have read already what is new.
func requestSync(ctx context.Context, tx *db.Tx, connectionID string, cause Cause) error {
	n, err := tx.Exec(ctx, `UPDATE connection_syncs SET stage = CASE WHEN stage IS NULL THEN 'start' ELSE stage END, status = 'pending',
		cause = CASE WHEN run_id IS NULL THEN ? ELSE cause END, claimed_until = NULL, tries = 0, created_at = ?
		WHERE organization_id = @org AND connection_id = ? AND status <> 'running'`, string(cause), tx.Now(), connectionID)
	if err == nil && n == 0 {
		_, err = tx.Exec(ctx, `UPDATE connection_syncs SET requested_at = ?, cause = ? WHERE organization_id = @org AND connection_id = ?`,
			tx.Now(), string(cause), connectionID)
	}
	return err
}

// restartSync has all data of a connection read with new credentials. It takes the connection from a worker that reads it with the former
// ones, which then stores nothing more.
func restartSync(ctx context.Context, tx *db.Tx, connectionID string, cause Cause) error {
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET stage = CASE WHEN stage IS NULL THEN 'start' ELSE stage END, status = 'pending',
		cause = CASE WHEN run_id IS NULL THEN ? ELSE cause END, claim = NULL, claimed_until = NULL, tries = 0, created_at = ?
		WHERE organization_id = @org AND connection_id = ?`, string(cause), tx.Now(), connectionID)
	return err
}

// lockSync has other transactions wait that store an event of a connection, or that a task is over. So whoever stores an event sees that
// the task is over, or is seen by it.
func lockSync(ctx context.Context, tx *db.Tx, connectionID string) error {
	_, err := db.One[string](ctx, tx, noun, "SELECT status FROM connection_syncs WHERE organization_id = @org AND connection_id = ? "+
		"{for_update}", connectionID)
	return err
}

// selectState reads the state of a connection.
func selectState(ctx context.Context, tx *db.Tx, connectionID string) (Status, error) {
	text, err := db.One[string](ctx, tx, noun, "SELECT status FROM connections WHERE organization_id = @org AND connection_id = ?",
		connectionID)
	return Status(text), err
}

// wake has the waiting events of a connection handled.
func wake(ctx context.Context, tx *db.Tx, connectionID string) error {
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET status = 'pending', claimed_until = NULL, tries = 0, created_at = ?
		WHERE organization_id = @org AND connection_id = ? AND status = 'idle'`, tx.Now(), connectionID)
	return err
}

// stopSync takes a connection from the worker that reads it, and from the schedule.
func stopSync(ctx context.Context, tx *db.Tx, connectionID, why string) error {
	if err := endRun(ctx, tx, connectionID, RunCancelled, why); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE connection_syncs SET status = 'idle', claim = NULL, claimed_until = NULL, stage = NULL, cursor = NULL,
		read_from = NULL, read_through = NULL, due_at = NULL, poll_claim = NULL, polled_until = NULL, run_id = NULL, requested_at = NULL,
		finished_at = ?
		WHERE organization_id = @org AND connection_id = ?`, tx.Now(), connectionID)
	return err
}

// setDue stores when the schedule looks for something new.
func setDue(ctx context.Context, tx *db.Tx, connectionID string, due *time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE connection_syncs SET due_at = ? WHERE organization_id = @org AND connection_id = ?", due, connectionID)
	return err
}

const ofClaim = " WHERE organization_id = @org AND connection_id = ? AND claim = ? AND status = 'running'"

// begin stores what a synchronization is to read, and which run it is. It reports whether the claim was still held.
func begin(ctx context.Context, tx *db.Tx, c *task.Claim, runID string, from *time.Time, through time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET run_id = ?, read_from = ?, read_through = ?, requested_at = NULL"+ofClaim, runID, from,
		through, c.ID, c.Text)
	return n == 1, err
}

// advance stores progress, and reports whether the claim was still held.
func advance(ctx context.Context, tx *db.Tx, c *task.Claim, stage, cursor string) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET stage = ?, cursor = ?, tries = 0"+ofClaim, db.OrNull(stage), db.OrNull(cursor), c.ID,
		c.Text)
	return n == 1, err
}

// finish stores that a task is over, and if all data was read that it was, and when it is due again. If events wait, the task continues
// after a pause, in which tasks of other connections are claimed. If a run was requested meanwhile, the task continues with it. It reports
// whether the claim was still held.
func finish(ctx context.Context, tx *db.Tx, c *task.Claim, all bool, due *time.Time, pause time.Duration) (bool, error) {
	if err := lockSync(ctx, tx, c.ID); err != nil {
		return false, err
	}
	waiting, err := selectWaiting(ctx, tx, c.ID, 1)
	if err != nil {
		return false, err
	}
	read, status, until := "", idle, (*time.Time)(nil)
	args := []any{}
	if all {
		read = "synced_through = read_through, run_id = NULL, finished_at = ?, due_at = ?, "
		args = append(args, tx.Now(), due)
	}
	if len(waiting) > 0 {
		status, until = pending, new(tx.Now().Add(pause))
	}
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET "+read+`status = CASE WHEN requested_at IS NULL THEN ? ELSE 'pending' END,
		stage = CASE WHEN requested_at IS NULL THEN NULL ELSE 'start' END, cause = CASE WHEN requested_at IS NULL THEN NULL ELSE cause END,
		claimed_until = ?, created_at = ?, cursor = NULL, read_from = NULL, read_through = NULL, claim = NULL, tries = 0, started_at = NULL,
		requested_at = NULL`+ofClaim, append(args, status, until, tx.Now(), c.ID, c.Text)...)
	return n == 1, err
}

// postpone releases a task until a time, and reports whether the claim was still held.
func postpone(ctx context.Context, tx *db.Tx, c *task.Claim, until time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET status = 'pending', claim = NULL, claimed_until = ?"+ofClaim, until, c.ID, c.Text)
	return n == 1, err
}

// abandon ends a task that a person has to look at. The next one continues at its stage. It reports whether the claim was still held.
func abandon(ctx context.Context, tx *db.Tx, c *task.Claim, due *time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE connection_syncs SET status = 'idle', claim = NULL, claimed_until = NULL, tries = 0, started_at = NULL, "+
		"run_id = NULL, requested_at = NULL, finished_at = ?, due_at = ?"+ofClaim, tx.Now(), due, c.ID, c.Text)
	return n == 1, err
}
