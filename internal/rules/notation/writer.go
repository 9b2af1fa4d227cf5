package notation

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// Writer writes a journal, item by item. Accounts come before the entries that use them. An item that is refused leaves
// nothing behind: the next one may be written. After an error of the underlying writer nothing more is written.
type Writer struct {
	out      *bufio.Writer
	format   form
	buf      []byte
	declared map[string]bool
	err      error
	closed   bool
}

// form appends items in one format. What it appends before it returns an error is thrown away.
type form interface {
	head(buf []byte) []byte
	account(buf []byte, a *Account) ([]byte, error)
	price(buf []byte, p *Price) ([]byte, error)
	entry(buf []byte, e *Entry) ([]byte, error)
	foot(buf []byte) []byte
}

// NewWriter begins a journal. Close ends it.
func NewWriter(format Format, w io.Writer) *Writer {
	nw := &Writer{out: bufio.NewWriterSize(w, sourceBuffer), declared: map[string]bool{}}
	switch format {
	case Hledger:
		nw.format = newHledgerForm()
	case Beancount:
		nw.format = newBeancountForm()
	case CSV:
		nw.format = newCSVForm()
	default:
		nw.err = unknownFormat(format)
		return nw
	}
	nw.flush(nw.format.head(nil), nil)
	return nw
}

// Write writes whichever item it is given, as Read gives it.
func (w *Writer) Write(item Item) error {
	switch {
	case item.Account != nil:
		return w.Account(item.Account)
	case item.Price != nil:
		return w.Price(item.Price)
	case item.Entry != nil:
		return w.Entry(item.Entry)
	}
	return nil
}

// Account declares an account, once, before the entries that use it.
func (w *Writer) Account(a *Account) error {
	if w.err != nil {
		return w.err
	}
	if err := checkAccount(a); err != nil {
		return err
	}
	path := joinPath(a.Path)
	if w.declared[path] {
		return fault.Conflictf("account %s is declared twice; write it once", path)
	}
	buf, err := w.format.account(w.buf[:0], a)
	if err == nil {
		w.declared[path] = true
	}
	return w.flush(buf, err)
}

// Price writes a market price. CSV has no place for prices and leaves them out.
func (w *Writer) Price(p *Price) error {
	if w.err != nil {
		return w.err
	}
	if err := checkPrice(p); err != nil {
		return err
	}
	return w.flush(w.format.price(w.buf[:0], p))
}

// Entry writes an entry. hledger and beancount read a journal only if every entry balances to the last digit, so for
// them one that does not, such as an unfinished draft, is refused; CSV takes it.
func (w *Writer) Entry(e *Entry) error {
	if w.err != nil {
		return w.err
	}
	if err := checkEntry(e); err != nil {
		return fault.Malformedf("%s: %v", entryName(e), err)
	}
	return w.flush(w.format.entry(w.buf[:0], e))
}

// Close writes what comes last in a journal and hands everything to the underlying writer, which stays open.
func (w *Writer) Close() error {
	if w.err != nil || w.closed {
		return w.err
	}
	w.closed = true
	if err := w.flush(w.format.foot(w.buf[:0]), nil); err != nil {
		return err
	}
	w.err = w.out.Flush()
	return w.err
}

func (w *Writer) flush(buf []byte, err error) error {
	if err != nil {
		return err
	}
	if len(buf) > entryMax {
		// What the format noted about the entry is in this text, so the journal cannot go on without it.
		w.err = fault.Malformedf("one entry has more than %d MiB; split it", entryMax>>20)
		return w.err
	}
	w.buf = buf
	_, w.err = w.out.Write(buf)
	return w.err
}

// entryName is how errors call an entry.
func entryName(e *Entry) string {
	switch {
	case e.Number != "":
		return "entry " + e.Number
	case e.ID != "":
		return "entry " + e.ID
	}
	return fmt.Sprintf("entry of %s %q", e.Date, e.Memo)
}

