package firm

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// ActiveAccess returns the access of the firm that works for the organization now. The error is NotFound if none does. It is a building
// block.
func ActiveAccess(ctx context.Context, tx *db.Tx) (Access, error) { return activeAccess(ctx, tx) }
