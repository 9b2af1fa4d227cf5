package period

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// The tables of the journal that are read here are written by package journal only.

// inPeriod is the condition for the posted entries of a period. The dates are redundant: they let the database use an index.
const inPeriod = "e.organization_id = @org AND e.status = 'posted' AND e.accounting_date >= ? AND e.accounting_date < ? AND " +
	"e.accounting_period_id = ?"

type positionRow struct {
	LegalEntityID   string         `db:"legal_entity_id"`
	LedgerAccountID string         `db:"ledger_account_id"`
	DebitsBefore    *money.Decimal `db:"debits_before"`
	CreditsBefore   *money.Decimal `db:"credits_before"`
	Debits          *money.Decimal `db:"debits"`
	Credits         *money.Decimal `db:"credits"`
}

// selectPositions returns the positions of a period by legal entity. It leaves out accounts without opening balance and movements.
func selectPositions(ctx context.Context, tx *db.Tx, p Period, legalEntityIDs []string) (map[string][]Position, error) {
	rows, err := db.All[positionRow](ctx, tx, `SELECT b.legal_entity_id, b.ledger_account_id,
			{dec_sum}(CASE WHEN p.key < ? THEN b.debits END) AS debits_before, {dec_sum}(CASE WHEN p.key < ? THEN b.credits END) AS credits_before,
			{dec_sum}(CASE WHEN p.key = ? THEN b.debits END) AS debits, {dec_sum}(CASE WHEN p.key = ? THEN b.credits END) AS credits
		FROM account_balances b JOIN accounting_periods p ON p.organization_id = b.organization_id AND p.accounting_period_id =
		b.accounting_period_id
		WHERE b.organization_id = @org AND b.tag_id = '' AND b.legal_entity_id {any} AND p.key <= ?
		GROUP BY b.legal_entity_id, b.ledger_account_id ORDER BY b.legal_entity_id, b.ledger_account_id`,
		p.Key, p.Key, p.Key, p.Key, legalEntityIDs, p.Key)
	out := map[string][]Position{}
	for _, r := range rows {
		at := positionOf(r)
		if !at.Opening.IsZero() || !at.Debits.IsZero() || !at.Credits.IsZero() {
			out[r.LegalEntityID] = append(out[r.LegalEntityID], at)
		}
	}
	return out, err
}

func positionOf(r positionRow) Position {
	at := Position{LedgerAccountID: r.LedgerAccountID, Opening: orZero(r.DebitsBefore).Sub(orZero(r.CreditsBefore)),
		Debits: orZero(r.Debits), Credits: orZero(r.Credits)}
	at.Closing = at.Opening.Add(at.Debits).Sub(at.Credits)
	return at
}

func orZero(d *money.Decimal) money.Decimal {
	if d == nil {
		return money.Decimal{}
	}
	return *d
}

// movement is the debits and credits of an account.
type movement struct{ debits, credits money.Decimal }

// entryRef is what a check needs to name an entry.
type entryRef struct {
	ID     string `db:"journal_entry_id"`
	Number int64  `db:"number"`
}

const isDraft = `e.organization_id = @org AND e.status = 'draft' AND e.accounting_date >= ? AND e.accounting_date < ?`

// countDrafts counts the drafts dated in a period, by the legal entity of their lines.
func countDrafts(ctx context.Context, tx *db.Tx, p Period, legalEntityIDs []string) (map[string]int64, error) {
	rows, err := db.All[struct {
		LegalEntityID string `db:"legal_entity_id"`
		Count         int64  `db:"count"`
	}](ctx, tx, `SELECT l.legal_entity_id, count(DISTINCT e.journal_entry_id) AS count
		FROM journal_entries e JOIN journal_lines l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
		WHERE `+isDraft+` AND l.legal_entity_id {any} GROUP BY l.legal_entity_id`, p.Start, p.End, legalEntityIDs)
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.LegalEntityID] = r.Count
	}
	return out, err
}

