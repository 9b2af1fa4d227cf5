package asset

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

type poolRow struct {
	Key             string        `db:"pool"`
	LegalEntityID   string        `db:"legal_entity_id"`
	SourceID        *string       `db:"source_id"`
	LedgerAccountID *string       `db:"ledger_account_id"`
	AssetType       string        `db:"asset_type"`
	Chain           *string       `db:"chain"`
	TokenID         *string       `db:"token_id"`
	Currency        string        `db:"currency"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
	Seq             int64         `db:"seq"`
	LastPlace       string        `db:"last_place"`
}

func selectPool(ctx context.Context, tx *db.Tx, key string) (*pool, error) {
	rows, err := db.All[poolRow](ctx, tx, "SELECT "+db.Columns[poolRow]()+" FROM lot_pools WHERE organization_id = @org AND pool = ?", key)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	p := rows[0].pool()
	return &p, nil
}

func (r poolRow) pool() pool {
	return pool{r.Key, r.LegalEntityID, db.OrEmpty(r.SourceID), db.OrEmpty(r.LedgerAccountID), r.AssetType, db.OrEmpty(r.Chain), db.OrEmpty(r.TokenID), r.Currency,
		r.Quantity, r.Basis, r.Seq, Place(r.LastPlace)}
}

func upsertPools(ctx context.Context, tx *db.Tx, pools []pool) error {
	rows := make([]poolRow, len(pools))
	for i, p := range pools {
		rows[i] = poolRow{p.Key, p.LegalEntityID, db.OrNull(p.SourceID), db.OrNull(p.LedgerAccountID), p.AssetType, db.OrNull(p.Chain), db.OrNull(p.TokenID), p.Currency,
			p.Quantity, p.Basis, p.Seq, string(p.LastPlace)}
	}
	return db.Upsert(ctx, tx, "lot_pools", rows, `ON CONFLICT (organization_id, pool) DO UPDATE SET
		quantity = excluded.quantity, basis = excluded.basis, seq = excluded.seq, last_place = excluded.last_place`)
}

type lotRow struct {
	ID                string        `db:"asset_id"`
	Pool              string        `db:"pool"`
	Place             string        `db:"place"`
	Seq               int64         `db:"seq"`
	LegalEntityID     string        `db:"legal_entity_id"`
	SourceID          *string       `db:"source_id"`
	LedgerAccountID   string        `db:"ledger_account_id"`
	AssetType         string        `db:"asset_type"`
	Chain             *string       `db:"chain"`
	TokenID           *string       `db:"token_id"`
	AcquiredAt        time.Time     `db:"acquired_at"`
	Quantity          money.Decimal `db:"quantity"`
	RemainingQuantity money.Decimal `db:"remaining_quantity"`
	CostBasis         money.Decimal `db:"cost_basis"`
	RemainingBasis    money.Decimal `db:"remaining_basis"`
	Currency          string        `db:"currency"`
	UnitKey           string        `db:"unit_key"`
	Open              bool          `db:"is_open"`
	Origin            string        `db:"origin"`
	ParentID          *string       `db:"parent_asset_id"`
	TransactionID     *string       `db:"transaction_id"`
	JournalEntryID    string        `db:"journal_entry_id"`
	OpenedIn          *string       `db:"opened_in"`
	BasisPending      bool          `db:"basis_pending"`
	Provisional       bool          `db:"provisional"`
	CreatedAt         time.Time     `db:"created_at"`
	UpdatedAt         *time.Time    `db:"updated_at"`
	EmptiedAt         *time.Time    `db:"emptied_at"`
	Life              int64         `db:"life"`
	CameAt            *time.Time    `db:"came_at"`
	UsedBy            *time.Time    `db:"used_by"`
}

func (r lotRow) lot() Lot {
	return Lot{
		ID: r.ID, Pool: r.Pool, Place: Place(r.Place), Seq: r.Seq, LegalEntityID: r.LegalEntityID, SourceID: db.OrEmpty(r.SourceID), LedgerAccountID: r.LedgerAccountID,
		AssetType: r.AssetType, Chain: db.OrEmpty(r.Chain), TokenID: db.OrEmpty(r.TokenID), AcquiredAt: r.AcquiredAt, Quantity: r.Quantity,
		RemainingQuantity: r.RemainingQuantity, CostBasis: r.CostBasis, RemainingBasis: r.RemainingBasis, Currency: r.Currency, Origin: Origin(r.Origin),
		ParentID: db.OrEmpty(r.ParentID), TransactionID: db.OrEmpty(r.TransactionID), JournalEntryID: r.JournalEntryID, OpenedIn: db.OrEmpty(r.OpenedIn), BasisPending: r.BasisPending,
		Provisional: r.Provisional, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, emptiedAt: r.EmptiedAt, life: r.Life, cameAt: r.CameAt, usedBy: r.UsedBy,
	}
}

// unitPlaces is how exactly the cost of one is compared.
const unitPlaces = 20

func toRow(l Lot) lotRow {
	r := lotRow{
		l.ID, l.Pool, string(l.Place), l.Seq, l.LegalEntityID, db.OrNull(l.SourceID), l.LedgerAccountID, l.AssetType, db.OrNull(l.Chain), db.OrNull(l.TokenID), l.AcquiredAt,
		l.Quantity, l.RemainingQuantity, l.CostBasis, l.RemainingBasis, l.Currency, "", l.RemainingQuantity.Sign() > 0, string(l.Origin), db.OrNull(l.ParentID),
		db.OrNull(l.TransactionID), l.JournalEntryID, db.OrNull(l.OpenedIn), l.BasisPending, l.Provisional, l.CreatedAt, l.UpdatedAt,
		l.emptiedAt, l.life, l.cameAt, l.usedBy,
	}
	if r.Open {
		r.UnitKey = l.RemainingBasis.Quo(l.RemainingQuantity, unitPlaces).SortKey()
	}
	return r
}

func lotsOf(rows []lotRow) []Lot {
	out := make([]Lot, len(rows))
	for i, r := range rows {
		out[i] = r.lot()
	}
	return out
}

func upsertLots(ctx context.Context, tx *db.Tx, lots []Lot) error {
	rows := make([]lotRow, len(lots))
	for i, l := range lots {
		rows[i] = toRow(l)
	}
	return db.Upsert(ctx, tx, "lots", rows, `ON CONFLICT (organization_id, asset_id) DO UPDATE SET
		pool = excluded.pool, place = excluded.place, seq = excluded.seq, legal_entity_id = excluded.legal_entity_id, source_id = excluded.source_id,
		ledger_account_id = excluded.ledger_account_id, acquired_at = excluded.acquired_at,
		quantity = excluded.quantity, remaining_quantity = excluded.remaining_quantity, cost_basis = excluded.cost_basis, remaining_basis = excluded.remaining_basis,
		opened_in = excluded.opened_in, unit_key = excluded.unit_key, is_open = excluded.is_open, origin = excluded.origin, parent_asset_id = excluded.parent_asset_id,
		journal_entry_id = excluded.journal_entry_id, basis_pending = excluded.basis_pending, provisional = excluded.provisional, updated_at = excluded.updated_at,
		emptied_at = excluded.emptied_at, life = excluded.life, came_at = excluded.came_at, used_by = excluded.used_by`)
}

func deleteLots(ctx context.Context, tx *db.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return tx.Put(ctx, "DELETE FROM lots WHERE organization_id = @org AND asset_id {any}", ids)
}

const fromLots = " FROM lots WHERE organization_id = @org AND "

func selectLots(ctx context.Context, tx *db.Tx, ids []string) ([]Lot, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"asset_id {any}", ids)
	return lotsOf(rows), err
}

// selectEntered gives the lots that entered a pool from a place on, in order.
func selectEntered(ctx context.Context, tx *db.Tx, pool string, from Place) ([]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"pool = ? AND place >= ? ORDER BY place, seq", pool, string(from))
	return lotsOf(rows), err
}

// selectLotsOf gives the lots that entries made. SQLite knows no figures about the data and would go through all lots of the organization; the keys alone
// it finds in the index, which has them. So it is for what entries took.
func selectLotsOf(ctx context.Context, tx *db.Tx, entryIDs ...string) ([]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"asset_id IN (SELECT l.asset_id FROM lots AS l WHERE l.organization_id = @org AND l.journal_entry_id {any})", entryIDs)
	slices.SortFunc(rows, func(a, b lotRow) int {
		return cmp.Or(cmp.Compare(a.JournalEntryID, b.JournalEntryID), cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Seq, b.Seq))
	})
	return lotsOf(rows), err
}

// ways are how the lots of a pool are gone through: the columns of an index, forwards or backwards. Lots of one cost are taken in whatever order the
// index has them, as all of them that could be first are brought.
var ways = map[order]struct{ after, by string }{
	byAge:    {"(acquired_at, seq) > (?, ?)", "acquired_at, seq"},
	byYouth:  {"(acquired_at, seq) < (?, ?)", "acquired_at DESC, seq DESC"},
	byCost:   {"(unit_key, asset_id) < (?, ?)", "unit_key DESC, asset_id DESC"},
	byThrift: {"(unit_key, asset_id) > (?, ?)", "unit_key, asset_id"},
}

// selectOpen gives lots of a pool of which something is left, in an order, from after one on.
func selectOpen(ctx context.Context, tx *db.Tx, pool string, by order, after *Lot, limit int) ([]Lot, error) {
	q := db.Select("SELECT "+db.Columns[lotRow]()+fromLots+"pool = ?", pool).And("is_open = ?", true)
	if after != nil {
		if by == byAge || by == byYouth {
			q.And(ways[by].after, after.AcquiredAt, after.Seq)
		} else {
			q.And(ways[by].after, toRow(*after).UnitKey, after.ID)
		}
	}
	rows, err := db.All[lotRow](ctx, tx, q.Then("ORDER BY "+ways[by].by+" LIMIT ?", limit), q.Args...)
	return lotsOf(rows), err
}

type takeRow struct {
	Pool            string        `db:"pool"`
	Place           string        `db:"place"`
	JournalEntryID  string        `db:"journal_entry_id"`
	Position        int64         `db:"position"`
	TransactionID   *string       `db:"transaction_id"`
	SourceID        *string       `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	Chain           *string       `db:"chain"`
	TakenAt         time.Time     `db:"taken_at"`
	Block           int64         `db:"block_number"`
	Number          int64         `db:"number"`
	Kind            string        `db:"kind"`
	Quantity        money.Decimal `db:"quantity"`
	FeeQuantity     money.Decimal `db:"fee_quantity"`
	Proceeds        money.Decimal `db:"proceeds"`
	FeeProceeds     money.Decimal `db:"fee_proceeds"`
	Costs           money.Decimal `db:"costs"`
	Net             bool          `db:"is_net"`
	Picks           *string       `db:"picks"`
}

