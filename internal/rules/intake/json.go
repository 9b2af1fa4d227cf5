package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// depthMax bounds the nesting of objects.
const depthMax = 20

// jsonRows returns the objects of an array, of a list such as {"transactions": […]}, or of JSON lines.
type jsonRows struct {
	*text
	mode   jsonMode
	first  bool // No object has been returned yet.
	at     int  // The line of the next byte.
	header []string
	row    sheetRow
	raw    []byte
}

type jsonMode byte

const (
	jsonLines jsonMode = iota
	jsonArray
	jsonWrapped
)

// property is one value of an object and its path.
type property struct {
	path   string
	text   string
	number bool
}

// listNames are the properties that may hold the list of transactions: the names in requests and in responses of the
// API.
var listNames = []string{"transactions", "data"}

// newJSONRows positions the reader at the list in a file.
func newJSONRows(t *text) (*jsonRows, error) {
	j := &jsonRows{text: t, first: true, at: 1}
	b, ok, err := j.skipSpace()
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		return nil, t.errorf(1, "the file is empty")
	case b == '[':
		j.mode = jsonArray
		t.pos++
	case b == '{':
		head, _ := t.head()
		if after := findList(head); after > 0 {
			j.mode = jsonWrapped
			j.at += bytes.Count(head[t.pos:after], []byte("\n"))
			t.pos = after
		}
	default:
		return nil, t.errorf(j.at, "begins with %q, which starts neither a JSON array nor a JSON object", string(rune(b)))
	}
	return j, nil
}

// findList returns the offset after the bracket that opens the list of transactions in an object, or 0.
func findList(head []byte) int {
	depth := 0
	for i := 0; i < len(head); i++ {
		switch head[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return 0
			}
		case '"':
			end := stringEnd(head, i)
			if depth == 1 && slices.Contains(listNames, string(head[i+1:max(i+1, end-1)])) {
				rest := bytes.TrimLeft(head[end:], " \t\r\n")
				if inner, ok := bytes.CutPrefix(rest, []byte(":")); ok {
					if inner = bytes.TrimLeft(inner, " \t\r\n"); len(inner) > 0 && inner[0] == '[' {
						return len(head) - len(inner) + 1
					}
				}
			}
			i = end - 1
		}
	}
	return 0
}

// stringEnd returns the offset after the string that begins at a quote.
func stringEnd(s []byte, at int) int {
	for i := at + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func (j *jsonRows) skipSpace() (byte, bool, error) {
	for {
		b, ok, err := j.peek()
		if err != nil || !ok || b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b, ok, err
		}
		if b == '\n' {
			j.at++
		}
		j.pos++
	}
}

// next returns the next object as a row.
func (j *jsonRows) next() (*sheetRow, error) {
	b, ok, err := j.skipSpace()
	if err != nil {
		return nil, err
	}
	if j.mode != jsonLines && ok && b == ',' && !j.first {
		j.pos++
		if b, ok, err = j.skipSpace(); err != nil {
			return nil, err
		}
	} else if j.mode != jsonLines && ok && b == '{' && !j.first {
		return nil, j.errorf(j.at, "a comma is missing before the object")
	}
	switch {
	case !ok && j.mode == jsonLines:
		return nil, io.EOF
	case !ok:
		return nil, j.errorf(j.at, "the file ends within the list; a part of it is missing")
	case b == ']' && j.mode != jsonLines:
		j.pos++
		return nil, j.expectEnd()
	case b != '{':
		return nil, j.errorf(j.at, "expected an object, found %q", string(rune(b)))
	}
	j.first = false
	j.row = sheetRow{line: j.at, cells: j.row.cells[:0], numbers: j.row.numbers[:0], content: []string{}, column: -1}
	if err := j.readObject(); err != nil {
		return nil, err
	}
	j.splitCells()
	return &j.row, nil
}

// expectEnd validates what follows the list, so that a truncated file is noticed.
func (j *jsonRows) expectEnd() error {
	depth := 0
	if j.mode == jsonWrapped {
		depth = 1
	}
	quoted := false
	for {
		b, ok, err := j.peek()
		switch {
		case err != nil:
			return err
		case !ok && depth == 0 && !quoted:
			return io.EOF
		case !ok:
			return j.errorf(j.at, "the file ends too early; a part of it is missing")
		}
		j.pos++
		switch {
		case b == '\n':
			j.at++
		case quoted && b == '\\':
			if _, _, err := j.peek(); err != nil {
				return err
			}
			j.pos = min(j.pos+1, len(j.buf))
		case b == '"' && depth > 0:
			quoted = !quoted
		case quoted, b == ' ', b == '\t', b == '\r':
		case depth == 0:
			return j.errorf(j.at, "unexpected %q after the end of the list", string(rune(b)))
		case b == '{', b == '[':
			depth++
		case b == '}', b == ']':
			depth--
		}
	}
}