// selectDrafts returns the first drafts dated in a period with a line of a legal entity.
func selectDrafts(ctx context.Context, tx *db.Tx, p Period, legalEntityID string, limit int) ([]entryRef, error) {
	return db.All[entryRef](ctx, tx, `SELECT DISTINCT e.journal_entry_id, e.number
		FROM journal_entries e JOIN journal_lines l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
		WHERE `+isDraft+` AND l.legal_entity_id = ? ORDER BY e.number LIMIT ?`, p.Start, p.End, legalEntityID, limit)
}

// countDraftsBeyond counts the drafts dated in a period that have a line of a legal entity and concern another one outside the actor's key.
func countDraftsBeyond(ctx context.Context, tx *db.Tx, p Period, legalEntityID string) (int64, error) {
	who := actor.From(ctx)
	if !who.Limited() {
		return 0, nil
	}
	const line = "EXISTS (SELECT 1 FROM journal_lines l WHERE l.organization_id = e.organization_id AND l.journal_entry_id = " +
		"e.journal_entry_id AND "
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM journal_entries e WHERE "+isDraft+" AND "+line+"l.legal_entity_id = ?) "+
		"AND (NOT (e.legal_entity_id {any}) OR "+line+"NOT (l.legal_entity_id {any})))",
		p.Start, p.End, legalEntityID, who.LegalEntityIDs, who.LegalEntityIDs)
}

// selectEntryIDs returns the posted entries of a period with a line of one of the legal entities, in the order of their
// numbers. It includes entries that belong to one of them but have no such line, because looking for the lines of each
// entry would take as long as reading them.
func selectEntryIDs(ctx context.Context, tx *db.Tx, p Period, legalEntityIDs []string) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT e.journal_entry_id FROM journal_entries e WHERE `+inPeriod+`
		AND (e.legal_entity_id {any} OR EXISTS (SELECT 1 FROM journal_lines l WHERE l.organization_id = e.organization_id AND
		l.journal_entry_id = e.journal_entry_id AND l.legal_entity_id {any}))
		ORDER BY e.number`, p.Start, p.End, p.ID, legalEntityIDs, legalEntityIDs)
}

// lineRow is a line with the columns of its entry that never change.
type lineRow struct {
	Number          int64          `db:"number"`
	EntryID         string         `db:"journal_entry_id"`
	AccountingDate  time.Time      `db:"accounting_date"`
	EntryEntityID   string         `db:"entry_entity_id"`
	Position        int64          `db:"position"`
	ID              string         `db:"journal_line_id"`
	LedgerAccountID string         `db:"ledger_account_id"`
	LegalEntityID   string         `db:"legal_entity_id"`
	Side            string         `db:"credit_or_debit"`
	Amount          money.Decimal  `db:"amount"`
	Currency        string         `db:"currency"`
	Base            *money.Decimal `db:"base_amount"`
}

// selectEntryLines returns the lines of some entries, entry by entry.
func selectEntryLines(ctx context.Context, tx *db.Tx, entryIDs []string) ([]lineRow, error) {
	return db.All[lineRow](ctx, tx, `SELECT e.number, e.journal_entry_id, e.accounting_date, e.legal_entity_id AS entry_entity_id,
			l.position, l.journal_line_id, l.ledger_account_id, l.legal_entity_id, l.credit_or_debit, l.amount, l.currency, l.base_amount
		FROM journal_entries e JOIN journal_lines l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
		WHERE e.organization_id = @org AND e.journal_entry_id {any} ORDER BY e.number, l.position`, entryIDs)
}

// selectMisdatedEntries returns the numbers of posted entries that are not dated in their period.
func selectMisdatedEntries(ctx context.Context, tx *db.Tx, limit int) ([]int64, error) {
	return db.All[int64](ctx, tx, `SELECT e.number FROM journal_entries e
		LEFT JOIN accounting_periods p ON p.organization_id = e.organization_id AND p.accounting_period_id = e.accounting_period_id
		WHERE e.organization_id = @org AND e.status = 'posted' AND (p.key IS NULL OR e.accounting_date < p.start_date_utc OR
		e.accounting_date >= p.end_date_utc)
		ORDER BY e.number LIMIT ?`, limit)
}
