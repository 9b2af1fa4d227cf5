package journal

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Limits of an entry.
const (
	LinesMin = 2
	LinesMax = 1000
	BatchMax = 1000

	yearMin    = 1970
	yearsAhead = 10 // a date further away is a slip, and months have rows up to it
)

// CreateParams describe an entry. Amounts and dates are as they were written, so that what is wrong with them is told with everything else.
type CreateParams struct {
	LegalEntityID  string // may be empty where it follows
	AutoEntity     bool   // it followed from something else
	AccountingDate string // an instant, or a date in the organization's zone
	Memo           string
	TagIDs         []string
	Status         Status
	TransactionID  string // one that was looked at already
	TransactionNo  int64
	OriginatedBy   string
	Classification string // empty is Unclassified
	Lines          []LineParams

	// What only an entry that comes from elsewhere has already.
	ID           string
	PreviousID   string // the entry before it in its chain
	IntendedDate string // an instant; what was asked for, when the month of it was closed
}

// LineParams describe a line.
type LineParams struct {
	LedgerAccountID string
	Side            book.Side
	Amount          string
	Currency        string // empty is the legal entity's
	LegalEntityID   string // empty is the entry's
	Memo            string
	TagIDs          []string
	Base            *money.Decimal // in the legal entity's currency, where it is booked already; nil is translated
	Unit            string
	Quantity        *money.Decimal
}

// composer makes entries of requests, in the light of the books.
type composer struct {
	books *snapshot.Books
	who   actor.Actor
	now   time.Time
	*validation
}

// compose makes a draft of a request. What is wrong with it is in the review; the entry then means nothing.
func (c *composer) compose(p CreateParams) Entry {
	e := Entry{Status: Draft, OriginatedBy: p.OriginatedBy, Memo: p.Memo, Classification: cmp.Or(p.Classification, Unclassified),
		TagIDs: p.TagIDs, ID: p.ID, PreviousID: p.PreviousID,
		TransactionID: p.TransactionID, TransactionNo: p.TransactionNo}
	c.requireUnique("tag_ids", p.TagIDs)
	e.AccountingDate = c.parseDate("accounting_date", p.AccountingDate)
	if p.IntendedDate != "" {
		intended := c.parseDate("intended_accounting_date", p.IntendedDate)
		e.IntendedDate = &intended
	}
	c.resolveEntity(&e, p)
	c.composeLines(&e, p.Lines)
	e.PeriodID = periodOf(c.books, e.AccountingDate)
	return e
}

// periodOf is the row of the month a date lies in, if there is one.
func periodOf(b *snapshot.Books, at time.Time) string {
	p, _ := b.Period(calendar.MonthOf(at, b.Zone).Key())
	return p.ID
}

func (c *composer) month(at time.Time) calendar.Month { return calendar.MonthOf(at, c.books.Zone) }

// parseDate reads an instant, or a bare date as its first instant where the organization is.
func (c *composer) parseDate(field, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = calendar.StartOfDay(text, c.books.Zone)
	}
	if err != nil {
		c.fault(field, "must be an RFC 3339 time or a date such as 2026-01-31")
		return c.now
	}
	at = clock.Stamp(at)
	if latest := c.now.Year() + yearsAhead; at.Year() < yearMin || at.Year() > latest {
		c.fault(field, fmt.Sprintf("must lie between %d and %d", yearMin, latest))
		return c.now
	}
	return at
}

// resolveEntity finds the legal entity of an entry: the one named, the one all lines name, or the only one there is.
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
		return // the lines are looked at themselves
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
	// What is worth nothing moves lots and no money.
	if n := len(lines); (n < LinesMin || n > LinesMax) && (n > 0 || e.TransactionID == "" || e.OriginatedBy == ByHand) {
		c.fault("lines", fmt.Sprintf("must have %d to %d lines", LinesMin, LinesMax))
		return
	}
	before := len(c.faults)
	e.Lines = make([]Line, len(lines))
	for i, l := range lines {
		e.Lines[i] = c.composeLine(*e, "lines["+strconv.Itoa(i)+"].", l)
	}
	if len(c.faults) > before || slices.ContainsFunc(e.Lines, func(l Line) bool { return !c.entityVisible(l.LegalEntityID) }) {
		return // amounts that are none add up to nothing, and who is not known has no books to balance
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
	return l
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
