package integration

import (
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// handlers holds the handlers of the group.
type handlers struct{ app *app.App }

// Routes returns the operations of the group.
func Routes(a *app.App) []wire.Route {
	h := handlers{a}
	return slices.Concat(h.events(), h.webhooks(), h.generalLedger())
}

// EventsTag is the section of the reference about events.
const EventsTag = "Events"

// EventsPath is the path of the feed, which can also be read as a stream of server-sent events.
const EventsPath = "/v1/events"

func (h handlers) events() []wire.Route {
	const one = EventsPath + "/{event_id}"
	return wire.Tag{Name: EventsTag, Description: "What happened in the organization, in the order in which it happened."}.Routes(
		wire.Get(EventsPath, h.listEvents, "List events, oldest first").
			Describe("An event reports one change. Its data are the record after the change, as the operation that gets it would have returned "+
				"it, without guidance. To follow what happens, ask for the events after the last one that you have. Events are kept for "+
				"event_retention_days (see the settings). With `Accept: text/event-stream`, events are sent as server-sent events as they "+
				"happen, from now on or, with after or the header `Last-Event-ID`, after an event. Events about API keys and webhook endpoints "+
				"are returned to owners and admins only.").
			WholeOrganization().Streamed(),
		wire.Get(one, h.getEvent, "Get an event").WholeOrganization(),
		wire.Get(one+"/transactions", h.listEventTransactions, "List the transactions that an event is about").
			Describe("For events of the type `transactions.created`, which report all transactions that arrived together. Transactions are "+
				"returned as they are now, in the order of their sequence numbers.").
			WholeOrganization().MayConflict(),
	)
}
