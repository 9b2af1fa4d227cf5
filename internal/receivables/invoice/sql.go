package invoice

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/rules/match"
)

const (
	table     = "invoices"
	lineTable = "invoice_lines"
)

type row struct {
	ID            string        `db:"invoice_id"`
	Provider      string        `db:"provider"`
	ExternalID    *string       `db:"external_id"`
	Number        string        `db:"invoice_number"`
	Sequence      *int64        `db:"sequence"`
	CustomerID    string        `db:"customer_id"`
	LegalEntityID *string       `db:"legal_entity_id"`
	Status        string        `db:"status"`
	Currency      string        `db:"currency"`
	Date          time.Time     `db:"invoice_date"`
	DueDate       time.Time     `db:"due_date"`
	Subtotal      money.Decimal `db:"subtotal"`
	Tax           money.Decimal `db:"tax"`
	Total         money.Decimal `db:"total"`
	AmountDue     money.Decimal `db:"amount_due"`
	Memo          *string       `db:"memo"`
	VoidReason    *string       `db:"void_reason"`
	TransactionID *string       `db:"transaction_id"`
	EntryID       *string       `db:"journal_entry_id"`
	WriteOffID    *string       `db:"write_off_entry_id"`
	NumberKey     string        `db:"number_key"`
	NumberDigits  string        `db:"number_digits"`
	NumberPrefix  string        `db:"number_prefix"`
	AmountDueKey  string        `db:"amount_due_key"`
	TotalKey      string        `db:"total_key"`
	CreatedAt     time.Time     `db:"created_at"`
	UpdatedAt     *time.Time    `db:"updated_at"`

	StatedStatus *string        `db:"stated_status"`
	StatedDue    *money.Decimal `db:"stated_amount_due"`
	StatedAt     *time.Time     `db:"stated_at"`
}

type lineRow struct {
	InvoiceID string `db:"invoice_id"`
	lineColumns
}

// lineColumns are the columns of a line of an invoice or a credit note.
type lineColumns struct {
	Position     int64          `db:"position"`
	Description  string         `db:"description"`
	Product      *string        `db:"product"`
	Quantity     money.Decimal  `db:"quantity"`
	UnitPrice    money.Decimal  `db:"unit_price"`
	Amount       money.Decimal  `db:"amount"`
	TaxRate      *money.Decimal `db:"tax_rate"`
	TaxAmount    money.Decimal  `db:"tax_amount"`
	AccountID    *string        `db:"ledger_account_id"`
	TaxAccountID *string        `db:"tax_ledger_account_id"`
}

func toRow(i Invoice) row {
	r := row{ID: i.ID, Provider: i.Provider, ExternalID: db.OrNull(i.ExternalID), Number: i.Number, CustomerID: i.CustomerID,
		LegalEntityID: db.OrNull(i.LegalEntityID), Status: string(i.Status), Currency: i.Currency, Date: i.Date, DueDate: i.DueDate,
		Subtotal: i.Subtotal, Tax: i.Tax, Total: i.Total, AmountDue: i.AmountDue, Memo: db.OrNull(i.Memo), VoidReason: db.OrNull(i.VoidReason),
		TransactionID: db.OrNull(i.TransactionID), EntryID: db.OrNull(i.EntryID), WriteOffID: db.OrNull(i.WriteOffID), CreatedAt: i.CreatedAt,
		UpdatedAt: i.UpdatedAt}
	keys := match.KeysOf(i.Number)
	r.NumberKey, r.NumberDigits, r.NumberPrefix = keys.Key, keys.Tail, keys.Prefix
	r.AmountDueKey, r.TotalKey = amountKey(i.AmountDue), amountKey(i.Total)
	if i.sequence > 0 {
		r.Sequence = &i.sequence
	}
	if i.Mirrored() {
		r.StatedStatus, r.StatedDue = db.OrNull(string(i.Stated.Status)), &i.Stated.AmountDue
	}
	if !i.Stated.At.IsZero() {
		r.StatedAt = &i.Stated.At
	}
	return r
}

// amountKey returns a text that sorts as an amount does. All negative amounts have the same, which sorts first.
func amountKey(d money.Decimal) string {
	if d.Sign() < 0 {
		return ""
	}
	return d.SortKey()
}

