package application

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// ReturnParams describe a payment that went back to the customer.
type ReturnParams struct {
	TransactionID string             // the payment out
	Type          string             // refund or chargeback; empty for the first
	Allocations   []AllocationParams // what is due again; the rest of the payment comes from what the application left unapplied
	Memo          string
}

// isReturn reports whether an application takes back what another one applied. Its amounts are negative.
func (a Application) isReturn() bool { return a.Total.Sign() < 0 }

// booksTransaction reports whether the entry of an application is that of its transaction.
func (a Application) booksTransaction() bool { return a.SourceID == "" || a.isReturn() }

// Return books a payment that went back to the customer, such as a refund or a chargeback: what it paid of invoices is due again, and what
// was left unapplied is paid out, on the accounts that the application has credited. It returns an application with negative amounts,
// which can be voided like any other. An etag must be that of the application that is taken back, or empty.
func (s *Service) Return(ctx context.Context, applicationID, etag string, p ReturnParams) (a Application, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		from, err := find(ctx, tx, applicationID, "{for_update}")
		if err != nil {
			return err
		}
		if err := from.requireVersion(etag); err != nil {
			return err
		}
		made, err := resolveReturn(ctx, tx, b, from, p)
		if err != nil {
			return err
		}
		rules, err := s.sortedRules(ctx, tx)
		if err != nil {
			return err
		}
		made.ID, made.AppliedBy, made.CreatedAt, made.revision = tx.NewID(id.CashApplication), actor.From(ctx).UserID, tx.Now(), 1
		if err := s.bookReturn(ctx, tx, b, made, rules); err != nil {
			return err
		}
		if err := takeBack(ctx, tx, from.ID, made.Unapplied, made.Applied); err != nil {
			return err
		}
		a = made.negated()
		if err := insert(ctx, tx, a); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "cash_application.returned", ResourceType: resourceType, ResourceID: a.ID, After: a.facts(),
			Object: a})
		return restate(ctx, tx, a)
	})
	return a, err
}

// resolveReturn returns the application of a payment that went back, with positive amounts, or an error with every fault of it.
func resolveReturn(ctx context.Context, tx *db.Tx, b *snapshot.Books, from Application, p ReturnParams) (*proposal, error) {
	switch {
	case from.isReturn():
		return nil, fault.Conflictf("the cash application %s is a payment that went back already: void it to undo that", from.ID)
	case !from.Status.booked():
		return nil, fault.Conflictf("the cash application %s is %s: only what is booked can go back", from.ID, from.Status)
	}
	r := &resolver{tx: tx, books: b}
	out := &proposal{Application: Application{DepositID: p.TransactionID, SourceID: from.ID, LegalEntityID: from.LegalEntityID,
		Currency: from.Currency, Memo: p.Memo, MatchType: Manual, Status: Applied, ProcessorStatus: NotApplicable}, returns: posting.Refund}
	switch p.Type {
	case "", "refund":
	case "chargeback":
		out.returns = posting.Chargeback
	default:
		r.faults.Addf("return_type", "must be refund or chargeback")
	}
	named := Params{Allocations: p.Allocations, Memo: p.Memo}
	amounts := r.amounts(named)
	var err error
	if out.invoices, err = r.invoices(ctx, named, from.Allocations); err != nil {
		return nil, err
	}
	returns, err := selectReturns(ctx, tx, from.ID)
	if err != nil {
		return nil, err
	}
	for n, l := range p.Allocations {
		i, found := out.invoices[l.TargetID]
		if found && amounts[n].Sign() > 0 {
			r.returned(fmt.Sprintf("allocations[%d].", n), i, amounts[n], returnable(from, returns, i.ID), from)
		}
		told := from.allocationTo(l.TargetID)
		out.Allocations = append(out.Allocations, Allocation{InvoiceID: l.TargetID, CustomerID: i.CustomerID, Amount: amounts[n],
			InvoiceNumber: i.Number, CustomerName: i.CustomerName, AttemptedAt: told.AttemptedAt, Attempted: told.Attempted,
			Reference: told.Reference, ReportedAt: told.ReportedAt, Credits: takenBack(left(from, returns, i.ID), i, amounts[n])})
		out.Applied = out.Applied.Add(amounts[n])
	}
	r.undoWriteOff(out, from)
	if out.reported() || out.uncertain() { // Stripe still takes the invoice as paid, or may do so
		out.ProcessorStatus = ReversalRequired
	}
	if err := r.payment(ctx, out, from); err != nil {
		return nil, err
	}
	return out, r.faults.Err()
}

