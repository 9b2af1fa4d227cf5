// Package invoice keeps invoices: what customers were asked to pay, and how much of it is still due.
//
// An invoice of the organization itself begins as a draft. Opening it books its entry: the control account of receivables is debited
// with the total, and the accounts of its lines are credited. It is paid when nothing is due any more. Voiding it reverses the entry,
// and marking it as uncollectible writes off what is due; both in the database transaction that changes the invoice. The control account
// so always equals what is due on open invoices, in each currency, which Verify recomputes.
//
// Invoices that another system keeps, such as those of a payment processor, are mirrored with their ids there. They book nothing, because
// the books have them from that system.
package invoice

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// noun names an invoice in messages.
const noun = "invoice"

// Own is the provider of the invoices that the organization writes here.
const Own = "bursar"

// Status is the state of an invoice.
type Status string

// The states.
const (
	Draft         Status = "draft"
	Open          Status = "open"
	Paid          Status = "paid"
	Void          Status = "void"
	Uncollectible Status = "uncollectible"
)

// statuses lists all states.
var statuses = []Status{Draft, Open, Paid, Void, Uncollectible}

// Invoice is one invoice.
type Invoice struct {
	ID            string
	Provider      string
	ExternalID    string // the id at the provider; empty for an invoice of the organization itself
	Number        string
	sequence      int64 // the number in a number that was chosen here; zero for one that was given
	CustomerID    string
	CustomerName  string // not stored, filled in on reading
	LegalEntityID string // empty only for a mirrored invoice
	Status        Status
	Currency      string
	Date          time.Time
	DueDate       time.Time
	Subtotal      money.Decimal
	Tax           money.Decimal
	Total         money.Decimal
	AmountDue     money.Decimal
	Memo          string
	VoidReason    string
	TransactionID string // the transaction of the provider that stands for the invoice
	EntryID       string // the entry that books it
	WriteOffID    string // the entry that writes it off
	Stated        Stated // what the provider of a mirrored invoice says
	CreatedAt     time.Time
	UpdatedAt     *time.Time
	Lines         []Line

	numberKeys             match.NumberKeys // as they are stored
	amountDueKey, totalKey string
}

// Stated is what the provider of a mirrored invoice says about it. Only Mirror and MirrorDeleted set it.
type Stated struct {
	Status    Status
	AmountDue money.Decimal
	At        time.Time // when the provider was asked; zero if that is not known
}

// Line is a line of an invoice.
type Line struct {
	Description  string
	Product      string
	Quantity     money.Decimal
	UnitPrice    money.Decimal
	Amount       money.Decimal  // without tax
	TaxRate      *money.Decimal // in percent; nil if the tax was given as an amount
	TaxAmount    money.Decimal
	AccountID    string // what is credited; empty only on a mirrored invoice
	TaxAccountID string // what the tax is credited to
}

// Mirrored reports whether another system keeps the invoice.
func (i Invoice) Mirrored() bool { return i.ExternalID != "" }

// visible reports whether an actor may see the invoice. A mirrored one of no legal entity is visible to those who see all.
func (i Invoice) visible(who actor.Actor) bool { return who.Sees(i.LegalEntityID) }

// day returns the day of a stored date.
func day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// facts describes an invoice in the audit log and in events. Amounts are texts, because facts are compared with reflect.DeepEqual.
func (i Invoice) facts() map[string]any {
	lines := make([]map[string]any, len(i.Lines))
	for n, l := range i.Lines {
		lines[n] = map[string]any{"description": l.Description, "product": db.OrNull(l.Product), "quantity": l.Quantity.String(),
			"unit_price": l.UnitPrice.String(), "amount": l.Amount.Fixed(i.Currency), "tax_rate": nil,
			"tax_amount":        l.TaxAmount.Fixed(i.Currency),
			"ledger_account_id": db.OrNull(l.AccountID), "tax_ledger_account_id": db.OrNull(l.TaxAccountID)}
		if l.TaxRate != nil {
			lines[n]["tax_rate"] = l.TaxRate.String()
		}
	}
	out := map[string]any{
		"id": i.ID, "provider": i.Provider, "external_id": db.OrNull(i.ExternalID), "invoice_number": i.Number, "customer_id": i.CustomerID,
		"legal_entity_id": db.OrNull(i.LegalEntityID), "status": i.Status, "currency": i.Currency, "invoice_date": clock.Format(i.Date),
		"due_date": clock.Format(i.DueDate), "subtotal": i.Subtotal.Fixed(i.Currency), "tax": i.Tax.Fixed(i.Currency),
		"total": i.Total.Fixed(i.Currency), "amount_due": i.AmountDue.Fixed(i.Currency),
		"memo": db.OrNull(i.Memo), "void_reason": db.OrNull(i.VoidReason), "transaction_id": db.OrNull(i.TransactionID),
		"journal_entry_id": db.OrNull(i.EntryID), "write_off_entry_id": db.OrNull(i.WriteOffID), "lines": lines,
	}
	if i.Mirrored() {
		out["provider_status"], out["provider_amount_due"] = i.Stated.Status, i.Stated.AmountDue.Fixed(i.Currency)
	}
	return out
}

// Guidance lists the actions that are allowed on an invoice now, and explains why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// Guide returns the guidance of an invoice.
func (i Invoice) Guide() Guidance {
	g := Guidance{Allowed: []string{}, Warnings: []string{}, Version: clock.Format(i.CreatedAt)}
	if i.UpdatedAt != nil {
		g.Version = clock.Format(*i.UpdatedAt)
	}
	settled := !i.AmountDue.Equal(i.Total)
	switch {
	case i.Mirrored():
		g.Warnings = append(g.Warnings, "the invoice is kept by "+i.Provider+": change it there")
	case i.Status == Draft:
		g.Allowed = append(g.Allowed, "edit", "open", "void")
	case i.Status == Open && settled:
		g.Allowed = append(g.Allowed, "edit", "mark_uncollectible")
		g.Warnings = append(g.Warnings, "a part of the invoice is settled: undo that to void it")
	case i.Status == Open:
		g.Allowed = append(g.Allowed, "edit", "void", "mark_uncollectible")
	case i.Status == Uncollectible && settled:
		g.Allowed = append(g.Allowed, "edit", "reopen")
		g.Warnings = append(g.Warnings, "a part of the invoice is settled: undo that to void it")
	case i.Status == Uncollectible:
		g.Allowed = append(g.Allowed, "edit", "reopen", "void")
	case i.Status == Paid:
		g.Allowed = append(g.Allowed, "edit")
		g.Warnings = append(g.Warnings, "the invoice is paid: undo what settles it to change its status")
	default:
		g.Warnings = append(g.Warnings, "the invoice is void, which is final")
	}
	return g
}
