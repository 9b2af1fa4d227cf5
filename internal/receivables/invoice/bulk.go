package invoice

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// NewInvoice describes one of many invoices. Its number is required.
type NewInvoice struct {
	Params
	Status Status // draft or open
}

// Outcome is what became of one of many invoices.
type Outcome struct {
	Invoice   Invoice
	Duplicate bool  // it exists already, with the same content
	Err       error // why it was not created, with every fault
}

// CreateMany creates invoices as drafts, or opens them at once. One with faults is left out, and so is one that exists already. An invoice
// whose number exists with other content, as void, or as a draft if it is to be open, is a conflict. It runs in the caller's transaction.
func (s *Service) CreateMany(ctx context.Context, tx *db.Tx, all []NewInvoice) ([]Outcome, error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	control := ""
	if slices.ContainsFunc(all, func(n NewInvoice) bool { return n.Status == Open }) {
		if control, err = roleAccount(ctx, tx, b, account.RoleTradeReceivable); err != nil {
			return nil, err
		}
		if b, err = snapshot.Lock(ctx, tx); err != nil { // an account may have been created
			return nil, err
		}
	}
	out, err := resolveMany(ctx, tx, b, all)
	if err != nil {
		return nil, err
	}
	if err := s.bookMany(ctx, tx, control, out); err != nil {
		return nil, err
	}
	var rows []row
	var lines []lineRow
	var moved []Moved
	for n := range out {
		i := &out[n].Invoice
		if out[n].Duplicate || out[n].Err != nil {
			continue
		}
		action := "invoice.created"
		if i.Status == Open {
			action = "invoice.opened"
			moved = append(moved, Moved{i.ID, i.EntryID, i.Total})
		}
		rows, lines = append(rows, toRow(*i)), append(lines, toLines(*i)...)
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: i.ID, After: i.facts(), State: i.state(),
			Object: *i})
	}
	if len(rows) == 0 {
		return out, nil
	}
	if err := db.Insert(ctx, tx, table, rows...); err != nil {
		return nil, err
	}
	if err := db.Insert(ctx, tx, lineTable, lines...); err != nil {
		return nil, err
	}
	if len(moved) == 0 {
		return out, nil
	}
	return out, RecordMovements(ctx, tx, moved...)
}

// numbered identifies an invoice of a legal entity.
type numbered struct{ legalEntityID, number string }

