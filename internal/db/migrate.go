package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	sqlite3 "modernc.org/sqlite/lib"
)

// Each migration is one text for both engines, so that their schemas cannot drift apart. Names in braces stand for the
// engine's fragments; see dialect.go.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date. Processes that start at the same time do so one after the other.
func (d *DB) migrate(ctx context.Context) error {
	p, err := d.migrator()
	if err != nil {
		return err
	}
	return d.withSchemaLock(ctx, func() error {
		if current, err := d.schemaVersion(ctx); err != nil {
			return err
		} else if current > latest(p) {
			return errNewer
		}
		done, err := p.Up(bindTo(ctx, ""))
		if err != nil {
			return err
		}
		for _, r := range done {
			d.log.Info("migrated", "version", r.Source.Version, "took", r.Duration)
		}
		if err := d.migrateJobs(ctx); err != nil {
			return err
		}
		return d.isolate(ctx)
	})
}

// SchemaDigest identifies the schema that migrations create, so that tests can share a migrated database.
func SchemaDigest() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(migrations, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := migrations.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(text), text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:16], err
}

func (d *DB) migrator() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	dialect := map[Engine]goose.Dialect{SQLite: goose.DialectSQLite3, Postgres: goose.DialectPostgres}[d.engine]
	return goose.NewProvider(dialect, d.write, expandedFS{files, d.engine}, goose.WithDisableGlobalRegistry(true))
}

var (
	errNewer = errors.New("a newer version of Bursar has changed the schema of this database: use that version, or restore an earlier backup")
	errOlder = errors.New("the database is empty or has the schema of an older version of Bursar: run `bursar migrate` first")
)

// checkSchema returns an error if the schema is not that of this version of the program. It changes nothing.
func (d *DB) checkSchema(ctx context.Context) error {
	p, err := d.migrator()
	if err != nil {
		return err
	}
	current, err := d.schemaVersion(ctx)
	switch {
	case err != nil:
		return err
	case current > latest(p):
		return errNewer
	case current < latest(p):
		return errOlder
	}
	return nil
}

func latest(p *goose.Provider) int64 {
	sources := p.ListSources()
	return sources[len(sources)-1].Version
}

// schemaVersion returns the last migration that was applied to the database, or 0 if there was none.
func (d *DB) schemaVersion(ctx context.Context) (int64, error) {
	var version int64
	err := d.read.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&version)
	if code, ok := sqliteCode(err); ok && code == sqlite3.SQLITE_ERROR || sqlState(err) == "42P01" { // no such table
		return 0, nil
	}
	return version, err
}

// schemaLock is the number of the PostgreSQL advisory lock; its bytes spell "bursar".
const schemaLock = 0x627572736172

// withSchemaLock runs fn while no other process does so on the same database. The lock of a process that dies is released
// with its connection or file.
func (d *DB) withSchemaLock(ctx context.Context, fn func() error) error {
	if d.engine == Postgres {
		conn, err := d.write.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", schemaLock); err != nil {
			return err
		}
		defer func() {
			// An error is ignored: a lost connection releases the lock too.
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", schemaLock)
		}()
		return fn()
	}
	// A transaction on the database itself would block the migrations, so the lock is on a separate file beside it. It needs no space:
	// nothing is written to it, and its journal is in memory. Its locking mode is the ordinary one: in the exclusive mode, connections
	// that fail to get the lock would keep a shared one, and two of them would wait for each other forever.
	path := filepath.Join(d.config.Dir, File+".lock")
	if err := createPrivate(path); err != nil {
		return err
	}
	lock, err := sql.Open("sqlite", sqliteURL(path)+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(MEMORY)&_txlock=exclusive")
	if err != nil {
		return err
	}
	defer lock.Close()
	tx, err := lock.BeginTx(ctx, nil)
	for ctx.Err() == nil && isBusy(err) { // a migration may take longer than a connection waits for a lock
		tx, err = lock.BeginTx(ctx, nil)
	}
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return fn()
}

// isBusy reports whether SQLite gave up waiting for a lock.
func isBusy(err error) bool {
	code, ok := sqliteCode(err)
	return ok && code&0xff == sqlite3.SQLITE_BUSY
}

// expandedFS is a file system in whose files the fragments of an engine are expanded.
type expandedFS struct {
	fs.FS
	engine Engine
}

// Open implements fs.FS. It reads the whole file, because migrations are small.
func (e expandedFS) Open(name string) (fs.File, error) {
	f, err := e.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if _, folder := f.(fs.ReadDirFile); folder {
		return f, nil
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return expandedFile{f, strings.NewReader(expand(e.engine, string(text)))}, nil
}

type expandedFile struct {
	fs.File
	text *strings.Reader
}

func (f expandedFile) Read(p []byte) (int, error) { return f.text.Read(p) }

// migrateJobs migrates the tables of the job queue, which has its own versions.
func (d *DB) migrateJobs(ctx context.Context) error {
	var err error
	if d.engine == SQLite {
		err = migrateRiver(rivermigrate.New(riversqlite.New(d.write), nil))(ctx)
	} else {
		err = migrateRiver(rivermigrate.New(riverdatabasesql.New(d.write), nil))(ctx)
	}
	if err != nil {
		return fmt.Errorf("migrate the tables of the job queue: %w", err)
	}
	return nil
}

func migrateRiver[T any](m *rivermigrate.Migrator[T], err error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err != nil {
			return err
		}
		_, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	}
}
