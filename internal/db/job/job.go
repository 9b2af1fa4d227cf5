// Package job is the queue for work that happens after a transaction: river, on either engine, in the same database.
package job

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"github.com/bursarhq/bursar/internal/db"
)

// Args is what a job is to do; its Kind finds the worker.
type Args = river.JobArgs

// workersMax is how many jobs one node works on at a time.
const workersMax = 8

// pollPause is how soon a job is picked up; nothing a person waits for goes through the queue.
const pollPause = time.Second

// Workers are the functions that do jobs, by kind.
type Workers struct {
	river    *river.Workers
	periodic []*river.PeriodicJob
}

// NewWorkers starts an empty set.
func NewWorkers() *Workers { return &Workers{river: river.NewWorkers()} }

// Handle does the jobs of one kind. A job may run again after a crash or an error, so fn must bear that.
func Handle[T Args](w *Workers, fn func(context.Context, T) error) {
	river.AddWorker(w.river, river.WorkFunc(func(ctx context.Context, j *river.Job[T]) error { return fn(ctx, j.Args) }))
}

// Every queues a job again and again, on one node at a time.
func Every[T Args](w *Workers, interval time.Duration, args T) {
	w.periodic = append(w.periodic, river.NewPeriodicJob(river.PeriodicInterval(interval),
		func() (river.JobArgs, *river.InsertOpts) { return args, nil }, &river.PeriodicJobOpts{RunOnStart: true}))
}

// Queue takes jobs and works on them.
type Queue struct{ client *river.Client[*sql.Tx] }

// NewQueue makes a queue on a database that is prepared.
func NewQueue(d *db.DB, w *Workers, log *slog.Logger) (*Queue, error) {
	var driver riverdriver.Driver[*sql.Tx] = riverdatabasesql.New(d.Jobs())
	if d.Engine() == db.SQLite {
		driver = riversqlite.New(d.Jobs())
	}
	client, err := river.NewClient(driver, &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workersMax}},
		Workers:           w.river,
		PeriodicJobs:      w.periodic,
		FetchPollInterval: pollPause,
		Logger:            slog.New(quiet{log.Handler()}),
	})
	if err != nil {
		return nil, err
	}
	return &Queue{client}, nil
}

// Insert queues jobs when, and only when, the transaction commits.
func (q *Queue) Insert(ctx context.Context, tx *db.Tx, jobs ...Args) error {
	params := make([]river.InsertManyParams, len(jobs))
	for i, j := range jobs {
		params[i].Args = j
	}
	_, err := q.client.InsertManyTx(ctx, tx.SQL(), params)
	return err
}

// Start begins to work on jobs until Stop.
func (q *Queue) Start(ctx context.Context) error { return q.client.Start(ctx) }

// cancelTimeout is how long a job has to end once it is told to.
const cancelTimeout = 2 * time.Second

// Stop lets the jobs under way finish until the context ends, then tells them to stop, and then goes without them: a job that will not end,
// or the queue's own election caught half-way, must not keep the process from ending. What was cut short runs again later.
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

// quiet passes on what goes wrong: that the queue starts and stops is no news to whoever started the service, and
// work cut short by a stop is no error.
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
