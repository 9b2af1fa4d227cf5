package application

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// ReportKind is the background task that tells a processor of the payments of confirmed applications.
var ReportKind = task.Kind{Noun: "payment report", Table: reportTable, Key: "cash_application_id"}

// EventConfirmed is the event of an application that was confirmed.
const EventConfirmed = "cash_application.confirmed"

// reportWaitMax bounds the pause before a processor is told again.
const reportWaitMax = 10 * time.Minute

// Payment is the part of an application that pays an invoice that a processor keeps.
type Payment struct {
	ApplicationID string
	ExternalID    string // the processor's id of the invoice
	LegalEntityID string // of the invoice
	Currency      string
	Amount        money.Decimal
	PaidAt        time.Time
}

// Key identifies a payment, so that the processor takes it once, however often it is told.
func (p Payment) Key() string { return p.ApplicationID + "-" + p.ExternalID }

// Outcome is what a processor has done with a payment.
type Outcome struct {
	Status  string                                           // MarkedPaid, NotReported or NotApplicable
	Message string                                           // why it is not MarkedPaid
	Store   func(ctx context.Context, tx *db.Tx) (err error) // stores the invoice as the processor now states it; nil if it is unknown
}

// Processor tells a processor of a payment. Its error is one that may pass.
type Processor func(ctx context.Context, p Payment) (Outcome, error)

// WithProcessor sets how payments are reported. It is called before the service is used.
func (s *Service) WithProcessor(p Processor) *Service {
	s.processor = p
	return s
}

// NewReporter returns the runner that reports payments in the background.
func NewReporter(s *Service, log *slog.Logger) *task.Runner {
	return task.NewRunner(ReportKind, s.db, log, s.Report)
}

// Report tells the processor of the payments of an application that it does not know. A payment that the processor does not take is stored
// with the application, which stands, and is no error. If the processor does not answer, it is told again later.
func (s *Service) Report(ctx context.Context, organizationID, applicationID string) error {
	claim, err := ReportKind.Claim(ctx, s.db, organizationID, applicationID)
	if err != nil {
		return err
	}
	ended := false
	return claim.Work(actor.With(ctx, actor.Actor{OrganizationID: organizationID}), func(ctx context.Context) error {
		err := s.report(ctx, claim)
		if err == nil {
			ended = true
			return nil
		}
		if ctx.Err() != nil || errors.Is(err, task.ErrClaimed) {
			return err
		}
		wait := min(reportWaitMax, time.Second<<min(claim.Tries, 10))
		var f *fault.Error
		if errors.As(err, &f) {
			wait = max(wait, f.RetryAfter)
		}
		ended = s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			return postponeReport(ctx, tx, claim, tx.Now().Add(wait))
		}) == nil
		return err
	}, func() bool { return ended })
}

// report tells the processor of each payment, and stores how each ended.
func (s *Service) report(ctx context.Context, claim *task.Claim) error {
	a, err := s.read(ctx, claim)
	if err != nil {
		return err
	}
	var invoices map[string]invoice.Invoice
	err = s.db.Read(ctx, claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		invoices, err = invoice.FindSomeUnchecked(ctx, tx, invoiceIDs(a.Allocations))
		return err
	})
	if err != nil {
		return err
	}
	status, messages := MarkedPaid, []string{}
	for n, l := range a.Allocations {
		i := invoices[l.InvoiceID]
		if i.Provider != stripe || l.ReportedAt != nil {
			continue
		}
		if n > 0 { // it may have been voided, or have gone back, since the call before
			if a, err = s.read(ctx, claim); err != nil {
				return err
			}
		}
		if a.Status != Confirmed {
			continue
		}
		if !a.Returned.IsZero() {
			status, messages = NotApplicable, append(messages, "invoice "+i.Number+": the payment went back before Stripe was told of it")
			continue
		}
		o, err := s.processor(ctx, Payment{ApplicationID: a.ID, ExternalID: i.ExternalID, LegalEntityID: i.LegalEntityID, Currency: a.Currency,
			Amount: l.Amount, PaidAt: a.DepositAt})
		if err != nil {
			return err
		}
		if o.Status != MarkedPaid {
			messages = append(messages, fmt.Sprintf("invoice %s: %s", i.Number, o.Message))
		}
		if status == MarkedPaid || o.Status == NotReported {
			status = o.Status
		}
		if err := s.storeOutcome(ctx, claim, n, o); err != nil {
			return err
		}
	}
	return s.change(ctx, claim, func(tx *db.Tx, a *Application) {
		if a.Status == Voided {
			return // voiding has set what is left to do
		}
		if a.ProcessorStatus, a.ErrorMessage = status, strings.Join(messages, "; "); status == MarkedPaid {
			a.MarkedPaidAt = new(tx.Now())
		}
	}, func(ctx context.Context, tx *db.Tx) error { return endReport(ctx, tx, claim) })
}

