package organization

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// FirmOf returns the id of the firm that an organization is a client of, or an empty one. It is a building block.
func FirmOf(ctx context.Context, tx *db.Tx) (string, error) {
	f, err := orgstate.FindFirm(ctx, tx)
	return db.OrEmpty(f.FirmID), err
}

// IsFirm reports whether an organization has clients. It is a building block.
func IsFirm(ctx context.Context, tx *db.Tx) (bool, error) {
	f, err := orgstate.FindFirm(ctx, tx)
	return f.Since != nil, err
}
