package application

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// sameReport reports whether two versions of an application agree in what the processor knows.
func sameReport(a, b Application) bool {
	return slices.EqualFunc(a.Allocations, b.Allocations, Allocation.sameReport) && a.ProcessorStatus == b.ProcessorStatus &&
		a.ErrorMessage == b.ErrorMessage && (a.MarkedPaidAt == nil) == (b.MarkedPaidAt == nil)
}

func (l Allocation) sameReport(other Allocation) bool {
	return (l.ReportedAt == nil) == (other.ReportedAt == nil) && (l.AttemptedAt == nil) == (other.AttemptedAt == nil) &&
		l.Reference == other.Reference && l.Attempted.Equal(other.Attempted)
}

// clone returns an application whose allocations can be changed.
func (a Application) clone() Application {
	a.Allocations = append([]Allocation{}, a.Allocations...)
	return a
}

// reported reports whether the processor knows of a payment of the application.
func (a Application) reported() bool {
	return slices.ContainsFunc(a.Allocations, func(l Allocation) bool { return l.ReportedAt != nil })
}

// uncertain reports whether the processor may know of a payment of the application, because it was told and the answer is not known.
func (a Application) uncertain() bool {
	return slices.ContainsFunc(a.Allocations, Allocation.uncertain)
}

func (l Allocation) uncertain() bool { return l.AttemptedAt != nil && l.ReportedAt == nil }

// known returns the amount that the processor knows of.
func (l Allocation) known() money.Decimal {
	if l.ReportedAt == nil {
		return money.Decimal{}
	}
	return l.Attempted
}

// afterVoid returns the state at the processor of an application that is voided: Stripe cannot take a payment back.
func (a Application) afterVoid() string {
	switch {
	case a.isReturn(): // the payment stands again
		return NotApplicable
	case a.reported() || a.uncertain():
		return ReversalRequired
	case a.ProcessorStatus == ToBeReported || a.ProcessorStatus == ReversalRequired:
		return NotApplicable
	}
	return a.ProcessorStatus
}

// allocationTo returns the allocation to an invoice, an empty one if there is none.
func (a Application) allocationTo(invoiceID string) Allocation {
	for _, l := range a.Allocations {
		if l.InvoiceID == invoiceID {
			return l
		}
	}
	return Allocation{}
}

// claimed is what an application, less what went back of it, pays of a mirrored invoice.
type claimed struct {
	applicationID string
	stands, known money.Decimal
	uncertain     bool
	refused       bool // the processor was told and did not take it, or cannot be told
}

// unknown returns what the processor does not know of. If more went back than was applied since it was told, nothing is: it then still
// takes the rest as paid.
func (c claimed) unknown() money.Decimal {
	if rest := c.stands.Sub(c.known); rest.Sign() > 0 {
		return rest
	}
	return money.Decimal{}
}

// AppliedTo returns what live applications pay of an invoice without the knowledge of its processor. If what remains at the processor fell
// by exactly an amount that it did not take, then a person has recorded that payment there, as they are told to, and the processor knows
// of it. It runs in the caller's transaction.
func AppliedTo(ctx context.Context, tx *db.Tx, invoiceID string, fell money.Decimal) (unknown money.Decimal, err error) {
	all, err := selectClaimed(ctx, tx, invoiceID)
	if err != nil {
		return unknown, err
	}
	byHand := -1
	if fell.Sign() > 0 && !slices.ContainsFunc(all, func(c claimed) bool { return c.uncertain }) {
		byHand = slices.IndexFunc(all, func(c claimed) bool { return c.refused && c.known.IsZero() && c.stands.Equal(fell) })
	}
	for n, c := range all {
		if n == byHand {
			err = recordByHand(ctx, tx, c, invoiceID)
			continue
		}
		unknown = unknown.Add(c.unknown())
	}
	return unknown, err
}

// recordByHand stores that the processor knows of a payment, because a person has recorded it there.
func recordByHand(ctx context.Context, tx *db.Tx, c claimed, invoiceID string) error {
	before, err := selectOne(ctx, tx, c.applicationID, "{for_update}")
	if err != nil {
		return err
	}
	invoices, err := invoice.FindSomeUnchecked(ctx, tx, invoiceIDs(before.Allocations))
	if err != nil {
		return err
	}
	after, now, all := before.clone(), tx.Now(), true
	for n, l := range after.Allocations {
		if l.InvoiceID == invoiceID {
			after.Allocations[n].AttemptedAt, after.Allocations[n].ReportedAt, after.Allocations[n].Attempted = &now, &now, c.stands
		} else if invoices[l.InvoiceID].Provider == stripe && l.ReportedAt == nil {
			all = false
		}
	}
	if all {
		after.ProcessorStatus, after.MarkedPaidAt, after.ErrorMessage = MarkedPaid, &now, ""
	}
	_, err = save(ctx, tx, "cash_application.updated", before, after)
	return err
}

// restate computes what is due on the mirrored invoices of an application that was changed.
func restate(ctx context.Context, tx *db.Tx, a Application) error {
	invoices, err := invoice.FindSomeUnchecked(ctx, tx, invoiceIDs(a.Allocations))
	if err != nil {
		return err
	}
	for _, l := range byInvoice(a.Allocations) {
		if !invoices[l.InvoiceID].Mirrored() {
			continue
		}
		unknown, err := AppliedTo(ctx, tx, l.InvoiceID, money.Decimal{})
		if err != nil {
			return err
		}
		if err := invoice.Restate(ctx, tx, l.InvoiceID, unknown); err != nil {
			return err
		}
	}
	return nil
}

// claims add up what applications pay of mirrored invoices, by application and invoice.
type claims map[[2]string]claimed

// add adds an allocation of an application, or of what went back of it.
func (c claims) add(a Application, l Allocation) {
	root := a.ID
	if a.isReturn() {
		root = a.SourceID
	}
	key := [2]string{root, l.InvoiceID}
	sum := c[key]
	if sum.applicationID, sum.stands = root, sum.stands.Add(l.Amount); !a.isReturn() {
		sum.known, sum.uncertain = l.known(), l.uncertain()
		sum.refused = a.ProcessorStatus == NotReported || a.ProcessorStatus == NotApplicable
	}
	c[key] = sum
}
