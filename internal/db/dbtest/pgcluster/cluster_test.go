package pgcluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ask runs one statement on a connection of its own, because a restart breaks those that are open.
func ask(t *testing.T, c *Cluster, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var answer string
	if err := conn.QueryRow(t.Context(), sql).Scan(&answer); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer
}

func startCluster(t *testing.T, settings map[string]string) *Cluster {
	t.Helper()
	began := time.Now()
	c, err := Start(t.Context(), Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %s", time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(c.folder.path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is still there after Close: %v", err)
		}
	})
	return c
}

func TestAClusterKeepsItsDataThroughStopsAndKills(t *testing.T) {
	t.Parallel()
	c := startCluster(t, map[string]string{"fsync": "off", "application_name": "it's quoted"})
	if got := ask(t, c, "SHOW fsync"); got != "off" {
		t.Fatalf("fsync = %q, want the setting that was asked for", got)
	}
	if got := ask(t, c, "SHOW synchronous_commit"); got != "on" {
		t.Fatalf("synchronous_commit = %q, want the default", got)
	}
	address := c.URL("postgres")
	ask(t, c, "CREATE TABLE kept (word text)")
	endings := []struct {
		word string
		end  func()
	}{
		{"running", func() {}},
		{"fast", func() { mustStop(t, c, false) }},
		{"immediate", func() { mustStop(t, c, true) }},
		{"killed", c.Kill},
		{"killed twice", func() { c.Kill(); c.Kill() }},
	}
	want := ""
	for _, e := range endings {
		ask(t, c, "INSERT INTO kept VALUES ('"+e.word+"')")
		want += e.word + ";"
		e.end()
		if err := c.Restart(t.Context()); err != nil {
			t.Fatalf("restart after %s: %v", e.word, err)
		}
		if got := ask(t, c, "SELECT string_agg(word, ';') || ';' FROM kept"); got != want {
			t.Fatalf("after %s: rows %q, want %q", e.word, got, want)
		}
	}
	if c.URL("postgres") != address {
		t.Fatalf("the address changed from %s to %s", address, c.URL("postgres"))
	}
}

func mustStop(t *testing.T, c *Cluster, immediate bool) {
	t.Helper()
	if err := c.Stop(immediate); err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), c.URL("postgres")); err == nil {
		t.Fatal("a stopped server accepted a connection")
	}
}

func TestKillEndsABackendThatIsBusy(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	backend := int(conn.PgConn().PID())
	ended := make(chan error, 1)
	go func() {
		// A backend that computes does not look whether its postmaster lives.
		_, err := conn.Exec(t.Context(), "SELECT count(*) FROM generate_series(1, 100000000000)")
		ended <- err
	}()
	time.Sleep(100 * time.Millisecond)
	c.Kill()
	if err := <-ended; err == nil {
		t.Fatal("the statement survived Kill")
	}
	if err := syscall.Kill(backend, 0); runtime.GOOS == "linux" && !errors.Is(err, syscall.ESRCH) {
		t.Fatalf("the busy backend is still there: %v", err)
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAClusterInAFolderTheServerCannotEnterIsRefusedWithAdvice(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "closed")
	// Root's server runs as somebody else, to whom 0700 is closed; anybody else's own needs to be locked out of its own folder.
	if err := os.Mkdir(closed, map[bool]os.FileMode{true: 0o700, false: 0o000}[os.Geteuid() == 0]); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{Dir: closed})
	if err == nil || os.Geteuid() == 0 && !strings.Contains(err.Error(), "choose another folder") {
		t.Fatalf("Start in a closed folder: %v", err)
	}
}

func TestASettingThatIsNoneIsRefusedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	c := &Cluster{folder: &folder{path: "/nowhere"}}
	for name, value := range map[string]string{"fsync = on\nport": "1", "fsync": "on\nport = 1", "": "x"} {
		if _, err := c.configuration(map[string]string{name: value}); err == nil {
			t.Errorf("%q = %q was accepted", name, value)
		}
	}
}

func TestASocketWhosePathWouldBeTooLongIsLeftOut(t *testing.T) {
	t.Parallel()
	if got := socketDir("/short"); got != "/short" {
		t.Errorf("short folder: %q", got)
	}
	if got := socketDir("/" + strings.Repeat("x", 100)); got != "" {
		t.Errorf("long folder: %q", got)
	}
}

func TestFoldersOfDeadOwnersAreSweptAndOthersKept(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	old := time.Now().Add(-2 * sweepAge)
	make := func(name string, age time.Time) (string, *os.File) {
		dir := filepath.Join(parent, folderPrefix+name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		lock, err := os.Create(filepath.Join(dir, lockName))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(lock.Name(), age, age); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { lock.Close() })
		return dir, lock
	}
	dead, _ := make("dead", old)
	young, _ := make("young", time.Now())
	alive, lock := make("alive", old)
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	sweep(parent)
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead owner's folder is still there: %v", err)
	}
	for _, dir := range []string{young, alive} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("a folder in use was removed: %v", err)
		}
	}
}
