// Command bench measures the service on this machine and holds the figures against targets: `go run ./bench [-quick] [-only NAME]`.
// Most figures are ratios of two measurements taken in turns, because a rate alone says more about the machine than about the service.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

// bench is one run.
type bench struct {
	ctx   context.Context
	quick bool
	bin   string // the program under test
	other string // another build of it to compare with; may be empty
	dir   string // everything written goes here
}

// figure is one line of the table; without a verdict it only informs.
type figure struct {
	name    string
	value   string
	target  string
	verdict verdict
	note    string
}

type verdict string

const (
	informs verdict = ""
	passes  verdict = "PASS"
	fails   verdict = "FAIL"
)

// judge is the verdict on a target that is met or not.
func judge(met bool) verdict {
	if met {
		return passes
	}
	return fails
}

// suite is every measurement there is, in the order it is run.
var suite = []struct {
	name    string
	measure func(*bench) ([]figure, error)
}{
	{"start", measureStart},
	{"rss", measureRSS},
	{"read", measureRead},
	{"write", measureWrite},
	{"history", measureHistory},
	{"post-postgres", measurePostPostgres},
	{"post-sqlite", measurePostSQLite},
	{"post-against", measureAgainst},
	{"balance-sheet", measureSheet},
	{"lots-sqlite", onSQLite("lots", (*bench).lots)},
	{"lots-postgres", onPostgres((*bench).lots)},
	{"transactions-sqlite", measureTransactionsSQLite},
	{"transactions-postgres", measureTransactionsPostgres},
	{"lot-reports", measureLotReports},
	{"matcher", measureMatcher},
	{"classify-sqlite", onSQLite("classify", (*bench).classify)},
	{"classify-postgres", onPostgres((*bench).classify)},
	{"memory-sqlite", onSQLite("memory", (*bench).memory)},
	{"memory-postgres", onPostgres((*bench).memory)},
}

func main() { os.Exit(run()) }

func run() int {
	quick := flag.Bool("quick", false, "measure for a short time; figures vary more")
	only := flag.String("only", "", "run one measurement, or those of a name on both databases: "+strings.Join(names(), ", "))
	other := flag.String("against", "", "another build of the program, which post-against compares with")
	constant := flag.Bool(constantFlag, false, "serve a constant, for the comparison with a bare server; used by bench itself")
	flag.Parse()
	if *constant {
		return serveConstant()
	}
	if flag.NArg() > 0 || *only != "" && !known(*only) {
		flag.Usage()
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := measure(ctx, *quick, *only, *other)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return exitFailed
	}
	if failed > 0 {
		fmt.Printf("\n%d missed their target.\n", failed)
		return exitFailed
	}
	return 0
}

func names() []string {
	out := make([]string, len(suite))
	for i, s := range suite {
		out[i] = s.name
	}
	return out
}

func known(name string) bool {
	return slices.ContainsFunc(names(), func(n string) bool { return wanted(n, name) })
}

// wanted tells whether a measurement is among those asked for: lots are lots-sqlite and lots-postgres.
func wanted(name, only string) bool {
	return only == "" || name == only || strings.HasPrefix(name, only+"-") && (strings.HasSuffix(name, "-sqlite") ||
		strings.HasSuffix(name, "-postgres"))
}

// measure runs the suite, prints the table and tells how many figures missed their target.
func measure(ctx context.Context, quick bool, only, other string) (failed int, err error) {
	dir, err := os.MkdirTemp("", "bursar-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	b := &bench{ctx: ctx, quick: quick, dir: dir, other: other}
	if b.bin, err = program(ctx, dir); err != nil {
		return 0, err
	}
	began := time.Now()
	var table []figure
	for _, s := range suite {
		if !wanted(s.name, only) {
			continue
		}
		figures, err := s.measure(b)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.name, err)
		}
		table = append(table, figures...)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FIGURE\tVALUE\tTARGET\t\tDETAILS")
	for _, f := range table {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.name, f.value, f.target, f.verdict, f.note)
		if f.verdict == fails {
			failed++
		}
	}
	if err := w.Flush(); err != nil {
		return failed, err
	}
	fmt.Printf("\nMeasured in %s.\n", time.Since(began).Round(time.Second))
	return failed, nil
}

// pick chooses by how thorough the run is.
func pick[T any](b *bench, thorough, quick T) T {
	if b.quick {
		return quick
	}
	return thorough
}
