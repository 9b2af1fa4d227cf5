package match

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Deposit is an incoming payment.
type Deposit struct {
	// Amount is what the payer gave up: what arrived, plus Fee. Invoices are compared with it.
	Amount   money.Decimal
	Fee      money.Decimal // what a bank or processor reported that it withheld; part of Amount
	Currency string        // of Amount; for crypto, the currency in which it is valued
	Date     time.Time

	LegalEntityID       string
	PayerName           string
	PayerAddress        string // an address on a chain, or the number of a bank account
	Memo                string
	ProcessorCustomerID string
}

// Status is the status of an invoice.
type Status string

// The statuses.
const (
	Draft         Status = "draft"
	Open          Status = "open"
	Paid          Status = "paid"
	Void          Status = "void"
	Uncollectible Status = "uncollectible"
)

// Invoice is an invoice to a customer. Invoices that cannot be paid take part too: their numbers in a memo mean something.
type Invoice struct {
	ID            string
	Number        string
	CustomerID    string
	LegalEntityID string // empty if it belongs to no legal entity in particular
	Status        Status
	Currency      string
	Total         money.Decimal
	AmountDue     money.Decimal
	IssueDate     time.Time
	DueDate       time.Time // the issue date if zero
	Reserved      bool      // by an application that has not been voided
}

// Customer is a customer with everything a payment may show of it.
type Customer struct {
	ID           string
	Name         string
	Aliases      []string // other names that users entered
	Addresses    []string
	Emails       []string
	ProcessorIDs []string
}

// Earlier counts the earlier deposits of a payer that were applied to invoices of a customer. Either the name or the address
// of the payer may be empty.
type Earlier struct {
	PayerName    string
	PayerAddress string
	CustomerID   string
	Confirmed    int
	Voided       int // applications that were undone: they count against the customer
}

// Policy is what the organization has set.
type Policy struct {
	// Tolerance is the largest difference between a deposit and an invoice that counts as a match, such as a bank's fee that
	// nobody reported. It applies to single invoices and to invoices named in the memo, never to sums that were searched.
	Tolerance money.Decimal
}

// Type is the type of a match.
type Type string

// The types.
const (
	Exact         Type = "exact"
	CustomerExact Type = "customer_exact"
	Combination   Type = "combination"
	Partial       Type = "partial"
	Overpayment   Type = "overpayment"
)

// Allocation is a part of a deposit that pays an invoice: at most its amount due.
type Allocation struct {
	InvoiceID     string
	InvoiceNumber string
	CustomerID    string
	Amount        money.Decimal
}

// Suggestion is a way to apply a deposit.
type Suggestion struct {
	Type        Type
	Confidence  money.Decimal // from 0 to 1, with four digits after the point
	Total       money.Decimal // the sum of the allocations
	Delta       money.Decimal // Amount of the deposit less Total: negative is a shortfall to write off, positive stays unapplied
	Allocations []Allocation  // oldest invoice first
	Reasons     []Reason      // for it
	Doubts      []Reason      // against applying it without a person
}

// Certain reports whether the suggestion may be applied without a person. Rules of the organization that demand a review are
// not known here: callers check them in addition.
func (s Suggestion) Certain() bool { return len(s.Doubts) == 0 }

// Derived is the customer that a deposit comes from.
type Derived struct {
	CustomerID string
	Basis      Basis
	Reasons    []Reason
}

// Basis is the evidence from which a customer was derived.
type Basis string

// The kinds of evidence, strongest first.
const (
	ByNumber     Basis = "invoice_number"
	ByProcessor  Basis = "processor_customer"
	ByAddress    Basis = "payer_address"
	ByEmail      Basis = "payer_email"
	ByHistory    Basis = "earlier_deposits"
	ByName       Basis = "payer_name"
	ByText       Basis = "name_in_text"
	BySimilarity Basis = "similar_name"
)

// Result is what Match finds.
type Result struct {
	Customer    *Derived     // nil if nothing points to exactly one customer
	Suggestions []Suggestion // best first, at most SuggestionsMax; none means that the deposit stays unapplied
	Notes       []Reason     // about the deposit, whatever it is applied to: for example that the memo names a paid invoice
	PoolSize    int          // the number of invoices that were candidates
	Truncated   bool         // a limit was reached: there may be more
	Steps       int          // how much work it was; see StepsMax
}

// The limits.
const (
	SuggestionsMax = 5
	PoolMax        = 10_000 // candidates; of more, the oldest are taken

	triplesMax   = 2_000   // invoices among which three that add up are searched
	nodesMax     = 200_000 // nodes of the search for up to combinedMax invoices
	combinedMax  = 6       // invoices in a sum that is searched
	solutionsMax = 5       // solutions after which that search ends
	memoMax      = 16_384  // bytes of a memo that are read
	nameMax      = 512     // bytes of a name that are read
	namesMax     = 100     // invoices named in one memo
	comparedMax  = 500_000 // comparisons with the trigrams of customers' names

	// StepsMax is how many steps a match takes at most among PoolMax invoices. Nearly all are those of the search for three.
	StepsMax = triplesMax*triplesMax/2 + nodesMax + comparedMax + 16*PoolMax + 16*memoMax
)

// limits are the limits of one search; tests set smaller ones.
type limits struct{ pool, triples, nodes, solutions, suggestions int }

var standard = limits{pool: PoolMax, triples: triplesMax, nodes: nodesMax, solutions: solutionsMax, suggestions: SuggestionsMax}

// latestIssue is how many days after a deposit an invoice may be dated: some customers pay an offer before it is invoiced.
const latestIssue = 3

// LatestIssue returns the end of the last day on which an invoice may be issued that the deposit pays.
func (d Deposit) LatestIssue() time.Time {
	return d.Date.UTC().Truncate(24*time.Hour).AddDate(0, 0, latestIssue+1).Add(-time.Millisecond)
}
