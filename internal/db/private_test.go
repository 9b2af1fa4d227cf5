package db_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// requireModes fails the test if the mode of a path is not the expected one.
func requireModes(t *testing.T, want map[string]fs.FileMode) {
	t.Helper()
	for path, mode := range want {
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != mode {
			t.Errorf("the mode of %s is %v, want %v", path, info.Mode().Perm(), mode)
		}
	}
}

func TestANewDatabaseAndItsBackupAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	c := db.Config{Dir: filepath.Join(t.TempDir(), "new", "data")}
	d := dbtest.Open(t, c)
	newOrganization(t, d, "Acme")
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := d.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.Dir, db.File)
	requireModes(t, map[string]fs.FileMode{c.Dir: 0o700, filepath.Dir(c.Dir): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600,
		path + ".lock": 0o600, copied: 0o600})
}

func TestAnExistingDatabaseBecomesPrivateAtTheNextStart(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	for name, shared := range map[string]bool{"a folder of its own": false, "a folder with other files": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dbtest.SQLite(t)
			path, anchors := filepath.Join(c.Dir, db.File), filepath.Join(c.Dir, db.AnchorsFolder)
			if err := os.MkdirAll(anchors, 0o755); err != nil {
				t.Fatal(err)
			}
			want := map[string]fs.FileMode{path: 0o600, anchors: 0o700, c.Dir: 0o700}
			if shared {
				other := filepath.Join(c.Dir, "notes.txt")
				if err := os.WriteFile(other, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				want[other], want[c.Dir] = 0o644, 0o755
			}
			for path := range want {
				mode := fs.FileMode(0o644)
				if path == c.Dir || path == anchors {
					mode = 0o755
				}
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
			}
			dbtest.OpenPrepared(t, c)
			requireModes(t, want)
		})
	}
}

func TestAClosedDatabaseLeavesAnEmptyLogSoThatTheNextStartNeedsNoSpace(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	d := dbtest.Open(t, c)
	newOrganization(t, d, "Acme")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := os.Stat(filepath.Join(c.Dir, db.File+"-wal"))
	if err != nil || log.Size() != 0 {
		t.Errorf("the write-ahead log is %v, %v", log, err)
	}
	if index, err := os.Stat(filepath.Join(c.Dir, db.File+"-shm")); err != nil || index.Size() == 0 {
		t.Errorf("its index is %v, %v", index, err)
	}
}
