package cli_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// terminal opens a pseudo terminal: what a program writes to one end is read at the other.
func terminal(t *testing.T) (screen, end *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	var locked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	end, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end.Close() })
	return screen, end
}

// shown is a program whose stderr is a terminal, and what it writes there.
type shown struct {
	*exec.Cmd
	out    *logLines
	drawn  chan string // receives each progress bar
	screen *strings.Builder
	read   chan struct{}
}

func show(t *testing.T, args ...string) *shown {
	t.Helper()
	screen, end := terminal(t)
	s := &shown{Cmd: command(t, nil, args), out: &logLines{}, drawn: make(chan string, 1000), screen: &strings.Builder{},
		read: make(chan struct{})}
	s.Stdout, s.Stderr = s.out, end
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	end.Close() // so that reading ends when the program does
	t.Cleanup(func() { _ = s.Process.Kill() })
	go func() {
		defer close(s.read)
		defer close(s.drawn)
		r := bufio.NewReader(screen)
		for {
			part, err := r.ReadString('%')
			s.screen.WriteString(part)
			if err != nil {
				return
			}
			s.drawn <- part
		}
	}()
	return s
}

// until waits until a bar shows at least a percentage.
func (s *shown) until(t *testing.T, percent int) {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case part, more := <-s.drawn:
			if !more {
				t.Fatalf("it never comes to %d%%:\n%s", percent, s.screen)
			}
			if n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(part[strings.LastIndex(part, "]")+1:], "%"))); err == nil &&
				n >= percent {
				return
			}
		case <-limit:
			t.Fatalf("it never comes to %d%%", percent)
		}
	}
}

// ends waits for the program and returns its exit code and what was on the screen.
func (s *shown) ends(t *testing.T) (code int, screen string) {
	t.Helper()
	timer := time.AfterFunc(patience, func() { _ = s.Process.Kill() })
	defer timer.Stop()
	_ = s.Wait() // how it ended is in ProcessState
	<-s.read
	return s.ProcessState.ExitCode(), s.screen.String()
}

func TestABarIsDrawnOnATerminalAndNowhereElse(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	found(t, c)
	file := aJournal(t, "books.journal", 1000)
	s := show(t, on(c, "import", file)...)
	code, screen := s.ends(t)
	if code != 0 || !strings.Contains(screen, "[####################....................]  50% read") ||
		!strings.HasSuffix(screen, "\r["+strings.Repeat("#", 40)+"] 100% read\r\n") {
		t.Errorf("exit %d\n%s", code, screen)
	}
	if out := s.out.text(); out != "Imported 1000 entries, 0 new accounts and 0 exchange rates.\n" {
		t.Errorf("%q", out)
	}
	s = show(t, on(c, "export", "--format", "csv")...)
	if code, screen := s.ends(t); code != 0 || strings.Count(screen, "\r[") < 50 || !strings.HasSuffix(screen, "100% written\r\n") ||
		strings.Contains(s.out.text(), "%") {
		t.Errorf("exit %d\n%s", code, screen)
	}
	// The error is not on the line of the progress bar.
	s = show(t, on(c, "import", aJournal(t, "books.journal", 600, "2025-01-01 x\n  Assets:A  1 EUR\n  Assets:B\n"))...)
	if code, screen := s.ends(t); code != 1 || !strings.Contains(screen, "% read\r\nbursar: the journal cannot be imported into these books") {
		t.Errorf("exit %d\n%s", code, screen)
	}
	for _, args := range [][]string{{"import", aJournal(t, "books.journal", 600)}, {"export", "--format", "csv"}} {
		if r := program(t, nil, on(c, args...)...).mustDo(t); r.err != "" {
			t.Errorf("stderr has %q", r.err)
		}
	}
}

func TestSoakAnImportThatIsStoppedLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		found(t, c)
		file := aJournal(t, "books.journal", 12_000)
		for signal, says := range map[syscall.Signal]string{syscall.SIGINT: "% read\r\nbursar: interrupted: nothing was imported\r\n",
			syscall.SIGTERM: "bursar: interrupted: nothing was imported\r\n", syscall.SIGKILL: ""} {
			s := show(t, on(c, "import", file)...)
			s.until(t, 30)
			if err := s.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			sent := time.Now()
			code, screen := s.ends(t)
			if want := map[bool]int{true: -1, false: 1}[signal == syscall.SIGKILL]; code != want || !strings.HasSuffix(screen, says) ||
				strings.Contains(screen, "100%") {
				t.Errorf("%s: exit %d\n%s", signal, code, screen)
			}
			if took := time.Since(sent); took > 20*time.Second {
				t.Errorf("%s: it took %s to stop", signal, took)
			}
			if n := entriesIn(t, c); n != 0 {
				t.Errorf("%s: %d entries are there", signal, n)
			}
		}
		inside(on(c, "verify")...).mustDo(t)
		if tags := strings.Count(exported(t, c), "project:"); tags != 0 {
			t.Errorf("%d tags are there", tags)
		}
		inside(on(c, "import", aJournal(t, "books.journal", 10))...).mustDo(t)
		if n := entriesIn(t, c); n != 10 {
			t.Errorf("%d entries are there", n)
		}
	})
}

func TestWaitingForInputCanBeInterruptedAndDelaysNobody(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	f := found(t, c)
	service := once(serve(t, c).ready(t), f.APIKey)
	s := command(t, nil, on(c, "import", "--format", "hledger", "-"))
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said := &logLines{}
	s.Stderr = said
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() })
	notes := strings.Repeat("; more than a pipe holds, so that it was read in part once it is written\n", 2000)
	if _, err := io.WriteString(in, notes+"2025-01-01 half an entry\n  Assets:A  1 USD\n"); err != nil {
		t.Fatal(err)
	}
	name := "While somebody types"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := service.UpdateOrganization(ctx, client.UpdateOrganization{Name: &name}); err != nil {
		t.Errorf("a write while an import waits for its input: %v", err)
	}
	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said.text(), "interrupted: nothing was imported") {
			t.Errorf("%v\n%s", err, said.text())
		}
	case <-time.After(patience):
		t.Error("it does not stop")
	}
}

func TestAnExportThatCannotBeWrittenFailsAndLeavesNoHalf(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	found(t, c)
	inside(on(c, "import", aJournal(t, "books.journal", 2000))...).mustDo(t)
	for _, format := range []string{"hledger", "beancount", "csv"} {
		export := `"$1" export --format ` + format + ` --data ` + c.Dir
		for name, script := range map[string]string{
			"a full device":  export + ` > /dev/full && echo done`,
			"a full disk":    `ulimit -f 64; ` + export + ` --output out.` + format + ` && echo done; ls; rm -f out.*`,
			"a closed pipe":  export + ` | head -c 100000 > /dev/null && echo done`,
			"a closed pipe ": export + ` | true && echo done`,
		} {
			cmd := command(t, nil, nil)
			run := exec.Command("/bin/bash", "-o", "pipefail", "-c", script, "bash", cmd.Path)
			run.Dir, run.Env = cmd.Dir, cmd.Env
			out, err := run.CombinedOutput()
			if strings.Contains(string(out), "done") || strings.Contains(string(out), "out.") && !strings.Contains(string(out), "file too large") {
				t.Errorf("%s, %s: %v\n%s", format, name, err, out)
			}
			if strings.HasPrefix(name, "a full") && !strings.Contains(string(out),
				map[string]string{"a full device": "no space left on device", "a full disk": "file too large"}[name]) {
				t.Errorf("%s, %s: %s", format, name, out)
			}
			if left, err := filepath.Glob(filepath.Join(cmd.Dir, "out.*")); err != nil || len(left) > 0 {
				t.Errorf("%s, %s left %v %v", format, name, left, err)
			}
		}
	}
}

