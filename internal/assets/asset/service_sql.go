package asset

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

var selectAssetRows = "SELECT " + db.Columns[lotRow]() + " FROM lots WHERE organization_id = @org"

func selectAsset(ctx context.Context, tx *db.Tx, assetID string) (Lot, error) {
	r, err := db.One[lotRow](ctx, tx, noun, selectAssetRows+" AND asset_id = ?", assetID)
	return r.lot(), err
}

// selectAssets reads downward from an id. The few lots of one transaction are found by its entry and then sorted.
func selectAssets(ctx context.Context, tx *db.Tx, f Filter, below string, limit int) ([]Lot, error) {
	q := db.Select(selectAssetRows)
	if below != "" {
		q.And("asset_id < ?", below)
	}
	among := func(column string, list []string) {
		if len(list) > 0 {
			q.And(column+" {any}", list)
		}
	}
	among("legal_entity_id", f.limited)
	among("legal_entity_id", f.LegalEntityIDs)
	among("asset_type", f.AssetTypes)
	among("source_id", f.sources)
	if f.LedgerAccountID != "" {
		q.And("ledger_account_id = ?", f.LedgerAccountID)
	}
	if f.Chain != "" {
		q.And("chain = ?", f.Chain)
	}
	if f.Manual != nil {
		q.And(map[bool]string{true: "origin = ?", false: "origin <> ?"}[*f.Manual], string(Manual))
	}
	if f.Open != nil {
		q.And("is_open = ?", *f.Open)
	}
	order := "ORDER BY asset_id DESC LIMIT ?"
	if f.TransactionID != "" {
		q.And("journal_entry_id = ? AND transaction_id = ?", f.entryID, f.TransactionID)
		order = "ORDER BY {unindexed}asset_id DESC LIMIT ?"
	}
	rows, err := db.All[lotRow](ctx, tx, q.Then(order, limit), q.Args...)
	return lotsOf(rows), err
}

func selectPoolSums(ctx context.Context, tx *db.Tx, pools []string) (map[string]poolSum, error) {
	if len(pools) == 0 {
		return nil, nil
	}
	rows, err := db.All[poolSum](ctx, tx, "SELECT pool, quantity, basis FROM lot_pools WHERE organization_id = @org AND pool {any}", pools)
	out := make(map[string]poolSum, len(rows))
	for _, s := range rows {
		out[s.Pool] = s
	}
	return out, err
}

// selectTakenFrom reads the uses of a lot back from a place.
func selectTakenFrom(ctx context.Context, tx *db.Tx, assetID string, before usePlace, limit int) ([]Use, error) {
	q := db.Select("SELECT "+db.Columns[useRow]()+fromUses+"asset_id = ?", assetID)
	if before.id != "" {
		q.And("(disposed_at, use_id) < (?, ?)", before.at, before.id)
	}
	rows, err := db.All[useRow](ctx, tx, q.Then("ORDER BY disposed_at DESC, use_id DESC LIMIT ?", limit), q.Args...)
	return usesOf(rows), err
}

// firstEntry is the entry with which the books of a legal entity begin.
type firstEntry struct {
	At           time.Time `db:"accounting_date"`
	OriginatedBy string    `db:"originated_by"`
}

// selectFirstEntry gives it, if there is one.
func selectFirstEntry(ctx context.Context, tx *db.Tx, legalEntityID string) ([]firstEntry, error) {
	return db.All[firstEntry](ctx, tx,
		"SELECT accounting_date, originated_by FROM journal_entries WHERE organization_id = @org AND legal_entity_id = ? AND status = 'posted' "+
			"ORDER BY accounting_date, number LIMIT 1", legalEntityID)
}

// selectFirstTransactions gives when the first transaction of each source of a legal entity happened.
func selectFirstTransactions(ctx context.Context, tx *db.Tx, legalEntityID string) ([]*time.Time, error) {
	type row struct {
		At *time.Time `db:"at"`
	}
	rows, err := db.All[row](ctx, tx,
		"SELECT (SELECT t.transaction_date FROM transactions t WHERE t.organization_id = @org AND t.shelf = 0 AND t.source_id = s.source_id "+
			"ORDER BY t.transaction_date, t.number LIMIT 1) AS at FROM sources s WHERE s.organization_id = @org AND s.legal_entity_id = ?",
		legalEntityID)
	out := make([]*time.Time, len(rows))
	for i, r := range rows {
		out[i] = r.At
	}
	return out, err
}

