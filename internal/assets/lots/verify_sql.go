package lots

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// ConsumptionKey identifies a consumption.
type ConsumptionKey struct {
	Pool     string
	OrderKey lot.OrderKey
}

// entryInForce is the SQL condition for an entry that counts: it is posted, and neither reversed nor a reversal.
const entryInForce = "e.status = 'posted' AND e.next_entry_id IS NULL AND e.originated_by <> 'reversal'"

const joinEntry = " x LEFT JOIN journal_entries e ON e.organization_id = x.organization_id AND e.journal_entry_id = " +
	"x.journal_entry_id WHERE x.organization_id = @org AND "

const noPool = " x WHERE x.organization_id = @org AND NOT EXISTS (SELECT 1 FROM lot_pools p WHERE p.organization_id = " +
	"x.organization_id AND p.pool = x.pool) ORDER BY 1"

// orphans are queries for rows that contradict the records they refer to, each with the text of a finding. Uses in a
// closed period keep their entry when it is reversed later; corrections in a later period cancel them.
var orphans = []struct{ kind, text, query string }{
	{"lots without a pool", "the pool of the lot %s does not exist", "SELECT x.asset_id FROM lots" + noPool},
	{"consumptions without a pool", "the pool that the entry %s consumes from does not exist",
		"SELECT x.journal_entry_id FROM lot_consumptions" + noPool},
	{"uses without a pool", "the pool of the use %s does not exist", "SELECT x.use_id FROM lot_uses" + noPool},
	{"lots of entries that are not in force", "the entry of the lot %s does not exist, is not posted or is reversed",
		"SELECT x.asset_id FROM lots" + joinEntry +
			"(e.journal_entry_id IS NULL AND NOT (x.origin = 'manual' AND x.journal_entry_id = '') OR e.journal_entry_id IS NOT NULL " +
			"AND NOT (" + entryInForce + ")) ORDER BY 1"},
	{"consumptions of entries that are not in force", "the entry %s consumes lots but does not exist, is not posted or is reversed",
		"SELECT x.journal_entry_id FROM lot_consumptions" + joinEntry +
			"(e.journal_entry_id IS NULL OR NOT (" + entryInForce + ")) ORDER BY 1"},
	{"uses of entries that are not in force", "the entry of the use %s does not exist, is not posted or is reversed",
		"SELECT x.use_id FROM lot_uses" + joinEntry +
			`(e.journal_entry_id IS NULL OR e.status <> 'posted' OR NOT (` + entryInForce + `) AND NOT EXISTS (
			SELECT 1 FROM lot_uses y WHERE y.organization_id = x.organization_id AND y.pool = x.pool AND {rare}(y.order_key = x.order_key)
			AND y.is_correction)) ORDER BY 1`},
	{"uses in other periods than their entries", "the use %s is not in the accounting period of its entry",
		"SELECT x.use_id FROM lot_uses" + joinEntry +
			"NOT x.is_correction AND (e.accounting_period_id <> x.accounting_period_id OR e.accounting_date <> x.accounting_date) ORDER BY 1"},
	{"uses that are wrongly marked", "the use %s is marked as a correction of another use, or is not, contrary to its entry",
		"SELECT x.use_id FROM lot_uses" + joinEntry +
			`(NOT x.is_correction AND e.originated_by IN ('true_up', 'reversal')
			OR x.is_correction AND e.originated_by NOT IN ('true_up', 'reversal') AND e.accounting_date = x.accounting_date
			AND NOT EXISTS (SELECT 1 FROM lot_uses y WHERE y.organization_id = x.organization_id AND y.pool = x.pool AND y.order_key = x.order_key
			AND y.journal_entry_id <> x.journal_entry_id)) ORDER BY 1`},
	{"corrections in other periods than their dates",
		"a correction of lots of the legal entity %s is not in the accounting period of its date",
		`SELECT x.legal_entity_id FROM lot_corrections x WHERE x.organization_id = @org AND NOT EXISTS (SELECT 1 FROM accounting_periods p
		WHERE p.organization_id = x.organization_id AND p.accounting_period_id = x.accounting_period_id
		AND x.accounting_date >= p.start_date_utc AND x.accounting_date < p.end_date_utc) ORDER BY 1`},
	{"corrections on dates without entries", "a correction of lots of the legal entity %s has a date on which no entry is posted",
		`SELECT x.legal_entity_id FROM lot_corrections x WHERE x.organization_id = @org AND NOT EXISTS (SELECT 1 FROM journal_entries e
		WHERE e.organization_id = x.organization_id AND e.accounting_date = x.accounting_date AND e.status = 'posted') ORDER BY 1`},
	{"lots of sources of other legal entities", "the lot %s is at a source that belongs to another legal entity than the lot",
		`SELECT x.asset_id FROM lots x JOIN sources s ON s.organization_id = x.organization_id AND s.source_id = x.source_id
		WHERE x.organization_id = @org AND s.legal_entity_id <> x.legal_entity_id ORDER BY 1`},
	{"lots with a wrong entry date", "the lot %s is not stored with the accounting date of its entry",
		"SELECT x.asset_id FROM lots" + joinEntry +
			"x.entered_at <> e.accounting_date ORDER BY 1"},
	{"lots with a wrong last use", "the lot %s has a use after the date that is stored as its last use",
		`SELECT x.asset_id FROM lots x WHERE x.organization_id = @org AND EXISTS (
		SELECT 1 FROM lot_uses u WHERE u.organization_id = x.organization_id AND {rare}(u.asset_id = x.asset_id)
		AND {unindexed}u.accounting_date > x.last_used_at) ORDER BY 1`},
}