// read returns the application of a report as it is now.
func (s *Service) read(ctx context.Context, claim *task.Claim) (a Application, err error) {
	err = s.db.Read(ctx, claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		a, err = selectOne(ctx, tx, claim.ID, "")
		return err
	})
	return a, err
}

// storeOutcome stores that the processor knows of an allocation, together with the invoice as the processor now states it.
func (s *Service) storeOutcome(ctx context.Context, claim *task.Claim, position int, o Outcome) error {
	return s.change(ctx, claim, func(tx *db.Tx, a *Application) {
		if o.Status != MarkedPaid {
			return
		}
		a.Allocations[position].ReportedAt = new(tx.Now())
		if a.Status == Voided { // meanwhile
			a.ProcessorStatus = ReversalRequired
		}
	}, func(ctx context.Context, tx *db.Tx) error {
		if o.Store == nil {
			return nil
		}
		return o.Store(ctx, tx)
	})
}

// change changes an application that is being reported, if the claim on it still holds, and then calls a function in the same transaction.
func (s *Service) change(ctx context.Context, claim *task.Claim, change func(tx *db.Tx, a *Application),
	then func(ctx context.Context, tx *db.Tx) error) error {
	return s.db.Write(ctx, claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := requireReport(ctx, tx, claim); err != nil {
			return err
		}
		before, err := selectOne(ctx, tx, claim.ID, "{for_update}")
		if err != nil {
			return err
		}
		after := before
		after.Allocations = append([]Allocation{}, before.Allocations...)
		if change(tx, &after); !sameReport(before, after) {
			if _, err := save(ctx, tx, "cash_application.updated", before, after); err != nil {
				return err
			}
		}
		return then(ctx, tx)
	})
}

// sameReport reports whether two versions of an application agree in what the processor knows.
func sameReport(a, b Application) bool {
	for n := range a.Allocations {
		if (a.Allocations[n].ReportedAt == nil) != (b.Allocations[n].ReportedAt == nil) {
			return false
		}
	}
	return a.ProcessorStatus == b.ProcessorStatus && a.ErrorMessage == b.ErrorMessage && (a.MarkedPaidAt == nil) == (b.MarkedPaidAt == nil)
}

// reported reports whether the processor knows of a payment of the application.
func (a Application) reported() bool {
	for _, l := range a.Allocations {
		if l.ReportedAt != nil {
			return true
		}
	}
	return false
}

// afterVoid returns the state at the processor of an application that is voided: Stripe cannot take a payment back.
func (a Application) afterVoid() string {
	switch {
	case a.isReturn(): // the payment stands again
		return NotApplicable
	case a.reported():
		return ReversalRequired
	case a.ProcessorStatus == ToBeReported:
		return NotApplicable
	}
	return a.ProcessorStatus
}

// keepsStatement reports whether voiding an application leaves an invoice as its processor states it, because the processor knows that it
// is paid: by the application, or by other money.
func (a Application) keepsStatement(l Allocation, i invoice.Invoice) bool {
	return i.Mirrored() && (l.ReportedAt != nil || a.ProcessorStatus == NotReported && i.Status == invoice.Paid)
}

// reportedAt returns when the processor was told that the application pays an invoice; nil if it was not.
func (a Application) reportedAt(invoiceID string) *time.Time {
	for _, l := range a.Allocations {
		if l.InvoiceID == invoiceID {
			return l.ReportedAt
		}
	}
	return nil
}
