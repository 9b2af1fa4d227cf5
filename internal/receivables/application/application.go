// Package application applies deposits to the invoices that they pay.
//
// An application books the deposit: its source is debited with what arrived, fees with what was withheld, receivables are credited for each
// invoice, and what is left is unapplied cash, which later applications of the same deposit can use. The invoices, the entry, the
// transaction and the application change in one database transaction. Voiding an application undoes all of it.
//
// Preview finds the invoices that a deposit may pay, with package rules/match, and writes nothing.
package application

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// noun names an application in messages, and resourceType in the audit log.
const (
	noun         = "cash application"
	resourceType = "cash_application"
)

// Status is the state of an application.
type Status string

// The states.
const (
	Pending   Status = "pending"   // a rule demands a review: nothing is booked yet, but its invoices and its deposit are reserved
	Applied   Status = "applied"   // booked
	Confirmed Status = "confirmed" // booked, and confirmed by a person
	Voided    Status = "voided"    // undone
)

// statuses lists all states.
var statuses = []Status{Pending, Applied, Confirmed, Voided}

// booked reports whether an application in this state has an entry that stands.
func (s Status) booked() bool { return s == Applied || s == Confirmed }

// Manual is the match type of an application that no suggestion agrees with.
const Manual = "manual"

// The states of a payment at the processor that keeps an invoice.
const (
	NotApplicable = "not_applicable" // no invoice is kept by a processor
	ToBeReported  = "pending"        // the processor does not know of the payment

	MarkedPaid       = "marked_paid"       // the processor knows of the payment
	NotReported      = "failed"            // the processor did not take the payment: a person has to look at it
	ReversalRequired = "reversal_required" // the processor knows of a payment that was voided: a person has to reverse it there
)

// stripe is the processor whose invoices are told of payments.
const stripe = "stripe"

// Application is a deposit, or a part of one, that pays invoices.
type Application struct {
	ID              string
	LegalEntityID   string
	DepositID       string
	SourceID        string // the application whose unapplied rest it uses, or that it takes back; empty if it books the deposit
	Status          Status
	MatchType       string
	Currency        string
	Total           money.Decimal // of the deposit, with fees; or what is used of the unapplied rest
	Applied         money.Decimal // the sum of the allocations
	WrittenOff      money.Decimal // the part of the allocations that nobody paid; negative if a payment that went back undoes that
	Unapplied       money.Decimal // Total and WrittenOff less Applied
	Available       money.Decimal // what later applications and payments that went back have left of Unapplied
	Returned        money.Decimal // what payments that went back have made due again of Applied
	DepositMemo     string
	DepositAt       time.Time
	Memo            string
	ReviewReason    string
	AppliedBy       string
	EntryID         string
	ProcessorStatus string
	MarkedPaidAt    *time.Time
	ConfirmedBy     string
	ConfirmedAt     *time.Time
	VoidReason      string
	ErrorMessage    string
	CreatedAt       time.Time
	UpdatedAt       *time.Time
	Allocations     []Allocation

	payerName, payerAddress string // of the deposit, as they are compared
	revision                int64
}

// Allocation is the part of an application that pays an invoice.
type Allocation struct {
	InvoiceID  string
	CustomerID string
	Amount     money.Decimal
	Credits    []Credit // what it credits to which accounts; none before it is booked

	AttemptedAt *time.Time    // since when the processor of the invoice may know of it
	Attempted   money.Decimal // the amount that it may know of
	Reference   string        // the processor's id of the payment
	ReportedAt  *time.Time    // since when the processor knows of it

	InvoiceNumber string // these are not stored, but filled in on reading
	CustomerName  string
}

// ETag identifies the version of the application.
func (a Application) ETag() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", a.ID, a.revision))
	return hex.EncodeToString(sum[:8])
}

// requireVersion returns an error of kind Conflict unless the caller has seen this version. An empty etag agrees with every version.
func (a Application) requireVersion(etag string) error {
	if etag = strings.Trim(etag, `"`); etag == "" || etag == "*" || etag == a.ETag() {
		return nil
	}
	return fault.ConflictAt([]fault.Field{{Name: "If-Match", Message: "is not the etag of the cash application"}},
		"the cash application %s has changed: its etag is %s now. Read it again", a.ID, a.ETag())
}

// facts describe an application in the audit log and in events.
type facts struct {
	Allocations   []allocationFacts `json:"allocations"`
	Applied       string            `json:"applied_amount"`
	AppliedBy     *string           `json:"applied_by"`
	Available     string            `json:"available_amount"`
	ConfirmedBy   *string           `json:"confirmed_by"`
	Currency      string            `json:"currency"`
	DepositID     string            `json:"deposit_transaction_id"`
	ErrorMessage  *string           `json:"error_message"`
	ID            string            `json:"id"`
	EntryID       *string           `json:"journal_entry_id"`
	LegalEntityID string            `json:"legal_entity_id"`
	MatchType     string            `json:"match_type"`
	Memo          *string           `json:"memo"`
	VoidReason    *string           `json:"reason"`
	Returned      string            `json:"returned_amount"`
	ReviewReason  *string           `json:"review_reason"`
	SourceID      *string           `json:"source_application_id"`
	Status        Status            `json:"status"`
	StripeStatus  string            `json:"stripe_status"`
	Total         string            `json:"total_amount"`
	Unapplied     string            `json:"unapplied_amount"`
	WrittenOff    string            `json:"written_off_amount"`
}

