package firmjob

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

type jobRow struct {
	ID         string     `db:"firm_job_id"`
	Kind       string     `db:"kind"`
	Params     string     `db:"parameters"`
	Scheduled  *string    `db:"scheduled_for"`
	Status     string     `db:"status"`
	Total      int64      `db:"total_count"`
	Counts     string     `db:"counts"`
	Error      *string    `db:"error_message"`
	UserID     *string    `db:"user_id"`
	APIKeyID   *string    `db:"api_key_id"`
	RequestID  *string    `db:"request_id"`
	Tries      int64      `db:"tries"`
	CreatedAt  time.Time  `db:"created_at"`
	StartedAt  *time.Time `db:"started_at"`
	FinishedAt *time.Time `db:"finished_at"`
}

type resultRow struct {
	JobID          string     `db:"firm_job_id"`
	Position       int64      `db:"position"`
	ClientID       string     `db:"firm_client_id"`
	OrganizationID string     `db:"client_organization_id"`
	Outcome        string     `db:"status"`
	Body           *string    `db:"body"`
	Error          *string    `db:"error_message"`
	FinishedAt     *time.Time `db:"finished_at"`
}

// jsonText encodes a value that can always be encoded.
func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func (r jobRow) job() (Job, error) {
	j := Job{ID: r.ID, Kind: Kind(r.Kind), Scheduled: db.OrEmpty(r.Scheduled), Status: Status(r.Status), Total: r.Total,
		Error: db.OrEmpty(r.Error), UserID: db.OrEmpty(r.UserID), APIKeyID: db.OrEmpty(r.APIKeyID), RequestID: db.OrEmpty(r.RequestID),
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt}
	if err := json.Unmarshal([]byte(r.Params), &j.Params); err != nil {
		return j, fmt.Errorf("firmjob: the parameters of %s: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(r.Counts), &j.Counts); err != nil {
		return j, fmt.Errorf("firmjob: the counts of %s: %w", r.ID, err)
	}
	return j, nil
}

// insert stores a job with a result that waits for each client.
func insert(ctx context.Context, tx *db.Tx, j Job, work []firm.Work) error {
	err := db.Insert(ctx, tx, "firm_jobs", jobRow{ID: j.ID, Kind: string(j.Kind), Params: jsonText(j.Params),
		Scheduled: db.OrNull(j.Scheduled), Status: string(j.Status), Total: j.Total, Counts: jsonText(j.Counts), UserID: db.OrNull(j.UserID),
		APIKeyID: db.OrNull(j.APIKeyID), RequestID: db.OrNull(j.RequestID), CreatedAt: j.CreatedAt})
	if err != nil {
		return err
	}
	rows := make([]resultRow, len(work))
	for n, w := range work {
		rows[n] = resultRow{JobID: j.ID, Position: int64(n + 1), ClientID: w.ClientID, OrganizationID: w.OrganizationID,
			Outcome: string(ResultPending)}
	}
	return db.Insert(ctx, tx, "firm_job_results", rows...)
}

// updateStatus stores the end of a job, regardless of any claim on it.
func updateStatus(ctx context.Context, tx *db.Tx, j Job) error {
	_, err := tx.Exec(ctx, "UPDATE firm_jobs SET status = ?, error_message = ?, finished_at = ? WHERE organization_id = @org "+
		"AND firm_job_id = ?", string(j.Status), db.OrNull(j.Error), j.FinishedAt, j.ID)
	return err
}

// updateClaimed stores the progress or the end of a job, and reports whether the claim is still held.
func updateClaimed(ctx context.Context, tx *db.Tx, j Job, claim string) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE firm_jobs SET status = ?, counts = ?, error_message = ?, finished_at = ?, tries = 0 "+
		"WHERE organization_id = @org AND firm_job_id = ? AND claim = ? AND status IN ('running', ?)", string(j.Status), jsonText(j.Counts),
		db.OrNull(j.Error), j.FinishedAt, j.ID, claim, string(j.Status))
	return n == 1, err
}

// updateResult stores what came of a client, and reports whether its result was waiting.
func updateResult(ctx context.Context, tx *db.Tx, jobID string, r Result) (bool, error) {
	var body *string
	if r.Found != nil {
		body = new(jsonText(r.Found))
	}
	n, err := tx.Exec(ctx, "UPDATE firm_job_results SET status = ?, body = ?, error_message = ?, finished_at = ? "+
		"WHERE organization_id = @org AND firm_job_id = ? AND position = ? AND status = 'pending'", string(r.Outcome), body,
		db.OrNull(r.Error), r.FinishedAt, jobID, r.Position)
	return n == 1, err
}

