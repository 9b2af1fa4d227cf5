package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Queue is the name of the queue of deliveries.
const Queue = "webhooks"

const (
	// WorkersMax is how many endpoints a node sends to at a time. An endpoint that does not answer occupies a worker until its time is over.
	WorkersMax = 1000
	// PollPause is how often a node looks for deliveries.
	PollPause = 100 * time.Millisecond

	// requestsMax is how many requests are under way to an endpoint at a time.
	requestsMax = 10
	// batchTime is how long requests of a batch are begun, so that the results of the first ones are stored soon.
	batchTime = 2 * time.Second
	// gatherFor is how long a worker waits after it has sent all there was. Events of that time are then sent together, which costs far
	// fewer database transactions.
	gatherFor = 50 * time.Millisecond
	// secretPause is how long events wait until it is tried again to decrypt the secret that signs them.
	secretPause = time.Minute
	// runMax is how long a worker sends to an endpoint before it makes room for others.
	runMax = 30 * time.Second
	// lease is how long an endpoint stays claimed by a worker that does not store results, unless another time is configured. A batch takes
	// at most batchTime, a timeout and gatherFor.
	lease = 25 * time.Second

	statusGone = http.StatusGone
)

// Deliver is the job that sends to an endpoint what is due. If another worker does so, it ends at once.
type Deliver struct {
	OrganizationID string `json:"organization_id"`
	EndpointID     string `json:"webhook_endpoint_id"`
}

// Kind returns the name of the job.
func (Deliver) Kind() string { return "webhook_deliver" }

// Queue returns the queue of the job.
func (Deliver) Queue() string { return Queue }

// Sender runs the jobs that send events.
type Sender struct {
	*Service
	Jobs *job.Queue
	Log  *slog.Logger

	// Tell is called when an endpoint was paused or disabled because deliveries failed, in the database transaction of that. It may be nil.
	Tell func(ctx context.Context, tx *db.Tx, e Endpoint) error
}

// worker sends to one endpoint.
type worker struct {
	*Sender
	Deliver
	claim string
}

// errClaimLost means that another worker has taken over the endpoint, or that it was deleted. The results are not stored.
var errClaimLost = errors.New("webhook: the endpoint is not claimed any more")

// Deliver sends to an endpoint what is due, until nothing is or runMax is over.
func (s *Sender) Deliver(ctx context.Context, d Deliver) error {
	w := &worker{Sender: s, Deliver: d, claim: s.db.IDs().New(id.WebhookDelivery)}
	ctx = actor.With(db.Background(ctx), actor.Actor{OrganizationID: d.OrganizationID})
	over, cancel := context.WithTimeout(ctx, runMax)
	defer cancel()
	b, err := w.begin(ctx)
	for err == nil && b.due() {
		sent := w.sendAll(ctx, b)
		if !b.more {
			select {
			case <-time.After(gatherFor):
			case <-ctx.Done():
			}
		}
		b, err = w.step(ctx, b, sent, over.Err() != nil)
	}
	if errors.Is(err, errClaimLost) {
		return nil
	}
	return err
}

// begin claims the endpoint and returns what is due. It returns an empty batch if another worker has claimed it, or nothing is due.
func (w *worker) begin(ctx context.Context) (b batch, err error) {
	err = w.db.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b = batch{}
		c, err := lockCursor(ctx, tx, w.EndpointID)
		if err != nil {
			return ignoreMissing(err)
		}
		if c.DeletedAt != nil || c.Claim != nil && c.ClaimedUntil.After(tx.Now()) {
			return nil
		}
		b, err = w.next(ctx, tx, c, false)
		return err
	})
	return b, err
}

// step stores the results of the items of a batch that were sent, which are the first ones, and returns the next batch. After the last
// step, the endpoint is not claimed any more.
func (w *worker) step(ctx context.Context, b batch, sent []Attempt, last bool) (next batch, err error) {
	last = last || ctx.Err() != nil
	ctx = context.WithoutCancel(ctx) // What was sent is stored also when the service stops.
	err = w.db.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if b.mayEnd(sent, tx.Now()) { // before the cursor, as everywhere, so that no two transactions wait for each other
			if _, err := orgstate.Lock(ctx, tx); err != nil {
				return err
			}
		}
		c, err := lockCursor(ctx, tx, w.EndpointID)
		if err != nil {
			return err
		}
		if c.Claim == nil || *c.Claim != w.claim {
			return errClaimLost
		}
		if err := w.store(ctx, tx, &c, b, sent); err != nil {
			return err
		}
		next, err = w.next(ctx, tx, c, last)
		return err
	})
	if last {
		next = batch{}
	}
	return next, err
}

