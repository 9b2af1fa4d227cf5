package invoice

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Limits of an invoice.
const (
	linesMax       = 200
	numberMax      = 64
	descriptionMax = 500
	productMax     = 200
	memoMax        = 2000
	reasonMax      = 500

	// A date outside of these years is a typing error.
	yearMin       = 1970
	yearsAhead    = 1 // of documents and entries: an entry creates every period up to it
	dueYearsAhead = 10
)

// Params describe an invoice. Dates and amounts are text, so that their faults are reported together.
type Params struct {
	LegalEntityID string
	CustomerID    string
	Number        string // empty: the next one of the legal entity
	Currency      string // empty: that of the legal entity
	Date          string // YYYY-MM-DD
	DueDate       string // YYYY-MM-DD; empty: the date and the terms
	TermsDays     *int   // nil: those of the customer
	Memo          string
	Lines         []LineParams
	Total         string // what the caller expects the lines to add up to; empty: not checked
}

// params returns the request that would create the invoice.
func (i Invoice) params() Params {
	p := Params{LegalEntityID: i.LegalEntityID, CustomerID: i.CustomerID, Number: i.Number, Currency: i.Currency, Date: day(i.Date),
		DueDate: day(i.DueDate), Memo: i.Memo, Lines: make([]LineParams, len(i.Lines))}
	for n, l := range i.Lines {
		p.Lines[n] = l.params()
	}
	return p
}

// UpdateParams are the requested changes; nil leaves a field as it is. Lines replace all those before.
type UpdateParams struct {
	CustomerID *string
	Number     *string
	Currency   *string
	Date       *string
	DueDate    *string
	Memo       *string
	Lines      *[]LineParams
	Total      *string
}

func (u UpdateParams) apply(p Params) Params {
	for _, f := range []struct{ field, to *string }{{&p.CustomerID, u.CustomerID}, {&p.Number, u.Number}, {&p.Currency, u.Currency},
		{&p.Date, u.Date}, {&p.DueDate, u.DueDate}, {&p.Memo, u.Memo}, {&p.Total, u.Total}} {
		if f.to != nil {
			*f.field = *f.to
		}
	}
	if u.Lines != nil {
		p.Lines = *u.Lines
	}
	return p
}

// fixed returns a fault for each requested change that only a draft permits. The number of a void invoice can change too, so that another
// one can have it.
func (u UpdateParams) fixed(status Status) (fields []fault.Field) {
	for _, f := range []struct {
		name string
		set  bool
	}{{"customer_id", u.CustomerID != nil}, {"invoice_number", u.Number != nil && status != Void}, {"currency", u.Currency != nil},
		{"invoice_date", u.Date != nil}, {"lines", u.Lines != nil}, {"total_amount", u.Total != nil}} {
		if f.set {
			fields = append(fields, fault.Field{Name: f.name, Message: "cannot change once the invoice is open"})
		}
	}
	return fields
}

// resolver turns requests into invoices and collects their faults.
type resolver struct {
	tx      *db.Tx
	books   *snapshot.Books
	faults  fault.List
	known   map[string]customer.Customer // those that were read before; nil if none were
	foreign map[string]bool              // the ledger accounts that the actor may not see, if they were read before
}

// resolve returns an invoice as it is stored, or an error with every fault: of the input, of the records that it refers to, and
// conflicts. before is the stored invoice, empty for a new one. The caller holds the lock on the organization state.
func resolve(ctx context.Context, tx *db.Tx, b *snapshot.Books, p Params, before Invoice) (Invoice, error) {
	r := &resolver{tx: tx, books: b}
	i, err := r.document(ctx, p, before)
	if err != nil {
		return i, err
	}
	if err := r.number(ctx, &i, before, invoiceSeries); err != nil {
		return i, err
	}
	return i, r.faults.Err()
}

