package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/bursarhq/bursar/internal/base/newfile"
)

// What is in the data folder: the SQLite database, with files beside it whose names begin in the same way, and the folder of anchors.
const (
	File          = "bursar.db"
	AnchorsFolder = "anchors"
)

// readersMax bounds SQLite's read connections: each has its own page cache, and more of them would only compete for cores.
const readersMax = 8

func (d *DB) openSQLite() error {
	registerDecimals()
	d.engine = SQLite
	path := filepath.Join(d.config.Dir, File)
	if err := createPrivate(path); err != nil {
		return err
	}
	var err error
	// The writer is one connection, so that waiting writes share a commit instead of competing for the lock.
	if d.write, err = openPool(path, "_txlock=immediate&_pragma=cache_size(-16384)"); err != nil {
		return err
	}
	d.write.SetMaxOpenConns(1)
	if d.read, err = openPool(path, "_pragma=query_only(1)&_pragma=cache_size(-4096)"); err != nil {
		return err
	}
	d.read.SetMaxOpenConns(readersMax)
	d.read.SetMaxIdleConns(readersMax)
	// The writer connects first: it creates the database and switches it to WAL mode, which readers cannot do. If the disk is full,
	// Prepare tries again.
	if err := d.write.PingContext(context.Background()); err != nil && !isFull(err) {
		return fmt.Errorf("open %s: %w", path, err)
	}
	d.writer = d.newWriter()
	return nil
}

// openPool opens a database with our settings, and others.
func openPool(path, extra string) (*sql.DB, error) {
	c, err := sqlite.NewConnector(sqliteDSN(path, extra))
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(keepingLog{c}), nil
}

// keepingLog opens connections of which the last one does not delete the write-ahead log and its index, but empties the log. The next
// process then needs no space to open the database, and so reads even if the disk is full.
type keepingLog struct{ driver.Connector }

// Connect implements driver.Connector.
func (k keepingLog) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.(sqlite.FileControl).FileControlPersistWAL("main", 1); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// sqliteDSN returns the address of a database with our settings. Commits are durable (FULL syncs the write-ahead log each
// time), and a connection waits for a lock instead of failing. For speed, the log is checkpointed only when it has 32 MB,
// and savepoints are kept in memory. A log that has grown beyond 64 MB is truncated, and any log when the database is closed.
func sqliteDSN(path, extra string) string {
	settings := []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"wal_autocheckpoint(8000)", "journal_size_limit(67108864)", "temp_store(MEMORY)"}
	return sqliteURL(path) + "?_pragma=" + strings.Join(settings, "&_pragma=") + "&" + extra
}

func sqliteURL(path string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	return u.String()
}

// Backup writes a consistent copy of a SQLite database while it is in use.
func (d *DB) Backup(ctx context.Context, path string) error {
	if d.engine != SQLite {
		return fmt.Errorf("backup copies SQLite; for PostgreSQL use pg_dump or its continuous archiving, as docs/OPERATIONS.md says")
	}
	// The backup has its own connection: writes must not wait for it, and the read connections may not write at all.
	pool, err := openPool(filepath.Join(d.config.Dir, File), "")
	if err != nil {
		return err
	}
	defer pool.Close()
	err = newfile.Write(path, func(f *os.File) error {
		defer os.Remove(f.Name() + "-journal") // which SQLite leaves if it fails
		// VACUUM INTO reads one snapshot, so that writes continue and the copy is consistent.
		_, err := pool.ExecContext(ctx, "VACUUM INTO ?", f.Name())
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; name a new file", path)
	}
	return err
}
