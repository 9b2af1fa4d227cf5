package api_test

import (
	"context"
	"log/slog"
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/integration/webhook"
)

// nobodyURL is an address at which nobody listens.
const nobodyURL = "http://127.0.0.1:9/hook"

// anEndpoint creates a webhook endpoint.
func anEndpoint(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	e, err := n.Client.CreateWebhookEndpoint(t.Context(), client.CreateWebhookEndpoint{URL: nobodyURL, Description: "An endpoint",
		Types: []string{"tag.*"}})
	if err != nil {
		t.Fatal(err)
	}
	return sample{path: map[string]string{"webhook_endpoint_id": e.ID}}
}

// deliverTo sends what is due to an endpoint.
func deliverTo(t *testing.T, n *apitest.Tenant, endpointID string) {
	t.Helper()
	a, log := n.Service().App, slog.New(slog.DiscardHandler)
	workers := job.NewWorkers()
	job.Handle(workers, func(context.Context, webhook.Deliver) error { return nil })
	workers.AddQueue(webhook.Queue, 1, webhook.PollPause)
	queue, err := job.NewQueue(a.DB, workers, log)
	if err != nil {
		t.Fatal(err)
	}
	sender := &webhook.Sender{Service: a.Webhooks, Jobs: queue, Log: log}
	if err := sender.Deliver(t.Context(), webhook.Deliver{OrganizationID: n.Organization.ID, EndpointID: endpointID}); err != nil {
		t.Fatal(err)
	}
}

// aDelivery creates an endpoint to which an event was sent.
func aDelivery(t *testing.T, n *apitest.Tenant) (s sample, deliveryID, eventID string) {
	t.Helper()
	s = anEndpoint(t, n)
	n.NewTag(t)
	deliverTo(t, n, s.path["webhook_endpoint_id"])
	for d, err := range n.Client.WebhookDeliveries(t.Context(), s.path["webhook_endpoint_id"], nil) {
		if err != nil {
			t.Fatal(err)
		}
		return s, d.ID, d.EventID
	}
	t.Fatal("nothing was delivered")
	return s, "", ""
}

func init() {
	const one = "/v1/webhook-endpoints/{webhook_endpoint_id}"
	with := func(body map[string]any) func(*testing.T, *apitest.Tenant) sample {
		return func(t *testing.T, n *apitest.Tenant) sample {
			s := anEndpoint(t, n)
			s.body = body
			return s
		}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/webhook-endpoints": func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
		"POST /v1/webhook-endpoints": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"url": nobodyURL, "description": "Endpoint " + client.NewIdempotencyKey(),
				"types": []string{"tag.created", "invoice.*"}, "ordered": true}}
		},
		"GET " + one:    anEndpoint,
		"DELETE " + one: anEndpoint,
		"PATCH " + one: with(map[string]any{"url": nobodyURL + "/2", "description": "Something else", "types": []string{"tag.created"},
			"ordered": true}),
		"POST " + one + "/rotate-secret": with(map[string]any{"overlap_hours": 1}),
		"POST " + one + "/test":          anEndpoint,
		"POST " + one + "/disable":       anEndpoint,
		"POST " + one + "/enable": func(t *testing.T, n *apitest.Tenant) sample {
			s := anEndpoint(t, n)
			if _, err := n.Client.DisableWebhookEndpoint(t.Context(), s.path["webhook_endpoint_id"]); err != nil {
				t.Fatal(err)
			}
			return s
		},
		"POST " + one + "/redeliver": func(t *testing.T, n *apitest.Tenant) sample {
			after := anEvent(t, n, "organization.created")
			s, _, eventID := aDelivery(t, n)
			s.body = map[string]any{"after": after, "through": eventID}
			return s
		},
		"GET " + one + "/deliveries": func(t *testing.T, n *apitest.Tenant) sample {
			s, _, eventID := aDelivery(t, n)
			s.query = "limit=1&status=retrying&event_id=" + eventID
			return s
		},
		"GET /v1/webhook-deliveries/{webhook_delivery_id}": func(t *testing.T, n *apitest.Tenant) sample {
			_, deliveryID, _ := aDelivery(t, n)
			return sample{path: map[string]string{"webhook_delivery_id": deliveryID}}
		},
		"POST /v1/events/{event_id}/redeliver": func(t *testing.T, n *apitest.Tenant) sample {
			s, _, eventID := aDelivery(t, n)
			return sample{path: map[string]string{"event_id": eventID}, body: map[string]any{
				"webhook_endpoint_id": s.path["webhook_endpoint_id"]}}
		},
	})
}
