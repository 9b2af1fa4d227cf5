package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// lineMax is the maximum length of an event, which bounds memory: a test that prints a longer line is broken.
const lineMax = 16 << 20

// module is left out of package names because every line would repeat it.
const module = "github.com/bursarhq/bursar/"

// event is one line of `go test -json`, as `go doc test2json` describes it.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// report collects events and prints each package when it ends.
type report struct {
	out      io.Writer
	began    time.Time
	packages map[string]*packageRun
	builds   map[string]*strings.Builder
	total    counts
}

func newReport(out io.Writer) *report {
	return &report{
		out:      out,
		began:    time.Now(),
		packages: map[string]*packageRun{},
		builds:   map[string]*strings.Builder{},
	}
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), lineMax)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Action == "" {
			// The go command itself prints plain text, for example about a broken go.mod.
			fmt.Fprintln(r.out, lines.Text())
			continue
		}
		r.add(e)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	return nil
}

func (r *report) add(e event) {
	switch {
	case e.Action == "build-output":
		if r.builds[e.ImportPath] == nil {
			r.builds[e.ImportPath] = &strings.Builder{}
		}
		r.builds[e.ImportPath].WriteString(e.Output)
	case e.Package == "":
	case e.Test != "":
		r.pkg(e.Package).addTest(e)
	case e.Action == "output":
		r.pkg(e.Package).output.WriteString(e.Output)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		p := r.pkg(e.Package)
		p.result, p.elapsed, p.failedBuild = e.Action, e.Elapsed, e.FailedBuild
		r.end(p)
	default:
		r.pkg(e.Package)
	}
}

func (r *report) pkg(path string) *packageRun {
	if r.packages[path] == nil {
		r.packages[path] = &packageRun{path: path, tests: map[string]*testRun{}}
	}
	return r.packages[path]
}

// end prints a package and adds it to the total. Packages without tests are not printed.
func (r *report) end(p *packageRun) {
	if p.ended {
		return
	}
	p.ended = true
	c := p.count()
	r.total = r.total.plus(c)
	if c == (counts{}) {
		return
	}
	word := "ok  "
	if c.failed > 0 {
		word = "FAIL"
	}
	fmt.Fprintf(r.out, "%s %7.2fs  %-40s %s\n", word, p.elapsed, strings.TrimPrefix(p.path, module), c.brief())
	if c.failed > 0 {
		if build := r.builds[p.failedBuild]; build != nil {
			fmt.Fprint(r.out, build.String())
		}
		p.explain(r.out)
	}
}

// finish prints the counts as the last line and reports whether some test ran and none failed.
func (r *report) finish() bool {
	for _, path := range slices.Sorted(maps.Keys(r.packages)) {
		// A package that did not end counts as failed.
		r.end(r.packages[path])
	}
	none := r.total.passed+r.total.failed == 0
	if none {
		fmt.Fprintln(r.out, "No test ran.")
	}
	fmt.Fprintf(r.out, "Tests took %s.\n%s\n", time.Since(r.began).Round(100*time.Millisecond), r.total)
	return r.total.failed == 0 && !none
}
