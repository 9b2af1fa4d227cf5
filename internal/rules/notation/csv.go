package notation

import (
	"strconv"
	"strings"
)

// How entries look as CSV: RFC 4180, a row for each posting, with what is the entry's repeated on every row, and the
// rows of an entry together. The column "entry" counts the entries, so that two without id and number stay apart. An
// entry without postings has one row without an account. Accounts are on the rows that use them; prices have no place.
//
// Accounts are names between colons; a colon inside a name is %3A. Tags are Kind:Name between semicolons; those marks
// inside are %3A and %3B. In both a percent sign that looks like an escape is %25. All other texts are exactly what they
// are, also those that begin with =, + or @ and that a spreadsheet may take for a formula: what changes a text to
// protect one reader loses it for all others.

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

// firstLineColumn is where the facts of the entry end and those of its posting begin.
const firstLineColumn = colAccount

const (
	statusPosted = "posted"
	statusDraft  = "draft"
)

type csvForm struct {
	accounts map[string]*Account
	count    int
	shared   []byte // The cells of the entry under way that all its rows begin with.
}

func newCSVForm() *csvForm { return &csvForm{accounts: map[string]*Account{}} }

func (c *csvForm) head(buf []byte) []byte {
	return append(append(buf, strings.Join(columnNames[:], ",")...), "\r\n"...)
}

func (c *csvForm) foot(buf []byte) []byte { return buf }

// account remembers an account for the rows that use it.
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

// appendCell quotes what RFC 4180 wants quoted, and spaces at either end, which some readers trim.
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
