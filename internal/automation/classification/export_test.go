package classification

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/db"
)

// Before lets somebody look at what is to be booked, and refuse the whole of it after it was booked.
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

// SetBatch makes batches small, so that a few transactions are several.
func (s *Service) SetBatch(n int) { s.batch = n }
