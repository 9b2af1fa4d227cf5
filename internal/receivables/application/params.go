package application

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/match"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// The limits.
const (
	allocationsMax = 500
	memoMax        = 2000
)

// ReasonMax is how many characters the reason of voiding may have.
const ReasonMax = 500

// Params describe an application.
type Params struct {
	DepositID   string
	Allocations []AllocationParams // none leaves all of the deposit unapplied
	Memo        string
}

// AllocationParams describe an allocation. The amount is text, so that its faults are reported together with all others.
type AllocationParams struct {
	TargetType string // invoice
	TargetID   string
	Amount     string
}

// proposal is an application that is being made, with what it is made from.
type proposal struct {
	Application
	deposit  transaction.Transaction
	fee      money.Decimal // that was withheld from the deposit
	source   *Application  // whose unapplied rest is used
	invoices map[string]invoice.Invoice
	reserved map[string]string // by invoice: the application that waits for a review of its payment
	returns  posting.Type      // of a payment that went back; empty if it came in
}

// resolver resolves references and collects faults.
type resolver struct {
	tx      *db.Tx
	books   *snapshot.Books
	pending *Application // the one that is being confirmed, which does not prevent itself; nil if there is none
	faults  fault.List
}

// resolve returns an application as it is to be made, or an error with every fault of it. Pending is the application that waits for its
// review, if it is that one.
func resolve(ctx context.Context, tx *db.Tx, b *snapshot.Books, p Params, pending *Application) (*proposal, error) {
	r := &resolver{tx: tx, books: b, pending: pending}
	out := &proposal{Application: Application{DepositID: p.DepositID, Memo: p.Memo}}
	amounts := r.amounts(p)
	var err error
	var before []Allocation
	if pending != nil {
		before = pending.Allocations
	}
	if out.invoices, err = r.invoices(ctx, p, before); err != nil {
		return nil, err
	}
	deposited, err := r.deposit(ctx, out)
	if err != nil {
		return nil, err
	}
	for n, a := range p.Allocations {
		i, found := out.invoices[a.TargetID]
		if found && amounts[n].Sign() > 0 {
			r.allocation(out, fmt.Sprintf("allocations[%d].", n), i, amounts[n], deposited)
		}
		out.Allocations = append(out.Allocations, Allocation{InvoiceID: a.TargetID, CustomerID: i.CustomerID, Amount: amounts[n],
			InvoiceNumber: i.Number, CustomerName: i.CustomerName})
		out.Applied = out.Applied.Add(amounts[n])
	}
	r.requireUnreserved(out)
	if deposited {
		if err := r.totals(ctx, out); err != nil {
			return nil, err
		}
	}
	return out, r.faults.Err()
}

// amounts returns the amounts of allocations, and adds the faults that follow from the request itself.
func (r *resolver) amounts(p Params) []money.Decimal {
	if n := len(p.Allocations); n > allocationsMax {
		r.faults.Addf("allocations", "must have at most %d allocations", allocationsMax)
	}
	if utf8.RuneCountInString(p.Memo) > memoMax {
		r.faults.Addf("memo", "must have at most %d characters", memoMax)
	}
	out := make([]money.Decimal, len(p.Allocations))
	for n, a := range p.Allocations {
		at := fmt.Sprintf("allocations[%d].", n)
		if a.TargetType != "" && a.TargetType != "invoice" {
			r.faults.Addf(at+"target_type", "must be invoice")
		}
		amount, err := money.Parse(a.Amount)
		switch {
		case err != nil:
			r.faults.Addf(at+"amount", "%v", err)
		case amount.Sign() <= 0:
			r.faults.Addf(at+"amount", "must be positive")
		default:
			out[n] = amount
		}
		if slices.ContainsFunc(p.Allocations[:n], func(o AllocationParams) bool { return o.TargetID == a.TargetID }) {
			r.faults.Addf(at+"target_id", "must not be named twice")
		}
	}
	return out
}

