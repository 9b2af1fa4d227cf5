package api

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/integration"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/docs"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// What is said about when events are sent.
const (
	sentToAll        = "Sent to the webhook endpoints of the organization, and returned by `GET /v1/events`."
	sentToPrivileged = "Sent to the webhook endpoints of the organization, and returned by `GET /v1/events` to owners and admins."
	sentAsTest       = "Sent to a webhook endpoint by `POST /v1/webhook-endpoints/{webhook_endpoint_id}/test` only. It is not part of the " +
		"feed, and cannot be selected as a type."
)

// events describes each type of event: what a webhook endpoint receives, and what the feed returns.
func (s *schemas) events(routes []wire.Route) {
	s.spec.Webhooks = map[string]*huma.PathItem{}
	deleted := s.registry.Schema(reflect.TypeFor[wire.Deleted](), true, "")
	for _, r := range records() {
		data, operation, when := s.dataOf(r, routes), "", sentToAll
		if at := getter(r.Path, routes); at >= 0 {
			operation = routes[at].Operation.OperationID
		}
		if r.Privileged {
			when = sentToPrivileged
		}
		for _, event := range r.Events {
			switch {
			case strings.HasSuffix(event, ".deleted") || strings.HasSuffix(event, ".removed"):
				s.event(event, deleted, "", when)
			case r.MayBeDeleted:
				s.event(event, &huma.Schema{AnyOf: []*huma.Schema{data, deleted}}, operation, when)
			default:
				s.event(event, data, operation, when)
			}
		}
		if slices.Contains(r.Events, webhook.EventPaused) {
			s.event(webhook.EventTest, data, operation, sentAsTest)
		}
	}
	s.event(transaction.ActionArrived, s.registry.Schema(reflect.TypeFor[integration.ArrivedTransactions](), true, ""), "", sentToAll)
}

// getter returns which route gets one record at a path, or -1.
func getter(path string, routes []wire.Route) int {
	return slices.IndexFunc(routes, func(r wire.Route) bool { return r.Method == "GET" && r.Path == path && r.Choice == "" })
}

// dataOf returns the schema of the data of events about a type of resource: that of its view, without what events omit.
func (s *schemas) dataOf(r wire.Record, routes []wire.Route) *huma.Schema {
	view := r.Type
	if at := getter(r.Path, routes); view == nil && at >= 0 {
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
	name := strings.TrimPrefix(ref.Ref, "#/components/schemas/") + docs.OfEvent
	s.registry.Map()[name] = &part
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// event describes one type of event: its data, which operation returns the same record, if there is one, and when it is sent.
func (s *schemas) event(event string, data *huma.Schema, operation, when string) {
	envelope := s.registry.SchemaFromRef(s.registry.Schema(reflect.TypeFor[integration.Event](), true, "").Ref)
	body := &huma.Schema{Type: huma.TypeObject, Required: envelope.Required, Properties: maps.Clone(envelope.Properties)}
	body.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{event}, Description: "What happened."}
	body.Properties["data"] = data
	op := &huma.Operation{
		OperationID: event, Tags: []string{integration.EventsTag}, Summary: event, Description: when,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: body}}},
		Responses:   map[string]*huma.Response{"2XX": {Description: "The event was received. After any other answer it is sent again later."}},
	}
	if operation != "" {
		op.Extensions = map[string]any{docs.RecordOperation: operation}
	}
	s.spec.Webhooks[event] = &huma.PathItem{Post: op}
}
