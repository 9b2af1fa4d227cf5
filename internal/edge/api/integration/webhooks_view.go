package integration

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// WebhookEndpoint is an address of another system that events are sent to.
type WebhookEndpoint struct {
	ID                      string   `json:"id" doc:"Identifier: whe_ and 26 characters."`
	OrganizationID          string   `json:"organization_id" doc:"Organization."`
	URL                     string   `json:"url" doc:"Address that events are sent to." example:"https://hooks.example/bursar"`
	Description             *string  `json:"description" doc:"What the endpoint is for; null if there is no description." example:"Data warehouse"`
	Types                   []string `json:"types" doc:"Types of the events that are sent, such as invoice.voided, or invoice.* for all of a kind; empty for all."`
	Ordered                 bool     `json:"ordered" doc:"Whether an event is sent only after those before it have been accepted."`
	Status                  string   `json:"status" enum:"enabled,paused,disabled" doc:"paused: no delivery has succeeded for three days, and events wait. disabled: no events are sent."`
	StatusReason            *string  `json:"status_reason" doc:"Why the service has paused or disabled the endpoint; null if it has not."`
	FailingSince            *string  `json:"failing_since" format:"date-time" doc:"Since when no delivery has succeeded; null if the last one did, or there was none yet."`
	PreviousSecretExpiresAt *string  `json:"previous_secret_expires_at" format:"date-time" doc:"Until when events are signed with the former secret as well; null if the secret was not replaced."`
	ETag                    string   `json:"etag" doc:"Version, for the header If-Match."`
	CreatedAt               string   `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt               *string  `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// NewWebhookSecret is an endpoint with a secret that is new.
type NewWebhookSecret struct {
	WebhookEndpoint
	Secret string `json:"secret" doc:"Key of the signatures: whsec_ and 32 bytes in base64. It is shown only once." example:"whsec_..."`
}

// CreateWebhookEndpoint describes an endpoint.
type CreateWebhookEndpoint struct {
	URL         string           `json:"url" minLength:"1" maxLength:"2048" doc:"Address that events are sent to. It must use HTTPS and be on the Internet, unless the service allows private networks." example:"https://hooks.example/bursar"`
	Description wire.Opt[string] `json:"description,omitempty" maxLength:"500" doc:"What the endpoint is for. Leading and trailing spaces are removed." example:"Data warehouse"`
	Types       []string         `json:"types,omitempty" maxItems:"100" doc:"Types of the events to send, such as invoice.voided, or invoice.* for all of a kind. Omit or leave empty for all."`
	Ordered     bool             `json:"ordered,omitempty" doc:"Send an event only after those before it have been accepted. One that fails then holds up all that follow."`
}

// TransformSchema adds an example.
func (CreateWebhookEndpoint) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"url": "https://hooks.example/bursar", "types": []any{"journal_entry.*", "invoice.voided"}}}
	return s
}

// UpdateWebhookEndpoint changes an endpoint.
type UpdateWebhookEndpoint struct {
	URL         *string          `json:"url,omitempty" minLength:"1" maxLength:"2048" doc:"Address that events are sent to." example:"https://hooks.example/bursar"`
	Description wire.Opt[string] `json:"description,omitempty" maxLength:"500" doc:"What the endpoint is for. Null removes it." example:"Data warehouse"`
	Types       *[]string        `json:"types,omitempty" maxItems:"100" doc:"Types of the events to send; empty for all. Also applies to events that wait."`
	Ordered     *bool            `json:"ordered,omitempty" doc:"Send an event only after those before it have been accepted."`
}

// TransformSchema requires at least one property.
func (UpdateWebhookEndpoint) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// RotateWebhookSecret says for how long the former secret is used too.
type RotateWebhookSecret struct {
	OverlapHours *int64 `json:"overlap_hours,omitempty" minimum:"0" maximum:"168" doc:"For how many hours events are signed with the former secret as well. 24 if omitted." example:"24"`
}

