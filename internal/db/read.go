package db

import (
	"context"
	"database/sql"
	"errors"
)

// Read runs fn on one snapshot of an organization's data. Within another transaction of the organization it is part of it.
func (d *DB) Read(ctx context.Context, org string, fn Func) error {
	if org == "" {
		return errors.New("db: a read needs an organization; ReadAcross needs a reason")
	}
	return d.readBound(ctx, org, fn)
}

// ReadAcross reads the data of all organizations. The reason documents the call; it is not used.
func (d *DB) ReadAcross(ctx context.Context, reason string, fn Func) error {
	if reason == "" {
		return errors.New("db: crossing organizations needs a reason")
	}
	return d.readBound(ctx, "", fn)
}

func (d *DB) readBound(ctx context.Context, org string, fn Func) error {
	if outer, ok := ctx.Value(txKey{}).(*Tx); ok {
		return outer.nest(ctx, org, fn)
	}
	if !d.ready.Load() {
		return errNotReady()
	}
	defer d.prepareWanted(ctx, d.read) // runs last, when the connection is back in the pool
	stx, err := d.read.BeginTx(bindTo(ctx, org), &sql.TxOptions{Isolation: readIsolation[d.engine], ReadOnly: true})
	if err != nil {
		return translate(ctx, err)
	}
	tx := d.newTransaction(org, stx, nil).main
	tx.readOnly = true
	defer func() { _ = stx.Rollback() }()
	return translate(ctx, fn(context.WithValue(ctx, txKey{}, tx), tx))
}

// readIsolation is the isolation level at which each engine reads one snapshot. On SQLite every transaction does.
var readIsolation = map[Engine]sql.IsolationLevel{SQLite: sql.LevelDefault, Postgres: sql.LevelRepeatableRead}

// ReadOne runs fn without a transaction, which saves two round trips. It is for a use case that runs one statement, or
// does not care what others commit between two. Within another transaction of the organization it is part of it.
func (d *DB) ReadOne(ctx context.Context, org string, fn Func) error {
	if outer, ok := ctx.Value(txKey{}).(*Tx); ok {
		return outer.nest(ctx, org, fn)
	}
	if org == "" {
		return errors.New("db: a read needs an organization; ReadAcross needs a reason")
	}
	if !d.ready.Load() {
		return errNotReady()
	}
	defer d.prepareWanted(ctx, d.read)
	tx := d.newTransaction(org, nil, nil).main
	tx.readOnly = true
	return translate(ctx, fn(ctx, tx))
}
