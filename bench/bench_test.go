package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], "-"+constantFlag) { // a benchmark starts this program a second time
		os.Exit(serveConstant())
	}
	code := m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

// builtIn is the folder of the program that was built for this run, if it was.
var builtIn string

// binary is the program under test: the one that make test built, or one built now.
var binary = sync.OnceValues(func() (string, error) {
	if os.Getenv("BURSAR_BIN") == "" {
		dir, err := os.MkdirTemp("", "bursar-bench-test-")
		if err != nil {
			return "", err
		}
		builtIn = dir
	}
	return program(context.Background(), builtIn)
})

// tinyBench returns a run at the tiny size, with PostgreSQL databases that are dropped at the end of the test.
func tinyBench(t *testing.T) *bench {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return &bench{ctx: t.Context(), size: tiny, bin: bin, dir: t.TempDir(), postgres: func(string) (database, error) {
		address := dbtest.Postgres(t).URL // with the schema, because to set it up would take most of the time
		return database{url: address, admin: dbtest.AdminURL(address)}, nil
	}}
}

// An ordinary run tries one benchmark in three.
func TestSoakEveryBenchmarkRuns(t *testing.T) {
	t.Parallel()
	for _, m := range suite {
		if !dbtest.InSample(m.name, 3) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			figures, err := m.measure(tinyBench(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range figures {
				if f.verdict != notApplicable && f.verdict != noTarget || f.value == "" || strings.Contains(f.value, "NaN") {
					t.Errorf("at the tiny size nothing is judged and every figure has a value, got %+v", f)
				}
			}
			if len(figures) == 0 {
				t.Error("it has no figures")
			}
		})
	}
}

// An ordinary run tries one comparison in three.
func TestSoakABinaryIsComparedWithAnother(t *testing.T) {
	t.Parallel()
	for _, m := range comparisons {
		if !dbtest.InSample(m.name, 3) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			b := tinyBench(t)
			if err := b.compareWith(b.bin); err != nil {
				t.Fatal(err)
			}
			figures, err := m.measure(b)
			if err != nil || len(figures) == 0 {
				t.Fatalf("%d figures, error %v", len(figures), err)
			}
		})
	}
}

func TestATargetIsJudgedOnlyFromItsSizeOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size, from size
		met        bool
		want       verdict
	}{
		{tiny, quick, false, notApplicable},
		{quick, quick, false, fails},
		{quick, quick, true, passes},
		{quick, full, false, notApplicable},
		{quick, full, true, notApplicable},
		{full, full, false, fails},
		{full, full, true, passes},
	} {
		if got := (&bench{size: c.size}).judgeFrom(c.from, c.met); got != c.want {
			t.Errorf("at size %d, a target from size %d on, met %v: got %q, want %q", c.size, c.from, c.met, got, c.want)
		}
	}
}

func TestARatioThatMayBeNoiseIsUnclear(t *testing.T) {
	t.Parallel()
	b := &bench{size: full}
	for _, c := range []struct {
		ratio, low float64
		want       verdict
	}{{1.04, 0.9, passes}, {1.2, 0.9, unclear}, {1.2, 1.1, fails}} {
		if got := b.judgeRatio(c.ratio, c.low); got != c.want {
			t.Errorf("%g, at least %g: got %q, want %q", c.ratio, c.low, got, c.want)
		}
	}
}

func TestTheIntervalOfAMedianContainsItAndNarrowsWithMoreValues(t *testing.T) {
	t.Parallel()
	width := 2.0
	for _, n := range []int{1, 12, 50, 400} {
		values := make([]float64, n)
		for i := range values {
			values[i] = 1 + float64((i*37)%n)/float64(n)
		}
		low, high := interval(values)
		if m := median(values); low > m || m > high {
			t.Errorf("%d values: the median %g is outside %g to %g", n, m, low, high)
		}
		if n > 12 && high-low >= width {
			t.Errorf("%d values: %g to %g is no narrower than with fewer", n, low, high)
		}
		width = high - low
		if n == 1 {
			width = 2
		}
	}
}