// readObject copies the object that begins at the current position.
func (j *jsonRows) readObject() error {
	j.raw = j.raw[:0]
	depth, quoted, escaped := 0, false, false
	for {
		b, ok, err := j.peek()
		if err != nil {
			return err
		}
		if !ok {
			return j.errorf(j.row.line, "the object that begins here has no end")
		}
		if len(j.raw) == rowMax {
			return j.errorf(j.row.line, "the object that begins here is longer than %d KiB", rowMax>>10)
		}
		j.pos++
		j.raw = append(j.raw, b)
		switch {
		case b == '\n':
			j.at++
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = b == '\\', b != '"'
		case b == '"':
			quoted = true
		case b == '{', b == '[':
			depth++
		case b == '}', b == ']':
			if depth--; depth == 0 {
				return nil
			}
		}
	}
}

// splitCells sets the cells of the row from the properties of the object.
func (j *jsonRows) splitCells() {
	properties, err := flatten(j.raw)
	if err != nil {
		j.row.broken = err.Error()
		return
	}
	slices.SortFunc(properties, func(a, b property) int { return strings.Compare(a.path, b.path) })
	for i, p := range properties {
		if i > 0 && properties[i-1].path == p.path {
			j.row.broken = fmt.Sprintf("has %q twice", shorten(p.path))
			return
		}
		j.row.content = append(j.row.content, p.path, p.text)
	}
	for _, name := range j.header {
		at, found := slices.BinarySearchFunc(properties, name, func(p property, name string) int { return strings.Compare(p.path, name) })
		if !found {
			j.row.cells, j.row.numbers = append(j.row.cells, ""), append(j.row.numbers, false)
			continue
		}
		j.row.cells, j.row.numbers = append(j.row.cells, properties[at].text), append(j.row.numbers, properties[at].number)
	}
}

// flatten lists the values of an object at every depth.
func flatten(raw []byte) ([]property, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("is not valid UTF-8; save the file as UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var all []property
	if err := flattenValue(d, "", 0, &all); err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	return all, nil
}

func flattenValue(d *json.Decoder, path string, depth int, all *[]property) error {
	if depth > depthMax {
		return errors.New("it is nested too deeply")
	}
	token, err := d.Token()
	if err != nil {
		return err
	}
	p := property{path: path}
	switch v := token.(type) {
	case json.Delim:
		return flattenAggregate(d, v, path, depth, all)
	case string:
		p.text = v
		if strings.IndexByte(v, 0) >= 0 {
			return errors.New("a text contains a NUL character; remove it")
		}
	case json.Number:
		p.text, p.number = v.String(), true
	case bool:
		p.text = fmt.Sprint(v)
	}
	if len(p.text) > fieldMax {
		return fmt.Errorf("%s is longer than %d KiB", shorten(path), fieldMax>>10)
	}
	if len(*all) == columnsMax {
		return fmt.Errorf("it has more than %d properties", columnsMax)
	}
	*all = append(*all, p)
	return nil
}

func flattenAggregate(d *json.Decoder, open json.Delim, path string, depth int, all *[]property) error {
	for n := 0; d.More(); n++ {
		name := fmt.Sprint(n)
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string)
		}
		if path != "" {
			name = path + "." + name
		}
		if err := flattenValue(d, name, depth+1, all); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// sampleJSON reads the head of a file and returns its property paths and rows.
func sampleJSON(head []byte) (header []string, rows []sheetRow) {
	j, err := newJSONRows(textOf("", head))
	if err != nil {
		return nil, nil
	}
	var contents [][]string
	for len(contents) < headRows {
		row, err := j.next()
		if err != nil {
			break
		}
		contents = append(contents, row.content)
		for i := 0; i < len(row.content); i += 2 {
			if !slices.Contains(header, row.content[i]) && len(header) < columnsMax {
				header = append(header, row.content[i])
			}
		}
	}
	if j, err = newJSONRows(textOf("", head)); err != nil {
		return header, nil
	}
	j.header = header
	for range contents {
		row, err := j.next()
		if err != nil {
			break
		}
		if row.broken != "" {
			continue
		}
		kept := *row
		kept.cells, kept.numbers = slices.Clone(row.cells), slices.Clone(row.numbers)
		rows = append(rows, kept)
	}
	return header, rows
}

func (in *Reader) openJSON(o *Options) error {
	if o.Mapping.Preset != "" {
		return fault.Invalidf("mapping.preset", "must be empty for JSON; presets are layouts of CSV")
	}
	head, _ := in.text.head()
	header, sample := sampleJSON(head)
	rows, err := newJSONRows(in.text)
	if err != nil {
		return err
	}
	var interpret interpreter
	if len(o.Mapping.Columns) == 0 {
		header = apiPaths
		interpret = interpretAPI
	}
	s := &sheet{header: header}
	if interpret == nil {
		plan, err := newMapped(&in.mapping, s, sample)
		if err != nil {
			return err
		}
		interpret = plan.interpret
	}
	rows.header = header
	in.read = func() (Row, error) { return in.row(rows, s, interpret) }
	return nil
}

// isAPIFormat reports whether a file holds transactions in the format of the API.
func isAPIFormat(head []byte) bool {
	header, _ := sampleJSON(head)
	return slices.ContainsFunc(header, func(path string) bool { return strings.HasPrefix(path, "external.") })
}
