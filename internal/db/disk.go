package db

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// disk knows whether the database can be written.
type disk struct {
	full atomic.Bool // the last write that needed room found none
}

// note remembers a write that failed because the disk is full.
func (k *disk) note(err error) {
	if err != nil && isFull(err) {
		k.full.Store(true)
	}
}

const (
	fullMessage = "the disk of the database is full, so that nothing was changed: free space there, then send the request again"
	// roomMin is how much room the disk of a SQLite database must have, in bytes. A write needs room for the pages it changes.
	roomMin = 1 << 20
)

// checkRoom returns an Unavailable fault if the disk is full. After a write has failed for that reason, another one has to succeed
// first.
func (d *DB) checkRoom(ctx context.Context) error {
	if d.engine == SQLite {
		if free, known := freeBytes(d.config.Dir); known && free < roomMin {
			return fault.UnavailableBecause(errors.New("db: the disk has no room"), "%s", fullMessage)
		}
	}
	if !d.disk.full.Load() {
		return nil
	}
	err := d.WriteAcross(ctx, "a row is written to see whether there is room again", func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, "UPDATE goose_db_version SET version_id = version_id WHERE version_id = 1")
		return err
	})
	if err == nil {
		d.disk.full.Store(false)
	}
	return err
}
