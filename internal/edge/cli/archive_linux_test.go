package cli_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestSoakAnImportOfAnOrganizationThatIsStoppedLeavesNothing(t *testing.T) {
	t.Parallel()
	from := dbtest.SQLite(t)
	f := found(t, from)
	inside(on(from, "import", aJournal(t, "books.journal", 3000))...).mustDo(t)
	file := filepath.Join(t.TempDir(), "acme.bursar")
	inside(on(from, "export", "--output", file)...).mustDo(t)
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		for _, stop := range []struct {
			signal  syscall.Signal
			percent int
			says    string
		}{
			{syscall.SIGINT, 20, "bursar: interrupted: nothing was imported\r\n"},
			{syscall.SIGTERM, 60, "bursar: interrupted: nothing was imported\r\n"},
			{syscall.SIGKILL, 30, ""},
			{syscall.SIGKILL, 99, ""}, // while what was stored is compared, or verified
		} {
			s := show(t, on(c, "import", file)...)
			s.until(t, stop.percent)
			if err := s.Process.Signal(stop.signal); err != nil {
				t.Fatal(err)
			}
			sent := time.Now()
			code, screen := s.ends(t)
			if want := map[bool]int{true: -1, false: 1}[stop.signal == syscall.SIGKILL]; code != want || !strings.HasSuffix(screen, stop.says) {
				t.Errorf("%s at %d%%: exit %d\n%s", stop.signal, stop.percent, code, screen)
			}
			if took := time.Since(sent); took > 20*time.Second {
				t.Errorf("%s: it took %s to stop", stop.signal, took)
			}
			if r := inside(on(c, "export", "--organization", f.OrganizationID, "--format", "csv")...); r.code == 0 {
				t.Errorf("%s at %d%% has left the organization", stop.signal, stop.percent)
			}
		}
		r := inside(on(c, "import", file)...).mustDo(t)
		if !strings.Contains(r.out, "tables equal") || !strings.Contains(r.out, "every invariant holds") {
			t.Errorf("it says\n%s", r.out)
		}
		inside(on(c, "verify")...).mustDo(t)
		if got, want := exported(t, c), exported(t, from); got != want {
			t.Error("the journal is another one")
		}
	})
}
