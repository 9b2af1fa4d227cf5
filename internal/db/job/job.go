// Package job is the queue for short work that happens after a database transaction, such as delivering events. It wraps
// river, on either engine, in the same database: a job is queued only if the transaction that inserts it commits.
package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"github.com/bursarhq/bursar/internal/db"
)

// Args are the arguments of a job; their Kind selects the worker.
type Args = river.JobArgs

// workersMax is how many jobs one node works on at a time.
const workersMax = 8

// pollPause is how often the queue looks for jobs. It may be long, because no user waits for a job.
const pollPause = time.Second

// timeout is how long a job may take. One that takes longer belongs to a process that was killed, and is run again.
const timeout = time.Minute

// completedKept is how long jobs are kept that are done. Nobody reads them, and there may be many.
const completedKept = time.Hour

// Queued is implemented by the arguments of jobs that do not run in the common queue.
type Queued interface{ Queue() string }

// Workers holds the functions that run jobs, by kind, the periodic jobs, and the queues.
type Workers struct {
	river    *river.Workers
	periodic []*river.PeriodicJob
	queues   map[string]river.QueueConfig
}

// NewWorkers returns an empty set.
func NewWorkers() *Workers {
	return &Workers{river: river.NewWorkers(), queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workersMax}}}
}

// AddQueue adds a queue for jobs that would keep others waiting. Each node works on a number of them at a time, and looks for new ones at
// an interval.
func (w *Workers) AddQueue(name string, workers int, poll time.Duration) {
	w.queues[name] = river.QueueConfig{MaxWorkers: workers, FetchPollInterval: poll}
}

// Handle registers the function that runs the jobs of one kind. A job may run again after a crash or an error, so fn must
// be idempotent.
func Handle[T Args](w *Workers, fn func(context.Context, T) error) {
	river.AddWorker(w.river, river.WorkFunc(func(ctx context.Context, j *river.Job[T]) error { return fn(ctx, j.Args) }))
}

// HandleAttempt is Handle for a function that is told how often the job has run, this time included.
func HandleAttempt[T Args](w *Workers, fn func(ctx context.Context, args T, attempt int) error) {
	river.AddWorker(w.river, river.WorkFunc(func(ctx context.Context, j *river.Job[T]) error { return fn(ctx, j.Args, j.Attempt) }))
}

// Every registers a job that is queued at an interval, by one node at a time.
func Every[T Args](w *Workers, interval time.Duration, args T) {
	w.periodic = append(w.periodic, river.NewPeriodicJob(river.PeriodicInterval(interval),
		func() (river.JobArgs, *river.InsertOpts) { return args, nil }, &river.PeriodicJobOpts{RunOnStart: true}))
}

// Queue stores jobs and runs them.
type Queue struct{ client *river.Client[*sql.Tx] }

// driverOf returns what river reaches a database with.
func driverOf(d *db.DB) riverdriver.Driver[*sql.Tx] {
	if d.Engine() == db.SQLite {
		return riversqlite.New(d.Jobs())
	}
	return riverdatabasesql.New(d.Jobs())
}

// NewInserter returns a queue that only stores jobs, for processes and requests that do not run them.
func NewInserter(d *db.DB) (*Queue, error) {
	client, err := river.NewClient(driverOf(d), &river.Config{})
	if err != nil {
		return nil, err
	}
	return &Queue{client}, nil
}

// NewQueue returns a queue on a database that is prepared.
func NewQueue(d *db.DB, w *Workers, log *slog.Logger) (*Queue, error) {
	client, err := river.NewClient(driverOf(d), &river.Config{
		Queues:            w.queues,
		Workers:           w.river,
		PeriodicJobs:      w.periodic,
		FetchPollInterval: pollPause,
		JobTimeout:        timeout,
		Logger:            slog.New(quiet{log.Handler()}),
		ErrorHandler:      failures{log},

		CompletedJobRetentionPeriod: completedKept,
		RescueStuckJobsAfter:        2 * timeout,
	})
	if err != nil {
		return nil, err
	}
	return &Queue{client}, nil
}

// Insert adds jobs to the queue if, and only if, the transaction commits. It returns an error in a GroupWrite, whose
// members should append an event to the outbox instead.
func (q *Queue) Insert(ctx context.Context, tx *db.Tx, jobs ...Args) error {
	return q.InsertAt(ctx, tx, time.Time{}, jobs...)
}

// InsertAt is Insert for jobs that run at a time or some seconds later; the zero time means at once.
func (q *Queue) InsertAt(ctx context.Context, tx *db.Tx, at time.Time, jobs ...Args) error {
	if tx.SQL() == nil || tx.Group().IsMember() {
		return errors.New("job: a grouped write or a read cannot insert jobs; insert them in a Write, or append an event to the outbox")
	}
	params := make([]river.InsertManyParams, len(jobs))
	for i, j := range jobs {
		params[i].Args = j
		if queued, ok := j.(Queued); ok || !at.IsZero() {
			params[i].InsertOpts = &river.InsertOpts{ScheduledAt: at}
			if ok {
				params[i].InsertOpts.Queue = queued.Queue()
			}
		}
	}
	_, err := q.client.InsertManyTx(ctx, tx.SQL(), params)
	return err
}

// Start runs jobs in the background until Stop.
func (q *Queue) Start(ctx context.Context) error { return q.client.Start(ctx) }

// cancelTimeout is how long a job has to end after its context was canceled.
const cancelTimeout = 2 * time.Second

// Stop waits for running jobs until the context ends, then cancels them and waits for cancelTimeout more. It returns an
// error if jobs, or river's leader election, are still running then: they must not keep the process from ending. Jobs
// that were interrupted run again later.
func (q *Queue) Stop(ctx context.Context) error {
	if q.client.Stop(ctx) == nil {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	if err := q.client.StopAndCancel(last); err != nil {
		return fmt.Errorf("job: the queue did not stop in time: %w", err)
	}
	return nil
}

// failures logs jobs that failed. Those that a stop has interrupted have not: they run again.
type failures struct{ log *slog.Logger }

// HandleError logs the error of a job.
func (f failures) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		f.log.Error("a background job failed", "job", job.Kind, "attempt", job.Attempt, "error", err)
	}
	return nil
}

// HandlePanic logs a job that panicked.
func (f failures) HandlePanic(_ context.Context, job *rivertype.JobRow, value any, trace string) *river.ErrorHandlerResult {
	f.log.Error("a background job panicked", "job", job.Kind, "attempt", job.Attempt,
		"error", fmt.Sprintf("panic: %v\n%s", value, trace))
	return nil
}

// quiet is a log handler that passes on warnings and errors only. It also leaves out those of jobs that were canceled by
// a stop, which is not an error.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	stopping := false
	r.Attrs(func(a slog.Attr) bool {
		stopping = stopping || strings.HasSuffix(a.Value.String(), context.Canceled.Error())
		return !stopping
	})
	if stopping {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

func (q quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(a)} }

func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