func countUnfinished(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count",
		"SELECT count(*) FROM firm_jobs WHERE organization_id = @org AND status IN ('pending', 'running')")
}

// find returns a job of the organization of the transaction.
func find(ctx context.Context, tx *db.Tx, jobID string) (Job, error) {
	r, err := db.One[jobRow](ctx, tx, noun, "SELECT "+db.Columns[jobRow]()+" FROM firm_jobs WHERE organization_id = @org "+
		"AND firm_job_id = ?", jobID)
	if err != nil {
		return Job{}, err
	}
	return r.job()
}

// selectWaiting reads the clients that have no result yet.
func selectWaiting(ctx context.Context, tx *db.Tx, jobID string, limit int) ([]Result, error) {
	rows, err := db.All[resultRow](ctx, tx, "SELECT "+db.Columns[resultRow]()+" FROM firm_job_results WHERE organization_id = @org "+
		"AND firm_job_id = ? AND status = 'pending' ORDER BY position LIMIT ?", jobID, limit)
	out := make([]Result, len(rows))
	for i, r := range rows {
		out[i] = Result{Position: r.Position, ClientID: r.ClientID, OrganizationID: r.OrganizationID, Outcome: ResultPending}
	}
	return out, err
}

// selectJob returns a job of a firm, in a transaction across organizations.
func selectJob(ctx context.Context, tx *db.Tx, firmOrganizationID, jobID string) (Job, error) {
	r, err := db.One[jobRow](ctx, tx, noun, "SELECT "+db.Columns[jobRow]()+" FROM firm_jobs WHERE organization_id = ? "+
		"AND firm_job_id = ?", firmOrganizationID, jobID)
	if err != nil {
		return Job{}, err
	}
	return r.job()
}

