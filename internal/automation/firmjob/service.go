package firmjob

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/reporting/clientfigures"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

const (
	// jobsMax is how many jobs a firm may have that are not over. Each waits for the one before it.
	jobsMax = 20
	// jobsRetry is when a job should be started again that is one too many.
	jobsRetry = 10 * time.Second
	// turnLength is how long a job works, at least for one client, before jobs of other firms have their turn.
	turnLength = 10 * time.Second
)

// Service implements the use cases of jobs. Its fields are set before it is used.
type Service struct {
	Turn time.Duration // how long a job works before jobs of other firms have their turn

	db      *db.DB
	log     *slog.Logger
	firms   *firm.Service
	figures *clientfigures.Service
	runs    *classification.Service
	reports *statements.Service
}

// NewService returns a Service on a database, with the services that do the work.
func NewService(d *db.DB, log *slog.Logger, firms *firm.Service, figures *clientfigures.Service, runs *classification.Service,
	reports *statements.Service) *Service {
	return &Service{Turn: turnLength, db: d, log: log, firms: firms, figures: figures, runs: runs, reports: reports}
}

// CreateParams describe a job. No client ids mean all clients that the actor works for.
type CreateParams struct {
	Kind      Kind
	ClientIDs []string
	Expected  *int64 // how many clients there should be; nil: any number
	Params    Params
}

// Prepared is a job that is valid and was not created yet.
type Prepared struct {
	job  Job
	work []firm.Work
}

// Prepare validates a job and finds its clients, which are in other organizations, before the database transaction that creates it.
func (s *Service) Prepare(ctx context.Context, p CreateParams) (prepared Prepared, err error) {
	who := actor.From(ctx)
	if who.AuthorizationID != "" {
		return prepared, fault.Forbiddenf("apps do not work for clients: use a session, or an API key of the firm that acts for you")
	}
	if err := s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		_, err := firm.RequireFirm(ctx, tx)
		return err
	}); err != nil {
		return prepared, err
	}
	var faults fault.List
	p.Params.validate(p.Kind, &faults)
	work, err := s.firms.WorksFor(ctx, who, p.ClientIDs)
	if err != nil {
		return prepared, err
	}
	known := map[string]bool{}
	for _, w := range work {
		known[w.ClientID] = true
	}
	for n, clientID := range p.ClientIDs {
		if !known[clientID] {
			faults.AddMissing("client", fmt.Sprintf("client_ids[%d]", n))
		}
	}
	if err := faults.Err(); err != nil {
		return prepared, err
	}
	if n := int64(len(work)); p.Expected != nil && *p.Expected != n {
		return prepared, fault.ConflictAt([]fault.Field{{Name: "expected_count", Message: fmt.Sprintf("is now %d", n)}},
			"the number of clients is now %d, not %d: review them and send the new expected_count", n, *p.Expected)
	}
	prepared.work = work
	prepared.job = Job{Kind: p.Kind, Params: p.Params, UserID: who.UserID, APIKeyID: who.APIKeyID, RequestID: who.RequestID}
	return prepared, nil
}

// Create creates a prepared job, which a background task executes.
func (s *Service) Create(ctx context.Context, p Prepared) (j Job, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		unfinished, err := countUnfinished(ctx, tx)
		if err != nil {
			return err
		}
		if unfinished >= jobsMax {
			return fault.RateLimitedf(jobsRetry, "the firm has %d jobs that are not over; wait until one is, or cancel one", unfinished)
		}
		j, err = create(ctx, tx, p)
		return err
	})
	return j, err
}

// create stores a job with a result that waits for each client.
func create(ctx context.Context, tx *db.Tx, p Prepared) (Job, error) {
	j := p.job
	j.ID, j.Status, j.Total, j.Counts, j.CreatedAt = tx.NewID(id.FirmJob), Pending, int64(len(p.work)), map[Outcome]int64{}, tx.Now()
	if err := insert(ctx, tx, j, p.work); err != nil {
		return j, err
	}
	record(ctx, tx, "created", nil, j)
	return j, nil
}

