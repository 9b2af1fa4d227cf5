package application

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// Preview is what a deposit may pay.
type Preview struct {
	Application                // the deposit, of which Total can be applied
	Customer    *match.Derived // nil if it is not known
	Names       map[string]string
	Suggestions []Suggestion
	Notes       []match.Reason
	PoolSize    int
	Truncated   bool
}

// Suggestion is a way to apply the deposit.
type Suggestion struct {
	match.Suggestion
	Review string // why a rule demands a review; empty if none does
}

// Certain reports whether the suggestion may be applied without a person.
func (s Suggestion) Certain() bool { return s.Suggestion.Certain() && s.Review == "" }

// Preview returns what a deposit may pay, and writes nothing.
func (s *Service) Preview(ctx context.Context, depositID string) (out Preview, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Read(ctx, tx)
		if err != nil {
			return err
		}
		r := &resolver{tx: tx, books: b}
		p := &proposal{Application: Application{DepositID: depositID}}
		if _, err := r.deposit(ctx, p, ""); err != nil {
			return err
		}
		if err := r.faults.Err(); err != nil {
			return err
		}
		found, err := s.match(ctx, tx, b, p)
		if err != nil {
			return err
		}
		out = Preview{Application: p.Application, Customer: found.Customer, Notes: found.Notes, PoolSize: found.PoolSize,
			Truncated: found.Truncated}
		return s.complete(ctx, tx, &out, found.Suggestions)
	})
	return out, err
}

// complete adds the names of customers and the reviews that rules demand.
func (s *Service) complete(ctx context.Context, tx *db.Tx, out *Preview, all []match.Suggestion) error {
	var customers, ids []string
	if out.Customer != nil {
		customers = append(customers, out.Customer.CustomerID)
	}
	for _, g := range all {
		for _, l := range g.Allocations {
			customers, ids = append(customers, l.CustomerID), append(ids, l.InvoiceID)
		}
	}
	rules, err := s.sortedRules(ctx, tx)
	if err != nil {
		return err
	}
	var invoices map[string]invoice.Invoice
	if slices.ContainsFunc(rules, func(r Rule) bool { return r.Review }) { // lines are read only if a rule looks at them
		if invoices, err = invoice.FindSomeUnchecked(ctx, tx, ids); err != nil {
			return err
		}
	}
	for _, g := range all {
		var paid []Allocation
		for _, l := range g.Allocations {
			paid = append(paid, Allocation{InvoiceID: l.InvoiceID})
		}
		out.Suggestions = append(out.Suggestions, Suggestion{g, reviewOf(rules, paid, invoices)})
	}
	if len(customers) > 0 {
		out.Names, err = customer.NamesUnchecked(ctx, tx, customers)
	}
	return err
}

// sameAmountMax is how many invoices with the amount of a deposit are compared.
const sameAmountMax = 1000

// match finds the invoices that a deposit may pay. It reads only those that can be part of a suggestion, or of a doubt about one: the
// invoices that the memo may name, those of the customers that the deposit points to, and those with its amount.
func (s *Service) match(ctx context.Context, tx *db.Tx, b *snapshot.Books, p *proposal) (match.Result, error) {
	limit, err := selectLimit(ctx, tx)
	if err != nil {
		return match.Result{}, err
	}
	d := match.Deposit{Amount: p.Total, Currency: p.Currency, Date: p.DepositAt, LegalEntityID: p.LegalEntityID, PayerName: p.payerName,
		PayerAddress: p.payerAddress, Memo: p.DepositMemo}
	if p.source != nil {
		d.Date = tx.Now()
	} else {
		paid, err := booking.PaidBy(ctx, tx, b, p.deposit)
		if err != nil {
			return match.Result{}, err
		}
		d.Fee = paid.Fee
	}
	customers, err := customer.Matching(ctx, tx)
	if err != nil {
		return match.Result{}, err
	}
	history, err := selectEarlier(ctx, tx, p.payerName, p.payerAddress)
	if err != nil {
		return match.Result{}, err
	}
	m, pool := match.New(customers, history, nil), invoice.Pool{LegalEntityID: d.LegalEntityID, Currency: d.Currency, Until: latestDay(d.Date)}
	candidates, cut, err := candidatesOf(ctx, tx, m, d, pool, limit)
	if err != nil {
		return match.Result{}, err
	}
	reserved, err := selectReservations(ctx, tx)
	if err != nil {
		return match.Result{}, err
	}
	for n, v := range candidates {
		candidates[n].Reserved = reserved[v.ID] != ""
	}
	size, err := poolSize(ctx, tx, pool, slices.Collect(maps.Keys(reserved)))
	if err != nil {
		return match.Result{}, err
	}
	out := m.With(candidates).Match(d, match.Policy{Tolerance: limit})
	out.PoolSize, out.Truncated = min(size, match.PoolMax), out.Truncated || cut || size > match.PoolMax
	return out, nil
}

