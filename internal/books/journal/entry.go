package journal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Status is the state of an entry.
type Status string

// The states. A deleted draft stays in the database without lines, so that its number is accounted for; no request returns it.
const (
	Draft   Status = "draft"
	Posted  Status = "posted"
	deleted Status = "deleted"
)

// The origins of entries.
const (
	ByHand       = "manual"
	ByImport     = "import"
	ByReversal   = "reversal"
	ByCorrection = "correction"

	ByTransaction = "transaction" // books a transaction of a source
	ByOpening     = "opening"     // books the cost of an asset that was entered by hand
	ByRevaluation = "revaluation" // measures holdings at the end of a period
	ByTrueUp      = "true_up"     // corrects the cost of a disposal in a closed period
	ByInvoice     = "invoice"     // books an invoice, or writes one off
	ByCreditNote  = "credit_note" // books a credit note

	ByCashApplication = "cash_application" // books a deposit that pays invoices, or a later use of what it left over
)

// Unclassified is the transaction type of an entry without a transaction.
const Unclassified = "UNKNOWN"

// Entry is one journal entry.
type Entry struct {
	ID             string
	Number         int64
	Status         Status
	OriginatedBy   string
	LegalEntityID  string
	AutoEntity     bool // the request did not name the legal entity: it was derived
	AccountingDate time.Time
	IntendedDate   *time.Time // the date that was requested, if its period was closed
	PeriodID       string     // for a draft the period of its date, if it exists
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

	Partial bool    // what belongs to legal entities outside the actor's key was left out; not stored
	Synced  *Synced // what general ledgers have of it; not stored here, and nil if it was not looked up
}

// Synced says what general ledgers have of an entry.
type Synced struct {
	Present   bool // it is in a general ledger
	FirstAt   *time.Time
	LastAt    *time.Time
	RemovedAt *time.Time
	Attempt   *SyncAttempt // the latest; nil if there is none
	Drift     string       // what was changed there by hand, in words; empty if nothing is known of it
}

// SyncAttempt is an attempt to send an entry to a general ledger, or to remove it there.
type SyncAttempt struct {
	ID         string
	Action     string // create, replace or remove
	Status     string // pending, succeeded or failed
	Provider   string
	ExternalID string // the general ledger's id; empty if there is none
	At         time.Time
	Error      string // why it failed; empty if it did not
	ErrorCode  string // of a blocker; empty if there is none
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
	BaseCurrency    string         // that currency; not stored, filled in on reading
	Memo            string
	TagIDs          []string
	// Unit and Quantity are set for an asset or a foreign currency: what the line moves, and how much of it.
	Unit     string
	Quantity *money.Decimal
	// Rates are the exchange rates of the accounting date from the legal entity's currency, by which a posted line on an equity
	// account is translated for good.
	Rates fx.Kept
}

// SequenceNumber returns the number that users see, such as JE-7.
func (e Entry) SequenceNumber() string { return "JE-" + strconv.FormatInt(e.Number, 10) }

// Reassigned reports whether the entry was posted to a later period because the requested one was closed.
func (e Entry) Reassigned() bool { return e.IntendedDate != nil }

// entities returns the legal entities of an entry: its own first, then those of its lines.
func (e Entry) entities() []string {
	out := []string{e.LegalEntityID}
	for _, l := range e.Lines {
		if !slices.Contains(out, l.LegalEntityID) {
			out = append(out, l.LegalEntityID)
		}
	}
	return out
}

// shownTo returns the part of an entry that an actor may see, and whether that is anything. Of an entry that also concerns legal entities
// outside the actor's key it leaves out their lines, the memo, which is about all of them, and, if the entry belongs to one of them,
// that legal entity and the transaction.
func (e Entry) shownTo(who actor.Actor) (Entry, bool) {
	hidden := func(legalEntityID string) bool { return !who.Sees(legalEntityID) }
	all := e.entities()
	if !slices.ContainsFunc(all, hidden) {
		return e, true
	}
	e.Partial, e.Memo = true, ""
	e.Lines = slices.DeleteFunc(slices.Clone(e.Lines), func(l Line) bool { return hidden(l.LegalEntityID) })
	if hidden(e.LegalEntityID) {
		e.LegalEntityID, e.AutoEntity, e.TransactionID, e.TransactionNo = "", false, "", 0
	}
	return e, slices.ContainsFunc(all, who.Sees)
}