// next looks for what is due, and keeps or releases the claim.
//
// No event is overlooked when the claim is released. The relay does not queue a job for an endpoint that is claimed (see Route). It looks
// at the cursor with a lock, after the events were committed. If it holds the lock first, the caller has waited for it, and choose finds
// the events. If the caller holds the lock first, the relay does not wait for it, and queues a job.
func (w *worker) next(ctx context.Context, tx *db.Tx, c cursor, last bool) (b batch, err error) {
	e, err := selectEndpoint(ctx, tx, w.EndpointID, "")
	if err != nil {
		return b, err
	}
	if e.Status == Disabled { // also what was under way when it was disabled
		if err := giveUp(ctx, tx, e.ID); err != nil {
			return b, err
		}
	}
	if b, err = choose(ctx, tx, e, c); err != nil {
		return b, err
	}
	if b.due() {
		if b.secrets, err = w.secrets(w.OrganizationID, e, tx.Now()); err != nil {
			w.Log.Error("events wait: a webhook endpoint has a secret that cannot be decrypted", "webhook_endpoint_id", e.ID, "error", err)
			b = batch{endpoint: e, feedTo: c.Sequence, wakeAt: new(tx.Now().Add(secretPause))}
		}
	}
	c.Claim, c.ClaimedUntil = nil, nil
	if c.WakeAt != nil && !c.WakeAt.After(tx.Now()) {
		c.WakeAt = nil
	}
	switch {
	case b.due() && !last:
		c.Claim, c.ClaimedUntil = &w.claim, new(tx.Now().Add(w.config.Lease))
	case b.due():
		if err := w.Jobs.Insert(ctx, tx, w.Deliver); err != nil {
			return b, err
		}
	case b.wakeAt != nil && (c.WakeAt == nil || b.wakeAt.Before(*c.WakeAt)):
		c.WakeAt = b.wakeAt
		if err := w.Jobs.InsertAt(ctx, tx, *b.wakeAt, w.Deliver); err != nil {
			return b, err
		}
	}
	if !b.due() {
		c.Sequence = b.feedTo // nothing up to there is for this endpoint
	}
	return b, updateCursor(ctx, tx, c)
}

// mayEnd reports whether the endpoint may be paused or disabled because of attempts.
func (b *batch) mayEnd(sent []Attempt, now time.Time) bool {
	for _, a := range sent {
		if a.StatusCode == statusGone || !a.Succeeded() && b.since != nil && now.Sub(*b.since) >= tryFor-time.Minute {
			return true
		}
	}
	return false
}

// store stores the results of a batch in the deliveries, the log and the cursor.
func (w *worker) store(ctx context.Context, tx *db.Tx, c *cursor, b batch, sent []Attempt) error {
	now := tx.Now()
	c.count(sent, now)
	failed, gone := false, false
	for _, a := range sent {
		failed, gone = failed || !a.Succeeded() && !a.unsent, gone || a.StatusCode == statusGone
	}
	pausing := failed && c.overdue(now)
	c.NextAt = nil
	if failed && c.probing() && !b.endpoint.Ordered {
		c.NextAt = new(now.Add(w.pause(w.config.ProbePauses, c.Failures-probeAfter)))
		if end := c.FailingSince.Add(tryFor); c.NextAt.After(end) && end.After(now) {
			c.NextAt = &end // the last probe before it is paused
		}
	}
	deliveries, err := w.results(ctx, tx, b, sent, pausing)
	if err != nil {
		return err
	}
	if n := len(deliveries); n > 0 && b.endpoint.Ordered {
		c.NextAt = deliveries[n-1].NextAt // nothing else is sent before it
	}
	for _, a := range sent {
		if until := now.Add(a.retryAfter); a.retryAfter > 0 && (c.NextAt == nil || c.NextAt.Before(until)) {
			c.NextAt = &until
		}
	}
	replayTo := b.advance(c, len(sent))
	if b.replay != nil {
		if err := moveReplay(ctx, tx, *b.replay, replayTo); err != nil {
			return err
		}
	}
	if !gone && !pausing {
		return nil
	}
	return w.end(ctx, tx, gone, c, sent[len(sent)-1])
}

