package application

import (
	"context"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Service holds the use cases.
type Service struct {
	db       *db.DB
	journal  *journal.Service
	bookings *booking.Service
	rules    Rules
	unpost   Unpost

	processor Processor
}

// Unpost removes an entry from the ledger provider that it was sent to, if there is one. Its error does not prevent that an application is
// voided: it is reported with the application. It runs in the caller's transaction.
type Unpost func(ctx context.Context, tx *db.Tx, entryID string) error

// NewService returns a service on a database that books through the journal and follows the rules of the organization.
func NewService(d *db.DB, entries *journal.Service, bookings *booking.Service, rules Rules) *Service {
	entries.Protect(journal.ByCashApplication, explainEntry)
	return &Service{db: d, journal: entries, bookings: bookings, rules: rules}
}

// WithUnpost sets how entries are removed from the ledger provider. It is called before the service is used.
func (s *Service) WithUnpost(unpost Unpost) *Service {
	s.unpost = unpost
	return s
}

// Filter narrows a list by every field that is not empty.
type Filter struct {
	Statuses       []Status
	DepositID      string
	InvoiceID      string
	CustomerID     string
	LegalEntityIDs []string
	Available      bool // only those with an unapplied rest that is available
}

// List returns a page of applications, the latest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Application], error) {
	who := actor.From(ctx)
	key := func(a Application) string { return a.ID }
	return page.ListByKey("cash-applications", f, p, "~", key, func(below string, limit int) (rows []Application, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			entities, err := entity.Selected(ctx, tx, f.LegalEntityIDs)
			if err != nil {
				return err
			}
			if err := f.requireRecords(ctx, tx); err != nil {
				return err
			}
			rows, err = selectPage(ctx, tx, f, entities, below, limit)
			return err
		})
		return rows, err
	})
}

// requireRecords returns an error of kind NotFound if the deposit or the invoice of a filter does not exist.
func (f Filter) requireRecords(ctx context.Context, tx *db.Tx) error {
	if f.DepositID != "" {
		if _, err := transaction.Find(ctx, tx, f.DepositID); err != nil {
			return err
		}
	}
	if f.InvoiceID == "" {
		return nil
	}
	_, err := invoice.Find(ctx, tx, f.InvoiceID)
	return err
}

// Get returns an application.
func (s *Service) Get(ctx context.Context, applicationID string) (a Application, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		a, err = find(ctx, tx, applicationID, "")
		return err
	})
	return a, err
}

// find returns an application that the actor may see.
func find(ctx context.Context, tx *db.Tx, applicationID, lock string) (Application, error) {
	a, err := selectOne(ctx, tx, applicationID, lock)
	if err == nil && !actor.From(ctx).Sees(a.LegalEntityID) {
		return Application{}, fault.Missing(noun)
	}
	return a, err
}

// Apply applies a deposit, or what an earlier application left of it, to invoices. If a rule demands a review, it only reserves them.
func (s *Service) Apply(ctx context.Context, p Params) (a Application, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		made, err := resolve(ctx, tx, b, p, nil)
		if err != nil {
			return err
		}
		rules, err := s.sortedRules(ctx, tx)
		if err != nil {
			return err
		}
		if made.MatchType, err = matchTypeOf(ctx, tx, made); err != nil {
			return err
		}
		made.ID, made.AppliedBy, made.CreatedAt, made.revision = tx.NewID(id.CashApplication), actor.From(ctx).UserID, tx.Now(), 1
		made.ProcessorStatus = processorStatusOf(made.invoices)
		action := "cash_application.applied"
		if made.ReviewReason = reviewOf(rules, made.Allocations, made.invoices); made.ReviewReason != "" {
			made.Status, made.Available, action = Pending, money.Decimal{}, "cash_application.pending"
		} else if err := s.book(ctx, tx, b, made, rules); err != nil {
			return err
		}
		if made.SourceID != "" {
			if err := useRest(ctx, tx, made.SourceID, made.Total); err != nil {
				return err
			}
		}
		a = made.Application
		if err := insert(ctx, tx, a); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: resourceType, ResourceID: a.ID, After: a.facts(), Object: a})
		return nil
	})
	return a, err
}

// sortedRules returns the rules, those that precede others first.
func (s *Service) sortedRules(ctx context.Context, tx *db.Tx) ([]Rule, error) {
	if s.rules == nil {
		return nil, nil
	}
	rules, err := s.rules(ctx, tx)
	slices.SortStableFunc(rules, precedes)
	return rules, err
}

// processorStatusOf returns the state of a payment of invoices at their processor.
func processorStatusOf(invoices map[string]invoice.Invoice) string {
	for _, i := range invoices {
		if i.Provider == stripe {
			return ToBeReported
		}
	}
	return NotApplicable
}