type selectionRow struct {
	TransactionID string        `db:"transaction_id"`
	Position      int64         `db:"position"`
	AssetID       string        `db:"asset_id"`
	Quantity      money.Decimal `db:"quantity"`
	By            string        `db:"created_by"`
	At            time.Time     `db:"created_at"`
}

func selectChosen(ctx context.Context, tx *db.Tx, transactionID string) (Chosen, error) {
	rows, err := db.All[selectionRow](ctx, tx, "SELECT "+db.Columns[selectionRow]()+
		" FROM lot_selections WHERE organization_id = @org AND transaction_id = ? ORDER BY position", transactionID)
	c := Chosen{TransactionID: transactionID}
	for _, r := range rows {
		c.Picks, c.By, c.At = append(c.Picks, lot.Pick{Lot: r.AssetID, Quantity: r.Quantity}), r.By, &r.At
	}
	return c, err
}

func selectPicks(ctx context.Context, tx *db.Tx, transactionIDs []string) (map[string][]lot.Pick, error) {
	rows, err := db.All[selectionRow](ctx, tx, "SELECT "+db.Columns[selectionRow]()+
		" FROM lot_selections WHERE organization_id = @org AND transaction_id {any} ORDER BY transaction_id, position", transactionIDs)
	out := map[string][]lot.Pick{}
	for _, r := range rows {
		out[r.TransactionID] = append(out[r.TransactionID], lot.Pick{Lot: r.AssetID, Quantity: r.Quantity})
	}
	return out, err
}

// replaceChosen writes a choice in the place of an earlier one.
func replaceChosen(ctx context.Context, tx *db.Tx, c Chosen) error {
	if err := tx.Queue(ctx, "DELETE FROM lot_selections WHERE organization_id = @org AND transaction_id = ?", c.TransactionID); err != nil {
		return err
	}
	rows := make([]selectionRow, len(c.Picks))
	for i, p := range c.Picks {
		rows[i] = selectionRow{TransactionID: c.TransactionID, Position: int64(i), AssetID: p.Lot, Quantity: p.Quantity, By: c.By, At: *c.At}
	}
	return db.Insert(ctx, tx, "lot_selections", rows...)
}

// selectChoosing gives the numbers of the transactions that a lot was chosen for. Choices are few, and are asked only
// when a lot is taken away.
func selectChoosing(ctx context.Context, tx *db.Tx, assetID string) ([]int64, error) {
	return db.All[int64](ctx, tx, "SELECT t.number FROM lot_selections c JOIN transactions t ON t.organization_id = @org AND "+
		"t.transaction_id = c.transaction_id "+
		"WHERE c.organization_id = @org AND c.asset_id = ? ORDER BY t.number", assetID)
}

type lifeRow struct {
	ID        string     `db:"asset_id"`
	EntryID   string     `db:"journal_entry_id"`
	Open      bool       `db:"is_open"`
	EmptiedAt *time.Time `db:"emptied_at"`
	Life      int64      `db:"life"`
	UsedBy    *time.Time `db:"used_by"`
	CameAt    *time.Time `db:"came_at"`
	LastUse   *time.Time `db:"last_use"` // among what stays
}

// settleLives notes when lots were emptied, by which reports find those of a time. What lots became empty or no
// longer are is known; those whose uses are others, and as many, are looked at too. Most know when they came and that
// nothing later was taken of them, so that nothing need be asked.
func (c *changes) settleLives(ctx context.Context, tx *db.Tx) error {
	lots, last, ask := map[string]*Lot{}, map[string]*time.Time{}, map[string]bool{}
	for i := range c.lots {
		lots[c.lots[i].ID] = &c.lots[i]
	}
	for _, u := range c.uses {
		last[u.LotID] = later(last[u.LotID], &u.AccountingDate)
		ask[u.LotID] = lots[u.LotID] == nil
	}
	for _, id := range c.settled {
		l, at := lots[id], last[id]
		switch {
		case l == nil:
			ask[id] = true
		case !l.RemainingQuantity.IsZero():
			l.live(nil, nil)
		case at != nil && l.cameAt != nil && l.usedBy != nil && !at.Before(*l.usedBy):
			l.live(l.cameAt, at)
		default:
			ask[id] = true
		}
	}
	for id, l := range lots {
		if l.usedBy != nil {
			l.usedBy = later(l.usedBy, last[id])
		}
	}
	maps.DeleteFunc(ask, func(id string, is bool) bool { return id == "" || !is })
	if len(ask) == 0 {
		return nil
	}
	rows, err := db.All[lifeRow](ctx, tx, `SELECT l.asset_id, l.journal_entry_id, l.is_open, l.emptied_at, l.life, l.used_by,
		(SELECT e.accounting_date FROM journal_entries AS e WHERE e.organization_id = @org AND e.journal_entry_id = l.journal_entry_id)
		AS came_at,
		(SELECT max(u.accounting_date) FROM lot_uses AS u WHERE u.organization_id = @org AND u.asset_id = l.asset_id AND NOT u.use_id
		{any} GROUP BY u.asset_id) AS last_use
		FROM lots AS l WHERE l.organization_id = @org AND l.asset_id {any}`, c.voided, slices.Sorted(maps.Keys(ask)))
	for _, r := range rows {
		r.LastUse = later(r.LastUse, last[r.ID])
		if l := lots[r.ID]; l != nil {
			l.settle(r, c)
		} else if err == nil {
			err = c.settleOther(ctx, tx, r)
		}
	}
	return err
}