func TestAnExportThatIsStoppedLeavesNoHalf(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	found(t, c)
	inside(on(c, "import", aJournal(t, "books.journal", 8_000))...).mustDo(t)
	file := filepath.Join(t.TempDir(), "books.csv")
	s := show(t, on(c, "export", "--output", file)...)
	s.until(t, 10)
	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code, screen := s.ends(t); code != 1 || !strings.HasSuffix(screen, "bursar: interrupted: the export is incomplete\r\n") {
		t.Errorf("exit %d\n%s", code, screen)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("half a file is there")
	}
}

// poster posts entries one after the other until it is stopped, and returns how many were acknowledged.
func poster(t *testing.T, service *client.Client, stop <-chan struct{}) <-chan int {
	t.Helper()
	codes := map[string]string{}
	for a, err := range service.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Code != nil {
			codes[*a.Code] = a.ID
		}
	}
	done := make(chan int, 1)
	go func() {
		posted := 0
		for {
			select {
			case <-stop:
				done <- posted
				return
			default:
			}
			_, err := service.CreateJournalEntry(context.Background(), client.CreateJournalEntry{AccountingDate: "2025-06-30",
				Status: "posted", Lines: []client.CreateJournalLine{
					{LedgerAccountID: codes["1010"], CreditOrDebit: "DEBIT", Amount: "1"}, {LedgerAccountID: codes["4010"],
						CreditOrDebit: "CREDIT", Amount: "1"}}})
			switch {
			case err == nil:
				posted++
			case unavailable(err) != nil: // SQLite waits at most ten seconds for a lock
				t.Error(err)
			}
		}
	}()
	return done
}

func TestSoakBooksAreReadInAndWrittenOutBesideTheRunningService(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		service := once(serve(t, c).ready(t), f.APIKey)
		stop := make(chan struct{})
		posting := poster(t, service, stop)
		s := show(t, on(c, "import", aJournal(t, "books.journal", 5000))...)
		s.until(t, 50)
		if _, err := service.Organization(t.Context()); err != nil {
			t.Errorf("a read while books are read in: %v", err)
		}
		if text := exported(t, c); strings.Contains(text, "Invoice") {
			t.Error("an export sees half of an import")
		}
		if code, screen := s.ends(t); code != 0 {
			t.Fatalf("exit %d\n%s", code, screen)
		}
		close(stop)
		posted := <-posting
		if n := entriesIn(t, c); n != 5000+posted || posted == 0 {
			t.Errorf("%d entries after %d posts", n, posted)
		}
		verifyWhole(t, c, service)
	})
}

// measured runs a program and returns its peak memory in MiB. The maximum that the system reports for a child process is of
// no use: it includes the memory that the child shared with the test before exec.
func measured(t *testing.T, cmd *exec.Cmd) (most int64) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return most >> 10
		case <-time.After(10 * time.Millisecond):
			status, _ := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status") // it is gone when the process is
			if _, rest, there := strings.Cut(string(status), "VmHWM:"); there {
				if kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
					most = max(most, kib)
				}
			}
		}
	}
}

func TestSoakBooksStreamInAndOut(t *testing.T) {
	t.Parallel()
	counts := []int{dbtest.Repeats(500, 10_000), dbtest.Repeats(2500, 50_000)}
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		var before int64
		for _, n := range counts {
			f := found(t, c)
			file := aJournal(t, "books.journal", n)
			for _, args := range [][]string{{"import", file}, {"export", "--format", "hledger"}, {"export", "--format", "beancount"},
				{"export", "--format", "csv"}} {
				cmd := command(t, nil, append(on(c, args...), "--organization", f.OrganizationID))
				began := time.Now()
				most := measured(t, cmd)
				t.Logf("%s %d entries: %.1f s, %.1f s of a core, %d MiB", args[0]+" "+args[len(args)-1][strings.LastIndex(args[len(args)-1],
					"/")+1:], n, time.Since(began).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), most)
				if most > 256 {
					t.Errorf("%s of %d entries takes %d MiB", args[0], n, most)
				}
				if args[0] == "import" {
					if before > 100 && most > before*3/2 {
						t.Errorf("%d entries take %d MiB, where %d took %d", n, most, counts[0], before)
					}
					before = most
				}
			}
		}
	})
}
