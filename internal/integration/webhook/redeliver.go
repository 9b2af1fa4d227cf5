package webhook

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// replaysMax is how many ranges of events can wait to be sent to an endpoint once more.
const replaysMax = 10

// Range selects the events that are to be sent once more. Its beginning is one of After and Since, its end one of Through and Until, or
// now.
type Range struct {
	After   string     // the events after this one
	Since   *time.Time // the events from this time on
	Through string     // the last event
	Until   *time.Time // the events up to this time
}

// Redeliver has the events of a range that an endpoint takes sent to it once more, in the background. It returns how many events the range
// has, including those that the endpoint does not take.
func (s *Service) Redeliver(ctx context.Context, endpointID string, r Range) (events int64, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		state, err := orgstate.Lock(ctx, tx)
		if err != nil {
			return err
		}
		e, c, err := lockEnabled(ctx, tx, endpointID)
		if err != nil {
			return err
		}
		position, through, err := r.sequences(ctx, tx, state.EventSequence)
		if err != nil {
			return err
		}
		// What the endpoint has not reached yet is sent to it anyway.
		if through = min(through, c.Sequence); position >= through {
			return nil
		}
		switch n, err := countReplays(ctx, tx, endpointID); {
		case err != nil:
			return err
		case n >= replaysMax:
			return fault.Conflictf("%d redeliveries of ranges to the webhook endpoint %s are under way already, which is the maximum: wait until "+
				"one has ended", n, endpointID)
		}
		events = through - position
		if err := insertReplay(ctx, tx, replay{EndpointID: endpointID, ID: tx.NewID(id.WebhookReplay), Position: position, Through: through,
			CreatedAt: tx.Now()}); err != nil {
			return err
		}
		return requested(ctx, tx, e, c, map[string]any{"events_after": position, "events_through": through})
	})
	return events, err
}

// RedeliverEvent has one event sent once more: to an endpoint, or to all that take it if the id is empty. It returns the endpoints.
func (s *Service) RedeliverEvent(ctx context.Context, eventID, endpointID string) (out []Endpoint, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		event, err := outbox.Find(ctx, tx, eventID)
		if err != nil {
			return err
		}
		if out, err = receivers(ctx, tx, event, endpointID); err != nil {
			return err
		}
		for _, e := range out {
			if err := redeliverTo(ctx, tx, e, event); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// receivers returns an endpoint, or all enabled ones that take an event.
func receivers(ctx context.Context, tx *db.Tx, event outbox.Event, endpointID string) (out []Endpoint, err error) {
	if endpointID != "" {
		e, err := selectEndpoint(ctx, tx, endpointID, "")
		var faults fault.List
		if err := faults.MergeMissing(err, "webhook_endpoint_id"); err != nil {
			return nil, err
		}
		if err := faults.Err(); err != nil {
			return nil, err
		}
		return []Endpoint{e}, e.requireEnabled()
	}
	all, err := selectEndpoints(ctx, tx, "", EndpointsMax)
	for _, e := range all {
		if e.Status == Enabled && e.Takes(event.Type) {
			out = append(out, e)
		}
	}
	return out, err
}

// redeliverTo has an event sent to an endpoint once more.
func redeliverTo(ctx context.Context, tx *db.Tx, e Endpoint, event outbox.Event) error {
	c, err := lockCursor(ctx, tx, e.ID)
	if err != nil {
		return err
	}
	if event.Sequence > c.Sequence && e.Takes(event.Type) { // it is sent for the first time, after what it waits for
		if e.Ordered {
			if err := retryNow(ctx, tx, e.ID); err != nil {
				return err
			}
		}
		return requested(ctx, tx, e, c, map[string]any{"event_id": event.ID})
	}
	known, err := selectDeliveriesOf(ctx, tx, e.ID, []string{event.ID})
	if err != nil {
		return err
	}
	d, found := known[event.ID]
	if !found {
		d = Delivery{ID: tx.NewID(id.WebhookDelivery), EndpointID: e.ID, EventID: event.ID, EventType: event.Type, Sequence: event.Sequence,
			CreatedAt: tx.Now()}
	}
	d.Status, d.step, d.NextAt, d.expiresAt = Retrying, 0, new(tx.Now()), tx.Now().Add(tryFor)
	if err := upsertDeliveries(ctx, tx, []Delivery{d}); err != nil {
		return err
	}
	return requested(ctx, tx, e, c, map[string]any{"event_id": event.ID})
}

// requested records that events are to be sent once more. It has that done at once, also if the endpoint has failed before.
func requested(ctx context.Context, tx *db.Tx, e Endpoint, c cursor, what map[string]any) error {
	after := e.facts()
	after["redelivery"] = what
	audit.Record(ctx, tx, audit.Change{Action: EventRedeliver, ResourceType: resourceType, ResourceID: e.ID, Before: e.facts(), After: after,
		Object: e})
	return updateCursor(ctx, tx, c.dueNow())
}

// resume has what waits for an endpoint to which deliveries fail sent at once.
func (s *Service) resume(ctx context.Context, endpointID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		e, err := selectEndpoint(ctx, tx, endpointID, "")
		if err != nil || e.Status != Enabled {
			return err
		}
		c, err := lockCursor(ctx, tx, endpointID)
		if err != nil {
			return err
		}
		return resume(ctx, tx, e, c)
	})
}

