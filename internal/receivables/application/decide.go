package application

import (
	"context"
	"errors"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/match"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Payers recognizes who paid deposits. It keeps the customers that it has read until one of them changes.
type Payers struct {
	matcher *match.Matcher
	at      int64 // the last record of the audit log before they were read
}

// refresh reads the customers if they are not those of this moment.
func (p *Payers) refresh(ctx context.Context, tx *db.Tx) error {
	state, err := orgstate.Read(ctx, tx)
	if err != nil {
		return err
	}
	if p.matcher != nil {
		changed, err := audit.Changed(ctx, tx, p.at, "customer")
		if err != nil {
			return err
		}
		if !changed {
			p.at = state.AuditSequence
			return nil
		}
	}
	customers, err := customer.Matching(ctx, tx)
	if err != nil {
		return err
	}
	p.matcher, p.at = match.New(customers, nil, nil), state.AuditSequence
	return nil
}

// Moment is a moment at which deposits were matched.
type Moment int64

// Outdated reports whether something that deposits are matched with has changed since a moment. It runs in the caller's transaction.
func (m Moment) Outdated(ctx context.Context, tx *db.Tx) (bool, error) {
	return audit.Changed(ctx, tx, int64(m), "customer", "invoice", resourceType, "settings")
}

// DecideParams say how several deposits are decided.
type DecideParams struct {
	Payers        *Payers
	MinConfidence money.Decimal
	Paid          map[string]bool   // invoices that count as paid; those of deposits that are certain are added
	Refused       map[string]string // by deposit: why its certain suggestion could not be applied
}

// Decision is what a deposit may pay, or why it cannot be applied.
type Decision struct {
	Preview
	Deposit transaction.Transaction
	Skipped string // why it is not matched at all
	Refused string // why its certain suggestion cannot be applied
	Certain bool   // its first suggestion may be applied without a person
}

// Decide returns what deposits may pay, in their order: each one as if those before it that are certain were applied. It returns at least
// one decision, and fewer than there are deposits if their invoices are too many to be compared at once. It runs in the caller's
// transaction and writes nothing.
func (s *Service) Decide(ctx context.Context, tx *db.Tx, p DecideParams, deposits []transaction.Transaction) (
	out []Decision, at Moment, err error) {
	if len(deposits) == 0 {
		return nil, 0, nil
	}
	if err := p.Payers.refresh(ctx, tx); err != nil {
		return nil, 0, err
	}
	limit, err := selectLimit(ctx, tx)
	if err != nil {
		return nil, 0, err
	}
	out, proposals, reserved, err := describeAll(ctx, tx, deposits)
	if err != nil {
		return nil, 0, err
	}
	m := newMatching(p.Payers.matcher, limit, reserved)
	m.paid = p.Paid
	for {
		var wanted []match.Deposit
		for n, d := range proposals[:len(out)] {
			if out[n].Skipped == "" {
				wanted = append(wanted, d.matching(tx))
			}
		}
		if len(wanted) == 0 {
			break
		}
		err := m.prepare(ctx, tx, wanted)
		if err == nil {
			break
		}
		if !errors.Is(err, errTooMany) {
			return nil, 0, err
		}
		out = out[:max(1, len(out)/2)]
	}
	return out, Moment(p.Payers.at), s.decideEach(ctx, tx, p, m, out)
}

// describeAll returns a decision for each deposit that says whether it can be applied, and what it is matched by.
func describeAll(ctx context.Context, tx *db.Tx, deposits []transaction.Transaction) (
	out []Decision, proposals []*proposal, reserved map[string]string, err error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, nil, nil, err
	}
	if reserved, err = selectReservations(ctx, tx); err != nil {
		return nil, nil, nil, err
	}
	live, err := selectOfDeposits(ctx, tx, idsOf(deposits))
	if err != nil {
		return nil, nil, nil, err
	}
	out, proposals = make([]Decision, len(deposits)), make([]*proposal, len(deposits))
	for n, t := range deposits {
		r, p := &resolver{tx: tx, books: b}, &proposal{Application: Application{DepositID: t.ID}, reserved: reserved}
		if _, err := r.describe(ctx, p, t, live[t.ID]); err != nil {
			return nil, nil, nil, err
		}
		proposals[n], out[n].Deposit, out[n].Application = p, t, p.Application
		month := calendar.MonthOf(t.At, b.Zone).Key()
		switch err := r.faults.Err(); {
		case err != nil:
			out[n].Skipped = messageOf(err)
		case p.source != nil:
			out[n].Skipped = "a part of " + t.SequenceNumber() + " is applied already: apply its rest with POST /v1/cash-applications"
		case month <= b.ClosedThrough(p.LegalEntityID):
			out[n].Skipped = "the month " + month + " is closed: apply " + t.SequenceNumber() + " with POST /v1/cash-applications"
		}
	}
	return out, proposals, reserved, nil
}

