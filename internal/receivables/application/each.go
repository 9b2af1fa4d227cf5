package application

import (
	"context"
	"errors"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// ErrOutdated says that a deposit does not say any more what it was matched by.
var ErrOutdated = errors.New("application: a deposit has changed since it was matched")

// ApplyEach applies deposits that are certain, as Apply does. If some of them cannot be applied, it returns why by deposit, and the caller
// must roll the transaction back: the decisions about others assumed that they can. It returns ErrOutdated if the memo or the payer of one
// has changed since it was matched. It runs in the caller's transaction.
func (s *Service) ApplyEach(ctx context.Context, tx *db.Tx, all []*Decision) (made []Application, refused map[string]string, err error) {
	if len(all) == 0 {
		return nil, nil, nil
	}
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	proposals, refused, err := resolveEach(ctx, tx, b, all)
	if err != nil || len(refused) > 0 {
		return nil, refused, err
	}
	rules, err := s.sortedRules(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	if refused, err = s.bookEach(ctx, tx, b, proposals, rules); err != nil || len(refused) > 0 {
		return nil, refused, err
	}
	return storeEach(ctx, tx, proposals)
}

// resolveEach returns the applications to be made, or why some of them cannot be. It locks their invoices.
func resolveEach(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []*Decision) ([]*proposal, map[string]string, error) {
	ids := make([]string, len(all))
	var paid []string
	for n, d := range all {
		ids[n] = d.DepositID
		for _, l := range d.Suggestions[0].Allocations {
			paid = append(paid, l.InvoiceID)
		}
	}
	invoices, err := invoice.FindSome(ctx, tx, paid)
	if err != nil {
		return nil, nil, err
	}
	found, err := transaction.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return nil, nil, err
	}
	deposits := make(map[string]transaction.Transaction, len(found))
	for _, t := range found {
		if actor.From(ctx).Sees(t.Source.LegalEntityID) {
			deposits[t.ID] = t
		}
	}
	live, err := selectOfDeposits(ctx, tx, ids)
	if err != nil {
		return nil, nil, err
	}
	reserved, err := selectReservations(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	out, refused := make([]*proposal, len(all)), map[string]string{}
	for n, d := range all {
		r, p := &resolver{tx: tx, books: b}, &proposal{Application: Application{DepositID: d.DepositID}, invoices: invoices, reserved: reserved}
		err := r.resolveCertain(ctx, p, d, deposits, live[d.DepositID])
		if err != nil && !fault.Refused(err) {
			return nil, nil, err
		}
		if out[n] = p; err != nil {
			refused[d.DepositID] = messageOf(err)
		} else if p.DepositMemo != d.DepositMemo || p.payerName != d.payerName || p.payerAddress != d.payerAddress {
			return nil, nil, ErrOutdated
		}
	}
	return out, refused, nil
}

// resolveCertain sets the application of a suggestion that pays invoices in full and leaves nothing of its deposit.
func (r *resolver) resolveCertain(ctx context.Context, p *proposal, d *Decision, deposits map[string]transaction.Transaction,
	live *Application) error {
	t, there := deposits[d.DepositID]
	if !there {
		return fault.MissingAt("transaction", depositField)
	}
	deposited, err := r.describe(ctx, p, t, live)
	if err != nil {
		return err
	}
	p.MatchType = string(d.Suggestions[0].Type)
	for _, l := range d.Suggestions[0].Allocations {
		i, there := p.invoices[l.InvoiceID]
		if !there {
			r.faults.AddMissing("invoice", "target_id")
			continue
		}
		r.allocation(p, "", i, l.Amount, deposited)
		p.Allocations = append(p.Allocations, Allocation{InvoiceID: i.ID, CustomerID: i.CustomerID, Amount: l.Amount, InvoiceNumber: i.Number,
			CustomerName: i.CustomerName})
		p.Applied = p.Applied.Add(l.Amount)
	}
	r.requireUnreserved(p)
	if r.faults.Empty() && (p.source != nil || !p.Applied.Equal(p.Total)) {
		r.faults.AddConflictf(depositField, "%s has changed since it was matched", t.SequenceNumber())
	}
	return r.faults.Err()
}

// bookEach posts the entries of applications. It returns by deposit why some of them cannot be booked.
func (s *Service) bookEach(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []*proposal, rules []Rule) (map[string]string, error) {
	refused := map[string]string{}
	in := make([]accounts, len(all))
	for n, p := range all {
		var err error
		if in[n], err = accountsOf(ctx, tx, b, p); err != nil {
			return nil, err
		}
	}
	b, err := snapshot.Lock(ctx, tx) // an account may have been created
	if err != nil {
		return nil, err
	}
	payments := make([]booking.Payment, len(all))
	for n, p := range all {
		payments[n] = booking.Payment{TransactionID: p.DepositID, Transaction: &p.deposit, Type: posting.Invoice, Parts: p.parts(in[n], rules),
			Memo: p.describe()}
		if why := reviewOf(rules, p.Allocations, p.invoices); why != "" {
			refused[p.DepositID] = why
		} else if err := requireAccounts(b, rules, payments[n].Parts); err != nil {
			refused[p.DepositID] = messageOf(err)
		}
	}
	if len(refused) > 0 {
		return refused, nil
	}
	booked, err := s.bookings.BookPayments(ctx, tx, payments)
	if err != nil {
		return nil, err
	}
	for n, r := range booked {
		if r.Err != nil {
			refused[all[n].DepositID] = r.Err.Error()
			continue
		}
		all[n].EntryID = r.Booked.ID
	}
	return refused, nil
}

// storeEach settles the invoices of applications that are booked, and stores the applications.
func storeEach(ctx context.Context, tx *db.Tx, all []*proposal) (made []Application, refused map[string]string, err error) {
	var moved []invoice.Moved
	var rows []row
	var allocations []allocationRow
	for _, p := range all {
		p.ID, p.Status, p.AppliedBy, p.CreatedAt, p.revision = tx.NewID(id.CashApplication), Applied, actor.From(ctx).UserID, tx.Now(), 1
		paid := make(map[string]invoice.Invoice, len(p.Allocations))
		for _, l := range byInvoice(p.Allocations) {
			i := p.invoices[l.InvoiceID]
			if p.invoices[i.ID], err = invoice.SettleLocked(ctx, tx, i, l.Amount); err != nil {
				return nil, nil, err
			}
			if paid[i.ID] = i; !i.Mirrored() {
				moved = append(moved, invoice.Moved{DocumentID: i.ID, EntryID: p.EntryID, Amount: l.Amount.Neg()})
			}
		}
		p.ProcessorStatus = processorStatusOf(paid)
		made, rows = append(made, p.Application), append(rows, toRow(p.Application))
		allocations = append(allocations, toAllocations(p.Application)...)
		audit.Record(ctx, tx, audit.Change{Action: "cash_application.applied", ResourceType: resourceType, ResourceID: p.ID, After: p.facts(),
			State: p.state(), Object: p.Application})
	}
	if err := invoice.RecordMovements(ctx, tx, moved...); err != nil {
		return nil, nil, err
	}
	if err := db.Insert(ctx, tx, table, rows...); err != nil {
		return nil, nil, err
	}
	return made, nil, db.Insert(ctx, tx, allocationTable, allocations...)
}

// UndoUntouched voids an application that nobody has changed since it was applied. If it was changed, it returns in what way. It runs in
// the caller's transaction.
func (s *Service) UndoUntouched(ctx context.Context, tx *db.Tx, applicationID, reason string) (kept string, err error) {
	if _, err := snapshot.Lock(ctx, tx); err != nil {
		return "", err
	}
	a, err := find(ctx, tx, applicationID, "{for_update}")
	if err != nil {
		return "", err
	}
	switch {
	case a.Status == Voided:
		return "the cash application is voided already", nil
	case a.Status == Confirmed:
		return "the cash application was confirmed: void it with POST /v1/cash-applications/" + a.ID + "/void", nil
	case a.Status == Applied && a.revision == 1:
		_, err = s.void(ctx, tx, a, reason)
		return "", err
	}
	return "the cash application has changed since: void it with POST /v1/cash-applications/" + a.ID + "/void", nil
}