// invoices returns the invoices that allocations name: those that the actor sees, and those of an application that the actor sees.
func (r *resolver) invoices(ctx context.Context, p Params, of []Allocation) (map[string]invoice.Invoice, error) {
	ids := make([]string, len(p.Allocations))
	for n, a := range p.Allocations {
		ids[n] = a.TargetID
	}
	found, err := invoice.FindSome(unlimited(ctx), r.tx, ids)
	for id, i := range found {
		if !actor.From(ctx).Sees(i.LegalEntityID) && !slices.Contains(invoiceIDs(of), id) {
			delete(found, id)
		}
	}
	for n, id := range ids {
		if _, there := found[id]; !there {
			r.faults.AddMissing("invoice", fmt.Sprintf("allocations[%d].target_id", n))
		}
	}
	return found, err
}

// depositField names the deposit of an application.
const depositField = "deposit_transaction_id"

// deposit reads the deposit of an application, sets what it says about the application, and reports whether it can be applied.
func (r *resolver) deposit(ctx context.Context, out *proposal) (bool, error) {
	t, err := transaction.Find(ctx, r.tx, out.DepositID)
	if err != nil {
		return false, r.faults.MergeMissing(err, depositField)
	}
	if out.reserved, err = selectReservations(ctx, r.tx); err != nil {
		return false, err
	}
	live, err := selectOfDeposits(ctx, r.tx, []string{t.ID})
	if err != nil {
		return false, err
	}
	return r.describe(ctx, out, t, live[t.ID])
}

// describe sets what a deposit says about an application, and reports whether it can be applied. Live is the application that books it,
// nil if there is none.
func (r *resolver) describe(ctx context.Context, out *proposal, t transaction.Transaction, live *Application) (bool, error) {
	const field = depositField
	out.deposit, out.LegalEntityID, out.DepositAt = t, t.Source.LegalEntityID, t.At
	out.DepositMemo = memoOf(t)
	out.payerName, out.payerAddress = payerOf(t)
	out.source = live
	if s := out.source; s != nil && r.pending != nil {
		if s.ID == r.pending.ID {
			out.source = nil
		} else {
			s.Available = s.Available.Add(r.pending.Total)
		}
	}
	switch s := out.source; {
	case !transaction.IsInflow(t.Direction):
		r.faults.AddConflictf(field, "%s is a payment that left the source: only what came in can be applied. Book a refund or a "+
			"chargeback with POST /v1/cash-applications/{application_id}/return", t.SequenceNumber())
	case t.Status == transaction.Spam:
		r.faults.AddConflictf(field, "%s is spam: mark it as not spam first", t.SequenceNumber())
	case t.GroupID != "":
		r.faults.AddConflictf(field, "%s is linked as a transfer: remove the link first", t.SequenceNumber())
	case s != nil && s.Status == Pending:
		r.faults.AddConflictf(field, "the cash application %s, which waits for its review, uses %s: confirm or void it", s.ID, t.SequenceNumber())
	case s != nil && s.Available.IsZero():
		r.faults.AddConflictf(field, "%s is applied already, by the cash application %s: void that first", t.SequenceNumber(), s.ID)
	case s != nil:
		out.SourceID, out.Currency, out.Total = s.ID, s.Currency, s.Available
		return true, nil
	case t.JournalEntryID != "":
		r.faults.AddConflictf(field, "%s has the journal entry %s already: reverse or delete that first", t.SequenceNumber(), t.JournalEntryID)
	default:
		paid, err := booking.PaidBy(ctx, r.tx, r.books, t)
		if err != nil {
			return false, r.faults.Merge(err)
		}
		if out.Total, out.Currency, out.fee = paid.Gross, paid.Currency, paid.Fee; out.Total.Sign() <= 0 {
			r.faults.AddConflictf(field, "the value of %s is %s: there is nothing to apply", t.SequenceNumber(), paid.Gross.Fixed(paid.Currency))
			return false, nil
		}
		return true, nil
	}
	return false, nil
}

