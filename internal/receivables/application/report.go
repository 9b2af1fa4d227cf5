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

	// What is known of an earlier try whose outcome is unknown.
	AttemptedAt *time.Time // nil if there was none
	Reference   string     // what Attempt has stored last
	Undone      bool       // the payment does not stand any more: find out only whether the processor has it

	// Attempt stores that the processor may know of the payment from now on, and by which reference. It is called before the processor is
	// asked to take the payment, which must not happen if it returns an error.
	Attempt func(ctx context.Context, reference string) error
}

// Key identifies a payment, so that the processor takes it once, however often it is told.
func (p Payment) Key() string { return p.ApplicationID + "-" + p.ExternalID }

// Outcome is what a processor has done with a payment.
type Outcome struct {
	Status  string                                           // MarkedPaid, NotReported or NotApplicable
	Message string                                           // why it is not MarkedPaid
	Unknown bool                                             // it is not known whether the processor took an earlier try
	Store   func(ctx context.Context, tx *db.Tx) (err error) // stores the invoice as the processor now states it; nil if it is unknown
}

// Processor tells a processor of a payment. Its error is one that may pass.
type Processor func(ctx context.Context, p Payment) (Outcome, error)

// errChanged means that a payment was undone, in part or as a whole, before the processor was told of it.
var errChanged = errors.New("the payment was undone meanwhile")

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
	status, messages := MarkedPaid, []string{}
	for n := 0; ; n++ {
		p, err := s.read(ctx, claim, n)
		if err != nil {
			return err
		}
		if p == nil {
			break
		}
		o, err := s.tell(ctx, claim, p)
		if errors.Is(err, errChanged) {
			n-- // as it is now
			continue
		}
		if err != nil {
			return err
		}
		if o.Message != "" {
			messages = append(messages, fmt.Sprintf("invoice %s: %s", p.invoice.Number, o.Message))
		}
		if status == MarkedPaid || o.Status == NotReported {
			status = o.Status
		}
	}
	return s.change(ctx, claim, func(tx *db.Tx, a *Application) error {
		if a.Status == Voided {
			a.ProcessorStatus = a.afterVoid() // it may be known only now
			return nil
		}
		if a.ProcessorStatus, a.ErrorMessage = status, strings.Join(messages, "; "); status == MarkedPaid {
			a.MarkedPaidAt = new(tx.Now())
		}
		return nil
	}, func(ctx context.Context, tx *db.Tx, _ Application) error { return endReport(ctx, tx, claim) })
}

// part is an allocation that is reported, as it is now.
type part struct {
	Allocation
	of       Application
	position int
	invoice  invoice.Invoice
	stands   money.Decimal // what of it was not undone
}

// read returns an allocation of an application, nil if it has fewer.
func (s *Service) read(ctx context.Context, claim *task.Claim, position int) (p *part, err error) {
	err = s.db.Read(ctx, claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		a, err := selectOne(ctx, tx, claim.ID, "")
		if err != nil || position >= len(a.Allocations) {
			return err
		}
		l := a.Allocations[position]
		stands, err := standing(ctx, tx, a, l.InvoiceID)
		if err != nil {
			return err
		}
		invoices, err := invoice.FindSomeUnchecked(ctx, tx, []string{l.InvoiceID})
		p = &part{Allocation: l, of: a, position: position, invoice: invoices[l.InvoiceID], stands: stands}
		return err
	})
	return p, err
}

// standing returns what a confirmed application pays of an invoice and did not go back.
func standing(ctx context.Context, tx *db.Tx, a Application, invoiceID string) (money.Decimal, error) {
	if a.Status != Confirmed {
		return money.Decimal{}, nil
	}
	returns, err := selectReturns(ctx, tx, a.ID)
	return returnable(a, returns, invoiceID), err
}

