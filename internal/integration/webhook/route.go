package webhook

import (
	"context"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// Route returns a job for each endpoint that takes one of the events that the relay hands on. It is an outbox.Route. It costs one query for
// the endpoints of all organizations of the events, and another one if there are any.
func Route(ctx context.Context, tx *db.Tx, moved []outbox.Happened) ([]job.Args, error) {
	organizationIDs, happened := make([]string, len(moved)), map[string]outbox.Happened{}
	for i, h := range moved {
		organizationIDs[i], happened[h.OrganizationID] = h.OrganizationID, h
	}
	endpoints, err := selectEnabled(ctx, tx, organizationIDs)
	if err != nil || len(endpoints) == 0 {
		return nil, err
	}
	// A worker that has claimed an endpoint looks for events before it releases it, and an endpoint that waits has a job for that time.
	// See worker.next for why these rows are locked.
	busy, err := lockBusy(ctx, tx, organizationIDs)
	if err != nil {
		return nil, err
	}
	var jobs []job.Args
	for _, e := range endpoints {
		d := Deliver{e.OrganizationID, e.EndpointID}
		if !busy[d] && e.concerns(happened[e.OrganizationID]) {
			jobs = append(jobs, d)
		}
	}
	return jobs, nil
}

// concerns reports whether an endpoint takes one of some events. Events about endpoints concern all of them: one may have been enabled, or
// is to get events once more.
func (r enabledRow) concerns(h outbox.Happened) bool {
	types := strings.Fields(r.Types)
	for _, e := range h.Events {
		if takes(types, e.Type) || strings.HasPrefix(e.Type, eventPrefix) {
			return true
		}
	}
	return false
}

// Sweep is the job that queues jobs for endpoints with work that nobody does, such as those of a node that died.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "webhook_sweep" }

// sweepMax bounds how many endpoints are found in one database transaction.
const sweepMax = 1000

// Sweep queues jobs for endpoints with work that nobody does.
func (s *Sender) Sweep(ctx context.Context) (err error) {
	last, more := neglectedRow{}, true
	for err == nil && more {
		last, more, err = s.sweepSome(ctx, last)
	}
	return err
}

// sweepSome queues jobs for some endpoints after one. It returns the last of them, and whether there may be more.
func (s *Sender) sweepSome(ctx context.Context, after neglectedRow) (last neglectedRow, more bool, err error) {
	err = s.db.WriteAcross(ctx, "endpoints of all organizations share the job queue", func(ctx context.Context, tx *db.Tx) error {
		found, err := selectNeglected(ctx, tx, after, sweepMax)
		if err != nil || len(found) == 0 {
			return err
		}
		jobs := make([]job.Args, len(found))
		for i, r := range found {
			jobs[i] = Deliver(r)
		}
		last, more = found[len(found)-1], len(found) == sweepMax
		return s.Jobs.Insert(ctx, tx, jobs...)
	})
	return last, more, err
}
