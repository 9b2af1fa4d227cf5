package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// counts holds the number of tests by result.
type counts struct{ passed, failed, skipped int }

func (c counts) plus(d counts) counts {
	return counts{c.passed + d.passed, c.failed + d.failed, c.skipped + d.skipped}
}

// String is the format of the last line, which other programs read.
func (c counts) String() string {
	s := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		s += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return s
}

// brief is worded differently from the last line, so that a search for the last line finds only that.
func (c counts) brief() string {
	s := fmt.Sprintf("%d ok", c.passed)
	if c.failed > 0 {
		s += fmt.Sprintf(", %d FAILED", c.failed)
	}
	if c.skipped > 0 {
		s += fmt.Sprintf(", %d left out", c.skipped)
	}
	return s
}

// packageRun collects the results of one package.
type packageRun struct {
	path        string
	result      string
	elapsed     float64
	failedBuild string
	ended       bool
	output      strings.Builder
	tests       map[string]*testRun
}

// testRun collects the result of one test or subtest; an empty result means that it did not finish.
type testRun struct {
	result string
	output strings.Builder
}

func (p *packageRun) addTest(e event) {
	t := p.tests[e.Test]
	if t == nil {
		t = &testRun{}
		p.tests[e.Test] = t
	}
	switch e.Action {
	case "output":
		t.output.WriteString(e.Output)
	case "pass", "fail", "skip":
		// With -count above one a test ends several times, and one failure is enough.
		if t.result != "fail" {
			t.result = e.Action
		}
	}
}

// count counts leaves, so that a table of ten cases is ten tests and not eleven. A test with subtests counts only when it
// failed by itself, and a package only when it failed although none of its tests did.
func (p *packageRun) count() counts {
	parents, blamed := p.families()
	var c counts
	for name, t := range p.tests {
		switch {
		case t.failed():
			if !blamed[name] {
				c.failed++
			}
		case parents[name]:
		case t.result == "skip":
			c.skipped++
		default:
			c.passed++
		}
	}
	if c.failed == 0 && p.result != "pass" && p.result != "skip" {
		c.failed = 1
	}
	return c
}

// families returns which tests have subtests, and which of those have a failed subtest.
func (p *packageRun) families() (parents, blamed map[string]bool) {
	parents, blamed = map[string]bool{}, map[string]bool{}
	for name, t := range p.tests {
		for i, char := range name {
			if char != '/' {
				continue
			}
			parents[name[:i]] = true
			if t.failed() {
				blamed[name[:i]] = true
			}
		}
	}
	return parents, blamed
}

// failed reports whether the test failed or did not finish, because of a panic in another test or the time limit.
func (t *testRun) failed() bool { return t.result == "fail" || t.result == "" }

// explain prints the full output of failed tests in their order by name, and the package's own output when it matters.
func (p *packageRun) explain(out io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(p.tests)) {
		t := p.tests[name]
		if !t.failed() {
			continue
		}
		for line := range strings.Lines(t.output.String()) {
			if !noise(line) {
				fmt.Fprint(out, "    ", line)
			}
		}
		if t.result == "" {
			fmt.Fprintf(out, "    %s did not finish.\n", name)
		}
	}
	for line := range strings.Lines(p.output.String()) {
		if line != "FAIL\n" && line != "PASS\n" {
			fmt.Fprint(out, "    ", line)
		}
	}
}

// noise reports whether a line only shows the progress of a test.
func noise(line string) bool {
	for _, prefix := range []string{"=== RUN", "=== PAUSE", "=== CONT", "=== NAME"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
