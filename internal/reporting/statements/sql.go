package statements

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// lineFilter selects lines of an account.
type lineFilter struct {
	accountID, tagID string
	entities         []string // nil means all
	from, until      time.Time
}

type lineRow struct {
	EntryID       string         `db:"journal_entry_id"`
	Position      int64          `db:"position"`
	ID            string         `db:"journal_line_id"`
	LegalEntityID string         `db:"legal_entity_id"`
	Side          string         `db:"credit_or_debit"`
	Given         money.Decimal  `db:"amount"`
	GivenCurrency string         `db:"currency"`
	Amount        *money.Decimal `db:"base_amount"`
	Unit          *string        `db:"unit"`
	Quantity      *money.Decimal `db:"quantity"`
	Memo          *string        `db:"memo"`
	TagIDs        string         `db:"tag_ids"`
	Date          time.Time      `db:"accounting_date"`
	Number        int64          `db:"number"`
	EntryMemo     *string        `db:"entry_memo"`
	EntryTagIDs   string         `db:"entry_tag_ids"`
}

func (r lineRow) line() Line {
	tags := append(strings.Fields(r.EntryTagIDs), strings.Fields(r.TagIDs)...) // never nil, as the API has no null here
	slices.Sort(tags)
	l := Line{
		EntryID: r.EntryID, Number: r.Number, Position: r.Position, ID: r.ID, LegalEntityID: r.LegalEntityID, Date: r.Date,
		Debit:  r.Side == "DEBIT",
		Amount: r.Given, Given: r.Given, GivenCurrency: r.GivenCurrency, Memo: db.OrEmpty(r.Memo),
		EntryMemo: db.OrEmpty(r.EntryMemo), TagIDs: slices.Compact(tags), Unit: db.OrEmpty(r.Unit), UnitQuantity: r.Quantity,
	}
	if r.Amount != nil {
		l.Amount = *r.Amount
	}
	return l
}

const lineColumns = `l.journal_entry_id, l.position, l.journal_line_id, l.legal_entity_id, l.credit_or_debit, l.amount, l.currency,
	l.base_amount, l.unit, l.quantity, l.memo, l.tag_ids,
	l.accounting_date, l.number, e.memo AS entry_memo, e.tag_ids AS entry_tag_ids`

// selectLines reads the index of the account's lines from where the page begins. It has exactly one lower bound, so that
// no engine scans from the beginning of the range when the page begins later.
func selectLines(ctx context.Context, tx *db.Tx, f lineFilter, after *position, limit int) ([]lineRow, error) {
	q := db.Select("SELECT "+lineColumns+` FROM journal_lines l
		JOIN journal_entries e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id WHERE
		l.organization_id = @org`).
		And("l.ledger_account_id = ?", f.accountID).And("l.is_posted = ?", true).And("l.accounting_date < ?", f.until)
	if after == nil {
		q.And("l.accounting_date >= ?", f.from)
	} else {
		q.And("(l.accounting_date, l.number, l.position) > (?, ?, ?)", after.date, after.number, after.position)
	}
	if f.entities != nil {
		q.And("l.legal_entity_id {any}", f.entities)
	}
	if f.tagID != "" {
		q.And("(' ' || e.tag_ids || ' ' LIKE ? OR ' ' || l.tag_ids || ' ' LIKE ?)", "% "+f.tagID+" %", "% "+f.tagID+" %")
	}
	rows, err := db.All[lineRow](ctx, tx, q.Then("ORDER BY l.accounting_date, l.number, l.position LIMIT ?", int64(limit)), q.Args...)
	if err != nil {
		return nil, err
	}
	return rows, journal.BlankHidden(ctx, tx, rows, func(r lineRow) string { return r.EntryID }, func(r *lineRow) { r.EntryMemo = nil })
}

// equityFilter selects lines on equity accounts.
type equityFilter struct {
	entities, accounts []string
	tagID              string
	until              time.Time
}

// equityRow is a posted line on an equity account. Date is the accounting date of its entry, or for a reversal of the entry it reverses:
// that of DatedEntryID.
type equityRow struct {
	LegalEntityID   string        `db:"legal_entity_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	PeriodID        string        `db:"accounting_period_id"`
	Number          int64         `db:"number"`
	Side            string        `db:"credit_or_debit"`
	Amount          money.Decimal `db:"amount"`
	Rates           *string       `db:"rates"`
	Date            time.Time     `db:"accounting_date"`
	DatedEntryID    string        `db:"dated_entry_id"`
}

// selectEquity reads the posted lines on equity accounts before an instant.
func selectEquity(ctx context.Context, tx *db.Tx, f equityFilter) ([]equityRow, error) {
	q := db.Select("SELECT l.legal_entity_id, l.ledger_account_id, e.accounting_period_id, l.number, l.credit_or_debit, "+
		"COALESCE(l.base_amount, l.amount) AS amount, l.rates, "+period.DatedEntryAt+" AS accounting_date, "+
		period.DatedEntryID+` AS dated_entry_id
		FROM journal_lines l JOIN journal_entries e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id`+
		period.JoinReversed+"WHERE l.organization_id = @org").
		And("l.ledger_account_id {any}", f.accounts).And("l.is_posted = ?", true).And("l.accounting_date < ?", f.until).
		And("l.legal_entity_id {any}", f.entities)
	if f.tagID != "" {
		q.And("(' ' || e.tag_ids || ' ' LIKE ? OR ' ' || l.tag_ids || ' ' LIKE ?)", "% "+f.tagID+" %", "% "+f.tagID+" %")
	}
	return db.All[equityRow](ctx, tx, q.Then(""), q.Args...)
}