// selectJobs reads the jobs of a firm whose ids are below one, the newest first, in a transaction across organizations.
func selectJobs(ctx context.Context, tx *db.Tx, firmOrganizationID string, f Filter, below string, limit int) ([]Job, error) {
	q := db.Select("SELECT "+db.Columns[jobRow]()+" FROM firm_jobs WHERE organization_id = ?", firmOrganizationID).
		And("firm_job_id < ?", below)
	if f.Kind != "" {
		q.And("kind = ?", string(f.Kind))
	}
	if f.Status != "" {
		q.And("status = ?", string(f.Status))
	}
	rows, err := db.All[jobRow](ctx, tx, q.Then("ORDER BY firm_job_id DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	out := make([]Job, len(rows))
	for i, r := range rows {
		if out[i], err = r.job(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// visible joins the results of jobs with the roles of somebody for the clients.
const visible = firm.FromRoles + `JOIN firm_job_results r ON r.client_organization_id = p.organization_id
	AND r.firm_client_id = p.firm_client_id AND r.organization_id = p.firm_organization_id
	JOIN firm_clients c ON c.organization_id = r.organization_id AND c.firm_client_id = r.firm_client_id
	WHERE r.organization_id = ? AND p.user_id = ?`

// visibleTo returns the id of the user whose roles count. It is empty for who works for no client.
func visibleTo(who actor.Actor) string {
	if !who.MayWorkForClients() {
		return ""
	}
	return who.UserID
}

type visibleCount struct {
	JobID   string `db:"firm_job_id"`
	Outcome string `db:"status"`
	Count   int64  `db:"n"`
}

// selectVisibleCounts counts the results that an actor may see, in a transaction across organizations.
func selectVisibleCounts(ctx context.Context, tx *db.Tx, who actor.Actor, jobs []Job) ([]visibleCount, error) {
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		ids[i] = j.ID
	}
	return db.All[visibleCount](ctx, tx, "SELECT r.firm_job_id, r.status, count(*) AS n"+visible+
		" AND r.firm_job_id {any} GROUP BY r.firm_job_id, r.status", who.OrganizationID, visibleTo(who), ids)
}

// selectResults reads the results of a job that an actor may see, in a transaction across organizations.
func selectResults(ctx context.Context, tx *db.Tx, who actor.Actor, j Job, f ResultFilter, above int64, limit int) ([]Result, error) {
	q := db.Select("SELECT r.firm_job_id, r.position, r.firm_client_id, r.client_organization_id, r.status, r.body, r.error_message, "+
		"r.finished_at, c.name"+visible, who.OrganizationID, visibleTo(who)).And("r.firm_job_id = ? AND r.position > ?", j.ID, above)
	if f.ClientID != "" {
		q.And("r.firm_client_id = ?", f.ClientID)
	}
	stopped := j.Status.Ended() // what has no result then gets none
	switch {
	case f.Outcome == ResultCancelled && stopped:
		q.And("r.status = 'pending'")
	case f.Outcome == ResultCancelled, f.Outcome == ResultPending && stopped:
		return nil, nil
	case f.Outcome != "":
		q.And("r.status = ?", string(f.Outcome))
	}
	rows, err := db.All[struct {
		resultRow
		Name string `db:"name"`
	}](ctx, tx, q.Then("ORDER BY r.position LIMIT ?", limit), q.Args...)
	out := make([]Result, len(rows))
	for i, r := range rows {
		out[i] = Result{Position: r.Position, ClientID: r.ClientID, OrganizationID: r.OrganizationID, Name: r.Name,
			Outcome: Outcome(r.Outcome), Error: db.OrEmpty(r.Error), FinishedAt: r.FinishedAt}
		if out[i].Outcome == ResultPending && stopped {
			out[i].Outcome = ResultCancelled
		}
		if r.Body != nil {
			if err := json.Unmarshal([]byte(*r.Body), &out[i].Found); err != nil {
				return nil, fmt.Errorf("firmjob: a result of %s: %w", j.ID, err)
			}
		}
	}
	return out, err
}

// lock returns a job whose claim is held, and keeps others from changing it until the transaction ends. The error is ErrClaimed if the
// claim is lost.
func lock(ctx context.Context, tx *db.Tx, jobID, claim string) (Job, error) {
	r, err := db.One[jobRow](ctx, tx, noun, "SELECT "+db.Columns[jobRow]()+" FROM firm_jobs WHERE organization_id = @org "+
		"AND firm_job_id = ? AND claim = ? {for_update}", jobID, claim)
	if fault.KindOf(err) == fault.NotFound {
		err = task.ErrClaimed
	}
	if err != nil {
		return Job{}, err
	}
	return r.job()
}

// selectDue reads the firms that had clients when a night began and have no job for it, in a transaction across organizations.
func selectDue(ctx context.Context, tx *db.Tx, night time.Time) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT f.organization_id FROM firms f WHERE EXISTS (SELECT 1 FROM firm_clients c
			JOIN firm_access a ON a.organization_id = c.client_organization_id AND a.firm_client_id = c.firm_client_id AND a.status = 'active'
			WHERE c.organization_id = f.organization_id AND a.granted_at < ?)
		AND NOT EXISTS (SELECT 1 FROM firm_jobs j WHERE j.organization_id = f.organization_id AND j.scheduled_for = ?)
		ORDER BY f.organization_id`, night, night.Format(time.DateOnly))
}

// findScheduled returns the id of the job for a night.
func findScheduled(ctx context.Context, tx *db.Tx, night string) (string, error) {
	return db.One[string](ctx, tx, noun, "SELECT firm_job_id FROM firm_jobs WHERE organization_id = @org AND scheduled_for = ?", night)
}

// expiry says which jobs are no longer kept: those of a night and the nights before it, and those of people that ended before a time.
type expiry struct {
	night string
	ended time.Time
}

// selectWithExpired reads the firms that have jobs which are no longer kept, in a transaction across organizations.
func selectWithExpired(ctx context.Context, tx *db.Tx, e expiry) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT organization_id FROM firm_jobs WHERE scheduled_for <= ? UNION "+
		"SELECT organization_id FROM firm_jobs WHERE scheduled_for IS NULL AND finished_at < ? ORDER BY organization_id", e.night, e.ended)
}

// deleteExpired deletes jobs that are no longer kept, with their results: not all of them at once if there are many.
func deleteExpired(ctx context.Context, tx *db.Tx, e expiry) error {
	ids, err := db.All[string](ctx, tx, "SELECT firm_job_id FROM firm_jobs WHERE organization_id = @org AND (scheduled_for <= ? OR "+
		"scheduled_for IS NULL AND finished_at < ?) ORDER BY firm_job_id LIMIT ?", e.night, e.ended, deletedMax)
	if err != nil || len(ids) == 0 {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM firm_job_results WHERE organization_id = @org AND firm_job_id {any}", ids); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "DELETE FROM firm_jobs WHERE organization_id = @org AND firm_job_id {any}", ids)
	return err
}
