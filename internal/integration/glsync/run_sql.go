package glsync

import (
	"context"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

type runRow struct {
	ID              string     `db:"gl_sync_run_id"`
	ConnectionID    string     `db:"connection_id"`
	Book            string     `db:"book"`
	Kind            string     `db:"kind"`
	Scope           string     `db:"scope"`
	Status          string     `db:"status"`
	Stage           string     `db:"stage"`
	CancelRequested bool       `db:"cancel_requested"`
	Total           int64      `db:"total_count"`
	Done            int64      `db:"done_count"`
	Counts          string     `db:"counts"`
	Totals          string     `db:"totals"`
	Blockers        string     `db:"blockers"`
	Warnings        string     `db:"warnings"`
	Error           *string    `db:"error_message"`
	UserID          *string    `db:"user_id"`
	APIKeyID        *string    `db:"api_key_id"`
	Tries           int64      `db:"tries"`
	CreatedAt       time.Time  `db:"created_at"`
	StartedAt       *time.Time `db:"started_at"`
	FinishedAt      *time.Time `db:"finished_at"`
	ClaimedUntil    *time.Time `db:"claimed_until"`
	LegalEntityIDs  *string    `db:"legal_entity_ids"`
}

func toRunRow(r Run) runRow {
	return runRow{ID: r.ID, ConnectionID: r.ConnectionID, Book: r.book, Kind: string(r.Kind), Scope: encode(r.Scope), Status: string(r.Status),
		Stage: r.stage, CancelRequested: r.CancelRequested, Total: r.Total, Done: r.Done, Counts: encode(r.Counts), Totals: encode(r.Totals),
		Blockers: encode(r.Blockers), Warnings: encode(r.Warnings), Error: db.OrNull(r.Error), UserID: db.OrNull(r.userID),
		APIKeyID: db.OrNull(r.apiKeyID), CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
		LegalEntityIDs: listOrNull(r.entities)}
}

// listOrNull returns a list as it is stored; nil stays null.
func listOrNull(list []string) *string {
	if list == nil {
		return nil
	}
	return new(encode(list))
}

func (r runRow) run() Run {
	out := Run{ID: r.ID, ConnectionID: r.ConnectionID, Kind: Kind(r.Kind), Scope: decode[Scope](r.Scope), Status: RunStatus(r.Status),
		CancelRequested: r.CancelRequested, Total: r.Total, Done: r.Done, Counts: decode[map[string]int64](r.Counts),
		Totals: decode[map[string]string](r.Totals), Blockers: decode[[]Blocker](r.Blockers), Warnings: decode[[]string](r.Warnings),
		Error: db.OrEmpty(r.Error), CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, book: r.Book, stage: r.Stage,
		userID: db.OrEmpty(r.UserID), apiKeyID: db.OrEmpty(r.APIKeyID), entities: decode[[]string](db.OrEmpty(r.LegalEntityIDs))}
	if out.Status == Pending && out.Error != "" {
		out.NextAt = r.ClaimedUntil
	}
	return out
}

var runColumns = "SELECT " + db.Columns[runRow]() + " FROM gl_sync_runs WHERE organization_id = @org"

func insertRun(ctx context.Context, tx *db.Tx, r Run) error {
	return db.Insert(ctx, tx, "gl_sync_runs", toRunRow(r))
}

func selectRun(ctx context.Context, tx *db.Tx, runID, lock string) (Run, error) {
	r, err := db.One[runRow](ctx, tx, noun, runColumns+" AND gl_sync_run_id = ? "+lock, runID)
	return r.run(), err
}

func selectRuns(ctx context.Context, tx *db.Tx, f Filter, below string, limit int) ([]Run, error) {
	q := db.Select(runColumns).And("gl_sync_run_id < ?", below)
	if f.ConnectionID != "" {
		q.And("connection_id = ?", f.ConnectionID)
	}
	if f.Status != "" {
		q.And("status = ?", string(f.Status))
	}
	if f.Kind != "" {
		q.And("kind = ?", string(f.Kind))
	}
	rows, err := db.All[runRow](ctx, tx, q.Then("ORDER BY gl_sync_run_id DESC LIMIT ?", limit), q.Args...)
	out := make([]Run, len(rows))
	for n, r := range rows {
		out[n] = r.run()
	}
	return out, err
}

// selectActive returns the id of the run that is under way for a general ledger, or an empty text.
func selectActive(ctx context.Context, tx *db.Tx, book string) (string, error) {
	ids, err := db.All[string](ctx, tx, "SELECT gl_sync_run_id FROM gl_sync_runs WHERE organization_id = @org AND book = ? "+
		"AND status IN ('pending', 'running') LIMIT 1", book)
	if len(ids) == 0 {
		return "", err
	}
	return ids[0], err
}

func updateCancelled(ctx context.Context, tx *db.Tx, r Run) error {
	return tx.Queue(ctx, `UPDATE gl_sync_runs SET cancel_requested = ?, status = ?, finished_at = ?,
		claimed_until = CASE WHEN status = 'pending' THEN NULL ELSE claimed_until END WHERE organization_id = @org AND gl_sync_run_id = ?`,
		r.CancelRequested, string(r.Status), r.FinishedAt, r.ID)
}

const ofClaim = " WHERE organization_id = @org AND gl_sync_run_id = ? AND claim = ? AND status = 'running'"

// saveRun stores the progress of a run, and reports whether the claim was still held.
func saveRun(ctx context.Context, tx *db.Tx, c *task.Claim, r Run) (bool, error) {
	w := toRunRow(r)
	n, err := tx.Exec(ctx, `UPDATE gl_sync_runs SET stage = ?, total_count = ?, done_count = ?, counts = ?, totals = ?, blockers = ?,
		warnings = ?, error_message = ?, legal_entity_ids = ?, tries = 0`+ofClaim, w.Stage, w.Total, w.Done, w.Counts, w.Totals, w.Blockers,
		w.Warnings, w.Error, w.LegalEntityIDs, r.ID, c.Text)
	return n == 1, err
}

// endRun stores that a run has ended, and reports whether the claim was still held.
func endRun(ctx context.Context, tx *db.Tx, c *task.Claim, r Run) (bool, error) {
	if ours, err := saveRun(ctx, tx, c, r); err != nil || !ours {
		return ours, err
	}
	n, err := tx.Exec(ctx, "UPDATE gl_sync_runs SET status = ?, finished_at = ?, claim = NULL, claimed_until = NULL"+ofClaim,
		string(r.Status), r.FinishedAt, r.ID, c.Text)
	return n == 1, err
}

// postponeRun releases a run until a time, and reports whether the claim was still held.
func postponeRun(ctx context.Context, tx *db.Tx, c *task.Claim, runID, because string, until time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE gl_sync_runs SET status = 'pending', claim = NULL, claimed_until = ?, error_message = ?"+ofClaim, until,
		db.OrNull(because), runID, c.Text)
	return n == 1, err
}

