package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// When the caller's context ends, the driver closes the connection by a deadline in the past and reports only a timeout.
func TestABrokenConnectionIsACancellationWhenTheCallerGaveUp(t *testing.T) {
	broken := &net.OpError{Op: "write", Net: "tcp", Err: os.ErrDeadlineExceeded}
	ctx, cancel := context.WithCancel(t.Context())
	if err := translate(ctx, broken); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("nobody gave up: %v", err)
	}
	cancel()
	if err := translate(ctx, broken); !errors.Is(err, context.Canceled) || fault.KindOf(err) != fault.Internal {
		t.Errorf("the caller gave up: %v", err)
	}
	if err := translate(ctx, commitError(broken)); !errors.Is(err, ErrCommitUnknown) || fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a commit whose outcome is unknown: %v", err)
	}
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if err := translate(late, broken); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("time ran out: %v", err)
	}
}

func TestADeadConnectionIsTriedAgainUnlessItMayHaveCommitted(t *testing.T) {
	t.Parallel()
	if !isRetryable(fmt.Errorf("begin: %w", driver.ErrBadConn)) {
		t.Error("nothing has happened, and it is not tried again")
	}
	if isRetryable(commitError(driver.ErrBadConn)) {
		t.Error("it may have committed, and is tried again")
	}
}

func TestAFileThatCannotBeWrittenIsNotTakenForALostDatabase(t *testing.T) {
	t.Parallel()
	full := &fs.PathError{Op: "write", Path: "books.journal", Err: syscall.ENOSPC}
	if err := translate(t.Context(), fmt.Errorf("export: %w", full)); fault.KindOf(err) == fault.Unavailable || !errors.Is(err, full) {
		t.Errorf("it became %v", err)
	}
}

func TestADamagedPostgreSQLDatabaseIsUnavailableAndSaysSo(t *testing.T) {
	t.Parallel()
	for state, damaged := range map[string]bool{"XX001": true, "XX002": true, "XX000": false, "22001": false} {
		err := translate(t.Context(), fmt.Errorf("read: %w", &pgconn.PgError{Code: state, Message: "invalid page in block 7"}))
		says := fault.KindOf(err) == fault.Unavailable && strings.HasPrefix(err.Error(), "the database is damaged: ")
		if says != damaged {
			t.Errorf("%s: %v", state, err)
		}
	}
}