// FindOrphans adds a finding for each row whose pool does not exist or whose entry is not in force. It is a building block.
func FindOrphans(ctx context.Context, tx *db.Tx, found *finding.List) error {
	for _, o := range orphans {
		names, err := db.All[string](ctx, tx, o.query)
		if err != nil {
			return err
		}
		for _, name := range names {
			found.Addf(o.kind, o.text, name)
		}
	}
	return nil
}

// Pools returns all pools. It is a building block.
func Pools(ctx context.Context, tx *db.Tx) ([]Pool, error) {
	rows, err := db.All[poolRow](ctx, tx, "SELECT "+db.Columns[poolRow]()+" FROM lot_pools WHERE organization_id = @org ORDER BY pool")
	return poolsOf(rows), err
}

// OfPool returns all lots of a pool in order, and the IDs of those whose columns is_open and unit_key, which repeat what
// is left of them, are wrong. It is a building block.
func OfPool(ctx context.Context, tx *db.Tx, pool string) (all []Lot, inconsistent map[string]bool, err error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"pool = ? ORDER BY order_key, seq", pool)
	all, inconsistent = lotsOf(rows), map[string]bool{}
	for i, r := range rows {
		if all[i].RemainingBasis.Sign() < 0 { // it has no unit cost, and is wrong anyway
			continue
		}
		if want := toRow(all[i]); r.Open != want.Open || r.UnitKey != want.UnitKey {
			inconsistent[r.ID] = true
		}
	}
	return all, inconsistent, err
}

// EntryPeriods returns the accounting periods of the entries that created lots, by entry. It is a building block.
func EntryPeriods(ctx context.Context, tx *db.Tx) (map[string]string, error) {
	rows, err := db.All[struct {
		EntryID  string `db:"journal_entry_id"`
		PeriodID string `db:"accounting_period_id"`
	}](ctx, tx, `SELECT DISTINCT e.journal_entry_id, e.accounting_period_id FROM lots x
		JOIN journal_entries e ON e.organization_id = x.organization_id AND e.journal_entry_id = x.journal_entry_id
		WHERE x.organization_id = @org AND e.accounting_period_id IS NOT NULL`)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.EntryID] = r.PeriodID
	}
	return out, err
}

// ConsumptionsOfEntries returns the consumptions of entries, by entry and position. It is a building block.
func ConsumptionsOfEntries(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string][]Consumption, error) {
	rows, err := db.All[consumptionRow](ctx, tx, "SELECT "+db.Columns[consumptionRow]()+fromConsumptions+
		"journal_entry_id {any} ORDER BY position", entryIDs)
	if err != nil {
		return nil, err
	}
	all, err := consumptionsOf(rows)
	out := map[string][]Consumption{}
	for _, t := range all {
		out[t.EntryID] = append(out[t.EntryID], t)
	}
	return out, err
}

// UsesOfConsumptions returns the uses of the consumptions of entries, including corrections, which are written under
// other entries. It is a building block.
func UsesOfConsumptions(ctx context.Context, tx *db.Tx, entryIDs []string) (map[ConsumptionKey][]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+`(pool, order_key) IN (
		SELECT c.pool, c.order_key FROM lot_consumptions c WHERE c.organization_id = @org AND c.journal_entry_id {any}) ORDER BY use_id`,
		entryIDs)
	out := map[ConsumptionKey][]Use{}
	for _, u := range usesOf(rows) {
		at := ConsumptionKey{u.Pool, u.OrderKey}
		out[at] = append(out[at], u)
	}
	return out, err
}

// ByEntry returns the lots that entries created, by entry. It is a building block.
func ByEntry(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string][]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"journal_entry_id {any} ORDER BY pool, seq", entryIDs)
	out := map[string][]Lot{}
	for _, l := range lotsOf(rows) {
		out[l.JournalEntryID] = append(out[l.JournalEntryID], l)
	}
	return out, err
}
