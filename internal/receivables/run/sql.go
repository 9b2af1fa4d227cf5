package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	runTable    = "cash_application_runs"
	resultTable = "cash_application_results"
)

type runRow struct {
	ID             string        `db:"run_id"`
	UndoesID       *string       `db:"undoes_run_id"`
	Dry            bool          `db:"dry_run"`
	MinConfidence  money.Decimal `db:"min_confidence"`
	Filter         string        `db:"filter"`
	Reason         *string       `db:"void_reason"`
	LegalEntityIDs string        `db:"limited_to"`
	UpTo           int64         `db:"up_to"`
	Status         string        `db:"status"`
	AtDate         *time.Time    `db:"at_date"`
	AtNumber       int64         `db:"at_number"`
	Total          int64         `db:"total_count"`
	Counts         string        `db:"counts"`
	Error          *string       `db:"error_message"`
	UserID         *string       `db:"user_id"`
	APIKeyID       *string       `db:"api_key_id"`
	RequestID      *string       `db:"request_id"`
	Tries          int64         `db:"tries"`
	CreatedAt      time.Time     `db:"created_at"`
	StartedAt      *time.Time    `db:"started_at"`
	FinishedAt     *time.Time    `db:"finished_at"`
}

// jsonText encodes a value that can always be encoded.
func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func toRunRow(r Run) runRow {
	row := runRow{
		ID: r.ID, UndoesID: db.OrNull(r.UndoesID), Dry: r.Dry, MinConfidence: r.MinConfidence, Filter: jsonText(r.Filter),
		Reason: db.OrNull(r.Reason), LegalEntityIDs: strings.Join(r.LegalEntityIDs, " "), UpTo: r.UpTo, Status: string(r.Status),
		Total: r.Total, Counts: jsonText(r.Counts), Error: db.OrNull(r.Error), UserID: db.OrNull(r.UserID), APIKeyID: db.OrNull(r.APIKeyID),
		RequestID: db.OrNull(r.RequestID), CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
	if r.UndoesID != "" {
		row.AtNumber = r.AtResult
	} else if r.At != nil {
		row.AtDate, row.AtNumber = &r.At.At, r.At.Number
	}
	return row
}

func (row runRow) run() (Run, error) {
	r := Run{
		ID: row.ID, UndoesID: db.OrEmpty(row.UndoesID), Dry: row.Dry, MinConfidence: row.MinConfidence, Reason: db.OrEmpty(row.Reason),
		LegalEntityIDs: strings.Fields(row.LegalEntityIDs), UpTo: row.UpTo, Status: Status(row.Status), Total: row.Total,
		Error: db.OrEmpty(row.Error), UserID: db.OrEmpty(row.UserID), APIKeyID: db.OrEmpty(row.APIKeyID), RequestID: db.OrEmpty(row.RequestID),
		CreatedAt: row.CreatedAt, StartedAt: row.StartedAt, FinishedAt: row.FinishedAt,
	}
	if row.UndoesID != nil {
		r.AtResult = row.AtNumber
	} else if row.AtDate != nil {
		r.At = &transaction.Position{At: *row.AtDate, Number: row.AtNumber}
	}
	if err := json.Unmarshal([]byte(row.Filter), &r.Filter); err != nil {
		return r, fmt.Errorf("run: the filter of %s: %w", row.ID, err)
	}
	if err := json.Unmarshal([]byte(row.Counts), &r.Counts); err != nil {
		return r, fmt.Errorf("run: the counts of %s: %w", row.ID, err)
	}
	return r, nil
}

func runsOf(ctx context.Context, tx *db.Tx, rows []runRow) ([]Run, error) {
	out := make([]Run, len(rows))
	for i, row := range rows {
		var err error
		if out[i], err = row.run(); err != nil {
			return nil, err
		}
	}
	return out, setUndone(ctx, tx, out)
}

var selectRunRows = "SELECT " + db.Columns[runRow]() + " FROM cash_application_runs WHERE organization_id = @org"

func insertRun(ctx context.Context, tx *db.Tx, r Run) error {
	return db.Insert(ctx, tx, runTable, toRunRow(r))
}

func findUnchecked(ctx context.Context, tx *db.Tx, runID string) (Run, error) {
	row, err := db.One[runRow](ctx, tx, noun, selectRunRows+" AND run_id = ?", runID)
	if err != nil {
		return Run{}, err
	}
	found, err := runsOf(ctx, tx, []runRow{row})
	if err != nil {
		return Run{}, err
	}
	return found[0], nil
}

type undoingRow struct {
	RunID    string `db:"run_id"`
	UndoesID string `db:"undoes_run_id"`
	Status   string `db:"status"`
}

// setUndone sets which runs undo some runs: the last one of each.
func setUndone(ctx context.Context, tx *db.Tx, runs []Run) error {
	at, ids := make(map[string]int, len(runs)), make([]string, len(runs))
	for n, r := range runs {
		at[r.ID], ids[n] = n, r.ID
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := db.All[undoingRow](ctx, tx, "SELECT run_id, undoes_run_id, status FROM cash_application_runs WHERE organization_id = @org "+
		"AND undoes_run_id {any} ORDER BY run_id", ids)
	for _, row := range rows {
		r := &runs[at[row.UndoesID]]
		r.UndoneByID, r.undoing = row.RunID, !Status(row.Status).Ended()
	}
	return err
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
	if f.UndoesID != "" {
		q.And("{rare}(undoes_run_id = ?)", f.UndoesID)
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
	return runsOf(ctx, tx, rows)
}

// updateStatus changes the status of a run, regardless of any claim on it.
func updateStatus(ctx context.Context, tx *db.Tx, r Run) error {
	_, err := tx.Exec(ctx, "UPDATE cash_application_runs SET status = ?, error_message = ?, finished_at = ?, claimed_until = NULL, "+
		"tries = 0 WHERE organization_id = @org AND run_id = ?",
		string(r.Status), db.OrNull(r.Error), r.FinishedAt, r.ID)
	return err
}

// countUnfinished returns how many runs of the organization have not ended.
func countUnfinished(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, noun,
		"SELECT count(*) FROM cash_application_runs WHERE organization_id = @org AND status IN ('pending', 'running')")
}

// advance stores the progress or the end of a run, if the claim is still held.
func advance(ctx context.Context, tx *db.Tx, r Run, claim string) (bool, error) {
	row := toRunRow(r)
	n, err := tx.Exec(ctx, `UPDATE cash_application_runs SET status = ?, at_date = ?, at_number = ?, total_count = ?,
		counts = ?, error_message = ?, finished_at = ?, tries = 0
		WHERE organization_id = @org AND run_id = ? AND claim = ? AND status = 'running'`,
		row.Status, row.AtDate, row.AtNumber, row.Total, row.Counts, row.Error, row.FinishedAt, r.ID, claim)
	return n == 1, err
}

type resultRow struct {
	RunID         string  `db:"run_id"`
	Position      int64   `db:"position"`
	TransactionID string  `db:"transaction_id"`
	Number        int64   `db:"number"`
	Outcome       string  `db:"outcome"`
	ApplicationID *string `db:"cash_application_id"`
	Body          string  `db:"body"`
}

func insertResults(ctx context.Context, tx *db.Tx, runID string, results []Result) error {
	rows := make([]resultRow, len(results))
	for i, r := range results {
		rows[i] = resultRow{RunID: runID, Position: r.Position, TransactionID: r.TransactionID, Number: r.Number,
			Outcome: string(r.Outcome), ApplicationID: db.OrNull(r.ApplicationID), Body: jsonText(r)}
	}
	return db.Insert(ctx, tx, resultTable, rows...)
}

// selectResults reads results in the order of a run, after a position.
func selectResults(ctx context.Context, tx *db.Tx, f ResultFilter, above int64, limit int) ([]Result, error) {
	q := db.Select("SELECT " + db.Columns[resultRow]() + " FROM cash_application_results WHERE organization_id = @org")
	q.And("run_id = ? AND position > ?", f.RunID, above)
	if f.Outcome != "" {
		q.And("outcome = ?", string(f.Outcome))
	}
	rows, err := db.All[resultRow](ctx, tx, q.Then("ORDER BY position LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	out := make([]Result, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal([]byte(row.Body), &out[i]); err != nil {
			return nil, fmt.Errorf("run: a result of %s: %w", row.RunID, err)
		}
		out[i].Position, out[i].TransactionID, out[i].Number, out[i].Outcome, out[i].ApplicationID =
			row.Position, row.TransactionID, row.Number, Outcome(row.Outcome), db.OrEmpty(row.ApplicationID)
	}
	return out, nil
}
