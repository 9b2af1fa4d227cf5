package period

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type keptRateRow struct {
	ClosingID string        `db:"period_closing_id"`
	Quote     string        `db:"quote_currency"`
	AppliesTo string        `db:"applies_to"`
	Sum       money.Decimal `db:"sum_of_rates"`
	Count     int64         `db:"rate_count"`
}

func insertKeptRates(ctx context.Context, tx *db.Tx, rates []KeptRate) error {
	rows := make([]keptRateRow, len(rates))
	for i, r := range rates {
		rows[i] = keptRateRow(r)
	}
	return db.Insert(ctx, tx, "period_closing_rates", rows...)
}

func selectKeptRates(ctx context.Context, tx *db.Tx, closings []string, quote string) ([]KeptRate, error) {
	rows, err := db.All[keptRateRow](ctx, tx, "SELECT "+db.Columns[keptRateRow]()+" FROM period_closing_rates WHERE organization_id = @org "+
		"AND period_closing_id {any} AND quote_currency = ?", closings, quote)
	out := make([]KeptRate, len(rows))
	for i, r := range rows {
		out[i] = KeptRate(r)
	}
	return out, err
}

// selectKeptQuotes returns the currencies into which the active closings of a legal entity keep a rate, by what the rate applies to.
func selectKeptQuotes(ctx context.Context, tx *db.Tx, legalEntityID string, subjects []string) (map[string]map[string]bool, error) {
	rows, err := db.All[keptRateRow](ctx, tx, `SELECT r.period_closing_id, r.quote_currency, r.applies_to, r.sum_of_rates, r.rate_count
		FROM period_closings c JOIN period_closing_rates r ON r.organization_id = c.organization_id AND r.period_closing_id = c.period_closing_id
		WHERE c.organization_id = @org AND c.legal_entity_id = ? AND c.reopened_at IS NULL AND r.applies_to {any}`, legalEntityID, subjects)
	out := map[string]map[string]bool{}
	for _, r := range rows {
		if out[r.AppliesTo] == nil {
			out[r.AppliesTo] = map[string]bool{}
		}
		out[r.AppliesTo][r.Quote] = true
	}
	return out, err
}

// selectFirstUsed returns the key of the first month in which a legal entity has a movement, or an empty key if there is none.
func selectFirstUsed(ctx context.Context, tx *db.Tx, legalEntityID string) (string, error) {
	return db.One[string](ctx, tx, noun, `SELECT COALESCE(min(p.key), '') FROM account_balances b
		JOIN accounting_periods p ON p.organization_id = b.organization_id AND p.accounting_period_id = b.accounting_period_id
		WHERE b.organization_id = @org AND b.tag_id = '' AND b.legal_entity_id = ? AND p.key > ? AND (b.debits <> ? OR b.credits <> ?)`,
		legalEntityID, OpeningKey, money.Decimal{}, money.Decimal{})
}

// A line on an equity account is translated at the rate of the date of its entry; that of a reversal, at the rate of the entry that it
// reverses. In a query in which e is the entry of the line, JoinReversed joins the entry that it reverses, and the others are
// the id and the date of the entry whose date counts.
const (
	JoinReversed = ` LEFT JOIN journal_entries o ON o.organization_id = e.organization_id AND o.journal_entry_id = e.previous_entry_id
		AND e.originated_by = 'reversal' `
	DatedEntryID = "COALESCE(o.journal_entry_id, e.journal_entry_id)"
	DatedEntryAt = "COALESCE(o.accounting_date, e.accounting_date)"
)

// equityEntry is an entry with lines on equity accounts, which are translated at the rate of its date, and the rates that lines keep.
type equityEntry struct {
	ID    string    `db:"journal_entry_id"`
	Date  time.Time `db:"accounting_date"`
	Rates *string   `db:"rates"`
}

const ofEquity = ` WHERE l.organization_id = @org AND l.ledger_account_id {any} AND l.is_posted = ? AND l.accounting_date >= ?
	AND l.accounting_date < ? AND l.legal_entity_id = ?`

// selectEquityEntries returns the entries of a period with lines of a legal entity on some equity accounts; instead of a reversal, the
// entry that it reverses. An entry whose lines keep different rates is returned with each.
func selectEquityEntries(ctx context.Context, tx *db.Tx, p Period, legalEntityID string, accounts []string) ([]equityEntry, error) {
	return db.All[equityEntry](ctx, tx, "SELECT DISTINCT "+DatedEntryID+" AS journal_entry_id, "+DatedEntryAt+` AS accounting_date, l.rates
		FROM journal_lines l JOIN journal_entries e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id`+
		JoinReversed+ofEquity, accounts, true, p.Start, p.End, legalEntityID)
}

// hasEquityLines reports whether a legal entity has lines on some equity accounts in a period.
func hasEquityLines(ctx context.Context, tx *db.Tx, p Period, legalEntityID string, accounts []string) (bool, error) {
	found, err := db.All[string](ctx, tx, "SELECT l.journal_entry_id FROM journal_lines l"+ofEquity+" LIMIT 1",
		accounts, true, p.Start, p.End, legalEntityID)
	return len(found) > 0, err
}
