package asset

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// standing tells that an entry counts: it is posted, and neither reversed nor a reversal.
const standing = "e.status = 'posted' AND e.next_entry_id IS NULL AND e.originated_by <> 'reversal'"

const joinEntry = " x LEFT JOIN journal_entries e ON e.organization_id = x.organization_id AND e.journal_entry_id = x.journal_entry_id WHERE x.organization_id = @org AND "

const noPool = " x WHERE x.organization_id = @org AND NOT EXISTS (SELECT 1 FROM lot_pools p WHERE p.organization_id = x.organization_id AND p.pool = x.pool) ORDER BY 1"

// strays find rows that belong to nothing, by a name. What was taken in a closed period stays written under an entry that was reversed since, and
// corrections beside it take it back.
var strays = []struct{ kind, text, query string }{
	{"lots without their pool", "the lot %s is in no pool", "SELECT x.asset_id FROM lots" + noPool},
	{"requests without their pool", "the entry %s asks of no pool", "SELECT x.journal_entry_id FROM lot_takes" + noPool},
	{"uses without their pool", "the use %s is of no pool", "SELECT x.use_id FROM lot_uses" + noPool},
	{"lots of entries that do not stand", "the entry of the lot %s is not there, or not posted, or reversed", "SELECT x.asset_id FROM lots" + joinEntry +
		"(e.journal_entry_id IS NULL AND NOT (x.origin = 'manual' AND x.journal_entry_id = '') OR e.journal_entry_id IS NOT NULL AND NOT (" + standing + ")) ORDER BY 1"},
	{"requests of entries that do not stand", "the entry %s asks for lots, but is not there, or not posted, or reversed", "SELECT x.journal_entry_id FROM lot_takes" + joinEntry +
		"(e.journal_entry_id IS NULL OR NOT (" + standing + ")) ORDER BY 1"},
	{"uses of entries that do not stand", "the entry of the use %s is not there, or not posted, or reversed", "SELECT x.use_id FROM lot_uses" + joinEntry +
		`(e.journal_entry_id IS NULL OR e.status <> 'posted' OR NOT (` + standing + `) AND NOT EXISTS (
			SELECT 1 FROM lot_uses y WHERE y.organization_id = x.organization_id AND y.pool = x.pool AND y.place = x.place AND y.is_correction)) ORDER BY 1`},
	{"uses in other periods than their entries", "the use %s is not in the accounting period of its entry", "SELECT x.use_id FROM lot_uses" + joinEntry +
		"NOT x.is_correction AND (e.accounting_period_id <> x.accounting_period_id OR e.accounting_date <> x.accounting_date) ORDER BY 1"},
}

func selectPools(ctx context.Context, tx *db.Tx) ([]pool, error) {
	rows, err := db.All[poolRow](ctx, tx, "SELECT "+db.Columns[poolRow]()+" FROM lot_pools WHERE organization_id = @org ORDER BY pool")
	out := make([]pool, len(rows))
	for i, r := range rows {
		out[i] = r.pool()
	}
	return out, err
}

func selectPoolLots(ctx context.Context, tx *db.Tx, pool string) ([]lotRow, error) {
	return db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"pool = ? ORDER BY place, seq", pool)
}

// selectLotPeriods gives the accounting periods of the entries that made lots.
func selectLotPeriods(ctx context.Context, tx *db.Tx) (map[string]string, error) {
	rows, err := db.All[struct {
		EntryID  string `db:"journal_entry_id"`
		PeriodID string `db:"accounting_period_id"`
	}](ctx, tx, `SELECT DISTINCT e.journal_entry_id, e.accounting_period_id FROM lots x JOIN journal_entries e ON e.organization_id = x.organization_id AND e.journal_entry_id = x.journal_entry_id
		WHERE x.organization_id = @org AND e.accounting_period_id IS NOT NULL`)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.EntryID] = r.PeriodID
	}
	return out, err
}

