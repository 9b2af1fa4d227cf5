package db

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db/groupcommit"
)

// Config says which database to open, and where times, random bytes and log lines come from or go to. The defaults are
// the clock and the random source of the system, and no log.
type Config struct {
	URL           string // a postgres:// address; empty means SQLite
	Dir           string // the folder of the SQLite file
	AllowDataLoss bool   // run on a PostgreSQL that may lose acknowledged writes in a crash
	MaxConns      int    // PostgreSQL connections, at least connsMin; 0 means connsDefault
	Clock         clock.Clock
	Random        io.Reader
	Log           *slog.Logger
	SlowStatement time.Duration // statements that take this long or longer are logged; 0 means none
}

// DB is the handle of a database. All packages of a process share one.
type DB struct {
	engine Engine
	config Config
	clock  clock.Clock
	ids    *id.Source
	log    *slog.Logger

	write, read *sql.DB                         // the same pool on PostgreSQL
	writer      *groupcommit.Queue[*sql.Tx]     // SQLite's only writer
	groups      *groupcommit.Queue[groupMember] // grouped writes, by organization
	ready       atomic.Bool
	disk        disk
	closeOnce   func() error
	statements  *statements
	prepared    prepared
	slow        time.Duration // at least 1 if slow statements are logged
	stats       *stats
	values      sync.Map      // of Value, by key
	foreground  atomic.Int64  // when a request wrote last, in nanoseconds
	turns       chan struct{} // one per ReadInTurn in progress
}

// Open returns a handle. It does not wait for PostgreSQL to answer: Prepare does, and until then every use of the handle
// returns an Unavailable fault.
func Open(c Config) (*DB, error) {
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	d := &DB{config: c, clock: c.Clock, ids: id.NewSource(c.Clock, c.Random), log: c.Log, slow: c.SlowStatement, stats: newStats(),
		turns: make(chan struct{}, turnsMax())}
	d.groups = d.newGroups()
	d.closeOnce = sync.OnceValue(d.close)
	var err error
	if c.URL == "" {
		err = d.openSQLite()
	} else {
		err = d.openPostgres()
	}
	if err != nil {
		return nil, err
	}
	d.statements = compiled[d.engine]
	return d, nil
}

// Prepare connects to the database and brings the schema up to date. It returns an unsafeError for a database that would
// lose acknowledged writes in a crash.
func (d *DB) Prepare(ctx context.Context) error {
	d.makePrivate()
	if err := d.write.PingContext(ctx); err != nil {
		return translate(ctx, fmt.Errorf("reach the database: %w", err))
	}
	if err := d.checkDurability(ctx); err != nil {
		return err
	}
	if err := d.migrate(ctx); err != nil {
		if why := d.explainRights(ctx, err); why != nil {
			return why
		}
		return translate(ctx, fmt.Errorf("migrate the database: %w", err))
	}
	if err := d.checkIsolation(ctx); err != nil {
		return translate(ctx, fmt.Errorf("check the rights of the database role: %w", err))
	}
	d.ready.Store(true)
	return nil
}

// Attach connects to a database for a command that only reads. It returns an error if the schema is not up to date, and
// does not change it.
func (d *DB) Attach(ctx context.Context) error {
	if err := d.read.PingContext(ctx); err != nil {
		return translate(ctx, fmt.Errorf("reach the database: %w", err))
	}
	if err := d.checkSchema(ctx); err != nil {
		return translate(ctx, err)
	}
	d.ready.Store(true)
	return nil
}

// Ready returns nil if the database answers and can be written, as far as that is known. Otherwise it returns an Unavailable fault.
func (d *DB) Ready(ctx context.Context) error {
	if !d.ready.Load() {
		return errNotReady()
	}
	if err := d.read.PingContext(ctx); err != nil {
		return translate(ctx, err)
	}
	return d.checkRoom(ctx)
}

func errNotReady() error {
	return fault.UnavailableBecause(errors.New("db: not prepared"), "the database is not available yet")
}

// Engine returns which of the two databases this is.
func (d *DB) Engine() Engine { return d.engine }

// Clock returns the clock that transactions read.
func (d *DB) Clock() clock.Clock { return d.clock }

// Random returns the source of random bytes for keys and ids.
func (d *DB) Random() io.Reader { return d.config.Random }

// IDs returns the source of new identifiers.
func (d *DB) IDs() *id.Source { return d.ids }

// Jobs returns the connection pool for the job queue. Everything else uses Write and Read.
func (d *DB) Jobs() *sql.DB { return d.write }

// Value returns a value that lasts as long as the handle, such as a cache, and that all its users share. The first call
// for a key creates it.
func (d *DB) Value(key any, create func() any) any {
	if v, ok := d.values.Load(key); ok {
		return v
	}
	v, _ := d.values.LoadOrStore(key, create())
	return v
}

// Close waits for the grouped writes that run and, on SQLite, for all others that do, and closes the connections. On
// PostgreSQL an ordinary write that runs keeps its connection until it ends. Closing a second time does nothing and
// returns the same error.
func (d *DB) Close() error { return d.closeOnce() }

func (d *DB) close() error {
	d.groups.Close()
	if d.engine == SQLite {
		d.writer.Close()
	}
	err := d.write.Close()
	if d.read != d.write {
		err = errors.Join(err, d.read.Close())
	}
	return err
}
