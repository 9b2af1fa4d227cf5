package invoice

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

const movementTable = "receivable_movements"

// Moved is what an entry changes about a document.
type Moved struct {
	DocumentID string        `db:"document_id"`
	EntryID    string        `db:"journal_entry_id"`
	Amount     money.Decimal `db:"amount"`
}

// Movement is what a posted entry changed about an invoice or a credit note.
type Movement struct {
	EntryID string        `db:"journal_entry_id"`
	Number  int64         `db:"number"` // of the entry
	Date    time.Time     `db:"accounting_date"`
	Amount  money.Decimal `db:"amount"`
}

func selectMovementsOf(ctx context.Context, tx *db.Tx, entryID string) ([]Moved, error) {
	return db.All[Moved](ctx, tx, "SELECT "+db.Columns[Moved]()+
		" FROM receivable_movements WHERE organization_id = @org AND journal_entry_id = ?", entryID)
}

// selectMovementsSince reads the movements of the entries on the control account from an instant on.
func selectMovementsSince(ctx context.Context, tx *db.Tx, control string, from time.Time) ([]Moved, error) {
	return db.All[Moved](ctx, tx, `SELECT m.document_id, m.journal_entry_id, m.amount FROM receivable_movements m
		WHERE m.organization_id = @org AND m.journal_entry_id IN (SELECT l.journal_entry_id FROM journal_lines l
		WHERE l.organization_id = @org AND l.ledger_account_id = ? AND l.accounting_date >= ? AND l.is_posted = ?)`, control, from, true)
}

// sumRow is the sum of movements of a document.
type sumRow struct {
	ID     string        `db:"id"`
	Amount money.Decimal `db:"amount"`
}

func selectDocumentSums(ctx context.Context, tx *db.Tx) ([]sumRow, error) {
	return db.All[sumRow](ctx, tx, `SELECT document_id AS id, {dec_sum}(amount) AS amount FROM receivable_movements
		WHERE organization_id = @org GROUP BY document_id`)
}

// dateRow is a sum of movements at an instant; null if no line of the control account belongs to them.
type dateRow struct {
	Date   *time.Time    `db:"accounting_date"`
	Amount money.Decimal `db:"amount"`
}

// movedByDate looks up the lines of each movement: SQLite would compare every movement with all lines of the account.
const movedByDate = `SELECT accounting_date, {dec_sum}(amount) AS amount FROM (SELECT m.amount,
	(SELECT min(l.accounting_date) FROM journal_lines l WHERE l.organization_id = @org AND {rare}(l.journal_entry_id = m.journal_entry_id)
	AND l.ledger_account_id = ? AND l.is_posted = ?) AS accounting_date
	FROM receivable_movements m WHERE m.organization_id = @org) dated GROUP BY accounting_date`

func selectMovedByDate(ctx context.Context, tx *db.Tx, control string) ([]dateRow, error) {
	return db.All[dateRow](ctx, tx, movedByDate, control, true)
}

// controlRow is one side of what is booked to the control account at an instant, in the currencies of invoices.
type controlRow struct {
	Date   time.Time     `db:"accounting_date"`
	Side   string        `db:"credit_or_debit"`
	Amount money.Decimal `db:"amount"`
}

// selectControlByDate reads what is booked to the control account. Lines of revaluations have a unit without a quantity.
func selectControlByDate(ctx context.Context, tx *db.Tx, control string) ([]controlRow, error) {
	return db.All[controlRow](ctx, tx, `SELECT accounting_date, credit_or_debit,
		{dec_sum}(CASE WHEN unit IS NULL THEN amount ELSE quantity END) AS amount
		FROM journal_lines WHERE organization_id = @org AND ledger_account_id = ? AND is_posted = ?
		AND (unit IS NULL OR quantity IS NOT NULL) GROUP BY accounting_date, credit_or_debit`, control, true)
}

type receivableRow struct {
	DocumentID    string        `db:"document_id"`
	Number        string        `db:"number"`
	CustomerID    string        `db:"customer_id"`
	LegalEntityID string        `db:"legal_entity_id"`
	Currency      string        `db:"currency"`
	Date          time.Time     `db:"date"`
	DueDate       time.Time     `db:"due_date"`
	Status        string        `db:"status"`
	Amount        money.Decimal `db:"amount"`
}