// RedeliverWebhookEvents selects events.
type RedeliverWebhookEvents struct {
	After   wire.Opt[string] `json:"after,omitempty" minLength:"1" maxLength:"64" doc:"Send the events after the one with this identifier. Either this or since is required."`
	Since   wire.Opt[string] `json:"since,omitempty" minLength:"1" maxLength:"64" doc:"Send the events from this time or date on." example:"2026-01-31T09:30:00Z"`
	Through wire.Opt[string] `json:"through,omitempty" minLength:"1" maxLength:"64" doc:"Identifier of the last event to send. If this and until are omitted, all are sent up to now."`
	Until   wire.Opt[string] `json:"until,omitempty" minLength:"1" maxLength:"64" doc:"Send the events up to this time or date." example:"2026-02-01T09:30:00Z"`
}

// TransformSchema adds an example.
func (RedeliverWebhookEvents) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"since": "2026-01-31T09:30:00Z"}}
	return s
}

// WebhookRedelivery is a range of events that is sent once more.
type WebhookRedelivery struct {
	WebhookEndpointID string `json:"webhook_endpoint_id" doc:"Endpoint that the events are sent to."`
	Events            int64  `json:"events" minimum:"0" doc:"How many events are in the range; of these, the endpoint gets those whose types it takes. Events that were not sent to it yet do not count: they are sent anyway."`
}

// RedeliverEvent selects an endpoint.
type RedeliverEvent struct {
	WebhookEndpointID wire.Opt[string] `json:"webhook_endpoint_id,omitempty" minLength:"1" maxLength:"64" doc:"Endpoint to send the event to, whichever types it takes. If omitted, all endpoints that are enabled and take its type."`
}

// EventRedelivery says where an event is sent once more.
type EventRedelivery struct {
	EventID            string   `json:"event_id" doc:"Event."`
	WebhookEndpointIDs []string `json:"webhook_endpoint_ids" doc:"Endpoints that it is sent to."`
}

// WebhookDelivery is an event that was sent to an endpoint, or is to be sent again.
type WebhookDelivery struct {
	ID                string  `json:"id" doc:"Identifier: whd_ and 26 characters."`
	WebhookEndpointID string  `json:"webhook_endpoint_id" doc:"Endpoint."`
	EventID           string  `json:"event_id" doc:"Event."`
	EventType         string  `json:"event_type" doc:"Type of the event." example:"invoice.voided"`
	Status            string  `json:"status" enum:"succeeded,retrying,failed" doc:"retrying: it is sent again. failed: it is not tried any more."`
	Attempts          int64   `json:"attempts" minimum:"0" doc:"How often it was sent."`
	StatusCode        *int64  `json:"status_code" doc:"HTTP status of the last answer; null if there was none."`
	Error             *string `json:"error" doc:"Why the last attempt failed; null if it succeeded." example:"answered 503"`
	LastAttemptAt     *string `json:"last_attempt_at" format:"date-time" doc:"When it was sent the last time; null if it was not sent yet."`
	NextAttemptAt     *string `json:"next_attempt_at" format:"date-time" doc:"When it is sent again; null if it is not. Later if other deliveries to the endpoint fail as well."`
	CreatedAt         string  `json:"created_at" format:"date-time" doc:"When the record was created."`
}

// WebhookDeliveryDetail is a delivery with its attempts.
type WebhookDeliveryDetail struct {
	WebhookDelivery
	Log []WebhookAttempt `json:"log" doc:"The attempts, the first one first; of more than 100, the last 100."`
}

// WebhookAttempt is a request that was sent, and its answer.
type WebhookAttempt struct {
	Number          int64   `json:"number" minimum:"0" doc:"Counts the attempts of a delivery from 1; 0 for a test."`
	AttemptedAt     string  `json:"attempted_at" format:"date-time" doc:"When the request was sent."`
	DurationMS      int64   `json:"duration_ms" minimum:"0" doc:"How many milliseconds passed until the answer or the failure."`
	Succeeded       bool    `json:"succeeded" doc:"Whether the endpoint has accepted the event, by an answer with a status from 200 to 299."`
	URL             string  `json:"url" doc:"Address that the request was sent to."`
	RequestHeaders  string  `json:"request_headers" doc:"Headers of the request, one on each line."`
	StatusCode      *int64  `json:"status_code" doc:"HTTP status of the answer; null if there was none."`
	ResponseHeaders *string `json:"response_headers" doc:"Headers of the answer, one on each line; null if there was none."`
	ResponseBody    *string `json:"response_body" doc:"The beginning of the answer; null if it was empty."`
	Error           *string `json:"error" doc:"Why it failed; null if it succeeded." example:"no answer within 15s"`
}
