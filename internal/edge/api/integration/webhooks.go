package integration

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// webhookPath is the parameter of operations on one endpoint.
type webhookPath struct {
	ID string `path:"webhook_endpoint_id" minLength:"1" maxLength:"64" doc:"Identifier of the webhook endpoint."`
}

// webhookVersion is the version of an endpoint that a caller has seen.
type webhookVersion struct {
	ETag string `header:"If-Match" maxLength:"64" doc:"The etag of the endpoint as you know it. If it has changed since, the answer is 409."`
}

func (h handlers) webhooks() []wire.Route {
	const all, one = "/v1/webhook-endpoints", "/v1/webhook-endpoints/{webhook_endpoint_id}"
	routes := wire.Tag{Name: "Webhooks", Description: "Addresses of other systems that events are sent to."}.Routes(
		wire.Get(all, h.listWebhookEndpoints, "List webhook endpoints in the order in which they were created"),
		wire.Post(all, h.createWebhookEndpoint, "Create a webhook endpoint").Sensitive().Creates().
			Describe("Events that happen from now on are sent to it, each in a POST request that is signed as the Standard Webhooks "+
				"specification says. An answer with a status from 200 to 299 within 15 seconds means that it has accepted the event. "+
				"Otherwise the event is sent again, with growing pauses, for three days. An event may arrive more than once: its "+
				"`webhook-id` is then the same. An organization can have 100 endpoints."),
		wire.Get(one, h.getWebhookEndpoint, "Get a webhook endpoint"),
		wire.Patch(one, h.updateWebhookEndpoint, "Update a webhook endpoint").Sensitive().
			Describe("New types also apply to events that were not sent yet. If deliveries fail, a new address has everything that waits sent to "+
				"it at once."),
		wire.Delete(one, h.deleteWebhookEndpoint, "Delete a webhook endpoint").Describe("Its log is deleted with it."),
		wire.Post(one+"/rotate-secret", h.rotateWebhookSecret, "Replace the secret of a webhook endpoint").Sensitive().
			Describe("Returns the new secret. Events are signed with both secrets until the former one expires, so that no event is "+
				"refused while the endpoint learns the new one. Until then, the answer to another replacement is 409, because the endpoint may "+
				"know neither of the newer ones, unless it has `overlap_hours` 0: that replaces both secrets at once."),
		wire.Post(one+"/test", h.testWebhookEndpoint, "Send a test event to a webhook endpoint").OwnTransactions().
			Describe("Sends an event of the type `webhook_endpoint.test`, whose data are the endpoint, at once, and returns what the endpoint "+
				"has answered. The event is not part of the feed, and is sent whatever the status and the types of the endpoint are. If "+
				"deliveries to an enabled endpoint have failed and it accepts the test, everything that waits is sent to it at once."),
		wire.Post(one+"/disable", h.disableWebhookEndpoint, "Disable a webhook endpoint").
			Describe("No events are sent to it until it is enabled again. Events that it has not accepted are given up: they are not sent when "+
				"it is enabled, unless redeliver asks for it."),
		wire.Post(one+"/enable", h.enableWebhookEndpoint, "Enable a webhook endpoint").
			Describe("An endpoint that was paused gets all events that have waited, as far as they are kept. One that was disabled gets those "+
				"that happen from now on: use redeliver for those in between. If deliveries to one that is enabled fail, everything that waits "+
				"is sent to it at once."),
		wire.Post(one+"/redeliver", h.redeliverEvents, "Send a range of events to a webhook endpoint once more").
			Describe("Those of the events whose types the endpoint takes are sent in the background, before those that were not sent yet. They "+
				"may arrive in any order, unless the endpoint is ordered. The answer is 409 if the endpoint is not enabled, or if ten "+
				"ranges are already being sent to it."),
		wire.Get(one+"/deliveries", h.listWebhookDeliveries, "List the deliveries to a webhook endpoint, newest first").
			Describe("There is one for each event. Those that are not tried any more are kept for 30 days."),
		wire.Get("/v1/webhook-deliveries/{webhook_delivery_id}", h.getWebhookDelivery, "Get a delivery with its attempts"),
		wire.Post(EventsPath+"/{event_id}/redeliver", h.redeliverEvent, "Send an event to webhook endpoints once more").
			Describe("The event is sent in the background: to one endpoint, which must be enabled, or to all enabled ones that take its type."),
	)
	for i := range routes {
		routes[i] = routes[i].Privileged().WholeOrganization().MembersOnly()
	}
	return routes
}

func (h handlers) listWebhookEndpoints(ctx context.Context, in *struct{ wire.Paging }) (wire.List[WebhookEndpoint], error) {
	found, err := h.app.Webhooks.List(ctx, in.Request())
	return wire.ListOf(found, func(e webhook.Endpoint) WebhookEndpoint { return viewWebhookEndpoint(ctx, e) }), err
}