// document returns an invoice or, in its form, a credit note without a number, and collects its faults.
func (r *resolver) document(ctx context.Context, p Params, before Invoice) (Invoice, error) {
	i := before
	i.Number, i.Memo, i.Currency = strings.TrimSpace(p.Number), strings.TrimSpace(p.Memo), p.Currency
	i.LegalEntityID, i.CustomerID = p.LegalEntityID, p.CustomerID
	e := r.books.Entities[p.LegalEntityID]
	if !r.seesEntity(ctx, p.LegalEntityID) {
		r.faults.AddMissing("legal entity", "legal_entity_id")
	}
	if i.Currency == "" {
		i.Currency = e.BaseCurrency
	}
	if i.Currency != "" && !money.IsFiat(i.Currency) {
		r.faults.Addf("currency", "must be an ISO 4217 currency such as USD")
		i.Currency = e.BaseCurrency // so that amounts are validated
	}
	terms, err := r.customer(ctx, &i, before)
	if err != nil {
		return i, err
	}
	r.dates(&i, p, terms)
	r.texts(i, p.Lines)
	i.computeLines(&r.faults, p.Lines, p.Total)
	return i, r.accounts(ctx, p.Lines)
}

// seesEntity reports whether a legal entity exists and the actor may see it.
func (r *resolver) seesEntity(ctx context.Context, legalEntityID string) bool {
	_, there := r.books.Entities[legalEntityID]
	return there && actor.From(ctx).Sees(legalEntityID)
}

// customer finds the customer and returns its terms.
func (r *resolver) customer(ctx context.Context, i *Invoice, before Invoice) (terms int, err error) {
	c, read := r.known[i.CustomerID]
	if !read {
		c, err = customer.Find(ctx, r.tx, i.CustomerID)
	}
	if failed := r.faults.MergeMissing(err, "customer_id"); failed != nil {
		return 0, failed
	}
	if err == nil && c.Archived() && i.CustomerID != before.CustomerID {
		r.faults.AddConflictf("customer_id", "the customer %s is archived: unarchive it or choose another", c.Name)
	}
	i.CustomerName = c.Name
	return c.TermsDays, nil
}

// dates sets the dates of an invoice.
func (r *resolver) dates(i *Invoice, p Params, terms int) {
	if p.TermsDays != nil {
		if terms = *p.TermsDays; terms < 0 || terms > customer.TermsMax {
			r.faults.Addf("payment_terms_days", "must be between 0 and %d", customer.TermsMax)
			terms = 0
		}
		if p.DueDate != "" {
			r.faults.Addf("payment_terms_days", "must be omitted if there is a due_date")
		}
	}
	dated, dueAt := false, false
	if i.Date, dated = r.date("invoice_date", p.Date, yearsAhead); p.DueDate == "" {
		i.DueDate = i.Date.AddDate(0, 0, terms)
		return
	}
	if i.DueDate, dueAt = r.date("due_date", p.DueDate, dueYearsAhead); dated && dueAt && i.DueDate.Before(i.Date) {
		r.faults.Addf("due_date", "must not be before invoice_date")
	}
}

// date parses a day, which is stored as its first instant in UTC whatever the time zone of the organization is: an invoice has the same
// date everywhere.
func (r *resolver) date(field, text string, ahead int) (time.Time, bool) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		r.faults.Addf(field, "must be a date such as 2026-01-31, and not %q", text)
		return r.tx.Now(), false
	}
	if latest := r.tx.Now().Year() + ahead; at.Year() < yearMin || at.Year() > latest {
		r.faults.Addf(field, "must lie between %d and %d", yearMin, latest)
		return r.tx.Now(), false
	}
	return at, true
}

// accountingDate returns the date of an entry about an invoice in the form that the journal takes: today, if none is given. It is not
// before the date of the invoice.
func (r *resolver) accountingDate(field, text string, invoiced time.Time) string {
	if text == "" {
		text = calendar.DateOf(r.tx.Now(), r.books.Zone)
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = calendar.StartOfDay(text, r.books.Zone)
	}
	if latest := r.tx.Now().Year() + yearsAhead; err != nil {
		r.faults.Addf(field, "%s", clock.Unreadable(text))
	} else if at.Year() < yearMin || at.Year() > latest {
		r.faults.Addf(field, "must lie between %d and %d", yearMin, latest)
	} else if calendar.DateOf(at, r.books.Zone) < day(invoiced) {
		r.faults.Addf(field, "must not be before the date of the invoice, %s", day(invoiced))
	}
	return text
}