// results stores the deliveries and attempts of a batch, and returns the deliveries.
func (w *worker) results(ctx context.Context, tx *db.Tx, b batch, sent []Attempt, pausing bool) ([]Delivery, error) {
	if len(sent) == 0 {
		return nil, nil
	}
	eventIDs := make([]string, len(sent))
	for i := range sent {
		eventIDs[i] = b.items[i].event.ID
	}
	known, err := selectDeliveriesOf(ctx, tx, w.EndpointID, eventIDs)
	if err != nil {
		return nil, err
	}
	out := make([]Delivery, len(sent))
	for i, a := range sent {
		e, now := b.items[i].event, tx.Now()
		d, found := known[e.ID]
		if !found {
			d = Delivery{ID: tx.NewID(id.WebhookDelivery), EndpointID: w.EndpointID, EventID: e.ID, EventType: e.Type, Sequence: e.Sequence,
				CreatedAt: now, expiresAt: now.Add(tryFor)}
		}
		if d.Status == Succeeded || d.Status == Failed { // it was sent once more as part of a range
			d.step, d.expiresAt = 0, now.Add(tryFor)
		}
		schedule := w.config.Pauses
		if b.endpoint.Ordered {
			schedule = w.config.ProbePauses
		}
		if d = d.after(a, now, max(a.retryAfter, w.pause(schedule, d.step)), pausing); b.items[i].gone {
			d.Status, d.NextAt = Failed, nil
		}
		sent[i].Number = d.Attempts
		out[i] = d
	}
	return out, insertResults(ctx, tx, out, sent)
}

// end pauses the endpoint, or disables it if it has answered that it is gone, and has its owners told.
func (w *worker) end(ctx context.Context, tx *db.Tx, gone bool, c *cursor, last Attempt) error {
	before, err := selectEndpoint(ctx, tx, w.EndpointID, "{for_update}")
	if err != nil || before.Status != Enabled {
		return err
	}
	after, action := before, EventPaused
	after.Status, after.StatusReason = Paused, fmt.Sprintf("no delivery has succeeded for %d days: %s", int(tryFor.Hours()/24), last.Error)
	if gone {
		after.Status, action = Disabled, EventDisabled
		after.StatusReason = "the endpoint answered 410, which means that it does not exist any more"
	}
	after.FailingSince = c.FailingSince
	if after, err = save(ctx, tx, action, before, after); err != nil || w.Tell == nil {
		return err
	}
	return w.Tell(ctx, tx, after)
}

// sendAll sends the items of a batch and returns the results of those that were sent, which are the first ones.
func (w *worker) sendAll(ctx context.Context, b batch) []Attempt {
	s := &sending{worker: w, batch: b, results: make([]*Attempt, len(b.items)), failures: b.failures, budget: time.NewTimer(batchTime)}
	defer s.budget.Stop()
	var group sync.WaitGroup
	requests := min(requestsMax, len(b.items))
	if b.endpoint.Ordered {
		requests = min(1, requests)
	}
	for range requests {
		group.Go(func() { s.work(ctx) })
	}
	group.Wait()
	var out []Attempt
	for _, r := range s.results {
		if r == nil {
			break // It was not sent, or the service stopped before it was answered.
		}
		out = append(out, *r)
	}
	return out
}

// sending is a batch that is being sent by several goroutines.
type sending struct {
	*worker
	batch   batch
	results []*Attempt
	budget  *time.Timer

	mu       sync.Mutex
	begun    int
	failures int64 // in a row
	stop     bool
}

// take returns the next item to be sent, unless there is none or the rest is for the next batch.
func (s *sending) take(ctx context.Context) (n int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-ctx.Done():
		s.stop = true
	case <-s.budget.C:
		s.stop = true
	default:
	}
	// In a probe the first item is sent although many have failed before.
	if s.stop || s.begun == len(s.results) || s.begun > 0 && s.failures >= probeAfter {
		return 0, false
	}
	s.begun++
	return s.begun - 1, true
}

// work sends items until none is left for it.
func (s *sending) work(ctx context.Context) {
	for {
		n, ok := s.take(ctx)
		if !ok {
			return
		}
		a := s.sendOne(ctx, s.batch.items[n])
		if ctx.Err() != nil && !a.Succeeded() {
			return // The service stops: the endpoint is not to blame.
		}
		s.mu.Lock()
		s.results[n] = &a
		if s.failures++; a.Succeeded() {
			s.failures = 0
		}
		s.stop = s.stop || s.batch.endpoint.Ordered && !a.Succeeded() || a.StatusCode == statusGone
		s.mu.Unlock()
	}
}

// sendOne sends an item. A panic becomes a failure, because it must not end the service.
func (s *sending) sendOne(ctx context.Context, i item) (a Attempt) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("sending an event to a webhook endpoint panicked", "webhook_endpoint_id", s.EndpointID, "event_id", i.event.ID,
				"error", fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
			a = Attempt{At: s.db.Clock().Now(), URL: s.batch.endpoint.URL, Error: "a fault of the service, see its log"}
		}
	}()
	now := s.db.Clock().Now()
	if i.gone {
		return Attempt{At: now, URL: s.batch.endpoint.URL, Error: "the event is not kept any more", unsent: true}
	}
	return s.send(ctx, s.batch.endpoint.URL, s.batch.secrets, s.OrganizationID, i.event)
}
