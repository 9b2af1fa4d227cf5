package statements

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// total is the sum of postings to an account of a legal entity in a period.
type total struct {
	legalEntityID, ledgerAccountID, periodID string
	debits, credits                          money.Decimal
}

// selectTotals reads the totals that posting maintains; nil for entities, periods or accounts means all of them. The
// database returns one text per account, which is several times faster than a row for each of its periods.
func selectTotals(ctx context.Context, tx *db.Tx, tagID string, entities, periods, accounts []string) ([]total, error) {
	q := db.Select("SELECT legal_entity_id, ledger_account_id, string_agg(accounting_period_id || ' ' || debits || ' ' || credits, "+
		"';') AS texts FROM account_balances WHERE organization_id = @org").And("tag_id = ?", tagID)
	if entities != nil {
		q.And("legal_entity_id {any}", entities)
	}
	if periods != nil {
		q.And("accounting_period_id {any}", periods)
	}
	if len(accounts) > 0 {
		q.And("ledger_account_id {any}", accounts)
	}
	type row struct {
		LegalEntityID   string `db:"legal_entity_id"`
		LedgerAccountID string `db:"ledger_account_id"`
		Texts           string `db:"texts"`
	}
	rows, err := db.All[row](ctx, tx, q.Then("GROUP BY legal_entity_id, ledger_account_id"), q.Args...)
	if err != nil {
		return nil, err
	}
	n := 0
	for i := range rows {
		n += 1 + strings.Count(rows[i].Texts, ";")
	}
	out := make([]total, 0, n)
	for _, r := range rows {
		for text := range strings.SplitSeq(r.Texts, ";") {
			t := total{legalEntityID: r.LegalEntityID, ledgerAccountID: r.LedgerAccountID}
			period, amounts, _ := strings.Cut(text, " ")
			debits, credits, _ := strings.Cut(amounts, " ")
			t.periodID = period
			if err := errors.Join(t.debits.Scan(debits), t.credits.Scan(credits)); err != nil {
				return nil, err
			}
			out = append(out, t)
		}
	}
	return out, nil
}

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
		EntryMemo: db.OrEmpty(r.EntryMemo), TagIDs: slices.Compact(tags),
	}
	if r.Amount != nil {
		l.Amount = *r.Amount
	}
	return l
}

const lineColumns = `l.journal_entry_id, l.position, l.journal_line_id, l.legal_entity_id, l.credit_or_debit, l.amount, l.currency,
	l.base_amount, l.memo, l.tag_ids,
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
	return db.All[lineRow](ctx, tx, q.Then("ORDER BY l.accounting_date, l.number, l.position LIMIT ?", int64(limit)), q.Args...)
}