// returnable returns how much of an invoice an application settles that is not due again yet.
func returnable(from Application, returns []Application, invoiceID string) (sum money.Decimal) {
	for _, a := range append([]Application{from}, returns...) {
		for _, l := range a.Allocations {
			if l.InvoiceID == invoiceID {
				sum = sum.Add(l.Amount) // that of a return is negative
			}
		}
	}
	return sum
}

// undoWriteOff sets what a return undoes of a write-off: all of it, if everything that the application settled is due again. Otherwise no
// more can be due again than was paid.
func (r *resolver) undoWriteOff(out *proposal, from Application) {
	paid := from.Applied.Sub(from.WrittenOff).Sub(from.Returned)
	switch {
	case out.Applied.IsZero():
	case out.Applied.Add(from.Returned).Equal(from.Applied):
		out.WrittenOff = from.WrittenOff
	case out.Applied.Cmp(paid) > 0:
		r.faults.AddConflictf("allocations", "add up to %s %[6]s, but of the %[2]s %[6]s that the cash application %[3]s settles and that are "+
			"not due again, %[4]s %[6]s were paid and %[5]s %[6]s written off: name at most what was paid, or all of it, which undoes the "+
			"write-off", out.Applied.Fixed(out.Currency), from.Applied.Sub(from.Returned).Fixed(out.Currency), from.ID,
			paid.Fixed(out.Currency), from.WrittenOff.Fixed(out.Currency), out.Currency)
	}
}

// returned adds the reasons for which an amount of an invoice cannot become due again.
func (r *resolver) returned(at string, i invoice.Invoice, amount, left money.Decimal, from Application) {
	switch {
	case !amount.Equal(amount.RoundTo(i.Currency)):
		r.faults.Addf(at+"amount", "has more decimals than %s", i.Currency)
	case amount.Cmp(left) > 0:
		r.faults.AddConflictf(at+"amount", "the cash application %s pays %s of the invoice %s that did not go back yet, which is less than %s",
			from.ID, left.Fixed(i.Currency), i.Number, amount.Fixed(i.Currency))
	case i.Status != invoice.Open && i.Status != invoice.Paid && !i.Mirrored():
		r.faults.AddConflictf(at+"target_id", "the invoice %s is %s: reopen it first", i.Number, i.Status)
	}
}

// payment sets what the payment out says about an application, and what it takes of the unapplied rest.
func (r *resolver) payment(ctx context.Context, out *proposal, from Application) error {
	const field = "transaction_id"
	t, err := transaction.Find(ctx, r.tx, out.DepositID)
	if err != nil {
		return r.faults.MergeMissing(err, field)
	}
	out.deposit, out.DepositAt, out.DepositMemo = t, t.At, memoOf(t)
	switch {
	case transaction.IsInflow(t.Direction):
		r.faults.AddConflictf(field, "%s came in: only a payment that left a source can go back to a customer", t.SequenceNumber())
	case t.Status == transaction.Spam:
		r.faults.AddConflictf(field, "%s is spam: mark it as not spam first", t.SequenceNumber())
	case t.GroupID != "":
		r.faults.AddConflictf(field, "%s is linked as a transfer: remove the link first", t.SequenceNumber())
	case t.JournalEntryID != "":
		r.faults.AddConflictf(field, "%s has the journal entry %s already: reverse or delete that first", t.SequenceNumber(), t.JournalEntryID)
	case t.Source.LegalEntityID != from.LegalEntityID:
		r.faults.AddConflictf(field, "%s was paid by another legal entity than the one that received the deposit", t.SequenceNumber())
	default:
		paid, err := booking.PaidBy(ctx, r.tx, r.books, t)
		if err != nil {
			return r.faults.Merge(err)
		}
		r.refunded(out, from, paid)
		return r.refuseEarlier(ctx, out, from)
	}
	return nil
}

// refuseEarlier adds a fault if a payment went back before the day of the deposit, or before the day on which its rest was applied.
func (r *resolver) refuseEarlier(ctx context.Context, out *proposal, from Application) error {
	day := func(at time.Time) string { return calendar.DateOf(at, r.books.Zone) }
	back, since, what := day(out.DepositAt), day(from.DepositAt), "deposit came in"
	if from.SourceID != "" && back >= since {
		e, err := journal.FindUnchecked(ctx, r.tx, from.EntryID)
		if err != nil {
			return err
		}
		since, what = day(e.AccountingDate), "rest of the deposit was applied: void the cash application, and book the return of the one that "+
			"booked the deposit"
		if e.IntendedDate != nil {
			since = day(*e.IntendedDate)
		}
	}
	if back < since {
		r.faults.AddConflictf("transaction_id", "%s is dated %s, but on %s the %s", out.deposit.SequenceNumber(), back, since, what)
	}
	return nil
}