func takesOf(rows []takeRow) ([]take, error) {
	out := make([]take, len(rows))
	for i, r := range rows {
		out[i] = take{
			r.Pool, Place(r.Place), r.JournalEntryID, int(r.Position), db.OrEmpty(r.TransactionID), db.OrEmpty(r.SourceID), r.LedgerAccountID, db.OrEmpty(r.Chain), r.TakenAt,
			r.Block, r.Number, posting.Kind(r.Kind), r.Quantity, r.FeeQuantity, r.Proceeds, r.FeeProceeds, r.Costs, r.Net, nil,
		}
		if r.Picks != nil {
			if err := json.Unmarshal([]byte(*r.Picks), &out[i].picks); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func insertTakes(ctx context.Context, tx *db.Tx, takes []take) error {
	rows := make([]takeRow, len(takes))
	for i, t := range takes {
		rows[i] = takeRow{
			t.pool, string(t.place), t.entryID, int64(t.position), db.OrNull(t.transactionID), db.OrNull(t.sourceID), t.accountID, db.OrNull(t.chain), t.at, t.block, t.number,
			string(t.kind), t.quantity, t.feeQuantity, t.proceeds, t.feeProceeds, t.costs, t.net, picksText(t.picks),
		}
	}
	return db.Insert(ctx, tx, "lot_takes", rows...)
}

func picksText(picks []lot.Pick) *string {
	if len(picks) == 0 {
		return nil
	}
	text, err := json.Marshal(picks)
	if err != nil {
		panic("asset: picks cannot be written: " + err.Error())
	}
	return db.OrNull(string(text))
}

const fromTakes = " FROM lot_takes WHERE organization_id = @org AND "

func selectTakesSince(ctx context.Context, tx *db.Tx, pool string, from Place) ([]take, error) {
	rows, err := db.All[takeRow](ctx, tx, "SELECT "+db.Columns[takeRow]()+fromTakes+"pool = ? AND place >= ? ORDER BY place", pool, string(from))
	if err != nil {
		return nil, err
	}
	return takesOf(rows)
}

func selectTakesOf(ctx context.Context, tx *db.Tx, entryID string) ([]take, error) {
	rows, err := db.All[takeRow](ctx, tx, "SELECT "+db.Columns[takeRow]()+fromTakes+"(pool, place) IN (SELECT t.pool, t.place FROM lot_takes AS t WHERE t.organization_id = @org AND t.journal_entry_id = ?)", entryID)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b takeRow) int { return cmp.Compare(a.Position, b.Position) })
	return takesOf(rows)
}

type useRow struct {
	ID              string        `db:"use_id"`
	Pool            string        `db:"pool"`
	Place           string        `db:"place"`
	Position        int64         `db:"position"`
	LotID           string        `db:"asset_id"`
	Kind            string        `db:"kind"`
	Correction      bool          `db:"is_correction"`
	JournalEntryID  string        `db:"journal_entry_id"`
	TransactionID   *string       `db:"transaction_id"`
	TransactionType string        `db:"transaction_type"`
	LegalEntityID   string        `db:"legal_entity_id"`
	SourceID        *string       `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	AssetType       string        `db:"asset_type"`
	Chain           *string       `db:"chain"`
	TokenID         *string       `db:"token_id"`
	AccountingDate  time.Time     `db:"accounting_date"`
	PeriodID        string        `db:"accounting_period_id"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
	Proceeds        money.Decimal `db:"proceeds"`
	Fee             money.Decimal `db:"fee"`
	Gain            money.Decimal `db:"gain"`
	Currency        string        `db:"currency"`
	AcquiredAt      time.Time     `db:"acquired_at"`
	DisposedAt      time.Time     `db:"disposed_at"`
	Days            int64         `db:"days_held"`
	Term            string        `db:"term"`
	Method          string        `db:"method"`
	Lots            int64         `db:"lot_count"`
}

func usesOf(rows []useRow) []Use {
	out := make([]Use, len(rows))
	for i, r := range rows {
		out[i] = Use{
			ID: r.ID, Pool: r.Pool, Place: Place(r.Place), Position: r.Position, LotID: r.LotID, Kind: r.Kind, Correction: r.Correction, JournalEntryID: r.JournalEntryID,
			TransactionID: db.OrEmpty(r.TransactionID), TransactionType: r.TransactionType, LegalEntityID: r.LegalEntityID, SourceID: db.OrEmpty(r.SourceID),
			LedgerAccountID: r.LedgerAccountID, AssetType: r.AssetType, Chain: db.OrEmpty(r.Chain), TokenID: db.OrEmpty(r.TokenID), AccountingDate: r.AccountingDate,
			PeriodID: r.PeriodID, Quantity: r.Quantity, Basis: r.Basis, Proceeds: r.Proceeds, Fee: r.Fee, Gain: r.Gain, Currency: r.Currency, AcquiredAt: r.AcquiredAt,
			DisposedAt: r.DisposedAt, Days: r.Days, Term: r.Term, Method: r.Method, Lots: r.Lots,
		}
	}
	return out
}

func insertUses(ctx context.Context, tx *db.Tx, uses []Use) error {
	rows := make([]useRow, len(uses))
	for i, u := range uses {
		rows[i] = useRow{
			u.ID, u.Pool, string(u.Place), u.Position, u.LotID, u.Kind, u.Correction, u.JournalEntryID, db.OrNull(u.TransactionID), u.TransactionType, u.LegalEntityID,
			db.OrNull(u.SourceID), u.LedgerAccountID, u.AssetType, db.OrNull(u.Chain), db.OrNull(u.TokenID), u.AccountingDate, u.PeriodID, u.Quantity, u.Basis, u.Proceeds,
			u.Fee, u.Gain, u.Currency, u.AcquiredAt, u.DisposedAt, u.Days, u.Term, u.Method, u.Lots,
		}
	}
	return db.Insert(ctx, tx, "lot_uses", rows...)
}

const fromUses = " FROM lot_uses WHERE organization_id = @org AND "

func selectUsesSince(ctx context.Context, tx *db.Tx, pool string, from Place) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+"pool = ? AND place >= ? ORDER BY place, use_id", pool, string(from))
	return usesOf(rows), err
}