// candidatesOf returns the invoices that a deposit is compared with, and whether there are more.
func candidatesOf(ctx context.Context, tx *db.Tx, m *match.Matcher, d match.Deposit, pool invoice.Pool, tolerance money.Decimal) (
	[]match.Invoice, bool, error) {
	named, err := invoice.Numbered(ctx, tx, match.Lookups(d.Memo))
	if err != nil {
		return nil, false, err
	}
	var customers []string
	if payer := m.Match(d, match.Policy{}).Customer; payer != nil {
		customers = append(customers, payer.CustomerID)
	}
	for _, v := range named {
		if !slices.Contains(customers, v.CustomerID) {
			customers = append(customers, v.CustomerID)
		}
	}
	own, err := invoice.OfCustomers(ctx, tx, customers, d.Currency, d.Amount, match.PoolMax+1)
	if err != nil {
		return nil, false, err
	}
	same, err := invoice.WithAmountDue(ctx, tx, pool, d.Amount.Sub(tolerance), d.Amount.Add(tolerance), sameAmountMax)
	if err != nil {
		return nil, false, err
	}
	return slices.Concat(named, own, same), len(own) > match.PoolMax || len(same) == sameAmountMax, nil
}

// poolSize counts the invoices that a deposit may pay.
func poolSize(ctx context.Context, tx *db.Tx, pool invoice.Pool, reserved []string) (int, error) {
	size, err := invoice.CountPool(ctx, tx, pool)
	if err != nil || len(reserved) == 0 {
		return size, err
	}
	found, err := invoice.FindSomeUnchecked(ctx, tx, reserved)
	for _, i := range found {
		if i.Status == invoice.Open && i.Currency == pool.Currency && !i.Date.After(pool.Until) &&
			(i.LegalEntityID == "" || i.LegalEntityID == pool.LegalEntityID) {
			size--
		}
	}
	return size, err
}

// matchTypeOf returns the type of the suggestion that an application agrees with, or that it is a choice of its own.
func (s *Service) matchTypeOf(ctx context.Context, tx *db.Tx, b *snapshot.Books, p *proposal) (string, error) {
	if len(p.Allocations) == 0 {
		return Manual, nil
	}
	whole := *p
	if p.source != nil {
		whole.Total = p.source.Available
	}
	found, err := s.match(ctx, tx, b, &whole)
	if err != nil {
		return "", err
	}
	for _, g := range found.Suggestions {
		same := len(g.Allocations) == len(p.Allocations)
		for _, l := range g.Allocations {
			same = same && slices.ContainsFunc(p.Allocations, func(a Allocation) bool {
				return a.InvoiceID == l.InvoiceID && a.Amount.Equal(l.Amount)
			})
		}
		if same {
			return string(g.Type), nil
		}
	}
	return Manual, nil
}

// Reserved returns which applications that wait for a review use which invoices.
func (s *Service) Reserved(ctx context.Context) (by map[string]string, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		by, err = selectReservations(ctx, tx)
		return err
	})
	return by, err
}
