package idempotency

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// claims are the keys of writes that are taken together. They are put down at the end, with their answers.
type claims struct {
	rows  []row
	byKey map[string]int
}

type claimsKey struct{}

func claimsOf(tx *db.Tx) *claims {
	return tx.Group().State(claimsKey{}, func() any {
		c := &claims{byKey: map[string]int{}}
		tx.Group().BeforeCommit(c.flush)
		return c
	}).(*claims)
}

func (c *claims) add(tx *db.Tx, r row) {
	tx.Group().OnRollback(func() {
		delete(c.byKey, r.KeyHash)
		c.rows = c.rows[:len(c.rows)-1]
	})
	c.byKey[r.KeyHash] = len(c.rows)
	c.rows = append(c.rows, r)
}

// claimTogether looks among the neighbours first. A key is then taken for new, because most are: if one turns out not to be, the group runs
// again and looks each one up.
func (r Request) claimTogether(ctx context.Context, tx *db.Tx) (*Answer, error) {
	c := claimsOf(tx)
	if i, claimed := c.byKey[r.keyHash()]; claimed {
		return r.answered(c.rows[i])
	}
	if tx.Group().Attempt() == 1 {
		return nil, nil
	}
	stored, err := find(ctx, tx, r)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.answered(stored)
}

// flush keeps the answers. A key that was there makes the group run again.
func (c *claims) flush(ctx context.Context, tx *db.Tx) error { return insert(ctx, tx, c.rows) }
