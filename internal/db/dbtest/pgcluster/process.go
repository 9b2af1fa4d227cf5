package pgcluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// process is a server process; done is closed when it ends.
type process struct {
	pid  int
	done chan struct{}
	err  error // The result of Wait; may be read after done is closed.
}

// spawn starts a command from a thread that lives as long as the command: the kernel sends the parent-death signal when
// the thread that forked ends, not when the program does.
func spawn(cmd *exec.Cmd) (*process, error) {
	started := make(chan error, 1)
	p := &process{done: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run runs a command and waits until it ends.
func run(cmd *exec.Cmd) error {
	p, err := spawn(cmd)
	if err != nil {
		return err
	}
	<-p.done
	return p.err
}

// signal sends a signal to the postmaster, which passes it on to its processes as the kind of shutdown requires.
func (p *process) signal(s syscall.Signal) {
	select {
	case <-p.done:
		// The id may belong to another process by now.
	default:
		_ = syscall.Kill(p.pid, s)
	}
}

// killAll kills the postmaster and its backends. Each backend has a process group of its own, so the children are listed
// while the postmaster is stopped and cannot fork.
func (p *process) killAll() {
	p.signal(syscall.SIGSTOP)
	pids := children(p.pid)
	select {
	case <-p.done:
		return
	default:
	}
	adoptOrphans()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.done
	for _, pid := range pids {
		// This fails where init adopts orphans, which then waits for them.
		_, _ = syscall.Wait4(pid, nil, 0, nil)
	}
}

// The lines of postmaster.pid that matter here, counted from zero.
const (
	pidLine    = 0
	memoryLine = 6
	statusLine = 7
)

func (c *Cluster) pidFileLines() []string {
	raw, err := os.ReadFile(filepath.Join(c.dataDir(), "postmaster.pid"))
	if err != nil {
		return nil
	}
	return strings.Split(string(raw), "\n")
}

// pidFile returns the server's process id and status, or zero values while the file is not complete.
func (c *Cluster) pidFile() (pid int, status string) {
	lines := c.pidFileLines()
	if len(lines) <= statusLine {
		return 0, ""
	}
	pid, err := strconv.Atoi(lines[pidLine])
	if err != nil {
		return 0, ""
	}
	return pid, strings.TrimSpace(lines[statusLine])
}

// freeSharedMemory frees the one segment that remains after a server was killed; a server that ended by itself leaves no
// pid file and no segment. The system has few segments, and after Close there is no further start that would free it.
func (c *Cluster) freeSharedMemory() {
	lines := c.pidFileLines()
	if len(lines) <= memoryLine {
		return
	}
	if fields := strings.Fields(lines[memoryLine]); len(fields) == 2 {
		// An error is ignored: a segment that remains does no immediate harm.
		_ = exec.Command("ipcrm", "-m", fields[1]).Run()
	}
}
