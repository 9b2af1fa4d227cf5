package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
)

// Allowance is how often something may happen within a time, such as mail to an address. The time begins when it happens first.
type Allowance struct {
	Subject string // what is counted; it is stored as a hash
	Most    int64
	Within  time.Duration // no longer than failures are kept, because it is counted in the same table
}

// Use counts one more, and returns how long to wait if that is too many. Nobody else counts the same until the transaction ends, and what
// was counted is taken back if it fails. It is a building block.
func (a Allowance) Use(ctx context.Context, tx *db.Tx) (wait time.Duration, err error) {
	hash, now := token.Hash("allowance\n"+a.Subject), tx.Now()
	used, err := lockAllowance(ctx, tx, hash, now)
	if err != nil {
		return 0, err
	}
	if since := now.Sub(used.Since); since < 0 || since >= a.Within {
		used = allowanceRow{Since: now}
	}
	if used.Count >= a.Most {
		return used.Since.Add(a.Within).Sub(now), nil
	}
	used.Count++
	return 0, updateAllowance(ctx, tx, hash, used)
}
