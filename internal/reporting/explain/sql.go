package explain

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// lineFilter selects posted lines of an account.
type lineFilter struct {
	accountID, tagID string
	entities         []string // nil means all
	from, until      time.Time
	side             string  // DEBIT or CREDIT; empty for both
	unit             *string // of the lines; empty for the currency of the books
	through          *linePosition
}

// linePosition is the position of a line on its account.
type linePosition struct {
	date             time.Time
	number, position int64
}

type lineRow struct {
	ID              string         `db:"journal_line_id"`
	EntryID         string         `db:"journal_entry_id"`
	Number          int64          `db:"number"`
	Position        int64          `db:"position"`
	Date            time.Time      `db:"accounting_date"`
	LedgerAccountID string         `db:"ledger_account_id"`
	LegalEntityID   string         `db:"legal_entity_id"`
	Side            string         `db:"credit_or_debit"`
	Given           money.Decimal  `db:"amount"`
	Amount          *money.Decimal `db:"base_amount"`
	Unit            *string        `db:"unit"`
	Quantity        *money.Decimal `db:"quantity"`
	Memo            *string        `db:"memo"`
	Currency        string         `db:"currency"`
	EntryMemo       *string        `db:"entry_memo"`
	OriginatedBy    string         `db:"originated_by"`
	TransactionID   *string        `db:"transaction_id"`
	TransactionNo   *int64         `db:"transaction_number"`
	EntryEntityID   string         `db:"entry_entity_id"`
}

// line converts a row, with the sign for a figure that debits increase. The transaction of an entry belongs to the legal
// entity of the entry.
func (r lineRow) line(who actor.Actor) Line {
	l := Line{
		ID: r.ID, EntryID: r.EntryID, Number: r.Number, Position: r.Position, Date: r.Date, LedgerAccountID: r.LedgerAccountID,
		LegalEntityID: r.LegalEntityID, Debit: r.Side == debit,
		Amount: r.Given, Currency: r.Currency, Unit: db.OrEmpty(r.Unit), Quantity: r.Quantity,
		Memo: db.OrEmpty(r.Memo), EntryMemo: db.OrEmpty(r.EntryMemo), OriginatedBy: r.OriginatedBy,
	}
	if r.TransactionID != nil && r.TransactionNo != nil && who.Sees(r.EntryEntityID) {
		l.TransactionID, l.TransactionNo = *r.TransactionID, *r.TransactionNo
	}
	if r.Amount != nil {
		l.Amount = *r.Amount
	}
	if !l.Debit {
		l.Amount = l.Amount.Neg()
	}
	return l
}

const debit, credit = "DEBIT", "CREDIT"

const lineColumns = `l.journal_line_id, l.journal_entry_id, l.number, l.position, l.accounting_date, l.ledger_account_id,
	l.legal_entity_id, l.credit_or_debit, l.amount, l.base_amount, l.unit,
	l.quantity, l.memo, (SELECT b.base_currency FROM legal_entities AS b WHERE b.organization_id = @org AND b.legal_entity_id =
	l.legal_entity_id) AS currency, e.memo AS entry_memo,
	e.originated_by, e.transaction_id, e.transaction_number, e.legal_entity_id AS entry_entity_id`

const fromLines = ` FROM journal_lines AS l JOIN journal_entries AS e ON e.organization_id = l.organization_id AND
	e.journal_entry_id = l.journal_entry_id WHERE l.organization_id = @org`

// narrow adds the conditions of the filter except where the lines begin.
func (f lineFilter) narrow(q *db.Query) *db.Query {
	q.And("l.ledger_account_id = ?", f.accountID).And("l.is_posted = ?", true)
	if f.through != nil {
		q.And("(l.accounting_date, l.number, l.position) <= (?, ?, ?)", f.through.date, f.through.number, f.through.position)
	} else {
		q.And("l.accounting_date < ?", f.until)
	}
	if f.entities != nil {
		q.And("l.legal_entity_id {any}", f.entities)
	}
	if f.side != "" {
		q.And("l.credit_or_debit = ?", f.side)
	}
	switch {
	case f.unit == nil:
	case *f.unit == "":
		q.And("l.unit IS NULL")
	default:
		q.And("l.unit = ?", *f.unit)
	}
	if f.tagID != "" {
		q.And("(' ' || e.tag_ids || ' ' LIKE ? OR ' ' || l.tag_ids || ' ' LIKE ?)", "% "+f.tagID+" %", "% "+f.tagID+" %")
	}
	return q
}

