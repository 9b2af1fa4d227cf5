package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Cause is why a connection is read.
type Cause string

// The causes.
const (
	CauseSetup    Cause = "setup"    // it is new, or has new credentials
	CauseSchedule Cause = "schedule" // the schedule has found something new
	CauseRequest  Cause = "request"  // somebody asked for it
)

// Causes lists the causes.
var Causes = []Cause{CauseSetup, CauseSchedule, CauseRequest}

// RunStatus is the state of a run.
type RunStatus string

// The states.
const (
	RunRunning   RunStatus = "running"
	RunCompleted RunStatus = "completed"
	RunFailed    RunStatus = "failed" // a person has to look at it; the next run continues where it stopped
	RunCancelled RunStatus = "cancelled"
)

// RunStatuses lists the states.
var RunStatuses = []RunStatus{RunRunning, RunCompleted, RunFailed, RunCancelled}

// Run is a synchronization of a connection.
type Run struct {
	ID           string
	ConnectionID string
	Cause        Cause
	Status       RunStatus
	Counts       Counts
	Error        string // why it failed or has not got on yet
	StartedAt    time.Time
	FinishedAt   *time.Time
}

// Counts is what a run has brought.
type Counts struct {
	Read       int64 // records of the provider
	Created    int64 // new transactions
	Duplicates int64 // transactions that existed already
	Omitted    int64 // records that could not be understood
	Removed    int64 // transactions that the provider has taken back
}

// Runs returns the runs of a connection, the latest first.
func (s *Service) Runs(ctx context.Context, connectionID string, p page.Request) (page.Page[Run], error) {
	key := func(r Run) string { return r.ID }
	return page.ListByKey("connection runs", map[string]string{"connection_id": connectionID}, p, "", key,
		func(below string, limit int) (rows []Run, err error) {
			err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
				if _, err := s.find(ctx, tx, connectionID, ""); err != nil {
					return err
				}
				rows, err = selectRuns(ctx, tx, connectionID, below, limit)
				return err
			})
			return rows, err
		})
}