// tell tells the processor of an allocation, unless it knows of it, and stores the outcome. If a try with an unknown outcome was undone
// since, in part or as a whole, it only finds out whether the processor has it.
func (s *Service) tell(ctx context.Context, claim *task.Claim, p *part) (o Outcome, err error) {
	pay := Payment{ApplicationID: p.of.ID, ExternalID: p.invoice.ExternalID, LegalEntityID: p.invoice.LegalEntityID, Currency: p.of.Currency,
		Amount: p.stands, PaidAt: p.of.DepositAt, AttemptedAt: p.AttemptedAt, Reference: p.Reference}
	switch {
	case p.invoice.Provider != stripe || p.ReportedAt != nil:
		return Outcome{Status: MarkedPaid}, nil
	case p.AttemptedAt != nil && !p.Attempted.Equal(p.stands):
		pay.Undone, pay.Amount = true, p.Attempted
	case p.stands.IsZero():
		return Outcome{Status: NotApplicable, Message: "the payment went back before Stripe was told of it"}, nil
	}
	pay.Attempt = func(ctx context.Context, reference string) error { return s.storeAttempt(ctx, claim, p, reference) }
	if o, err = s.processor(ctx, pay); err != nil {
		return o, err
	}
	if pay.Undone && o.Status == NotApplicable && !p.stands.IsZero() {
		o.Status, o.Message = NotReported, "a part of the payment went back while Stripe was told of it: record the rest there"
	}
	return o, s.storeOutcome(ctx, claim, p, o)
}

// storeAttempt stores that the processor may know of an allocation from now on, if it stands as it was when it was read.
func (s *Service) storeAttempt(ctx context.Context, claim *task.Claim, p *part, reference string) error {
	return s.change(ctx, claim, func(tx *db.Tx, a *Application) error {
		stands, err := standing(ctx, tx, *a, p.InvoiceID)
		if err != nil {
			return err
		}
		if !stands.Equal(p.stands) {
			return errChanged
		}
		l := &a.Allocations[p.position]
		if l.Attempted, l.Reference = p.stands, reference; l.AttemptedAt == nil {
			l.AttemptedAt = new(tx.Now())
		}
		return nil
	}, func(context.Context, *db.Tx, Application) error { return nil })
}

// storeOutcome stores whether the processor knows of an allocation, together with the invoice as the processor now states it, and what is
// left to do about payments that went back meanwhile.
func (s *Service) storeOutcome(ctx context.Context, claim *task.Claim, p *part, o Outcome) error {
	if o.Status != MarkedPaid && o.Unknown && o.Store == nil {
		return nil
	}
	return s.change(ctx, claim, func(tx *db.Tx, a *Application) error {
		l := &a.Allocations[p.position]
		if l.conclude(tx.Now(), o); a.Status == Voided { // meanwhile
			a.ProcessorStatus = a.afterVoid()
		}
		return nil
	}, func(ctx context.Context, tx *db.Tx, a Application) error {
		if err := concludeReturns(ctx, tx, a, p.InvoiceID, o); err != nil || o.Store == nil {
			return err
		}
		return o.Store(ctx, tx)
	})
}

// conclude sets what an outcome says about an allocation.
func (l *Allocation) conclude(now time.Time, o Outcome) {
	switch {
	case o.Status == MarkedPaid:
		l.ReportedAt = &now
	case !o.Unknown:
		l.AttemptedAt, l.Attempted = nil, money.Decimal{}
	}
}

// concludeReturns stores the outcome of a report with the payments that went back while it was unknown: if the processor knows of the
// payment, it must be reversed there.
func concludeReturns(ctx context.Context, tx *db.Tx, a Application, invoiceID string, o Outcome) error {
	returns, err := selectReturns(ctx, tx, a.ID)
	if err != nil {
		return err
	}
	for _, before := range returns {
		after := before.clone()
		for n, l := range after.Allocations {
			if l.InvoiceID == invoiceID && l.uncertain() {
				after.Allocations[n].conclude(tx.Now(), o)
			}
		}
		if sameReport(before, after) {
			continue
		}
		if after.ProcessorStatus = NotApplicable; after.reported() || after.uncertain() {
			after.ProcessorStatus = ReversalRequired
		}
		if _, err := save(ctx, tx, "cash_application.updated", before, after); err != nil {
			return err
		}
	}
	return nil
}

// change changes an application that is being reported, if the claim on it still holds, and then calls a function in the same transaction.
func (s *Service) change(ctx context.Context, claim *task.Claim, change func(tx *db.Tx, a *Application) error,
	then func(ctx context.Context, tx *db.Tx, a Application) error) error {
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
		after := before.clone()
		if err := change(tx, &after); err != nil {
			return err
		}
		if !sameReport(before, after) {
			if after, err = save(ctx, tx, "cash_application.updated", before, after); err != nil {
				return err
			}
		}
		return then(ctx, tx, after)
	})
}