func selectUsesAt(ctx context.Context, tx *db.Tx, pool string, at Place) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+"pool = ? AND place = ? ORDER BY use_id", pool, string(at))
	return usesOf(rows), err
}

func selectUsesOf(ctx context.Context, tx *db.Tx, entryID string) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+"use_id IN (SELECT u.use_id FROM lot_uses AS u WHERE u.organization_id = @org AND u.journal_entry_id = ?)", entryID)
	slices.SortFunc(rows, func(a, b useRow) int { return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID)) })
	return usesOf(rows), err
}

type positionRow struct {
	LegalEntityID   string        `db:"legal_entity_id"`
	SourceID        string        `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	AssetType       string        `db:"asset_type"`
	Chain           string        `db:"chain"`
	TokenID         string        `db:"token_id"`
	PeriodID        string        `db:"accounting_period_id"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
	AddedQuantity   money.Decimal `db:"added_quantity"`
	AddedBasis      money.Decimal `db:"added_basis"`
	Lots            int64         `db:"lot_count"`
}

type gainRow struct {
	LegalEntityID string        `db:"legal_entity_id"`
	AssetType     string        `db:"asset_type"`
	SourceID      string        `db:"source_id"`
	PeriodID      string        `db:"accounting_period_id"`
	Quantity      money.Decimal `db:"quantity"`
	Proceeds      money.Decimal `db:"proceeds"`
	Fee           money.Decimal `db:"fee"`
	Basis         money.Decimal `db:"basis"`
	Gain          money.Decimal `db:"gain"`
	Loss          money.Decimal `db:"loss"`
	Short         money.Decimal `db:"short_term"`
	Long          money.Decimal `db:"long_term"`
}

