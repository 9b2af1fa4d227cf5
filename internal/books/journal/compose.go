package journal

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Limits of an entry.
const (
	linesMin = 2
	linesMax = 1000
	batchMax = 1000

	yearMin    = 1970
	yearsAhead = 10 // a later date is a typing error, and posting creates every period up to it
)

// CreateParams describe an entry. Amounts and dates are text, so that their faults are reported together with all others.
type CreateParams struct {
	LegalEntityID  string // empty: derived from the lines, or the only one there is
	AutoEntity     bool   // the caller derived the legal entity
	AccountingDate string // an instant, or a date in the organization's time zone
	Opening        bool   // an opening balance: it is dated before every accounting period, and AccountingDate is ignored
	Memo           string
	TagIDs         []string
	Status         Status
	TransactionID  string // not validated: the caller has found it
	TransactionNo  int64
	OriginatedBy   string
	Classification string // empty is Unclassified
	Lines          []LineParams

	// The following are set only for an entry that was imported from another journal.
	ID           string
	PreviousID   string // the entry before it in its chain
	IntendedDate string // an instant: the date that was requested, if its period was closed
}

// LineParams describe a line.
type LineParams struct {
	LedgerAccountID string
	Side            book.Side
	Amount          string
	Currency        string // empty: that of the legal entity
	LegalEntityID   string // empty: that of the entry
	Memo            string
	TagIDs          []string
	Base            *money.Decimal // the amount in the legal entity's currency; nil: translated when the entry is posted
	Unit            string
	Quantity        *money.Decimal
}

// composer turns requests into entries and collects their faults.
type composer struct {
	books *snapshot.Books
	who   actor.Actor
	now   time.Time
	*validation
}

// compose returns the draft that a request describes. Faults are added to the validation; if there are any, the draft must
// not be used.
func (c *composer) compose(p CreateParams) Entry {
	e := Entry{Status: Draft, OriginatedBy: p.OriginatedBy, Memo: p.Memo, Classification: cmp.Or(p.Classification, Unclassified),
		TagIDs: p.TagIDs, ID: p.ID, PreviousID: p.PreviousID,
		TransactionID: p.TransactionID, TransactionNo: p.TransactionNo}
	c.requireUnique("tag_ids", p.TagIDs)
	if e.AccountingDate = period.OpeningDate; !p.Opening {
		e.AccountingDate = c.parseDate("accounting_date", p.AccountingDate)
	}
	if p.IntendedDate != "" {
		intended, err := time.Parse(time.RFC3339, p.IntendedDate)
		if err != nil || !period.IsOpening(intended) {
			intended = c.parseDate("intended_accounting_date", p.IntendedDate)
		}
		e.IntendedDate = &intended
	}
	c.resolveEntity(&e, p)
	c.composeLines(&e, p.Lines)
	e.tagLines()
	e.PeriodID = periodOf(c.books, e.AccountingDate)
	return e
}

// Validate returns an error with every fault of an entry that is to be created, or of its date and tags only if its lines are not known
// yet. It is a building block.
func Validate(ctx context.Context, tx *db.Tx, b *snapshot.Books, p CreateParams, at string) error {
	c := &composer{b, actor.From(ctx), tx.Now(), &validation{at: at}}
	e := Entry{TagIDs: p.TagIDs}
	if p.OriginatedBy == ByHand {
		e = c.compose(p)
	} else {
		c.requireUnique("tag_ids", p.TagIDs)
		if p.AccountingDate != "" {
			c.parseDate("accounting_date", p.AccountingDate)
		}
	}
	if err := resolveTags(ctx, tx, c.validation, []Entry{e}, func(int) string { return at }); err != nil {
		return err
	}
	return c.err()
}

// periodOf returns the id of the period that a date lies in, or an empty string if that period does not exist yet.
func periodOf(b *snapshot.Books, at time.Time) string {
	p, _ := b.Period(calendar.MonthOf(at, b.Zone).Key())
	return p.ID
}

func (c *composer) month(at time.Time) calendar.Month { return calendar.MonthOf(at, c.books.Zone) }

// parseDate parses an instant, or a date, which stands for its first instant in the organization's time zone.
func (c *composer) parseDate(field, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = calendar.StartOfDay(text, c.books.Zone)
	}
	if err != nil {
		c.fault(field, clock.Unreadable(text))
		return c.now
	}
	at = clock.Stamp(at)
	if latest := c.now.Year() + yearsAhead; at.Year() < yearMin || at.Year() > latest {
		c.fault(field, fmt.Sprintf("must lie between %d and %d", yearMin, latest))
		return c.now
	}
	return at
}

// resolveEntity sets the legal entity of an entry: the one it names, the one that all lines name, or the only one that the
// actor sees.
func (c *composer) resolveEntity(e *Entry, p CreateParams) {
	if p.LegalEntityID != "" {
		e.LegalEntityID, e.AutoEntity = p.LegalEntityID, p.AutoEntity
		c.requireEntity("legal_entity_id", p.LegalEntityID)
		return
	}
	e.AutoEntity = true
	for _, l := range p.Lines {
		if l.LegalEntityID == "" || e.LegalEntityID != "" && l.LegalEntityID != e.LegalEntityID {
			e.LegalEntityID = ""
			break
		}
		e.LegalEntityID = l.LegalEntityID
	}
	if e.LegalEntityID != "" {
		return // composeLine validates it
	}
	var seen []string
	for id := range c.books.Entities {
		if c.who.Sees(id) {
			seen = append(seen, id)
		}
	}
	if len(seen) != 1 {
		c.fault("legal_entity_id", "is required, because there are several legal entities")
		return
	}
	e.LegalEntityID = seen[0]
}

