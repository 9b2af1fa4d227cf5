package journal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Status is where an entry is in its life.
type Status string

// The states. A deleted draft stays as a tombstone, so that its number is accounted for; nobody sees it.
const (
	Draft   Status = "draft"
	Posted  Status = "posted"
	deleted Status = "deleted"
)

// Who or what makes entries.
const (
	ByHand       = "manual"
	ByImport     = "import"
	ByReversal   = "reversal"
	ByCorrection = "correction"

	ByTransaction = "transaction" // it follows from what happened on a source
	ByOpening     = "opening"     // what an asset that was entered by hand cost
	ByRevaluation = "revaluation" // it carries what is held to what it is worth
	ByTrueUp      = "true_up"     // it brings a disposal of a closed period to what it cost after all
)

// Unclassified is the transaction type of an entry that no transaction stands behind.
const Unclassified = "UNKNOWN"

// Entry is one journal entry.
type Entry struct {
	ID             string
	Number         int64
	Status         Status
	OriginatedBy   string
	LegalEntityID  string
	AutoEntity     bool // the legal entity was not named but followed
	AccountingDate time.Time
	IntendedDate   *time.Time // what was asked for, when the month of it was closed
	PeriodID       string     // of a draft, the month it would fall in, if there is one
	PostedAt       *time.Time
	Memo           string
	Classification string
	TransactionID  string
	TransactionNo  int64 // the number of the transaction; zero where there is none
	TagIDs         []string
	PreviousID     string
	NextID         string
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Lines          []Line
}

// Line is one line of an entry.
type Line struct {
	ID              string
	LedgerAccountID string
	LegalEntityID   string
	Side            book.Side
	Amount          money.Decimal
	Currency        string
	Base            *money.Decimal // in the legal entity's currency; nil until it is posted
	BaseCurrency    string         // that currency, filled in for who reads the line
	Memo            string
	TagIDs          []string
	// Unit and Quantity are what the line is about where that is not the currency of the books: so much of an asset, or so much foreign money.
	Unit     string
	Quantity *money.Decimal
}

// SequenceNumber is how people call the entry.
func (e Entry) SequenceNumber() string { return "JE-" + strconv.FormatInt(e.Number, 10) }

// Reassigned tells that the month asked for was closed and another one took the entry.
func (e Entry) Reassigned() bool { return e.IntendedDate != nil }

// entities lists the legal entities of an entry: its own first, then those of its lines.
func (e Entry) entities() []string {
	out := []string{e.LegalEntityID}
	for _, l := range e.Lines {
		if !slices.Contains(out, l.LegalEntityID) {
			out = append(out, l.LegalEntityID)
		}
	}
	return out
}