// allocation adds the reasons for which a deposit cannot pay an invoice.
func (r *resolver) allocation(out *proposal, at string, i invoice.Invoice, amount money.Decimal, deposited bool) {
	if !amount.Equal(amount.RoundTo(i.Currency)) {
		r.faults.Addf(at+"amount", "has more decimals than %s", i.Currency)
	}
	why := i.Ineligibility()
	if deposited {
		d := match.Deposit{Currency: out.Currency, Date: out.DepositAt, LegalEntityID: out.LegalEntityID}
		if out.source != nil {
			d.Date = r.tx.Now() // the rest of a deposit is applied on the day on which it is
		}
		v := i.Matching()
		if reason := d.Excludes(&v); reason.Code == match.OtherCurrency || reason.Code == match.OtherEntity {
			why = strings.TrimSuffix(reason.Text, ".")
		} else if reason.Code == match.IssuedLater && why == "" {
			why = strings.TrimSuffix(reason.Text, ".") + ": apply the deposit to nothing for now, and its rest to the invoice later"
		}
	}
	switch {
	case why != "":
		r.faults.AddConflictf(at+"target_id", "the invoice %s cannot be paid with this deposit: %s", i.Number, why)
	case amount.Cmp(i.AmountDue) > 0:
		r.faults.AddConflictf(at+"amount", "%s is due on the invoice %s, which is less than %s", i.AmountDue.Fixed(i.Currency), i.Number,
			amount.Fixed(i.Currency))
	}
}

// requireUnreserved adds the invoices that other applications use which wait for their review.
func (r *resolver) requireUnreserved(out *proposal) {
	for n, l := range out.Allocations {
		by := out.reserved[l.InvoiceID]
		if by != "" && (r.pending == nil || by != r.pending.ID) {
			r.faults.AddConflictf(fmt.Sprintf("allocations[%d].target_id", n), "the invoice %s is used by the cash application %s, which waits "+
				"for its review: confirm or void that", l.InvoiceNumber, by)
		}
	}
}

// totals sets what is left of the deposit, or what is written off because it falls short of the allocations by a little.
func (r *resolver) totals(ctx context.Context, out *proposal) error {
	rest := out.Total.Sub(out.Applied)
	switch {
	case out.source != nil && len(out.Allocations) == 0:
		r.faults.Addf("allocations", "must not be empty: the rest of the deposit is unapplied already")
	case rest.Sign() >= 0 && out.source != nil: // only what is used of the rest is moved
		out.Total = out.Applied
	case rest.Sign() >= 0:
		out.Unapplied, out.Available = rest, rest
	case out.source != nil:
		r.faults.AddConflictf("allocations", "add up to %s %[3]s, but only %[2]s %[3]s of the deposit are left",
			out.Applied.Fixed(out.Currency), out.Total.Fixed(out.Currency), out.Currency)
	default:
		limit, err := selectLimit(ctx, r.tx)
		if err != nil {
			return err
		}
		if rest.Neg().Cmp(limit) > 0 {
			r.faults.AddConflictf("allocations", "add up to %s %[4]s, but %[2]s %[4]s can be applied, and at most %[3]s %[4]s are written off "+
				"(PATCH /v1/settings)", out.Applied.Fixed(out.Currency), out.Total.Fixed(out.Currency), limit.Fixed(out.Currency), out.Currency)
		}
		out.WrittenOff = rest.Neg()
	}
	return nil
}

// memoOf returns the text of a deposit that names what it pays.
func memoOf(t transaction.Transaction) string {
	if t.Memo == "" || t.Memo == t.Description {
		return t.Description
	}
	return strings.TrimSpace(t.Memo + " " + t.Description)
}

// payerOf returns the name and the address of who paid a deposit, in lower case.
func payerOf(t transaction.Transaction) (name, address string) {
	if name = t.Vendor; t.Bank != nil && t.Bank.CounterpartyName != "" {
		name = t.Bank.CounterpartyName
	}
	if t.Crypto != nil {
		address = t.Crypto.From
	}
	return normalized(name), strings.ToLower(strings.TrimSpace(address))
}
