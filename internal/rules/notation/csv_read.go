package notation

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// csvReader reads rows into entries. Columns may be in any order, and all but date, account and the amounts are
// optional. Consecutive rows belong to one entry while "entry", or else id and number, stay the same; the fields of an
// entry may be on its first row alone.
type csvReader struct {
	*source
	out      *output
	places   [columns]int // The index of each column, or -1.
	cells    []string
	accounts map[string]bool // Accounts already returned.

	entry *Entry
	first []string // The entry fields on the first row of the current entry.
}

func readCSV(src *source, out *output) error {
	c := &csvReader{source: src, out: out, accounts: map[string]bool{}}
	if err := c.row(); err != nil {
		if errors.Is(err, io.EOF) {
			return src.errorf(1, "the file is empty; its first row must name the columns: %s", strings.Join(columnNames[:], ", "))
		}
		return err
	}
	if err := c.header(); err != nil {
		return err
	}
	for !out.stopped {
		line := src.line + 1
		if c.entry == nil {
			src.begin()
		}
		err := c.row()
		if errors.Is(err, io.EOF) {
			c.finish()
			return nil
		}
		if err == nil && (len(c.cells) > 1 || c.cells[0] != "") { // A blank line is not a row.
			err = c.add(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *csvReader) header() error {
	for i := range c.places {
		c.places[i] = -1
	}
	for i, cell := range c.cells {
		name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(cell)), " ", "_")
		column := slices.Index(columnNames[:], name)
		if column < 0 {
			return c.errorf(1, "the column %q is unknown; the columns are %s, separated by commas", cell, strings.Join(columnNames[:], ", "))
		}
		if c.places[column] >= 0 {
			return c.errorf(1, "the column %q occurs twice; remove one of them", cell)
		}
		c.places[column] = i
	}
	for _, column := range []int{colDate, colAccount, colDebit, colCredit, colCurrency} {
		if c.places[column] < 0 {
			return c.errorf(1, "the column %q is missing; add it to the first row", columnNames[column])
		}
	}
	return nil
}

// row reads the next row into cells. A quoted cell may contain line breaks.
func (c *csvReader) row() error {
	c.cells = c.cells[:0]
	rest, err := c.raw()
	if err != nil {
		return err
	}
	for {
		if !strings.HasPrefix(rest, `"`) {
			cell, after, more := strings.Cut(rest, ",")
			if !more {
				cell = strings.TrimSuffix(cell, "\r")
			}
			if strings.IndexByte(cell, '"') >= 0 {
				return c.errorf(c.line, "the cell %q contains a quotation mark; enclose the cell in quotation marks and double the one inside", cell)
			}
			c.cells = append(c.cells, cell)
			if !more {
				return nil
			}
			rest = after
			continue
		}
		cell, after, err := c.quoted(rest[1:])
		if err != nil {
			return err
		}
		c.cells = append(c.cells, cell)
		if after == "" || after == "\r" {
			return nil
		}
		if after[0] != ',' {
			return c.errorf(c.line, "a comma is missing between the closing quotation mark and %q", after)
		}
		rest = after[1:]
	}
}

// quoted reads the rest of a cell after its opening quote, over as many lines as it spans.
func (c *csvReader) quoted(rest string) (cell, after string, err error) {
	from := c.line
	var b strings.Builder
	for {
		text, after, closed := strings.Cut(rest, `"`)
		b.WriteString(text)
		switch {
		case closed && !strings.HasPrefix(after, `"`):
			return b.String(), after, nil
		case closed:
			b.WriteByte('"')
			rest = after[1:]
			continue
		}
		if rest, err = c.raw(); err != nil {
			if errors.Is(err, io.EOF) {
				err = c.errorf(from, "the cell that begins here has no closing quotation mark; add one")
			}
			return "", "", err
		}
		b.WriteByte('\n')
	}
}

func (c *csvReader) cell(column int) string {
	if place := c.places[column]; place >= 0 {
		return c.cells[place]
	}
	return ""
}

// add adds a row to the current entry, or starts the next one with it.
func (c *csvReader) add(line int) error {
	if used := c.used(); len(c.cells) != used {
		return c.errorf(line, "the row has %d cells, but the header has %d; enclose cells that contain commas in quotation marks",
			len(c.cells), used)
	}
	if c.cell(colEntry) == "" && c.cell(colEntryID) == "" && c.cell(colNumber) == "" {
		return c.errorf(line, "the row does not name its entry; fill in entry, entry_id or number")
	}
	if !c.continues() {
		c.finish()
		if c.out.stopped {
			return nil
		}
		if err := c.start(line); err != nil {
			return err
		}
	} else {
		for i := colDate; i < firstLineColumn; i++ {
			if cell := c.cell(i); cell != "" && cell != c.first[i] {
				return c.errorf(line, "%s is %q here, but %q in the first row of the entry; all rows of an entry must have the same value",
					columnNames[i], cell, c.first[i])
			}
		}
	}
	return c.posting(line)
}

func (c *csvReader) used() int {
	used := 0
	for _, place := range c.places {
		if place >= 0 {
			used++
		}
	}
	return used
}

// continues reports whether the row belongs to the current entry.
func (c *csvReader) continues() bool {
	if c.entry == nil || c.cell(colEntry) != c.first[colEntry] {
		return false
	}
	return c.cell(colEntryID) == c.first[colEntryID] && c.cell(colNumber) == c.first[colNumber]
}

// finish emits the current entry.
func (c *csvReader) finish() {
	if c.entry != nil {
		c.out.emit(Item{Entry: c.entry})
		c.entry = nil
	}
}

func (c *csvReader) start(line int) error {
	// The size of this row was counted for the previous entry; it belongs to this one.
	c.begin()
	c.first = c.first[:0]
	for i := range firstLineColumn {
		c.first = append(c.first, c.cell(i))
	}
	e := &Entry{
		ID: c.cell(colEntryID), Number: c.cell(colNumber), Date: c.cell(colDate), Instant: c.cell(colInstant),
		Intended: c.cell(colIntended), Memo: c.cell(colMemo), Entity: c.cell(colEntity), Classification: c.cell(colClassification),
		OriginatedBy: c.cell(colOriginatedBy), Previous: c.cell(colPrevious), Next: c.cell(colNext), Tags: splitTags(c.cell(colTags)),
		Line: line,
	}
	if err := validateDate(e.Date); err != nil {
		return c.errorf(line, "%v", err)
	}
	switch status := c.cell(colStatus); status {
	case statusPosted, "":
		e.Posted = true
	case statusDraft:
	default:
		return c.errorf(line, "the status must be posted or draft, but is %q", status)
	}
	c.entry = e
	return nil
}

// posting reads the account and amount of a row.
func (c *csvReader) posting(line int) error {
	if c.cell(colAccount) == "" {
		for i := colAccount; i < columns; i++ {
			if c.cell(i) != "" {
				return c.errorf(line, "the row has a %s but no account; fill in the account", columnNames[i])
			}
		}
		return nil
	}
	if len(c.entry.Postings) == postingsMax {
		return c.errorf(line, "%v", errPostings)
	}
	p := Posting{Account: splitPath(c.cell(colAccount)), Currency: c.cell(colCurrency), BaseCurrency: c.cell(colBaseCurrency),
		Memo: c.cell(colLineMemo), Entity: c.cell(colLineEntity), Tags: splitTags(c.cell(colLineTags)), Line: line}
	debit, credit := c.cell(colDebit), c.cell(colCredit)
	if (debit == "") == (credit == "") {
		return c.errorf(line, "exactly one of debit and credit must contain an amount")
	}
	p.Debit = debit != ""
	var err error
	if p.Amount, err = money.Parse(debit + credit); err != nil {
		return c.errorf(line, "the amount %q %v", debit+credit, err)
	}
	if base := c.cell(colBaseAmount); base != "" {
		amount, err := money.Parse(base)
		if err != nil {
			return c.errorf(line, "the base amount %q %v", base, err)
		}
		p.Base = &amount
	}
	if err := validatePosting(&p); err != nil {
		return c.errorf(line, "%v", err)
	}
	if err := c.account(p.Account, line); err != nil || c.out.stopped {
		return err
	}
	c.entry.Postings = append(c.entry.Postings, p)
	return nil
}

// account emits an account with the first row that states more than its name.
func (c *csvReader) account(path []string, line int) error {
	kind, code, id, tags := c.cell(colAccountType), c.cell(colAccountCode), c.cell(colAccountID), c.cell(colAccountTags)
	if name := c.cell(colAccount); kind+code+id+tags == "" || c.accounts[name] {
		return nil
	}
	a := &Account{Path: path, Type: kind, Code: code, ID: id, Tags: splitTags(tags), Line: line}
	if err := validateAccount(a); err != nil {
		return c.errorf(line, "%v", err)
	}
	c.accounts[c.cell(colAccount)] = true
	c.out.emit(Item{Account: a})
	return nil
}
