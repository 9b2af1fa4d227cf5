package notation

import (
	"strconv"
	"strings"
)

// The CSV format follows RFC 4180: one row for each posting, with the fields of the entry repeated on every row, and
// the rows of an entry together. The column "entry" counts the entries, so that two entries without id and number stay
// separate. An entry without postings has one row without an account. Accounts are described on the rows that use them;
// prices are not written.
//
// Accounts are names separated by colons; a colon inside a name is %3A. Tags are Kind:Name separated by semicolons;
// colons and semicolons inside are %3A and %3B. In both, a percent sign that looks like an escape is %25. All other
// texts are written unchanged, also those that begin with =, + or @ and that a spreadsheet may take for a formula:
// changing a text to protect one program would break it for all others.

// The columns, in the order in which they are written.
const (
	colEntry = iota
	colEntryID
	colNumber
	colDate
	colInstant
	colIntended
	colStatus
	colMemo
	colEntity
	colClassification
	colOriginatedBy
	colPrevious
	colNext
	colTags
	colAccount
	colAccountType
	colAccountCode
	colAccountID
	colAccountTags
	colDebit
	colCredit
	colCurrency
	colBaseAmount
	colBaseCurrency
	colLineMemo
	colLineEntity
	colLineTags
	columns
)

var columnNames = [columns]string{
	"entry", "entry_id", "number", "date", "instant", "intended", "status", "memo", "entity", "classification", "originated_by", "previous",
	"next", "tags", "account", "account_type", "account_code", "account_id", "account_tags", "debit", "credit", "currency",
	"base_amount", "base_currency",
	"line_memo", "line_entity", "line_tags",
}

// firstLineColumn is the first column about the posting; the columns before it are about the entry.
const firstLineColumn = colAccount

const (
	statusPosted = "posted"
	statusDraft  = "draft"
)

type csvForm struct {
	accounts map[string]*Account
	count    int
	shared   []byte // The cells that all rows of the current entry begin with.
}

func newCSVForm() *csvForm { return &csvForm{accounts: map[string]*Account{}} }

func (c *csvForm) head(buf []byte) []byte {
	return append(append(buf, strings.Join(columnNames[:], ",")...), "\r\n"...)
}

func (c *csvForm) foot(buf []byte) []byte { return buf }

// account stores an account for the rows that use it.
func (c *csvForm) account(buf []byte, a *Account) ([]byte, error) {
	kept := *a
	c.accounts[joinPath(a.Path)] = &kept
	return buf, nil
}

func (c *csvForm) price(buf []byte, _ *Price) ([]byte, error) { return buf, nil }

func (c *csvForm) entry(buf []byte, e *Entry) ([]byte, error) {
	c.count++
	status := statusDraft
	if e.Posted {
		status = statusPosted
	}
	c.shared = strconv.AppendInt(c.shared[:0], int64(c.count), 10)
	for _, cell := range [...]string{e.ID, e.Number, e.Date, e.Instant, e.Intended, status, e.Memo, e.Entity, e.Classification, e.OriginatedBy,
		e.Previous, e.Next, joinTags(e.Tags)} {
		c.shared = appendCell(append(c.shared, ','), cell)
	}
	if len(e.Postings) == 0 {
		buf = append(buf, c.shared...)
		buf = append(buf, strings.Repeat(",", columns-firstLineColumn)...)
		return append(buf, "\r\n"...), nil
	}
	for i := range e.Postings {
		buf = append(buf, c.shared...)
		buf = c.posting(buf, &e.Postings[i])
	}
	return buf, nil
}

func (c *csvForm) posting(buf []byte, p *Posting) []byte {
	path := joinPath(p.Account)
	account := c.accounts[path]
	if account == nil {
		account = &Account{}
	}
	debit, credit := "", p.Amount.Fixed(p.Currency)
	if p.Debit {
		debit, credit = credit, debit
	}
	base := ""
	if p.Base != nil {
		base = p.Base.Fixed(p.BaseCurrency)
	}
	for _, cell := range [...]string{path, account.Type, account.Code, account.ID, joinTags(account.Tags), debit, credit, p.Currency,
		base, p.BaseCurrency,
		p.Memo, p.Entity, joinTags(p.Tags)} {
		buf = appendCell(append(buf, ','), cell)
	}
	return append(buf, "\r\n"...)
}

// appendCell quotes a cell where RFC 4180 requires it, and also cells with spaces at either end, which some readers
// trim.
func appendCell(buf []byte, cell string) []byte {
	if !strings.ContainsAny(cell, ",\"\r\n") && (cell == "" || cell[0] != ' ' && cell[len(cell)-1] != ' ') {
		return append(buf, cell...)
	}
	buf = append(buf, '"')
	for i := range len(cell) {
		if cell[i] == '"' {
			buf = append(buf, '"')
		}
		buf = append(buf, cell[i])
	}
	return append(buf, '"')
}
