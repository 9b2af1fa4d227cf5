package period

import (
	"context"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// inRange is the condition for the entries of a period that are dated in a range.
const inRange = "e.organization_id = @org AND e.accounting_date >= ? AND e.accounting_date < ? AND e.accounting_period_id = ?"

// hasEntries reports whether there is an entry in a range, posted or not.
func hasEntries(ctx context.Context, tx *db.Tx, s dateRange) (bool, error) {
	found, err := db.All[string](ctx, tx, "SELECT e.journal_entry_id FROM journal_entries e WHERE "+inRange+" LIMIT 1", s.start,
		s.end, s.from.ID)
	return len(found) > 0, err
}

// countClosed counts the posted entries of a range with a line of a legal entity for which one of the periods is closed.
func countClosed(ctx context.Context, tx *db.Tx, s dateRange, periodIDs []string) (int64, error) {
	return db.One[int64](ctx, tx, "count", `SELECT count(*) FROM journal_entries e WHERE `+inRange+` AND e.status = 'posted'
		AND EXISTS (SELECT 1 FROM journal_lines l JOIN period_closings c ON c.organization_id = l.organization_id AND c.legal_entity_id =
		l.legal_entity_id
			WHERE l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id AND c.reopened_at IS NULL AND
			c.accounting_period_id {any})`,
		s.start, s.end, s.from.ID, periodIDs)
}

type rangeTotalRow struct {
	LegalEntityID   string         `db:"legal_entity_id"`
	LedgerAccountID string         `db:"ledger_account_id"`
	EntryTagIDs     string         `db:"entry_tag_ids"`
	LineTagIDs      string         `db:"line_tag_ids"`
	Debits          *money.Decimal `db:"debits"`
	Credits         *money.Decimal `db:"credits"`
}

// lines returns the sums of a row as two lines, a debit and a credit.
func (r rangeTotalRow) lines() []book.Line {
	tags := map[string]bool{}
	line := book.Line{Entity: r.LegalEntityID, Account: r.LedgerAccountID}
	for _, tag := range append(strings.Fields(r.EntryTagIDs), strings.Fields(r.LineTagIDs)...) {
		if !tags[tag] {
			tags[tag] = true
			line.Tags = append(line.Tags, tag)
		}
	}
	debit, credit := line, line
	debit.Side, debit.Base = book.Debit, orZero(r.Debits)
	credit.Side, credit.Base = book.Credit, orZero(r.Credits)
	return []book.Line{debit, credit}
}

// selectRangeTotals sums up the posted lines of a range by account and tags.
func selectRangeTotals(ctx context.Context, tx *db.Tx, s dateRange) ([]rangeTotalRow, error) {
	return db.All[rangeTotalRow](ctx, tx, `SELECT l.legal_entity_id, l.ledger_account_id,
			e.tag_ids AS entry_tag_ids, l.tag_ids AS line_tag_ids,
			{dec_sum}(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.base_amount END) AS debits, {dec_sum}(CASE WHEN l.credit_or_debit =
			'CREDIT' THEN l.base_amount END) AS credits
		FROM journal_entries e JOIN journal_lines l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
		WHERE `+inRange+` AND e.status = 'posted' GROUP BY l.legal_entity_id, l.ledger_account_id, e.tag_ids, l.tag_ids`, s.start,
		s.end, s.from.ID)
}

type rangeUnitRow struct {
	LegalEntityID   string         `db:"legal_entity_id"`
	LedgerAccountID string         `db:"ledger_account_id"`
	Unit            string         `db:"unit"`
	QuantityIn      *money.Decimal `db:"quantity_in"`
	QuantityOut     *money.Decimal `db:"quantity_out"`
	Debits          *money.Decimal `db:"debits"`
	Credits         *money.Decimal `db:"credits"`
}

func (u rangeUnitRow) quantity() money.Decimal {
	return orZero(u.QuantityIn).Sub(orZero(u.QuantityOut))
}

func (u rangeUnitRow) amount() money.Decimal { return orZero(u.Debits).Sub(orZero(u.Credits)) }

// selectRangeUnits sums up the quantities of assets and foreign currencies that the posted lines of a range move.
func selectRangeUnits(ctx context.Context, tx *db.Tx, s dateRange) ([]rangeUnitRow, error) {
	return db.All[rangeUnitRow](ctx, tx, `SELECT l.legal_entity_id, l.ledger_account_id, l.unit,
			{dec_sum}(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.quantity END) AS quantity_in, {dec_sum}(CASE WHEN l.credit_or_debit =
			'CREDIT' THEN l.quantity END) AS quantity_out,
			{dec_sum}(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.base_amount END) AS debits, {dec_sum}(CASE WHEN l.credit_or_debit =
			'CREDIT' THEN l.base_amount END) AS credits
		FROM journal_entries e JOIN journal_lines l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
		WHERE `+inRange+` AND e.status = 'posted' AND l.unit IS NOT NULL GROUP BY l.legal_entity_id, l.ledger_account_id, l.unit`,
		s.start, s.end, s.from.ID)
}

func updateBounds(ctx context.Context, tx *db.Tx, periods []Period) error {
	return db.Upsert(ctx, tx, "accounting_periods", rowsOf(periods), `ON CONFLICT (organization_id, accounting_period_id)
		DO UPDATE SET start_date_utc = excluded.start_date_utc, end_date_utc = excluded.end_date_utc`)
}