// selectLoose gives the legal entities whose lots do not tell in which period they came: something of a closed period was made up for in a later
// one. Of what cost nothing the entry has no line of the legal entity it went to.
func selectLoose(ctx context.Context, tx *db.Tx) (map[string]bool, error) {
	ids, err := db.All[string](ctx, tx, `WITH late AS (
			SELECT e.journal_entry_id, e.previous_entry_id, e.legal_entity_id FROM journal_entries e LEFT JOIN journal_entries p ON p.organization_id = e.organization_id AND p.journal_entry_id = e.previous_entry_id
			WHERE e.organization_id = @org AND e.status = 'posted' AND (e.originated_by = 'true_up' OR p.accounting_period_id <> e.accounting_period_id))
		SELECT legal_entity_id FROM late
		UNION SELECT l.legal_entity_id FROM late e JOIN journal_lines l ON l.organization_id = @org AND l.journal_entry_id = e.journal_entry_id
		UNION SELECT s.legal_entity_id FROM late e JOIN bookings b ON b.organization_id = @org AND b.journal_entry_id IN (e.journal_entry_id, e.previous_entry_id)
			JOIN transactions t ON t.organization_id = @org AND t.transaction_id = b.partner_id JOIN sources s ON s.organization_id = @org AND s.source_id = t.source_id
		UNION SELECT u.legal_entity_id FROM lot_uses u WHERE u.organization_id = @org AND u.is_correction`)
	out := map[string]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out, err
}

func selectAllPositions(ctx context.Context, tx *db.Tx) (map[positionKey]position, error) {
	rows, err := db.All[positionRow](ctx, tx, "SELECT "+db.Columns[positionRow]()+" FROM lot_positions WHERE organization_id = @org")
	out := make(map[positionKey]position, len(rows))
	for _, r := range rows {
		out[positionKey{r.LegalEntityID, r.SourceID, r.LedgerAccountID, r.AssetType, r.Chain, r.TokenID, r.PeriodID}] = position{r.Quantity, r.Basis, r.AddedQuantity, r.AddedBasis, r.Lots}
	}
	return out, err
}

func selectAllGains(ctx context.Context, tx *db.Tx) (map[gainKey]gain, error) {
	rows, err := db.All[gainRow](ctx, tx, "SELECT "+db.Columns[gainRow]()+" FROM lot_gains WHERE organization_id = @org")
	out := make(map[gainKey]gain, len(rows))
	for _, r := range rows {
		out[gainKey{r.LegalEntityID, r.AssetType, r.SourceID, r.PeriodID}] = gain{r.Quantity, r.Proceeds, r.Fee, r.Basis, r.Gain, r.Loss, r.Short, r.Long}
	}
	return out, err
}

func selectTakesOfAll(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string][]take, error) {
	rows, err := db.All[takeRow](ctx, tx, "SELECT "+db.Columns[takeRow]()+fromTakes+"journal_entry_id {any} ORDER BY position", entryIDs)
	if err != nil {
		return nil, err
	}
	takes, err := takesOf(rows)
	out := map[string][]take{}
	for _, t := range takes {
		out[t.entryID] = append(out[t.entryID], t)
	}
	return out, err
}

// selectUsesOfTakes gives what the requests of entries took, corrections too, which are written under others.
func selectUsesOfTakes(ctx context.Context, tx *db.Tx, entryIDs []string) (map[useAt][]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+`(pool, place) IN (
		SELECT t.pool, t.place FROM lot_takes t WHERE t.organization_id = @org AND t.journal_entry_id {any}) ORDER BY use_id`, entryIDs)
	out := map[useAt][]Use{}
	for _, u := range usesOf(rows) {
		at := useAt{u.Pool, u.Place}
		out[at] = append(out[at], u)
	}
	return out, err
}

func selectLotsOfAll(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string][]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"journal_entry_id {any} ORDER BY pool, seq", entryIDs)
	out := map[string][]Lot{}
	for _, l := range lotsOf(rows) {
		out[l.JournalEntryID] = append(out[l.JournalEntryID], l)
	}
	return out, err
}
