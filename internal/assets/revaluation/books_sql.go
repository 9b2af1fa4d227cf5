package revaluation

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// postedItem is an item of a posted run with the state of its entry. It is in force if it has no entry, or one that was not
// reversed or unposted since.
type postedItem struct {
	RunID         string  `db:"revaluation_id"`
	Key           string  `db:"key"`
	Kind          string  `db:"kind"`
	Unit          string  `db:"unit"`
	EntryID       *string `db:"journal_entry_id"`
	Status        *string `db:"status"` // of the entry
	NextID        *string `db:"next_entry_id"`
	EntryPeriodID *string `db:"accounting_period_id"` // of the entry
}

func (s postedItem) inForce() bool {
	return s.EntryID == nil || db.OrEmpty(s.Status) == "posted" && s.NextID == nil
}

const postedFrom = ` FROM revaluation_parts p
	JOIN accounting_periods a ON a.organization_id = @org AND a.accounting_period_id = p.accounting_period_id
	JOIN revaluation_items i ON i.organization_id = @org AND i.revaluation_id = p.revaluation_id
		AND i.legal_entity_id = p.legal_entity_id AND i.kind = p.kind
	LEFT JOIN journal_entries e ON e.organization_id = @org AND e.journal_entry_id = i.journal_entry_id`

// selectPosted reads the items of posted runs of a legal entity up to a period, the latest first.
func selectPosted(ctx context.Context, tx *db.Tx, legalEntityID, throughKey string) ([]postedItem, error) {
	return db.All[postedItem](ctx, tx,
		"SELECT p.revaluation_id, a.key, i.kind, i.unit, i.journal_entry_id, e.status, e.next_entry_id, e.accounting_period_id"+postedFrom+`
		WHERE p.organization_id = @org AND p.legal_entity_id = ? AND p.status = 'posted' AND a.key <= ?
		ORDER BY a.key DESC, i.kind, i.unit`, legalEntityID, throughKey)
}

// runOfEntry is a run, such as that which made or kept an entry, with its period.
type runOfEntry struct {
	ID        string `db:"revaluation_id"`
	PeriodKey string `db:"key"`
}

// selectRunOf reads the last run that made or kept an entry.
func selectRunOf(ctx context.Context, tx *db.Tx, entryID string) (runOfEntry, error) {
	return db.One[runOfEntry](ctx, tx, "revaluation", `SELECT i.revaluation_id, a.key FROM revaluation_items i
		JOIN revaluations r ON r.organization_id = @org AND r.revaluation_id = i.revaluation_id
		JOIN accounting_periods a ON a.organization_id = @org AND a.accounting_period_id = r.accounting_period_id
		WHERE i.organization_id = @org AND i.journal_entry_id = ? ORDER BY i.revaluation_id DESC LIMIT 1`, entryID)
}

// selectLastRun reads the last run in force of a legal entity and a kind after a period, if there is one.
func selectLastRun(ctx context.Context, tx *db.Tx, legalEntityID string, kind Kind, afterKey string) ([]runOfEntry, error) {
	return db.All[runOfEntry](ctx, tx, `SELECT p.revaluation_id, a.key FROM revaluation_parts p
		JOIN accounting_periods a ON a.organization_id = @org AND a.accounting_period_id = p.accounting_period_id
		WHERE p.organization_id = @org AND p.legal_entity_id = ? AND p.kind = ? AND p.status = 'posted' AND a.key > ?
		ORDER BY a.key DESC LIMIT 1`, legalEntityID, string(kind), afterKey)
}

type stateRow struct {
	Unit      string         `db:"unit"`
	LotID     string         `db:"subject_id"`
	Quantity  money.Decimal  `db:"quantity"`
	Cost      *money.Decimal `db:"cost"` // nil for the row of an account
	After     money.Decimal  `db:"after"`
	TakenOver *money.Decimal `db:"taken_over"`
}

