package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"
)

const (
	// againstMax is how much more a figure may cost than before.
	againstMax = 1.05
	// againstRounds is how many rounds a comparison takes at least. It goes on until the verdict is clear or its time is up.
	againstRounds = 12
	// How long a comparison of writes or reads may take. There are many, and all together should take less than ten minutes.
	againstWrites = 12 * time.Second
	againstReads  = 5 * time.Second
)

// comparisons are the benchmarks that measure two binaries alternately. They use the API and the command line only, because
// the two may have different schemas.
var comparisons = []measurement{
	{"posting-sqlite", onSQLite((*bench).comparePosting)},
	{"posting-postgres", onPostgres((*bench).comparePosting)},
	{"two-nodes-postgres", onPostgres((*bench).compareTwoNodes)},
	{"balance-sheet-sqlite", onSQLite((*bench).compareSheets)},
	{"balance-sheet-postgres", onPostgres((*bench).compareSheets)},
	{"lists-sqlite", onSQLite((*bench).compareLists)},
	{"lists-postgres", onPostgres((*bench).compareLists)},
	{"lots-sqlite", onSQLite((*bench).compareLots)},
	{"lots-postgres", onPostgres((*bench).compareLots)},
}

// compareWith sets the binary to compare with.
func (b *bench) compareWith(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	b.other = path
	before := *b
	before.bin = path
	if out, err := before.command("version").CombinedOutput(); err != nil {
		return fmt.Errorf("%s version: %w\n%s", path, err, out)
	}
	return nil
}

// pair holds the same thing for the binary before and after.
type pair[T any] struct{ before, after T }

// closer is what a comparison measures and closes at its end.
type closer interface{ close() error }

func (p pair[T]) close() error {
	var errs []error
	for _, side := range []any{p.before, p.after} {
		if c, ok := side.(closer); ok {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(errs...)
}

// both prepares the same thing with the binary before and with the one after. Each has a database of its own.
func both[T any](b *bench, e engine, prepare func(*bench, database) (T, error)) (p pair[T], err error) {
	old := *b
	old.bin = b.other
	for _, side := range []struct {
		bench *bench
		to    *T
		name  string
	}{{&old, &p.before, "before"}, {b, &p.after, "after"}} {
		d, err := side.bench.create(e, side.name)
		if err != nil {
			return p, fmt.Errorf("%s: %w", side.name, err)
		}
		if *side.to, err = prepare(side.bench, d); err != nil {
			return p, fmt.Errorf("%s: %w", side.name, err)
		}
	}
	return p, nil
}

// compare measures what an operation costs before and after, alternately: the side that goes first changes every round. The
// ratio of each round is taken on its own, so that a disturbance of the machine affects one round only.
func compare[T any](b *bench, name string, limit time.Duration, p pair[T], cost func(T) (time.Duration, error)) (figure, error) {
	var before, after []time.Duration
	var ratios []float64
	deadline := time.Now().Add(pick(b, limit, limit/3, 0))
	for round := 0; ; round++ {
		var costs [2]time.Duration
		for i := range costs {
			side, of := (i+round)%2, p.before
			if side == 1 {
				of = p.after
			}
			var err error
			if costs[side], err = cost(of); err != nil {
				return figure{}, fmt.Errorf("%s, %s: %w", name, []string{"before", "after"}[side], err)
			}
		}
		if round == 0 && b.size > tiny {
			continue // it warms up
		}
		before, after = append(before, costs[0]), append(after, costs[1])
		ratios = append(ratios, costs[1].Seconds()/costs[0].Seconds())
		low, high := interval(ratios)
		clear := len(ratios) >= againstRounds && (high <= againstMax || low > againstMax)
		if clear || time.Now().After(deadline) && (len(ratios) >= againstRounds || b.size == tiny) {
			ratio := median(ratios)
			return figure{name: name, value: fmt.Sprintf("%.3f", ratio), target: fmt.Sprintf("<= %.2f", againstMax),
				verdict: b.judgeRatio(ratio, low),
				note: fmt.Sprintf("%s before, %s after; %d rounds, between %.3f and %.3f", precise(median(before)), precise(median(after)),
					len(ratios), low, high)}, nil
		}
	}
}

// judgeRatio returns the verdict on a ratio. One that is too high although its interval includes 1 may be noise.
func (b *bench) judgeRatio(ratio, low float64) verdict {
	v := b.judge(ratio <= againstMax)
	if v == fails && low <= 1 {
		return unclear
	}
	return v
}

// interval returns a confidence interval of about 99 % for the median, from the order of the values alone.
func interval(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	reach := 1.29 * math.Sqrt(n)
	from, to := int(math.Floor((n-1)/2-reach)), int(math.Ceil((n-1)/2+reach))
	return sorted[max(from, 0)], sorted[min(to, len(sorted)-1)]
}

// precise rounds a duration to three digits or so.
func precise(d time.Duration) time.Duration {
	switch {
	case d > 100*time.Millisecond:
		return d.Round(time.Millisecond)
	case d > time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Nanosecond)
}

// each returns what one operation of a run cost: the time that passed, divided by the operations.
func (t tally) each(perRequest int) time.Duration {
	return t.elapsed / time.Duration(max(1, len(t.latencies)*perRequest))
}
