package invoice

import (
	"cmp"
	"context"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/receivables/customer"
)

// creditNoun names a credit note in messages, and creditType in the audit log.
const (
	creditNoun = "credit note"
	creditType = "credit_note"
)

// Issued is the state of a credit note that is not void.
const Issued Status = "issued"

// CreditNote is what a customer was credited, of an invoice or in general. It has the fields of an invoice; a due date it has none.
type CreditNote struct {
	Invoice
	InvoiceID string        // the invoice whose amount due it reduces; empty if it credits the customer
	Remaining money.Decimal // what is left of the credit of a customer
}

// creditFacts describe a credit note in the audit log and in events.
type creditFacts struct {
	Remaining     string      `json:"amount_remaining"`
	Date          string      `json:"credit_note_date"`
	Number        string      `json:"credit_note_number"`
	Currency      string      `json:"currency"`
	CustomerID    string      `json:"customer_id"`
	ID            string      `json:"id"`
	InvoiceID     *string     `json:"invoice_id"`
	EntryID       *string     `json:"journal_entry_id"`
	LegalEntityID *string     `json:"legal_entity_id"`
	Lines         []lineFacts `json:"lines"`
	Memo          *string     `json:"memo"`
	Status        Status      `json:"status"`
	Subtotal      string      `json:"subtotal"`
	Tax           string      `json:"tax"`
	Total         string      `json:"total"`
	VoidReason    *string     `json:"void_reason"`
}

func (c CreditNote) facts() creditFacts {
	return creditFacts{ID: c.ID, Number: c.Number, Date: clock.Format(c.Date), CustomerID: c.CustomerID,
		LegalEntityID: db.OrNull(c.LegalEntityID), InvoiceID: db.OrNull(c.InvoiceID), Status: c.Status, Currency: c.Currency,
		Subtotal: c.Subtotal.Fixed(c.Currency), Tax: c.Tax.Fixed(c.Currency), Total: c.Total.Fixed(c.Currency),
		Remaining: c.Remaining.Fixed(c.Currency), Memo: db.OrNull(c.Memo), VoidReason: db.OrNull(c.VoidReason), EntryID: db.OrNull(c.EntryID),
		Lines: c.lineFacts()}
}

// Guide returns the guidance of a credit note.
func (c CreditNote) Guide() Guidance {
	g := Guidance{Allowed: []string{}, Warnings: []string{}, Version: clock.Format(c.CreatedAt)}
	if c.UpdatedAt != nil {
		g.Version = clock.Format(*c.UpdatedAt)
	}
	if c.Status == Void {
		g.Warnings = append(g.Warnings, "the credit note is void, which is final")
	} else {
		g.Allowed = append(g.Allowed, "void")
	}
	return g
}

// CreditNoteParams describe a credit note, of an invoice of the customer or of none.
type CreditNoteParams struct {
	InvoiceID string
	Params    // Number and Date are those of the credit note; without DueDate and TermsDays
}

// CreditNoteFilter narrows a list by every field that is not empty.
type CreditNoteFilter struct {
	InvoiceID      string
	CustomerID     string // the id of a customer, or its id at a provider
	LegalEntityIDs []string
	Status         Status
}

// CreditNotes returns a page of credit notes, the latest first.
func (s *Service) CreditNotes(ctx context.Context, f CreditNoteFilter, p page.Request) (page.Page[CreditNote], error) {
	who := actor.From(ctx)
	key := func(c CreditNote) []string { return []string{clock.Format(c.Date), c.ID} }
	return page.List("credit-notes", f, p, key, func(after []string, limit int) (rows []CreditNote, err error) {
		var below time.Time
		if after != nil {
			if below, err = time.Parse(time.RFC3339, after[0]); err != nil {
				return nil, page.ErrCursor()
			}
		}
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			var q query
			if q.entities, err = entity.Selected(ctx, tx, f.LegalEntityIDs); err != nil {
				return err
			}
			if f.InvoiceID != "" {
				if _, err := Find(ctx, tx, f.InvoiceID); err != nil {
					return err
				}
			}
			if f.CustomerID != "" {
				if q.customers, err = customer.Resolve(ctx, tx, f.CustomerID); err != nil || len(q.customers) == 0 {
					return err
				}
			}
			rows, err = selectCreditNotes(ctx, tx, f, q, after, below, limit)
			return err
		})
		return rows, err
	})
}

// CreditNote returns a credit note.
func (s *Service) CreditNote(ctx context.Context, creditNoteID string) (c CreditNote, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		c, err = findCreditNote(ctx, tx, creditNoteID, "")
		return err
	})
	return c, err
}

// Credit issues a credit note and books it: the accounts of its lines and taxes are debited, and the control account is credited. It
// reduces what is due on its invoice.
func (s *Service) Credit(ctx context.Context, p CreditNoteParams) (c CreditNote, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		if c, err = resolveCreditNote(ctx, tx, b, p); err != nil {
			return err
		}
		if c.EntryID, err = s.bookCreditNote(ctx, tx, b, c); err != nil {
			return err
		}
		if c.InvoiceID != "" {
			of, err := Settle(ctx, tx, c.InvoiceID, c.Total)
			if err != nil {
				return err
			}
			if err := s.requireFree(ctx, tx, of); err != nil {
				return err
			}
		}
		c.ID, c.Status, c.CreatedAt = tx.NewID(id.CreditNote), Issued, tx.Now()
		if err := insertCreditNote(ctx, tx, c); err != nil {
			return err
		}
		if err := RecordMovement(ctx, tx, cmp.Or(c.InvoiceID, c.ID), c.EntryID, c.Total.Neg()); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "credit_note.created", ResourceType: creditType, ResourceID: c.ID, After: c.facts(),
			Object: c})
		return nil
	})
	return c, err
}