// book settles the invoices of an application and posts its entry.
func (s *Service) book(ctx context.Context, tx *db.Tx, b *snapshot.Books, p *proposal, rules []Rule) error {
	for _, l := range byInvoice(p.Allocations) {
		if _, err := invoice.Settle(unlimited(ctx), tx, l.InvoiceID, l.Amount); err != nil {
			return err
		}
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
	p.Status = Applied
	if p.source == nil {
		made, err := s.bookings.BookPayment(ctx, tx, booking.Payment{TransactionID: p.DepositID, Type: posting.Invoice, Parts: parts,
			Memo: memo})
		if err != nil {
			return err
		}
		p.EntryID = made.ID
		return p.recordMovements(ctx, tx)
	}
	parts = append(parts, booking.Part{LedgerAccountID: in.unapplied, Amount: p.Total.Neg()})
	if p.EntryID, err = s.bookRest(ctx, tx, b, p, parts, memo); err != nil {
		return err
	}
	return p.recordMovements(ctx, tx)
}

// recordMovements records what the entry takes off the invoices that are booked here, or adds to them if the payment went back.
func (p *proposal) recordMovements(ctx context.Context, tx *db.Tx) error {
	for _, l := range p.Allocations {
		if p.invoices[l.InvoiceID].Mirrored() {
			continue
		}
		due := l.Amount.Neg()
		if p.returns != "" {
			due = l.Amount
		}
		if err := invoice.RecordMovement(ctx, tx, l.InvoiceID, p.EntryID, due); err != nil {
			return err
		}
	}
	return nil
}

// byInvoice returns allocations in the order of the ids of invoices, in which these are locked.
func byInvoice(all []Allocation) []Allocation {
	return slices.SortedFunc(slices.Values(all), func(a, b Allocation) int { return strings.Compare(a.InvoiceID, b.InvoiceID) })
}

// describe returns the memo of an entry.
func (p *proposal) describe() string {
	text := "Payment " + p.deposit.SequenceNumber()
	if p.returns != "" {
		text = "Return " + p.deposit.SequenceNumber()
	}
	if len(p.Allocations) > 0 {
		text += " of " + p.Allocations[0].CustomerName
	}
	return text
}

// useRest takes an amount off what is available of an application, or adds a negative one back.
func useRest(ctx context.Context, tx *db.Tx, applicationID string, amount money.Decimal) error {
	before, err := selectOne(ctx, tx, applicationID, "{for_update}")
	if err != nil {
		return err
	}
	after := before
	if after.Available = before.Available.Sub(amount); after.Available.Sign() < 0 {
		return fault.Conflictf("%s of the cash application %s is available, which is less than %s", before.Available.Fixed(before.Currency),
			before.ID, amount.Fixed(before.Currency))
	}
	_, err = save(ctx, tx, "cash_application.updated", before, after)
	return err
}

// save stores a changed application and records the change.
func save(ctx context.Context, tx *db.Tx, action string, before, after Application) (Application, error) {
	now := tx.Now()
	after.UpdatedAt, after.revision = &now, before.revision+1
	if err := update(ctx, tx, after); err != nil {
		return after, err
	}
	if err := updateReported(ctx, tx, before, after); err != nil {
		return after, err
	}
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: resourceType, ResourceID: after.ID, Before: before.facts(),
		After: after.facts(), Object: after})
	return after, nil
}

// Confirm confirms an application. One that waits for a review is applied. An etag must be that of the application, or empty.
func (s *Service) Confirm(ctx context.Context, applicationID, etag string) (a Application, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		before, err := find(ctx, tx, applicationID, "{for_update}")
		if err != nil {
			return err
		}
		if err := before.requireVersion(etag); err != nil {
			return err
		}
		a = before
		switch before.Status {
		case Applied:
		case Pending:
			if a, err = s.applyPending(ctx, tx, b, before); err != nil {
				return err
			}
		default:
			return fault.Conflictf("the cash application %s is %s and cannot be confirmed", before.ID, before.Status)
		}
		a.Status, a.ConfirmedBy, a.ConfirmedAt = Confirmed, actor.From(ctx).UserID, new(tx.Now())
		if a, err = save(ctx, tx, EventConfirmed, before, a); err != nil || a.ProcessorStatus != ToBeReported || s.processor == nil {
			return err
		}
		return insertReport(ctx, tx, a.ID)
	})
	return a, err
}

// applyPending books an application that waited for its review, if that is still possible.
func (s *Service) applyPending(ctx context.Context, tx *db.Tx, b *snapshot.Books, before Application) (Application, error) {
	p := Params{DepositID: before.DepositID, Memo: before.Memo}
	for _, l := range before.Allocations {
		p.Allocations = append(p.Allocations, AllocationParams{TargetID: l.InvoiceID, Amount: l.Amount.String()})
	}
	made, err := resolve(ctx, tx, b, p, &before)
	if err != nil {
		if fault.Refused(err) {
			return before, fault.Conflictf("the cash application %s cannot be applied any more, void it: %v", before.ID, err)
		}
		return before, err
	}
	rules, err := s.sortedRules(ctx, tx)
	if err != nil {
		return before, err
	}
	if err := s.book(ctx, tx, b, made, rules); err != nil {
		return before, err
	}
	after := before
	after.EntryID, after.Total, after.Unapplied, after.Available, after.WrittenOff = made.EntryID, made.Total, made.Unapplied, made.Available,
		made.WrittenOff
	after.Allocations = slices.Clone(before.Allocations)
	for n := range after.Allocations {
		after.Allocations[n].Credits = made.Allocations[n].Credits
	}
	return after, updateCredits(ctx, tx, after)
}

// ReservedBy returns the application that waits for a review and pays an invoice, or an empty text. It runs in the caller's transaction.
func ReservedBy(ctx context.Context, tx *db.Tx, invoiceID string) (string, error) {
	reserved, err := selectReservations(ctx, tx)
	return reserved[invoiceID], err
}

// depositsOf returns the transactions of applications by their ids.
func depositsOf(ctx context.Context, tx *db.Tx, all []Application) (map[string]transaction.Transaction, error) {
	ids := make([]string, len(all))
	for n, a := range all {
		ids[n] = a.DepositID
	}
	slices.Sort(ids)
	found, err := transaction.FindSomeUnchecked(ctx, tx, slices.Compact(ids))
	out := make(map[string]transaction.Transaction, len(found))
	for _, t := range found {
		out[t.ID] = t
	}
	return out, err
}
