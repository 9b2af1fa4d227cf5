package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// WebhookEndpoint is an address of another system that events are sent to.
type WebhookEndpoint struct {
	ID                      string     `json:"id"`
	OrganizationID          string     `json:"organization_id"`
	URL                     string     `json:"url"`
	Description             *string    `json:"description"`
	Types                   []string   `json:"types"`
	Ordered                 bool       `json:"ordered"`
	Status                  string     `json:"status"`
	StatusReason            *string    `json:"status_reason"`
	FailingSince            *time.Time `json:"failing_since"`
	PreviousSecretExpiresAt *time.Time `json:"previous_secret_expires_at"`
	ETag                    string     `json:"etag"`
	CreatedAt               time.Time  `json:"created_at"`
	UpdatedAt               *time.Time `json:"updated_at"`
}

// NewWebhookSecret is an endpoint with a secret that is new. The secret is shown only once.
type NewWebhookSecret struct {
	WebhookEndpoint
	Secret string `json:"secret"`
}

// CreateWebhookEndpoint describes an endpoint. Without types, all events are sent.
type CreateWebhookEndpoint struct {
	URL         string   `json:"url"`
	Description string   `json:"description,omitempty"`
	Types       []string `json:"types,omitempty"`
	Ordered     bool     `json:"ordered,omitempty"`
}

// UpdateWebhookEndpoint describes changes; nil leaves a field as it is, and Null removes the description.
type UpdateWebhookEndpoint struct {
	URL         *string           `json:"url,omitempty"`
	Description *Nullable[string] `json:"description,omitempty"`
	Types       *[]string         `json:"types,omitempty"`
	Ordered     *bool             `json:"ordered,omitempty"`
}

// RotateWebhookSecret says for how long the former secret is used too; nil means 24 hours.
type RotateWebhookSecret struct {
	OverlapHours *int64 `json:"overlap_hours,omitempty"`
}

// RedeliverWebhookEvents selects events: after an event or since a time, and through an event or until a time if there is an end.
type RedeliverWebhookEvents struct {
	After   string `json:"after,omitempty"`
	Since   string `json:"since,omitempty"`
	Through string `json:"through,omitempty"`
	Until   string `json:"until,omitempty"`
}

// WebhookRedelivery is a range of events that is sent once more.
type WebhookRedelivery struct {
	WebhookEndpointID string `json:"webhook_endpoint_id"`
	Events            int64  `json:"events"`
}

// RedeliverEvent selects an endpoint; empty means all that take the event.
type RedeliverEvent struct {
	WebhookEndpointID string `json:"webhook_endpoint_id,omitempty"`
}

// EventRedelivery says where an event is sent once more.
type EventRedelivery struct {
	EventID            string   `json:"event_id"`
	WebhookEndpointIDs []string `json:"webhook_endpoint_ids"`
}

// WebhookDelivery is an event that was sent to an endpoint, or is to be sent again.
type WebhookDelivery struct {
	ID                string     `json:"id"`
	WebhookEndpointID string     `json:"webhook_endpoint_id"`
	EventID           string     `json:"event_id"`
	EventType         string     `json:"event_type"`
	Status            string     `json:"status"`
	Attempts          int64      `json:"attempts"`
	StatusCode        *int64     `json:"status_code"`
	Error             *string    `json:"error"`
	LastAttemptAt     *time.Time `json:"last_attempt_at"`
	NextAttemptAt     *time.Time `json:"next_attempt_at"`
	CreatedAt         time.Time  `json:"created_at"`
}

// WebhookDeliveryDetail is a delivery with its attempts.
type WebhookDeliveryDetail struct {
	WebhookDelivery
	Log []WebhookAttempt `json:"log"`
}

// WebhookAttempt is a request that was sent, and its answer.
type WebhookAttempt struct {
	Number          int64     `json:"number"`
	AttemptedAt     time.Time `json:"attempted_at"`
	DurationMS      int64     `json:"duration_ms"`
	Succeeded       bool      `json:"succeeded"`
	URL             string    `json:"url"`
	RequestHeaders  string    `json:"request_headers"`
	StatusCode      *int64    `json:"status_code"`
	ResponseHeaders *string   `json:"response_headers"`
	ResponseBody    *string   `json:"response_body"`
	Error           *string   `json:"error"`
}