// allocationFacts describe what an application pays of an invoice.
type allocationFacts struct {
	Amount      string  `json:"amount"`
	AttemptedAt *string `json:"attempted_at"`
	Credits     *string `json:"credits"`
	CustomerID  string  `json:"customer_id"`
	Reference   *string `json:"processor_reference"`
	ReportedAt  *string `json:"reported_at"`
	TargetID    string  `json:"target_id"`
	TargetType  string  `json:"target_type"`
}

func (a Application) facts() facts {
	f := facts{ID: a.ID, LegalEntityID: a.LegalEntityID, DepositID: a.DepositID, SourceID: db.OrNull(a.SourceID), Status: a.Status,
		MatchType: a.MatchType, Currency: a.Currency, Total: a.Total.Fixed(a.Currency), Applied: a.Applied.Fixed(a.Currency),
		WrittenOff: a.WrittenOff.Fixed(a.Currency), Unapplied: a.Unapplied.Fixed(a.Currency), Available: a.Available.Fixed(a.Currency),
		Returned: a.Returned.Fixed(a.Currency), Memo: db.OrNull(a.Memo), ReviewReason: db.OrNull(a.ReviewReason),
		EntryID: db.OrNull(a.EntryID), AppliedBy: db.OrNull(a.AppliedBy), ConfirmedBy: db.OrNull(a.ConfirmedBy),
		StripeStatus: a.ProcessorStatus, VoidReason: db.OrNull(a.VoidReason), ErrorMessage: db.OrNull(a.ErrorMessage),
		Allocations: make([]allocationFacts, len(a.Allocations))}
	for n, l := range a.Allocations {
		f.Allocations[n] = allocationFacts{TargetType: "invoice", TargetID: l.InvoiceID, CustomerID: l.CustomerID,
			Amount: l.Amount.Fixed(a.Currency), AttemptedAt: formatted(l.AttemptedAt), ReportedAt: formatted(l.ReportedAt),
			Reference: db.OrNull(l.Reference), Credits: db.OrNull(creditsText(l.Credits))}
	}
	return f
}

// formatted returns a time as text, nil if there is none.
func formatted(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return new(clock.Format(*t))
}

// atStripe says what to do about a payment that Stripe knows of, or may know of, and that does not stand any more.
func (a Application) atStripe() string {
	if a.reported() {
		return "Stripe knows of the payment and cannot take it back: issue a credit note or a new invoice there"
	}
	return "Stripe may know of the payment, because it was told and its answer is not known: look there and, if it does, issue a credit " +
		"note or a new invoice there"
}

// Guidance lists the actions that are allowed on an application now, and explains why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// Guide returns the guidance of an application.
func (a Application) Guide() Guidance {
	g := Guidance{Allowed: []string{}, Warnings: []string{}, Version: clock.Format(a.CreatedAt)}
	if a.UpdatedAt != nil {
		g.Version = clock.Format(*a.UpdatedAt)
	}
	switch {
	case a.Status == Voided:
		g.Warnings = append(g.Warnings, "the cash application is voided, which is final: apply the deposit again")
		if a.ProcessorStatus == ReversalRequired {
			g.Warnings = append(g.Warnings, a.atStripe())
		}
		return g
	case a.Status == Pending:
		g.Allowed = append(g.Allowed, "confirm", "void")
		g.Warnings = append(g.Warnings, a.ReviewReason+": nothing is booked until it is confirmed")
		return g
	case a.Status == Applied:
		g.Allowed = append(g.Allowed, "confirm")
	}
	if a.ProcessorStatus == NotReported {
		g.Warnings = append(g.Warnings, "Stripe did not take the payment: "+a.ErrorMessage)
	}
	switch {
	case a.isReturn() && a.ProcessorStatus == ReversalRequired:
		g.Warnings = append(g.Warnings, a.atStripe())
	case a.isReturn():
	case a.reported():
		g.Warnings = append(g.Warnings, "Stripe knows of the payment: voiding it here does not take it back there")
	case a.uncertain():
		g.Warnings = append(g.Warnings, "Stripe was told of the payment and has not answered: voiding it here may not take it back there")
	}
	if !a.isReturn() && (a.Returned.Cmp(a.Applied.Sub(a.WrittenOff)) < 0 || a.Available.Sign() > 0) {
		g.Allowed = append(g.Allowed, "return")
	}
	switch {
	case !a.Returned.IsZero():
		g.Warnings = append(g.Warnings, a.Returned.Fixed(a.Currency)+" of what it paid went back: void those cash applications first")
	case a.used().IsZero():
		g.Allowed = append(g.Allowed, "void")
	default:
		g.Warnings = append(g.Warnings, "later cash applications use or pay back "+a.used().Fixed(a.Currency)+
			" of what it left unapplied: void those first")
	}
	if a.Available.Sign() > 0 {
		g.Allowed = append(g.Allowed, "apply_rest")
	}
	return g
}

// used returns what later applications, and payments that went back, use of the unapplied rest.
func (a Application) used() money.Decimal {
	if !a.Status.booked() || a.isReturn() {
		return money.Decimal{}
	}
	return a.Unapplied.Sub(a.Available)
}