// resolveCreditNote returns a credit note as it is stored, or an error with every fault of it.
func resolveCreditNote(ctx context.Context, tx *db.Tx, b *snapshot.Books, p CreditNoteParams) (CreditNote, error) {
	r := &resolver{tx: tx, books: b}
	var of Invoice
	if p.InvoiceID != "" {
		found, err := Find(ctx, tx, p.InvoiceID)
		if failed := r.faults.MergeMissing(err, "invoice_id"); failed != nil {
			return CreditNote{}, failed
		}
		if of = found; p.Currency == "" {
			p.Currency = of.Currency
		}
	}
	i, err := r.document(ctx, p.Params, Invoice{CustomerID: of.CustomerID})
	if err != nil {
		return CreditNote{}, err
	}
	c := CreditNote{Invoice: i, InvoiceID: p.InvoiceID}
	if c.AmountDue = (money.Decimal{}); p.InvoiceID == "" {
		c.Remaining = c.Total
	}
	if of.ID != "" {
		r.creditable(ctx, of, c)
	}
	if err := r.number(ctx, &c.Invoice, Invoice{}, creditNoteSeries); err != nil {
		return c, err
	}
	return c, fault.RenameField(r.faults.Err(), "invoice_date", "credit_note_date")
}

// creditable reports why a credit note cannot be issued for an invoice.
func (r *resolver) creditable(ctx context.Context, of Invoice, c CreditNote) {
	if r.seesEntity(ctx, c.LegalEntityID) && c.LegalEntityID != of.LegalEntityID {
		r.faults.Addf("legal_entity_id", "must be that of the invoice")
	}
	if c.CustomerName != "" && c.CustomerID != of.CustomerID {
		r.faults.Addf("customer_id", "must be that of the invoice, %s", of.CustomerID)
	}
	if c.Currency != of.Currency {
		r.faults.Addf("currency", "must be that of the invoice, %s", of.Currency)
	}
	if c.Date.Before(of.Date) {
		r.faults.Addf("invoice_date", "must not be before the date of the invoice, %s", day(of.Date))
	}
	switch {
	case of.Mirrored():
		r.faults.AddConflictf("invoice_id", "the invoice %s is kept by %s: credit it there", of.Number, of.Provider)
	case of.Status != Open:
		r.faults.AddConflictf("invoice_id", "the invoice %s is %s: only an open one can be credited. To pay money back, use the return of its "+
			"cash application", of.Number, of.Status)
	case c.Total.Cmp(of.AmountDue) > 0:
		r.faults.AddConflictf("lines", "%s is due on the invoice %s, which is less than %s: credit the customer with the rest",
			of.AmountDue.Fixed(of.Currency), of.Number, c.Total.Fixed(of.Currency))
	}
}

// bookCreditNote posts the entry of a credit note.
func (s *Service) bookCreditNote(ctx context.Context, tx *db.Tx, b *snapshot.Books, c CreditNote) (string, error) {
	control, err := roleAccount(ctx, tx, b, account.RoleTradeReceivable)
	if err != nil {
		return "", err
	}
	lines := c.lines(control)
	for n := range lines {
		lines[n].Side = lines[n].Side.Other()
	}
	made, err := s.book(ctx, tx, c.Invoice, journal.ByCreditNote, day(c.Date), "Credit note "+c.Number+", "+c.CustomerName, lines)
	return made, fault.RenameField(err, "accounting_date", "credit_note_date")
}

// VoidCreditNote makes a credit note void, which is final: its entry is reversed, and what it took off its invoice is due again.
func (s *Service) VoidCreditNote(ctx context.Context, creditNoteID, reason string) (c CreditNote, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := snapshot.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := findCreditNote(ctx, tx, creditNoteID, "{for_update}")
		if err != nil {
			return err
		}
		switch {
		case utf8.RuneCountInString(reason) > reasonMax:
			return fault.Invalidf("reason", "must have at most %d characters", reasonMax)
		case before.Status == Void:
			return fault.Conflictf("the credit note %s is void already", before.Number)
		case before.InvoiceID == "" && !before.Remaining.Equal(before.Total):
			return fault.Conflictf("%s of the credit note %s are used: undo that first", before.Total.Sub(before.Remaining).Fixed(before.Currency),
				before.Number)
		}
		if err := s.reverse(ctx, tx, before.EntryID); err != nil {
			return err
		}
		if before.InvoiceID != "" {
			if _, err := Settle(ctx, tx, before.InvoiceID, before.Total.Neg()); err != nil {
				return err
			}
		}
		now := tx.Now()
		c = before
		c.Status, c.Remaining, c.VoidReason, c.UpdatedAt = Void, money.Decimal{}, reason, &now
		if err := updateCreditNote(ctx, tx, c); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "credit_note.voided", ResourceType: creditType, ResourceID: c.ID, Before: before.facts(),
			After: c.facts(), Object: c})
		return nil
	})
	return c, err
}

// findCreditNote returns a credit note that the actor may see.
func findCreditNote(ctx context.Context, tx *db.Tx, creditNoteID, lock string) (CreditNote, error) {
	c, err := selectCreditNote(ctx, tx, creditNoteID, lock)
	if err == nil && !c.visible(actor.From(ctx)) {
		return CreditNote{}, fault.Missing(creditNoun)
	}
	return c, err
}

// explainCreditNoteEntry says which credit note made an entry, and what to do to undo it.
func explainCreditNoteEntry(ctx context.Context, tx *db.Tx, e journal.Entry) (string, error) {
	c, err := selectCreditNoteOfEntry(ctx, tx, e.ID)
	return "books the credit note " + c.Number + ": void that with POST /v1/credit-notes/" + c.ID + "/void", err
}