func checkAccount(a *Account) error {
	if err := checkPath(a.Path); err != nil {
		return err
	}
	switch a.Type {
	case "", Asset, Liability, Equity, Revenue, Expense:
	default:
		return fault.Malformedf("account %s has the type %q; use one of Asset, Liability, Equity, Revenue, Expense", joinPath(a.Path), a.Type)
	}
	if err := checkTags(a.Tags); err != nil {
		return err
	}
	return checkText(a.Code, a.ID)
}

func checkPrice(p *Price) error {
	if err := checkDate(p.Date); err != nil {
		return err
	}
	if p.Base == "" || p.Quote == "" {
		return fault.Malformedf("a price of %s names no currency", p.Date)
	}
	if err := checkText(p.Base, p.Quote, p.Source); err != nil {
		return err
	}
	if p.Rate.Sign() < 0 {
		return fault.Malformedf("the price of %s on %s is below zero", p.Base, p.Date)
	}
	return checkDigits(p.Rate)
}

func checkEntry(e *Entry) error {
	if err := checkDate(e.Date); err != nil {
		return err
	}
	err := checkText(e.ID, e.Number, e.Instant, e.Intended, e.Memo, e.Entity, e.Classification, e.OriginatedBy, e.Previous, e.Next)
	if err != nil {
		return err
	}
	if err := checkTags(e.Tags); err != nil {
		return err
	}
	if len(e.Postings) > postingsMax {
		return errPostings
	}
	for i := range e.Postings {
		if err := checkPosting(&e.Postings[i]); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}

var errPostings = fault.Malformedf("the entry has more than %d lines; split it", postingsMax)

func checkPosting(p *Posting) error {
	if err := checkPath(p.Account); err != nil {
		return err
	}
	if err := checkText(p.Currency, p.BaseCurrency, p.Memo, p.Entity); err != nil {
		return err
	}
	if err := checkTags(p.Tags); err != nil {
		return err
	}
	switch {
	case p.Amount.Sign() <= 0:
		return fault.Malformedf("the amount %s must be above zero; say debit or credit instead of a sign", p.Amount)
	case p.Currency == "":
		return fault.Malformedf("the amount %s has no currency", p.Amount)
	case p.Base == nil && p.BaseCurrency != "":
		return fault.Malformedf("there is a base currency but no base amount")
	}
	if p.Base == nil {
		return checkDigits(p.Amount)
	}
	switch {
	case p.Base.Sign() < 0:
		return fault.Malformedf("the base amount %s is below zero", p.Base)
	case p.BaseCurrency == "" || p.BaseCurrency == p.Currency:
		return fault.Malformedf("a base amount must be in another currency than the amount's %s", p.Currency)
	}
	if err := checkDigits(*p.Base); err != nil {
		return err
	}
	return checkDigits(p.Amount)
}

func checkPath(path []string) error {
	if len(path) == 0 {
		return fault.Malformedf("the account has no name")
	}
	if len(path) > depthMax {
		return fault.Malformedf("the account has more than %d levels", depthMax)
	}
	return checkText(path...)
}

func checkTags(tags []Tag) error {
	for _, tag := range tags {
		if err := checkText(tag.Kind, tag.Name); err != nil {
			return err
		}
	}
	return nil
}

func checkText(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fault.Malformedf("the text %q is not UTF-8", text)
		}
	}
	return nil
}

// checkDigits refuses numbers that could be written but not read again.
func checkDigits(d money.Decimal) error {
	if _, err := money.Parse(d.String()); err != nil {
		return fault.Malformedf("the amount %s %v", d, err)
	}
	return nil
}

// checkDate wants years of four digits, because that is what every format reads. The beginning of time is the day on
// which beancount's accounts are opened.
func checkDate(date string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil || date < beginningOfTime {
		return fault.Malformedf("the date %q must be written like 2006-01-31", date)
	}
	return nil
}

// beginningOfTime is before any entry.
const beginningOfTime = "1000-01-01"

// decimals counts the digits after the point.
func decimals(number string) int {
	if point := strings.IndexByte(number, '.'); point >= 0 {
		return len(number) - point - 1
	}
	return 0
}
