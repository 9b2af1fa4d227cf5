package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// sheetRow is one row of a table before interpretation.
type sheetRow struct {
	line    int
	cells   []string
	numbers []bool   // Which cells are JSON numbers; nil if the format has none.
	broken  string   // Why the row cannot be split into cells; empty if it can.
	column  int      // The cell that broken is about, or -1.
	content []string // The values an id is derived from; nil means the cells.
}

// rowReader returns the rows of a file one by one, then io.EOF. The slice of cells is valid until the next call; the
// strings in it stay valid.
type rowReader interface{ next() (*sheetRow, error) }

// csvRows splits a text into rows and cells as RFC 4180 defines.
type csvRows struct {
	*text
	delimiter byte
	row       sheetRow
	buf       []byte // The cells of a row with quotes, concatenated.
	ends      []int
}

func newCSVRows(t *text, delimiter byte) *csvRows { return &csvRows{text: t, delimiter: delimiter} }

// next returns the next row that is not blank.
func (c *csvRows) next() (*sheetRow, error) {
	for {
		line, err := c.text.next()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 && bytes.IndexByte(line, c.delimiter) < 0 {
			continue
		}
		c.row = sheetRow{line: c.line, cells: c.row.cells[:0], column: -1}
		if bytes.IndexByte(line, '"') < 0 {
			err = c.splitPlain(line)
		} else {
			err = c.splitQuoted(line)
		}
		if err != nil {
			return nil, err
		}
		if blankRow(c.row.cells) && c.row.broken == "" {
			continue
		}
		return &c.row, nil
	}
}

// blankRow reports whether all cells are empty. Spreadsheets leave such rows at the end.
func blankRow(cells []string) bool {
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}

// splitPlain splits a line without quotes; its cells share one string.
func (c *csvRows) splitPlain(line []byte) error {
	rest := string(line)
	for {
		at := strings.IndexByte(rest, c.delimiter)
		cell := rest
		if at >= 0 {
			cell = rest[:at]
		}
		if err := c.addCell(cell, c.line); err != nil {
			return err
		}
		if at < 0 {
			break
		}
		rest = rest[at+1:]
	}
	c.validateText(line)
	return nil
}

func (c *csvRows) addCell(cell string, line int) error {
	if len(cell) > fieldMax {
		return c.errorf(line, "the cell that begins here is longer than %d KiB; is a quote missing?", fieldMax>>10)
	}
	if len(c.row.cells) == columnsMax {
		return c.errorf(line, "the row has more than %d cells; is this the right delimiter?", columnsMax)
	}
	c.row.cells = append(c.row.cells, cell)
	return nil
}

// validateText marks the row as broken if a cell is not valid UTF-8 or contains NUL.
func (c *csvRows) validateText(row []byte) {
	if utf8.Valid(row) && bytes.IndexByte(row, 0) < 0 {
		return
	}
	for i, cell := range c.row.cells {
		if !utf8.ValidString(cell) {
			c.row.broken, c.row.column = "is not valid UTF-8; save the file as UTF-8, or state its encoding in the mapping", i
			return
		}
		if strings.IndexByte(cell, 0) >= 0 {
			c.row.broken, c.row.column = "contains a NUL character; remove it", i
			return
		}
	}
}

// splitQuoted splits a line with quotes, and reads further lines while a quoted cell contains line breaks.
func (c *csvRows) splitQuoted(line []byte) error {
	c.buf, c.ends = c.buf[:0], c.ends[:0]
	rest := line
	for {
		var more bool
		var err error
		if len(rest) > 0 && rest[0] == '"' {
			rest, more, err = c.readQuotedCell(rest[1:])
		} else {
			rest, more = c.readBareCell(rest)
		}
		if err != nil {
			return err
		}
		c.ends = append(c.ends, len(c.buf))
		if c.row.broken != "" || !more {
			break
		}
	}
	all, begin := string(c.buf), 0
	for _, end := range c.ends {
		if err := c.addCell(all[begin:end], c.row.line); err != nil {
			return err
		}
		begin = end
	}
	if c.row.broken != "" {
		c.row.column = -1
		return nil
	}
	c.validateText(c.buf)
	return nil
}

// readBareCell reads a cell that is not in quotes.
func (c *csvRows) readBareCell(rest []byte) (after []byte, more bool) {
	cell := rest
	at := bytes.IndexByte(rest, c.delimiter)
	if at >= 0 {
		cell, after = rest[:at], rest[at+1:]
	}
	if bytes.IndexByte(cell, '"') >= 0 {
		c.row.broken = fmt.Sprintf("has a quote inside the cell %q; put the cell in quotes and double the quote inside",
			shorten(string(cell)))
	}
	c.buf = append(c.buf, cell...)
	return after, at >= 0
}

// readQuotedCell reads the rest of a cell after its opening quote, over as many lines as it spans.
func (c *csvRows) readQuotedCell(rest []byte) (after []byte, more bool, err error) {
	from, begin := c.line, len(c.buf)
	for {
		at := bytes.IndexByte(rest, '"')
		if at >= 0 && at+1 < len(rest) && rest[at+1] == '"' {
			c.buf = append(c.buf, rest[:at+1]...)
			rest = rest[at+2:]
			continue
		}
		if at >= 0 {
			c.buf = append(c.buf, rest[:at]...)
			rest = rest[at+1:]
			break
		}
		c.buf = append(append(c.buf, rest...), '\n')
		if len(c.buf)-begin > fieldMax {
			return nil, false, c.errorf(from, "the cell that begins here is longer than %d KiB; is its closing quote missing?", fieldMax>>10)
		}
		if len(c.buf) > rowMax {
			return nil, false, c.errorf(c.row.line, "the row is longer than %d KiB; is a quote missing?", rowMax>>10)
		}
		if rest, err = c.text.next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = c.errorf(from, "the cell that begins here has no closing quote")
			}
			return nil, false, err
		}
	}
	if len(rest) == 0 {
		return nil, false, nil
	}
	if rest[0] != c.delimiter {
		c.row.broken = fmt.Sprintf("has %q after a closing quote; expected %q or the end of the line", shorten(string(rest)), c.delimiter)
	}
	return rest[1:], true, nil
}
