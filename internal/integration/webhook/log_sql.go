package webhook

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// attemptsShown bounds how many attempts of a delivery are read; the last ones are.
const attemptsShown = 100

func selectDeliveryPage(ctx context.Context, tx *db.Tx, endpointID string, f DeliveryFilter, below string, limit int) ([]Delivery, error) {
	q := db.Select(selectDeliveries+" AND webhook_endpoint_id = ? AND webhook_delivery_id < ?", endpointID, below)
	if f.Status != "" {
		q.And("status = ?", string(f.Status))
	}
	if f.EventID != "" {
		q.And("event_id = ?", f.EventID)
	}
	return deliveriesOf(db.All[deliveryRow](ctx, tx, q.Then("ORDER BY webhook_delivery_id DESC LIMIT ?", limit), q.Args...))
}

// selectDelivery reads a delivery of an endpoint that was not deleted.
func selectDelivery(ctx context.Context, tx *db.Tx, deliveryID string) (Delivery, error) {
	r, err := db.One[deliveryRow](ctx, tx, deliveryNoun, selectDeliveries+` AND webhook_delivery_id = ? AND webhook_endpoint_id IN
		(SELECT e.webhook_endpoint_id FROM webhook_endpoints e WHERE e.organization_id = @org)`, deliveryID)
	return r.delivery(), err
}

func selectAttempts(ctx context.Context, tx *db.Tx, deliveryID string) ([]Attempt, error) {
	rows, err := db.All[attemptRow](ctx, tx, "SELECT "+db.Columns[attemptRow]()+` FROM webhook_attempts WHERE organization_id = @org AND
		webhook_delivery_id = ? ORDER BY number DESC LIMIT ?`, deliveryID, attemptsShown)
	out := make([]Attempt, len(rows))
	for i, r := range rows {
		out[len(rows)-1-i] = r.attempt()
	}
	return out, err
}

func countReplays(ctx context.Context, tx *db.Tx, endpointID string) (int64, error) {
	return db.One[int64](ctx, tx, noun, "SELECT count(*) FROM webhook_replays WHERE organization_id = @org AND webhook_endpoint_id = ?",
		endpointID)
}

func insertReplay(ctx context.Context, tx *db.Tx, r replay) error {
	return db.Insert(ctx, tx, replayTable, r)
}