func (h handlers) createWebhookEndpoint(ctx context.Context, in *struct{ Body CreateWebhookEndpoint }) (
	wire.Data[NewWebhookSecret], error) {
	e, err := h.app.Webhooks.Create(ctx, webhook.CreateParams{URL: in.Body.URL, Description: in.Body.Description.Value, Types: in.Body.Types,
		Ordered: in.Body.Ordered})
	return wire.DataOf(viewNewSecret(ctx, e)), err
}

func (h handlers) getWebhookEndpoint(ctx context.Context, in *struct{ webhookPath }) (wire.Data[WebhookEndpoint], error) {
	e, err := h.app.Webhooks.Get(ctx, in.ID)
	return dataOfEndpoint(ctx, e, err)
}

func (h handlers) updateWebhookEndpoint(ctx context.Context, in *struct {
	webhookPath
	webhookVersion
	Body UpdateWebhookEndpoint
}) (wire.Data[WebhookEndpoint], error) {
	e, err := h.app.Webhooks.Update(ctx, in.ID, webhook.UpdateParams{URL: in.Body.URL, Description: in.Body.Description.OrZero(),
		Types: in.Body.Types, Ordered: in.Body.Ordered}, in.ETag)
	return dataOfEndpoint(ctx, e, err)
}

func (h handlers) deleteWebhookEndpoint(ctx context.Context, in *struct {
	webhookPath
	webhookVersion
}) (wire.Data[wire.Deleted], error) {
	err := h.app.Webhooks.Delete(ctx, in.ID, in.ETag)
	return wire.DeletedOf(in.ID), err
}

func (h handlers) rotateWebhookSecret(ctx context.Context, in *struct {
	webhookPath
	webhookVersion
	Body *RotateWebhookSecret
}) (wire.Data[NewWebhookSecret], error) {
	overlap := webhook.OverlapDefault
	if in.Body != nil && in.Body.OverlapHours != nil {
		overlap = time.Duration(*in.Body.OverlapHours) * time.Hour
	}
	e, err := h.app.Webhooks.RotateSecret(ctx, in.ID, overlap, in.ETag)
	return wire.DataOf(viewNewSecret(ctx, e)), err
}

func (h handlers) testWebhookEndpoint(ctx context.Context, in *struct{ webhookPath }) (wire.Data[WebhookAttempt], error) {
	a, err := h.app.Webhooks.Test(ctx, in.ID, func(e webhook.Endpoint) []byte { return wire.Encode(viewWebhookEndpoint(ctx, e)) })
	return wire.DataOf(viewAttempt(a)), err
}

func (h handlers) disableWebhookEndpoint(ctx context.Context, in *struct {
	webhookPath
	webhookVersion
}) (wire.Data[WebhookEndpoint], error) {
	e, err := h.app.Webhooks.Disable(ctx, in.ID, in.ETag)
	return dataOfEndpoint(ctx, e, err)
}

func (h handlers) enableWebhookEndpoint(ctx context.Context, in *struct {
	webhookPath
	webhookVersion
}) (wire.Data[WebhookEndpoint], error) {
	e, err := h.app.Webhooks.Enable(ctx, in.ID, in.ETag)
	return dataOfEndpoint(ctx, e, err)
}

func (h handlers) redeliverEvents(ctx context.Context, in *struct {
	webhookPath
	Body RedeliverWebhookEvents
}) (wire.Data[WebhookRedelivery], error) {
	var faults fault.List
	r := webhook.Range{After: in.Body.After.Value, Through: in.Body.Through.Value}
	if in.Body.Since.Value != "" {
		r.Since = new(page.ParseTimeBound(&faults, "since", in.Body.Since.Value, false))
	}
	if in.Body.Until.Value != "" {
		r.Until = new(page.ParseTimeBound(&faults, "until", in.Body.Until.Value, true))
	}
	if err := faults.Err(); err != nil {
		return wire.Data[WebhookRedelivery]{}, err
	}
	n, err := h.app.Webhooks.Redeliver(ctx, in.ID, r)
	return wire.DataOf(WebhookRedelivery{WebhookEndpointID: in.ID, Events: n}), err
}

func (h handlers) redeliverEvent(ctx context.Context, in *struct {
	eventPath
	Body *RedeliverEvent
}) (wire.Data[EventRedelivery], error) {
	endpointID := ""
	if in.Body != nil {
		endpointID = in.Body.WebhookEndpointID.Value
	}
	found, err := h.app.Webhooks.RedeliverEvent(ctx, in.ID, endpointID)
	out := EventRedelivery{EventID: in.ID, WebhookEndpointIDs: make([]string, len(found))}
	for i, e := range found {
		out.WebhookEndpointIDs[i] = e.ID
	}
	return wire.DataOf(out), err
}

