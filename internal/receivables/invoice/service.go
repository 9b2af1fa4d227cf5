package invoice

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
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
	"github.com/bursarhq/bursar/internal/receivables/customer"
)

// Service holds the use cases.
type Service struct {
	db       *db.DB
	journal  *journal.Service
	applied  Applied
	reserved Reserved
}

// Applied returns what payments that were applied here have settled of an invoice that another system keeps, and which that system does
// not know of. It is told by how much less remains to be paid there than before. It runs in the caller's transaction.
type Applied func(ctx context.Context, tx *db.Tx, invoiceID string, fell money.Decimal) (money.Decimal, error)

// Reserved returns the cash application that waits for a review and pays an invoice, or an empty text.
type Reserved func(ctx context.Context, tx *db.Tx, invoiceID string) (string, error)

// WithReserved sets how the service learns which invoices are reserved. It is called before the service is used.
func (s *Service) WithReserved(reserved Reserved) *Service {
	s.reserved = reserved
	return s
}

// requireFree returns an error of kind Conflict if an invoice is reserved.
func (s *Service) requireFree(ctx context.Context, tx *db.Tx, i Invoice) error {
	if s.reserved == nil {
		return nil
	}
	by, err := s.reserved(ctx, tx, i.ID)
	if err == nil && by != "" {
		err = fault.Conflictf("the cash application %s, which waits for its review, pays the invoice %s: confirm or void it first", by, i.Number)
	}
	return err
}

// WithApplied sets how the service learns what was applied to mirrored invoices. It is called before the service is used.
func (s *Service) WithApplied(applied Applied) *Service {
	s.applied = applied
	return s
}

// NewService returns a service on a database that posts through the journal.
func NewService(d *db.DB, entries *journal.Service) *Service {
	entries.Protect(journal.ByInvoice, explainEntry)
	entries.Protect(journal.ByCreditNote, explainCreditNoteEntry)
	return &Service{db: d, journal: entries}
}

// Filter narrows a list by every field that is not empty.
type Filter struct {
	Statuses       []Status
	CustomerID     string // the id of a customer, or its id at a provider
	LegalEntityIDs []string
	Currency       string
	Number         string
	From, To       string // bounds of the date of the invoice, both included: dates, or instants
	DueTo          string
}

// query is a filter whose references are resolved.
type query struct {
	statuses  []Status
	customers []string // nil: all
	entities  []string // nil: all
	currency  string
	number    string
	from, to  time.Time
	dueTo     time.Time
	amount    *Range
}

// parse returns the bounds of a filter, or an error with all of its faults.
func (f Filter) parse() (query, error) {
	var faults fault.List
	q := query{statuses: f.Statuses, entities: f.LegalEntityIDs, currency: f.Currency, number: f.Number,
		from:  page.ParseTimeBound(&faults, "invoice_date_from", f.From, false),
		to:    page.ParseTimeBound(&faults, "invoice_date_to", f.To, true),
		dueTo: page.ParseTimeBound(&faults, "due_date_to", f.DueTo, true)}
	for _, status := range f.Statuses {
		if !slices.Contains(statuses, status) {
			faults.Addf("status", "must be one of %s", fault.Choices(statuses))
		}
	}
	return q, faults.Err()
}

// List returns a page of invoices, the latest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Invoice], error) {
	q, err := f.parse()
	if err != nil {
		return page.Page[Invoice]{}, err
	}
	return s.list(ctx, "invoices", f, p, func(ctx context.Context, tx *db.Tx) (query, bool, error) {
		for _, legalEntityID := range f.LegalEntityIDs {
			if _, err := entity.Get(ctx, tx, legalEntityID); err != nil {
				return q, false, err
			}
		}
		if f.CustomerID != "" {
			if q.customers, err = customer.Resolve(ctx, tx, f.CustomerID); err != nil || len(q.customers) == 0 {
				return q, false, err
			}
		}
		return q, true, nil
	})
}

// list returns a page of the invoices that a query finds. resolve returns the query, or false if it finds nothing.
func (s *Service) list(ctx context.Context, scope string, filters any, p page.Request,
	resolve func(context.Context, *db.Tx) (query, bool, error)) (page.Page[Invoice], error) {
	who := actor.From(ctx)
	key := func(i Invoice) []string { return []string{clock.Format(i.Date), i.ID} }
	return page.List(scope, filters, p, key, func(after []string, limit int) (rows []Invoice, err error) {
		var below time.Time
		if after != nil {
			if below, err = time.Parse(time.RFC3339, after[0]); err != nil {
				return nil, page.ErrCursor()
			}
		}
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			q, possible, err := resolve(ctx, tx)
			if err != nil || !possible {
				return err
			}
			if q.entities == nil && who.Limited() {
				q.entities = who.LegalEntityIDs
			}
			rows, err = selectPage(ctx, tx, q, after, below, limit)
			return err
		})
		return rows, err
	})
}

// Get returns an invoice.
func (s *Service) Get(ctx context.Context, invoiceID string) (i Invoice, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		i, err = Find(ctx, tx, invoiceID)
		return err
	})
	return i, err
}