func (c *composer) requireEntity(field, legalEntityID string) {
	if !c.entityVisible(legalEntityID) {
		c.notFound("legal entity", field)
	}
}

func (c *composer) entityVisible(legalEntityID string) bool {
	_, there := c.books.Entities[legalEntityID]
	return there && c.who.Sees(legalEntityID)
}

func (c *composer) requireUnique(field string, ids []string) {
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			c.fault(field+"["+strconv.Itoa(i)+"]", "is given twice")
		}
	}
}

func (c *composer) composeLines(e *Entry, lines []LineParams) {
	// A booking of something worthless moves lots but has no lines.
	if n := len(lines); (n < linesMin || n > linesMax) && (n > 0 || e.TransactionID == "" || e.OriginatedBy == ByHand) {
		c.fault("lines", fmt.Sprintf("must have %d to %d lines", linesMin, linesMax))
		return
	}
	before := len(c.faults)
	e.Lines = make([]Line, len(lines))
	for i, l := range lines {
		e.Lines[i] = c.composeLine(*e, "lines["+strconv.Itoa(i)+"].", l)
	}
	if len(c.faults) > before || slices.ContainsFunc(e.Lines, func(l Line) bool { return !c.entityVisible(l.LegalEntityID) }) {
		return // without valid amounts and legal entities there is nothing to balance
	}
	for _, d := range book.Differences(e.bookLines()) {
		c.fault("lines", fmt.Sprintf("do not balance: in %s of %s, debits are %s and credits %s, a difference of %s",
			d.Currency, c.books.Entities[d.Entity].Name, d.Debits.Fixed(d.Currency), d.Credits.Fixed(d.Currency),
			d.Amount().Abs().Fixed(d.Currency)))
	}
}

var currencyRe = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

func (c *composer) composeLine(e Entry, at string, p LineParams) Line {
	l := Line{LedgerAccountID: p.LedgerAccountID, LegalEntityID: e.LegalEntityID, Side: p.Side, Currency: p.Currency, Memo: p.Memo,
		TagIDs: p.TagIDs, Base: p.Base, Unit: p.Unit, Quantity: p.Quantity}
	if p.LegalEntityID != "" {
		l.LegalEntityID = p.LegalEntityID
		c.requireEntity(at+"legal_entity_id", p.LegalEntityID)
	}
	if p.Side != book.Debit && p.Side != book.Credit {
		c.fault(at+"credit_or_debit", "must be DEBIT or CREDIT")
	}
	var err error
	if l.Amount, err = money.Parse(p.Amount); err != nil {
		c.fault(at+"amount", err.Error())
	} else if l.Amount.Sign() <= 0 {
		c.fault(at+"amount", "must be positive")
	}
	if l.Currency == "" {
		l.Currency = c.books.Entities[l.LegalEntityID].BaseCurrency
	} else if !currencyRe.MatchString(l.Currency) {
		c.fault(at+"currency", "must be a currency such as USD, or the symbol of an asset")
	} else if code := strings.ToUpper(l.Currency); code != l.Currency && money.IsFiat(code) {
		c.fault(at+"currency", "must be written "+code)
	}
	if own := c.books.Entities[l.LegalEntityID].BaseCurrency; l.Unit == "" && own != "" && l.Currency != own {
		foreign := l.Amount
		l.Unit, l.Quantity = l.Currency, &foreign
	}
	c.requireUnique(at+"tag_ids", p.TagIDs)
	c.requirePostable(at+"ledger_account_id", p.LedgerAccountID)
	c.requireControl(at+"ledger_account_id", p.LedgerAccountID, e.OriginatedBy)
	return l
}

// controlOrigins are the origins of entries that may have lines on a control account.
var controlOrigins = []string{ByInvoice, ByCreditNote, ByCashApplication, ByRevaluation}

// requireControl reports a line on a control account of an entry that its subledger did not make: the account would no longer be equal to
// the subledger.
func (c *composer) requireControl(field, accountID, origin string) {
	if a := c.books.Accounts[accountID]; account.IsControl(a.Role) && !slices.Contains(controlOrigins, origin) {
		c.fault(field, "the ledger account "+a.String()+" is kept by invoices, credit notes and cash applications: create or void one "+
			"instead, or choose another account")
	}
}

func (c *composer) requirePostable(field, accountID string) {
	a, there := c.books.Accounts[accountID]
	switch {
	case !there:
		c.notFound("ledger account", field)
	case a.ArchivedAt != nil:
		c.conflict(field, "the ledger account "+a.String()+" is archived")
	case !a.Postable:
		c.fault(field, "the ledger account "+a.String()+" is not postable: choose one below it")
	}
}
