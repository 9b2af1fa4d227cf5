package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/base/id"
)

// Tx is the handle of a body in a database transaction. It is bound to one organization, or to none in WriteAcross and
// ReadAcross.
type Tx struct {
	db    *DB
	org   string // empty across organizations
	now   time.Time
	trans *transaction // what is shared with the other writes of a group

	readOnly bool
	member   bool  // the body of a grouped write: it may not write by itself
	attempt  int   // 1, and more when the transaction runs again
	changed  bool  // an audited table was written
	recorded bool  // the audit log has the change
	failed   error // of a nested write; the transaction cannot be committed

	onRollback []func() // of a member of a group
	after      []func()
}

// Organization returns the organization the transaction is bound to.
func (tx *Tx) Organization() string { return tx.org }

// Now returns the time of the transaction, so that all rows it writes carry the same one.
func (tx *Tx) Now() time.Time { return tx.now }

// NewID returns a new identifier.
func (tx *Tx) NewID(p id.Prefix) string { return tx.db.ids.New(p) }

// ReadOnly reports whether the transaction cannot write.
func (tx *Tx) ReadOnly() bool { return tx.readOnly }

// DB returns the database the transaction runs on.
func (tx *Tx) DB() *DB { return tx.db }

// Group returns the part of the API that concerns writes that share a database transaction. Only code that such writes
// run through needs it: the audit log, the organization state, idempotency keys and the journal.
func (tx *Tx) Group() Group { return Group{tx} }

// Recorded is called by the audit log when it has recorded the changes of this write. A change to an audited table is
// not committed without it.
func (tx *Tx) Recorded() { tx.recorded = true }

// AfterCommit runs fn after the transaction was committed, and not if it is rolled back or its outcome is unknown.
func (tx *Tx) AfterCommit(fn func()) { tx.after = append(tx.after, fn) }

// SeesOneSnapshot reports whether all statements of the transaction see the same committed data. Those of ReadOne and, on
// PostgreSQL, those of a write see what others commit in between.
func (tx *Tx) SeesOneSnapshot() bool {
	return tx.trans.sql != nil && (tx.readOnly || tx.db.engine == SQLite)
}

// SQL returns the underlying transaction for the job queue, which inserts its rows itself; nothing else may use it. It is
// nil in ReadOne, which has no transaction, and on PostgreSQL in a GroupWrite, which begins and commits on a connection.
func (tx *Tx) SQL() *sql.Tx { return tx.trans.sql }

// Exec runs a statement and returns the number of rows it changed. Queued statements run before it.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	st, values, err := tx.writing(query, args)
	if err != nil {
		return 0, err
	}
	n, err := tx.trans.exec(ctx, queued{text: st.sql, values: values})
	tx.changed = tx.changed || st.changes && n > 0
	return n, err
}

// queueMax bounds how many statements wait to be sent together.
const queueMax = 1000

// Queue runs a statement whose result nobody needs. PostgreSQL gets it in one message with others: before the next
// Exec or query, which therefore finds it done, or at the end of the transaction. An error it causes is returned
// there. SQLite, which has no round trips, runs it at once.
func (tx *Tx) Queue(ctx context.Context, query string, args ...any) error {
	st, values, err := tx.writing(query, args)
	if err != nil {
		return err
	}
	tx.changed = tx.changed || st.changes
	t := tx.trans
	if t.conn == nil {
		_, err := t.exec(ctx, queued{text: st.sql, values: values})
		return err
	}
	t.queue = append(t.queue, queued{text: st.sql, values: values})
	if len(t.queue) >= queueMax {
		return t.send(ctx)
	}
	return nil
}

// writing compiles a statement that writes, for a transaction that may.
func (tx *Tx) writing(query string, args []any) (*statement, []any, error) {
	st, values, err := tx.statement(query, args)
	switch {
	case err != nil:
		return nil, nil, err
	case tx.readOnly:
		return nil, nil, errors.New("db: a read transaction cannot write; use Write")
	case tx.member:
		return nil, nil, errors.New("db: the body of a grouped write cannot write by itself; use BeforeCommit or Precondition of tx.Group()")
	}
	return st, values, nil
}

// query runs a statement that returns rows. Queued statements run before it.
func (tx *Tx) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	st, values, err := tx.statement(query, args)
	if err != nil {
		return nil, err
	}
	if st.writes { // RETURNING
		if st, values, err = tx.writing(query, args); err != nil {
			return nil, err
		}
		tx.changed = tx.changed || st.changes
	}
	if err := tx.trans.send(ctx); err != nil {
		return nil, err
	}
	rows, err := tx.queryOn(ctx, st.sql, values)
	return rows, tx.trans.note(err)
}

// statement compiles a statement. For a handle bound to an organization it refuses one that is not tied to @org; every
// statement passes here, so that no organization can reach another's rows.
func (tx *Tx) statement(query string, args []any) (*statement, []any, error) {
	st := tx.db.statements.get(query)
	if tx.org != "" && st.unbound != nil {
		return nil, nil, st.unbound
	}
	values, err := st.arguments(tx.db.engine, tx.org, args)
	return st, values, err
}
