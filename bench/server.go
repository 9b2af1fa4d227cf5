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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bursarhq/bursar/client"
)

// stopWait bounds how long a server may take to stop before it is killed.
const stopWait = 10 * time.Second

// program returns the binary to measure: the one that BURSAR_BIN names, or one built like a release.
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

// command prepares the program without any settings of it in the caller's environment. It runs in the folder of the measurement, so that
// files which it creates in its default folder are deleted at the end.
func (b *bench) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.ctx, b.bin, args...)
	cmd.Dir = b.dir
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "BURSAR_") && !strings.HasPrefix(entry, "OTEL_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	return cmd
}

// initialize creates an organization in a database, with further flags of the command.
func (b *bench) initialize(d database, flags ...string) (database, error) {
	args := slices.Concat(d.flags(), []string{"init", "--organization", "Bench", "--email", "bench@example.com", "--json"}, flags)
	out, err := b.command(args...).Output()
	if err != nil {
		return d, fmt.Errorf("init: %w", explain(err))
	}
	var answer struct {
		APIKey string `json:"api_key"`
	}
	err = json.Unmarshal(out, &answer)
	d.key = answer.APIKey
	return d, err
}

// explain adds what a command wrote to stderr to the error of its exit code.
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

// serve starts the service on a database and returns when it is ready. It has no rate limit, because the rate is what is measured.
func (b *bench) serve(k database, flags ...string) (*server, error) {
	cmd := b.command(slices.Concat(k.flags(), []string{"serve", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--log-format", "json"},
		flags)...)
	return launch(cmd, k.key, func(line string) string {
		var entry struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "ready" {
			return ""
		}
		return strings.TrimPrefix(entry.Address, "http://")
	})
}

// serveNew starts the service on a new SQLite database.
func (b *bench) serveNew(name string) (*server, error) {
	k, err := b.folder(name)
	if err != nil {
		return nil, err
	}
	return b.serve(k)
}

// launch starts a process and reads its stderr until a line contains its address.
func launch(cmd *exec.Cmd, key string, address func(line string) string) (*server, error) {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var seen strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if host := address(lines.Text()); host != "" {
			// The rest is discarded, so that the process never blocks on a full pipe.
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return &server{cmd, host, key}, nil
		}
		seen.WriteString(lines.Text() + "\n")
	}
	return nil, fmt.Errorf("%s: %w\n%s", cmd.Args[0], cmd.Wait(), seen.String())
}

// stop terminates the process and waits for it.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.AfterFunc(stopWait, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	return s.cmd.Wait()
}

// client returns an API client, for requests that are not measured.
func (s *server) client() *client.Client { return client.New("http://"+s.host, s.key) }

// cpu returns the processor time that the process has used, which the kernel counts in hundredths of a second.
func (s *server) cpu() (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The name in parentheses may contain spaces; user and system time are the 12th and 13th field after it.
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

// serveConstant serves a constant: the least that a Go program can do over HTTP, for the service to be compared with.
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

// constant starts this program a second time, as the server of a constant.
func (b *bench) constant() (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return launch(exec.CommandContext(b.ctx, self, "-"+constantFlag), "", func(line string) string { return line })
}
