package cli_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// limitFiles limits the size of all files of a process. A write beyond it fails as on a full disk, and unlike a small
// file system the limit needs no privilege, can be set on a running service, and can be lifted again.
func (p *process) limitFiles(t *testing.T, size uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: size, Max: math.MaxUint64}
	_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(p.cmd.Process.Pid), syscall.RLIMIT_FSIZE,
		uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
}

// largestFile returns the size of the largest file in the data folder.
func largestFile(t *testing.T, dir string) uint64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, db.File+"*"))
	if err != nil {
		t.Fatal(err)
	}
	largest := int64(0)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, info.Size())
	}
	return uint64(largest)
}

func TestAFullDiskRefusesWritesAndLosesNothing(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	key := found(t, c).APIKey
	p := serve(t, c)
	service := once(p.ready(t), key)
	w := newWitness(t, service)
	if err := w.rename(service, "while there is room"); err != nil {
		t.Fatal(err)
	}
	p.limitFiles(t, largestFile(t, c.Dir)+256<<10)
	var refusals atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if err := w.write(service, fmt.Sprintf("client %d", i), stop, refusedFor(&refusals)); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "writes are refused", func(ctx context.Context) error {
		// Reads need no space, so they succeed all the time.
		if _, err := service.Organization(ctx); err != nil {
			t.Errorf("a read while the disk is full: %v", err)
		}
		if refusals.Load() < 50 {
			return fmt.Errorf("%d refusals", refusals.Load())
		}
		return nil
	})
	full := len(w.acknowledged())
	p.limitFiles(t, math.MaxUint64)
	eventually(t, "writes are taken again", func(context.Context) error {
		if n := len(w.acknowledged()) - full; n < 20 {
			return fmt.Errorf("%d changes", n)
		}
		return nil
	})
	close(stop)
	wg.Wait()
	w.check(t, service)
	p.kill()
	p = serve(t, c)
	service = once(p.ready(t), key)
	w.check(t, service)
	verifyWhole(t, c, service)
}
