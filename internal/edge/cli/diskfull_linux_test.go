package cli_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/bursarhq/bursar/client"
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

// ledgers is a file of an exchange.
const ledgers = `"txid","refid","time","type","subtype","aclass","asset","wallet","amount","fee","balance"
"L1","R1","2025-05-01 08:00:00","deposit","","currency","USDT","spot / main",100,10.87,89.13
`

// importRefused checks that an upload is refused because the disk is full, and that the answer says so.
func importRefused(ctx context.Context, service *client.Client, sourceID string) error {
	_, err := service.CreateImport(ctx, client.CreateImport{File: strings.NewReader(ledgers), FileName: "ledgers.csv", SourceID: sourceID})
	if err == nil || !strings.Contains(err.Error(), "is full") {
		return fmt.Errorf("an import while the disk is full: %v", err)
	}
	return unavailable(err)
}

// newExchange creates a source to import files to.
func newExchange(t *testing.T, service *client.Client, legalEntityID string) string {
	t.Helper()
	s, err := service.CreateSource(t.Context(), client.CreateSource{SourceType: "exchange", Name: "Kraken",
		LegalEntityID: legalEntityID})
	if err != nil {
		t.Fatal(err)
	}
	return s.ID
}

// smallDisk mounts a file system of some megabytes. It skips the test where that is not permitted.
func smallDisk(t *testing.T, megabytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skipf("mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		n, err := f.Write(make([]byte, size))
		switch {
		case errors.Is(err, syscall.ENOSPC) && n == 0:
			size /= 2
		case err != nil && !errors.Is(err, syscall.ENOSPC):
			t.Fatal(err)
		}
	}
}

func TestASmallDiskFilledToTheBrimRecoversWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 40)
	c, ballast := db.Config{Dir: filepath.Join(disk, "data")}, filepath.Join(disk, "ballast")
	founded := found(t, c)
	key := founded.APIKey
	p := serve(t, c)
	address := p.ready(t)
	service := once(address, key)
	exchange := newExchange(t, service, founded.LegalEntityID)
	w := newWitness(t, service)
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
	for round := range 3 {
		fill(t, ballast)
		before := refusals.Load()
		eventually(t, "writes are refused", func(ctx context.Context) error {
			if _, err := service.Organization(ctx); err != nil {
				t.Errorf("a read while the disk is full: %v", err)
			}
			if n := refusals.Load() - before; n < 50 {
				return fmt.Errorf("%d refusals", n)
			}
			return wantStatus(ctx, address, "/readyz", http.StatusServiceUnavailable)
		})
		if err := importRefused(t.Context(), service, exchange); err != nil {
			t.Error(err)
		}
		full := len(w.acknowledged())
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		eventually(t, "writes are taken again", func(ctx context.Context) error {
			if n := len(w.acknowledged()) - full; n < 20 {
				return fmt.Errorf("%d changes in round %d", n, round)
			}
			return wantStatus(ctx, address, "/readyz", http.StatusOK)
		})
	}
	close(stop)
	wg.Wait()
	w.check(t, service)
	for name, end := range map[string]func(){"killed": func() { p.kill() }, "stopped": func() { p.terminate(t); p.wait(t) }} {
		end()
		fill(t, ballast)
		host := freeAddress(t)
		address = "http://" + host
		p = serve(t, c, "--addr", host)
		eventually(t, name+", the service starts on a full disk", func(ctx context.Context) error {
			return wantStatus(ctx, address, "/readyz", http.StatusServiceUnavailable)
		})
		service = once(address, key)
		eventually(t, name+", the service reads on a full disk", func(ctx context.Context) error {
			_, err := service.Organization(ctx)
			return err
		})
		w.check(t, service)
		inside(on(c, "verify")...).mustDo(t)
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		p.ready(t)
		eventually(t, name+", the service is ready", func(ctx context.Context) error {
			return wantStatus(ctx, address, "/readyz", http.StatusOK)
		})
		if err := w.rename(service, name); err != nil {
			t.Error(err)
		}
		w.check(t, service)
	}
	verifyWhole(t, c, service)
	p.kill()
}

func TestACommandThatWritesAFileToAFullDiskSaysSoAndLeavesNothing(t *testing.T) {
	t.Parallel()
	c, disk := dbtest.SQLite(t), smallDisk(t, 1)
	found(t, c)
	fill(t, filepath.Join(disk, "ballast"))
	for command, flags := range map[string][]string{"anchor": {"--file"}, "backup": {}, "export": {"--format", "hledger", "--output"}} {
		file := filepath.Join(disk, command)
		inside(on(c, append([]string{command}, append(flags, file)...)...)...).mustFail(t, 1, file+" was not written")
	}
	if left, err := os.ReadDir(disk); err != nil || len(left) != 1 {
		t.Errorf("they left %v, %v", left, err)
	}
}

func TestAFullDiskRefusesWritesAndLosesNothing(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	founded := found(t, c)
	key := founded.APIKey
	p := serve(t, c)
	address := p.ready(t)
	service := once(address, key)
	exchange := newExchange(t, service, founded.LegalEntityID)
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
		return errors.Join(wantStatus(ctx, address, "/readyz", http.StatusServiceUnavailable), importRefused(ctx, service, exchange))
	})
	full := len(w.acknowledged())
	p.limitFiles(t, math.MaxUint64)
	eventually(t, "writes are taken again", func(ctx context.Context) error {
		if n := len(w.acknowledged()) - full; n < 20 {
			return fmt.Errorf("%d changes", n)
		}
		return wantStatus(ctx, address, "/readyz", http.StatusOK)
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
