package team

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// CountPending returns how many invitations of the organization can be accepted. It is a building block.
func (s *Service) CountPending(ctx context.Context, tx *db.Tx) (int64, error) {
	return countPending(ctx, tx, tx.Now())
}
