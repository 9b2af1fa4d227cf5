package readiness

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// These queries read tables that the package of lots owns.

// missing selects uses that no lot covered.
const missing = " u.organization_id = @org AND u.legal_entity_id = ? AND u.asset_id = '' AND u.kind <> 'relocate'"

// parkedPool matches pools of a ledger account instead of a source. More may be consumed from them than they hold, at its
// value.
const parkedPool = "p.source_id IS NULL AND p.ledger_account_id IS NOT NULL"

type deficit struct {
	EntryID   string        `db:"journal_entry_id"`
	AssetType string        `db:"asset_type"`
	At        time.Time     `db:"disposed_at"`
	Quantity  money.Decimal `db:"quantity"`
}

// selectDeficits returns deficits at the end of a period that are still open. Later corrections reduce them.
func selectDeficits(ctx context.Context, tx *db.Tx, p period.Period, legalEntityID string) ([]deficit, error) {
	rows, err := db.All[deficit](ctx, tx,
		`SELECT min(u.journal_entry_id) AS journal_entry_id, u.asset_type, min(u.disposed_at) AS disposed_at, {dec_sum}(u.quantity) AS quantity
		FROM lot_uses u JOIN lot_pools p ON p.organization_id = u.organization_id AND p.pool = u.pool AND NOT (`+parkedPool+`)
		WHERE`+missing+` GROUP BY u.pool, u.order_key, u.asset_type HAVING min(u.accounting_date) < ? ORDER BY min(u.disposed_at), u.order_key`,
		legalEntityID, p.End)
	out := rows[:0]
	for _, r := range rows {
		if !r.Quantity.IsZero() {
			out = append(out, r)
		}
	}
	return out, err
}

type lot struct {
	ID        string        `db:"asset_id"`
	AssetType string        `db:"asset_type"`
	At        time.Time     `db:"accounting_date"`
	Quantity  money.Decimal `db:"quantity"`
}

// selectPending returns the lots with a provisional cost basis that existed by the end of a period. An opening balance at no cost has no
// entry, and is older than every period.
func selectPending(ctx context.Context, tx *db.Tx, p period.Period, legalEntityID string) ([]lot, error) {
	return db.All[lot](ctx, tx, `SELECT l.asset_id, l.asset_type, COALESCE(e.accounting_date, l.acquired_at) AS accounting_date,
		l.quantity FROM lots l
		LEFT JOIN journal_entries e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id
		WHERE l.organization_id = @org AND {rare}(l.legal_entity_id = ?) AND l.basis_pending
		AND (e.journal_entry_id IS NULL OR {unindexed}e.accounting_date < ?)
		ORDER BY COALESCE(e.accounting_date, l.acquired_at), l.asset_id`, legalEntityID, p.End)
}

type difference struct {
	LedgerAccountID string        `db:"ledger_account_id"`
	Unit            string        `db:"unit"`
	Ledger          money.Decimal `db:"ledger"`
	Lots            money.Decimal `db:"cost"`
	Carries         int64         `db:"carries"`
}

// selectDiffering returns the accounts whose balance in an asset differs from the cost basis of their lots at the end of
// a period. Accounts of parked lots from which more was consumed than they held differ until the other side is found, and
// balances carried over from other books are on accounts without lots.
func selectDiffering(ctx context.Context, tx *db.Tx, p period.Period, legalEntityID string) ([]difference, error) {
	rows, err := db.All[difference](ctx, tx,
		`SELECT x.ledger_account_id, x.unit, {dec_sum}(x.ledger) AS ledger, {dec_sum}(x.cost) AS cost, max(x.carries) AS carries FROM (
			SELECT a.ledger_account_id, a.unit, a.accounting_period_id, a.amount AS ledger, '0' AS cost, 0 AS carries FROM account_units a
			WHERE a.organization_id = @org AND a.legal_entity_id = ?
			UNION ALL SELECT l.ledger_account_id, l.asset_type, l.accounting_period_id, '0', l.basis, 1 FROM lot_positions l WHERE
			l.organization_id = @org AND l.legal_entity_id = ?) AS x
		JOIN accounting_periods p ON p.organization_id = @org AND p.accounting_period_id = x.accounting_period_id
		WHERE p.key <= ? GROUP BY x.ledger_account_id, x.unit ORDER BY x.ledger_account_id, x.unit`, legalEntityID, legalEntityID, p.Key)
	if err != nil {
		return nil, err
	}
	beyond, err := db.All[string](ctx, tx,
		"SELECT DISTINCT u.ledger_account_id FROM lot_uses u JOIN lot_pools p ON p.organization_id = u.organization_id AND p.pool = "+
			"u.pool AND "+parkedPool+" WHERE"+missing, legalEntityID)
	free := map[string]bool{}
	for _, id := range beyond {
		free[id] = true
	}
	out := rows[:0]
	for _, r := range rows {
		if r.Carries == 1 && !r.Ledger.Equal(r.Lots) && !free[r.LedgerAccountID] {
			out = append(out, r)
		}
	}
	return out, err
}
