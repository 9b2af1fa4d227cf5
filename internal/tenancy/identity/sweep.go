package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// Sweep is the job that deletes what nobody needs any more: sessions and links that have ended, and failures that count no longer.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "identity_sweep" }

// sweepBatch is how many rows one transaction deletes.
const sweepBatch = 1000

// linksKept is how long links are kept after they have ended.
const linksKept = 30 * 24 * time.Hour

// DeleteExpired deletes sessions and links that have ended, challenges that are refused anyway, and failures that count no longer.
func (s *Service) DeleteExpired(ctx context.Context) error {
	now := s.now()
	for _, old := range []struct {
		table, key, column string
		before             time.Time
	}{
		{"sessions", "session_id", "expires_at", now},
		{"mailed_links", "token_hash", "expires_at", now.Add(-linksKept)},
		{"used_challenges", "challenge_hash", "expires_at", now},
		{"sign_in_failures", "subject", "failed_at", now.Add(-failuresKept)},
	} {
		for n := int64(sweepBatch); n == sweepBatch; {
			err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = deleteOld(ctx, tx, old.table, old.key, old.column, old.before, sweepBatch)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
