package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

const (
	// batchMax is how many events are read at a time.
	batchMax = 50
	// batchBytesMax is how large the events of a batch may become before no more are added.
	batchBytesMax = 1 << 20
	// pageMax is how many events are read at a time of which only some may be sent.
	pageMax = 200
)

// origin is where an item of a batch comes from.
type origin byte

const (
	fromFeed origin = iota
	fromReplay
	fromRetry
)

// item is an event to be sent. If it is not kept any more, only the delivery is known.
type item struct {
	event   outbox.Event
	origin  origin
	retried Delivery
	gone    bool
}

// batch is what is due for an endpoint.
type batch struct {
	endpoint Endpoint
	secrets  []secret.Text
	failures int64
	since    *time.Time // failing since
	items    []item

	feedTo   int64 // the position in the feed when all items were sent
	replay   *replay
	replayTo int64

	more   bool       // there is nothing to send yet, but not all was looked at
	wakeAt *time.Time // when more is due, if nothing is
}

// due reports whether there is something to do.
func (b *batch) due() bool { return len(b.items) > 0 || b.more }

// room returns how many more items fit.
func (b *batch) room() int {
	size := 0
	for _, i := range b.items {
		size += len(i.event.Data)
	}
	if size >= batchBytesMax {
		return 0
	}
	if b.failures >= probeAfter {
		return 1 - len(b.items)
	}
	return batchMax - len(b.items)
}

// choose returns what is due for an endpoint.
func choose(ctx context.Context, tx *db.Tx, e Endpoint, c cursor) (b batch, err error) {
	b = batch{endpoint: e, failures: c.Failures, since: c.FailingSince, feedTo: c.Sequence}
	if e.Status != Enabled {
		return b, nil
	}
	if c.NextAt != nil && tx.Now().Before(*c.NextAt) {
		b.wakeAt = c.NextAt
		return b, nil
	}
	switch {
	case e.Ordered:
		if waits, err := b.addInOrder(ctx, tx); err != nil || waits {
			return b, err
		}
	case !c.probing():
		if err := b.addDue(ctx, tx); err != nil {
			return b, err
		}
	}
	if err := b.addReplay(ctx, tx); err != nil {
		return b, err
	}
	if err := b.addFeed(ctx, tx, c); err != nil {
		return b, err
	}
	if c.probing() && !e.Ordered && !b.due() {
		// A new event is the better probe: one that has failed before may be what the endpoint refuses.
		return b, b.addFirst(ctx, tx)
	}
	return b, nil
}

// addInOrder adds the deliveries that are tried again, in the order of their events, and reports whether there are any: then nothing else
// is sent.
func (b *batch) addInOrder(ctx context.Context, tx *db.Tx) (waits bool, err error) {
	found, err := selectRetryingInOrder(ctx, tx, b.endpoint.ID, b.room())
	for _, d := range found {
		if d.NextAt.After(tx.Now()) && b.since != nil { // if the last attempt succeeded, there is nothing to wait for
			if len(b.items) == 0 {
				b.wakeAt = d.NextAt
			}
			break
		}
		if err := b.addRetry(ctx, tx, d); err != nil {
			return true, err
		}
	}
	return len(found) > 0, err
}

// addDue adds deliveries that are to be tried again now. They take half of the batch, so that new events do not wait for them.
func (b *batch) addDue(ctx context.Context, tx *db.Tx) error {
	found, err := selectRetrying(ctx, tx, b.endpoint.ID, batchMax/2+1)
	for _, d := range found {
		switch {
		case d.NextAt.After(tx.Now()):
			b.wakeAt = d.NextAt
			return nil
		case len(b.items) == batchMax/2:
			return nil
		}
		if err := b.addRetry(ctx, tx, d); err != nil {
			return err
		}
	}
	return err
}

// addFirst adds the delivery that is to be tried again first, whether it is due or not.
func (b *batch) addFirst(ctx context.Context, tx *db.Tx) error {
	found, err := selectRetrying(ctx, tx, b.endpoint.ID, 1)
	if err != nil || len(found) == 0 {
		return err
	}
	return b.addRetry(ctx, tx, found[0])
}

func (b *batch) addRetry(ctx context.Context, tx *db.Tx, d Delivery) error {
	e, err := outbox.Find(ctx, tx, d.EventID)
	gone := fault.KindOf(err) == fault.NotFound
	if err != nil && !gone {
		return err
	}
	if gone {
		e.ID = d.EventID
	}
	b.items = append(b.items, item{event: e, origin: fromRetry, retried: d, gone: gone})
	return nil
}

// addReplay adds events that are to be sent once more.
func (b *batch) addReplay(ctx context.Context, tx *db.Tx) error {
	if b.room() <= 0 {
		return nil
	}
	r, found, err := selectReplay(ctx, tx, b.endpoint.ID)
	if err != nil || !found {
		return err
	}
	b.replay = &r
	b.replayTo, err = b.read(ctx, tx, fromReplay, r.Position, r.Through)
	if b.replayTo == r.Through && len(b.items) == 0 || b.replayTo < r.Through {
		b.more = true // the replay is to be deleted, or continued
	}
	return err
}

// addFeed adds events that were not sent yet.
func (b *batch) addFeed(ctx context.Context, tx *db.Tx, c cursor) error {
	if b.room() <= 0 {
		return nil
	}
	state, err := orgstate.Read(ctx, tx)
	if err != nil || c.Sequence >= state.EventSequence {
		return err
	}
	b.feedTo, err = b.read(ctx, tx, fromFeed, c.Sequence, state.EventSequence)
	b.more = b.more || b.feedTo < state.EventSequence
	return err
}

// read adds the events after a position that the endpoint takes, as many as fit, and returns up to where it has read.
func (b *batch) read(ctx context.Context, tx *db.Tx, from origin, after, through int64) (reached int64, err error) {
	types, limit := b.endpoint.exactTypes(), b.room()
	if types == nil && len(b.endpoint.Types) > 0 {
		limit = pageMax // Others are between those that are sent.
	}
	page, err := outbox.List(ctx, tx, outbox.Filter{Types: types}, after, limit)
	if err != nil {
		return after, err
	}
	for _, e := range page {
		if e.Sequence > through {
			return through, nil
		}
		if b.endpoint.Takes(e.Type) && !b.has(e.ID) {
			if b.room() == 0 {
				return after, nil
			}
			b.items = append(b.items, item{event: e, origin: from})
		}
		after = e.Sequence
	}
	if len(page) < limit {
		return through, nil
	}
	return after, nil
}

// has reports whether an event is part of the batch already: one that is tried again, or sent once more, may be a new one too.
func (b *batch) has(eventID string) bool {
	return slices.ContainsFunc(b.items, func(i item) bool { return i.event.ID == eventID })
}

// advance notes in the cursor which items were sent, and returns the position of the replay.
func (b *batch) advance(c *cursor, sent int) (replayTo int64) {
	if b.replay != nil {
		replayTo = b.replay.Position
	}
	for _, i := range b.items[:sent] {
		switch i.origin {
		case fromFeed:
			c.Sequence = max(c.Sequence, i.event.Sequence) // it was disabled and enabled meanwhile if it is further
		case fromReplay:
			replayTo = i.event.Sequence
		}
	}
	if sent == len(b.items) {
		c.Sequence, replayTo = max(c.Sequence, b.feedTo), b.replayTo
	}
	return replayTo
}
