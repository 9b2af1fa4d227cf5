package intake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// sheet is a table with known columns.
type sheet struct {
	header []string
}

// find returns the index of the first column with one of the names, ignoring case, or -1.
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

// findPrefix returns the index of the first column whose name has the prefix, ignoring case, or -1.
func (s *sheet) findPrefix(prefix string) int {
	return slices.IndexFunc(s.header, func(h string) bool { return len(h) >= len(prefix) && strings.EqualFold(h[:len(prefix)], prefix) })
}

func (s *sheet) name(index int) string {
	if index < 0 || index >= len(s.header) {
		return ""
	}
	if s.header[index] == "" {
		return fmt.Sprintf("#%d", index+1)
	}
	return s.header[index]
}

// resolve returns the index of a mapped column, given by its header or by its number.
func (s *sheet) resolve(field Field, column string) (int, error) {
	name := "mapping.columns." + string(field)
	matches := 0
	index := -1
	for i, h := range s.header {
		if h != "" && strings.EqualFold(h, strings.TrimSpace(column)) {
			matches++
			if index < 0 {
				index = i
			}
		}
	}
	switch {
	case matches == 1:
		return index, nil
	case matches > 1:
		return -1, fault.Invalidf(name, "is %q, but %d columns have that name; give a number such as #%d", shorten(column), matches, index+1)
	}
	if n := columnNumber(column); n >= 0 {
		if n >= len(s.header) {
			return -1, fault.Invalidf(name, "is column %d, but the file has %d", n+1, len(s.header))
		}
		return n, nil
	}
	return -1, fault.Invalidf(name, "is %q, but the file has no such column; its columns are %s", shorten(column),
		shorten(strings.Join(s.header, ", ")))
}

// cleanHeader trims column names and drops empty ones at the end.
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

// numeric is a column of numbers and its decimal separator, as far as known.
type numeric struct {
	index int
	mark  decimalMark
	// positive and negative report whether the sample has values above and below zero.
	positive, negative bool
}

// entry is a row being interpreted; it collects the faults.
type entry struct {
	sheet    *sheet
	row      *sheetRow
	faults   []Fault
	ids      *ids
	derived  bool // The id was derived from the content of the row, so it is unique.
	idColumn int  // The column of the row's own id, or -1.
	balance  *Balance
}

// stateBalance stores the balance that a cell states. A cell that is not a number is no fault, because nothing is imported
// from it.
func (e *entry) stateBalance(c numeric, account, currency string) {
	before := len(e.faults)
	amount := e.number(c, currency)
	if e.faults = e.faults[:before]; amount != nil {
		e.balance = &Balance{Account: account, Currency: currency, Amount: *amount, column: e.sheet.name(c.index)}
	}
}

// faultf adds a fault to a column, or to the row if index is -1.
func (e *entry) faultf(index int, format string, args ...any) {
	e.faults = append(e.faults, Fault{Line: e.row.line, Column: e.sheet.name(index), Message: fmt.Sprintf(format, args...)})
}

// text returns a cell without surrounding spaces; a missing column is empty.
func (e *entry) text(index int) string {
	if index < 0 || index >= len(e.row.cells) {
		return ""
	}
	return strings.TrimSpace(e.row.cells[index])
}

// number parses a cell; an empty one is nil. A currency beside the number must match currency.
func (e *entry) number(c numeric, currency string) *money.Decimal {
	n, ok := e.parseCell(c)
	if !ok {
		return nil
	}
	if !matchesCurrency(n.code, currency) {
		e.faultf(c.index, "%q is not in %s, the currency of the row", shorten(e.text(c.index)), orUnknown(currency))
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

// parseCell parses the number in a cell, with any currency beside it.
func (e *entry) parseCell(c numeric) (number, bool) {
	text := e.text(c.index)
	if blankNumber(text) {
		return number{}, false
	}
	var n number
	var err error
	if e.row.numbers != nil && e.row.numbers[c.index] {
		n.value, err = jsonNumber(text)
	} else {
		n, err = parseNumber(text, c.mark)
	}
	if err != nil {
		e.faultf(c.index, "%q %v", shorten(text), err)
		return number{}, false
	}
	return n, true
}

// instant parses a required time.
func (e *entry) instant(c *clock, index int, text string) time.Time {
	if text == "" {
		e.faultf(index, "is empty; every row needs a date")
		return time.Time{}
	}
	t, err := c.parse(text)
	if err != nil {
		e.faultf(index, "%q %v", shorten(text), err)
	}
	return t
}

// currency reads a required currency code or symbol.
func (e *entry) currency(index int) string {
	code := cleanCurrency(e.text(index))
	if code == "" {
		e.faultf(index, "%q is not a currency", shorten(e.text(index)))
	}
	return code
}

// id returns the row's own id, or derives one from its content.
func (e *entry) id(index int, ignore bool) string {
	e.idColumn = index
	own := e.text(index)
	if own == "" || ignore {
		return e.contentID()
	}
	return own
}

// contentID derives an id from the row.
func (e *entry) contentID() string {
	if e.row.content != nil {
		return e.deriveID(e.row.content...)
	}
	return e.deriveID(e.row.cells...)
}

// deriveID derives an id from a part of the row.
func (e *entry) deriveID(texts ...string) string {
	e.derived = true
	return e.ids.derive(texts...)
}

// rejectDuplicates adds a fault for each id that occurred before: ids are unique within a source, so the second
// transaction would be lost.
func (e *entry) rejectDuplicates(records []Record) {
	if e.derived {
		return
	}
	for i := range records {
		if e.ids.isDuplicate(records[i].ExternalID) {
			e.faultf(e.idColumn,
				"the id %q occurs earlier in the file; if the rows are two transactions, do not map the column as id, or set ignore_ids",
				shorten(records[i].ExternalID))
		}
	}
}

// interpreter returns the records of a row, or the reason why it is skipped.
type interpreter func(e *entry) (records []Record, skipped string)