type attemptRow struct {
	ID            string     `db:"gl_sync_attempt_id"`
	RunID         string     `db:"gl_sync_run_id"`
	Position      int64      `db:"position"`
	ConnectionID  string     `db:"connection_id"`
	Provider      string     `db:"provider"`
	EntryID       string     `db:"journal_entry_id"`
	Number        int64      `db:"number"`
	Part          string     `db:"part"`
	Action        string     `db:"action"`
	Status        string     `db:"status"`
	Tries         int64      `db:"tries"`
	ExternalID    *string    `db:"external_id"`
	Error         *string    `db:"error_message"`
	Code          *string    `db:"error_code"`
	Changes       *string    `db:"changes"`
	AttemptedAt   *time.Time `db:"attempted_at"`
	LegalEntities *string    `db:"legal_entity_ids"`
}

func toAttemptRow(a Attempt) attemptRow {
	row := attemptRow{ID: a.ID, RunID: a.RunID, Position: a.Position, ConnectionID: a.ConnectionID, Provider: a.Provider, EntryID: a.EntryID,
		Number: a.Number, Part: a.part, Action: string(a.Action), Status: string(a.Status), Tries: a.tries,
		ExternalID: db.OrNull(a.ExternalID), Error: db.OrNull(a.Error), Code: db.OrNull(a.Code), AttemptedAt: a.AttemptedAt,
		LegalEntities: listOrNull(a.entities)}
	if len(a.Changes) > 0 {
		row.Changes = new(encode(a.Changes))
	}
	return row
}

func (r attemptRow) attempt() Attempt {
	return Attempt{ID: r.ID, RunID: r.RunID, Position: r.Position, ConnectionID: r.ConnectionID, Provider: r.Provider, EntryID: r.EntryID,
		Number: r.Number, Action: Action(r.Action), Status: AttemptStatus(r.Status), ExternalID: db.OrEmpty(r.ExternalID),
		Error: db.OrEmpty(r.Error), Code: db.OrEmpty(r.Code), Changes: decode[[]Difference](db.OrEmpty(r.Changes)),
		AttemptedAt: r.AttemptedAt, part: r.Part, tries: r.Tries, entities: decode[[]string](db.OrEmpty(r.LegalEntities))}
}

// positionOf returns the position that a cursor names.
func positionOf(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, page.ErrCursor()
	}
	return n, nil
}

