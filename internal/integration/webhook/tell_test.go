package webhook_test

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/integration/webhook"
)

// tellTo returns a function that notes of which endpoints owners were told.
func tellTo(told *[]webhook.Endpoint) func(context.Context, *db.Tx, webhook.Endpoint) error {
	return func(_ context.Context, _ *db.Tx, e webhook.Endpoint) error {
		*told = append(*told, e)
		return nil
	}
}
