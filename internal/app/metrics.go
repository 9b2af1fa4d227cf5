package app

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/firmjob"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/receivables/run"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/imports"
)

const (
	// backlogTimeout is how long a scrape waits for the database; without an answer the backlog is left out.
	backlogTimeout = 2 * time.Second
	// backlogEvery bounds how often scrapes ask the database.
	backlogEvery = time.Second
)

// Metrics returns the metrics of the database and of background work. They are documented in docs/OPERATIONS.md.
func (a *App) Metrics() []prometheus.Collector {
	return []prometheus.Collector{a.DB, task.Metrics(), a.Webhooks.Metrics(), a.Identity.Metrics(), &backlog{app: a}}
}

var (
	jobsWaiting   = prometheus.NewDesc("bursar_jobs_waiting", "Jobs that are due and not running, of all nodes.", nil, nil)
	jobLag        = prometheus.NewDesc("bursar_job_lag_seconds", "How long the first of the jobs that wait has been due.", nil, nil)
	eventsWaiting = prometheus.NewDesc("bursar_events_waiting", "Events of all nodes that were not handed to the job queue yet.", nil, nil)
	eventLag      = prometheus.NewDesc("bursar_event_lag_seconds", "How long the first of the events that wait has waited.", nil, nil)
	tasks         = prometheus.NewDesc("bursar_tasks", "Background tasks of all nodes by state.", []string{"task", "status"}, nil)
	taskAge       = prometheus.NewDesc("bursar_task_age_seconds", "Age of the oldest background task in a state.",
		[]string{"task", "status"}, nil)
)

// backlog collects metrics of the jobs, events and tasks that wait. They belong to no single node, so they are read from
// the database at each scrape.
type backlog struct {
	app *App

	mu   sync.Mutex
	at   time.Time
	last []prometheus.Metric
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{jobsWaiting, jobLag, eventsWaiting, eventLag, tasks, taskAge} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. A database that does not answer leaves the other metrics alone.
func (b *backlog) Collect(ch chan<- prometheus.Metric) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.at) >= backlogEvery {
		ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
		defer cancel()
		var err error
		if b.last, err = b.app.readBacklog(ctx); err != nil {
			b.app.log.Warn("the backlog is missing from the metrics", "error", err)
		}
		b.at = time.Now()
	}
	for _, m := range b.last {
		ch <- m
	}
}

func (a *App) readBacklog(ctx context.Context) ([]prometheus.Metric, error) {
	events, err := outbox.ReadLag(ctx, a.DB)
	if err != nil {
		return nil, err
	}
	jobs, err := job.ReadLag(ctx, a.DB)
	if err != nil {
		return nil, err
	}
	out := []prometheus.Metric{
		gauge(jobsWaiting, float64(jobs.Waiting)), gauge(jobLag, jobs.Oldest.Seconds()),
		gauge(eventsWaiting, float64(events.Waiting)), gauge(eventLag, events.Oldest.Seconds()),
	}
	for _, kind := range []task.Kind{imports.Kind, classification.Kind, run.Kind, connection.Task, application.ReportKind, glsync.Task,
		firmjob.Task} {
		found, err := kind.ReadStatus(ctx, a.DB)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			out = append(out, gauge(tasks, float64(s.Count), s.Task, s.Status), gauge(taskAge, s.Oldest.Seconds(), s.Task, s.Status))
		}
	}
	return out, nil
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}