func (h handlers) listWebhookDeliveries(ctx context.Context, in *struct {
	webhookPath
	wire.Paging
	Status  string `query:"status" enum:"succeeded,retrying,failed" doc:"Return only deliveries in this state."`
	EventID string `query:"event_id" minLength:"1" maxLength:"64" doc:"Return only the delivery of this event."`
}) (wire.List[WebhookDelivery], error) {
	found, err := h.app.Webhooks.ListDeliveries(ctx, in.ID, webhook.DeliveryFilter{Status: webhook.DeliveryStatus(in.Status),
		EventID: in.EventID}, in.Request())
	return wire.ListOf(found, viewDelivery), err
}

func (h handlers) getWebhookDelivery(ctx context.Context, in *struct {
	ID string `path:"webhook_delivery_id" minLength:"1" maxLength:"64" doc:"Identifier of the delivery."`
}) (wire.Data[WebhookDeliveryDetail], error) {
	d, attempts, err := h.app.Webhooks.GetDelivery(ctx, in.ID)
	out := WebhookDeliveryDetail{viewDelivery(d), make([]WebhookAttempt, len(attempts))}
	for i, a := range attempts {
		out.Log[i] = viewAttempt(a)
	}
	return wire.DataOf(out), err
}

func dataOfEndpoint(ctx context.Context, e webhook.Endpoint, err error) (wire.Data[WebhookEndpoint], error) {
	return wire.DataOf(viewWebhookEndpoint(ctx, e)), err
}

func viewNewSecret(ctx context.Context, e webhook.WithSecret) NewWebhookSecret {
	return NewWebhookSecret{viewWebhookEndpoint(ctx, e.Endpoint), e.Secret.Reveal()}
}

func viewWebhookEndpoint(ctx context.Context, e webhook.Endpoint) WebhookEndpoint {
	return WebhookEndpoint{
		ID:                      e.ID,
		OrganizationID:          actor.From(ctx).OrganizationID,
		URL:                     e.URL,
		Description:             db.OrNull(e.Description),
		Types:                   wire.NonNil(e.Types),
		Ordered:                 e.Ordered,
		Status:                  string(e.Status),
		StatusReason:            db.OrNull(e.StatusReason),
		FailingSince:            wire.TimestampOrNull(e.FailingSince),
		PreviousSecretExpiresAt: wire.TimestampOrNull(e.PreviousSecretExpiresAt),
		ETag:                    e.ETag(),
		CreatedAt:               wire.Timestamp(e.CreatedAt),
		UpdatedAt:               wire.TimestampOrNull(e.UpdatedAt),
	}
}

func viewDelivery(d webhook.Delivery) WebhookDelivery {
	return WebhookDelivery{
		ID:                d.ID,
		WebhookEndpointID: d.EndpointID,
		EventID:           d.EventID,
		EventType:         d.EventType,
		Status:            string(d.Status),
		Attempts:          d.Attempts,
		StatusCode:        codeOrNull(d.StatusCode),
		Error:             db.OrNull(d.Error),
		LastAttemptAt:     wire.TimestampOrNull(d.AttemptedAt),
		NextAttemptAt:     wire.TimestampOrNull(d.NextAt),
		CreatedAt:         wire.Timestamp(d.CreatedAt),
	}
}

func viewAttempt(a webhook.Attempt) WebhookAttempt {
	return WebhookAttempt{
		Number:          a.Number,
		AttemptedAt:     wire.Timestamp(a.At),
		DurationMS:      a.Duration.Milliseconds(),
		Succeeded:       a.Succeeded(),
		URL:             a.URL,
		RequestHeaders:  a.RequestHeaders,
		StatusCode:      codeOrNull(a.StatusCode),
		ResponseHeaders: db.OrNull(a.ResponseHeaders),
		ResponseBody:    db.OrNull(a.ResponseBody),
		Error:           db.OrNull(a.Error),
	}
}

// codeOrNull returns nil for 0.
func codeOrNull(code int) *int64 {
	if code == 0 {
		return nil
	}
	return new(int64(code))
}

// Records says what events contain of the resources of the group.
func Records() []wire.Record {
	return []wire.Record{
		wire.Viewed(wire.RecordAt("webhook_endpoint", "/v1/webhook-endpoints/{webhook_endpoint_id}", webhook.Events...),
			viewWebhookEndpoint).OnlyPrivileged(),
		wire.RecordAt("gl_mapping", "", glsync.MappingEvents()...),
		wire.RecordAt("gl_tag_mapping", "", glsync.TagMappingEvents()...),
		wire.Viewed(wire.RecordAt("gl_sync_run", "/v1/gl-sync-runs/{gl_sync_run_id}", glsync.RunEvents()...),
			func(_ context.Context, r glsync.Run) GLSyncRun { return viewGLSyncRun(r) }),
	}
}