// tags returns the tags of an entry and its lines, sorted and without duplicates.
func (e Entry) tags() []string {
	out := slices.Clone(e.TagIDs)
	for _, l := range e.Lines {
		out = append(out, l.TagIDs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// followsFromTransaction reports whether the lines were computed from a transaction and not written by a person.
func (e Entry) followsFromTransaction() bool {
	return e.TransactionID != "" && e.OriginatedBy != ByHand
}

// tagLines gives the tags of an entry that follows from a transaction to its lines, besides those of their own.
func (e *Entry) tagLines() {
	if !e.followsFromTransaction() || len(e.TagIDs) == 0 {
		return
	}
	for i, l := range e.Lines {
		tags := slices.Clone(e.TagIDs)
		for _, tag := range l.TagIDs {
			if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		e.Lines[i].TagIDs = tags
	}
}

// bookLines converts the lines for package book, which does the arithmetic.
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

// search returns the text that searches look in.
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

// Guidance lists the actions that are possible on an entry now, and warnings that explain why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// ForbidPosting removes posting from the actions that are possible, and adds the reason as a warning.
func (g *Guidance) ForbidPosting(why string) { g.forbid(why, "post") }

// forbid removes actions from those that are possible, and adds the reason as a warning if one of them was.
func (g *Guidance) forbid(why string, actions ...string) {
	allowed := slices.DeleteFunc(slices.Clone(g.Allowed), func(action string) bool { return slices.Contains(actions, action) })
	if len(allowed) < len(g.Allowed) || slices.Contains(actions, "post") {
		g.Allowed, g.Warnings = allowed, append(g.Warnings, why)
	}
}

// Guide returns the guidance for an entry, given the books.
func (e Entry) Guide(b *snapshot.Books) Guidance {
	g := Guidance{Allowed: []string{}, Warnings: []string{}, Version: clock.Format(e.UpdatedAt)}
	if e.Partial {
		g.Warnings = append(g.Warnings, "the entry "+actor.NeedsUnlimited)
		return g
	}
	month := calendar.MonthOf(e.AccountingDate, b.Zone).Key()
	closed := month <= b.ClosedThrough(e.entities()...)
	switch {
	case e.Status == Draft && e.OriginatedBy == ByRevaluation: // earlier versions could unpost it
		g.Allowed = append(g.Allowed, "delete")
		g.Warnings = append(g.Warnings, "a revaluation made the entry, which was unposted: delete it, and run the period again")
	case e.Status == Draft:
		g.Allowed = append(g.Allowed, "edit", "delete")
		switch blocked := e.linesOnBlocked(b); {
		case len(blocked) > 0:
			g.Warnings = append(g.Warnings, "the account "+b.Accounts[e.Lines[blocked[0]].LedgerAccountID].String()+
				" is archived or not postable: edit the entry before posting it")
		case closed:
			g.Allowed = append(g.Allowed, "post")
			g.Warnings = append(g.Warnings, "the period "+month+" is closed: posting moves the entry to the first open one")
		default:
			g.Allowed = append(g.Allowed, "post")
		}
	case e.NextID != "":
		g.Warnings = append(g.Warnings, "the entry is reversed by another one: work on the last entry of its chain")
	case e.OriginatedBy == ByReversal:
		g.Warnings = append(g.Warnings, "a reversal cannot be reversed: create a new entry")
	case e.OriginatedBy == ByOpening || period.IsOpening(e.AccountingDate) || e.IntendedDate != nil && period.IsOpening(*e.IntendedDate):
		g.Warnings = append(g.Warnings, "the entry books an opening balance: change or delete that asset instead")
	case e.OriginatedBy == ByRevaluation:
		g.Warnings = append(g.Warnings, "a revaluation made the entry: reverse the revaluation, or run the period again")
	case e.OriginatedBy == ByInvoice:
		g.Warnings = append(g.Warnings, "an invoice made the entry: void the invoice, or reopen it if the entry writes it off")
	case e.OriginatedBy == ByCreditNote:
		g.Warnings = append(g.Warnings, "a credit note made the entry: void the credit note")
	case e.OriginatedBy == ByCashApplication:
		g.Warnings = append(g.Warnings, "a cash application made the entry: void the cash application")
	case e.OriginatedBy == ByTrueUp:
		g.Warnings = append(g.Warnings, "the entry is a true-up: reverse or correct the entry of its transaction instead")
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

// linesOnArchived returns the indexes of the lines on archived accounts.
func (e Entry) linesOnArchived(b *snapshot.Books) []int {
	return e.linesWhere(func(l Line) bool { return b.Accounts[l.LedgerAccountID].ArchivedAt != nil })
}

// linesOnBlocked returns the indexes of the lines on accounts that are archived or not postable.
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

// facts is an entry in the audit log and in events. It is complete, so that the log alone shows what was posted.
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
	Rates           fx.Kept   `json:"rates,omitempty"`
}

func (e Entry) facts() facts {
	f := facts{
		ID: e.ID, SequenceNumber: e.SequenceNumber(), Status: e.Status, OriginatedBy: e.OriginatedBy, LegalEntityID: e.LegalEntityID,
		AccountingDate: clock.Format(e.AccountingDate), PeriodID: db.OrNull(e.PeriodID), Memo: db.OrNull(e.Memo),
		TagIDs: nilIfEmpty(e.TagIDs), PreviousID: e.PreviousID, NextID: e.NextID, Lines: make([]lineFacts, len(e.Lines)),
	}
	for i, l := range e.Lines {
		f.Lines[i] = lineFacts{LedgerAccountID: l.LedgerAccountID, LegalEntityID: l.LegalEntityID, Side: l.Side,
			Amount: l.Amount.Fixed(l.Currency), Currency: l.Currency, Memo: l.Memo, TagIDs: nilIfEmpty(l.TagIDs),
			Rates: l.Rates}
	}
	return f
}

// nilIfEmpty copies a list and returns nil for an empty one, because facts are compared with reflect.DeepEqual.
func nilIfEmpty(ids []string) []string { return append([]string(nil), ids...) }
