package api

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/integration"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// events describes each type of event: what a webhook endpoint receives, and what the feed returns.
func (s *schemas) events(routes []wire.Route) {
	s.spec.Webhooks = map[string]*huma.PathItem{}
	deleted := s.registry.Schema(reflect.TypeFor[wire.Deleted](), true, "")
	for _, r := range records() {
		data := s.dataOf(r, routes)
		for _, event := range r.Events {
			switch {
			case strings.HasSuffix(event, ".deleted") || strings.HasSuffix(event, ".removed"):
				s.event(event, deleted)
			case r.MayBeDeleted:
				s.event(event, &huma.Schema{AnyOf: []*huma.Schema{data, deleted}})
			default:
				s.event(event, data)
			}
		}
	}
	s.event(transaction.ActionArrived, s.registry.Schema(reflect.TypeFor[integration.ArrivedTransactions](), true, ""))
}

// dataOf returns the schema of the data of events about a type of resource: that of its view, without what events omit.
func (s *schemas) dataOf(r wire.Record, routes []wire.Route) *huma.Schema {
	view := r.Type
	if at := slices.IndexFunc(routes, func(route wire.Route) bool {
		return route.Method == "GET" && route.Path == r.Path && route.Choice == ""
	}); view == nil && at >= 0 {
		view = routes[at].RecordType()
	}
	if view == nil {
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "What the audit log states about the record."}
	}
	ref := s.registry.Schema(view, true, "")
	whole := s.registry.SchemaFromRef(ref.Ref)
	if !slices.ContainsFunc(r.Omits, func(name string) bool { return whole.Properties[name] != nil }) {
		return ref
	}
	part := *whole
	part.Properties = maps.Clone(whole.Properties)
	for _, name := range r.Omits {
		delete(part.Properties, name)
	}
	omitted := func(name string) bool { return slices.Contains(r.Omits, name) }
	part.Required = slices.DeleteFunc(slices.Clone(whole.Required), omitted)
	name := strings.TrimPrefix(ref.Ref, "#/components/schemas/") + "OfEvent"
	s.registry.Map()[name] = &part
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// event describes one type of event.
func (s *schemas) event(event string, data *huma.Schema) {
	envelope := s.registry.SchemaFromRef(s.registry.Schema(reflect.TypeFor[integration.Event](), true, "").Ref)
	body := &huma.Schema{Type: huma.TypeObject, Required: envelope.Required, Properties: maps.Clone(envelope.Properties)}
	body.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{event}, Description: "What happened."}
	body.Properties["data"] = data
	s.spec.Webhooks[event] = &huma.PathItem{Post: &huma.Operation{
		OperationID: event, Tags: []string{integration.EventsTag}, Summary: event,
		Description: "Sent to the webhook endpoints of the organization, and returned by `GET /v1/events`.",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: body}}},
		Responses:   map[string]*huma.Response{"2XX": {Description: "The event was received. After any other answer it is sent again later."}},
	}}
}
