package idempotency

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// claims are the keys and answers of the writes in a group. They are inserted once, before the commit.
type claims struct {
	rows  []row
	byKey map[string]int
}

type claimsKey struct{}

// claimsOf returns the claims of a group.
func claimsOf(tx *db.Tx) *claims {
	return tx.Group().State(claimsKey{}, func() any {
		c := &claims{byKey: map[string]int{}}
		tx.Group().BeforeCommit(c.flush)
		return c
	}).(*claims)
}

// add claims a key together with its answer.
func (c *claims) add(tx *db.Tx, r row) {
	tx.Group().OnRollback(func() {
		delete(c.byKey, r.KeyHash)
		c.rows = c.rows[:len(c.rows)-1]
	})
	c.byKey[r.KeyHash] = len(c.rows)
	c.rows = append(c.rows, r)
}

// claimInGroup looks for the key among the writes of the group. The first attempt then assumes that a key is new,
// because most are. If one is not, inserting it violates the primary key, and the group runs again: that attempt looks
// every key up.
func (r Request) claimInGroup(ctx context.Context, tx *db.Tx) (*Answer, error) {
	c := claimsOf(tx)
	if i, claimed := c.byKey[r.keyHash()]; claimed {
		return r.storedAnswer(c.rows[i])
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
	return r.storedAnswer(stored)
}

// flush inserts the claims.
func (c *claims) flush(ctx context.Context, tx *db.Tx) error { return insert(ctx, tx, c.rows) }