func (r row) invoice() Invoice {
	i := Invoice{ID: r.ID, Provider: r.Provider, ExternalID: db.OrEmpty(r.ExternalID), Number: r.Number, CustomerID: r.CustomerID,
		LegalEntityID: db.OrEmpty(r.LegalEntityID), Status: Status(r.Status), Currency: r.Currency, Date: r.Date, DueDate: r.DueDate,
		Subtotal: r.Subtotal, Tax: r.Tax, Total: r.Total, AmountDue: r.AmountDue, Memo: db.OrEmpty(r.Memo), VoidReason: db.OrEmpty(r.VoidReason),
		TransactionID: db.OrEmpty(r.TransactionID), EntryID: db.OrEmpty(r.EntryID), WriteOffID: db.OrEmpty(r.WriteOffID),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		numberKeys:   match.NumberKeys{Key: r.NumberKey, Tail: r.NumberDigits, Prefix: r.NumberPrefix},
		amountDueKey: r.AmountDueKey, totalKey: r.TotalKey}
	if r.Sequence != nil {
		i.sequence = *r.Sequence
	}
	if r.StatedDue != nil {
		i.Stated = Stated{Status: Status(db.OrEmpty(r.StatedStatus)), AmountDue: *r.StatedDue}
	}
	if r.StatedAt != nil {
		i.Stated.At = *r.StatedAt
	}
	return i
}

func toLines(i Invoice) []lineRow {
	out := make([]lineRow, len(i.Lines))
	for n, l := range i.Lines {
		out[n] = lineRow{i.ID, toColumns(n, l)}
	}
	return out
}

func toColumns(position int, l Line) lineColumns {
	return lineColumns{Position: int64(position), Description: l.Description, Product: db.OrNull(l.Product), Quantity: l.Quantity,
		UnitPrice: l.UnitPrice, Amount: l.Amount, TaxRate: l.TaxRate, TaxAmount: l.TaxAmount, AccountID: db.OrNull(l.AccountID),
		TaxAccountID: db.OrNull(l.TaxAccountID)}
}

// state returns what is stored of an invoice, for the audit log. It is computed from memory, because payments must not read it again.
func (i Invoice) state() string {
	d := audit.NewDigest(noun)
	audit.AddRows(d, table, toRow(i))
	audit.AddRows(d, lineTable, toLines(i)...)
	return d.Sum()
}

func (r lineColumns) line() Line {
	return Line{Description: r.Description, Product: db.OrEmpty(r.Product), Quantity: r.Quantity, UnitPrice: r.UnitPrice, Amount: r.Amount,
		TaxRate: r.TaxRate, TaxAmount: r.TaxAmount, AccountID: db.OrEmpty(r.AccountID), TaxAccountID: db.OrEmpty(r.TaxAccountID)}
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM invoices WHERE organization_id = @org"

// invoicesOf returns invoices with their lines and the names of their customers.
func invoicesOf(ctx context.Context, tx *db.Tx, rows []row) ([]Invoice, error) {
	out, ids, customers, at := make([]Invoice, len(rows)), make([]string, len(rows)), make([]string, len(rows)), map[string]int{}
	for n, r := range rows {
		out[n], ids[n], customers[n], at[r.ID] = r.invoice(), r.ID, r.CustomerID, n
	}
	if len(rows) == 0 {
		return out, nil
	}
	lines, err := db.All[lineRow](ctx, tx, "SELECT "+db.Columns[lineRow]()+
		" FROM invoice_lines WHERE organization_id = @org AND invoice_id {any} ORDER BY invoice_id, position", ids)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		i := &out[at[l.InvoiceID]]
		i.Lines = append(i.Lines, l.line())
	}
	names, err := customer.NamesUnchecked(ctx, tx, customers)
	for n := range out {
		out[n].CustomerName = names[out[n].CustomerID]
	}
	return out, err
}

// oneOf returns the only one of the invoices that a statement finds.
func oneOf(ctx context.Context, tx *db.Tx, statement string, args ...any) (Invoice, error) {
	r, err := db.One[row](ctx, tx, noun, statement, args...)
	if err != nil {
		return Invoice{}, err
	}
	found, err := invoicesOf(ctx, tx, []row{r})
	if err != nil {
		return Invoice{}, err
	}
	return found[0], nil
}

// find reads an invoice. A lock is {for_update}, or empty.
func find(ctx context.Context, tx *db.Tx, invoiceID, lock string) (Invoice, error) {
	return oneOf(ctx, tx, selectRows+" AND invoice_id = ? "+lock, invoiceID)
}

func selectByEntry(ctx context.Context, tx *db.Tx, entryID string) (Invoice, error) {
	return oneOf(ctx, tx, selectRows+" AND (journal_entry_id = ? OR write_off_entry_id = ?)", entryID, entryID)
}

func findMirrored(ctx context.Context, tx *db.Tx, provider, externalID string) (Invoice, error) {
	return oneOf(ctx, tx, selectRows+" AND provider = ? AND external_id = ?", provider, externalID)
}

// selectNumbered reads the ids of the invoices or credit notes of a legal entity itself with a number: one at most. Mirrored invoices have
// numbers of their providers.
func selectNumbered(ctx context.Context, tx *db.Tx, s series, legalEntityID, number string) ([]string, error) {
	own := ""
	if s.table == table {
		own = " AND external_id IS NULL"
	}
	return db.All[string](ctx, tx, "SELECT "+s.id+" FROM "+s.table+" WHERE organization_id = @org AND legal_entity_id = ? AND "+
		s.number+" = ?"+own, legalEntityID, number)
}

