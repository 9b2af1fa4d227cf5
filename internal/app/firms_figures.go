package app

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/automation/firmjob"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/reporting/clientfigures"
)

// nightlyEvery is how often a node looks whether the nightly check of clients is due.
const nightlyEvery = 15 * time.Minute

// connectFigures creates the services of the overview of firms and of their jobs.
func (a *App) connectFigures() {
	a.ClientFigures = clientfigures.NewService(a.DB, a.Periods, a.log)
	a.FirmJobs = firmjob.NewService(a.DB, a.log, a.Firms, a.ClientFigures, a.Classification, a.Reports)
}

// handleFigures registers the background jobs that keep the figures of clients, and that check all of them at night.
func (a *App) handleFigures(workers *job.Workers) {
	// Figures that are computed when the time of a job is over are stored all the same.
	job.Handle(workers, func(ctx context.Context, _ clientfigures.Sweep) error {
		return a.ClientFigures.Sweep(context.WithoutCancel(ctx))
	})
	job.Every(workers, clientfigures.SweepEvery, clientfigures.Sweep{})
	job.Handle(workers, func(ctx context.Context, _ firmjob.Nightly) error { return a.FirmJobs.StartNightly(ctx) })
	job.Every(workers, nightlyEvery, firmjob.Nightly{})
}
