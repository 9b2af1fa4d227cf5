package db

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A PostgreSQL transaction that writes holds its connection itself, so that queued statements can be sent in one
// message: each by itself would cost a round trip, for which the other writes of the organization wait as well.

// begin takes a connection from the pool, for which it waits as long as one context lasts, and begins a transaction of an
// organization on it that lasts as long as the other. The caller must call done.
func (d *DB) begin(wait, ctx context.Context, org string) (stx *sql.Tx, conn *sql.Conn, done func(), err error) {
	if conn, err = d.write.Conn(wait); err != nil {
		return nil, nil, nil, fmt.Errorf("wait for a database connection: %w", err)
	}
	if stx, err = conn.BeginTx(bindTo(ctx, org), &sql.TxOptions{Isolation: sql.LevelReadCommitted}); err != nil {
		_ = conn.Close()
		return nil, nil, nil, err
	}
	return stx, conn, func() {
		_ = stx.Rollback() // does nothing after Commit
		_ = conn.Close()   // returns it to the pool
	}, nil
}

// errRolledBack is the error of a COMMIT that PostgreSQL answers with ROLLBACK, because a statement had failed before.
var errRolledBack = errors.New("db: the transaction was rolled back instead of committed")

// sendBatch runs statements in one round trip and returns the number of rows the last one changed. None runs after one
// that fails.
func (d *DB) sendBatch(ctx context.Context, org string, conn *sql.Conn, queue []queued) (rows int64, err error) {
	b := &pgx.Batch{}
	for _, q := range queue {
		b.Queue(q.text, q.values...)
	}
	err = conn.Raw(func(driver any) error {
		results := pgxConn(driver).SendBatch(ctx, b)
		for _, q := range queue {
			began := time.Now()
			tag, err := results.Exec()
			if err == nil && q.text == commit.text && tag.String() != commit.text {
				err = errRolledBack
			}
			if err := d.ran(ctx, org, q.text, began, tag.RowsAffected(), err); err != nil {
				_ = results.Close() // returns the same error again
				return q.failed(err)
			}
			rows = tag.RowsAffected()
		}
		return results.Close()
	})
	return rows, err
}

// failed returns the error of a statement. The failure of a guard asks for the transaction to run again.
func (q queued) failed(err error) error {
	if q.guard && sqlState(err) != "" && !isLost(err) {
		return fmt.Errorf("%w: the assumed state is out of date: %w", ErrRetry, err)
	}
	return err
}

// inTransaction runs fn in the database transaction of a group and commits it. On PostgreSQL the statements that fn has
// queued and COMMIT go out in one message, which saves each group a round trip. It waits for a connection, or for SQLite's
// writer, up to groupTimeout, and gives the transaction as long again.
func (d *DB) inTransaction(org string, fn func(context.Context, *transaction) error) error {
	wait, cancelWait := context.WithTimeout(context.Background(), groupTimeout)
	defer cancelWait()
	if d.engine == SQLite {
		return d.inWriter(wait, false, func(stx *sql.Tx) error {
			ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
			defer cancel()
			return fn(ctx, d.newTransaction(org, stx, nil))
		})
	}
	conn, err := d.write.Conn(wait)
	if err != nil {
		return fmt.Errorf("wait for a database connection: %w", err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	t := d.newTransaction(org, nil, conn)
	committed := false
	defer func() {
		if committed || !t.begun {
			return
		}
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err != nil {
			// The connection is closed, so that nobody gets it with a transaction left open.
			_ = conn.Raw(func(any) error { return sqldriver.ErrBadConn })
		}
	}()
	if err := fn(ctx, t); err != nil {
		return err
	}
	if t.guard != nil {
		t.queue = slices.Insert(t.queue, 0, *t.guard)
	}
	if len(t.queue) == 0 && !t.begun {
		return nil
	}
	t.queue = append(t.queue, commit)
	if _, err := t.sendQueue(ctx); err != nil {
		return commitError(err)
	}
	committed = true
	return nil
}
