package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/imports"
)

// showImported prints the result of an import.
func (s *settings) showImported(i imports.Import, faults []intake.Fault) {
	fmt.Fprintf(s.out, "%s: %s.\n", i.ID, outcome("imported", i.Counts))
	s.showFaults(faults, i.Counts)
}

// outcome summarizes the rows of an import in a sentence.
func outcome(verb string, c imports.Counts) string {
	text := verb + " " + counted(int(c.Created), "transaction") + " of " + counted(int(c.Rows), "row")
	for _, note := range []struct {
		n          int64
		noun, text string
	}{{c.Duplicates, "transaction", "already present"}, {c.Skipped, "row", "skipped"}, {c.Faulty, "row", "at fault"}} {
		if note.n > 0 {
			text += fmt.Sprintf("; %s %s", counted(int(note.n), note.noun), note.text)
		}
	}
	return text
}

// showFaults prints the first faults.
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

// showPreview prints how a file would be read and what would be imported.
func (s *settings) showPreview(p imports.Preview) {
	layout := "layout guessed from its columns"
	switch {
	case p.Mapping.Preset != "":
		layout = "layout of " + p.Mapping.Preset
	case len(p.Columns) == 0:
		layout = "layout set by the mapping or the format"
	}
	fmt.Fprintf(s.out, "%s: %s, %s\n", p.FileName, p.Mapping.Format, layout)
	for _, reason := range p.Reasons {
		fmt.Fprintf(s.out, "  %s\n", reason)
	}
	if len(p.Undecided) > 0 {
		fmt.Fprintln(s.out, "\nTo decide, in a file for --mapping:")
		for _, open := range p.Undecided {
			fmt.Fprintf(s.out, "  %s\n", open)
		}
	}
	mapping, _ := json.MarshalIndent(p.Mapping, "  ", "  ") // it has only strings, numbers and booleans
	fmt.Fprintf(s.out, "\nMapping:\n  %s\n\n", mapping)
	s.showRows(p)
	fmt.Fprintf(s.out, "%s.\n", outcome("Would import", p.Counts))
	s.showFaults(p.Faults, p.Counts)
	fmt.Fprintln(s.out, "Nothing was changed.")
}

// textShown is how many characters of a description are printed.
const textShown = 40

// showRows prints the first transactions as they would be imported.
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
			note = "already present"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Line, r.At.Format(time.DateTime), r.Direction, quantity, r.Currency,
			oneLine(r.Description), note)
	}
	_ = w.Flush() // a broken pipe shows in the next write
	fmt.Fprintln(s.out)
}

// oneLine shortens a text for a table.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > textShown {
		text = string([]rune(text)[:textShown-1]) + "…"
	}
	return text
}
