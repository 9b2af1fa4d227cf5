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

// facts describe an invoice in the audit log and in events. Amounts are texts, because facts are compared with reflect.DeepEqual.
type facts struct {
	AmountDue         string      `json:"amount_due"`
	Currency          string      `json:"currency"`
	CustomerID        string      `json:"customer_id"`
	DueDate           string      `json:"due_date"`
	ExternalID        *string     `json:"external_id"`
	ID                string      `json:"id"`
	Date              string      `json:"invoice_date"`
	Number            string      `json:"invoice_number"`
	EntryID           *string     `json:"journal_entry_id"`
	LegalEntityID     *string     `json:"legal_entity_id"`
	Lines             []lineFacts `json:"lines"`
	Memo              *string     `json:"memo"`
	Provider          string      `json:"provider"`
	ProviderAmountDue string      `json:"provider_amount_due,omitempty"`
	ProviderStatus    Status      `json:"provider_status,omitempty"`
	Status            Status      `json:"status"`
	Subtotal          string      `json:"subtotal"`
	Tax               string      `json:"tax"`
	Total             string      `json:"total"`
	TransactionID     *string     `json:"transaction_id"`
	VoidReason        *string     `json:"void_reason"`
	WriteOffID        *string     `json:"write_off_entry_id"`
}

// lineFacts describe a line of an invoice or a credit note.
type lineFacts struct {
	Amount       string  `json:"amount"`
	Description  string  `json:"description"`
	AccountID    *string `json:"ledger_account_id"`
	Product      *string `json:"product"`
	Quantity     string  `json:"quantity"`
	TaxAmount    string  `json:"tax_amount"`
	TaxAccountID *string `json:"tax_ledger_account_id"`
	TaxRate      *string `json:"tax_rate"`
	UnitPrice    string  `json:"unit_price"`
}

func (i Invoice) facts() facts {
	f := facts{ID: i.ID, Provider: i.Provider, ExternalID: db.OrNull(i.ExternalID), Number: i.Number, CustomerID: i.CustomerID,
		LegalEntityID: db.OrNull(i.LegalEntityID), Status: i.Status, Currency: i.Currency, Date: clock.Format(i.Date),
		DueDate: clock.Format(i.DueDate), Subtotal: i.Subtotal.Fixed(i.Currency), Tax: i.Tax.Fixed(i.Currency),
		Total: i.Total.Fixed(i.Currency), AmountDue: i.AmountDue.Fixed(i.Currency), Memo: db.OrNull(i.Memo),
		VoidReason: db.OrNull(i.VoidReason), TransactionID: db.OrNull(i.TransactionID), EntryID: db.OrNull(i.EntryID),
		WriteOffID: db.OrNull(i.WriteOffID), Lines: i.lineFacts()}
	if i.Mirrored() {
		f.ProviderStatus, f.ProviderAmountDue = i.Stated.Status, i.Stated.AmountDue.Fixed(i.Currency)
	}
	return f
}

func (i Invoice) lineFacts() []lineFacts {
	out := make([]lineFacts, len(i.Lines))
	for n, l := range i.Lines {
		out[n] = lineFacts{Description: l.Description, Product: db.OrNull(l.Product), Quantity: l.Quantity.String(),
			UnitPrice: l.UnitPrice.String(), Amount: l.Amount.Fixed(i.Currency), TaxAmount: l.TaxAmount.Fixed(i.Currency),
			AccountID: db.OrNull(l.AccountID), TaxAccountID: db.OrNull(l.TaxAccountID)}
		if l.TaxRate != nil {
			out[n].TaxRate = new(l.TaxRate.String())
		}
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
