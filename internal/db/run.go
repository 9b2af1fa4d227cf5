package db

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"
)

// StatementError is an error of the database with the statement that caused it. Values are arguments and therefore
// never part of the text.
type StatementError struct {
	Statement string
	Err       error
}

// Error returns the database's message and the statement.
func (e *StatementError) Error() string { return e.Err.Error() + " [statement: " + e.Statement + "]" }

// Unwrap returns the database's error.
func (e *StatementError) Unwrap() error { return e.Err }

// The length of a statement in an error or in the log. The beginning names what it does, and the end of a long SELECT its
// tables and conditions.
const (
	statementHead = 80
	statementTail = 120
)

// shortStatement returns a statement on one line, with the middle left out where it is too long.
func shortStatement(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= statementHead+statementTail {
		return text
	}
	head, tail := statementHead, len(text)-statementTail
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + " … " + text[tail:]
}

// nameStatement adds the statement to an error, unless the error names one already: a statement that was queued
// earlier may fail when another one is sent.
func nameStatement(text string, err error) error {
	if err == nil {
		return nil
	}
	var named *StatementError
	if errors.As(err, &named) {
		return err
	}
	return &StatementError{shortStatement(text), err}
}

// rowsUnknown is the number of rows of a statement that does not report one.
const rowsUnknown = -1

// ran is called after each statement. It names the statement in the error, logs a statement that was slow, and remembers that the disk
// is full.
func (d *DB) ran(ctx context.Context, org, text string, began time.Time, rows int64, err error) error {
	if took := time.Since(began); d.slow > 0 && took >= d.slow {
		d.stats.slow.Inc()
		attrs := []slog.Attr{slog.String("statement", shortStatement(text)), slog.Duration("took", took)}
		if rows != rowsUnknown {
			attrs = append(attrs, slog.Int64("rows", rows))
		}
		if org != "" {
			attrs = append(attrs, slog.String("organization_id", org))
		}
		if err != nil {
			attrs = append(attrs, slog.Any("error", err))
		}
		d.log.LogAttrs(ctx, slog.LevelWarn, "slow statement", attrs...)
	}
	d.disk.note(err)
	return nameStatement(text, err)
}

// execOne runs one statement at once and returns the number of rows it changed.
func (t *transaction) execOne(ctx context.Context, q queued) (rows int64, err error) {
	began := time.Now()
	res, err := t.execOn(ctx, q.text, q.values)
	if err == nil {
		rows, err = res.RowsAffected()
	}
	return rows, t.db.ran(ctx, t.main.org, q.text, began, rows, err)
}

func (t *transaction) execOn(ctx context.Context, text string, values []any) (sql.Result, error) {
	if t.sql == nil {
		if err := t.ensureBegun(ctx); err != nil {
			return nil, err
		}
		return t.conn.ExecContext(ctx, text, values...)
	}
	stmt, release := t.db.acquirePrepared(t.db.write, text)
	if stmt == nil {
		return t.sql.ExecContext(ctx, text, values...)
	}
	defer release()
	return t.sql.StmtContext(ctx, stmt).ExecContext(ctx, values...)
}

// queryOn runs a statement that returns rows. The error names the statement; All logs a slow one when it has read the rows.
func (tx *Tx) queryOn(ctx context.Context, text string, values []any) (*sql.Rows, error) {
	pool := tx.db.write
	if tx.readOnly {
		pool = tx.db.read
	}
	rows, err := tx.trans.openRows(ctx, pool, text, values)
	return rows, nameStatement(text, err)
}

// openRows runs a query on the transaction, or on the pool where there is none.
func (t *transaction) openRows(ctx context.Context, pool *sql.DB, text string, values []any) (*sql.Rows, error) {
	stmt, release := t.db.acquirePrepared(pool, text)
	if stmt != nil {
		defer release()
	}
	switch {
	case stmt != nil && t.sql != nil:
		return t.sql.StmtContext(ctx, stmt).QueryContext(ctx, values...)
	case stmt != nil:
		return stmt.QueryContext(ctx, values...)
	case t.sql != nil:
		return t.sql.QueryContext(ctx, text, values...)
	case t.conn != nil:
		if err := t.ensureBegun(ctx); err != nil {
			return nil, err
		}
		return t.conn.QueryContext(ctx, text, values...)
	}
	return pool.QueryContext(bindTo(ctx, t.main.org), text, values...)
}

// ensureBegun begins a transaction on a connection of its own, unless that has been done. It is put off until something
// is read: a group that reads nothing begins, writes and commits in one message.
func (t *transaction) ensureBegun(ctx context.Context) error {
	if t.begun {
		return nil
	}
	t.begun = true
	began := time.Now()
	_, err := t.conn.ExecContext(ctx, begin.text+"; "+setOrganization(t.main.org)) // without arguments, one message
	return t.db.ran(ctx, t.main.org, begin.text, began, rowsUnknown, err)
}

// commit ends a transaction. Its error names the statement as any other does.
func (d *DB) commit(org string, stx *sql.Tx) error {
	began := time.Now()
	err := stx.Commit()
	return d.ran(context.Background(), org, "COMMIT", began, rowsUnknown, err)
}
