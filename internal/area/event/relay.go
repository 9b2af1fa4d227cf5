package event

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
)

const (
	// relayMax bounds one batch, so that the relay never holds the writer for long.
	relayMax = 1000
	// relayPause is how long an event may wait when the node that wrote it died before it could relay.
	relayPause = time.Second
	// relayGather lets a burst of commits come together: a job for each would cost more than the writes themselves.
	relayGather = 20 * time.Millisecond
)

// Happened is the job that tells of events: each event is in exactly one, in the order it happened. Those of an organization
// that wait at the same time share a job.
type Happened struct {
	OrganizationID string      `json:"organization_id"`
	Events         []Reference `json:"events"`
}

// Reference names an event.
type Reference struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// Kind names the job.
func (Happened) Kind() string { return "event" }

// Relay moves events from the outbox to the job queue.
type Relay struct {
	db    *db.DB
	queue *job.Queue
	log   *slog.Logger
}

// NewRelay makes one.
func NewRelay(d *db.DB, q *job.Queue, log *slog.Logger) *Relay { return &Relay{d, q, log} }

// Run relays until the context ends. A database that does not answer is tried again.
func (r *Relay) Run(ctx context.Context) {
	for {
		moved, err := r.Step(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.Warn("events wait: the relay could not move them", "error", err)
		}
		if moved == relayMax {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-r.db.Woken():
			time.Sleep(relayGather)
		case <-time.After(relayPause):
		}
	}
}

// Step moves one batch. The jobs and the mark are one transaction: a crash leaves both or neither.
func (r *Relay) Step(ctx context.Context) (moved int, err error) {
	err = r.db.WriteAcross(ctx, "the outboxes of all organizations feed one queue", func(ctx context.Context, tx *db.Tx) error {
		waiting, err := selectWaiting(ctx, tx, relayMax)
		if err != nil || len(waiting) == 0 {
			return err
		}
		moved = len(waiting)
		slices.SortFunc(waiting, func(a, b waitingRow) int {
			return cmp.Or(strings.Compare(a.OrganizationID, b.OrganizationID), cmp.Compare(a.Sequence, b.Sequence))
		})
		for run := range runs(waiting) {
			if err := markRelayed(ctx, tx, run[0].OrganizationID, run[0].Sequence, run[len(run)-1].Sequence); err != nil {
				return err
			}
		}
		return r.queue.Insert(ctx, tx, jobsOf(waiting)...)
	})
	if err != nil {
		return 0, err
	}
	return moved, nil
}

// runs cuts sorted events into those that follow each other without a gap: what lies in a gap may be another node's.
func runs(waiting []waitingRow) iter.Seq[[]waitingRow] {
	return func(yield func([]waitingRow) bool) {
		for from, i := 0, 1; i <= len(waiting); i++ {
			if i < len(waiting) && waiting[i].OrganizationID == waiting[i-1].OrganizationID && waiting[i].Sequence == waiting[i-1].Sequence+1 {
				continue
			}
			if !yield(waiting[from:i]) {
				return
			}
			from = i
		}
	}
}

// jobsOf gathers sorted events by organization, in their order.
func jobsOf(waiting []waitingRow) []job.Args {
	var jobs []job.Args
	var current Happened
	for _, w := range waiting {
		if w.OrganizationID != current.OrganizationID {
			if len(current.Events) > 0 {
				jobs = append(jobs, current)
			}
			current = Happened{OrganizationID: w.OrganizationID}
		}
		current.Events = append(current.Events, Reference{w.EventID, w.Type})
	}
	return append(jobs, current)
}

// Check finds gaps in an organization's events, and events of changes that the audit log does not have, as when its end was cut off.
func Check(ctx context.Context, tx *db.Tx) (texts []string, err error) {
	c, err := selectCheck(ctx, tx)
	if err != nil {
		return nil, err
	}
	if c.Count != c.Head || c.Count > 0 && (*c.Lowest != 1 || *c.Top != c.Head) {
		texts = append(texts, fmt.Sprintf("events: %d rows where the head says %d", c.Count, c.Head))
	}
	orphans, err := countOrphans(ctx, tx)
	if orphans > 0 {
		texts = append(texts, fmt.Sprintf("events: %d tell of changes that the audit log does not have", orphans))
	}
	return texts, err
}
