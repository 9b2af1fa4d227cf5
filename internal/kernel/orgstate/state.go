// Package orgstate holds the one row per organization that serializes its writes: the end of the audit chain, the
// counters, and the version of the books (chart, legal entities, periods). Whoever has locked the row is the only
// writer of that organization until the database transaction ends.
package orgstate

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// State is the row. Changes made to a locked State are written once, just before the commit.
type State struct {
	AuditSequence int64  `db:"audit_sequence"` // the last audit record
	AuditHash     string `db:"audit_hash"`     // its hash
	EventSequence int64  `db:"event_sequence"` // the last event in the outbox
	EntryNumber   int64  `db:"entry_number"`   // the last journal entry
	AccountNumber int64  `db:"account_number"` // the last ledger account
	BooksVersion  int64  `db:"books_version"`  // changes whenever the chart, a legal entity or a period does

	TransactionNumber int64 `db:"transaction_number"` // the last transaction

	touched bool
}

// Touched reports whether this database transaction has changed the books with Touch.
func (s *State) Touched() bool { return s.touched }

type lockKey struct{}

// lock is the State of a database transaction that has locked it, or assumes that nobody else changes it.
type lock struct {
	state     State // as changed so far
	stored    State // as the row says, or is assumed to say
	assumed   bool  // the row was not read: it is what this node has committed last
	scheduled bool  // write will run before the commit
}

// Begin inserts the state of a new organization.
func Begin(ctx context.Context, tx *db.Tx) error {
	return db.Insert(ctx, tx, "organization_state", State{})
}

// Lock locks the row for the rest of the database transaction and returns its State. Every call in a transaction
// returns the same State, so that numbers are assigned without gaps; if the write that assigned them fails, they are
// assigned again. It returns a NotFound fault when the organization does not exist.
//
// A grouped write does not read the row if this node has committed it last: it assumes that the row is unchanged, and
// updates it at its commit only if that is so. Otherwise the group runs again and locks the row.
func Lock(ctx context.Context, tx *db.Tx) (*State, error) {
	var err error
	l := tx.Group().State(lockKey{}, func() any {
		l := &lock{}
		switch {
		case tx.Group().IsMember() && tx.Group().Attempt() == 1:
			l.state, l.assumed = rememberedOf(tx).get(tx)
		case tx.Group().IsMember():
			rememberedOf(tx).distrust(tx) // the group was rolled back, perhaps because of what it assumed
		}
		if l.assumed {
			tx.Group().Assume(l.confirm)
		} else {
			l.state, err = find(ctx, tx, "{for_update}")
		}
		l.stored = l.state
		return l
	}).(*lock)
	if err != nil {
		tx.Group().Discard(lockKey{})
		return nil, err
	}
	before := *l
	tx.Group().OnRollback(func() { l.state, l.scheduled = before.state, before.scheduled })
	if !l.scheduled { // also when a function that runs before the commit locks the row after it was written
		l.scheduled = true
		tx.Group().BeforeCommit(l.write)
	}
	return &l.state, nil
}

// Read returns the State without locking it.
func Read(ctx context.Context, tx *db.Tx) (State, error) { return find(ctx, tx, "") }

// Touch locks the row and increments the version of the books. Call it before changing the chart, a legal entity or a
// period, so that no entry is posted in between.
func Touch(ctx context.Context, tx *db.Tx) (*State, error) {
	s, err := Lock(ctx, tx)
	if err == nil {
		s.BooksVersion++
		s.touched = true
	}
	return s, err
}

// Confirm makes sure that the State which Lock returned is what the row says. A write that keeps something beyond its
// own transaction calls it first, because a grouped write may have assumed the State.
func Confirm(ctx context.Context, tx *db.Tx) error {
	if _, err := Lock(ctx, tx); err != nil {
		return err
	}
	return tx.Group().State(lockKey{}, nil).(*lock).confirm(ctx, tx)
}

// confirm locks the row and compares it with what was assumed.
func (l *lock) confirm(ctx context.Context, tx *db.Tx) error {
	if !l.assumed {
		return nil
	}
	found, err := find(ctx, tx, "{for_update}")
	if err != nil {
		return err
	}
	if found != l.stored {
		rememberedOf(tx).distrust(tx)
		return db.ErrRetry
	}
	l.assumed = false
	return nil
}

// write updates the row if something changed. If nothing did, the answers may still depend on what was assumed.
func (l *lock) write(ctx context.Context, tx *db.Tx) error {
	l.scheduled = false
	if l.state == l.stored {
		return l.confirm(ctx, tx)
	}
	before, assumed := l.stored, l.assumed
	l.stored, l.assumed = l.state, false
	committed := l.state
	committed.touched = false
	tx.AfterCommit(func() { rememberedOf(tx).put(tx, committed) })
	if assumed {
		return updateFrom(ctx, tx, before, l.state)
	}
	return update(ctx, tx, l.state)
}
