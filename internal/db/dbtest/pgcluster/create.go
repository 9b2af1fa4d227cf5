package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// socketPathMax is the longest path of a unix socket that Linux accepts.
const socketPathMax = 107

// errStillHeld means that a start failed because another process holds a port or memory: trying again may help.
var errStillHeld = errors.New("a port or memory is still held by another process")

var settingName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.]*$`)

// defaultSettings are durable, because the service refuses to run on a server that may lose commits. What they leave out is as PostgreSQL
// sets it, so that benchmarks measure a usual server.
var defaultSettings = map[string]string{
	"max_connections":    "400",
	"shared_buffers":     "128MB",
	"fsync":              "on",
	"synchronous_commit": "on",
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
	"listen_addresses":   "127.0.0.1",
	// Files in the data folder are deleted with it; POSIX segments of a killed server would stay in memory.
	"dynamic_shared_memory_type": "mmap",
}

func (c *Cluster) create(ctx context.Context, settings map[string]string) error {
	conf, err := c.configuration(settings)
	if err != nil {
		return err
	}
	out, err := c.initdb(ctx, "C.UTF-8")
	if err != nil && bytes.Contains(out, []byte("locale")) {
		// Older systems have no C.UTF-8; with C, only the sorting of text that is not ASCII differs.
		if err := os.RemoveAll(c.dataDir()); err != nil {
			return fmt.Errorf("create the PostgreSQL cluster: %w", err)
		}
		out, err = c.initdb(ctx, "C")
	}
	if err != nil {
		return fmt.Errorf("create the PostgreSQL cluster: initdb: %w\n%s", err, out)
	}
	file, err := os.OpenFile(filepath.Join(c.dataDir(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("configure the PostgreSQL cluster: %w", err)
	}
	_, err = file.WriteString(conf)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("configure the PostgreSQL cluster: %w", err)
	}
	return nil
}

func (c *Cluster) initdb(ctx context.Context, locale string) ([]byte, error) {
	cmd := c.command(ctx, "initdb", "-D", c.dataDir(), "-U", "postgres", "-E", "UTF8", "--locale="+locale,
		"--auth=trust", "--no-sync", "--no-instructions")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := run(cmd)
	return out.Bytes(), err
}

// configuration renders the defaults and the given settings as lines of postgresql.conf.
func (c *Cluster) configuration(settings map[string]string) (string, error) {
	all := maps.Clone(defaultSettings)
	all["unix_socket_directories"] = socketDir(c.folder.path)
	maps.Copy(all, settings)
	var b strings.Builder
	b.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		if !settingName.MatchString(name) || strings.ContainsAny(value, "\n\\") {
			return "", fmt.Errorf("configure the PostgreSQL cluster: %q = %q is not a setting", name, value)
		}
		fmt.Fprintf(&b, "%s = '%s'\n", name, strings.ReplaceAll(value, "'", "''"))
	}
	return b.String(), nil
}

// socketDir returns the folder for sockets, so that none is created in the system's folder. It returns an empty text,
// which means no sockets, where the path is too long; tests use TCP.
func socketDir(dir string) string {
	if len(filepath.Join(dir, ".s.PGSQL.65535.lock")) > socketPathMax {
		return ""
	}
	return dir
}

// command returns a command for a program of PostgreSQL that runs as the cluster's user, without the caller's PG* settings.
func (c *Cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, name), args...)
	// The server's user may be unable to enter the caller's folder, which would fill the log with warnings.
	cmd.Dir = c.folder.path
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "PG") && !strings.HasPrefix(entry, "LC_") && !strings.HasPrefix(entry, "LANG") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C", "HOME="+c.folder.path)
	cmd.SysProcAttr = c.user.attributes()
	return cmd
}

// explain adds what the server has logged since an offset to an error, and errStillHeld if another try may succeed.
func (c *Cluster) explain(err error, from int64) error {
	raw, readErr := os.ReadFile(c.logFile())
	if readErr != nil || int64(len(raw)) < from {
		return err
	}
	logged := raw[from:]
	for _, sign := range []string{"Address already in use", "is still in use"} {
		if bytes.Contains(logged, []byte(sign)) {
			return fmt.Errorf("%w: %w\n%s", err, errStillHeld, logged)
		}
	}
	return fmt.Errorf("%w\n%s", err, logged)
}

// freePort returns a free port below those that the system assigns to clients, so that no client takes it while the server
// is down.
func freePort(ctx context.Context) (int, error) {
	const low, high, triesMax = 15000, 32000, 100
	var config net.ListenConfig
	var err error
	for range triesMax {
		port := low + rand.IntN(high-low)
		var listener net.Listener
		listener, err = config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("find a free port for PostgreSQL: %w", err)
}
