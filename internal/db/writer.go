package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/bursarhq/bursar/internal/db/groupcommit"
)

// SQLite has one writer at a time, and syncing the file is what a commit costs. Writes that wait for the writer
// therefore run in one transaction, each in a savepoint, and share the sync: see package groupcommit.

const (
	// writesPerCommit bounds how many writes share a commit.
	writesPerCommit = 256
	// writesMax bounds how many writes wait or run; the next one blocks its caller.
	writesMax = 4096
)

// writerKey is the key of the queue: the database file has one writer for all organizations.
const writerKey = "sqlite"

// errGone says that SQLite has rolled the shared transaction back, as it does when the disk is full: nothing of the
// writes in it has happened.
var errGone = errors.New("db: the shared transaction was rolled back")

// errFirstFailed ends a transaction whose first write has failed, and which holds nothing else.
var errFirstFailed = errors.New("db: the only write of the transaction has failed")

func (d *DB) newWriter() *groupcommit.Queue[*sql.Tx] {
	return groupcommit.New(groupcommit.Options[*sql.Tx]{
		Limit: writesPerCommit, Capacity: writesMax, Attempts: 1, Commit: d.commitWrites,
	})
}

// writeSQLite runs a write in the transaction of the writer, and alone if it is to share that with nobody.
func (d *DB) writeSQLite(ctx context.Context, org string, alone bool, fn Func) error {
	var tx *Tx
	began := d.stats.enqueued()
	defer began() // of a write that gives up
	err := d.inWriter(ctx, alone, func(stx *sql.Tx) error {
		began()
		tx = d.newTransaction(org, stx, nil).main
		// Statements do not end with the caller's context: interrupting one would roll back the neighbours.
		return tx.run(context.WithoutCancel(ctx), fn)
	})
	if err == nil {
		tx.committed()
	}
	return err
}

// inWriter runs fn in the transaction of the writer and waits for the commit.
func (d *DB) inWriter(ctx context.Context, alone bool, fn func(*sql.Tx) error) error {
	var err error
	if isBackground(ctx) {
		err = d.writer.SubmitLater(ctx, writerKey, fn)
	} else {
		err = d.writer.Submit(ctx, writerKey, alone, fn)
	}
	if errors.Is(err, groupcommit.ErrClosed) {
		return errNotReady()
	}
	return err
}

// commitWrites runs the writes that wait in one transaction. The first needs no savepoint, which would copy every page
// it changes: if it fails, the transaction is rolled back.
func (d *DB) commitWrites(b *groupcommit.Batch[*sql.Tx]) error {
	defer d.prepareWanted(context.Background(), d.write) // when the connection is free
	stx, err := d.write.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	exec := func(statement string) error {
		if _, err := stx.ExecContext(context.Background(), statement); err != nil {
			return fmt.Errorf("%w: %w", errGone, nameStatement(statement, err))
		}
		return nil
	}
	begin := func() (*sql.Tx, error) {
		if b.Size() == 0 {
			return stx, nil
		}
		return stx, exec("SAVEPOINT member")
	}
	end := func(_ *sql.Tx, bodyErr error) error {
		if b.Size() == 0 {
			if bodyErr != nil {
				return errFirstFailed
			}
			return nil
		}
		if bodyErr != nil {
			if err := exec("ROLLBACK TO SAVEPOINT member"); err != nil {
				return err
			}
		}
		return exec("RELEASE SAVEPOINT member")
	}
	if err := b.Run(begin, end); err != nil || b.Size() == 0 {
		_ = stx.Rollback()
		return err
	}
	if err := d.commit("", stx); err != nil {
		_ = stx.Rollback()
		return err
	}
	d.stats.committed(groupOfSQLite, b.Size())
	return nil
}
