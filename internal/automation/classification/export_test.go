package classification

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/db"
)

// Before calls a function with the transactions to be booked, which may refuse all of them after they were booked.
func (s *Service) Before(look func([]booking.Params) error) {
	each := s.each
	s.each = func(ctx context.Context, tx *db.Tx, ps []booking.Params) ([]booking.BatchResult, error) {
		out, err := each(ctx, tx, ps)
		if refused := look(ps); err == nil && refused != nil {
			return nil, refused
		}
		return out, err
	}
}

// SetBatch sets the size of batches, so that a few transactions are several batches.
func (s *Service) SetBatch(n int) { s.Batch = n }
