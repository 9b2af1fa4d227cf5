package price

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

const (
	// FileMax is the maximum size of a file of prices in bytes.
	FileMax = 8 << 20
	// LinesMax is the maximum number of prices in a file. One database transaction stores all of them, and other writes of the
	// organization wait for the second or two that takes.
	LinesMax = 25_000
)

// File is a file of prices, split into cells but not parsed further.
type File struct {
	lines  []line
	clock  string      // the column of the times: timestamp or date
	faults []lineFault // of lines that cannot be split into cells
}

// line is one price of a file.
type line struct {
	number int
	Params
}

// columns are the columns that a file may have. It has either timestamp or date; both accept times and dates.
var columns = map[string]func(*Params) *string{
	"asset_type": func(p *Params) *string { return &p.AssetType },
	"currency":   func(p *Params) *string { return &p.Currency },
	"timestamp":  func(p *Params) *string { return &p.Timestamp },
	"date":       func(p *Params) *string { return &p.Timestamp },
	"price":      func(p *Params) *string { return &p.Price },
	"note":       func(p *Params) *string { return &p.Note },
}

const columnsText = "asset_type, currency, timestamp or date, price, and note if there is one"

// ReadFile reads CSV whose first line names the columns, in any order.
func ReadFile(in io.Reader) (*File, error) {
	rest := &io.LimitedReader{R: in, N: FileMax + 1}
	text := bufio.NewReader(rest)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" { // spreadsheets write a byte order mark before UTF-8
		_, _ = text.Discard(3)
	}
	if head, _ := text.Peek(intake.BinaryHead); len(head) > 0 {
		if problem := intake.DescribeBinary(head); problem != "" {
			return nil, fault.Invalidf("file", "%s", problem)
		}
	}
	cells := csv.NewReader(text)
	cells.FieldsPerRecord, cells.TrimLeadingSpace = -1, true
	names, err := cells.Read()
	if err != nil {
		return nil, unreadable(err)
	}
	for i, name := range names {
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	if err := validateHeader(names); err != nil {
		return nil, err
	}
	f := &File{clock: "timestamp"}
	if slices.Contains(names, "date") {
		f.clock = "date"
	}
	for {
		row, err := cells.Read()
		var broken *csv.ParseError
		switch {
		case errors.Is(err, io.EOF) && rest.N == 0, len(f.lines) == LinesMax && err == nil:
			return nil, fault.Invalidf("file", "must have at most %d prices and %d MiB; split it into several files", LinesMax, FileMax>>20)
		case errors.Is(err, io.EOF) && len(f.lines)+len(f.faults) == 0:
			return nil, fault.Invalidf("file", "has no prices, only a header")
		case errors.Is(err, io.EOF):
			return f, nil
		case errors.As(err, &broken):
			f.faults = append(f.faults, lineFault{broken.StartLine, fault.Field{Name: lineName(broken.StartLine),
				Message: "cannot be parsed as CSV: " + broken.Err.Error()}})
		case err != nil:
			return nil, unreadable(err)
		default:
			number, _ := cells.FieldPos(0)
			f.addRow(number, names, row)
		}
	}
}

// unreadable converts an error that makes the whole file unreadable into a fault.
func unreadable(err error) error {
	var broken *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return fault.Invalidf("file", "is empty; its first line must name the columns: "+columnsText)
	case errors.As(err, &broken):
		return fault.Invalidf(lineName(broken.StartLine), "cannot be parsed as CSV: %s", broken.Err)
	}
	return err // the file could not be read
}

// lineName returns the field name of a line.
func lineName(number int) string { return fmt.Sprintf("file, line %d", number) }

// validateHeader returns an error with every fault of the column names.
func validateHeader(names []string) error {
	var faults fault.List
	for i, name := range names {
		if columns[name] == nil {
			faults.Addf("file, line 1", "names the unknown column %q; the columns are %s", name, columnsText)
		} else if slices.Contains(names[:i], name) {
			faults.Addf("file, line 1", "names the column %s twice", name)
		}
	}
	for _, name := range []string{"asset_type", "currency", "price"} {
		if !slices.Contains(names, name) {
			faults.Addf("file, line 1", "must name the column %s", name)
		}
	}
	if slices.Contains(names, "timestamp") == slices.Contains(names, "date") {
		faults.Addf("file, line 1", "must name one of the columns timestamp and date")
	}
	return faults.Err()
}

// addRow adds a row. It ignores rows of empty cells, which spreadsheets leave at the end.
func (f *File) addRow(number int, names, row []string) {
	l := line{number: number}
	for i, cell := range row {
		row[i] = strings.TrimSpace(cell)
	}
	switch {
	case strings.Join(row, "") == "":
		return
	case len(row) != len(names):
		f.faults = append(f.faults, lineFault{number, fault.Field{Name: lineName(number),
			Message: fmt.Sprintf("has %d cells, but the header has %d", len(row), len(names))}})
		return
	}
	for i, name := range names {
		*columns[name](&l.Params) = row[i]
	}
	f.lines = append(f.lines, l)
}

// locate returns a fault of a field as a fault of the cell that the field comes from, with the column of the file and the value.
func (f *File) locate(l line, at fault.Field) lineFault {
	prefix := lineName(l.number) + ", "
	column := strings.TrimPrefix(at.Name, prefix)
	content := "; the cell is empty"
	if cell := *columns[column](&l.Params); cell != "" {
		content = "; the cell contains " + strconv.Quote(cell)
	}
	if column == "timestamp" {
		column = f.clock
	}
	return lineFault{l.number, fault.Field{Name: prefix + column, Message: at.Message + content}}
}
