package intake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// sheet is a table whose columns are known.
type sheet struct {
	header []string
}

// find gives the place of the column with one of the names, in capitals or not, or -1.
func (s *sheet) find(names ...string) int {
	for _, name := range names {
		for i, h := range s.header {
			if strings.EqualFold(h, name) {
				return i
			}
		}
	}
	return -1
}

// starting gives the place of the first column whose name begins so, or -1.
func (s *sheet) starting(prefix string) int {
	return slices.IndexFunc(s.header, func(h string) bool { return len(h) >= len(prefix) && strings.EqualFold(h[:len(prefix)], prefix) })
}

func (s *sheet) name(place int) string {
	if place < 0 || place >= len(s.header) {
		return ""
	}
	if s.header[place] == "" {
		return fmt.Sprintf("#%d", place+1)
	}
	return s.header[place]
}

// resolve finds a mapped column: by its header, or else by its number.
func (s *sheet) resolve(field Field, column string) (int, error) {
	name := "mapping.columns." + string(field)
	matches := 0
	place := -1
	for i, h := range s.header {
		if h != "" && strings.EqualFold(h, strings.TrimSpace(column)) {
			matches++
			if place < 0 {
				place = i
			}
		}
	}
	switch {
	case matches == 1:
		return place, nil
	case matches > 1:
		return -1, fault.Invalidf(name, "is %q, which %d columns are called; give it as #%d", shorten(column), matches, place+1)
	}
	if n := columnNumber(column); n >= 0 {
		if n >= len(s.header) {
			return -1, fault.Invalidf(name, "is column %d, but the file has %d", n+1, len(s.header))
		}
		return n, nil
	}
	return -1, fault.Invalidf(name, "is %q, which the file does not have; it has %s", shorten(column), shorten(strings.Join(s.header, ", ")))
}

// cleanHeader trims the names of columns.
func cleanHeader(cells []string) []string {
	header := make([]string, len(cells))
	for i, c := range cells {
		header[i] = strings.TrimSpace(c)
	}
	for len(header) > 0 && header[len(header)-1] == "" {
		header = header[:len(header)-1]
	}
	return header
}

// numeric is a column of numbers with what is known of its decimal separator.
type numeric struct {
	place int
	mark  decimalMark
	// signed tells that some values of the head are above zero and some below.
	positive, negative bool
}

// entry is one row under work; faults gather in it.
type entry struct {
	sheet  *sheet
	row    *sheetRow
	faults []Fault
	ids    *ids
	made   bool // The id was made of what the row says, so it is unique.
	own    int  // The column that the id is from, or -1.
}

// faultf blames a column; -1 blames the row.
func (e *entry) faultf(place int, format string, args ...any) {
	e.faults = append(e.faults, Fault{Line: e.row.line, Column: e.sheet.name(place), Message: fmt.Sprintf(format, args...)})
}

// text gives a cell without spaces around it; a column that is not there is empty.
func (e *entry) text(place int) string {
	if place < 0 || place >= len(e.row.cells) {
		return ""
	}
	return strings.TrimSpace(e.row.cells[place])
}

// number reads a cell; an empty one is nil. currency is what stands beside it at most.
func (e *entry) number(c numeric, currency string) *money.Decimal {
	n, ok := e.parsed(c)
	if !ok {
		return nil
	}
	if !fits(n.code, currency) {
		e.faultf(c.place, "%q is not in %s, as the row says", shorten(e.text(c.place)), orUnknown(currency))
		return nil
	}
	return &n.value
}

func orUnknown(currency string) string {
	if currency == "" {
		return "a known currency"
	}
	return currency
}

// parsed reads a cell whatever stands beside the number.
func (e *entry) parsed(c numeric) (number, bool) {
	text := e.text(c.place)
	if blankNumber(text) {
		return number{}, false
	}
	var n number
	var err error
	if e.row.numbers != nil && e.row.numbers[c.place] {
		n.value, err = jsonNumber(text)
	} else {
		n, err = parseNumber(text, c.mark)
	}
	if err != nil {
		e.faultf(c.place, "%q %v", shorten(text), err)
		return number{}, false
	}
	return n, true
}

// instant reads the time in a cell, which must be there.
func (e *entry) instant(c *clock, place int, text string) time.Time {
	if text == "" {
		e.faultf(place, "is empty; every row needs a date")
		return time.Time{}
	}
	t, err := c.parse(text)
	if err != nil {
		e.faultf(place, "%q %v", shorten(text), err)
	}
	return t
}

// currency reads the code or symbol in a cell, which must be there.
func (e *entry) currency(place int) string {
	code := cleanCurrency(e.text(place))
	if code == "" {
		e.faultf(place, "%q is not a currency", shorten(e.text(place)))
	}
	return code
}

// id is the row's own id, or one made of what it says. An id that was there before is a fault: a source holds each once,
// and the second would be lost.
func (e *entry) id(place int, ignore bool) string {
	e.own = place
	own := e.text(place)
	if own == "" || ignore {
		return e.content()
	}
	return own
}

// content makes an id of what the row says.
func (e *entry) content() string {
	if e.row.content != nil {
		return e.contentOf(e.row.content...)
	}
	return e.contentOf(e.row.cells...)
}

// contentOf makes an id of a part of what the row says.
func (e *entry) contentOf(texts ...string) string {
	e.made = true
	return e.ids.content(texts...)
}

// once blames ids that stand twice.
func (e *entry) once(records []Record) {
	if e.made {
		return
	}
	for i := range records {
		if e.ids.repeated(records[i].ExternalID) {
			e.faultf(e.own,
				"the id %q stands in the file before; if the rows are two transactions, do not map the column as id or ignore ids",
				shorten(records[i].ExternalID))
		}
	}
}

// interpreter makes records of a row, or says why it is skipped.
type interpreter func(e *entry) (records []Record, skipped string)
