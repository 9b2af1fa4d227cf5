// Package pgcluster runs a private PostgreSQL server for tests, so that no test depends on, or damages, a server that is
// installed on the machine.
package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	// readyWait is long because recovery after Kill replays the log on machines that may be busy with other tests.
	readyWait = 2 * time.Minute
	// stopWait bounds a shutdown; past it the server is hung and is killed.
	stopWait = 30 * time.Second
	// startsMax bounds how often Start picks another port because another process has taken the chosen one.
	startsMax = 8
)

// Options says where a cluster stores its data and how it is configured; the zero value is a good default.
type Options struct {
	// Dir is the parent of the cluster's folder; empty means memory when there is room for it, else the temp folder.
	Dir string
	// Settings are lines of postgresql.conf; they override the defaults of this package.
	Settings map[string]string
}

// Cluster is one running, or stopped, private PostgreSQL server with its data.
type Cluster struct {
	bin    string
	folder *folder
	user   *serverUser
	port   int

	mu     sync.Mutex // Guards proc and closed: tests may stop a server from several goroutines.
	proc   *process
	closed bool
}

// Start creates a cluster and returns when it accepts connections. The context applies to the start only.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	user, err := unprivileged()
	if err != nil {
		return nil, err
	}
	folder, err := newFolder(opts.Dir, user)
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin, folder: folder, user: user}
	if err := c.create(ctx, opts.Settings); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.startOnFreePort(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Folder returns the folder of the cluster, which is in memory if there is room. It is removed by Close, with everything in it.
func (c *Cluster) Folder() string { return c.folder.path }

// URL returns the address of a database of the cluster, for a superuser without a password.
func (c *Cluster) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User("postgres"),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Stop ends the server and keeps its data. After an immediate stop the next start must recover, as after a crash.
func (c *Cluster) Stop(immediate bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop(immediate)
}

// Kill ends every process of the server at once, as a power failure would, and keeps its data.
func (c *Cluster) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kill()
}

// Restart stops the server if it runs and starts it on the same port and data.
func (c *Cluster) Restart(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.New("restart PostgreSQL: the cluster is closed and its data is gone")
	}
	if err := c.stop(false); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	for {
		err := c.start(ctx)
		if err == nil || !errors.Is(err, errStillHeld) {
			return err
		}
		// Processes that were just killed release the port and the memory a moment later.
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Close ends the server and removes its folder; closing twice is harmless.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	// The data is about to be deleted, so a clean shutdown would only take time.
	err := c.stop(true)
	c.freeSharedMemory()
	return errors.Join(err, c.folder.remove())
}

func (c *Cluster) startOnFreePort(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	var err error
	for range startsMax {
		if c.port, err = freePort(ctx); err != nil {
			return err
		}
		if err = c.start(ctx); !errors.Is(err, errStillHeld) {
			return err
		}
	}
	return err
}

func (c *Cluster) start(ctx context.Context) error {
	log, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the log of PostgreSQL: %w", err)
	}
	defer log.Close()
	from, err := log.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("open the log of PostgreSQL: %w", err)
	}
	cmd := c.command(context.Background(), "postgres", "-D", c.dataDir(), "-p", strconv.Itoa(c.port))
	cmd.Stdout, cmd.Stderr = log, log
	proc, err := spawn(cmd)
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	if err := c.awaitReady(ctx, proc); err != nil {
		proc.killAll()
		return c.explain(err, from)
	}
	c.proc = proc
	return nil
}

// awaitReady waits for the status that the server writes beside its data: unlike a connection, it cannot come from
// another server on the same port.
func (c *Cluster) awaitReady(ctx context.Context, proc *process) error {
	for {
		if pid, status := c.pidFile(); pid == proc.pid && status == "ready" {
			return nil
		}
		select {
		case <-proc.done:
			return errors.New("start PostgreSQL: the server ended at once")
		case <-ctx.Done():
			return fmt.Errorf("start PostgreSQL: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (c *Cluster) stop(immediate bool) error {
	if c.proc == nil {
		return nil
	}
	signal := syscall.SIGINT
	if immediate {
		signal = syscall.SIGQUIT
	}
	c.proc.signal(signal)
	select {
	case <-c.proc.done:
		c.proc = nil
		return nil
	case <-time.After(stopWait):
		c.kill()
		return fmt.Errorf("stop PostgreSQL: it did not end within %s and was killed", stopWait)
	}
}

func (c *Cluster) kill() {
	if c.proc != nil {
		c.proc.killAll()
		c.proc = nil
	}
}

func (c *Cluster) dataDir() string { return filepath.Join(c.folder.path, "data") }
func (c *Cluster) logFile() string { return filepath.Join(c.folder.path, "postgres.log") }