// selectStates reads the adjustments of lots after a run.
func selectStates(ctx context.Context, tx *db.Tx, runID, legalEntityID string, kind Kind, units []string) ([]stateRow, error) {
	return db.All[stateRow](ctx, tx, "SELECT "+db.Columns[stateRow]()+
		` FROM revaluation_rows WHERE organization_id = @org AND revaluation_id = ? AND legal_entity_id = ? AND kind = ?
		AND unit {any} ORDER BY unit, subject_id`, runID, legalEntityID, string(kind), units)
}

// selectLines reads the lines of entries, in order.
func selectLines(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string][]Line, error) {
	rows, err := journal.SideAmounts(ctx, tx, entryIDs)
	out := map[string][]Line{}
	for _, r := range rows {
		out[r.EntryID] = append(out[r.EntryID], Line{AccountID: r.AccountID, Side: book.Side(r.Side), Amount: r.Amount})
	}
	return out, err
}

type statusRow struct {
	LegalEntityID string `db:"legal_entity_id"`
	Kind          string `db:"kind"`
	RunID         string `db:"revaluation_id"`
	Status        string `db:"status"`
	Expected      string `db:"expected"`
}

// selectWrongStatus reads the parts whose status is not the one that follows from the runs: all parts of a reversed run are reversed,
// and a later run for the same legal entity, period and kind has replaced the others.
func selectWrongStatus(ctx context.Context, tx *db.Tx) ([]statusRow, error) {
	return db.All[statusRow](ctx, tx, `SELECT s.* FROM (
		SELECT p.legal_entity_id, p.kind, p.revaluation_id, p.status, CASE WHEN r.reversed_at IS NOT NULL THEN 'reversed'
			WHEN EXISTS (SELECT 1 FROM revaluation_parts x WHERE x.organization_id = p.organization_id
				AND x.legal_entity_id = p.legal_entity_id AND x.accounting_period_id = p.accounting_period_id AND x.kind = p.kind
				AND x.revaluation_id > p.revaluation_id) THEN 'replaced' ELSE 'posted' END AS expected
		FROM revaluation_parts p
		JOIN revaluations r ON r.organization_id = p.organization_id AND r.revaluation_id = p.revaluation_id
		WHERE p.organization_id = @org) AS s
		WHERE s.status <> s.expected ORDER BY s.revaluation_id, s.legal_entity_id, s.kind`)
}

type missingEntryRow struct {
	RunID   string `db:"revaluation_id"`
	Unit    string `db:"unit"`
	EntryID string `db:"journal_entry_id"`
}

// selectMissingEntries reads the items whose entry does not exist.
func selectMissingEntries(ctx context.Context, tx *db.Tx) ([]missingEntryRow, error) {
	return db.All[missingEntryRow](ctx, tx,
		`SELECT revaluation_id, unit, journal_entry_id FROM revaluation_items
		WHERE organization_id = @org AND journal_entry_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM journal_entries e
			WHERE e.organization_id = @org AND e.journal_entry_id = revaluation_items.journal_entry_id)`)
}

type sumRow struct {
	RunID         string         `db:"revaluation_id"`
	LegalEntityID string         `db:"legal_entity_id"`
	Kind          string         `db:"kind"`
	Unit          string         `db:"unit"`
	After         money.Decimal  `db:"after"`
	Rows          *money.Decimal `db:"rows_after"`
}

// selectSums reads what items stand at, and what their rows do.
func selectSums(ctx context.Context, tx *db.Tx) ([]sumRow, error) {
	return db.All[sumRow](ctx, tx,
		`SELECT revaluation_id, legal_entity_id, kind, unit, after, (SELECT {dec_sum}(r.after) FROM revaluation_rows r
			WHERE r.organization_id = @org AND r.revaluation_id = revaluation_items.revaluation_id
			AND r.legal_entity_id = revaluation_items.legal_entity_id AND r.kind = revaluation_items.kind
			AND r.unit = revaluation_items.unit) AS rows_after
		FROM revaluation_items WHERE organization_id = @org`)
}
