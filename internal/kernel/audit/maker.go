package audit

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// Maker is an app and the API keys that it has created, by which it changes things.
type Maker struct {
	AuthorizationID string
	APIKeyIDs       []string
}

// MadeBy returns which of some resources an app has made, according to the records of an action that creates them. It is a building block
// for packages whose resources end with the access of an app.
func MadeBy(ctx context.Context, tx *db.Tx, action string, resourceIDs []string, by Maker) (map[string]bool, error) {
	found, err := selectMade(ctx, tx, action, resourceIDs, by)
	out := map[string]bool{}
	for _, id := range found {
		out[id] = true
	}
	return out, err
}