// refunded sets the totals of a payment that went back: without the fee, which the customer does not get.
func (r *resolver) refunded(out *proposal, from Application, paid booking.Paid) {
	out.Total, out.fee = paid.Gross.Sub(paid.Fee), paid.Fee
	out.Unapplied = out.Total.Add(out.WrittenOff).Sub(out.Applied)
	switch {
	case paid.Currency != from.Currency:
		r.faults.AddConflictf("transaction_id", "%s is in %s, but the deposit was in %s", out.deposit.SequenceNumber(), paid.Currency,
			from.Currency)
	case out.Total.Sign() <= 0:
		r.faults.AddConflictf("transaction_id", "the value of %s is %s: nothing went back", out.deposit.SequenceNumber(),
			out.Total.Fixed(paid.Currency))
	case out.Unapplied.Sign() < 0:
		r.faults.AddConflictf("allocations", "add up to %s %[3]s, but only %[2]s %[3]s went back",
			out.Applied.Sub(out.WrittenOff).Fixed(out.Currency), out.Total.Fixed(out.Currency), out.Currency)
	case out.Unapplied.Cmp(from.Available) > 0:
		r.faults.AddConflictf("allocations", "account for %s %[4]s of the %[2]s %[4]s that went back, and only %[3]s %[4]s are unapplied: name "+
			"the invoices that are due again", out.Applied.Sub(out.WrittenOff).Fixed(out.Currency), out.Total.Fixed(out.Currency),
			from.Available.Fixed(out.Currency), out.Currency)
	}
}

// bookReturn makes invoices due again and posts the entry of a payment that went back.
func (s *Service) bookReturn(ctx context.Context, tx *db.Tx, b *snapshot.Books, p *proposal, rules []Rule) error {
	if err := release(ctx, tx, p.Application, p.invoices); err != nil {
		return err
	}
	in, err := accountsOf(ctx, tx, b, p)
	if err != nil {
		return err
	}
	if b, err = snapshot.Lock(ctx, tx); err != nil { // an account may have been created
		return err
	}
	parts := p.parts(in, rules)
	if err := requireAccounts(b, rules, parts); err != nil {
		return err
	}
	memo := p.Memo
	if memo == "" {
		memo = p.describe()
	}
	made, err := s.bookings.BookPayment(ctx, tx, booking.Payment{TransactionID: p.DepositID, Type: p.returns, Parts: parts, Memo: memo})
	if err != nil {
		return err
	}
	p.EntryID = made.ID
	return p.recordMovements(ctx, tx)
}

// release makes what an application settled of invoices due again. Mirrored invoices are restated when the application is stored.
func release(ctx context.Context, tx *db.Tx, a Application, invoices map[string]invoice.Invoice) error {
	for _, l := range byInvoice(a.Allocations) {
		if invoices[l.InvoiceID].Mirrored() {
			continue
		}
		if _, err := invoice.Settle(unlimited(ctx), tx, l.InvoiceID, l.Amount.Neg()); err != nil {
			return err
		}
	}
	return nil
}

// unlimited returns a context whose actor sees all invoices of an application: one of them may be an invoice of no legal entity.
func unlimited(ctx context.Context) context.Context {
	who := actor.From(ctx)
	who.LegalEntityIDs = nil
	return actor.With(ctx, who)
}

// negated returns the application with the opposite amounts, as that of a payment that went back is stored.
func (p *proposal) negated() Application {
	a := p.Application
	a.Total, a.Applied, a.Unapplied, a.WrittenOff = a.Total.Neg(), a.Applied.Neg(), a.Unapplied.Neg(), a.WrittenOff.Neg()
	a.Allocations = slices.Clone(a.Allocations)
	for n := range a.Allocations {
		l := &a.Allocations[n]
		l.Amount, l.Credits = l.Amount.Neg(), slices.Clone(l.Credits)
		for k := range l.Credits {
			l.Credits[k].Amount = l.Credits[k].Amount.Neg()
		}
	}
	return a
}

// takeBack takes what a payment that went back uses off the unapplied rest of an application, and adds what it makes due again. Negative
// amounts undo that.
func takeBack(ctx context.Context, tx *db.Tx, applicationID string, rest, due money.Decimal) error {
	before, err := selectOne(ctx, tx, applicationID, "{for_update}")
	if err != nil {
		return err
	}
	after := before
	after.Available, after.Returned = before.Available.Sub(rest), before.Returned.Add(due)
	_, err = save(ctx, tx, "cash_application.updated", before, after)
	return err
}
