package apitest

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// eventTypes returns the types of all events in a database.
func eventTypes(ctx context.Context, d *db.DB) (types []string, err error) {
	err = d.ReadAcross(ctx, "events of all organizations", func(ctx context.Context, tx *db.Tx) error {
		types, err = db.All[string](ctx, tx, "SELECT DISTINCT type FROM events")
		return err
	})
	return types, err
}
