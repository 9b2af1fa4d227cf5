package stripe

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

const (
	// eventsMax is how many events are handled together.
	eventsMax = 20
	// batchesMax is how many times one run handles events. Then other connections are read, and the rest is handled after that.
	batchesMax = 10
	// recent is from when on balance transactions are read because of an event: Stripe shows them with the event or a little later.
	recent = time.Hour
	// recentPagesMax is how many pages of balance transactions are read because of an event. The next synchronization reads the others.
	recentPagesMax = 20
)

// handleEvents reads what events have announced, as it is now, until no event waits or other work has to be done first.
func (s *sync) handleEvents(ctx context.Context) error {
	for range batchesMax {
		waiting, err := s.Waiting(ctx, eventsMax)
		if err != nil || len(waiting) == 0 {
			return err
		}
		if n := slices.IndexFunc(waiting, moves); n >= 0 {
			if err := s.readRecent(ctx, waiting[n].ReceivedAt.Add(-recent)); err != nil {
				return err
			}
		}
		if err := s.handle(ctx, waiting); err != nil {
			return err
		}
	}
	return nil
}

// moves reports whether an event means that the balance may have moved.
func moves(e connection.Event) bool { return e.ObjectType != "invoice" && e.ObjectType != "customer" }

// handle reads the invoices and customers that events name, and stores that the events are handled.
func (s *sync) handle(ctx context.Context, waiting []connection.Event) error {
	var b batch
	var ids, seen []string
	for _, e := range waiting {
		ids = append(ids, e.ID)
		if moves(e) || !isID(e.ObjectID) {
			continue
		}
		if e.Type == customerUpdated {
			if err := s.renameBy(ctx, &b, e.ID); err != nil {
				return err
			}
		}
		if slices.Contains(seen, e.ObjectID) {
			continue
		}
		seen = append(seen, e.ObjectID)
		if err := s.refresh(ctx, &b, e); err != nil {
			return err
		}
	}
	return s.store(b, func(write writes) error { return s.Handle(ctx, ids, write) })
}

// refresh adds the invoice or the customer that an event names.
func (s *sync) refresh(ctx context.Context, b *batch, e connection.Event) error {
	if e.ObjectType == "invoice" {
		return s.fetch(ctx, b, e.ObjectID)
	}
	c, err := s.client.customer(ctx, e.ObjectID)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err == nil {
		b.customer(c)
	}
	return err
}

// renameBy adds what an event says about the name of a customer. The event is read from Stripe, as only its id is stored.
func (s *sync) renameBy(ctx context.Context, b *batch, eventID string) error {
	e, err := s.client.event(ctx, eventID)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil || !renames(e) {
		return err
	}
	return s.rename(ctx, b, e)
}

// readRecent reads balance transactions from a time on, page by page, until it finds a page without a new one.
func (s *sync) readRecent(ctx context.Context, from time.Time) error {
	after := ""
	for range recentPagesMax {
		got, err := s.client.balanceTransactions(ctx, &from, after)
		if err != nil && after != "" && fault.KindOf(err) == fault.NotFound {
			return nil // the next synchronization reads the others
		}
		if err != nil {
			return err
		}
		added := 0
		if err := s.Handle(ctx, nil, s.add(got.data, &added)); err != nil {
			return err
		}
		if !got.more || added == 0 {
			return nil
		}
		after = got.data[len(got.data)-1].ID
	}
	return nil
}
