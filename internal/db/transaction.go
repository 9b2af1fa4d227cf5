package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/clock"
)

// transaction is one database transaction: an ordinary write has one to itself, the members of a group share one.
type transaction struct {
	db   *DB
	sql  *sql.Tx   // nil in ReadOne, which has none, and in a group on PostgreSQL, which begins and commits on its connection
	conn *sql.Conn // the connection, on PostgreSQL, in a transaction that writes
	main *Tx       // the handle that BeforeCommit functions get; in an ordinary write the body's own

	state        map[any]any // values of Group.State
	beforeCommit []Func

	queue   []queued
	guard   *queued // the statement of Group.Guard; it is sent before all that is queued
	confirm []Func  // functions of Group.Assume
	begun   bool    // on a connection of its own: BEGIN was sent
	broken  error   // the error that ended the transaction: PostgreSQL runs nothing after a statement that failed
}

// queued is a statement that waits to be sent with others.
type queued struct {
	text   string
	values []any
	guard  bool // if it fails, something that was assumed is wrong
}

// The statements that begin and end a transaction on a connection of its own.
var (
	begin  = queued{text: "BEGIN ISOLATION LEVEL READ COMMITTED"}
	commit = queued{text: "COMMIT"}
)

// newTransaction returns a transaction of an organization with its main handle.
func (d *DB) newTransaction(org string, stx *sql.Tx, conn *sql.Conn) *transaction {
	t := &transaction{db: d, sql: stx, conn: conn}
	t.main = t.newTx(org)
	return t
}

func (t *transaction) newTx(org string) *Tx {
	return &Tx{db: t.db, org: org, now: clock.Stamp(t.db.clock.Now()), trans: t, attempt: 1}
}

// note remembers an error that the transaction cannot survive, and returns the error.
func (t *transaction) note(err error) error {
	if err != nil && t.broken == nil && (t.sql != nil || t.conn != nil) && (t.db.engine == Postgres || isLost(err)) {
		t.broken = err
	}
	return err
}

// exec runs a statement, after those that are queued, and returns the number of rows it changed. On PostgreSQL they go
// out in one message.
func (t *transaction) exec(ctx context.Context, q queued) (int64, error) {
	if len(t.queue) == 0 || t.conn == nil {
		n, err := t.execOne(ctx, q)
		return n, t.note(err)
	}
	t.queue = append(t.queue, q)
	return t.sendQueue(ctx)
}

// send sends the queued statements.
func (t *transaction) send(ctx context.Context) error {
	if len(t.queue) == 0 {
		return nil
	}
	_, err := t.sendQueue(ctx)
	return err
}

// sendQueue sends the queued statements in one message and returns the number of rows the last one changed.
func (t *transaction) sendQueue(ctx context.Context) (int64, error) {
	queue := t.queue
	t.queue = nil
	if t.sql == nil && !t.begun {
		queue, t.begun = slices.Insert(queue, 0, begin, bindQueued(t.main.org)), true
	}
	n, err := t.db.sendBatch(ctx, t.main.org, t.conn, queue)
	return n, t.note(err)
}

// flush runs the BeforeCommit functions and sends what they have queued.
func (t *transaction) flush(ctx context.Context) error {
	if err := t.runBeforeCommit(ctx); err != nil {
		return err
	}
	if err := t.send(ctx); err != nil {
		return err
	}
	return t.survived(t.main)
}

// runBeforeCommit runs the BeforeCommit functions, the last one registered first. A function may register others. It may
// run in the goroutine of a group's leader, where nobody recovers from a panic: that becomes an error.
func (t *transaction) runBeforeCommit(ctx context.Context) (err error) {
	defer recoverAs(&err, "in a BeforeCommit function")
	ctx = context.WithValue(ctx, txKey{}, t.main)
	for len(t.beforeCommit) > 0 {
		last := len(t.beforeCommit) - 1
		fn := t.beforeCommit[last]
		t.beforeCommit = t.beforeCommit[:last]
		if err := fn(ctx, t.main); err != nil {
			return err
		}
	}
	return t.survived(t.main)
}

// survived returns the error that keeps a transaction from being committed although its body has returned nil.
func (t *transaction) survived(tx *Tx) error {
	switch {
	case tx.failed == nil:
	case endsTransaction(tx.failed):
		return tx.failed
	default: // the kind of the error must not become the answer: this is a defect
		return fmt.Errorf("db: the transaction cannot be committed, because a nested write failed and the outer one did not return its error: %v",
			tx.failed)
	}
	if t.broken != nil {
		return fmt.Errorf("db: the transaction cannot be committed, because one of its statements failed: %w", t.broken)
	}
	return nil
}
