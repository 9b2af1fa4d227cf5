package event

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
)

const (
	// relayMax bounds one batch, so that the relay never holds the writer for long.
	relayMax = 200
	// relayPause is how long an event may wait when the node that wrote it died before it could relay.
	relayPause = time.Second
)

// Happened is the job made of one event: exactly one is queued for each, whoever wants to hear of it.
type Happened struct {
	OrganizationID string `json:"organization_id"`
	EventID        string `json:"event_id"`
	Type           string `json:"type"`
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
		jobs := make([]job.Args, len(waiting))
		for i, w := range waiting {
			jobs[i] = Happened{w.OrganizationID, w.EventID, w.Type}
			if err := markRelayed(ctx, tx, w); err != nil {
				return err
			}
		}
		return r.queue.Insert(ctx, tx, jobs...)
	})
	if err != nil {
		return 0, err
	}
	return moved, nil
}

// Check finds gaps in an organization's events.
func Check(ctx context.Context, tx *db.Tx) ([]string, error) {
	c, err := selectCheck(ctx, tx)
	if err != nil {
		return nil, err
	}
	if c.Count != c.Head || c.Count > 0 && (*c.Lowest != 1 || *c.Top != c.Head) {
		return []string{fmt.Sprintf("events: %d rows where the head says %d", c.Count, c.Head)}, nil
	}
	return nil, nil
}
