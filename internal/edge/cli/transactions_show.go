package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/imports"
)

// steps is a bar on a terminal, and elsewhere a line for every tenth.
type steps struct {
	*bar
	lines io.Writer
	tenth int64
}

func (s *settings) steps() *steps { return &steps{bar: s.bar("read"), lines: s.err} }

func (x *steps) show(done, total int64) {
	if x.bar.out != nil {
		x.bar.show(done, total)
		return
	}
	if tenth := 10 * done / max(total, 1); tenth > x.tenth && tenth < 10 {
		x.tenth = tenth
		fmt.Fprintf(x.lines, "%d%% read\n", 10*tenth)
	}
}

// showImported says what came of an import.
func (s *settings) showImported(i imports.Import, faults []intake.Fault) {
	fmt.Fprintf(s.out, "%s: %s.\n", i.ID, outcome("imported", i.Counts))
	s.showFaults(faults, i.Counts)
}

// outcome says in a sentence what became of rows.
func outcome(verb string, c imports.Counts) string {
	text := verb + " " + counted(int(c.Created), "transaction") + " of " + counted(int(c.Rows), "row")
	for _, note := range []struct {
		n          int64
		noun, text string
	}{{c.Duplicates, "transaction", "here already"}, {c.Skipped, "row", "left out on purpose"}, {c.Faulty, "row", "not readable"}} {
		if note.n > 0 {
			text += fmt.Sprintf("; %s %s", counted(int(note.n), note.noun), note.text)
		}
	}
	return text
}

// showFaults says what is wrong with the first rows that were left out.
func (s *settings) showFaults(faults []intake.Fault, c imports.Counts) {
	for n, f := range faults {
		if n == placesMax {
			break
		}
		where := fmt.Sprintf("line %d", f.Line)
		if f.Column != "" {
			where += ", " + f.Column
		}
		fmt.Fprintf(s.out, "  %s: %s\n", where, f.Message)
	}
	if more := c.Faults - placesMax; more > 0 {
		fmt.Fprintf(s.out, "  and %d more\n", more)
	}
}

// showPreview says how a file would be read and what would come in.
func (s *settings) showPreview(p imports.Preview) {
	layout := "a layout that was guessed"
	switch {
	case p.Mapping.Preset != "":
		layout = "the layout of " + p.Mapping.Preset
	case len(p.Columns) == 0:
		layout = "as its mapping or its format says"
	}
	fmt.Fprintf(s.out, "%s: %s, %s\n", p.FileName, p.Mapping.Format, layout)
	for _, reason := range p.Reasons {
		fmt.Fprintf(s.out, "  %s\n", reason)
	}
	if len(p.Undecided) > 0 {
		fmt.Fprintln(s.out, "\nTo be decided, in a file for --mapping:")
		for _, open := range p.Undecided {
			fmt.Fprintf(s.out, "  %s\n", open)
		}
	}
	mapping, _ := json.MarshalIndent(p.Mapping, "  ", "  ") // it is texts, numbers and truth values
	fmt.Fprintf(s.out, "\nThe mapping:\n  %s\n\n", mapping)
	s.showRows(p)
	fmt.Fprintf(s.out, "%s.\n", outcome("Would import", p.Counts))
	s.showFaults(p.Faults, p.Counts)
	fmt.Fprintln(s.out, "Nothing was written.")
}

// textShown is how much of a description is shown.
const textShown = 40

// showRows lists the first transactions as they would land.
func (s *settings) showRows(p imports.Preview) {
	if len(p.Rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "LINE\tTIME\tDIRECTION\tQUANTITY\tCURRENCY\tDESCRIPTION\t")
	for _, r := range p.Rows {
		quantity, note := "?", ""
		if r.Quantity != nil {
			quantity = r.Quantity.Fixed(r.Currency)
		}
		if r.Duplicate {
			note = "here already"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Line, r.At.Format(time.DateTime), r.Direction, quantity, r.Currency,
			oneLine(r.Description), note)
	}
	_ = w.Flush() // to a terminal or a pipe, which others see break too
	fmt.Fprintln(s.out)
}

// oneLine fits a text into a table.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > textShown {
		text = string([]rune(text)[:textShown-1]) + "…"
	}
	return text
}
