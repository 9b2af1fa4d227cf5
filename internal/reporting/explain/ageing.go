package explain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/reporting/ageing"
)

const (
	totalColumn   = "total"
	dueColumn     = "due"
	creditsColumn = "credits"
)

var ageingColumns = []string{totalColumn, dueColumn, creditsColumn}

// documentsMax is the maximum number of invoices that an explanation lists; the others are one part.
const documentsMax = 1000

// ageing explains what a customer owed by its invoices, and an invoice by the entries that changed what was due on it.
func (i *inquiry) ageing(ctx context.Context) error {
	q := i.q
	if err := validateDocument(q); err != nil {
		return err
	}
	if q.Bucket != "" && q.Column != dueColumn {
		return fault.Invalidf("bucket", "is only for the column %s", dueColumn)
	}
	day, end, err := ageing.Day(ctx, i.tx, q.AsOf)
	if err != nil {
		return err
	}
	f := invoice.ReceivablesFilter{DocumentID: q.DocumentID, Currency: q.Currency}
	if who := actor.From(ctx); who.Limited() {
		f.LegalEntityIDs = who.LegalEntityIDs
	}
	if q.LegalEntityID != "" {
		if _, err := entity.Get(ctx, i.tx, q.LegalEntityID); err != nil {
			return err
		}
		f.LegalEntityIDs = []string{q.LegalEntityID}
	}
	if q.CustomerID != "" {
		if f.CustomerIDs, err = customer.Resolve(ctx, i.tx, q.CustomerID); err != nil {
			return err
		}
	}
	var found []invoice.Receivable
	if q.CustomerID == "" || len(f.CustomerIDs) > 0 {
		if found, err = invoice.Receivables(ctx, i.tx, f, end); err != nil {
			return err
		}
	}
	if q.DocumentID != "" {
		if len(found) == 0 {
			return fault.MissingAt("receivable", "document_id")
		}
		return i.receivable(ctx, found[0], end)
	}
	for _, x := range found {
		if x.Currency != found[0].Currency {
			return fault.Invalidf("currency", "is required, because the customer owes several currencies")
		}
	}
	unit := q.Currency
	if len(found) > 0 {
		unit = found[0].Currency
	}
	switch {
	case q.Bucket != "":
		if found, err = ageing.InBucket(found, q.Bucket, day, q.AgeBy); err != nil {
			return err
		}
	case q.Column != totalColumn:
		found = slices.DeleteFunc(found, func(x invoice.Receivable) bool { return x.CreditNote != (q.Column == creditsColumn) })
	}
	if unit == "" {
		return fault.MissingAt("receivable", "customer_id")
	}
	return i.receivables(found, unit, day)
}

// validateDocument returns an error with every name that does not go with a document, which is due as a whole.
func validateDocument(q Query) error {
	var faults fault.List
	if q.DocumentID != "" {
		if q.Column != totalColumn {
			faults.Addf("column", "must be %s for a document", totalColumn)
		}
		for _, name := range []string{"bucket", "age_by"} {
			if *q.names()[name] != "" {
				faults.Addf(name, "cannot be combined with document_id")
			}
		}
	}
	return faults.Err()
}

// receivables explains a sum of invoices and credit notes.
func (i *inquiry) receivables(found []invoice.Receivable, unit, day string) error {
	var sum money.Decimal
	for n, x := range found {
		sum = sum.Add(x.Amount)
		if n < documentsMax {
			name := "invoice "
			if x.CreditNote {
				name = "credit note "
			}
			i.out.add(name+x.Number, x.Amount, &Query{Report: i.q.Report, DocumentID: x.DocumentID, AsOf: day}, NoList)
		}
	}
	i.out.setValue(sum, unit)
	if len(found) > documentsMax {
		i.out.addRemainder(fmt.Sprintf("%d more", len(found)-documentsMax))
	}
	return nil
}

// receivable explains what was due on an invoice, or left of a credit note, by the entries before an instant.
func (i *inquiry) receivable(ctx context.Context, x invoice.Receivable, end time.Time) error {
	b, err := snapshot.Read(ctx, i.tx)
	if err != nil {
		return err
	}
	moved, err := invoice.Movements(ctx, i.tx, b.Roles()[account.RoleTradeReceivable], x.DocumentID, end)
	if err != nil {
		return err
	}
	i.out.setValue(x.Amount, x.Currency)
	for _, m := range moved {
		i.out.add("JE-"+strconv.FormatInt(m.Number, 10), m.Amount, &Query{Report: "general-ledger", JournalEntryID: m.EntryID}, NoList)
	}
	return nil
}