// texts reports texts that are too long or missing.
func (r *resolver) texts(i Invoice, lines []LineParams) {
	r.length("invoice_number", i.Number, 0, numberMax)
	r.length("memo", i.Memo, 0, memoMax)
	for n, l := range lines {
		r.length(fmt.Sprintf("lines[%d].description", n), strings.TrimSpace(l.Description), 1, descriptionMax)
		r.length(fmt.Sprintf("lines[%d].product", n), l.Product, 0, productMax)
	}
}

func (r *resolver) length(field, text string, low, high int) {
	if n := utf8.RuneCountInString(text); n < low || n > high {
		r.faults.Addf(field, "must have %d to %d characters, not counting spaces before and after", low, high)
	}
}

// The types of accounts that lines and their taxes are credited to. Deferred revenue is a liability, and expenses may be charged on.
var (
	lineTypes = []account.Type{account.Revenue, account.Liability, account.Expense}
	taxTypes  = []account.Type{account.Liability}
)

// accounts reports ledger accounts of lines that do not exist or cannot be used.
func (r *resolver) accounts(ctx context.Context, lines []LineParams) error {
	var asked []string
	for _, l := range lines {
		asked = append(asked, l.AccountID, l.TaxAccountID)
	}
	foreign := r.foreign
	if foreign == nil {
		var err error
		if foreign, err = foreignAccounts(ctx, r.tx, asked); err != nil {
			return err
		}
	}
	for n, l := range lines {
		at := fmt.Sprintf("lines[%d].", n)
		r.account(at+"ledger_account_id", l.AccountID, foreign, lineTypes)
		if l.TaxAccountID != "" {
			r.account(at+"tax_ledger_account_id", l.TaxAccountID, foreign, taxTypes)
		}
	}
	return nil
}

// foreignAccounts returns which of some ledger accounts the actor may not see.
func foreignAccounts(ctx context.Context, tx *db.Tx, accountIDs []string) (map[string]bool, error) {
	found, err := source.ForeignAccounts(ctx, tx, accountIDs)
	if err == nil && found == nil {
		found = map[string]bool{}
	}
	return found, err
}

func (r *resolver) account(field, accountID string, foreign map[string]bool, types []account.Type) {
	a, there := r.books.Accounts[accountID]
	switch {
	case !there || foreign[accountID]:
		r.faults.AddMissing("ledger account", field)
	case !slices.Contains(types, a.Type):
		r.faults.Addf(field, "must be an account of type %s: %s is of type %s", fault.Choices(types), a, a.Type)
	case !a.Postable:
		r.faults.Addf(field, "the ledger account %s is not postable: choose one below it", a)
	case account.IsControl(a.Role):
		r.faults.Addf(field, "the ledger account %s is what the invoice is due on: choose another account", a)
	case a.Archived():
		r.faults.AddConflictf(field, "the ledger account %s is archived: unarchive it or choose another", a)
	}
}

// series is a sequence of numbers, of which each legal entity has its own.
type series struct{ prefix, table, id, number string }

// The series.
var (
	invoiceSeries    = series{"INV", table, "invoice_id", "invoice_number"}
	creditNoteSeries = series{"CN", creditTable, "credit_note_id", "credit_note_number"}
)

// number reports a number that another invoice or credit note of the legal entity has, and chooses the next free one if none is given.
func (r *resolver) number(ctx context.Context, i *Invoice, before Invoice, s series) error {
	if i.Number != "" {
		if i.Number == before.Number {
			return nil
		}
		i.sequence = 0
		others, err := selectNumbered(ctx, r.tx, s, i.LegalEntityID, i.Number)
		if err != nil {
			return err
		}
		if len(others) > 0 {
			r.faults.AddConflictf(s.number, "%s has the number %s already", others[0], i.Number)
		}
		return nil
	}
	if !r.faults.Empty() {
		return nil
	}
	last, err := selectLastSequence(ctx, r.tx, s, i.LegalEntityID)
	if err != nil {
		return err
	}
	for i.sequence = last + 1; ; i.sequence++ {
		i.Number = fmt.Sprintf("%s-%d", s.prefix, i.sequence)
		others, err := selectNumbered(ctx, r.tx, s, i.LegalEntityID, i.Number)
		if err != nil || len(others) == 0 {
			return err
		}
	}
}