// record adds a change of a job to the audit log, which is also its event.
func record(ctx context.Context, tx *db.Tx, change string, before *Job, after Job) {
	c := audit.Change{Action: "firm_job." + change, ResourceType: resourceType, ResourceID: after.ID, After: after.facts(), Object: after}
	if before != nil {
		c.Before = before.facts()
	}
	audit.Record(ctx, tx, c)
}

// Filter restricts a list; empty fields do not.
type Filter struct {
	Kind   Kind
	Status Status
}

// List returns jobs of the actor's firm, the newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Job], error) {
	key := func(j Job) string { return j.ID }
	return page.ListByKey("firm jobs", f, p, "~", key, func(below string, limit int) (out []Job, err error) {
		err = s.db.ReadAcross(ctx, "the results of a job are of clients", func(ctx context.Context, tx *db.Tx) error {
			if out, err = selectJobs(ctx, tx, actor.From(ctx).OrganizationID, f, below, limit); err != nil {
				return err
			}
			return countVisible(ctx, tx, out)
		})
		return out, err
	})
}

// Get returns a job of the actor's firm.
func (s *Service) Get(ctx context.Context, jobID string) (j Job, err error) {
	err = s.db.ReadAcross(ctx, "the results of a job are of clients", func(ctx context.Context, tx *db.Tx) error {
		found := make([]Job, 1)
		if found[0], err = selectJob(ctx, tx, actor.From(ctx).OrganizationID, jobID); err != nil {
			return err
		}
		err := countVisible(ctx, tx, found)
		j = found[0]
		return err
	})
	return j, err
}

// countVisible makes jobs count only the clients for which the actor has a role, unless the actor may know of all clients of the firm.
func countVisible(ctx context.Context, tx *db.Tx, jobs []Job) error {
	who := actor.From(ctx)
	if len(jobs) == 0 || who.Role.KnowsAllClients() {
		return nil
	}
	counts, err := selectVisibleCounts(ctx, tx, who, jobs)
	for i := range jobs {
		j := &jobs[i]
		j.Total, j.Counts = 0, map[Outcome]int64{}
		for _, c := range counts {
			if c.JobID != j.ID {
				continue
			}
			if j.Total += c.Count; Outcome(c.Outcome) != ResultPending {
				j.Counts[Outcome(c.Outcome)] = c.Count
			}
		}
	}
	return err
}

// ResultFilter restricts the results of a job; empty fields do not.
type ResultFilter struct {
	JobID    string
	Outcome  Outcome
	ClientID string
}

// Results lists the results of a job for the clients for which the actor has a role, by client id.
func (s *Service) Results(ctx context.Context, f ResultFilter, p page.Request) (page.Page[Result], error) {
	key := func(r Result) []string { return []string{strconv.FormatInt(r.Position, 10)} }
	return page.List("firm job results", f, p, key, func(after []string, limit int) (out []Result, err error) {
		above := int64(0)
		if after != nil {
			if above, err = strconv.ParseInt(after[0], 10, 64); err != nil {
				return nil, page.ErrCursor()
			}
		}
		err = s.db.ReadAcross(ctx, "the results of a job are of clients", func(ctx context.Context, tx *db.Tx) error {
			who := actor.From(ctx)
			j, err := selectJob(ctx, tx, who.OrganizationID, f.JobID)
			if err != nil {
				return err
			}
			out, err = selectResults(ctx, tx, who, j, f, above, limit)
			return err
		})
		return out, err
	})
}

// Cancel ends a job after the client whose turn it is; the results that there are stay. Cancelling it again changes nothing.
func (s *Service) Cancel(ctx context.Context, jobID string) (j Job, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if j, err = find(ctx, tx, jobID); err != nil || j.Status == Cancelled {
			return err
		}
		if j.Status.Ended() {
			return fault.Conflictf("the job is %s and can no longer be cancelled", j.Status)
		}
		before := j
		j.Status, j.FinishedAt = Cancelled, new(tx.Now())
		if err := updateStatus(ctx, tx, j); err != nil {
			return err
		}
		record(ctx, tx, "cancelled", &before, j)
		return nil
	})
	return j, err
}
