package db

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// A PostgreSQL transaction holds its connection itself, so that what is put off to its end can be sent in one message: each statement would cost
// a round trip, and an organization's writes wait for each other's.

// begin takes a connection and begins a transaction on it. What is left open ends with done.
func (d *DB) begin(ctx context.Context) (stx *sql.Tx, conn *sql.Conn, done func(), err error) {
	if conn, err = d.write.Conn(ctx); err != nil {
		return nil, nil, nil, err
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

// send does what was put off in one round trip.
func (tx *Tx) send(ctx context.Context) error {
	b := tx.batch
	if b == nil || b.Len() == 0 {
		return nil
	}
	tx.batch = &pgx.Batch{}
	return tx.conn.Raw(func(driver any) error {
		results := driver.(*stdlib.Conn).Conn().SendBatch(ctx, b)
		for range b.Len() {
			if _, err := results.Exec(); err != nil {
				_ = results.Close() // says the same again
				return err
			}
		}
		return results.Close()
	})
}
