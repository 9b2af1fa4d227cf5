package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

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
