// Command bench measures the service on this machine and compares the figures with targets:
//
//	go run ./bench [-quick | -tiny] [-only NAME]
//	go run ./bench -against /path/to/other/bursar
//
// Most figures are ratios of two measurements taken alternately, because a rate alone says more about the machine than
// about the service. With -against it measures two binaries alternately and prints what each figure costs after, divided
// by what it cost before.
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

// size says how much data is measured, and for how long.
type size int

const (
	tiny  size = iota // seconds: shows that every benchmark still runs, and judges nothing
	quick             // minutes: figures vary more, and targets that need much data are not judged
	full
)

// bench is one run.
type bench struct {
	ctx      context.Context
	size     size
	bin      string                              // the program that is measured
	other    string                              // the program to compare it with, if any
	dir      string                              // everything written goes here
	postgres func(name string) (database, error) // creates databases on PostgreSQL; if nil, each measurement starts a server
}

// figure is one row of the table.
type figure struct {
	name    string
	value   string
	target  string
	verdict verdict
	note    string
}

type verdict string

const (
	noTarget      verdict = "" // for information only
	passes        verdict = "PASS"
	fails         verdict = "FAIL"
	notApplicable verdict = "n/a at this size"
	unclear       verdict = "unclear" // too much noise to judge: measure again when the machine is quieter
)

// judge returns the verdict on a target. Targets are not judged at the tiny size.
func (b *bench) judge(met bool) verdict { return b.judgeFrom(quick, met) }

// judgeFrom returns the verdict on a target that applies from a size on: below it there is too little data to judge.
func (b *bench) judgeFrom(smallest size, met bool) verdict {
	switch {
	case b.size < smallest:
		return notApplicable
	case met:
		return passes
	}
	return fails
}

// measurement is one benchmark. It returns its rows of the table.
type measurement struct {
	name    string
	measure func(*bench) ([]figure, error)
}

// suite lists every benchmark, in the order they run.
var suite = []measurement{
	{"start", measureStart},
	{"rss", measureRSS},
	{"read", measureRead},
	{"write", measureWrite},
	{"history", measureHistory},
	{"post-postgres", onPostgres((*bench).postPostgres)},
	{"post-sqlite", onSQLite((*bench).postSQLite)},
	{"balance-sheet", onSQLite((*bench).balanceSheet)},
	{"verify-sqlite", onSQLite((*bench).verify)},
	{"verify-postgres", onPostgres((*bench).verify)},
	{"lots-sqlite", onSQLite((*bench).lots)},
	{"lots-postgres", onPostgres((*bench).lots)},
	{"transactions-sqlite", onSQLite((*bench).transactions)},
	{"transactions-postgres", onPostgres((*bench).transactions)},
	{"lot-reports-sqlite", onSQLite((*bench).lotReports)},
	{"lot-reports-postgres", onPostgres((*bench).lotReports)},
	{"matcher", measureMatcher},
	{"classify-sqlite", onSQLite((*bench).classify)},
	{"classify-postgres", onPostgres((*bench).classify)},
	{"match", measureMatch},
	{"cash-sqlite", onSQLite((*bench).cash)},
	{"cash-postgres", onPostgres((*bench).cash)},
	{"webhooks-sqlite", onSQLite((*bench).webhooks)},
	{"webhooks-postgres", onPostgres((*bench).webhooks)},
	{"identity-sqlite", onSQLite((*bench).identity)},
	{"identity-postgres", onPostgres((*bench).identity)},
	{"connections-sqlite", onSQLite((*bench).connected)},
	{"connections-postgres", onPostgres((*bench).connected)},
	{"memory-sqlite", onSQLite((*bench).memory)},
	{"memory-postgres", onPostgres((*bench).memory)},
	{"firm", onPostgres((*bench).firm)},
	{"fairness-sqlite", onSQLite((*bench).fairness)},
	{"fairness-postgres", onPostgres((*bench).fairness)},
}

func main() { os.Exit(run()) }

func run() int {
	isQuick := flag.Bool("quick", false, "use less data and time; figures vary more")
	isTiny := flag.Bool("tiny", false, "use hardly any data, only to see that every benchmark runs; nothing is judged")
	only := flag.String("only", "", "run only this benchmark, or both engines of it: "+strings.Join(names(suite), ", ")+
		"; with -against: "+strings.Join(names(comparisons), ", "))
	against := flag.String("against", "", "compare with another bursar `binary`: measure both alternately and print after/before")
	constant := flag.Bool(constantFlag, false, "serve a constant, for the comparison with a bare server; used by bench itself")
	flag.Parse()
	if *constant {
		return serveConstant()
	}
	list := suite
	if *against != "" {
		list = comparisons
	}
	list = slices.DeleteFunc(slices.Clone(list), func(m measurement) bool { return !wanted(m.name, *only) })
	if flag.NArg() > 0 || len(list) == 0 || *isQuick && *isTiny {
		flag.Usage()
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{ctx: ctx, size: full}
	switch {
	case *isTiny:
		b.size = tiny
	case *isQuick:
		b.size = quick
	}
	failed, err := b.runAll(list, *against)
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

func names(list []measurement) []string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.name
	}
	return out
}

// wanted reports whether a benchmark is among those asked for: "lots" means lots-sqlite and lots-postgres.
func wanted(name, only string) bool {
	return only == "" || name == only || name == only+"-sqlite" || name == only+"-postgres"
}

// runAll runs benchmarks, prints the table and returns how many figures missed their target.
func (b *bench) runAll(list []measurement, against string) (failed int, err error) {
	if b.dir, err = os.MkdirTemp("", "bursar-bench-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(b.dir)
	if b.bin, err = program(b.ctx, b.dir); err != nil {
		return 0, err
	}
	if against != "" {
		if err := b.compareWith(against); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	var table []figure
	for i, m := range list {
		fmt.Fprintf(os.Stderr, "[%d/%d] %s\n", i+1, len(list), m.name)
		figures, err := m.measure(b)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", m.name, err)
		}
		for _, f := range figures { // the table comes at the end; a long run can be followed
			fmt.Fprintf(os.Stderr, "  %s: %s %s\n", f.name, f.value, f.verdict)
		}
		table = append(table, figures...)
	}
	if failed, err = printTable(table); err != nil {
		return failed, err
	}
	fmt.Printf("\nMeasured in %s.\n", time.Since(began).Round(time.Second))
	return failed, nil
}

// printTable prints figures and returns how many missed their target.
func printTable(table []figure) (failed int, err error) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FIGURE\tVALUE\tTARGET\t\tDETAILS")
	for _, f := range table {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.name, f.value, f.target, f.verdict, f.note)
		if f.verdict == fails {
			failed++
		}
	}
	return failed, w.Flush()
}

// pick returns the value for the size of the run.
func pick[T any](b *bench, atFull, atQuick, atTiny T) T {
	switch b.size {
	case tiny:
		return atTiny
	case quick:
		return atQuick
	}
	return atFull
}
