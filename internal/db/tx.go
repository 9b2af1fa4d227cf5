package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/base/id"
)

// Tx is a transaction bound to one organization, or, when a reason was given, to none.
type Tx struct {
	db  *DB
	org string // empty in a transaction across organizations
	now time.Time
	sql *sql.Tx // nil for a single read outside a transaction

	conn *sql.Conn // of a PostgreSQL transaction that writes

	readOnly bool
	together bool // it shares the database transaction and may not write by itself
	ahead    bool // which has not begun
	try      int  // how often the database has been asked, this time included
	changed  bool // an audited table was written
	recorded bool // and the audit has it
	failed   error

	group *group
	undo  []func()
	after []func()
}

// Organization is the organization the transaction is bound to.
func (tx *Tx) Organization() string { return tx.org }

// Now is the moment of the transaction: every row it writes carries the same one.
func (tx *Tx) Now() time.Time { return tx.now }

// NewID makes an identifier.
func (tx *Tx) NewID(p id.Prefix) string { return tx.db.ids.New(p) }

// ReadOnly tells that the transaction cannot write.
func (tx *Tx) ReadOnly() bool { return tx.readOnly }

// DB is the database the transaction runs on.
func (tx *Tx) DB() *DB { return tx.db }

// Together tells that the write shares its transaction with others and puts off what it writes.
func (tx *Tx) Together() bool { return tx.together }

// Try is 1 at first and more when the database rolled the transaction back and asks to see it again.
func (tx *Tx) Try() int { return tx.try }

// Recorded is called by the audit when it has taken this write's changes; a change without it does not commit.
func (tx *Tx) Recorded() { tx.recorded = true }

// AfterCommit runs fn once the transaction is known to have committed, and never otherwise.
func (tx *Tx) AfterCommit(fn func()) { tx.after = append(tx.after, fn) }

// SQL is the transaction itself, for the job queue's own inserts and nothing else.
func (tx *Tx) SQL() *sql.Tx { return tx.sql }

// Exec runs one statement and tells how many rows it touched. What runs at the end (AtEnd) is told nothing: it is sent later, together with
// what follows.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	st, values, err := tx.writing(query, args)
	if err != nil {
		return 0, err
	}
	if tx.ending() {
		tx.group.queue = append(tx.group.queue, queued{st.sql, values})
		return 0, nil
	}
	if err := tx.group.send(ctx); err != nil {
		return 0, err
	}
	n, err := tx.exec(ctx, st.sql, values)
	tx.changed = tx.changed || st.changes && n > 0
	return n, err
}

// putMax bounds how many statements wait to be sent together.
const putMax = 1000

// Put runs one statement that nobody waits for: PostgreSQL gets it in one message with others, when something is
// asked or the transaction ends. Whatever is asked finds it done.
func (tx *Tx) Put(ctx context.Context, query string, args ...any) error {
	st, values, err := tx.writing(query, args)
	if err != nil {
		return err
	}
	tx.changed = tx.changed || st.changes
	if !tx.ending() && tx.group.end.conn == nil {
		_, err := tx.exec(ctx, st.sql, values)
		return err
	}
	tx.group.queue = append(tx.group.queue, queued{st.sql, values})
	if !tx.ending() && len(tx.group.queue) >= putMax {
		return tx.group.send(ctx)
	}
	return nil
}

// writing is a statement of a transaction that may write.
func (tx *Tx) writing(query string, args []any) (*statement, []any, error) {
	st, values, err := tx.statement(query, args)
	switch {
	case err != nil:
		return nil, nil, err
	case tx.readOnly:
		return nil, nil, errors.New("db: a read transaction cannot write")
	case tx.together:
		return nil, nil, errors.New("db: a write that is taken together puts off what it writes")
	}
	return st, values, nil
}

func (tx *Tx) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	st, values, err := tx.statement(query, args)
	if err != nil {
		return nil, err
	}
	if st.writes && (tx.readOnly || tx.together) {
		return nil, errors.New("db: a statement that writes, in a transaction that may not")
	}
	if st.changes { // RETURNING
		tx.changed = true
	}
	if tx.group.ahead() {
		tx.failed = errAhead // also if the body overlooks it
		return nil, errAhead
	}
	if err := tx.group.send(ctx); err != nil { // it may ask for what was put off
		return nil, err
	}
	return tx.queryOn(ctx, st.sql, values)
}

// statement refuses, for a handle bound to an organization, what is not tied to it. This is the one gate between organizations.
func (tx *Tx) statement(query string, args []any) (*statement, []any, error) {
	st := tx.db.statements.get(query)
	if tx.org != "" && st.unbound != nil {
		return nil, nil, st.unbound
	}
	values, err := st.arguments(tx.db.engine, tx.org, args)
	return st, values, err
}
