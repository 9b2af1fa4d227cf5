package transfers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Sweep is the job that matches transactions that have come, wherever they came from.
type Sweep struct{}

// Kind names the job.
func (Sweep) Kind() string { return "transfers_sweep" }

const (
	// quiet is how long nothing must have come: an import is matched once it is in, not after each part of it.
	quiet = 5 * time.Second
	// patience is how long something that came waits for it.
	patience = 5 * time.Minute
)

// MatchNew matches what has come in every organization since it was done last. One that fails does not hold up the
// others, and while it is under way there is nothing for a second to do.
func (s *Service) MatchNew(ctx context.Context) error {
	if !s.sweeping.TryLock() {
		return nil
	}
	defer s.sweeping.Unlock()
	var behind []string
	err := s.db.ReadAcross(ctx, "transactions come in all organizations alike", func(ctx context.Context, tx *db.Tx) (err error) {
		behind, err = selectUnmatched(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	var failed []error
	for _, organizationID := range behind {
		if err := s.matchNewOf(ctx, organizationID); err != nil {
			failed = append(failed, fmt.Errorf("match the new transactions of %s: %w", organizationID, err))
		}
	}
	return errors.Join(failed...)
}

func (s *Service) matchNewOf(ctx context.Context, organizationID string) error {
	var number int64
	var first, last time.Time
	due := false
	err := s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		h, err := orgstate.Read(ctx, tx)
		if err != nil {
			return err
		}
		done, err := selectMark(ctx, tx)
		if err != nil || done >= h.TransactionNumber {
			return err
		}
		oldest, err := transaction.CreatedAt(ctx, tx, done+1)
		if err != nil {
			return err
		}
		newest, err := transaction.CreatedAt(ctx, tx, h.TransactionNumber)
		if err != nil {
			return err
		}
		if now := tx.Now(); now.Sub(newest) < quiet && now.Sub(oldest) < patience {
			return nil
		}
		number, due = h.TransactionNumber, true
		first, last, err = transaction.DateSpan(ctx, tx, done, number)
		return err
	})
	if err != nil || !due {
		return err
	}
	if _, err := s.MatchArrived(ctx, organizationID, first, last); err != nil {
		return err
	}
	return s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error { return updateMark(ctx, tx, number) })
}
