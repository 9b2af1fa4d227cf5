package dbtest

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"modernc.org/sqlite"

	"github.com/bursarhq/bursar/internal/db"
)

// Disk is the folder of a SQLite database to whose commits faults are applied. A crash takes an image of the files as the process would
// leave them if it was killed just then.
type Disk struct {
	*Faults
	dir, image string
	log        int // the size of the write-ahead log at the crash
}

// disks finds the disk of a connection.
var disks struct {
	sync.Mutex
	list []*Disk
}

func init() {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, dsn string) error {
		disks.Lock()
		defer disks.Unlock()
		for _, d := range disks.list {
			if strings.Contains(dsn, d.dir+"/") {
				conn.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
					if d.step() == isDead { // not at the crash itself: Recovered takes a part of what that commit writes
						return 1 // which rolls back
					}
					return 0
				})
			}
		}
		return nil
	})
}

// NewDisk applies faults to the SQLite database in the folder of a configuration, which must be opened afterwards.
func NewDisk(t testing.TB, c db.Config, f *Faults) *Disk {
	t.Helper()
	image, err := os.MkdirTemp(os.Getenv(folderVariable), "bursar-image-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(image); err != nil {
			t.Error(err)
		}
	})
	d := &Disk{Faults: f, dir: c.Dir, image: image}
	f.onCrash = func() {
		for _, name := range []string{db.File, logFile} {
			content, err := os.ReadFile(filepath.Join(d.dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(d.image, name), content, 0o600)
			}
			if err != nil && !os.IsNotExist(err) {
				t.Errorf("the image of a crash: %v", err)
			}
			d.log = len(content)
		}
	}
	disks.Lock()
	defer disks.Unlock()
	disks.list = append(disks.list, d)
	return d
}

// logFile is the name of SQLite's write-ahead log.
const logFile = db.File + "-wal"

// Recovered closes the database that has crashed and returns the folder with the image. What the process was writing at the crash is in
// the image up to a random byte, as it is when a machine fails while it writes.
func (d *Disk) Recovered(t testing.TB, r *rand.Rand, crashed *db.DB) string {
	t.Helper()
	later, err := os.ReadFile(filepath.Join(d.dir, logFile))
	if err == nil && len(later) > d.log {
		tail := later[d.log : d.log+r.IntN(len(later)-d.log+1)]
		err = appendTo(filepath.Join(d.image, logFile), tail)
	}
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	_ = crashed.Close()
	disks.Lock()
	disks.list = slices.DeleteFunc(disks.list, func(one *Disk) bool { return one == d })
	disks.Unlock()
	if err := os.RemoveAll(d.dir); err != nil {
		t.Error(err)
	}
	return d.image
}

func appendTo(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
