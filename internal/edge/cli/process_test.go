package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/cli"
)

// patience is how long a test waits for something that should happen at once: the machine may be busy with other tests.
const patience = 60 * time.Second

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(filepath.Dir(built))
	}
	os.Exit(code)
}

// built is the folder in which the program was built for this run, if it was.
var built string

// binary returns the path of the program under test: the one that make test has built, or one built now.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("BURSAR_BIN"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "bursar-cli-test-")
	if err != nil {
		return "", err
	}
	built = filepath.Join(dir, "bursar")
	if out, err := exec.Command("go", "build", "-o", built, "github.com/bursarhq/bursar/cmd/bursar").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return built, nil
})

// ownSettings are what the names of variables that configure the program begin with, or are; those of the caller are for the tests.
var ownSettings = []string{"BURSAR_", "OTEL_", "GOGC=", "GOMEMLIMIT="}

// command returns a command of the program, without the caller's own settings in its environment.
func command(t *testing.T, env, args []string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = t.TempDir() // a default such as ./data must not be created among the sources
	for _, entry := range os.Environ() {
		if !slices.ContainsFunc(ownSettings, func(prefix string) bool { return strings.HasPrefix(entry, prefix) }) {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// result is the exit code and the output of a command.
type result struct {
	code     int
	out, err string
}

// program runs the real program and waits until it ends.
func program(t *testing.T, env []string, args ...string) result {
	t.Helper()
	cmd := command(t, env, args)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// inside runs a command in this process, which is faster and counts for coverage.
func inside(args ...string) result {
	var out, errOut bytes.Buffer
	code := cli.Main(args, &out, &errOut)
	return result{code, out.String(), errOut.String()}
}

// mustDo fails the test unless the command succeeded.
func (r result) mustDo(t *testing.T) result {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	return r
}

// mustFail fails the test unless the command ended with the code and wrote all the texts to stderr.
func (r result) mustFail(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit %d, want %d\n%s%s", r.code, code, r.out, r.err)
	}
	for _, text := range texts {
		if !strings.Contains(r.err, text) {
			t.Errorf("stderr lacks %q:\n%s", text, r.err)
		}
	}
}

// on adds the flags that name a database, both of them, so that no variable of the caller's environment can.
func on(c db.Config, args ...string) []string {
	return append(args, "--data", c.Dir, "--database-url", c.URL)
}

// founded is the output of init --json.
type founded struct {
	OrganizationID string `json:"organization_id"`
	LegalEntityID  string `json:"legal_entity_id"`
	UserID         string `json:"user_id"`
	APIKey         string `json:"api_key"`
}

// found creates an organization with the command line.
func found(t *testing.T, c db.Config, more ...string) founded {
	t.Helper()
	args := append(on(c, "init", "--organization", "Acme", "--email", "owner@acme.example", "--another", "--json"), more...)
	var f founded
	if err := json.Unmarshal([]byte(inside(args...).mustDo(t).out), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// process is the program running as a server.
type process struct {
	cmd  *exec.Cmd
	log  *logLines // its stderr
	out  *logLines // its stdout
	done chan struct{}
}

// serve starts the service on a database and a free port.
func serve(t *testing.T, c db.Config, more ...string) *process {
	t.Helper()
	return start(t, nil, append(on(c, "serve", "--addr", "127.0.0.1:0", "--rate-limit", "0"), more...)...)
}

// start starts the program. It is killed when the test ends, and its log is shown when the test failed.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: command(t, env, args), log: &logLines{}, out: &logLines{}, done: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Stdout = p.log, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		p.log.end()
		p.out.end()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("what %s said:\n%s", args[0], p.log.tail())
		}
	})
	return p
}

// kill kills the process, as a power failure would, and returns when it has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it fails when the process has ended already
	<-p.done
}

// terminate asks the process to stop.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// wait returns the exit code of a process that should end by itself.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatal("the process does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// running reports whether the process has not ended.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// ready waits until the service accepts requests and returns its address.
func (p *process) ready(t *testing.T) string {
	t.Helper()
	line := p.logged(t, `"msg":"ready"`)
	var fields struct{ Address string }
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		t.Fatal(err)
	}
	return fields.Address
}

// logged waits for a line of the log.
func (p *process) logged(t *testing.T, text string) string {
	t.Helper()
	line, ok := p.log.await(text, patience)
	if !ok {
		t.Fatalf("the log never says %s:\n%s", text, p.log.tail())
	}
	return line
}

// logLines stores what a process writes, line by line, and notifies those that wait for a line.
type logLines struct {
	mu    sync.Mutex
	lines []string
	rest  string
	ended bool
	more  chan struct{}
}

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	parts := strings.Split(l.rest+string(b), "\n")
	l.lines, l.rest = append(l.lines, parts[:len(parts)-1]...), parts[len(parts)-1]
	l.wake()
	return len(b), nil
}

func (l *logLines) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.wake()
}

func (l *logLines) wake() {
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
}

// await returns the first line that contains the text, or false when the process ended or took too long.
func (l *logLines) await(text string, limit time.Duration) (string, bool) {
	timeout := time.After(limit)
	for from := 0; ; {
		l.mu.Lock()
		for ; from < len(l.lines); from++ {
			if strings.Contains(l.lines[from], text) {
				defer l.mu.Unlock()
				return l.lines[from], true
			}
		}
		if l.ended {
			l.mu.Unlock()
			return "", false
		}
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more := l.more
		l.mu.Unlock()
		select {
		case <-more:
		case <-timeout:
			return "", false
		}
	}
}

// text returns everything written so far.
func (l *logLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n") + "\n" + l.rest
}

// tail returns the end of the text: a service under load whose database is unavailable logs the same line thousands of times.
func (l *logLines) tail() string {
	const linesMax = 40
	text := l.text()
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-linesMax):], "\n")
}

// freeAddress returns a free address, for a service that is used before it is ready, when it logs its address.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// once returns a client without retries.
func once(address, key string) *client.Client {
	c := client.New(address, key)
	c.Retries = 0
	c.HTTP = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	return c
}

// eventually calls a function until it returns no error.
func eventually(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	limit := time.Now().Add(patience)
	for {
		err := try(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%s: still %v after %s", what, err, patience)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// unavailable checks that an error is the complete answer of a service whose database is unavailable.
func unavailable(err error) error {
	var e *client.Error
	switch {
	case !errors.As(err, &e):
		return fmt.Errorf("not an answer of the service: %w", err)
	case e.Status != http.StatusServiceUnavailable || e.Code != "SERVICE_UNAVAILABLE":
		return fmt.Errorf("want 503 SERVICE_UNAVAILABLE, got %w", err)
	case e.RetryAfter < time.Second:
		return fmt.Errorf("its Retry-After is %s: %w", e.RetryAfter, err)
	case e.RequestID == "" || e.Message == "":
		return fmt.Errorf("the body is not whole: %w", err)
	}
	return nil
}