// resolveMany resolves invoices and finds those that exist already, or occur twice. It reads what they refer to once.
func resolveMany(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []NewInvoice) ([]Outcome, error) {
	r := &resolver{tx: tx, books: b, known: map[string]customer.Customer{}, foreign: map[string]bool{}}
	if err := r.preload(ctx, all); err != nil {
		return nil, err
	}
	existing, err := selectNumberedInvoices(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	known := make(map[numbered]Invoice, len(existing))
	for _, i := range existing {
		known[numbered{i.LegalEntityID, i.Number}] = i
	}
	out := make([]Outcome, len(all))
	for n, p := range all {
		r.faults = fault.List{}
		i, err := r.document(ctx, p.Params, Invoice{})
		if err != nil {
			return nil, err
		}
		if i.Number == "" {
			r.faults.Addf("invoice_number", "is required")
		}
		if p.Status != Draft && p.Status != Open {
			r.faults.Addf("status", "must be draft or open")
		}
		if before, there := known[numbered{i.LegalEntityID, i.Number}]; there && r.faults.Empty() {
			switch different := before.differences(i); {
			case before.Status == Void:
				r.faults.AddConflictf("invoice_number", "the invoice %s exists and is void: to create it anew, first give the void one another "+
					"number with PATCH /v1/invoices/%s", i.Number, before.ID)
			case len(different) > 0:
				r.faults.AddConflictf("invoice_number", "the invoice %s exists with another %s: %s", i.Number, strings.Join(different, ", "),
					before.correction())
			case before.Status == Draft && p.Status == Open:
				r.faults.AddConflictf("invoice_number", "the invoice %s exists as a draft: open it with POST /v1/invoices/%s/open", i.Number,
					before.ID)
			}
			out[n].Duplicate = r.faults.Empty()
			i = before
		}
		if out[n].Invoice, out[n].Err = i, r.faults.Err(); out[n].Err != nil || out[n].Duplicate {
			continue
		}
		i.ID, i.Provider, i.Status, i.CreatedAt = tx.NewID(id.Invoice), Own, p.Status, tx.Now()
		out[n].Invoice, known[numbered{i.LegalEntityID, i.Number}] = i, i
	}
	return out, nil
}

// preload reads the customers and the ledger accounts of invoices.
func (r *resolver) preload(ctx context.Context, all []NewInvoice) error {
	var customers, accounts []string
	for _, p := range all {
		customers = append(customers, p.CustomerID)
		for _, l := range p.Lines {
			accounts = append(accounts, l.AccountID, l.TaxAccountID)
		}
	}
	slices.Sort(customers)
	found, err := customer.FindSome(ctx, r.tx, slices.Compact(customers))
	if err != nil {
		return err
	}
	for _, c := range found {
		r.known[c.ID] = c
	}
	slices.Sort(accounts)
	r.foreign, err = foreignAccounts(ctx, r.tx, slices.Compact(accounts))
	return err
}

// differences names the fields in which an invoice differs from one that is to be created with the same number.
func (i Invoice) differences(other Invoice) (out []string) {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"customer_id", i.CustomerID == other.CustomerID}, {"currency", i.Currency == other.Currency},
		{"invoice_date", i.Date.Equal(other.Date)}, {"due_date", i.DueDate.Equal(other.DueDate)}, {"memo", i.Memo == other.Memo},
		{"total_amount", i.Total.Equal(other.Total)}, {"tax_amount", i.Tax.Equal(other.Tax)},
	} {
		if !f.same {
			out = append(out, f.name)
		}
	}
	if len(i.Lines) != len(other.Lines) {
		return append(out, "number of lines")
	}
	for n, l := range i.Lines {
		if o := other.Lines[n]; l.Description != o.Description || l.Product != o.Product || !l.Quantity.Equal(o.Quantity) ||
			!l.UnitPrice.Equal(o.UnitPrice) || !l.Amount.Equal(o.Amount) || !l.TaxAmount.Equal(o.TaxAmount) || l.AccountID != o.AccountID {
			out = append(out, fmt.Sprintf("line %d", n+1))
		}
	}
	return out
}

// correction says how to correct an invoice that was created with wrong content.
func (i Invoice) correction() string {
	if i.Status == Draft {
		return "to correct the draft, edit it with PATCH /v1/invoices/" + i.ID
	}
	return "to correct it, void it, give the void one another number with PATCH /v1/invoices/" + i.ID + ", and create it anew"
}

// bookMany posts the entries of those invoices that are opened. One that the journal refuses gets its faults.
func (s *Service) bookMany(ctx context.Context, tx *db.Tx, control string, out []Outcome) error {
	var entries []journal.CreateParams
	var of []int
	for n := range out {
		if i := out[n].Invoice; out[n].Err == nil && !out[n].Duplicate && i.Status == Open {
			of = append(of, n)
			entries = append(entries, journal.CreateParams{LegalEntityID: i.LegalEntityID, AccountingDate: day(i.Date),
				Memo: "Invoice " + i.Number + ", " + i.CustomerName, Status: journal.Posted, OriginatedBy: journal.ByInvoice,
				Classification: string(posting.Invoice), Lines: i.lines(control)})
		}
	}
	none := func(int) string { return "" }
	if len(entries) == 0 {
		return nil
	}
	if err := s.journal.Validate(ctx, tx, entries, none); err != nil {
		if !fault.Refused(err) {
			return err
		}
		for k := len(entries) - 1; k >= 0; k-- { // find those at fault
			err := s.journal.Validate(ctx, tx, entries[k:k+1], none)
			if err != nil && !fault.Refused(err) {
				return err
			}
			if err != nil {
				out[of[k]].Err = fault.RenameField(err, "accounting_date", "invoice_date")
				entries, of = slices.Delete(entries, k, k+1), slices.Delete(of, k, k+1)
			}
		}
	}
	made, err := s.journal.CreateInTx(ctx, tx, entries, none)
	for k, e := range made {
		out[of[k]].Invoice.EntryID = e.ID
	}
	return err
}
