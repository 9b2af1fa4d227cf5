package webhook

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// PauseAll pauses every endpoint of an organization that was imported without their secrets, and returns how many it paused. It is a
// building block.
func PauseAll(ctx context.Context, tx *db.Tx) (int, error) {
	rows, err := db.All[endpointRow](ctx, tx, selectRows+" AND status = 'enabled' ORDER BY webhook_endpoint_id")
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		before := r.endpoint()
		after := before
		after.Status, after.StatusReason = Paused, "the organization was moved here without the secret: rotate the secret, give the new one to "+
			"the receiver, and enable the endpoint"
		if _, err := save(ctx, tx, EventPaused, before, after); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// requireSecret returns a Conflict fault for an endpoint whose secret was left out when the organization was moved.
func (e Endpoint) requireSecret() error {
	if e.secret == db.RedactedText {
		return fault.Conflictf("the organization was moved here without the secret of the webhook endpoint %s: rotate the secret first, and "+
			"give the new one to the receiver", e.ID)
	}
	return nil
}
