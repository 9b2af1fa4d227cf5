package txn

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// Outcome is what became of a transaction that was to be added.
type Outcome struct {
	ID        string
	Duplicate bool // it was there already, or stood twice in what was sent
}

// Add puts transactions in, in the order given, except those whose source has told of them before. They must have passed Check, and their tags
// must be there. It is a building block, and takes the organization's head.
func Add(ctx context.Context, tx *db.Tx, all []New) ([]Outcome, error) {
	panic("txn: not written yet")
}