// WebhookEndpoints iterates over the webhook endpoints in the order of their creation.
func (c *Client) WebhookEndpoints(ctx context.Context) iter.Seq2[WebhookEndpoint, error] {
	return each[WebhookEndpoint](ctx, c, "/v1/webhook-endpoints", nil)
}

// WebhookEndpoint returns a webhook endpoint.
func (c *Client) WebhookEndpoint(ctx context.Context, id string) (WebhookEndpoint, error) {
	return one[WebhookEndpoint](ctx, c, Call{Method: http.MethodGet, Path: webhookPath(id)})
}

// CreateWebhookEndpoint creates a webhook endpoint and returns it with its secret.
func (c *Client) CreateWebhookEndpoint(ctx context.Context, endpoint CreateWebhookEndpoint) (NewWebhookSecret, error) {
	return post[NewWebhookSecret](ctx, c, "/v1/webhook-endpoints", endpoint)
}

// UpdateWebhookEndpoint changes a webhook endpoint; with IfMatch, only if it has not changed since.
func (c *Client) UpdateWebhookEndpoint(ctx context.Context, id string, changes UpdateWebhookEndpoint) (WebhookEndpoint, error) {
	return one[WebhookEndpoint](ctx, c, Call{Method: http.MethodPatch, Path: webhookPath(id), Body: changes})
}

// DeleteWebhookEndpoint deletes a webhook endpoint and its log; with IfMatch, only if it has not changed since.
func (c *Client) DeleteWebhookEndpoint(ctx context.Context, id string) error {
	_, err := one[struct{}](ctx, c, Call{Method: http.MethodDelete, Path: webhookPath(id)})
	return err
}

// RotateWebhookSecret replaces the secret of a webhook endpoint and returns the new one.
func (c *Client) RotateWebhookSecret(ctx context.Context, id string, p RotateWebhookSecret) (NewWebhookSecret, error) {
	return post[NewWebhookSecret](ctx, c, webhookPath(id)+"/rotate-secret", p)
}

// TestWebhookEndpoint sends a test event to a webhook endpoint and returns what it has answered.
func (c *Client) TestWebhookEndpoint(ctx context.Context, id string) (WebhookAttempt, error) {
	return post[WebhookAttempt](ctx, c, webhookPath(id)+"/test", nil)
}

// DisableWebhookEndpoint stops sending events to a webhook endpoint.
func (c *Client) DisableWebhookEndpoint(ctx context.Context, id string) (WebhookEndpoint, error) {
	return post[WebhookEndpoint](ctx, c, webhookPath(id)+"/disable", nil)
}

// EnableWebhookEndpoint sends events to a webhook endpoint again.
func (c *Client) EnableWebhookEndpoint(ctx context.Context, id string) (WebhookEndpoint, error) {
	return post[WebhookEndpoint](ctx, c, webhookPath(id)+"/enable", nil)
}

// RedeliverWebhookEvents has a range of events sent to a webhook endpoint once more.
func (c *Client) RedeliverWebhookEvents(ctx context.Context, id string, events RedeliverWebhookEvents) (WebhookRedelivery, error) {
	return post[WebhookRedelivery](ctx, c, webhookPath(id)+"/redeliver", events)
}

// RedeliverEvent has an event sent to webhook endpoints once more.
func (c *Client) RedeliverEvent(ctx context.Context, eventID string, p RedeliverEvent) (EventRedelivery, error) {
	return post[EventRedelivery](ctx, c, "/v1/events/"+url.PathEscape(eventID)+"/redeliver", p)
}

// WebhookDeliveries iterates over the deliveries to a webhook endpoint that a query such as status=failed selects, newest first.
func (c *Client) WebhookDeliveries(ctx context.Context, id string, query url.Values) iter.Seq2[WebhookDelivery, error] {
	return each[WebhookDelivery](ctx, c, webhookPath(id)+"/deliveries", query)
}

// WebhookDelivery returns a delivery with its attempts.
func (c *Client) WebhookDelivery(ctx context.Context, id string) (WebhookDeliveryDetail, error) {
	return one[WebhookDeliveryDetail](ctx, c, Call{Method: http.MethodGet, Path: "/v1/webhook-deliveries/" + url.PathEscape(id)})
}

func webhookPath(id string) string { return "/v1/webhook-endpoints/" + url.PathEscape(id) }
