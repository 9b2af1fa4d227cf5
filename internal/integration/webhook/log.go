package webhook

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// deliveryNoun names a delivery in messages.
const deliveryNoun = "webhook delivery"

// DeliveryFilter selects deliveries. An empty field selects all.
type DeliveryFilter struct {
	Status  DeliveryStatus
	EventID string
}

// ListDeliveries returns the deliveries to an endpoint, the newest first.
func (s *Service) ListDeliveries(ctx context.Context, endpointID string, f DeliveryFilter, p page.Request) (page.Page[Delivery], error) {
	key, filters := func(d Delivery) string { return d.ID }, map[string]any{"endpoint": endpointID, "filter": f}
	return page.ListByKey("webhook_deliveries", filters, p, "~", key, func(below string, limit int) (rows []Delivery, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := selectEndpoint(ctx, tx, endpointID, ""); err != nil {
				return err
			}
			if err := f.requireKnown(ctx, tx, endpointID); err != nil {
				return err
			}
			rows, err = selectDeliveryPage(ctx, tx, endpointID, f, below, limit)
			return err
		})
		return rows, err
	})
}

// requireKnown returns an error of kind NotFound if the filter names an event that there is not, and was not.
func (f DeliveryFilter) requireKnown(ctx context.Context, tx *db.Tx, endpointID string) error {
	if f.EventID == "" {
		return nil
	}
	if known, err := selectDeliveriesOf(ctx, tx, endpointID, []string{f.EventID}); err != nil || len(known) > 0 {
		return err
	}
	_, err := outbox.Find(ctx, tx, f.EventID)
	var faults fault.List
	if err := faults.MergeMissing(err, "event_id"); err != nil {
		return err
	}
	return faults.Err()
}

// GetDelivery returns a delivery and its attempts, the first one first.
func (s *Service) GetDelivery(ctx context.Context, deliveryID string) (d Delivery, attempts []Attempt, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if d, err = selectDelivery(ctx, tx, deliveryID); err != nil {
			return err
		}
		attempts, err = selectAttempts(ctx, tx, deliveryID)
		return err
	})
	return d, attempts, err
}
