package integration

import (
	"context"

	"github.com/bursarhq/bursar/internal/edge/api/treasury"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/integration/feed"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// EventsInput holds the filters of the feed.
type EventsInput struct {
	wire.FullPaging
	After    string   `query:"after" minLength:"1" maxLength:"64" doc:"Return only what happened after the event with this identifier."`
	Types    []string `query:"types" minItems:"1" maxItems:"100" doc:"Return only events of these types, such as invoice.voided, or invoice.* for all types that begin so."`
	ObjectID string   `query:"object_id" minLength:"1" maxLength:"64" doc:"Return only events about the record with this identifier."`
	Order    string   `query:"order" enum:"asc,desc" default:"asc" doc:"asc: oldest first. desc: newest first; cannot be combined with after."`

	LastEventID string `header:"Last-Event-ID" maxLength:"64" doc:"In a stream of server-sent events: continue after the event with this identifier, whatever after says."`
}

// Filter returns the filters as the feed takes them.
func (in EventsInput) Filter() feed.Filter {
	return feed.Filter{Types: in.Types, ObjectID: in.ObjectID, After: in.After, Newest: in.Order == "desc"}
}

func (h handlers) listEvents(ctx context.Context, in *EventsInput) (wire.List[Event], error) {
	found, err := h.app.Feed.List(ctx, in.Filter(), in.Request())
	organizationID := actor.From(ctx).OrganizationID
	return wire.ListOf(found, func(e outbox.Event) Event { return viewEvent(organizationID, e) }), err
}

type eventPath struct {
	ID string `path:"event_id" minLength:"1" maxLength:"64" doc:"Identifier of the event."`
}

func (h handlers) getEvent(ctx context.Context, in *struct{ eventPath }) (wire.Data[Event], error) {
	e, err := h.app.Feed.Get(ctx, in.ID)
	return wire.DataOf(viewEvent(actor.From(ctx).OrganizationID, e)), err
}

func (h handlers) listEventTransactions(ctx context.Context, in *struct {
	eventPath
	wire.Paging
}) (wire.List[treasury.Transaction], error) {
	found, err := h.app.Feed.Transactions(ctx, in.ID, in.Request())
	if err != nil {
		return wire.List[treasury.Transaction]{}, err
	}
	return treasury.ViewTransactions(ctx, h.app, found)
}

func viewEvent(organizationID string, e outbox.Event) Event {
	return Event{ID: e.ID, Type: e.Type, CreatedAt: wire.Timestamp(e.CreatedAt), OrganizationID: organizationID, Data: EventData(e.Data)}
}