func selectAttempts(ctx context.Context, tx *db.Tx, runID string, f AttemptFilter, above int64, limit int) ([]Attempt, error) {
	q := db.Select("SELECT "+db.Columns[attemptRow]()+" FROM gl_sync_attempts WHERE organization_id = @org").
		And("gl_sync_run_id = ?", runID).And("position > ?", above)
	if f.Status != "" {
		q.And("status = ?", string(f.Status))
	}
	if f.Action != "" {
		q.And("action = ?", string(f.Action))
	}
	rows, err := db.All[attemptRow](ctx, tx, q.Then("ORDER BY position LIMIT ?", limit), q.Args...)
	out := make([]Attempt, len(rows))
	for n, r := range rows {
		out[n] = r.attempt()
	}
	return out, err
}

// insertAttempts stores attempts that were planned. An entry, or a part of it, has one in a run.
func insertAttempts(ctx context.Context, tx *db.Tx, all []Attempt) error {
	return db.Upsert(ctx, tx, "gl_sync_attempts", toAttemptRows(all),
		"ON CONFLICT (organization_id, gl_sync_run_id, journal_entry_id, part) DO NOTHING")
}

func upsertAttempts(ctx context.Context, tx *db.Tx, all []Attempt) error {
	return db.Upsert(ctx, tx, "gl_sync_attempts", toAttemptRows(all), `ON CONFLICT (organization_id, gl_sync_attempt_id) DO UPDATE SET
		action = excluded.action, status = excluded.status, tries = excluded.tries, external_id = excluded.external_id,
		error_message = excluded.error_message, error_code = excluded.error_code, changes = excluded.changes,
		attempted_at = excluded.attempted_at, legal_entity_ids = excluded.legal_entity_ids`)
}

func toAttemptRows(all []Attempt) []attemptRow {
	rows := make([]attemptRow, len(all))
	for n, a := range all {
		rows[n] = toAttemptRow(a)
	}
	return rows
}

// entryPart is an entry, or a part of it, that is sent as one journal.
type entryPart struct {
	EntryID string `db:"journal_entry_id"`
	Part    string `db:"part"`
}

// selectPlanned reads what a run does with some entries.
func selectPlanned(ctx context.Context, tx *db.Tx, runID string, entryIDs []string) (map[entryPart]bool, error) {
	out := map[entryPart]bool{}
	if len(entryIDs) == 0 {
		return out, nil
	}
	rows, err := db.All[entryPart](ctx, tx, `SELECT journal_entry_id, part FROM gl_sync_attempts WHERE organization_id = @org
		AND gl_sync_run_id = ? AND journal_entry_id {any}`, runID, entryIDs)
	for _, r := range rows {
		out[r] = true
	}
	return out, err
}

// deleteRuns deletes the oldest runs that ended before a time, with what they did.
func deleteRuns(ctx context.Context, tx *db.Tx, before time.Time, limit int) error {
	ids, err := db.All[string](ctx, tx, `SELECT gl_sync_run_id FROM gl_sync_runs WHERE organization_id = @org AND finished_at < ?
		ORDER BY gl_sync_run_id LIMIT ?`, before, limit)
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := tx.Queue(ctx, "DELETE FROM gl_sync_attempts WHERE organization_id = @org AND gl_sync_run_id {any}", ids); err != nil {
		return err
	}
	return tx.Queue(ctx, "DELETE FROM gl_sync_runs WHERE organization_id = @org AND gl_sync_run_id {any}", ids)
}

// selectLease reads until when a claim lasts.
func selectLease(ctx context.Context, tx *db.Tx, c *task.Claim) (*time.Time, error) {
	return db.One[*time.Time](ctx, tx, noun, "SELECT claimed_until FROM gl_sync_runs"+ofClaim, c.ID, c.Text)
}

// deleteAttempts deletes what a run has planned.
func deleteAttempts(ctx context.Context, tx *db.Tx, runID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM gl_sync_attempts WHERE organization_id = @org AND gl_sync_run_id = ?", runID)
	return err
}

// unanswered is the error of attempts that were begun when their run ended.
const unanswered = "the run ended before there was an answer; the next one finds out whether the general ledger has it"

// endAttempts gives attempts that were not begun another status. Those without an answer have failed, and it returns how many these are.
func endAttempts(ctx context.Context, tx *db.Tx, runID string, status AttemptStatus) (failed int64, err error) {
	failed, err = tx.Exec(ctx, `UPDATE gl_sync_attempts SET status = 'failed', error_message = ? WHERE organization_id = @org
		AND gl_sync_run_id = ? AND status = 'pending'`, unanswered, runID)
	if err != nil {
		return 0, err
	}
	return failed, tx.Queue(ctx, `UPDATE gl_sync_attempts SET status = ? WHERE organization_id = @org AND gl_sync_run_id = ?
		AND status = 'planned'`, string(status), runID)
}
