package webhook

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// EndOfApp disables the endpoints that an app has created, itself or with its keys, because the app may not read the books any more. It is
// a building block, in a transaction that has locked the organization.
func EndOfApp(ctx context.Context, tx *db.Tx, by audit.Maker) error {
	all, err := selectEndpoints(ctx, tx, "", EndpointsMax)
	if err != nil || len(all) == 0 {
		return err
	}
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	made, err := audit.MadeBy(ctx, tx, eventCreated, ids, by)
	if err != nil {
		return err
	}
	for _, before := range all {
		if !made[before.ID] || before.Status == Disabled {
			continue
		}
		after := before
		after.Status, after.StatusReason = Disabled, "the app that created the endpoint is disconnected"
		if _, err := lockCursor(ctx, tx, after.ID); err != nil {
			return err
		}
		if err := giveUp(ctx, tx, after.ID); err != nil {
			return err
		}
		if _, err := save(ctx, tx, EventDisabled, before, after); err != nil {
			return err
		}
	}
	return nil
}
