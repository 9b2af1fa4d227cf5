package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursarhq/bursar/internal/base/lifecycle"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
)

const (
	// relayMax bounds one batch, so that other writes never wait long for the relay.
	relayMax = 1000
	// relayPause is how often the relay looks for events of all nodes, such as those of a node that died before relaying them.
	relayPause = time.Second
	// relayGather is how long the relay waits to collect a burst of commits: one job for each would cost more than the writes.
	relayGather = 100 * time.Millisecond
)

// Happened is the job that tells background work of events. Each event is in exactly one job, in the order of the changes; events of an
// organization that wait at the same time share a job.
type Happened struct {
	OrganizationID string      `json:"organization_id"`
	Events         []Reference `json:"events"`
}

// Reference names an event.
type Reference struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// Kind returns the name of the job.
func (Happened) Kind() string { return "event" }

// Relay moves events from the outbox to the job queue.
type Relay struct {
	*lifecycle.Loop
	db    *db.DB
	queue *job.Queue
	log   *slog.Logger
	route Route
}

// Route returns further jobs for events that are handed to the job queue. They are inserted in the database transaction of the relay, which
// is bound to no organization.
type Route func(ctx context.Context, tx *db.Tx, moved []Happened) ([]job.Args, error)

// WithRoute sets the function that returns further jobs. It is called before the relay is started.
func (r *Relay) WithRoute(route Route) *Relay {
	r.route = route
	return r
}

// NewRelay returns a relay that is not started yet.
func NewRelay(d *db.DB, q *job.Queue, log *slog.Logger) *Relay {
	r := &Relay{db: d, queue: q, log: log}
	r.Loop = lifecycle.New(r.run)
	return r
}

// run relays until the context ends. A database that does not answer is tried again.
func (r *Relay) run(ctx context.Context, started func()) {
	started()
	for {
		moved, err := r.Step(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.Warn("events wait: the relay could not hand them to the job queue", "error", err)
		}
		if moved == relayMax {
			continue
		}
		if !r.listen(ctx) {
			return
		}
	}
}

// listen moves the events of this node as they are committed, until it is time to look for those of all nodes again. It
// reports false when the context has ended.
func (r *Relay) listen(ctx context.Context) bool {
	again, committed := time.After(relayPause), notifierOf(r.db)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-again:
			return true
		case <-committed.pending:
			time.Sleep(relayGather)
			for moved := relayMax; moved == relayMax; {
				var err error
				if moved, err = r.move(ctx, committed.take()); err != nil {
					return true // the events are found again with those of all nodes
				}
			}
		}
	}
}

// Step moves one batch of events of all organizations, including those of nodes that died.
func (r *Relay) Step(ctx context.Context) (moved int, err error) { return r.move(ctx, nil) }

// move moves one batch of events of the given organizations, or of all if the list is nil. It inserts the jobs and
// advances the positions in one database transaction, so that a crash leaves both or neither.
func (r *Relay) move(ctx context.Context, organizationIDs []string) (moved int, err error) {
	err = r.db.WriteAcross(ctx, "the outboxes of all organizations feed one queue", func(ctx context.Context, tx *db.Tx) error {
		moved = 0
		positions, err := selectBehind(ctx, tx, organizationIDs, relayMax)
		if err != nil {
			return err
		}
		var happened []Happened
		for _, p := range positions {
			waiting, err := selectAfter(ctx, tx, p, relayMax-moved)
			if err != nil {
				return err
			}
			if len(waiting) == 0 { // one damaged organization must not stop the others
				r.log.Warn("events are missing that the organization state counts: run bursar verify", "organization_id", p.OrganizationID)
				continue
			}
			moved += len(waiting)
			p.Sequence = waiting[len(waiting)-1].Sequence
			if err := updatePosition(ctx, tx, p); err != nil {
				return err
			}
			happened = append(happened, newHappened(p.OrganizationID, waiting))
			if moved == relayMax {
				break
			}
		}
		return r.insert(ctx, tx, happened)
	})
	if err != nil {
		return 0, err
	}
	return moved, nil
}

// insert inserts the jobs for events.
func (r *Relay) insert(ctx context.Context, tx *db.Tx, happened []Happened) error {
	if len(happened) == 0 {
		return nil
	}
	var jobs []job.Args
	if r.route != nil {
		var err error
		if jobs, err = r.route(ctx, tx, happened); err != nil {
			return err
		}
	}
	for _, h := range happened {
		jobs = append(jobs, h)
	}
	return r.queue.Insert(ctx, tx, jobs...)
}

func newHappened(organizationID string, waiting []waitingRow) Happened {
	out := Happened{OrganizationID: organizationID}
	for _, w := range waiting {
		out.Events = append(out.Events, Reference{w.EventID, w.Type})
	}
	return out
}

// Verify describes gaps in an organization's events, events of changes that the audit log does not have, for example because its end was
// cut off, and events whose type, time or order is not that of their audit records.
func Verify(ctx context.Context, tx *db.Tx) (texts []string, err error) {
	s, err := selectSequence(ctx, tx)
	if err != nil {
		return nil, err
	}
	if kept := s.Expected - s.Deleted; s.Count != kept || s.Count > 0 && (*s.First != s.Deleted+1 || *s.Last != s.Expected) {
		texts = append(texts, fmt.Sprintf("events: the table has %d rows, but the organization state counts %d that are kept", s.Count, kept))
	}
	mismatched, err := selectMismatched(ctx, tx)
	for _, sequence := range mismatched {
		texts = append(texts, fmt.Sprintf("events: event %d does not report the change of its audit record, or not in the order of the log",
			sequence))
	}
	return texts, err
}
