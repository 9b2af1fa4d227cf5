package invoice

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/receivables/customer"
)

// MirrorParams describe an invoice that another system keeps, as that system states it.
type MirrorParams struct {
	Provider      string
	ExternalID    string
	Number        string
	Customer      customer.Reference
	CustomerName  string // of a customer that is not known yet
	CustomerEmail string
	LegalEntityID string // empty if it is not known
	TransactionID string
	Status        Status
	Currency      string
	Date, DueDate time.Time
	AmountDue     money.Decimal
	Memo          string
	Lines         []Line // without ledger accounts
}

// Mirror stores an invoice that another system keeps, or what has changed about it, and creates its customer if it is not known. It books
// nothing. It writes nothing if nothing changes.
func (s *Service) Mirror(ctx context.Context, p MirrorParams) (i Invoice, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := p.validate(); err != nil {
			return err
		}
		owner, err := customer.EnsureReferenced(ctx, tx, p.Customer, p.CustomerName, p.CustomerEmail)
		if err != nil {
			return err
		}
		before, err := findMirrored(ctx, tx, p.Provider, p.ExternalID)
		isNew := fault.KindOf(err) == fault.NotFound
		if err != nil && !isNew {
			return err
		}
		i = p.apply(before, owner)
		if err := s.settleApplied(ctx, tx, &i); err != nil {
			return err
		}
		if !isNew {
			if reflect.DeepEqual(before.facts(), i.facts()) {
				return nil
			}
			i, err = save(ctx, tx, "invoice.updated", before, i)
			return err
		}
		i.ID, i.CreatedAt = tx.NewID(id.Invoice), tx.Now()
		if err := insert(ctx, tx, i); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "invoice.created", ResourceType: noun, ResourceID: i.ID, After: i.facts()})
		return nil
	})
	return i, err
}

// MirrorDeleted makes the mirror of a draft of a legal entity void that its provider no longer has: only drafts can be deleted there. It
// changes nothing if there is none, so that whoever asks with the key of another account cannot void what that account does not have.
func (s *Service) MirrorDeleted(ctx context.Context, provider, externalID, legalEntityID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := findMirrored(ctx, tx, provider, externalID)
		if fault.KindOf(err) == fault.NotFound || err == nil && (before.Status != Draft || before.LegalEntityID != legalEntityID) {
			return nil
		}
		if err != nil {
			return err
		}
		after := before
		after.Status, after.AmountDue = Void, money.Decimal{}
		_, err = save(ctx, tx, "invoice.updated", before, after)
		return err
	})
}

// settleApplied takes what was applied here off what the provider of an invoice states as due, and does not know to be paid.
func (s *Service) settleApplied(ctx context.Context, tx *db.Tx, i *Invoice) error {
	if i.ID == "" || i.Status != Open || s.applied == nil {
		return nil
	}
	applied, err := s.applied(ctx, tx, i.ID)
	if err != nil || applied.IsZero() {
		return err
	}
	if i.AmountDue = i.AmountDue.Sub(applied); i.AmountDue.Sign() <= 0 {
		i.AmountDue, i.Status = money.Decimal{}, Paid
	}
	return nil
}

// apply returns an invoice with what its provider states.
func (p MirrorParams) apply(i Invoice, owner customer.Customer) Invoice {
	i.Provider, i.ExternalID, i.Number, i.CustomerID, i.CustomerName = p.Provider, p.ExternalID, p.Number, owner.ID, owner.Name
	i.LegalEntityID, i.TransactionID, i.Status, i.Currency = p.LegalEntityID, p.TransactionID, p.Status, p.Currency
	i.Date, i.DueDate, i.AmountDue, i.Memo = clock.Stamp(p.Date), clock.Stamp(p.DueDate), p.AmountDue, p.Memo
	i.Lines = slices.Clone(p.Lines)
	i.addUp()
	return i
}

// validate returns an error with what a mirrored invoice lacks.
func (p MirrorParams) validate() error {
	var faults fault.List
	for field, text := range map[string]string{"provider": p.Provider, "external_id": p.ExternalID, "invoice_number": p.Number} {
		if text == "" {
			faults.Addf(field, "is required")
		}
	}
	if p.Provider == Own {
		faults.Addf("provider", "must not be %s", Own)
	}
	if !slices.Contains(statuses, p.Status) {
		faults.Addf("status", "must be one of %s", fault.Choices(statuses))
	}
	if !money.IsFiat(p.Currency) {
		faults.Addf("currency", "must be an ISO 4217 currency such as USD")
	}
	var sums Invoice
	sums.Lines = p.Lines
	if sums.addUp(); p.AmountDue.Sign() < 0 || p.AmountDue.Cmp(sums.Total) > 0 {
		faults.Addf("amount_due", "must lie between 0 and the total of %s", sums.Total)
	}
	for n, l := range p.Lines {
		if l.AccountID != "" || l.TaxAccountID != "" {
			faults.Addf(fmt.Sprintf("lines[%d].ledger_account_id", n), "must be empty: the invoice books nothing here")
		}
	}
	return faults.Err()
}
