package main

import (
	"strings"
	"testing"
)

// play feeds events in a short notation, "action package [test] [| output]", and returns what is printed and the verdict.
func play(t *testing.T, script string) (string, bool) {
	t.Helper()
	var out strings.Builder
	r := newReport(&out)
	for line := range strings.Lines(script) {
		head, output, _ := strings.Cut(strings.TrimSpace(line), "|")
		words := append(strings.Fields(head), "", "", "")
		if words[0] == "" {
			continue
		}
		e := event{Action: words[0], Package: words[1], Test: words[2]}
		if output != "" {
			e.Output = output + "\n"
		}
		if e.Action == "build-output" {
			e.ImportPath, e.Package = words[1], ""
		}
		if e.Action == "fail-build" {
			e.Action, e.FailedBuild, e.Test = "fail", words[2], ""
		}
		r.add(e)
	}
	ok := r.finish()
	return out.String(), ok
}

func TestTheLastLineCountsLeavesOnly(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		script, last string
		ok           bool
	}{
		"a plain test":           {"run p A\n pass p A\n pass p", "1 passed, 0 failed", true},
		"a table counts cases":   {"pass p A/x\n pass p A/y\n pass p A\n pass p", "2 passed, 0 failed", true},
		"deep tables":            {"pass p A/x/1\n pass p A/x\n pass p A\n pass p", "1 passed, 0 failed", true},
		"names may share a head": {"pass p A\n pass p AB\n pass p", "2 passed, 0 failed", true},
		"one case failed":        {"pass p A/x\n fail p A/y\n fail p A\n fail p", "1 passed, 1 failed", false},
		"the parent failed":      {"pass p A/x\n fail p A\n fail p", "1 passed, 1 failed", false},
		"skipped":                {"pass p A\n skip p B\n pass p", "1 passed, 0 failed, 1 skipped", true},
		"only skipped":           {"skip p B\n pass p", "0 passed, 0 failed, 1 skipped", false},
		"nothing ran":            {"skip p", "0 passed, 0 failed", false},
		"nothing at all":         {"", "0 passed, 0 failed", false},
		"main failed":            {"pass p A\n fail p", "1 passed, 1 failed", false},
		"no build":               {"fail-build p p", "0 passed, 1 failed", false},
		"cut off":                {"pass p A\n run p B\n fail p", "1 passed, 1 failed", false},
		"the stream broke":       {"start p\n pass p A", "1 passed, 1 failed", false},
		"two packages":           {"pass p A\n pass p\n pass q A\n pass q", "2 passed, 0 failed", true},
		"failed once of twice":   {"fail p A\n pass p A\n fail p", "0 passed, 1 failed", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			printed, ok := play(t, c.script)
			lines := strings.Split(strings.TrimSuffix(printed, "\n"), "\n")
			if got := lines[len(lines)-1]; got != c.last || ok != c.ok {
				t.Errorf("last line %q, ok %v; want %q, %v\n%s", got, ok, c.last, c.ok, printed)
			}
		})
	}
}

func TestFailuresAreShownInFullAndSuccessesAreNot(t *testing.T) {
	t.Parallel()
	printed, _ := play(t, `
		build-output broken |syntax error near x
		fail-build broken broken
		output p A |=== RUN   A
		output p A |a_test.go:1: expected two
		fail p A
		output p B |quiet please
		pass p B
		output p |exit status 3
		fail p
		output q C |never seen
		pass q C
		pass q`)
	for _, want := range []string{"syntax error near x", "a_test.go:1: expected two", "exit status 3", "ok  "} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is missing:\n%s", want, printed)
		}
	}
	for _, unwanted := range []string{"=== RUN", "quiet please", "never seen"} {
		if strings.Contains(printed, unwanted) {
			t.Errorf("%q should not be shown:\n%s", unwanted, printed)
		}
	}
}

func TestWhatIsNoEventIsPassedOn(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReport(&out)
	in := "go: cannot find main module\n" + `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p"}`
	if err := r.read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	if !r.finish() || !strings.Contains(out.String(), "cannot find main module") {
		t.Errorf("printed:\n%s", out.String())
	}
}
