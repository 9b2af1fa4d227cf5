package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestABackupMadeDuringWritesContainsWhatWasAcknowledgedBefore(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	key := found(t, c).APIKey
	service := once(serve(t, c).ready(t), key)
	w := newWitness(t, service)
	stop, ended := make(chan struct{}), make(chan error)
	for i := range 4 {
		go func() {
			ended <- w.write(service, fmt.Sprintf("client %d", i), stop, func(err error) (bool, error) { return false, err })
		}()
	}
	var before []string
	eventually(t, "changes are written", func(context.Context) error {
		if before = w.acknowledged(); len(before) < 100 {
			return fmt.Errorf("%d changes", len(before))
		}
		return nil
	})
	restored := db.Config{Dir: t.TempDir()}
	copied := filepath.Join(restored.Dir, db.File)
	r := inside(on(c, "backup", copied)...).mustDo(t)
	close(stop)
	for range 4 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(r.out, "Wrote "+copied) {
		t.Errorf("stdout has %q", r.out)
	}
	inside(on(c, "backup", copied)...).mustFail(t, 1, copied+" exists already")
	inside(on(c, "backup", "-")...).mustFail(t, 2, "backup needs the name of a new file")
	inside(on(restored, "verify")...).mustDo(t)
	held := map[string]bool{}
	for entry, err := range once(serve(t, restored).ready(t), key).AuditLog(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Action == "organization.updated" {
			held[nameIn(t, entry.After)] = true
		}
	}
	for _, name := range before {
		if !held[name] {
			t.Errorf("the copy lacks %s", name)
		}
	}
}

func TestBackupLeavesPostgreSQLToItsOwnTools(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "copy.db")
	inside(on(dbtest.Postgres(t), "backup", file)...).mustFail(t, 1, "pg_dump")
	if _, err := os.Stat(file); err == nil {
		t.Error("it left a file")
	}
}

func TestABackupThatCannotBeWrittenLeavesNothing(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	found(t, c)
	file := filepath.Join(t.TempDir(), "nowhere", "copy.db")
	inside(on(c, "backup", file)...).mustFail(t, 1)
	if _, err := os.Stat(filepath.Dir(file)); err == nil {
		t.Error("it left something")
	}
}

// pgTool runs a program of PostgreSQL that comes with the server, and returns what it says.
func pgTool(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath(name)
	if installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); err != nil && len(installed) > 0 {
		path, err = installed[len(installed)-1], nil
	}
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	return string(out), err
}

func TestADumpOfPostgreSQLHoldsAllOrganizationsOrIsRefused(t *testing.T) {
	t.Parallel()
	c, restored := dbtest.Postgres(t), dbtest.EmptyPostgres(t)
	found(t, c)
	found(t, c)
	file := filepath.Join(t.TempDir(), "dump")
	if out, err := pgTool(t, "pg_dump", "--format=custom", "--file="+file, c.URL); err == nil || !strings.Contains(out, "row-level security") {
		t.Errorf("the role of the service dumps part of the data: %v %s", err, out)
	}
	if out, err := pgTool(t, "pg_dump", "--format=custom", "--file="+file, dbtest.AdminURL(c.URL)); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if out, err := pgTool(t, "pg_restore", "--exit-on-error", "--dbname="+dbtest.AdminURL(restored.URL), file); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	r := inside(on(restored, "verify")...).mustDo(t)
	if !strings.Contains(r.out, "in 2 organizations") {
		t.Errorf("verify says %s", r.out)
	}
}
