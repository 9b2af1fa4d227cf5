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
	Lines         []Line    // without ledger accounts
	ReadAt        time.Time // when the other system was asked for it, or has answered a change of it; zero: now
	Answered      bool      // it is the answer to a report of a payment
}

// Mirror stores an invoice that another system keeps, or what has changed about it, and creates its customer if it is not known. It books
// nothing. It writes nothing if nothing changes. An invoice that was read before the one that is stored changes nothing either: it may be
// older than a payment that was reported meanwhile.
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
		if i = before; isNew || !p.readAt(tx).Before(before.Stated.At) {
			i = p.apply(before, owner)
			i.Stated.At = p.readAt(tx)
		}
		if i, err = s.settleApplied(ctx, tx, before, i, p.Answered); err != nil {
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
		audit.Record(ctx, tx, audit.Change{Action: "invoice.created", ResourceType: noun, ResourceID: i.ID, After: i.facts(), Object: i})
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
		after.Status, after.AmountDue, after.Stated = Void, money.Decimal{}, Stated{Status: Void, At: clock.Stamp(tx.Now())}
		_, err = save(ctx, tx, "invoice.updated", before, after)
		return err
	})
}

// readAt returns when the provider was asked.
func (p MirrorParams) readAt(tx *db.Tx) time.Time {
	if p.ReadAt.IsZero() {
		return clock.Stamp(tx.Now())
	}
	return clock.Stamp(p.ReadAt)
}

// settleApplied returns a mirrored invoice less what was applied here and its provider does not know of. If less remains at the provider
// than before, and not because it was told of a payment, then a person may have recorded there what was applied here.
func (s *Service) settleApplied(ctx context.Context, tx *db.Tx, before, after Invoice, answered bool) (Invoice, error) {
	var fell money.Decimal
	if less := before.Stated.AmountDue.Sub(after.Stated.AmountDue); !answered && less.Sign() > 0 {
		fell = less
	}
	if before.ID == "" || s.applied == nil || after.Stated.Status != Open && fell.IsZero() {
		return after.settled(money.Decimal{}), nil
	}
	unknown, err := s.applied(ctx, tx, before.ID, fell)
	return after.settled(unknown), err
}

// settled returns a mirrored invoice as it is: as its provider states it, less what was applied here and the provider does not know of.
func (i Invoice) settled(unknown money.Decimal) Invoice {
	i.Status, i.AmountDue = i.Stated.Status, i.Stated.AmountDue
	if i.Status != Open || unknown.Sign() <= 0 {
		return i
	}
	if i.AmountDue = i.AmountDue.Sub(unknown); i.AmountDue.Sign() <= 0 {
		i.Status, i.AmountDue = Paid, money.Decimal{}
	}
	return i
}

// Restate computes the status of a mirrored invoice, and what is due on it, after something was applied to it or released: unknown is what
// is applied and its provider does not know of. It runs in the caller's transaction.
func Restate(ctx context.Context, tx *db.Tx, invoiceID string, unknown money.Decimal) error {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return err
	}
	before, err := find(ctx, tx, invoiceID, "{for_update}")
	if err != nil {
		return err
	}
	after := before.settled(unknown)
	if after.Status == before.Status && after.AmountDue.Equal(before.AmountDue) {
		return nil
	}
	_, err = saveDue(ctx, tx, before, after)
	return err
}

// VerifyMirrored returns a sentence for each mirrored invoice that is not as its provider states it, less what was applied here and the
// provider does not know of, which is given by invoice. It runs in the caller's transaction.
func VerifyMirrored(ctx context.Context, tx *db.Tx, unknown map[string]money.Decimal) (out []string, err error) {
	err = forEachMirrored(ctx, tx, func(i Invoice) {
		if want := i.settled(unknown[i.ID]); want.Status != i.Status || !want.AmountDue.Equal(i.AmountDue) {
			out = append(out, fmt.Sprintf("invoice %s: it is %s with %s due, but %s states %s with %s, and does not know of %s: it must be %s "+
				"with %s", i.ID, i.Status, i.AmountDue, i.Provider, i.Stated.Status, i.Stated.AmountDue, unknown[i.ID], want.Status, want.AmountDue))
		}
	})
	return out, err
}

// apply returns an invoice with what its provider states. What is due on it is then up to settled.
func (p MirrorParams) apply(i Invoice, owner customer.Customer) Invoice {
	i.Provider, i.ExternalID, i.Number, i.CustomerID, i.CustomerName = p.Provider, p.ExternalID, p.Number, owner.ID, owner.Name
	i.LegalEntityID, i.TransactionID, i.Currency = p.LegalEntityID, p.TransactionID, p.Currency
	i.Stated = Stated{Status: p.Status, AmountDue: p.AmountDue}
	i.Date, i.DueDate, i.Memo = clock.Stamp(p.Date), clock.Stamp(p.DueDate), p.Memo
	i.Lines = slices.Clone(p.Lines)
	i.addUp()
	return i
}

// What a mirrored invoice may state: more is a fault of the system that keeps it.
const mirroredYearMax = 2200

var mirroredAmountMax = money.FromInt(1_000_000_000_000_000)

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
	for field, date := range map[string]time.Time{"invoice_date": p.Date, "due_date": p.DueDate} {
		if date.Year() < yearMin || date.Year() > mirroredYearMax {
			faults.Addf(field, "must lie between %d and %d", yearMin, mirroredYearMax)
		}
	}
	var sums Invoice
	sums.Lines = p.Lines
	if sums.addUp(); p.AmountDue.Sign() < 0 || p.AmountDue.Cmp(sums.Total) > 0 {
		faults.Addf("amount_due", "must lie between 0 and the total of %s", sums.Total)
	}
	for n, l := range p.Lines {
		if l.Amount.Abs().Cmp(mirroredAmountMax) >= 0 || l.TaxAmount.Abs().Cmp(mirroredAmountMax) >= 0 {
			faults.Addf(fmt.Sprintf("lines[%d].amount", n), "must be less than %s", mirroredAmountMax)
		}
		if l.AccountID != "" || l.TaxAccountID != "" {
			faults.Addf(fmt.Sprintf("lines[%d].ledger_account_id", n), "must be empty: the invoice books nothing here")
		}
	}
	return faults.Err()
}
