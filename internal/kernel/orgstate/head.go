// Package head is the one row an organization's changes are put in order by: the end of its audit chain, its
// counters, and the version of what posting looks up. Whoever holds it is alone with the books.
package orgstate

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// Head is the row. What a transaction changes in it is written once, as the last thing before the commit.
type Head struct {
	AuditSequence int64  `db:"audit_sequence"`
	AuditHash     string `db:"audit_hash"`
	EventSequence int64  `db:"event_sequence"`
	EntryNumber   int64  `db:"entry_number"`   // the last journal entry's
	AccountNumber int64  `db:"account_number"` // the last ledger account's
	BooksVersion  int64  `db:"books_version"`

	TransactionNumber int64 `db:"transaction_number"` // the last transaction's

	touched bool
}

// Touched tells that this transaction changes what posting looks up.
func (h *Head) Touched() bool { return h.touched }

type lockKey struct{}

type lock struct {
	head, stored Head
	assumed      bool // what is stored was not read: it is what the writes before are about to leave behind
	due          bool // it will be written at the end
}

// Begin makes the head of a new organization.
func Begin(ctx context.Context, tx *db.Tx) error { return db.Insert(ctx, tx, "heads", Head{}) }

// Lock takes the head for the rest of the database transaction. A number taken from it is given back if the write fails.
func Lock(ctx context.Context, tx *db.Tx) (*Head, error) {
	var err error
	l := tx.Shared(lockKey{}, func() any {
		l := &lock{}
		if before, ok := tx.Before(lockKey{}).(*lock); ok {
			l.head, l.assumed = before.head, true
			l.head.touched = false
			tx.Check(l.check)
		} else {
			l.head, err = find(ctx, tx, "{for_update}")
		}
		l.stored = l.head
		return l
	}).(*lock)
	if err != nil {
		tx.Forget(lockKey{})
		return nil, err
	}
	if !l.due { // at first, and again when what was put off before the head was taken changes it after it was written
		l.due = true
		tx.AtEnd(l.write)
	}
	before := l.head
	tx.Undo(func() { l.head = before })
	return &l.head, nil
}

// Read gives the head without taking it.
func Read(ctx context.Context, tx *db.Tx) (Head, error) { return find(ctx, tx, "") }

// Touch takes the head and says that what posting looks up has changed. It comes before the change, so that no post slips in between.
func Touch(ctx context.Context, tx *db.Tx) (*Head, error) {
	h, err := Lock(ctx, tx)
	if err == nil {
		h.BooksVersion++
		h.touched = true
	}
	return h, err
}

// check takes the head after all, and looks whether it is what it was taken for.
func (l *lock) check(ctx context.Context, tx *db.Tx) error {
	found, err := find(ctx, tx, "{for_update}")
	if err == nil && found != l.stored {
		return db.ErrAgain
	}
	l.assumed = false
	return err
}

func (l *lock) write(ctx context.Context, tx *db.Tx) error {
	l.due = false
	if l.head == l.stored {
		return nil
	}
	before := l.stored
	l.stored = l.head
	if l.assumed {
		l.assumed = false
		return updateFrom(ctx, tx, before, l.head)
	}
	return update(ctx, tx, l.head)
}
