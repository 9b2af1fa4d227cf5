package classification

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

type runRow struct {
	ID             string     `db:"run_id"`
	Action         string     `db:"action"`
	Dry            bool       `db:"dry_run"`
	Filter         string     `db:"filter"`
	LegalEntityIDs string     `db:"limited_to"`
	Revision       int64      `db:"revision"`
	UpTo           int64      `db:"up_to"`
	Status         string     `db:"status"`
	Learned        bool       `db:"has_learned"`
	AtDate         *time.Time `db:"at_date"`
	AtNumber       int64      `db:"at_number"`
	Total          int64      `db:"total_count"`
	Counts         string     `db:"counts"`
	Error          *string    `db:"error_message"`
	UserID         *string    `db:"user_id"`
	APIKeyID       *string    `db:"api_key_id"`
	RequestID      *string    `db:"request_id"`
	Tries          int64      `db:"tries"`
	CreatedAt      time.Time  `db:"created_at"`
	StartedAt      *time.Time `db:"started_at"`
	FinishedAt     *time.Time `db:"finished_at"`
}

// jsonText encodes a value that can always be encoded.
func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func toRunRow(r Run) runRow {
	row := runRow{
		ID: r.ID, Action: string(r.Action), Dry: r.Dry, Filter: jsonText(r.Filter),
		LegalEntityIDs: strings.Join(r.LegalEntityIDs, " "), Revision: r.Revision, UpTo: r.UpTo, Status: string(r.Status),
		Learned: r.Learned, Total: r.Total, Counts: jsonText(r.Counts), Error: db.OrNull(r.Error),
		UserID: db.OrNull(r.UserID), APIKeyID: db.OrNull(r.APIKeyID),
		RequestID: db.OrNull(r.RequestID), CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
	if r.At != nil {
		row.AtDate, row.AtNumber = &r.At.At, r.At.Number
	}
	return row
}

func (row runRow) run() (Run, error) {
	r := Run{
		ID: row.ID, Action: Action(row.Action), Dry: row.Dry,
		LegalEntityIDs: strings.Fields(row.LegalEntityIDs), Revision: row.Revision, UpTo: row.UpTo, Status: Status(row.Status),
		Learned: row.Learned, Total: row.Total, Error: db.OrEmpty(row.Error), UserID: db.OrEmpty(row.UserID),
		APIKeyID: db.OrEmpty(row.APIKeyID), RequestID: db.OrEmpty(row.RequestID),
		CreatedAt: row.CreatedAt, StartedAt: row.StartedAt, FinishedAt: row.FinishedAt,
	}
	if row.AtDate != nil {
		r.At = &transaction.Position{At: *row.AtDate, Number: row.AtNumber}
	}
	if err := json.Unmarshal([]byte(row.Filter), &r.Filter); err != nil {
		return r, fmt.Errorf("classification: the filter of %s: %w", row.ID, err)
	}
	if err := json.Unmarshal([]byte(row.Counts), &r.Counts); err != nil {
		return r, fmt.Errorf("classification: the counts of %s: %w", row.ID, err)
	}
	return r, nil
}

func runsOf(rows []runRow) ([]Run, error) {
	out := make([]Run, len(rows))
	for i, row := range rows {
		var err error
		if out[i], err = row.run(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var selectRunRows = "SELECT " + db.Columns[runRow]() + " FROM classification_runs WHERE organization_id = @org"

func insertRun(ctx context.Context, tx *db.Tx, r Run) error {
	return db.Insert(ctx, tx, "classification_runs", toRunRow(r))
}

func findUnchecked(ctx context.Context, tx *db.Tx, runID string) (Run, error) {
	row, err := db.One[runRow](ctx, tx, noun, selectRunRows+" AND run_id = ?", runID)
	if err != nil {
		return Run{}, err
	}
	return row.run()
}

// selectRuns reads runs, the newest first; for a key for some legal entities, only runs for no others.
func selectRuns(ctx context.Context, tx *db.Tx, f Filter, entities []string, below string, limit int) ([]Run, error) {
	q := db.Select(selectRunRows)
	if below != "" {
		q.And("run_id < ?", below)
	}
	if f.Status != "" {
		q.And("status = ?", string(f.Status))
	}
	if len(entities) > 0 { // keys have few legal entities: removing them from the stored list must leave nothing
		rest := "limited_to"
		args := make([]any, len(entities))
		for i, e := range entities {
			rest = "replace(" + rest + ", ?, '')"
			args[i] = e
		}
		q.And("limited_to <> '' AND trim("+rest+") = ''", args...)
	}
	rows, err := db.All[runRow](ctx, tx, q.Then("ORDER BY run_id DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return runsOf(rows)
}

// updateStatus changes the status of a run, regardless of any claim on it.
func updateStatus(ctx context.Context, tx *db.Tx, r Run) error {
	_, err := tx.Exec(ctx, "UPDATE classification_runs SET status = ?, error_message = ?, finished_at = ?, claimed_until = NULL, "+
		"tries = 0 WHERE organization_id = @org AND run_id = ?",
		string(r.Status), db.OrNull(r.Error), r.FinishedAt, r.ID)
	return err
}

// countUnfinished returns how many runs of the organization have not ended.
func countUnfinished(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, noun,
		"SELECT count(*) FROM classification_runs WHERE organization_id = @org AND status IN ('pending', 'running')")
}

// advance stores the progress or the end of a run, if the claim is still held.
func advance(ctx context.Context, tx *db.Tx, r Run, claim string) (bool, error) {
	row := toRunRow(r)
	n, err := tx.Exec(ctx, `UPDATE classification_runs SET status = ?, has_learned = ?, at_date = ?, at_number = ?, total_count = ?,
		counts = ?, error_message = ?, finished_at = ?, tries = 0
		WHERE organization_id = @org AND run_id = ? AND claim = ? AND status = 'running'`,
		row.Status, row.Learned, row.AtDate, row.AtNumber, row.Total, row.Counts, row.Error, row.FinishedAt, r.ID, claim)
	return n == 1, err
}

type resultRow struct {
	RunID         string  `db:"run_id"`
	Position      int64   `db:"position"`
	TransactionID string  `db:"transaction_id"`
	Number        int64   `db:"number"`
	Outcome       string  `db:"outcome"`
	RuleID        *string `db:"rule_id"`
	Body          string  `db:"body"`
}

func insertResults(ctx context.Context, tx *db.Tx, runID string, results []Result) error {
	rows := make([]resultRow, len(results))
	for i, r := range results {
		rows[i] = resultRow{RunID: runID, Position: r.Position, TransactionID: r.TransactionID, Number: r.Number,
			Outcome: string(r.Outcome), RuleID: db.OrNull(r.RuleID), Body: jsonText(r)}
	}
	return db.Insert(ctx, tx, "classification_results", rows...)
}

func selectResults(ctx context.Context, tx *db.Tx, f ResultFilter, above int64, limit int) ([]Result, error) {
	q := db.Select("SELECT " + db.Columns[resultRow]() + " FROM classification_results WHERE organization_id = @org")
	q.And("run_id = ? AND position > ?", f.RunID, above)
	if f.Outcome != "" {
		q.And("outcome = ?", string(f.Outcome))
	}
	if f.RuleID != "" {
		q.And("rule_id = ?", f.RuleID)
	}
	rows, err := db.All[resultRow](ctx, tx, q.Then("ORDER BY position LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	out := make([]Result, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal([]byte(row.Body), &out[i]); err != nil {
			return nil, fmt.Errorf("classification: a result of %s: %w", row.RunID, err)
		}
		out[i].Position, out[i].TransactionID, out[i].Number, out[i].Outcome, out[i].RuleID =
			row.Position, row.TransactionID, row.Number, Outcome(row.Outcome), db.OrEmpty(row.RuleID)
	}
	return out, nil
}
