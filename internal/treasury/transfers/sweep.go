package transfers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Sweep is the background job that matches new transactions, whichever way they were added.
type Sweep struct{}

// Kind returns the kind of the job.
func (Sweep) Kind() string { return "transfers_sweep" }

const (
	// quietPeriod is how long no transaction must have been added before matching, so that an import is matched as a
	// whole and not after each part.
	quietPeriod = 5 * time.Second
	// waitMax is how long a new transaction waits for a quiet period.
	waitMax = 5 * time.Minute
)

// MatchNew matches the transactions that were added to each organization since the last run. A failure of one
// organization does not affect the others. Concurrent calls do nothing.
func (s *Service) MatchNew(ctx context.Context) error {
	if !s.sweeping.TryLock() {
		return nil
	}
	defer s.sweeping.Unlock()
	var unmatched []string
	err := s.db.ReadAcross(ctx, "new transactions are matched in every organization", func(ctx context.Context, tx *db.Tx) (err error) {
		unmatched, err = selectUnmatched(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	var failed []error
	for _, organizationID := range unmatched {
		if err := s.matchNewOf(ctx, organizationID, false); err != nil {
			failed = append(failed, fmt.Errorf("match the new transactions of %s: %w", organizationID, err))
		}
	}
	return errors.Join(failed...)
}

// MatchNewOf matches the transactions that were added to an organization since the last run, without waiting for others.
func (s *Service) MatchNewOf(ctx context.Context, organizationID string) error {
	return s.matchNewOf(ctx, organizationID, true)
}

func (s *Service) matchNewOf(ctx context.Context, organizationID string, atOnce bool) error {
	var number int64
	var first, last time.Time
	due := false
	err := s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		state, err := orgstate.Read(ctx, tx)
		if err != nil {
			return err
		}
		done, err := selectMark(ctx, tx)
		if err != nil || done >= state.TransactionNumber {
			return err
		}
		oldest, err := transaction.CreatedAt(ctx, tx, done+1)
		if err != nil {
			return err
		}
		newest, err := transaction.CreatedAt(ctx, tx, state.TransactionNumber)
		if err != nil {
			return err
		}
		if now := tx.Now(); !atOnce && now.Sub(newest) < quietPeriod && now.Sub(oldest) < waitMax {
			return nil
		}
		number, due = state.TransactionNumber, true
		first, last, err = transaction.DateSpan(ctx, tx, done, number)
		return err
	})
	if err != nil || !due {
		return err
	}
	defer task.KeepHeapSmall()()
	if _, err := s.MatchArrived(ctx, organizationID, first, last); err != nil {
		return err
	}
	return s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error { return updateMark(ctx, tx, number) })
}