// settle notes it of a lot that is written anyway.
func (l *Lot) settle(r lifeRow, c *changes) {
	l.usedBy = later(r.UsedBy, r.LastUse)
	if l.cameAt = c.came[l.JournalEntryID]; l.JournalEntryID == r.EntryID {
		l.cameAt = r.CameAt
	}
	l.live(l.cameAt, r.LastUse)
}

// settleOther notes it of a lot of which nothing else is written.
func (c *changes) settleOther(ctx context.Context, tx *db.Tx, r lifeRow) error {
	l := Lot{JournalEntryID: r.EntryID}
	for _, n := range c.renamed {
		if n.from == r.EntryID && slices.Contains(n.tables, "lots") {
			l.JournalEntryID = n.to
		}
	}
	l.settle(r, c)
	if r.Open {
		l.live(nil, nil)
	}
	if l.life == r.Life && (l.life == 0 || l.emptiedAt.Equal(*r.EmptiedAt)) && (l.usedBy == nil || r.UsedBy != nil &&
		l.usedBy.Equal(*r.UsedBy)) {
		return nil
	}
	return tx.Queue(ctx, "UPDATE lots SET emptied_at = ?, life = ?, used_by = ? WHERE organization_id = @org AND asset_id = ?",
		l.emptiedAt, l.life, l.usedBy, r.ID)
}

// live notes from when to when a lot was there. One of which that is not known is taken for one that is not empty, which only costs time.
func (l *Lot) live(came, emptied *time.Time) {
	l.emptiedAt, l.life = nil, 0
	if came != nil && emptied != nil {
		l.emptiedAt, l.life = emptied, calendar.Life(*came, *emptied)
	}
}

// later is the later one of two times, of which either may be missing.
func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}

// standing tells that an entry counts: it is posted, and neither reversed nor a reversal.
const standing = "e.status = 'posted' AND e.next_entry_id IS NULL AND e.originated_by <> 'reversal'"

const joinEntry = " x LEFT JOIN journal_entries e ON e.organization_id = x.organization_id AND e.journal_entry_id = " +
	"x.journal_entry_id WHERE x.organization_id = @org AND "

const noPool = " x WHERE x.organization_id = @org AND NOT EXISTS (SELECT 1 FROM lot_pools p WHERE p.organization_id = " +
	"x.organization_id AND p.pool = x.pool) ORDER BY 1"