// selectLines reads the index of the account's lines from the beginning or after a line. It has exactly one lower bound,
// so that no engine scans from the beginning of the range when the page begins later.
func selectLines(ctx context.Context, tx *db.Tx, f lineFilter, after *linePosition, limit int) ([]Line, error) {
	q := f.narrow(db.Select("SELECT " + lineColumns + fromLines))
	if after == nil {
		q.And("l.accounting_date >= ?", f.from)
	} else {
		q.And("(l.accounting_date, l.number, l.position) > (?, ?, ?)", after.date, after.number, after.position)
	}
	rows, err := db.All[lineRow](ctx, tx, q.Then("ORDER BY l.accounting_date, l.number, l.position LIMIT ?", int64(limit)), q.Args...)
	if err != nil {
		return nil, err
	}
	return linesOf(ctx, tx, rows)
}

// linesOf converts rows, without the memos of entries that the actor may not see.
func linesOf(ctx context.Context, tx *db.Tx, rows []lineRow) ([]Line, error) {
	out, who := make([]Line, len(rows)), actor.From(ctx)
	for i, r := range rows {
		out[i] = r.line(who)
	}
	return out, journal.BlankHidden(ctx, tx, out, func(l Line) string { return l.EntryID }, func(l *Line) { l.EntryMemo = "" })
}

type sidesRow struct {
	Debits  *money.Decimal `db:"debits"`
	Credits *money.Decimal `db:"credits"`
}

// net returns debits less credits.
func (r sidesRow) net() (net money.Decimal) {
	if r.Debits != nil {
		net = net.Add(*r.Debits)
	}
	if r.Credits != nil {
		net = net.Sub(*r.Credits)
	}
	return net
}

// sumLines adds up lines, as debits less credits.
func sumLines(ctx context.Context, tx *db.Tx, f lineFilter) (money.Decimal, error) {
	const amount = "THEN COALESCE(l.base_amount, l.amount) END)"
	q := f.narrow(db.Select("SELECT {dec_sum}(CASE l.credit_or_debit WHEN 'DEBIT' "+amount+
		" AS debits, {dec_sum}(CASE l.credit_or_debit WHEN 'CREDIT' "+amount+" AS credits"+fromLines)).
		And("l.accounting_date >= ?", f.from)
	r, err := db.One[sidesRow](ctx, tx, "line", q.Then(""), q.Args...)
	return r.net(), err
}

// sumBefore returns the balance of an account at the beginning of a period, as debits less credits.
func sumBefore(ctx context.Context, tx *db.Tx, accountID, tagID, periodKey string, entities []string) (money.Decimal, error) {
	r, err := db.One[sidesRow](ctx, tx, "balance",
		`SELECT {dec_sum}(b.debits) AS debits, {dec_sum}(b.credits) AS credits FROM account_balances AS b
		JOIN accounting_periods AS p ON p.organization_id = @org AND p.accounting_period_id = b.accounting_period_id
		WHERE b.organization_id = @org AND b.tag_id = ? AND b.legal_entity_id {any} AND b.ledger_account_id = ? AND p.key < ?`, tagID,
		entities, accountID, periodKey)
	return r.net(), err
}

// selectEntry reads the lines of one entry.
func selectEntry(ctx context.Context, tx *db.Tx, entryID string, limit int) ([]Line, error) {
	q := db.Select("SELECT "+lineColumns+fromLines).And("l.journal_entry_id = ?", entryID).And("l.is_posted = ?", true)
	if who := actor.From(ctx); who.Limited() {
		q.And("l.legal_entity_id {any}", who.LegalEntityIDs)
	}
	rows, err := db.All[lineRow](ctx, tx, q.Then("ORDER BY l.position LIMIT ?", int64(limit)), q.Args...)
	if err != nil {
		return nil, err
	}
	return linesOf(ctx, tx, rows)
}
