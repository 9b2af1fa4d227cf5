package dbtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// Operation is a use case that must survive that its database fails, or its process is killed, at any step.
type Operation struct {
	// Prepare stores what the use case needs, and returns the use case, which runs on another handle of the same database.
	Prepare func(d *db.DB) (run func(ctx context.Context, d *db.DB) error)

	// Counts are queries for how many there are of what the use case stores, by name.
	Counts map[string]string

	// Between describes what is stored after a part of the use case, if it is more than one transaction, as changes of counts. It must be
	// harmless that nothing follows.
	Between []string

	// Refuses reports whether an error says in the words of a protocol, such as OAuth, what is wrong with a request. Nil means that faults do.
	Refuses func(error) bool
}

// stepsMax bounds the steps of an operation at which it fails: each takes some hundredths of a second, and on PostgreSQL a new connection.
const stepsMax = 40

// EachFailure runs an operation again and again, each time with a failure at another step: an error of the database, and a process that is
// killed. It fails the test unless the operation then has stored everything or nothing, has stored everything if it reported success, has
// answered that the database is unavailable, and succeeds when it is repeated. Found sets up a new database.
func EachFailure(t *testing.T, found func(t *testing.T, d *db.DB) Operation) {
	t.Helper()
	EachConfig(t, func(t *testing.T, c db.Config) {
		d := Open(t, c)
		x := &trials{T: t, d: d, op: found(t, d)}
		run := x.op.Prepare(d)
		before := x.counts(d)
		whole := interruptAt(t.Context(), 0)
		if err := run(whole, d); err != nil {
			t.Fatalf("without a failure: %v", err)
		}
		if x.full = change(before, x.counts(d)); x.full == "" {
			t.Fatal("the operation stores nothing")
		}
		if d.Engine() == db.Postgres {
			x.resets(c)
			x.kills(c)
		} else {
			x.interrupts(int(whole.steps.Load()))
			x.crashes(found)
		}
	})
}

type trials struct {
	*testing.T
	d      *db.DB
	op     Operation
	full   string // what the operation changes
	failed int
}

func (x *trials) counts(d *db.DB) map[string]int64 {
	x.Helper()
	out := map[string]int64{}
	err := d.ReadAcross(context.Background(), "a test counts rows", func(ctx context.Context, tx *db.Tx) error {
		for name, query := range x.op.Counts {
			n, err := db.One[int64](ctx, tx, name, query)
			if err != nil {
				return err
			}
			out[name] = n
		}
		return nil
	})
	if err != nil {
		x.Fatal(err)
	}
	return out
}

// change describes how counts have changed.
func change(before, after map[string]int64) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if n := after[name] - before[name]; n != 0 {
			out = append(out, fmt.Sprintf("%s %+d", name, n))
		}
	}
	return strings.Join(out, ", ")
}

// judge checks what an attempt has left behind, and repeats it.
func (x *trials) judge(what string, err error, before map[string]int64, d *db.DB, run func(context.Context, *db.DB) error) {
	x.Helper()
	got := change(before, x.counts(d))
	switch {
	case err == nil && got != x.full:
		x.Errorf("%s: it reported success, but stored %q, want %q", what, got, x.full)
	case got != "" && got != x.full && !slices.Contains(x.op.Between, got):
		x.Errorf("%s: it stored a part: %q of %q", what, got, x.full)
	}
	if err == nil {
		return
	}
	x.failed++
	err = run(context.Background(), d)
	switch again := change(before, x.counts(d)); {
	case got == "" && (err != nil || again != x.full):
		x.Errorf("%s: repeated, it stored %q: %v", what, again, err)
	case err != nil && (fault.KindOf(err) == fault.Internal || fault.KindOf(err) == fault.Unavailable) &&
		(x.op.Refuses == nil || !x.op.Refuses(err)):
		x.Errorf("%s: repeated after %q, it failed: %v", what, got, err)
	}
}

// unavailable expects the error for a database that is away, which is answered with 503 and Retry-After.
func (x *trials) unavailable(what string, err error) {
	x.Helper()
	var f *fault.Error
	if err != nil && (!errors.As(err, &f) || f.Kind != fault.Unavailable || f.RetryAfter <= 0) {
		x.Errorf("%s: the error is %v, want one of a database that is unavailable, with a time to wait", what, err)
	}
}

// resets closes the connection to PostgreSQL at every other message. At those between, kills does more.
func (x *trials) resets(c db.Config) {
	x.Helper()
	proxy, c := NewProxy(x, c, NewFaults())
	node := Open(x, c)
	for n := 1; n <= stepsMax; n += 2 {
		run := x.op.Prepare(x.d)
		before := x.counts(x.d)
		proxy.ResetIn(n)
		err := run(context.Background(), node)
		happened := proxy.Happened()["reset"] > 0
		proxy.Clear()
		what := fmt.Sprintf("with a connection closed at message %d", n)
		x.unavailable(what, err)
		if x.judge(what, err, before, x.d, run); !happened {
			break
		}
	}
	x.someFailed("closed connection")
}

func (x *trials) someFailed(what string) {
	x.Helper()
	if x.failed == 0 {
		x.Errorf("no %s made the operation fail", what)
	}
	x.failed = 0
}

// kills cuts a node off PostgreSQL for good at every other message.
func (x *trials) kills(c db.Config) {
	x.Helper()
	for n := 2; n <= stepsMax; n += 2 {
		faults := NewFaults()
		_, through := NewProxy(x, c, faults)
		node := Open(x, through)
		run := x.op.Prepare(x.d)
		before := x.counts(x.d)
		faults.CrashIn(n)
		err := run(context.Background(), node)
		what := fmt.Sprintf("with a node killed at message %d", n)
		x.unavailable(what, err)
		if x.judge(what, err, before, x.d, run); !faults.Dead() {
			break
		}
	}
	x.someFailed("kill")
}

// interrupts lets the driver of SQLite fail at each step.
func (x *trials) interrupts(steps int) {
	x.Helper()
	for n := 1; n <= steps; n += max(1, steps/stepsMax) {
		run := x.op.Prepare(x.d)
		before := x.counts(x.d)
		err := run(interruptAt(context.Background(), int64(n)), x.d)
		x.judge(fmt.Sprintf("interrupted at step %d", n), err, before, x.d, run)
	}
	x.someFailed("interruption")
}

// crashes takes the files of SQLite as they are at each commit, with a part of what it writes, and opens them again.
func (x *trials) crashes(found func(*testing.T, *db.DB) Operation) {
	x.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; ; n++ {
		c, faults := SQLite(x), NewFaults()
		disk := NewDisk(x, c, faults)
		node := Open(x, c)
		x.op = found(x.T, node)
		run := x.op.Prepare(node)
		before := x.counts(node)
		faults.CrashIn(n)
		err := run(context.Background(), node)
		if !faults.Dead() {
			return
		}
		if err == nil { // the last commit is the one that was interrupted: whoever was killed has reported nothing
			err = errors.New("killed")
		}
		c.Dir = disk.Recovered(x, random, node)
		x.judge(fmt.Sprintf("killed at commit %d", n), err, before, Open(x, c), run)
	}
}
