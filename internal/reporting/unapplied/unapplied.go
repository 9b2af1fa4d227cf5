// Package unapplied reports what was unapplied of deposits on any day, by deposit and customer, and holds the sum against the ledger.
//
// Each row is a deposit, and consists of the entries of the cash applications that left its rest unapplied or used it, so that every figure
// can be traced to the ledger.
package unapplied

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/reporting/ageing"
)

// Params select what the report covers.
type Params struct {
	AsOf           string // a date in the organization's time zone; empty: today
	LegalEntityIDs []string
	CustomerID     string // the id of a customer, or its id at a provider
	Currency       string
}

// Customer is what is unapplied of the deposits of a customer to a legal entity in a currency.
type Customer struct {
	CustomerID    string // empty for deposits whose customer is not known
	CustomerName  string
	LegalEntityID string
	Currency      string
	Deposits      int64
	Amount        money.Decimal
}

// Total is what is unapplied of all deposits to a legal entity in a currency.
type Total struct {
	LegalEntityID string
	Currency      string
	Deposits      int64
	Amount        money.Decimal
	Ledger        *money.Decimal // the balance of unapplied cash in that currency; nil if the report is about one customer
}

// Report is the unapplied cash at the end of a day.
type Report struct {
	AsOf      string
	Rows      []application.Rest // in the order of the dates of the deposits
	Customers []Customer
	Totals    []Total
	Accounts  []ageing.Control
}

// Service reports.
type Service struct{ db *db.DB }

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// Get returns the report.
func (s *Service) Get(ctx context.Context, p Params) (out Report, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = get(ctx, tx, p)
		return err
	})
	return out, err
}

func get(ctx context.Context, tx *db.Tx, p Params) (Report, error) {
	day, end, err := ageing.Day(ctx, tx, p.AsOf)
	out := Report{AsOf: day}
	var faults fault.List
	if failed := faults.Merge(err); failed != nil {
		return out, failed
	}
	if p.Currency != "" && !money.IsFiat(p.Currency) {
		faults.Addf("currency", "must be an ISO 4217 currency such as USD")
	}
	if err := faults.Err(); err != nil {
		return out, err
	}
	f := application.RestsFilter{Currency: p.Currency}
	if f.LegalEntityIDs, err = entity.Selected(ctx, tx, p.LegalEntityIDs); err != nil {
		return out, err
	}
	if p.CustomerID != "" {
		if f.CustomerIDs, err = customer.Resolve(ctx, tx, p.CustomerID); err != nil || len(f.CustomerIDs) == 0 {
			return out, err // an unknown customer has paid nothing
		}
	}
	if out.Rows, err = application.Rests(ctx, tx, f, end); err != nil {
		return out, err
	}
	out.add()
	if p.CustomerID == "" {
		err = out.compare(ctx, tx, f, end)
	}
	out.sort()
	return out, err
}

// add adds rows up by customer, and in total.
func (r *Report) add() {
	type key struct{ customer, entity, currency string }
	at := map[key]int{}
	for _, row := range r.Rows {
		k := key{row.CustomerID, row.LegalEntityID, row.Currency}
		n, known := at[k]
		if !known {
			n = len(r.Customers)
			at[k] = n
			r.Customers = append(r.Customers, Customer{CustomerID: row.CustomerID, CustomerName: row.CustomerName,
				LegalEntityID: row.LegalEntityID, Currency: row.Currency})
		}
		c, t := &r.Customers[n], r.total(row.LegalEntityID, row.Currency)
		c.Deposits, c.Amount = c.Deposits+1, c.Amount.Add(row.Amount)
		t.Deposits, t.Amount = t.Deposits+1, t.Amount.Add(row.Amount)
	}
}

// total returns the total of a legal entity and a currency, a new one if there is none.
func (r *Report) total(legalEntityID, currency string) *Total {
	n := slices.IndexFunc(r.Totals, func(t Total) bool { return t.LegalEntityID == legalEntityID && t.Currency == currency })
	if n < 0 {
		n = len(r.Totals)
		r.Totals = append(r.Totals, Total{LegalEntityID: legalEntityID, Currency: currency})
	}
	return &r.Totals[n]
}

// compare adds what the ledger says: the balance of unapplied cash at the end of the day, in each currency and in base currency. The
// account is a liability, so that credits are positive.
func (r *Report) compare(ctx context.Context, tx *db.Tx, f application.RestsFilter, end time.Time) error {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return err
	}
	accountID := b.Roles()[account.RoleUnappliedCash]
	ledger, err := ageing.AccountAt(ctx, tx, b, accountID, f.LegalEntityIDs, end)
	if err != nil {
		return err
	}
	for k, amount := range ledger.ByCurrency {
		if !amount.IsZero() && (f.Currency == "" || f.Currency == k.Currency) {
			r.total(k.LegalEntityID, k.Currency) // also if it is of no deposit
		}
	}
	for n, t := range r.Totals {
		r.Totals[n].Ledger = new(ledger.ByCurrency[ageing.Key{LegalEntityID: t.LegalEntityID, Currency: t.Currency}].Neg())
	}
	for id, amount := range ledger.Base {
		r.Accounts = append(r.Accounts, ageing.Control{LegalEntityID: id, LedgerAccountID: accountID, Currency: b.Entities[id].BaseCurrency,
			Balance: amount.Neg()})
	}
	return nil
}

// sort sorts customers by name, those that are not known last, and everything else by legal entity.
func (r *Report) sort() {
	slices.SortFunc(r.Customers, func(a, b Customer) int {
		if (a.CustomerID == "") != (b.CustomerID == "") {
			return -strings.Compare(a.CustomerID, b.CustomerID)
		}
		return cmp.Or(strings.Compare(strings.ToLower(a.CustomerName), strings.ToLower(b.CustomerName)),
			strings.Compare(a.CustomerID, b.CustomerID), strings.Compare(a.LegalEntityID, b.LegalEntityID), strings.Compare(a.Currency, b.Currency))
	})
	slices.SortFunc(r.Totals, func(a, b Total) int {
		return cmp.Or(strings.Compare(a.LegalEntityID, b.LegalEntityID), strings.Compare(a.Currency, b.Currency))
	})
	slices.SortFunc(r.Accounts, func(a, b ageing.Control) int { return strings.Compare(a.LegalEntityID, b.LegalEntityID) })
}
