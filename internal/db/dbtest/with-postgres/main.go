// Command with-postgres starts a private PostgreSQL server, runs another command, and stops the server when it ends:
//
//	with-postgres -- go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/bursarhq/bursar/internal/db/dbtest/pgcluster"
)

const (
	exitFailed = 1
	exitUsage  = 2
	// exitSignal plus the signal's number is how a shell reports a command that a signal ended.
	exitSignal = 128
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: with-postgres -- COMMAND [ARGUMENT...]\nsets BURSAR_TEST_DATABASE_URL and BURSAR_TEST_FOLDER for it")
		return exitUsage
	}
	// Signals are caught before the server starts, so that none can end this program without closing it.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	cluster, err := pgcluster.Start(context.Background(), pgcluster.Options{Settings: settings(os.Getenv)})
	if err != nil {
		fmt.Fprintln(os.Stderr, "with-postgres:", err)
		return exitFailed
	}
	code := command(args, []string{"BURSAR_TEST_DATABASE_URL=" + cluster.URL("postgres"), "BURSAR_TEST_FOLDER=" + cluster.Folder()}, signals)
	if err := cluster.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "with-postgres:", err)
		return max(code, exitFailed)
	}
	return code
}

// settings returns what makes short tests faster: their databases live for seconds, and a crash of the machine ends them. Those of the long
// tests live for hours, and get the settings of a usual server.
func settings(getenv func(string) string) map[string]string {
	if getenv("BURSAR_SOAK") != "" {
		return nil
	}
	return map[string]string{"autovacuum": "off", "full_page_writes": "off", "jit": "off"}
}

// command runs the command to its end, passing signals on, and returns its exit code as a shell would.
func command(args, env []string, signals <-chan os.Signal) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "with-postgres:", err)
		return exitFailed
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			// It fails only when the command has just ended; the other case handles that.
			_ = cmd.Process.Signal(s)
		case err := <-ended:
			return exitCode(err)
		}
	}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		fmt.Fprintln(os.Stderr, "with-postgres:", err)
		return exitFailed
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignal + int(status.Signal())
	}
	return exit.ExitCode()
}