// resume has what waits for an endpoint sent at once, if deliveries fail.
func resume(ctx context.Context, tx *db.Tx, e Endpoint, c cursor) error {
	if c.FailingSince == nil {
		return nil
	}
	if err := retryNow(ctx, tx, e.ID); err != nil {
		return err
	}
	return requested(ctx, tx, e, c, map[string]any{"waiting": true})
}

// requireEnabled returns an error of kind Conflict unless events are sent to the endpoint.
func (e Endpoint) requireEnabled() error {
	if e.Status != Enabled {
		return fault.Conflictf("the webhook endpoint %s is %s: enable it first", e.ID, e.Status)
	}
	return nil
}

// lockEnabled returns an endpoint that events are sent to, and its cursor, which is locked.
func lockEnabled(ctx context.Context, tx *db.Tx, endpointID string) (e Endpoint, c cursor, err error) {
	if e, err = selectEndpoint(ctx, tx, endpointID, ""); err != nil {
		return e, c, err
	}
	if err := e.requireEnabled(); err != nil {
		return e, c, err
	}
	c, err = lockCursor(ctx, tx, endpointID)
	return e, c, err
}

// sequences returns the sequence numbers of the event before the range and of its last one.
func (r Range) sequences(ctx context.Context, tx *db.Tx, last int64) (position, through int64, err error) {
	var faults fault.List
	if (r.After == "") == (r.Since == nil) {
		faults.Addf("after", "send either after or since")
	}
	if r.Through != "" && r.Until != nil {
		faults.Addf("through", "send either through or until")
	}
	if err := faults.Err(); err != nil {
		return 0, 0, err
	}
	through = last
	for _, named := range []struct {
		field, eventID string
		at             *int64
	}{{"after", r.After, &position}, {"through", r.Through, &through}} {
		if named.eventID == "" {
			continue
		}
		e, err := outbox.Find(ctx, tx, named.eventID)
		if err := faults.MergeMissing(err, named.field); err != nil {
			return 0, 0, err
		}
		*named.at = e.Sequence
	}
	if err := faults.Err(); err != nil {
		return 0, 0, err
	}
	if r.Since != nil {
		if position, err = before(ctx, tx, *r.Since, last); err != nil {
			return 0, 0, err
		}
	}
	if r.Until != nil {
		if through, err = before(ctx, tx, r.Until.Add(time.Millisecond), last); err != nil {
			return 0, 0, err
		}
	}
	if r.Since != nil && r.Until != nil && r.Until.Before(*r.Since) || r.After != "" && r.Through != "" && through < position {
		return 0, 0, fault.Invalidf(r.end(), "is before the beginning of the range")
	}
	return position, through, nil
}

// end names the field that has the end of the range.
func (r Range) end() string {
	if r.Until != nil {
		return "until"
	}
	return "through"
}

// clockSkew is by how much the time of an event may be before that of an earlier one: by how long a transaction takes.
const clockSkew = time.Minute

// before returns the sequence number of the event before the first one that is not before a time. The times of events ascend, except for
// clockSkew: what is found by halving may be wrong by that, so the search is for an earlier time, and then goes on one by one.
func before(ctx context.Context, tx *db.Tx, at time.Time, last int64) (int64, error) {
	low, high := int64(0), last // the events through low are before the time
	for low < high {
		middle := low + (high-low)/2
		found, err := outbox.List(ctx, tx, outbox.Filter{}, middle, 1)
		switch {
		case err != nil:
			return 0, err
		case len(found) == 0 || !found[0].CreatedAt.Before(at.Add(-clockSkew)):
			high = middle
		default:
			low = found[0].Sequence
		}
	}
	for {
		page, err := outbox.List(ctx, tx, outbox.Filter{}, low, pageMax)
		for _, e := range page {
			if !e.CreatedAt.Before(at) {
				return e.Sequence - 1, err
			}
			low = e.Sequence
		}
		if err != nil || len(page) < pageMax {
			return low, err
		}
	}
}
