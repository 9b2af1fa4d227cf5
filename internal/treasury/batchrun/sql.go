package batchrun

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Row has the columns that the tables of all kinds of runs have.
type Row struct {
	ID             string     `db:"run_id"`
	Dry            bool       `db:"dry_run"`
	Filter         string     `db:"filter"`
	LegalEntityIDs string     `db:"limited_to"`
	UpTo           int64      `db:"up_to"`
	Status         string     `db:"status"`
	AtDate         *time.Time `db:"at_date"`
	AtNumber       int64      `db:"at_number"`
	Total          int64      `db:"total_count"`
	Counts         string     `db:"counts"`
	Error          *string    `db:"error_message"`
	UserID         *string    `db:"user_id"`
	APIKeyID       *string    `db:"api_key_id"`
	FirmID         *string    `db:"firm_id"`
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

// ToRow returns the row of a run.
func ToRow(r Run) Row {
	row := Row{
		ID: r.ID, Dry: r.Dry, Filter: jsonText(r.Filter), LegalEntityIDs: strings.Join(r.LegalEntityIDs, " "), UpTo: r.UpTo,
		Status: string(r.Status), Total: r.Total, Counts: jsonText(r.Counts), Error: db.OrNull(r.Error), UserID: db.OrNull(r.UserID),
		APIKeyID: db.OrNull(r.APIKeyID), FirmID: db.OrNull(r.FirmID), RequestID: db.OrNull(r.RequestID),
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
	if r.At != nil {
		row.AtNumber = r.At.Number
		if !r.At.At.IsZero() {
			row.AtDate = &r.At.At
		}
	}
	return row
}

// Run returns the run of a row. After an error it has everything that could be read.
func (row Row) Run() (Run, error) {
	r := Run{
		ID: row.ID, Dry: row.Dry, LegalEntityIDs: strings.Fields(row.LegalEntityIDs), UpTo: row.UpTo, Status: Status(row.Status),
		Total: row.Total, Error: db.OrEmpty(row.Error), UserID: db.OrEmpty(row.UserID), APIKeyID: db.OrEmpty(row.APIKeyID),
		FirmID: db.OrEmpty(row.FirmID), RequestID: db.OrEmpty(row.RequestID),
		CreatedAt: row.CreatedAt, StartedAt: row.StartedAt, FinishedAt: row.FinishedAt,
	}
	if row.AtDate != nil {
		r.At = &transaction.Position{At: *row.AtDate, Number: row.AtNumber}
	} else if row.AtNumber > 0 {
		r.At = &transaction.Position{Number: row.AtNumber}
	}
	if err := json.Unmarshal([]byte(row.Filter), &r.Filter); err != nil {
		return r, fmt.Errorf("batchrun: the filter of %s: %w", row.ID, err)
	}
	if err := json.Unmarshal([]byte(row.Counts), &r.Counts); err != nil {
		return r, fmt.Errorf("batchrun: the counts of %s: %w", row.ID, err)
	}
	return r, nil
}

// Query starts a query for runs, to which conditions can be added.
func (k *Kind[R, W]) Query() *db.Query {
	return db.Select("SELECT " + db.Columns[W]() + " FROM " + k.RunTable + " WHERE organization_id = @org")
}

// Select reads the newest runs of a query that match a filter and whose ids are below one, if one is given. For a key for some legal
// entities, it reads only runs for no others.
func (k *Kind[R, W]) Select(ctx context.Context, tx *db.Tx, q *db.Query, f Filter, below string, limit int) ([]R, error) {
	if below != "" {
		q.And("run_id < ?", below)
	}
	if f.Status != "" {
		q.And("status = ?", string(f.Status))
	}
	if entities := actor.From(ctx).LegalEntityIDs; len(entities) > 0 {
		rest := "limited_to" // keys have few legal entities: removing them from the stored list must leave nothing
		args := make([]any, len(entities))
		for i, e := range entities {
			rest = "replace(" + rest + ", ?, '')"
			args[i] = e
		}
		q.And("limited_to <> '' AND trim("+rest+") = ''", args...)
	}
	rows, err := db.All[W](ctx, tx, q.Then("ORDER BY run_id DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return k.runsOf(ctx, tx, rows)
}

// runsOf returns the runs of rows.
func (k *Kind[R, W]) runsOf(ctx context.Context, tx *db.Tx, rows []W) ([]R, error) {
	out, err := convert(rows, k.FromRow)
	if err == nil && k.Complete != nil {
		err = k.Complete(ctx, tx, out)
	}
	return out, err
}

// convert returns what a function makes of rows.
func convert[W, R any](rows []W, from func(W) (R, error)) (out []R, err error) {
	out = make([]R, len(rows))
	for i, row := range rows {
		if out[i], err = from(row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (k *Kind[R, W]) findUnchecked(ctx context.Context, tx *db.Tx, runID string) (R, error) {
	q := k.Query()
	row, err := db.One[W](ctx, tx, k.Noun, q.Then("AND run_id = ?", runID), q.Args...)
	if err != nil {
		return *new(R), err
	}
	found, err := k.runsOf(ctx, tx, []W{row})
	if err != nil {
		return *new(R), err
	}
	return found[0], nil
}

// findByRequest finds the latest run that a request has created, among those created after another id.
func (k *Kind[R, W]) findByRequest(ctx context.Context, tx *db.Tx, requestID, afterID string) (R, error) {
	q := k.Query().And("request_id = ?", requestID).And("run_id > ?", afterID)
	row, err := db.One[W](ctx, tx, k.Noun, q.Then("ORDER BY run_id DESC LIMIT 1"), q.Args...)
	if err != nil {
		return *new(R), err
	}
	found, err := k.runsOf(ctx, tx, []W{row})
	if err != nil {
		return *new(R), err
	}
	return found[0], nil
}

func (k *Kind[R, W]) insert(ctx context.Context, tx *db.Tx, r R) error {
	return db.Insert(ctx, tx, k.RunTable, k.ToRow(r))
}

// updateStatus changes the status of a run, regardless of any claim on it.
func (k *Kind[R, W]) updateStatus(ctx context.Context, tx *db.Tx, r Run) error {
	_, err := tx.Exec(ctx, "UPDATE "+k.RunTable+" SET status = ?, error_message = ?, finished_at = ?, claimed_until = NULL, "+
		"tries = 0 WHERE organization_id = @org AND run_id = ?", string(r.Status), db.OrNull(r.Error), r.FinishedAt, r.ID)
	return err
}

// countUnfinished returns how many runs of the organization have not ended.
func (k *Kind[R, W]) countUnfinished(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, k.Noun,
		"SELECT count(*) FROM "+k.RunTable+" WHERE organization_id = @org AND status IN ('pending', 'running')")
}

// advance stores the progress or the end of a run, and reports whether the claim is still held.
func (k *Kind[R, W]) advance(ctx context.Context, tx *db.Tx, r Run, claim string) (bool, error) {
	row := ToRow(r)
	n, err := tx.Exec(ctx, "UPDATE "+k.RunTable+` SET status = ?, at_date = ?, at_number = ?, total_count = ?, counts = ?,
		error_message = ?, finished_at = ?, tries = 0
		WHERE organization_id = @org AND run_id = ? AND claim = ? AND status = 'running'`,
		row.Status, row.AtDate, row.AtNumber, row.Total, row.Counts, row.Error, row.FinishedAt, row.ID, claim)
	return n == 1, err
}

// ResultRow has the columns that the tables of results of all kinds of runs have.
type ResultRow struct {
	RunID         string `db:"run_id"`
	Position      int64  `db:"position"`
	TransactionID string `db:"transaction_id"`
	Number        int64  `db:"number"`
	Outcome       string `db:"outcome"`
	Body          string `db:"body"`
}

// ToResultRow returns the row of a result of a run. The body is the result with what only its kind has, which is stored as JSON.
func ToResultRow(runID string, r Result, body any) ResultRow {
	return ResultRow{RunID: runID, Position: r.Position, TransactionID: r.TransactionID, Number: r.Number, Outcome: string(r.Outcome),
		Body: jsonText(body)}
}

// Result returns the result of a row, and decodes the rest of it into body.
func (row ResultRow) Result(body any) (Result, error) {
	if err := json.Unmarshal([]byte(row.Body), body); err != nil {
		return Result{}, fmt.Errorf("batchrun: a result of %s: %w", row.RunID, err)
	}
	return Result{Position: row.Position, TransactionID: row.TransactionID, Number: row.Number, Outcome: Outcome(row.Outcome)}, nil
}

// ResultFilter restricts the results of a run; empty fields do not.
type ResultFilter struct {
	RunID   string
	Outcome Outcome
}

// SelectResults reads the results of a query that match a filter and are after a position, in the order of the run.
func SelectResults[V, T any](ctx context.Context, tx *db.Tx, q *db.Query, f ResultFilter, above int64, limit int,
	fromRow func(V) (T, error)) ([]T, error) {
	q.And("run_id = ? AND position > ?", f.RunID, above)
	if f.Outcome != "" {
		q.And("outcome = ?", string(f.Outcome))
	}
	rows, err := db.All[V](ctx, tx, q.Then("ORDER BY position LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return convert(rows, fromRow)
}
