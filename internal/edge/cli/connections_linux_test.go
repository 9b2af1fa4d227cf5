package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/provider/bitstamp/bitstamptest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// typist is somebody at a terminal in which the program runs.
type typist struct {
	*testing.T
	master *os.File
	cmd    *exec.Cmd
	screen *logLines
	seen   int // bytes of the screen
	done   chan struct{}
}

// atTerminal runs the program in a terminal.
func atTerminal(t *testing.T, env []string, args ...string) *typist {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &typist{T: t, master: master, cmd: command(t, env, args), screen: &logLines{}, done: make(chan struct{})}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	go func() {
		defer close(p.done)
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			_, _ = p.screen.Write(buffer[:n]) // it never fails
			if err != nil {
				return // the program has ended
			}
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended already
		_ = p.cmd.Wait()
		master.Close()
	})
	return p
}

// sees waits until the screen shows a text after what was seen before.
func (p *typist) sees(text string) {
	p.Helper()
	eventually(p.T, "the screen shows "+text, func(context.Context) error {
		shown := p.screen.text()
		at := strings.Index(shown[min(p.seen, len(shown)):], text)
		if at < 0 {
			return fmt.Errorf("it shows\n%s", shown)
		}
		p.seen += at + len(text)
		return nil
	})
}

func (p *typist) types(text string) {
	p.Helper()
	if _, err := p.master.WriteString(text + "\n"); err != nil {
		p.Fatal(err)
	}
}

// ends returns the exit code.
func (p *typist) ends() int {
	p.Helper()
	<-p.done
	_ = p.cmd.Wait() // the code says how it went
	return p.cmd.ProcessState.ExitCode()
}

func TestAPersonAtATerminalIsAskedForEverythingAndSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	with := x.kraken.Credentials()
	p := atTerminal(t, remote(x.address, x.APIKey), "connect")
	p.sees("What do you want to connect?")
	p.types("no such thing")
	p.sees(", or a name.")
	p.types("kraken")
	p.sees("Query ledger entries")
	p.sees("API key: ")
	p.types(with["api_key"])
	p.sees("Private key: ")
	p.types("d3Jvbmc=")
	p.sees("refuses") // what was wrong is entered again
	p.sees("API key: ")
	p.types(with["api_key"])
	p.sees("Private key: ")
	p.types(with["api_secret"])
	p.sees("Connected: con_")
	p.sees("30 new transactions")
	if code := p.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if shown := p.screen.text(); strings.Contains(shown, with["api_secret"]) || strings.Contains(shown, "d3Jvbmc=") {
		t.Errorf("a secret is on the screen:\n%s", shown)
	}
	for _, line := range strings.Split(p.screen.text(), "\n") {
		if strings.Contains(line, "not available") && len([]rune(line)) > 81 {
			t.Errorf("the line is longer than the terminal: %q", line)
		}
	}
	u := atTerminal(t, remote(x.address, x.APIKey), "connections", "update", "Kraken", "--credentials")
	u.sees("API key: ")
	u.types(with["api_key"])
	u.sees("Private key: ")
	x.run("", "connections", "update", "Kraken", "--every", "30").mustDo(t) // the connection changes meanwhile
	u.types("d3Jvbmc=")
	u.sees("refuses")
	u.sees("API key: ")
	u.types(with["api_key"])
	u.sees("Private key: ")
	u.types(with["api_secret"])
	u.sees("Changed: con_")
	u.sees("bursar connections show con_")
	if code := u.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	q := atTerminal(t, remote(x.address, x.APIKey), "connections", "disconnect", "Kraken")
	q.sees("for good? [y/N]")
	q.types("n")
	if code := q.ends(); code != 1 {
		t.Errorf("exit %d", code)
	}
	if r := x.run("", "connections", "list").mustDo(t).says(t, "Kraken"); strings.Contains(r.out, "disconnected") {
		t.Errorf("%s", r.out)
	}
}

func TestCtrlCAtAQuestionEndsTheCommand(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	p := atTerminal(t, remote(x.address, x.APIKey), "connect", "kraken", "--field", "api_key=x")
	p.sees("Private key: ")
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.sees("nothing was connected")
	if code := p.ends(); code != 1 {
		t.Errorf("exit %d", code)
	}
	for c, err := range x.service.Connections(t.Context(), nil) {
		t.Errorf("%+v %v", c, err)
	}
}

func TestAPersonSaysWhichAccountAKeyIsOf(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	server := bitstamptest.New()
	providertest.Start(t, server, time.Now)
	server.Mu.Lock()
	server.Add(providertest.Movement{At: time.Now().Add(-48 * time.Hour), Kind: providertest.Deposit, Asset: "USD", Amount: "5.25"})
	server.Mu.Unlock()
	x.restart(nil, "--provider-url", "bitstamp="+server.URL)
	with := server.Credentials()
	x.run(with["api_key"]+"\n"+with["api_secret"]+"\n", "connect", "bitstamp").mustDo(t)
	x.run("", "connections", "disconnect", "Bitstamp").mustDo(t)
	for _, typed := range []string{"n", ""} {
		p := atTerminal(t, remote(x.address, x.APIKey), "connect", "bitstamp")
		p.sees("Its 1 transaction")
		p.types(typed)
		p.sees("API key: ")
		p.types(with["api_key"])
		p.sees("ecret: ")
		p.types(with["api_secret"])
		p.sees(map[string]string{"n": "1 new transaction", "": "1 known already"}[typed])
		if code := p.ends(); code != 0 {
			t.Errorf("exit %d", code)
		}
		c, err := x.service.Connection(t.Context(), conID.FindString(p.screen.text()[strings.Index(p.screen.text(), "Connected: "):]))
		if err != nil {
			t.Fatal(err)
		}
		if typed == "" {
			q := atTerminal(t, remote(x.address, x.APIKey), "connect", "bitstamp")
			q.sees("which is connected? [y/N]")
			q.types("y")
			q.sees("connections update " + c.ID + " --credentials")
			if code := q.ends(); code != 1 {
				t.Errorf("exit %d", code)
			}
		}
		if typed == "n" { // so that only the first one is asked about
			if _, err := x.service.Disconnect(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Kraken tells the account by the address for deposits, if there is one.
func TestAPersonIsAskedIfOnlyTheEarlierAccountIsTold(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	x.run(x.secrets(), "connect", "kraken", "--no-wait", "--every", "0").mustDo(t)
	first, err := x.connection(t.Context())
	if err != nil || first.ExternalAccountID == nil {
		t.Fatalf("%+v %v", first, err)
	}
	x.kraken.Mu.Lock()
	x.kraken.IBAN, x.kraken.Keys = "", append(x.kraken.Keys, "second")
	x.kraken.Mu.Unlock()
	for _, typed := range []string{"y", "n"} {
		p := atTerminal(t, remote(x.address, x.APIKey), "connect", "kraken", "--name", "Second", "--no-wait", "--field", "api_key=second")
		p.sees("rivate key: ")
		p.types(x.kraken.Credentials()["api_secret"])
		p.sees("Is this the account of \"Kraken\" (" + first.ID + "), which is connected? [y/N]")
		p.types(typed)
		if typed == "y" {
			p.sees("connections update " + first.ID + " --credentials")
		} else {
			p.sees("Connected: ")
		}
		if code, want := p.ends(), map[string]int{"y": 1, "n": 0}[typed]; code != want {
			t.Errorf("%q: exit %d, want %d", typed, code, want)
		}
	}
}

var conID = regexp.MustCompile(`con_[0-9a-z]+`)
