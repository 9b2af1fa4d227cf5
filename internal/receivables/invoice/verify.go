package invoice

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// Verify recomputes the invariants of invoices and returns a sentence for each broken one: their totals, their entries, and that what is
// due on open invoices less the credit of customers equals the control account, for each legal entity and currency.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	due, credited, open := receivables{}, map[string]money.Decimal{}, map[string]money.Decimal{}
	out, err = verifyCreditNotes(ctx, tx, due, credited, open)
	if err != nil {
		return nil, err
	}
	err = forEach(ctx, tx, func(chunk []Invoice) error {
		entries, err := entriesOf(ctx, tx, chunk)
		if err != nil {
			return err
		}
		for _, i := range chunk {
			for _, text := range slices.Concat(i.faults(), i.entryFaults(entries)) {
				out = append(out, fmt.Sprintf("invoice %s: %s", i.ID, text))
			}
			if settled := i.Total.Sub(i.AmountDue); i.Status != Void && credited[i.ID].Cmp(settled) > 0 {
				out = append(out, fmt.Sprintf("invoice %s: credit notes of %s are issued, but %s is settled", i.ID, credited[i.ID], settled))
			}
			if i.Status == Open && !i.Mirrored() {
				due.add(i.LegalEntityID, i.Currency, i.AmountDue)
				open[i.ID] = i.AmountDue
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	moved, err := verifyMovements(ctx, tx, open)
	if err != nil {
		return nil, err
	}
	out = append(out, moved...)
	booked, err := controlBalance(ctx, tx)
	if err != nil {
		return nil, err
	}
	for key, amount := range booked {
		due.add(key[0], key[1], amount.Neg())
	}
	for _, key := range slices.SortedFunc(maps.Keys(due), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		if difference := due[key]; !difference.IsZero() {
			out = append(out, fmt.Sprintf("the trade receivables of the legal entity %s are %s %s, but the invoices are %s",
				key[0], booked[key], key[1], booked[key].Add(difference)))
		}
	}
	return out, nil
}

// verifyCreditNotes recomputes the invariants of credit notes. It takes the credit of customers off the receivables, and adds up what
// invoices were credited and what is left of each credit.
func verifyCreditNotes(ctx context.Context, tx *db.Tx, due receivables, credited, open map[string]money.Decimal) (out []string, err error) {
	err = forEachCreditNote(ctx, tx, func(chunk []CreditNote) error {
		var documents []Invoice
		for _, c := range chunk {
			documents = append(documents, c.Invoice)
		}
		entries, err := entriesOf(ctx, tx, documents)
		if err != nil {
			return err
		}
		for _, c := range chunk {
			faults := c.lineFaults()
			switch e := entries[c.EntryID]; {
			case e.Status != journal.Posted || e.OriginatedBy != journal.ByCreditNote || (e.NextID != "") != (c.Status == Void):
				faults = append(faults, fmt.Sprintf("it is %s, but its entry %s does not agree with that", c.Status, c.EntryID))
			case c.Status != Issued && c.Status != Void:
				faults = append(faults, "its status is not valid")
			case c.Remaining.Sign() < 0 || c.Remaining.Cmp(c.Total) > 0 || !c.Remaining.IsZero() && (c.InvoiceID != "" || c.Status == Void):
				faults = append(faults, fmt.Sprintf("%s of it remain, of a total of %s", c.Remaining, c.Total))
			}
			for _, text := range faults {
				out = append(out, fmt.Sprintf("credit note %s: %s", c.ID, text))
			}
			due.add(c.LegalEntityID, c.Currency, c.Remaining.Neg())
			if !c.Remaining.IsZero() {
				open[c.ID] = c.Remaining.Neg()
			}
			if c.InvoiceID != "" && c.Status == Issued {
				credited[c.InvoiceID] = credited[c.InvoiceID].Add(c.Total)
			}
		}
		return nil
	})
	return out, err
}

// receivables are amounts by legal entity and currency.
type receivables map[[2]string]money.Decimal

func (r receivables) add(legalEntityID, currency string, amount money.Decimal) {
	key := [2]string{legalEntityID, currency}
	r[key] = r[key].Add(amount)
}

// controlBalance returns the balance of the control account, debits less credits, in the currencies of its lines. Lines of revaluations
// change its value in the base currency, and not these balances.
func controlBalance(ctx context.Context, tx *db.Tx) (receivables, error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil || b.Roles()[account.RoleTradeReceivable] == "" {
		return nil, err
	}
	rows, err := selectControl(ctx, tx, b.Roles()[account.RoleTradeReceivable])
	out := receivables{}
	for _, r := range rows {
		currency := b.Entities[r.LegalEntityID].BaseCurrency
		if r.Unit != nil {
			currency = *r.Unit
		}
		if r.Side == string(book.Credit) {
			r.Amount = r.Amount.Neg()
		}
		out.add(r.LegalEntityID, currency, r.Amount)
	}
	return out, err
}

// entriesOf returns the entries of invoices by their ids.
func entriesOf(ctx context.Context, tx *db.Tx, chunk []Invoice) (map[string]journal.Link, error) {
	var ids []string
	for _, i := range chunk {
		for _, id := range []string{i.EntryID, i.WriteOffID} {
			if id != "" {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return journal.FindLinks(ctx, tx, ids)
}

// faults returns the violated invariants of an invoice by itself.
func (i Invoice) faults() (out []string) {
	out = i.lineFaults()
	if match.KeysOf(i.Number) != i.numberKeys {
		out = append(out, fmt.Sprintf("its number %s is looked up as %+q", i.Number, i.numberKeys))
	}
	if i.amountDueKey != amountKey(i.AmountDue) || i.totalKey != amountKey(i.Total) {
		out = append(out, fmt.Sprintf("its amounts %s and %s are looked up as %q and %q", i.AmountDue, i.Total, i.amountDueKey, i.totalKey))
	}
	if !slices.Contains(statuses, i.Status) || !money.IsFiat(i.Currency) || i.DueDate.Before(i.Date) && !i.Mirrored() {
		out = append(out, "its status, currency or dates are not valid")
	}
	settled := i.AmountDue.IsZero()
	switch {
	case i.AmountDue.Sign() < 0 || i.AmountDue.Cmp(i.Total) > 0:
		out = append(out, fmt.Sprintf("%s is due, of a total of %s", i.AmountDue, i.Total))
	case !i.Mirrored() && settled != (i.Status == Paid || i.Status == Void):
		out = append(out, fmt.Sprintf("it is %s, but %s is due", i.Status, i.AmountDue))
	}
	return out
}

// lineFaults returns the violated invariants of the lines and totals of an invoice or a credit note.
func (i Invoice) lineFaults() (out []string) {
	sums := i
	if sums.addUp(); !sums.Subtotal.Equal(i.Subtotal) || !sums.Tax.Equal(i.Tax) || !sums.Total.Equal(i.Total) {
		out = append(out, fmt.Sprintf("its total is %s, but its lines add up to %s", i.Total, sums.Total))
	}
	for n, l := range i.Lines {
		if i.Mirrored() {
			break // as the provider states them
		}
		if !l.Amount.Equal(l.Quantity.Mul(l.UnitPrice).RoundTo(i.Currency)) || l.TaxRate != nil &&
			!l.TaxAmount.Equal(taxOf(l.Amount, *l.TaxRate, i.Currency)) {
			out = append(out, fmt.Sprintf("the amounts of line %d do not follow from its quantity, price and tax", n+1))
		}
	}
	return out
}

// entryFaults returns what is wrong about the entries of an invoice.
func (i Invoice) entryFaults(entries map[string]journal.Link) (out []string) {
	booked := !i.Mirrored() && (i.Status == Open || i.Status == Paid || i.Status == Uncollectible)
	if booked && i.EntryID == "" || !booked && i.EntryID != "" && i.Status != Void {
		out = append(out, fmt.Sprintf("it is %s, but its entry is %q", i.Status, i.EntryID))
	}
	if (i.Status == Uncollectible) && !i.Mirrored() && i.WriteOffID == "" {
		out = append(out, "it is uncollectible, but not written off")
	}
	for _, id := range []string{i.EntryID, i.WriteOffID} {
		if id == "" {
			continue
		}
		e, there := entries[id]
		switch {
		case !there || e.Status != journal.Posted || e.OriginatedBy != journal.ByInvoice:
			out = append(out, fmt.Sprintf("its entry %s is not a posted entry of an invoice", id))
		case (e.NextID != "") != (i.Status == Void):
			out = append(out, fmt.Sprintf("it is %s, but its entry %s does not agree with that", i.Status, id))
		}
	}
	return out
}
