package outbox

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// Lag is how far the relay is behind.
type Lag struct {
	Waiting int64         // events that were not handed to the job queue yet
	Oldest  time.Duration // how long the first of them has waited
}

// ReadLag returns how far the relay is behind, over all organizations.
func ReadLag(ctx context.Context, d *db.DB) (l Lag, err error) {
	err = d.ReadAcross(ctx, "the outboxes of all organizations feed one queue", func(ctx context.Context, tx *db.Tx) error {
		r, err := selectLag(ctx, tx)
		l.Waiting = r.Waiting
		if r.Oldest != nil {
			l.Oldest = max(0, tx.Now().Sub(*r.Oldest))
		}
		return err
	})
	return l, err
}
