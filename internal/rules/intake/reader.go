package intake

import (
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Options describe a file and how to read it.
type Options struct {
	// Name is the file name, used in messages and to detect the format.
	Name string
	// Mapping may be empty for a file of a known layout, for OFX, and for JSON in the format of the API.
	Mapping Mapping
	// OwnAddresses are the addresses of the wallet that the file belongs to, in any case; layouts without signs need
	// them.
	OwnAddresses []string
}

// Reader reads the rows of a file.
type Reader struct {
	text    *text
	mapping Mapping
	ids     *ids
	read    func() (Row, error)
	done    error
}

// Open starts reading a file. It reads only the head. It returns the faults of the mapping, field by field, or an error
// about the file as a whole.
func Open(r io.Reader, o Options) (*Reader, error) {
	if o.Name == "" {
		o.Name = "file"
	}
	if err := o.Mapping.Validate(); err != nil {
		return nil, err
	}
	t, err := openText(o.Name, r, encodings[o.Mapping.Encoding])
	if err != nil {
		return nil, err
	}
	in := &Reader{text: t, mapping: o.Mapping, ids: newIDs()}
	head, _ := t.head()
	if in.mapping.Format == "" {
		in.mapping.Format = detectFormat(o.Name, head)
	}
	o.Mapping = in.mapping
	switch in.mapping.Format {
	case CSV:
		err = in.openCSV(&o)
	case JSON:
		err = in.openJSON(&o)
	case OFX:
		err = in.openOFX(&o)
	}
	if err != nil {
		return nil, err
	}
	return in, nil
}

// Next returns the next row, or io.EOF. A row with faults does not end the reading; any error does, and every later
// call returns the same error.
func (in *Reader) Next() (Row, error) {
	if in.done != nil {
		return Row{}, in.done
	}
	row, err := in.read()
	if err != nil {
		in.done = err
		return Row{}, err
	}
	return row, nil
}

// Offset returns how many bytes of the file have been processed, to show progress.
func (in *Reader) Offset() int64 { return in.text.offset() }

// Mapping returns the mapping in use, completed with the detected format, preset, delimiter and header row.
func (in *Reader) Mapping() Mapping { return in.mapping }

func (in *Reader) openCSV(o *Options) error {
	head, whole := in.text.head()
	m := &in.mapping
	if m.Delimiter == "" {
		m.Delimiter = string(guessDelimiter(head))
	}
	sample := sampleCSV(head, whole, m.Delimiter[0])
	if len(m.Columns) == 0 && m.Preset == "" {
		if m.Preset = detectPreset(sample); m.Preset == "" {
			return fault.Invalidf("mapping.columns", "must be stated, because the layout of the file is unknown")
		}
	}
	rows := newCSVRows(in.text, m.Delimiter[0])
	s, err := in.readHeader(rows, sample)
	if err != nil {
		return err
	}
	var interpret interpreter
	if p := presetNamed(m.Preset); p != nil {
		interpret = p.open(s, o)
	} else {
		below := slices.DeleteFunc(sample, func(r sheetRow) bool { return r.line <= m.HeaderRow || r.broken != "" })
		plan, err := newMapped(m, s, below)
		if err != nil {
			return err
		}
		interpret = plan.interpret
	}
	in.read = func() (Row, error) { return in.row(rows, s, interpret) }
	return nil
}

// readHeader finds the column names and reads past them.
func (in *Reader) readHeader(rows *csvRows, sample []sheetRow) (*sheet, error) {
	m := &in.mapping
	if m.HeaderRow == -1 {
		if len(sample) == 0 {
			return &sheet{}, nil
		}
		return &sheet{header: make([]string, len(sample[0].cells))}, nil
	}
	if m.HeaderRow == 0 {
		at := in.findHeader(sample)
		if at < 0 {
			return nil, in.missingColumns(sample)
		}
		m.HeaderRow = sample[at].line
	}
	for {
		row, err := rows.next()
		if errors.Is(err, io.EOF) {
			return nil, fault.Invalidf("mapping.header_row", "is line %d, but the file has no row there", m.HeaderRow)
		}
		if err != nil {
			return nil, err
		}
		if row.line < m.HeaderRow {
			continue
		}
		s := &sheet{header: cleanHeader(row.cells)}
		if p := presetNamed(m.Preset); p != nil && !p.matches(s.header) {
			return nil, fault.Invalidf("mapping.preset", "is %s, but the header on line %d is of another layout", m.Preset, row.line)
		}
		return s, nil
	}
}

// findHeader returns the index of the first row that has all required columns, or -1.
func (in *Reader) findHeader(sample []sheetRow) int {
	m := &in.mapping
	for i := range min(len(sample), headerSearch) {
		header := cleanHeader(sample[i].cells)
		if p := presetNamed(m.Preset); p != nil {
			if p.matches(header) {
				return i
			}
			continue
		}
		s, all := sheet{header: header}, true
		for _, column := range m.Columns {
			all = all && (s.find(column) >= 0 || columnNumber(column) >= 0 && columnNumber(column) < len(header))
		}
		if all {
			return i
		}
	}
	return -1
}

// missingColumns returns faults for the missing columns, judged by the row with the most matches.
func (in *Reader) missingColumns(sample []sheetRow) error {
	if p := presetNamed(in.mapping.Preset); p != nil {
		return fault.Invalidf("mapping.preset", "is %s, but no row among the first %d has its columns", p.name, headerSearch)
	}
	best, most := &sheet{}, -1
	for i := range min(len(sample), headerSearch) {
		s, found := &sheet{header: cleanHeader(sample[i].cells)}, 0
		for _, column := range in.mapping.Columns {
			if s.find(column) >= 0 {
				found++
			}
		}
		if found > most {
			best, most = s, found
		}
	}
	var faults fault.List
	for _, field := range slices.Sorted(maps.Keys(in.mapping.Columns)) {
		if _, err := best.resolve(field, in.mapping.Columns[field]); err != nil {
			_ = faults.Merge(err)
		}
	}
	if err := faults.Err(); err != nil {
		return err
	}
	return fault.Invalidf("mapping.header_row", "must be stated, because no row has all the columns")
}

// row reads and interprets one row.
func (in *Reader) row(rows rowReader, s *sheet, interpret interpreter) (Row, error) {
	raw, err := rows.next()
	if err != nil {
		return Row{}, err
	}
	e := entry{sheet: s, row: raw, ids: in.ids, idColumn: -1}
	out := Row{Line: raw.line}
	switch {
	case raw.broken != "":
		e.faultf(raw.column, "%s", raw.broken)
	case !in.validateWidth(&e):
	default:
		out.Records, out.Skipped = interpret(&e)
		if len(e.faults) == 0 {
			e.rejectDuplicates(out.Records)
		}
		out.Balance = e.balance
	}
	if len(e.faults) > 0 {
		out.Records, out.Skipped, out.Faults, out.Balance = nil, "", e.faults, nil
	}
	return out, nil
}

// validateWidth reports whether a row has a cell for every column. If cells are missing or added, the others may have
// shifted.
func (in *Reader) validateWidth(e *entry) bool {
	cells, columns := e.row.cells, len(e.sheet.header)
	if len(cells) == columns {
		return true
	}
	if len(cells) > columns && blankRow(cells[columns:]) {
		e.row.cells = cells[:columns]
		return true
	}
	e.faultf(-1, "the row has %d cells, but there are %d columns; a cell that contains the delimiter must be in quotes", len(cells), columns)
	return false
}