// tags lists every tag of an entry and its lines, each once.
func (e Entry) tags() []string {
	out := slices.Clone(e.TagIDs)
	for _, l := range e.Lines {
		out = append(out, l.TagIDs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bookLines gives the lines as arithmetic sees them.
func (e Entry) bookLines() []book.Line {
	out := make([]book.Line, len(e.Lines))
	for i, l := range e.Lines {
		out[i] = book.Line{Entity: l.LegalEntityID, Account: l.LedgerAccountID, Side: l.Side, Amount: l.Amount, Currency: l.Currency}
		if l.Base != nil {
			out[i].Base = *l.Base
		}
		if len(e.TagIDs)+len(l.TagIDs) > 0 {
			tags := slices.Concat(e.TagIDs, l.TagIDs)
			slices.Sort(tags)
			out[i].Tags = slices.Compact(tags)
		}
	}
	return out
}

// search is the text an entry is found by.
func (e Entry) search() string {
	var b strings.Builder
	b.WriteString(e.SequenceNumber())
	for _, memo := range append([]string{e.Memo}, memosOf(e.Lines)...) {
		if memo != "" {
			b.WriteString("\n" + memo)
		}
	}
	return strings.ToLower(b.String())
}

func memosOf(lines []Line) (out []string) {
	for _, l := range lines {
		if l.Memo != "" {
			out = append(out, l.Memo)
		}
	}
	return out
}

// Guidance says what may be done to an entry now, and why not the rest.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// Guide looks at an entry in the light of the books.
func (e Entry) Guide(b *snapshot.Books) Guidance {
	g := Guidance{Allowed: []string{}, Warnings: []string{}, Version: clock.Format(e.UpdatedAt)}
	month := calendar.MonthOf(e.AccountingDate, b.Zone).Key()
	closed := month <= b.ClosedThrough(e.entities()...)
	switch {
	case e.Status == Draft:
		g.Allowed = append(g.Allowed, "edit", "delete")
		switch blocked := e.linesOnBlocked(b); {
		case len(blocked) > 0:
			g.Warnings = append(g.Warnings, "the account "+b.Accounts[e.Lines[blocked[0]].LedgerAccountID].String()+
				" takes no lines now: edit the entry before posting it")
		case closed:
			g.Allowed = append(g.Allowed, "post")
			g.Warnings = append(g.Warnings, "the period "+month+" is closed: posting moves the entry to the first open one")
		default:
			g.Allowed = append(g.Allowed, "post")
		}
	case e.NextID != "":
		g.Warnings = append(g.Warnings, "the entry is reversed by another one: work on the last entry of its chain")
	case e.OriginatedBy == ByReversal:
		g.Warnings = append(g.Warnings, "a reversal cannot be reversed: make a new entry")
	case len(e.linesOnArchived(b)) > 0:
		g.Warnings = append(g.Warnings, "the account "+b.Accounts[e.Lines[e.linesOnArchived(b)[0]].LedgerAccountID].String()+
			" is archived: unarchive it to reverse, correct or unpost the entry")
	default:
		g.Allowed = append(g.Allowed, "reverse", "correct")
		switch {
		case closed:
			g.Warnings = append(g.Warnings, "the period "+month+" is closed: reverse the entry instead of unposting it")
		case e.PreviousID != "":
			g.Warnings = append(g.Warnings, "the entry is part of a chain: reverse it instead of unposting it")
		default:
			g.Allowed = append(g.Allowed, "unpost")
		}
	}
	return g
}

// linesOnArchived gives the lines that stand on an archived account.
func (e Entry) linesOnArchived(b *snapshot.Books) []int {
	return e.linesWhere(func(l Line) bool { return b.Accounts[l.LedgerAccountID].ArchivedAt != nil })
}

// linesOnBlocked gives the lines on accounts that take none now.
func (e Entry) linesOnBlocked(b *snapshot.Books) []int {
	return e.linesWhere(func(l Line) bool {
		a := b.Accounts[l.LedgerAccountID]
		return a.ArchivedAt != nil || !a.Postable
	})
}

func (e Entry) linesWhere(is func(Line) bool) (out []int) {
	for i, l := range e.Lines {
		if is(l) {
			out = append(out, i)
		}
	}
	return out
}

// facts is what the audit and events say of an entry: all of it, so that the log alone shows what was posted.
type facts struct {
	ID             string      `json:"id"`
	SequenceNumber string      `json:"sequence_number"`
	Status         Status      `json:"status"`
	OriginatedBy   string      `json:"originated_by"`
	LegalEntityID  string      `json:"legal_entity_id"`
	AccountingDate string      `json:"accounting_date"`
	PeriodID       *string     `json:"accounting_period_id"`
	Memo           *string     `json:"memo"`
	TagIDs         []string    `json:"tag_ids,omitempty"`
	PreviousID     string      `json:"previous_entry_id,omitempty"`
	NextID         string      `json:"next_entry_id,omitempty"`
	Lines          []lineFacts `json:"lines"`
}

type lineFacts struct {
	LedgerAccountID string    `json:"ledger_account_id"`
	LegalEntityID   string    `json:"legal_entity_id"`
	Side            book.Side `json:"credit_or_debit"`
	Amount          string    `json:"amount"`
	Currency        string    `json:"currency"`
	Memo            string    `json:"memo,omitempty"`
	TagIDs          []string  `json:"tag_ids,omitempty"`
}

func (e Entry) facts() facts {
	f := facts{
		ID: e.ID, SequenceNumber: e.SequenceNumber(), Status: e.Status, OriginatedBy: e.OriginatedBy, LegalEntityID: e.LegalEntityID,
		AccountingDate: clock.Format(e.AccountingDate), PeriodID: db.OrNull(e.PeriodID), Memo: db.OrNull(e.Memo),
		TagIDs: nilIfEmpty(e.TagIDs), PreviousID: e.PreviousID, NextID: e.NextID, Lines: make([]lineFacts, len(e.Lines)),
	}
	for i, l := range e.Lines {
		f.Lines[i] = lineFacts{LedgerAccountID: l.LedgerAccountID, LegalEntityID: l.LegalEntityID, Side: l.Side,
			Amount: l.Amount.Fixed(l.Currency), Currency: l.Currency, Memo: l.Memo, TagIDs: nilIfEmpty(l.TagIDs)}
	}
	return f
}

// nilIfEmpty makes no tags one thing, whether there is a list without any or no list: facts are compared.
func nilIfEmpty(ids []string) []string { return append([]string(nil), ids...) }