// selectReceivables reads what is due now: the open invoices that are booked here, the credit notes of customers of which something is
// left, and the documents with some ids, of which nothing may be due.
func selectReceivables(ctx context.Context, tx *db.Tx, f ReceivablesFilter, ids []string) ([]Receivable, error) {
	var out []Receivable
	seen := map[string]bool{}
	read := func(creditNotes bool, statement, condition string, args ...any) error {
		q := db.Select(statement).And(condition, args...)
		if f.LegalEntityIDs != nil {
			q.And("legal_entity_id {any}", f.LegalEntityIDs)
		}
		if f.CustomerIDs != nil {
			q.And("customer_id {any}", f.CustomerIDs)
		}
		if f.Currency != "" {
			q.And("currency = ?", f.Currency)
		}
		rows, err := db.All[receivableRow](ctx, tx, q.Then(""), q.Args...)
		for _, r := range rows {
			if !seen[r.DocumentID] {
				seen[r.DocumentID] = true
				if r.Status == string(Uncollectible) || r.Status == string(Draft) {
					r.Amount = money.Decimal{} // written off, or not booked yet
				}
				out = append(out, Receivable{DocumentID: r.DocumentID, Number: r.Number, CreditNote: creditNotes, CustomerID: r.CustomerID,
					LegalEntityID: r.LegalEntityID, Currency: r.Currency, Date: r.Date, DueDate: r.DueDate, Amount: r.Amount})
			}
		}
		return err
	}
	const invoices = `SELECT invoice_id AS document_id, invoice_number AS number, customer_id, legal_entity_id, currency, invoice_date AS date,
		due_date, status, amount_due AS amount FROM invoices
		WHERE organization_id = @org AND external_id IS NULL`
	const credits = `SELECT credit_note_id AS document_id, credit_note_number AS number, customer_id, legal_entity_id, currency,
		credit_note_date AS date, credit_note_date AS due_date, status, amount_remaining AS amount FROM credit_notes
		WHERE organization_id = @org AND invoice_id IS NULL`
	if f.DocumentID != "" {
		ids = []string{f.DocumentID}
	} else {
		if err := read(false, invoices, "status = ?", string(Open)); err != nil {
			return nil, err
		}
		if err := read(true, credits, "amount_remaining <> ?", money.Decimal{}); err != nil {
			return nil, err
		}
	}
	if len(ids) > 0 {
		if err := read(false, invoices, "invoice_id {any}", ids); err != nil {
			return nil, err
		}
		if err := read(true, credits, "credit_note_id {any}", ids); err != nil {
			return nil, err
		}
	}
	for n := range out {
		if out[n].CreditNote {
			out[n].Amount = out[n].Amount.Neg()
		}
	}
	return out, nil
}

// Movements returns what entries before an instant changed about an invoice or a credit note, in the order of their dates. It runs in the
// caller's transaction.
func Movements(ctx context.Context, tx *db.Tx, control, documentID string, before time.Time) ([]Movement, error) {
	return db.All[Movement](ctx, tx, `SELECT DISTINCT m.journal_entry_id, l.number, l.accounting_date, m.amount
		FROM receivable_movements m JOIN journal_lines l ON l.organization_id = @org AND {rare}(l.journal_entry_id = m.journal_entry_id)
		AND l.ledger_account_id = ? AND l.is_posted = ? AND l.accounting_date < ?
		WHERE m.organization_id = @org AND m.document_id = ? ORDER BY l.accounting_date, l.number`, control, true, before, documentID)
}

// ControlMovement is one side of what entries booked to the control account of a legal entity. Unit is null for its base currency.
type ControlMovement struct {
	LegalEntityID string         `db:"legal_entity_id"`
	Unit          *string        `db:"unit"`
	Side          string         `db:"credit_or_debit"`
	Quantity      *money.Decimal `db:"quantity"` // in the unit, or else in the base currency; null for lines of revaluations
	Amount        money.Decimal  `db:"amount"`   // in the base currency
}

// ControlSince returns what entries from an instant on booked to the control account of some legal entities; nil means all of them. It runs
// in the caller's transaction.
func ControlSince(ctx context.Context, tx *db.Tx, control string, legalEntityIDs []string, from time.Time) ([]ControlMovement, error) {
	q := db.Select(`SELECT legal_entity_id, unit, credit_or_debit,
		{dec_sum}(CASE WHEN unit IS NULL THEN amount ELSE quantity END) AS quantity, {dec_sum}(COALESCE(base_amount, amount)) AS amount
		FROM journal_lines WHERE organization_id = @org AND ledger_account_id = ?`, control).
		And("accounting_date >= ?", from).And("is_posted = ?", true)
	if legalEntityIDs != nil {
		q.And("legal_entity_id {any}", legalEntityIDs)
	}
	return db.All[ControlMovement](ctx, tx, q.Then("GROUP BY legal_entity_id, unit, credit_or_debit"), q.Args...)
}