// messageOf returns the text of an error that refuses a request, without the names of fields.
func messageOf(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err.Error()
	}
	return f.Fields[0].Message
}

// decideEach matches deposits one after the other.
func (s *Service) decideEach(ctx context.Context, tx *db.Tx, p DecideParams, m *matching, all []Decision) error {
	rules, err := s.sortedRules(ctx, tx)
	if err != nil {
		return err
	}
	reviews := slices.ContainsFunc(rules, func(r Rule) bool { return r.Review })
	at := 0
	for n := range all {
		d := &all[n]
		if d.Skipped != "" {
			continue
		}
		found := m.match(at)
		at++
		d.Customer, d.Notes, d.Truncated = found.Customer, found.Notes, found.Truncated
		if err := d.setSuggestions(ctx, tx, found.Suggestions, rules, reviews); err != nil {
			return err
		}
		if len(d.Suggestions) == 0 {
			continue
		}
		first := d.Suggestions[0]
		d.Certain = first.Certain() && first.Confidence.Cmp(p.MinConfidence) >= 0
		if why := p.Refused[d.Deposit.ID]; d.Certain && why != "" {
			d.Certain, d.Refused = false, why
		}
		for _, l := range first.Allocations {
			if d.Certain {
				p.Paid[l.InvoiceID] = true
			}
		}
	}
	return nameCustomers(ctx, tx, all)
}

// setSuggestions sets the suggestions for a deposit with the reviews that rules demand. Invoices are read only if a rule looks at them.
func (p *Preview) setSuggestions(ctx context.Context, tx *db.Tx, all []match.Suggestion, rules []Rule, reviews bool) (err error) {
	var invoices map[string]invoice.Invoice
	if reviews {
		var ids []string
		for _, g := range all {
			for _, l := range g.Allocations {
				ids = append(ids, l.InvoiceID)
			}
		}
		if invoices, err = invoice.FindSomeUnchecked(ctx, tx, ids); err != nil {
			return err
		}
	}
	for _, g := range all {
		var paid []Allocation
		for _, l := range g.Allocations {
			paid = append(paid, Allocation{InvoiceID: l.InvoiceID})
		}
		p.Suggestions = append(p.Suggestions, Suggestion{g, reviewOf(rules, paid, invoices)})
	}
	return nil
}

// customers returns the ids of the customers that a preview shows.
func (p *Preview) customers() (out []string) {
	if p.Customer != nil {
		out = append(out, p.Customer.CustomerID)
	}
	for _, g := range p.Suggestions {
		for _, l := range g.Allocations {
			out = append(out, l.CustomerID)
		}
	}
	return out
}

// nameCustomers sets the names of customers.
func nameCustomers(ctx context.Context, tx *db.Tx, all []Decision) error {
	var ids []string
	for n := range all {
		ids = append(ids, all[n].customers()...)
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return nil
	}
	names, err := customer.NamesUnchecked(ctx, tx, ids)
	for n := range all {
		all[n].Names = names
	}
	return err
}

func idsOf(all []transaction.Transaction) []string {
	out := make([]string, len(all))
	for n, t := range all {
		out[n] = t.ID
	}
	return out
}
