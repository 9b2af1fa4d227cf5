package db

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// File is the name of the SQLite database in the data folder.
const File = "bursar.db"

// readersMax bounds SQLite's read connections: each has its own page cache, and more of them would only compete for cores.
const readersMax = 8

func (d *DB) openSQLite() error {
	registerDecimals()
	d.engine = SQLite
	if err := os.MkdirAll(d.config.Dir, 0o750); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	path := filepath.Join(d.config.Dir, File)
	var err error
	// The writer is one connection, so that waiting writes share a commit instead of competing for the lock.
	if d.write, err = sql.Open("sqlite", sqliteDSN(path, "_txlock=immediate&_pragma=cache_size(-16384)")); err != nil {
		return err
	}
	d.write.SetMaxOpenConns(1)
	if d.read, err = sql.Open("sqlite", sqliteDSN(path, "_pragma=query_only(1)&_pragma=cache_size(-4096)")); err != nil {
		return err
	}
	d.read.SetMaxOpenConns(readersMax)
	d.read.SetMaxIdleConns(readersMax)
	// The writer connects first: it creates the file and switches it to WAL mode, which readers cannot do. If the disk is full, Prepare
	// tries again.
	if err := d.write.PingContext(context.Background()); err != nil && !isFull(err) {
		return fmt.Errorf("open %s: %w", path, err)
	}
	d.writer = d.newWriter()
	return nil
}

// sqliteDSN returns the address of a database with our settings. Commits are durable (FULL syncs the write-ahead log each
// time), and a connection waits for a lock instead of failing. For speed, the log is checkpointed only when it has 32 MB,
// and savepoints are kept in memory.
func sqliteDSN(path, extra string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	settings := []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"wal_autocheckpoint(8000)", "temp_store(MEMORY)"}
	return u.String() + "?_pragma=" + strings.Join(settings, "&_pragma=") + "&" + extra
}

// Backup writes a consistent copy of a SQLite database while it is in use.
func (d *DB) Backup(ctx context.Context, path string) error {
	if d.engine != SQLite {
		return fmt.Errorf("backup copies SQLite; for PostgreSQL use pg_dump or its continuous archiving, as docs/OPERATIONS.md says")
	}
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s exists already; name a new file", path)
	}
	// The backup has its own connection: writes must not wait for it, and the read connections may not write at all.
	conn, err := sql.Open("sqlite", sqliteDSN(filepath.Join(d.config.Dir, File), ""))
	if err != nil {
		return err
	}
	defer conn.Close()
	// VACUUM INTO reads one snapshot, so that writes continue and the copy is consistent. It does not sync the file.
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		_ = os.Remove(path) // a partial copy could be mistaken for a backup
		return err
	}
	return syncFile(path)
}

// syncFile syncs a file and the entry of its folder.
func syncFile(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		err = f.Sync()
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