// selectNumberedInvoices reads the invoices of legal entities themselves with the numbers of those that are to be created.
func selectNumberedInvoices(ctx context.Context, tx *db.Tx, all []NewInvoice) ([]Invoice, error) {
	byEntity := map[string][]string{}
	for _, p := range all {
		byEntity[p.LegalEntityID] = append(byEntity[p.LegalEntityID], strings.TrimSpace(p.Number))
	}
	var rows []row
	for legalEntityID, numbers := range byEntity {
		found, err := db.All[row](ctx, tx, selectRows+" AND legal_entity_id = ? AND external_id IS NULL AND invoice_number {any}",
			legalEntityID, numbers)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return invoicesOf(ctx, tx, rows)
}

// selectLastSequence reads the last number that was chosen for a legal entity, or zero.
func selectLastSequence(ctx context.Context, tx *db.Tx, s series, legalEntityID string) (int64, error) {
	last, err := db.One[*int64](ctx, tx, "number", "SELECT max(sequence) FROM "+s.table+
		" WHERE organization_id = @org AND legal_entity_id = ?", legalEntityID)
	if err != nil || last == nil {
		return 0, err
	}
	return *last, nil
}

// selectPage reads a page of invoices, the latest first.
func selectPage(ctx context.Context, tx *db.Tx, f query, after []string, below time.Time, limit int) ([]Invoice, error) {
	q := db.Select(selectRows)
	if after != nil {
		q.And("(invoice_date, invoice_id) < (?, ?)", below, after[1])
	}
	if len(f.statuses) == 1 {
		q.And("status = ?", string(f.statuses[0]))
	} else if f.statuses != nil {
		q.And("status {any}", texts(f.statuses))
	}
	if len(f.customers) == 1 {
		q.And("customer_id = ?", f.customers[0])
	} else if f.customers != nil {
		q.And("customer_id {any}", f.customers)
	}
	if f.entities != nil {
		q.And("legal_entity_id {any}", f.entities)
	}
	for _, c := range []struct{ condition, value string }{{"currency = ?", f.currency}, {"invoice_number = ?", f.number}} {
		if c.value != "" {
			q.And(c.condition, c.value)
		}
	}
	for _, c := range []struct {
		condition string
		at        time.Time
	}{{"invoice_date >= ?", f.from}, {"invoice_date <= ?", f.to}, {"due_date <= ?", f.dueTo}} {
		if !c.at.IsZero() {
			q.And(c.condition, c.at)
		}
	}
	if f.amount != nil {
		q.And("amount_due_key >= ?", amountKey(f.amount.Low)).And("amount_due_key <= ?", amountKey(f.amount.High))
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY invoice_date DESC, invoice_id DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return invoicesOf(ctx, tx, rows)
}

func texts(all []Status) []string {
	out := make([]string, len(all))
	for n, s := range all {
		out[n] = string(s)
	}
	return out
}

func insert(ctx context.Context, tx *db.Tx, i Invoice) error {
	if err := db.Insert(ctx, tx, table, toRow(i)); err != nil {
		return err
	}
	return db.Insert(ctx, tx, lineTable, toLines(i)...)
}

// update stores a changed invoice, and its lines if they changed too.
func update(ctx context.Context, tx *db.Tx, i Invoice, lines bool) error {
	r := toRow(i)
	err := tx.Queue(ctx, `UPDATE invoices SET invoice_number = ?, sequence = ?, customer_id = ?, legal_entity_id = ?, status = ?,
		currency = ?, invoice_date = ?, due_date = ?, subtotal = ?, tax = ?, total = ?, amount_due = ?, memo = ?, void_reason = ?,
		transaction_id = ?, journal_entry_id = ?, write_off_entry_id = ?, number_key = ?, number_digits = ?, number_prefix = ?,
		amount_due_key = ?, total_key = ?, updated_at = ?, stated_status = ?, stated_amount_due = ?, stated_at = ?
		WHERE organization_id = @org AND invoice_id = ?`,
		r.Number, r.Sequence, r.CustomerID, r.LegalEntityID, r.Status, r.Currency, r.Date, r.DueDate, r.Subtotal, r.Tax, r.Total, r.AmountDue,
		r.Memo, r.VoidReason, r.TransactionID, r.EntryID, r.WriteOffID, r.NumberKey, r.NumberDigits, r.NumberPrefix,
		r.AmountDueKey, r.TotalKey, r.UpdatedAt, r.StatedStatus, r.StatedDue, r.StatedAt, r.ID)
	if err != nil || !lines {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM invoice_lines WHERE organization_id = @org AND invoice_id = ?", i.ID); err != nil {
		return err
	}
	return db.Insert(ctx, tx, lineTable, toLines(i)...)
}
