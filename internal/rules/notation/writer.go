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

// Writer writes a journal, item by item. Accounts must precede the entries that use them. A rejected item is not
// written at all, and the next one may follow. After an error of the underlying writer nothing more is written.
type Writer struct {
	out      *bufio.Writer
	format   form
	buf      []byte
	declared map[string]bool
	err      error
	closed   bool
}

// form appends items in one format. If it returns an error, what it appended is discarded.
type form interface {
	head(buf []byte) []byte
	account(buf []byte, a *Account) ([]byte, error)
	price(buf []byte, p *Price) ([]byte, error)
	entry(buf []byte, e *Entry) ([]byte, error)
	foot(buf []byte) []byte
}

// NewWriter starts a journal. The caller must call Close at the end.
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

// Write writes an item of any kind, as Read returns it.
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
	if err := validateAccount(a); err != nil {
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

// Price writes a market price. CSV has no prices and skips them.
func (w *Writer) Price(p *Price) error {
	if w.err != nil {
		return w.err
	}
	if err := validatePrice(p); err != nil {
		return err
	}
	return w.flush(w.format.price(w.buf[:0], p))
}

// Entry writes an entry. hledger and beancount accept a journal only if every entry balances to the last digit, so for
// them an entry that does not balance, such as an unfinished draft, is rejected; CSV accepts it.
func (w *Writer) Entry(e *Entry) error {
	if w.err != nil {
		return w.err
	}
	if err := validateEntry(e); err != nil {
		return fault.Malformedf("%s: %v", entryName(e), err)
	}
	return w.flush(w.format.entry(w.buf[:0], e))
}

// Close writes the end of the journal and flushes the underlying writer, which stays open.
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
		// The format has recorded the declarations of this text, so the journal cannot continue without it.
		w.err = fault.Malformedf("one entry has more than %d MiB; split it", entryMax>>20)
		return w.err
	}
	w.buf = buf
	_, w.err = w.out.Write(buf)
	return w.err
}

// entryName identifies an entry in errors.
func entryName(e *Entry) string {
	switch {
	case e.Number != "":
		return "entry " + e.Number
	case e.ID != "":
		return "entry " + e.ID
	}
	return fmt.Sprintf("entry of %s %q", e.Date, e.Memo)
}

func validateAccount(a *Account) error {
	if err := validatePath(a.Path); err != nil {
		return err
	}
	switch a.Type {
	case "", Asset, Liability, Equity, Revenue, Expense:
	default:
		return fault.Malformedf("account %s has the type %q; use one of Asset, Liability, Equity, Revenue, Expense", joinPath(a.Path), a.Type)
	}
	if err := validateTags(a.Tags); err != nil {
		return err
	}
	return validateText(a.Code, a.ID)
}

func validatePrice(p *Price) error {
	if err := validateDate(p.Date); err != nil {
		return err
	}
	if p.Base == "" || p.Quote == "" {
		return fault.Malformedf("a price of %s names no currency", p.Date)
	}
	if err := validateText(p.Base, p.Quote, p.Source); err != nil {
		return err
	}
	if p.Rate.Sign() < 0 {
		return fault.Malformedf("the price of %s on %s is below zero", p.Base, p.Date)
	}
	return validateDigits(p.Rate)
}

func validateEntry(e *Entry) error {
	if err := validateDate(e.Date); err != nil {
		return err
	}
	err := validateText(e.ID, e.Number, e.Instant, e.Intended, e.Memo, e.Entity, e.Classification, e.OriginatedBy, e.Previous, e.Next)
	if err != nil {
		return err
	}
	if err := validateTags(e.Tags); err != nil {
		return err
	}
	if len(e.Postings) > postingsMax {
		return errPostings
	}
	for i := range e.Postings {
		if err := validatePosting(&e.Postings[i]); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}

var errPostings = fault.Malformedf("the entry has more than %d lines; split it", postingsMax)

func validatePosting(p *Posting) error {
	if err := validatePath(p.Account); err != nil {
		return err
	}
	if err := validateText(p.Currency, p.BaseCurrency, p.Memo, p.Entity); err != nil {
		return err
	}
	if err := validateTags(p.Tags); err != nil {
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
		return validateDigits(p.Amount)
	}
	switch {
	case p.Base.Sign() < 0:
		return fault.Malformedf("the base amount %s is below zero", p.Base)
	case p.BaseCurrency == "" || p.BaseCurrency == p.Currency:
		return fault.Malformedf("a base amount must be in another currency than the amount's %s", p.Currency)
	}
	if err := validateDigits(*p.Base); err != nil {
		return err
	}
	return validateDigits(p.Amount)
}

func validatePath(path []string) error {
	if len(path) == 0 {
		return fault.Malformedf("the account has no name")
	}
	if len(path) > depthMax {
		return fault.Malformedf("the account has more than %d levels", depthMax)
	}
	return validateText(path...)
}

func validateTags(tags []Tag) error {
	for _, tag := range tags {
		if err := validateText(tag.Kind, tag.Name); err != nil {
			return err
		}
	}
	return nil
}

func validateText(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fault.Malformedf("the text %q is not UTF-8", text)
		}
	}
	return nil
}

// validateDigits rejects numbers that could be written but not read again.
func validateDigits(d money.Decimal) error {
	if _, err := money.Parse(d.String()); err != nil {
		return fault.Malformedf("the amount %s %v", d, err)
	}
	return nil
}

// validateDate requires years of four digits, because that is what every format reads. The first valid day is that on
// which the accounts of beancount journals are opened.
func validateDate(date string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil || date < beginningOfTime {
		return fault.Malformedf("the date %q must be written like 2006-01-31", date)
	}
	return nil
}

// beginningOfTime precedes any entry.
const beginningOfTime = "1000-01-01"

// decimals counts the decimal places.
func decimals(number string) int {
	if point := strings.IndexByte(number, '.'); point >= 0 {
		return len(number) - point - 1
	}
	return 0
}