// strays find rows that belong to nothing, by a name. What was taken in a closed period stays written under an entry
// that was reversed since, and corrections beside it take it back.
var strays = []struct{ kind, text, query string }{
	{"lots without their pool", "the lot %s is in no pool", "SELECT x.asset_id FROM lots" + noPool},
	{"requests without their pool", "the entry %s asks of no pool", "SELECT x.journal_entry_id FROM lot_takes" + noPool},
	{"uses without their pool", "the use %s is of no pool", "SELECT x.use_id FROM lot_uses" + noPool},
	{"lots of entries that do not stand", "the entry of the lot %s is not there, or not posted, or reversed",
		"SELECT x.asset_id FROM lots" + joinEntry +
			"(e.journal_entry_id IS NULL AND NOT (x.origin = 'manual' AND x.journal_entry_id = '') OR e.journal_entry_id IS NOT NULL " +
			"AND NOT (" + standing + ")) ORDER BY 1"},
	{"requests of entries that do not stand", "the entry %s asks for lots, but is not there, or not posted, or reversed",
		"SELECT x.journal_entry_id FROM lot_takes" + joinEntry +
			"(e.journal_entry_id IS NULL OR NOT (" + standing + ")) ORDER BY 1"},
	{"uses of entries that do not stand", "the entry of the use %s is not there, or not posted, or reversed",
		"SELECT x.use_id FROM lot_uses" + joinEntry +
			`(e.journal_entry_id IS NULL OR e.status <> 'posted' OR NOT (` + standing + `) AND NOT EXISTS (
			SELECT 1 FROM lot_uses y WHERE y.organization_id = x.organization_id AND y.pool = x.pool AND y.place = x.place AND
			y.is_correction)) ORDER BY 1`},
	{"uses in other periods than their entries", "the use %s is not in the accounting period of its entry",
		"SELECT x.use_id FROM lot_uses" + joinEntry +
			"NOT x.is_correction AND (e.accounting_period_id <> x.accounting_period_id OR e.accounting_date <> x.accounting_date) ORDER BY 1"},
	{"lots that came at other times than their entries", "the lot %s did not come on the accounting date of its entry",
		"SELECT x.asset_id FROM lots" + joinEntry +
			"x.came_at <> e.accounting_date ORDER BY 1"},
	{"lots used later than they say", "the lot %s was used later than it says",
		`SELECT x.asset_id FROM lots x WHERE x.organization_id = @org AND EXISTS (
		SELECT 1 FROM lot_uses u WHERE u.organization_id = x.organization_id AND u.asset_id = x.asset_id AND u.accounting_date >
		x.used_by) ORDER BY 1`},
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
	}](ctx, tx, `SELECT DISTINCT e.journal_entry_id, e.accounting_period_id FROM lots x JOIN journal_entries e ON e.organization_id =
		x.organization_id AND e.journal_entry_id = x.journal_entry_id
		WHERE x.organization_id = @org AND e.accounting_period_id IS NOT NULL`)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.EntryID] = r.PeriodID
	}
	return out, err
}

// selectLoose gives the legal entities whose lots do not tell in which period they came: something of a closed period
// was made up for in a later one. Of what cost nothing the entry has no line of the legal entity it went to.
func selectLoose(ctx context.Context, tx *db.Tx) (map[string]bool, error) {
	ids, err := db.All[string](ctx, tx, `WITH late AS (
			SELECT e.journal_entry_id, e.previous_entry_id, e.legal_entity_id FROM journal_entries e LEFT JOIN journal_entries p ON
			p.organization_id = e.organization_id AND p.journal_entry_id = e.previous_entry_id
			WHERE e.organization_id = @org AND e.status = 'posted' AND (e.originated_by = 'true_up' OR p.accounting_period_id <>
			e.accounting_period_id))
		SELECT legal_entity_id FROM late
		UNION SELECT l.legal_entity_id FROM late e JOIN journal_lines l ON l.organization_id = @org AND l.journal_entry_id = e.journal_entry_id
		UNION SELECT s.legal_entity_id FROM late e JOIN bookings b ON b.organization_id = @org AND b.journal_entry_id IN
		(e.journal_entry_id, e.previous_entry_id)
			JOIN transactions t ON t.organization_id = @org AND t.transaction_id = b.partner_id JOIN sources s ON s.organization_id = @org
			AND s.source_id = t.source_id
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
		out[positionKey{entity: r.LegalEntityID, source: r.SourceID, account: r.LedgerAccountID, asset: r.AssetType, chain: r.Chain,
			token: r.TokenID, period: r.PeriodID}] = position{quantity: r.Quantity, basis: r.Basis, addedQuantity: r.AddedQuantity,
			addedBasis: r.AddedBasis, lots: r.Lots}
	}
	return out, err
}

func selectAllGains(ctx context.Context, tx *db.Tx) (map[gainKey]gain, error) {
	rows, err := db.All[gainRow](ctx, tx, "SELECT "+db.Columns[gainRow]()+" FROM lot_gains WHERE organization_id = @org")
	out := make(map[gainKey]gain, len(rows))
	for _, r := range rows {
		out[gainKey{r.LegalEntityID, r.AssetType, r.SourceID, r.PeriodID}] = gain{quantity: r.Quantity, proceeds: r.Proceeds, fee: r.Fee,
			basis: r.Basis, gain: r.Gain, loss: r.Loss, short: r.Short, long: r.Long}
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