// Find returns an invoice that the actor may see. It runs in the caller's transaction.
func Find(ctx context.Context, tx *db.Tx, invoiceID string) (Invoice, error) {
	i, err := find(ctx, tx, invoiceID, "")
	if err == nil && !i.visible(actor.From(ctx)) {
		return Invoice{}, fault.Missing(noun)
	}
	return i, err
}

// findToChange is Find and locks the invoice until the end of the database transaction.
func findToChange(ctx context.Context, tx *db.Tx, invoiceID string) (Invoice, error) {
	i, err := find(ctx, tx, invoiceID, "{for_update}")
	if err == nil && !i.visible(actor.From(ctx)) {
		return Invoice{}, fault.Missing(noun)
	}
	return i, err
}

// Create creates an invoice as a draft, or opens it at once.
func (s *Service) Create(ctx context.Context, p Params, status Status) (i Invoice, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		if status != Draft && status != Open {
			return fault.Invalidf("status", "must be draft or open")
		}
		if i, err = resolve(ctx, tx, b, p, Invoice{}); err != nil {
			return err
		}
		i.ID, i.Provider, i.Status, i.CreatedAt = tx.NewID(id.Invoice), Own, status, tx.Now()
		if status == Open {
			if i.EntryID, err = s.bookOpening(ctx, tx, b, i); err != nil {
				return err
			}
		}
		if err := insert(ctx, tx, i); err != nil {
			return err
		}
		action := "invoice.created"
		if status == Open {
			action = "invoice.opened"
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: i.ID, After: i.facts(), State: i.state(),
			Object: i})
		return nil
	})
	return i, err
}

// change runs a use case on an invoice of the organization itself while it holds the lock on the organization state, and stores what it
// returns if that differs.
func (s *Service) change(ctx context.Context, invoiceID, action string,
	do func(ctx context.Context, tx *db.Tx, b *snapshot.Books, i Invoice) (Invoice, error)) (after Invoice, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		before, err := findToChange(ctx, tx, invoiceID)
		if err != nil {
			return err
		}
		if before.Mirrored() {
			return fault.Conflictf("the invoice %s is kept by %s: change it there", before.Number, before.Provider)
		}
		if after, err = do(ctx, tx, b, before); err != nil || reflect.DeepEqual(before.facts(), after.facts()) {
			return err
		}
		after, err = save(ctx, tx, action, before, after)
		return err
	})
	return after, err
}

// save stores a changed invoice and records the change.
func save(ctx context.Context, tx *db.Tx, action string, before, after Invoice) (Invoice, error) {
	now := tx.Now()
	after.UpdatedAt = &now
	if err := update(ctx, tx, after, !reflect.DeepEqual(before.Lines, after.Lines)); err != nil {
		return after, err
	}
	record(ctx, tx, action, before, after)
	return after, nil
}

// record records a change.
func record(ctx context.Context, tx *db.Tx, action string, before, after Invoice) {
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: after.ID, Before: before.facts(),
		After: after.facts(), State: after.state(), Object: after})
}

// Update edits an invoice. Once it is open, only its due date and memo can change, and once it is void, only its number. It writes nothing
// if nothing changes.
func (s *Service) Update(ctx context.Context, invoiceID string, u UpdateParams) (Invoice, error) {
	return s.change(ctx, invoiceID, "invoice.updated", func(ctx context.Context, tx *db.Tx, b *snapshot.Books, i Invoice) (Invoice, error) {
		if i.Status == Draft {
			return resolve(ctx, tx, b, u.apply(i.params()), i)
		}
		if fields := u.fixed(i.Status); len(fields) > 0 {
			return i, fault.ConflictAt(fields, "the invoice %s is %s: only its due_date and memo can change. Void it and create another one",
				i.Number, i.Status)
		}
		if i.Status == Void {
			return renumber(ctx, tx, i, u)
		}
		r := &resolver{tx: tx, books: b}
		if u.Memo != nil {
			i.Memo = *u.Memo
			r.length("memo", i.Memo, 0, memoMax)
		}
		if u.DueDate != nil {
			due, valid := r.date("due_date", *u.DueDate, dueYearsAhead)
			if i.DueDate = due; valid && due.Before(i.Date) {
				r.faults.Addf("due_date", "must not be before invoice_date")
			}
		}
		return i, r.faults.Err()
	})
}

// renumber gives a void invoice another number, so that its own is free for the invoice that replaces it. Numbers that were chosen here are
// not used again.
func renumber(ctx context.Context, tx *db.Tx, i Invoice, u UpdateParams) (Invoice, error) {
	if u.DueDate != nil || u.Memo != nil || u.Number == nil {
		return i, fault.Conflictf("the invoice %s is void: only its number can change", i.Number)
	}
	if i.sequence > 0 {
		return i, fault.Conflictf("the invoice %s is void, and its number was chosen by Bursar: such a number is not used again", i.Number)
	}
	r, before := &resolver{tx: tx}, i
	if i.Number = strings.TrimSpace(*u.Number); i.Number == "" {
		r.faults.Addf("invoice_number", "must not be empty")
		return i, r.faults.Err()
	}
	r.length("invoice_number", i.Number, 0, numberMax)
	if err := r.number(ctx, &i, before, invoiceSeries); err != nil {
		return i, err
	}
	return i, r.faults.Err()
}
