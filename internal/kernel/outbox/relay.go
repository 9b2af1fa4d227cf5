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
	// relayMax bounds one batch, so that the relay never holds the writer for long.
	relayMax = 1000
	// relayPause is how long an event may wait when the node that wrote it died before it could relay.
	relayPause = time.Second
	// relayGather lets a burst of commits come together: a job for each would cost more than the writes themselves.
	relayGather = 100 * time.Millisecond
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
	*lifecycle.Loop
	db    *db.DB
	queue *job.Queue
	log   *slog.Logger
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
// returns false when the context has ended.
func (r *Relay) listen(ctx context.Context) bool {
	again := time.After(relayPause)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-again:
			return true
		case <-r.db.Woken():
			time.Sleep(relayGather)
			for moved := relayMax; moved == relayMax; {
				var err error
				if moved, err = r.move(ctx, r.db.Wanted()); err != nil {
					return true // what failed is found when all are looked at
				}
			}
		}
	}
}

// Step moves one batch of events of all organizations, also those that a node left behind when it died.
func (r *Relay) Step(ctx context.Context) (moved int, err error) { return r.move(ctx, nil) }

// move moves one batch of events, of all organizations or of some. The jobs and the marks are one transaction: a crash
// leaves both or neither.
func (r *Relay) move(ctx context.Context, some []string) (moved int, err error) {
	err = r.db.WriteAcross(ctx, "the outboxes of all organizations feed one queue", func(ctx context.Context, tx *db.Tx) error {
		moved = 0
		marks, err := selectBehind(ctx, tx, some, relayMax)
		if err != nil {
			return err
		}
		var jobs []job.Args
		for _, m := range marks {
			waiting, err := selectAfter(ctx, tx, m, relayMax-moved)
			if err != nil {
				return err
			}
			if len(waiting) == 0 { // one damaged organization must not stop the others
				r.log.Warn("events are missing that the organization state counts: run bursar verify", "organization_id", m.OrganizationID)
				continue
			}
			moved += len(waiting)
			m.Sequence = waiting[len(waiting)-1].Sequence
			if err := mark(ctx, tx, m); err != nil {
				return err
			}
			jobs = append(jobs, jobOf(m.OrganizationID, waiting))
			if moved == relayMax {
				break
			}
		}
		if len(jobs) == 0 {
			return nil
		}
		return r.queue.Insert(ctx, tx, jobs...)
	})
	if err != nil {
		return 0, err
	}
	return moved, nil
}

func jobOf(organizationID string, waiting []waitingRow) Happened {
	out := Happened{OrganizationID: organizationID}
	for _, w := range waiting {
		out.Events = append(out.Events, Reference{w.EventID, w.Type})
	}
	return out
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