// write brings all changes to the tables.
func (c *changes) write(ctx context.Context, tx *db.Tx) error {
	if err := c.settleLives(ctx, tx); err != nil {
		return err
	}
	for _, r := range c.renamed {
		for _, table := range r.tables {
			set, args := "journal_entry_id = ?", []any{r.to}
			if table == "lots" {
				set, args = set+", came_at = ?", append(args, c.came[r.to])
			}
			if err := tx.Put(ctx, "UPDATE "+table+" SET "+set+" WHERE organization_id = @org AND journal_entry_id = ?", append(args, r.from)...); err != nil {
				return err
			}
		}
	}
	if len(c.erased) > 0 {
		if err := tx.Put(ctx, "DELETE"+fromUses+"use_id {any}", c.erased); err != nil {
			return err
		}
	}
	for _, these := range []struct {
		takes []take
		from  string
	}{{c.emptied, fromUses}, {c.gone, fromTakes}} {
		byPool := map[string][]string{}
		for _, t := range these.takes {
			byPool[t.pool] = append(byPool[t.pool], string(t.place))
		}
		for _, pool := range slices.Sorted(maps.Keys(byPool)) {
			if err := tx.Put(ctx, "DELETE"+these.from+"pool = ? AND place {any}", pool, byPool[pool]); err != nil {
				return err
			}
		}
	}
	for _, do := range []func(context.Context, *db.Tx) error{
		func(ctx context.Context, tx *db.Tx) error { return deleteLots(ctx, tx, c.deleted) },
		func(ctx context.Context, tx *db.Tx) error { return upsertPools(ctx, tx, c.pools) },
		func(ctx context.Context, tx *db.Tx) error { return upsertLots(ctx, tx, c.lots) },
		func(ctx context.Context, tx *db.Tx) error { return insertTakes(ctx, tx, c.takes) },
		func(ctx context.Context, tx *db.Tx) error { return insertUses(ctx, tx, c.uses) },
		c.addPositions, c.addGains,
	} {
		if err := do(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (c *changes) addPositions(ctx context.Context, tx *db.Tx) error {
	var rows []positionRow
	for _, k := range slices.SortedFunc(maps.Keys(c.positions), comparePositions) {
		p := c.positions[k]
		if p.quantity.IsZero() && p.basis.IsZero() && p.addedQuantity.IsZero() && p.addedBasis.IsZero() && p.lots == 0 {
			continue
		}
		rows = append(rows, positionRow{k.entity, k.source, k.account, k.asset, k.chain, k.token, k.period, p.quantity, p.basis, p.addedQuantity, p.addedBasis, p.lots})
	}
	return db.Upsert(ctx, tx, "lot_positions", rows, `ON CONFLICT (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, accounting_period_id)
		DO UPDATE SET quantity = {dec_add}(lot_positions.quantity, excluded.quantity), basis = {dec_add}(lot_positions.basis, excluded.basis),
		added_quantity = {dec_add}(lot_positions.added_quantity, excluded.added_quantity), added_basis = {dec_add}(lot_positions.added_basis, excluded.added_basis),
		lot_count = lot_positions.lot_count + excluded.lot_count`)
}

func (c *changes) addGains(ctx context.Context, tx *db.Tx) error {
	var rows []gainRow
	for _, k := range slices.SortedFunc(maps.Keys(c.gains), compareGains) {
		g := c.gains[k]
		rows = append(rows, gainRow{k.entity, k.asset, k.source, k.period, g.quantity, g.proceeds, g.fee, g.basis, g.gain, g.loss, g.short, g.long})
	}
	return db.Upsert(ctx, tx, "lot_gains", rows, `ON CONFLICT (organization_id, legal_entity_id, asset_type, source_id, accounting_period_id)
		DO UPDATE SET quantity = {dec_add}(lot_gains.quantity, excluded.quantity), proceeds = {dec_add}(lot_gains.proceeds, excluded.proceeds),
		fee = {dec_add}(lot_gains.fee, excluded.fee), basis = {dec_add}(lot_gains.basis, excluded.basis), gain = {dec_add}(lot_gains.gain, excluded.gain),
		loss = {dec_add}(lot_gains.loss, excluded.loss), short_term = {dec_add}(lot_gains.short_term, excluded.short_term), long_term = {dec_add}(lot_gains.long_term, excluded.long_term)`)
}

func selectCarries(ctx context.Context, tx *db.Tx, legalEntityID, ledgerAccountID string) (bool, error) {
	found, err := db.All[string](ctx, tx, "SELECT asset_id"+fromLots+"ledger_account_id = ? AND is_open = ? AND legal_entity_id = ? LIMIT 1", ledgerAccountID, true, legalEntityID)
	return len(found) > 0, err
}

// moveUses lets the uses of an entry be of another date.
func moveUses(ctx context.Context, tx *db.Tx, entryID string, to Ref) error {
	return tx.Put(ctx, "UPDATE lot_uses SET accounting_date = ?, accounting_period_id = ? WHERE organization_id = @org AND journal_entry_id = ? AND is_correction = ?",
		to.AccountingDate, to.PeriodID, entryID, false)
}

func selectAllOpen(ctx context.Context, tx *db.Tx) ([]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"is_open = ? ORDER BY pool, acquired_at, seq", true)
	return lotsOf(rows), err
}

// between are rows of a period that are dated in a stretch of time.
const between = "accounting_date >= ? AND accounting_date < ? AND accounting_period_id = ?"

func selectUsesBetween(ctx context.Context, tx *db.Tx, m period.Moved) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+between, m.Start, m.End, m.FromID)
	return usesOf(rows), err
}

func moveUsesBetween(ctx context.Context, tx *db.Tx, m period.Moved) error {
	return tx.Put(ctx, "UPDATE lot_uses SET accounting_period_id = ? WHERE organization_id = @org AND "+between, m.ToID, m.Start, m.End, m.FromID)
}

func selectLotsBetween(ctx context.Context, tx *db.Tx, m period.Moved) ([]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+`journal_entry_id IN (
		SELECT e.journal_entry_id FROM journal_entries e WHERE e.organization_id = @org AND e.accounting_date >= ? AND e.accounting_date < ? AND e.accounting_period_id = ?)`, m.Start, m.End, m.ToID)
	return lotsOf(rows), err
}
