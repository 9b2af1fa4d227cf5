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

	readOnly bool
	changed  bool // an audited table was written
	recorded bool // and the audit has it
	failed   error

	locals map[any]any
	before []func(context.Context) error
	after  []func()
}

// Organization is the organization the transaction is bound to.
func (tx *Tx) Organization() string { return tx.org }

// Now is the moment of the transaction: every row it writes carries the same one.
func (tx *Tx) Now() time.Time { return tx.now }

// NewID makes an identifier.
func (tx *Tx) NewID(p id.Prefix) string { return tx.db.ids.New(p) }

// DB is the database the transaction runs on.
func (tx *Tx) DB() *DB { return tx.db }

// Local keeps a value for as long as the transaction lasts, made at its first use.
func (tx *Tx) Local(key any, first func() any) any {
	v, ok := tx.locals[key]
	if !ok {
		v = first()
		if tx.locals == nil {
			tx.locals = map[any]any{}
		}
		tx.locals[key] = v
	}
	return v
}

// Recorded is called by the audit when it has taken this transaction's changes; a change without it does not commit.
func (tx *Tx) Recorded() { tx.recorded = true }

// BeforeCommit runs fn as the last thing inside the transaction, so that a hot row is locked for as short a time as can be.
func (tx *Tx) BeforeCommit(fn func(context.Context) error) { tx.before = append(tx.before, fn) }

// AfterCommit runs fn once the transaction is known to have committed, and never otherwise.
func (tx *Tx) AfterCommit(fn func()) { tx.after = append(tx.after, fn) }

// SQL is the transaction itself, for the job queue's own inserts and nothing else.
func (tx *Tx) SQL() *sql.Tx { return tx.sql }

// Exec runs one statement and tells how many rows it touched.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	st, values, err := tx.statement(query, args)
	if err != nil {
		return 0, err
	}
	if tx.readOnly {
		return 0, errors.New("db: a read transaction cannot write")
	}
	var res sql.Result
	if stmt := tx.db.preparedFor(tx.db.write, st.sql); stmt != nil {
		res, err = tx.sql.StmtContext(ctx, stmt).ExecContext(ctx, values...)
	} else {
		res, err = tx.sql.ExecContext(ctx, st.sql, values...)
	}
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	tx.changed = tx.changed || st.changes && n > 0
	return n, err
}

func (tx *Tx) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	st, values, err := tx.statement(query, args)
	if err != nil {
		return nil, err
	}
	if st.changes { // RETURNING
		tx.changed = true
	}
	pool := tx.db.write
	if tx.readOnly {
		pool = tx.db.read
	}
	stmt := tx.db.preparedFor(pool, st.sql)
	switch {
	case stmt != nil && tx.sql != nil:
		return tx.sql.StmtContext(ctx, stmt).QueryContext(ctx, values...)
	case stmt != nil:
		return stmt.QueryContext(ctx, values...)
	case tx.sql != nil:
		return tx.sql.QueryContext(ctx, st.sql, values...)
	}
	return pool.QueryContext(ctx, st.sql, values...)
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
