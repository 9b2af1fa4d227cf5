package invoice

import (
	"context"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/customer"
)

// Range bounds what is due on an invoice, both bounds included.
type Range struct{ Low, High money.Decimal }

// toleranceDefault is how much the amount due may differ from the one that is looked for. It is an aid for searching, not a rule for
// matching.
var toleranceDefault = money.FromInt(5)

// EligibleFilter narrows the list of invoices to which a deposit could be applied.
type EligibleFilter struct {
	CustomerName string // a part of the name, in any case; ignored if there is a CustomerID
	CustomerID   string // the id of the customer, or its id at a provider
	Statuses     string // separated by commas; empty: open. Unknown ones match nothing
	Amount       string // what is due
	Tolerance    string // how much what is due may differ from Amount; empty: 5
	From, To     string // bounds of the date of the invoice, both included: dates, of which the whole day in UTC counts, or instants
}

// parse returns the filter as a query, or an error with all of its faults.
func (f EligibleFilter) parse() (query, error) {
	var faults fault.List
	q := query{statuses: []Status{},
		from: page.ParseTimeBound(&faults, "invoice_date_from", f.From, false),
		to:   page.ParseTimeBound(&faults, "invoice_date_to", f.To, true)}
	if f.Statuses == "" {
		q.statuses = append(q.statuses, Open)
	}
	for text := range strings.SplitSeq(f.Statuses, ",") {
		if status := Status(strings.TrimSpace(text)); slices.Contains(statuses, status) && !slices.Contains(q.statuses, status) {
			q.statuses = append(q.statuses, status)
		}
	}
	tolerance := toleranceDefault
	if f.Tolerance != "" {
		if tolerance = decimal(&faults, "amount_tolerance", f.Tolerance); tolerance.Sign() < 0 {
			faults.Addf("amount_tolerance", "must not be negative")
		}
		if f.Amount == "" {
			faults.Addf("amount_tolerance", "needs an amount")
		}
	}
	if f.Amount != "" {
		amount := decimal(&faults, "amount", f.Amount)
		q.amount = &Range{amount.Sub(tolerance), amount.Add(tolerance)}
	}
	return q, faults.Err()
}

// Eligible returns a page of the invoices to which a deposit could be applied, and of others that the filter asks for, the latest first.
func (s *Service) Eligible(ctx context.Context, f EligibleFilter, p page.Request) (page.Page[Invoice], error) {
	q, err := f.parse()
	if err != nil {
		return page.Page[Invoice]{}, err
	}
	return s.list(ctx, "eligible-invoices", f, p, func(ctx context.Context, tx *db.Tx) (query, bool, error) {
		var err error
		switch {
		case f.CustomerID != "":
			q.customers, err = customer.Resolve(ctx, tx, f.CustomerID)
			return q, len(q.customers) > 0, err
		case f.CustomerName != "":
			q.customers, err = customer.IDsNamed(ctx, tx, f.CustomerName, 2)
			return q, len(q.customers) == 1, err // a name of several customers is ambiguous
		}
		return q, true, nil
	})
}

// Ineligibility returns why a deposit cannot be applied to the invoice now, or an empty text if it can.
func (i Invoice) Ineligibility() string {
	switch i.Status {
	case Open:
		if i.AmountDue.Sign() > 0 {
			return ""
		}
		return "nothing is due on the invoice"
	case Draft:
		return "the invoice is a draft: open it first"
	case Paid:
		return "the invoice is paid"
	case Void:
		return "the invoice is void"
	}
	return "the invoice is uncollectible and written off: reopen it first"
}
