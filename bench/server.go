package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bursarhq/bursar/client"
)

// stopWait bounds how long a server may take to stop before it is killed.
const stopWait = 10 * time.Second

// program gives the binary to measure: the one that BURSAR_BIN names, or one built the way a release is.
func program(ctx context.Context, dir string) (string, error) {
	if path := os.Getenv("BURSAR_BIN"); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(dir, "bursar")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/bursarhq/bursar/cmd/bursar")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
}

// command prepares the program with none of the caller's own settings of it.
func (b *bench) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.ctx, b.bin, args...)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "BURSAR_") && !strings.HasPrefix(entry, "OTEL_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	return cmd
}

// books is a database with one organization in it.
type books struct {
	dir string // of a SQLite database
	url string // of a PostgreSQL database
	key string
}

// at names the database on the command line.
func (k books) at() []string {
	if k.url != "" {
		return []string{"--database-url", k.url}
	}
	return []string{"--data", k.dir}
}

// found makes an organization in a new folder.
func (b *bench) found(name string) (books, error) {
	return b.foundIn(books{dir: filepath.Join(b.dir, name)})
}

// foundIn makes an organization in a database.
func (b *bench) foundIn(k books) (books, error) {
	out, err := b.command(append(k.at(), "init", "--organization", "Bench", "--email", "bench@example.com", "--json")...).Output()
	if err != nil {
		return k, fmt.Errorf("init: %w", explain(err))
	}
	var answer struct {
		APIKey string `json:"api_key"`
	}
	err = json.Unmarshal(out, &answer)
	k.key = answer.APIKey
	return k, err
}

func explain(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	return err
}

// server is a process that answers HTTP.
type server struct {
	cmd  *exec.Cmd
	host string
	key  string
}

// serve starts the service on books and returns when it is ready. Nothing limits its rate, as that is what is measured.
func (b *bench) serve(k books) (*server, error) {
	cmd := b.command(append(k.at(), "serve", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--log-format", "json")...)
	return launch(cmd, k.key, func(line string) string {
		var entry struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "ready" {
			return ""
		}
		return strings.TrimPrefix(entry.Address, "http://")
	})
}

// fresh starts the service on books of its own.
func (b *bench) fresh(name string) (*server, error) {
	k, err := b.found(name)
	if err != nil {
		return nil, err
	}
	return b.serve(k)
}

// launch starts a process and reads its stderr until a line tells its address.
func launch(cmd *exec.Cmd, key string, address func(line string) string) (*server, error) {
	said, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var seen strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if host := address(lines.Text()); host != "" {
			// What comes later is drained, so that the process never waits for a reader.
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return &server{cmd, host, key}, nil
		}
		seen.WriteString(lines.Text() + "\n")
	}
	return nil, fmt.Errorf("%s: %w\n%s", cmd.Args[0], cmd.Wait(), seen.String())
}

// stop ends the process and waits for it.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.AfterFunc(stopWait, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	return s.cmd.Wait()
}

// client is for what is not measured.
func (s *server) client() *client.Client { return client.New("http://"+s.host, s.key) }

// cpu is the processor time the process has used, counted by the kernel in hundredths of a second.
func (s *server) cpu() (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The name in parentheses may hold spaces; user and system time are the 12th and 13th field behind it.
	const user, system, tick = 11, 12, 10 * time.Millisecond
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) <= system {
		return 0, fmt.Errorf("/proc/PID/stat is %q", raw)
	}
	total := time.Duration(0)
	for _, field := range []string{fields[user], fields[system]} {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(ticks) * tick
	}
	return total, nil
}

// constantFlag makes this program serve a constant instead of measuring.
const constantFlag = "serve-constant"

// serveConstant is the least a Go program can do over HTTP: it is what the service is compared with.
func serveConstant() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return exitFailed
	}
	fmt.Fprintln(os.Stderr, listener.Addr())
	body := []byte(`{"status":"ok"}`)
	err = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
	fmt.Fprintln(os.Stderr, "bench:", err)
	return exitFailed
}

// constant starts this program again as that server.
func (b *bench) constant() (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return launch(exec.CommandContext(b.ctx, self, "-"+constantFlag), "", func(line string) string { return line })
}
