package invoice

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/customer"
)

const (
	creditTable     = "credit_notes"
	creditLineTable = "credit_note_lines"
)

type creditRow struct {
	ID            string        `db:"credit_note_id"`
	Number        string        `db:"credit_note_number"`
	Sequence      *int64        `db:"sequence"`
	InvoiceID     *string       `db:"invoice_id"`
	CustomerID    string        `db:"customer_id"`
	LegalEntityID string        `db:"legal_entity_id"`
	Status        string        `db:"status"`
	Currency      string        `db:"currency"`
	Date          time.Time     `db:"credit_note_date"`
	Subtotal      money.Decimal `db:"subtotal"`
	Tax           money.Decimal `db:"tax"`
	Total         money.Decimal `db:"total"`
	Remaining     money.Decimal `db:"amount_remaining"`
	Memo          *string       `db:"memo"`
	VoidReason    *string       `db:"void_reason"`
	EntryID       string        `db:"journal_entry_id"`
	CreatedAt     time.Time     `db:"created_at"`
	UpdatedAt     *time.Time    `db:"updated_at"`
}

type creditLineRow struct {
	CreditNoteID string `db:"credit_note_id"`
	lineColumns
}

func toCreditRow(c CreditNote) creditRow {
	r := creditRow{ID: c.ID, Number: c.Number, InvoiceID: db.OrNull(c.InvoiceID), CustomerID: c.CustomerID, LegalEntityID: c.LegalEntityID,
		Status: string(c.Status), Currency: c.Currency, Date: c.Date, Subtotal: c.Subtotal, Tax: c.Tax, Total: c.Total, Remaining: c.Remaining,
		Memo: db.OrNull(c.Memo), VoidReason: db.OrNull(c.VoidReason), EntryID: c.EntryID, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
	if c.sequence > 0 {
		r.Sequence = &c.sequence
	}
	return r
}

func (r creditRow) creditNote() CreditNote {
	c := CreditNote{Invoice: Invoice{ID: r.ID, Number: r.Number, CustomerID: r.CustomerID, LegalEntityID: r.LegalEntityID,
		Status: Status(r.Status), Currency: r.Currency, Date: r.Date, Subtotal: r.Subtotal, Tax: r.Tax, Total: r.Total, Memo: db.OrEmpty(r.Memo),
		VoidReason: db.OrEmpty(r.VoidReason), EntryID: r.EntryID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt},
		InvoiceID: db.OrEmpty(r.InvoiceID), Remaining: r.Remaining}
	if r.Sequence != nil {
		c.sequence = *r.Sequence
	}
	return c
}

var selectCreditRows = "SELECT " + db.Columns[creditRow]() + " FROM credit_notes WHERE organization_id = @org"

// creditNotesOf returns credit notes with their lines and the names of their customers.
func creditNotesOf(ctx context.Context, tx *db.Tx, rows []creditRow) ([]CreditNote, error) {
	out, ids, customers, at := make([]CreditNote, len(rows)), make([]string, len(rows)), make([]string, len(rows)), map[string]int{}
	for n, r := range rows {
		out[n], ids[n], customers[n], at[r.ID] = r.creditNote(), r.ID, r.CustomerID, n
	}
	if len(rows) == 0 {
		return out, nil
	}
	lines, err := db.All[creditLineRow](ctx, tx, "SELECT "+db.Columns[creditLineRow]()+
		" FROM credit_note_lines WHERE organization_id = @org AND credit_note_id {any} ORDER BY credit_note_id, position", ids)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		c := &out[at[l.CreditNoteID]]
		c.Lines = append(c.Lines, l.line())
	}
	names, err := customer.NamesUnchecked(ctx, tx, customers)
	for n := range out {
		out[n].CustomerName = names[out[n].CustomerID]
	}
	return out, err
}

func oneCreditNote(ctx context.Context, tx *db.Tx, statement string, args ...any) (CreditNote, error) {
	r, err := db.One[creditRow](ctx, tx, creditNoun, statement, args...)
	if err != nil {
		return CreditNote{}, err
	}
	found, err := creditNotesOf(ctx, tx, []creditRow{r})
	if err != nil {
		return CreditNote{}, err
	}
	return found[0], nil
}

func selectCreditNote(ctx context.Context, tx *db.Tx, creditNoteID, lock string) (CreditNote, error) {
	return oneCreditNote(ctx, tx, selectCreditRows+" AND credit_note_id = ? "+lock, creditNoteID)
}

func selectCreditNoteOfEntry(ctx context.Context, tx *db.Tx, entryID string) (CreditNote, error) {
	return oneCreditNote(ctx, tx, selectCreditRows+" AND journal_entry_id = ?", entryID)
}

// selectCreditNotes reads a page of credit notes, the latest first.
func selectCreditNotes(ctx context.Context, tx *db.Tx, f CreditNoteFilter, by query, after []string, below time.Time, limit int) (
	[]CreditNote, error) {
	q := db.Select(selectCreditRows)
	if after != nil {
		q.And("(credit_note_date, credit_note_id) < (?, ?)", below, after[1])
	}
	if f.InvoiceID != "" {
		q.And("invoice_id = ?", f.InvoiceID)
	}
	if f.Status != "" {
		q.And("status = ?", string(f.Status))
	}
	if by.customers != nil {
		q.And("customer_id {any}", by.customers)
	}
	if by.entities != nil {
		q.And("legal_entity_id {any}", by.entities)
	}
	rows, err := db.All[creditRow](ctx, tx, q.Then("ORDER BY credit_note_date DESC, credit_note_id DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return creditNotesOf(ctx, tx, rows)
}

func insertCreditNote(ctx context.Context, tx *db.Tx, c CreditNote) error {
	if err := db.Insert(ctx, tx, creditTable, toCreditRow(c)); err != nil {
		return err
	}
	lines := make([]creditLineRow, len(c.Lines))
	for n, l := range c.Lines {
		lines[n] = creditLineRow{c.ID, toColumns(n, l)}
	}
	return db.Insert(ctx, tx, creditLineTable, lines...)
}

// updateCreditNote stores what can change about a credit note.
func updateCreditNote(ctx context.Context, tx *db.Tx, c CreditNote) error {
	r := toCreditRow(c)
	_, err := tx.Exec(ctx, "UPDATE credit_notes SET status = ?, amount_remaining = ?, void_reason = ?, updated_at = ? "+
		"WHERE organization_id = @org AND credit_note_id = ?", r.Status, r.Remaining, r.VoidReason, r.UpdatedAt, r.ID)
	return err
}

// forEachCreditNote calls do for all credit notes in the order of ids, reading them in chunks.
func forEachCreditNote(ctx context.Context, tx *db.Tx, do func([]CreditNote) error) error {
	const chunk = 1000
	for last := ""; ; {
		rows, err := db.All[creditRow](ctx, tx, selectCreditRows+" AND credit_note_id > ? ORDER BY credit_note_id LIMIT ?", last, chunk)
		if err != nil {
			return err
		}
		found, err := creditNotesOf(ctx, tx, rows)
		if err != nil {
			return err
		}
		if err := do(found); err != nil || len(rows) < chunk {
			return err
		}
		last = rows[chunk-1].ID
	}
}
