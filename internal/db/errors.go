package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Errors are distinguished by SQLSTATE or SQLite's code, never by the name of a constraint: a distributed PostgreSQL
// renames constraints per shard.

// isDuplicate reports whether an error means that a row violates a unique or primary key.
func isDuplicate(err error) bool {
	code, ok := sqliteCode(err)
	if ok {
		return code == sqlite3.SQLITE_CONSTRAINT_UNIQUE || code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return sqlState(err) == "23505"
}

// ErrRetry asks for the whole transaction to run again, because something it assumed turned out to be wrong. A body or a
// BeforeCommit function may return it. It is honoured on PostgreSQL and in grouped writes, a bounded number of times.
var ErrRetry = errors.New("db: the transaction must run again")

// isRetryable reports whether a transaction that failed with an error may run again. That is so when nothing of it can
// have been committed and another attempt may succeed: PostgreSQL rolled it back because of a concurrent transaction
// (40001, 40P01), the body asked for it with ErrRetry, or the connection was found to be dead before the commit.
func isRetryable(err error) bool {
	state := sqlState(err)
	return state == "40001" || state == "40P01" || errors.Is(err, ErrRetry) || errors.Is(err, driver.ErrBadConn) &&
		!errors.Is(err, ErrCommitUnknown)
}

// isLost reports whether an error means that the database is not available, as opposed to a fault of the statement.
func isLost(err error) bool {
	if code, ok := sqliteCode(err); ok {
		switch code & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY,
			sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL:
			return true
		}
		return false
	}
	if state := sqlState(err); state != "" {
		switch state[:2] {
		case "08", "53", "57", "58": // connection, resources, operator intervention, system
			return true
		}
		return state == "25006" || state == "3D000" // read-only standby, no such database
	}
	var file *fs.PathError
	if errors.As(err, &file) { // a file that the caller reads or writes, not the database
		return false
	}
	var netErr net.Error
	var connectErr *pgconn.ConnectError
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.As(err, &connectErr) || errors.As(err, &netErr) ||
		strings.Contains(err.Error(), "conn closed") // pgx has no typed error for it
}

// isFull reports whether an error means that the database could not be written because its disk is full, or as good as: a file
// may not grow.
func isFull(err error) bool {
	if code, ok := sqliteCode(err); ok {
		switch code {
		case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_SHMSIZE:
			return true
		}
		return code&0xff == sqlite3.SQLITE_FULL
	}
	return sqlState(err) == "53100"
}

// isDamaged reports whether an error means that the content of the database contradicts itself, for example its index of texts.
func isDamaged(err error) bool {
	if code, ok := sqliteCode(err); ok {
		return code&0xff == sqlite3.SQLITE_CORRUPT || code&0xff == sqlite3.SQLITE_NOTADB
	}
	state := sqlState(err)
	return state == "XX001" || state == "XX002" // data, index
}

// translate returns an Unavailable fault, which the API answers with 503, for an error that means that the database is
// not available. It returns every other error unchanged.
func translate(ctx context.Context, err error) error {
	if err == nil || fault.KindOf(err) != fault.Internal {
		return err
	}
	// When the caller's context ends, the driver closes the connection and may report only a broken connection.
	if ended := ctx.Err(); ended != nil && isLost(err) {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.UnavailableBecause(err, "the database did not answer in time")
	case errors.Is(err, context.Canceled):
		return err
	case isFull(err):
		return fault.UnavailableBecause(err, "%s", fullMessage)
	case isDamaged(err):
		return fault.UnavailableBecause(err, "the database is damaged: see Troubleshooting in docs/OPERATIONS.md")
	case isLost(err) || isRetryable(err) || errors.Is(err, errGone):
		return fault.UnavailableBecause(err, "the database is not available")
	}
	return err
}

func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func sqliteCode(err error) (int, bool) {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code(), true
	}
	return 0, false
}
