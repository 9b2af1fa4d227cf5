package db

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// A PostgreSQL transaction holds its connection itself, so that what is put off to its end can be sent in one
// message: each statement would cost a round trip, and an organization's writes wait for each other's.

// begin waits for a connection as long as one context lasts, and begins a transaction on it that lasts as long as
// another one. What is left open ends with done.
func (d *DB) begin(wait, ctx context.Context) (stx *sql.Tx, conn *sql.Conn, done func(), err error) {
	if conn, err = d.write.Conn(wait); err != nil {
		return nil, nil, nil, fmt.Errorf("wait for a database connection: %w", err)
	}
	if stx, err = conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted}); err != nil {
		_ = conn.Close()
		return nil, nil, nil, err
	}
	return stx, conn, func() {
		_ = stx.Rollback() // a no-op after Commit; what a panic left open ends here
		_ = conn.Close()   // gives it back
	}, nil
}

// sendBatch runs statements in one round trip. None runs after one that fails.
func (d *DB) sendBatch(ctx context.Context, org string, conn *sql.Conn, queue []queued) error {
	if len(queue) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	for _, q := range queue {
		b.Queue(q.text, q.values...)
	}
	return conn.Raw(func(driver any) error {
		results := driver.(*stdlib.Conn).Conn().SendBatch(ctx, b)
		for _, q := range queue {
			began := time.Now()
			done, err := results.Exec()
			if err := d.ran(ctx, org, q.text, began, done.RowsAffected(), err); err != nil {
				_ = results.Close() // says the same again
				return err
			}
		}
		return results.Close()
	})
}

// sendWhole is the transaction of a group that has settled all it writes: on PostgreSQL one round trip.
func (d *DB) sendWhole(ctx context.Context, g *group) error {
	if len(g.queue) == 0 {
		return nil
	}
	if d.engine == SQLite {
		return d.inTransaction(ctx, g, func() error { return g.send(ctx) })
	}
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	whole := slices.Concat([]queued{{text: "BEGIN ISOLATION LEVEL READ COMMITTED"}}, g.queue, []queued{{text: "COMMIT"}})
	if err = d.sendBatch(ctx, g.end.org, conn, whole); err == nil {
		return nil
	}
	if _, left := conn.ExecContext(ctx, "ROLLBACK"); left != nil { // a connection with a transaction left open must not go back
		_ = conn.Raw(func(any) error { return sqldriver.ErrBadConn })
	}
	return commitError(err)
}

// inTransaction gives a group its transaction.
func (d *DB) inTransaction(ctx context.Context, g *group, fn func() error) error {
	if d.engine == SQLite {
		return d.takeTurn(ctx, g.end.org, ordinary, func(_ context.Context, tx *Tx) error {
			g.bind(tx.sql, nil)
			return fn()
		})
	}
	stx, conn, done, err := d.begin(ctx, ctx)
	if err != nil {
		return err
	}
	defer done()
	g.bind(stx, conn)
	if err := fn(); err != nil {
		return err
	}
	if err := d.commit(g.end.org, stx); err != nil {
		return commitError(err)
	}
	return nil
}
