package application

import (
	"context"
	"maps"
	"slices"

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

// ReviewRequired is the code of a doubt about a suggestion for which a rule demands a review.
const ReviewRequired = "review_required"

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
		if _, err := r.deposit(ctx, p); err != nil {
			return err
		}
		if err := r.faults.Err(); err != nil {
			return err
		}
		d := p.matching(tx)
		found, err := suggest(ctx, tx, p, d)
		if err != nil {
			return err
		}
		size, err := poolSize(ctx, tx, d, p.reserved)
		if err != nil {
			return err
		}
		out = Preview{Application: p.Application, Customer: found.Customer, Notes: found.Notes, PoolSize: min(size, match.PoolMax),
			Truncated: found.Truncated || size > match.PoolMax}
		return s.complete(ctx, tx, &out, found.Suggestions)
	})
	return out, err
}

// complete adds the names of customers and the reviews that rules demand.
func (s *Service) complete(ctx context.Context, tx *db.Tx, out *Preview, all []match.Suggestion) error {
	rules, err := s.sortedRules(ctx, tx)
	if err != nil {
		return err
	}
	reviews := slices.ContainsFunc(rules, func(r Rule) bool { return r.Review })
	if err := out.setSuggestions(ctx, tx, all, rules, reviews); err != nil {
		return err
	}
	if customers := out.customers(); len(customers) > 0 {
		out.Names, err = customer.NamesUnchecked(ctx, tx, customers)
	}
	return err
}

// matching returns the deposit of a proposal in the form that it is matched in. The rest of a deposit is applied on the day on which it is.
func (p *proposal) matching(tx *db.Tx) match.Deposit {
	d := match.Deposit{Amount: p.Total, Currency: p.Currency, Date: p.DepositAt, LegalEntityID: p.LegalEntityID, PayerName: p.payerName,
		PayerAddress: p.payerAddress, Memo: p.DepositMemo, Fee: p.fee}
	if p.source != nil {
		d.Amount, d.Date = p.source.Available, tx.Now()
	}
	return d
}

// suggest finds the invoices that a deposit may pay.
func suggest(ctx context.Context, tx *db.Tx, p *proposal, d match.Deposit) (match.Result, error) {
	var limit money.Decimal // of the rest of a deposit nothing can be missing
	if p.source == nil {
		var err error
		if limit, err = selectLimit(ctx, tx); err != nil {
			return match.Result{}, err
		}
	}
	customers, err := customer.Matching(ctx, tx)
	if err != nil {
		return match.Result{}, err
	}
	m := newMatching(match.New(customers, nil, nil), limit, p.reserved)
	if err := m.prepare(ctx, tx, []match.Deposit{d}); err != nil {
		return match.Result{}, err
	}
	return m.match(0), nil
}

// poolSize counts the invoices that the actor sees, that a deposit may pay and that are not reserved.
func poolSize(ctx context.Context, tx *db.Tx, d match.Deposit, reserved map[string]string) (int, error) {
	pool := invoice.Pool{LegalEntityIDs: []string{d.LegalEntityID}, Currency: d.Currency, Until: d.LatestIssue()}
	size, err := invoice.CountPool(ctx, tx, pool)
	if err != nil || len(reserved) == 0 {
		return size, err
	}
	found, err := invoice.FindSomeUnchecked(ctx, tx, slices.Collect(maps.Keys(reserved)))
	for _, i := range found {
		if i.Status == invoice.Open && i.Currency == pool.Currency && !i.Date.After(pool.Until) &&
			(i.LegalEntityID == "" && !actor.From(ctx).Limited() || i.LegalEntityID == d.LegalEntityID) {
			size--
		}
	}
	return size, err
}

// matchTypeOf returns the type of the suggestion that an application agrees with, or that it is a choice of its own.
func matchTypeOf(ctx context.Context, tx *db.Tx, p *proposal) (string, error) {
	if len(p.Allocations) == 0 {
		return Manual, nil
	}
	found, err := suggest(ctx, tx, p, p.matching(tx))
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
