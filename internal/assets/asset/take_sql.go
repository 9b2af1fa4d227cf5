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
			pool: r.Pool, place: Place(r.Place), entryID: r.JournalEntryID, position: int(r.Position), transactionID: db.OrEmpty(
				r.TransactionID), sourceID: db.OrEmpty(r.SourceID), accountID: r.LedgerAccountID, chain: db.OrEmpty(r.Chain), at: r.TakenAt,
			block: r.Block, number: r.Number, kind: posting.Kind(
				r.Kind), quantity: r.Quantity, feeQuantity: r.FeeQuantity, proceeds: r.Proceeds, feeProceeds: r.FeeProceeds, costs: r.Costs,
			net: r.Net, picks: nil,
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
			Pool: t.pool, Place: string(t.place), JournalEntryID: t.entryID, Position: int64(t.position), TransactionID: db.OrNull(
				t.transactionID), SourceID: db.OrNull(t.sourceID), LedgerAccountID: t.accountID, Chain: db.OrNull(
				t.chain), TakenAt: t.at, Block: t.block, Number: t.number,
			Kind: string(t.kind), Quantity: t.quantity, FeeQuantity: t.feeQuantity, Proceeds: t.proceeds, FeeProceeds: t.feeProceeds,
			Costs: t.costs, Net: t.net, Picks: picksText(t.picks),
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
	rows, err := db.All[takeRow](ctx, tx, "SELECT "+db.Columns[takeRow]()+fromTakes+"pool = ? AND place >= ? ORDER BY place", pool,
		string(from))
	if err != nil {
		return nil, err
	}
	return takesOf(rows)
}

func selectTakesOf(ctx context.Context, tx *db.Tx, entryID string) ([]take, error) {
	rows, err := db.All[takeRow](ctx, tx, "SELECT "+db.Columns[takeRow]()+fromTakes+
		"(pool, place) IN (SELECT t.pool, t.place FROM lot_takes AS t WHERE t.organization_id = @org AND t.journal_entry_id = ?)", entryID)
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
			ID: r.ID, Pool: r.Pool, Place: Place(
				r.Place), Position: r.Position, LotID: r.LotID, Kind: r.Kind, Correction: r.Correction, JournalEntryID: r.JournalEntryID,
			TransactionID: db.OrEmpty(r.TransactionID), TransactionType: r.TransactionType, LegalEntityID: r.LegalEntityID,
			SourceID:        db.OrEmpty(r.SourceID),
			LedgerAccountID: r.LedgerAccountID, AssetType: r.AssetType, Chain: db.OrEmpty(r.Chain), TokenID: db.OrEmpty(
				r.TokenID), AccountingDate: r.AccountingDate,
			PeriodID: r.PeriodID, Quantity: r.Quantity, Basis: r.Basis, Proceeds: r.Proceeds, Fee: r.Fee, Gain: r.Gain, Currency: r.Currency,
			AcquiredAt: r.AcquiredAt,
			DisposedAt: r.DisposedAt, Days: r.Days, Term: r.Term, Method: r.Method, Lots: r.Lots,
		}
	}
	return out
}

func insertUses(ctx context.Context, tx *db.Tx, uses []Use) error {
	rows := make([]useRow, len(uses))
	for i, u := range uses {
		rows[i] = useRow{
			ID: u.ID, Pool: u.Pool, Place: string(
				u.Place), Position: u.Position, LotID: u.LotID, Kind: u.Kind, Correction: u.Correction, JournalEntryID: u.JournalEntryID,
			TransactionID: db.OrNull(u.TransactionID), TransactionType: u.TransactionType, LegalEntityID: u.LegalEntityID,
			SourceID: db.OrNull(u.SourceID), LedgerAccountID: u.LedgerAccountID, AssetType: u.AssetType, Chain: db.OrNull(
				u.Chain), TokenID: db.OrNull(u.TokenID), AccountingDate: u.AccountingDate, PeriodID: u.PeriodID, Quantity: u.Quantity,
			Basis: u.Basis, Proceeds: u.Proceeds,
			Fee: u.Fee, Gain: u.Gain, Currency: u.Currency, AcquiredAt: u.AcquiredAt, DisposedAt: u.DisposedAt, Days: u.Days, Term: u.Term,
			Method: u.Method, Lots: u.Lots,
		}
	}
	return db.Insert(ctx, tx, "lot_uses", rows...)
}

const fromUses = " FROM lot_uses WHERE organization_id = @org AND "

func selectUsesSince(ctx context.Context, tx *db.Tx, pool string, from Place) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+"pool = ? AND place >= ? ORDER BY place, use_id",
		pool, string(from))
	return usesOf(rows), err
}

func selectUsesAt(ctx context.Context, tx *db.Tx, pool string, at Place) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+"pool = ? AND place = ? ORDER BY use_id", pool, string(at))
	return usesOf(rows), err
}

func selectUsesOf(ctx context.Context, tx *db.Tx, entryID string) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+
		"use_id IN (SELECT u.use_id FROM lot_uses AS u WHERE u.organization_id = @org AND u.journal_entry_id = ?)", entryID)
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
			if err := tx.Queue(ctx, "UPDATE "+table+" SET "+set+" WHERE organization_id = @org AND journal_entry_id = ?",
				append(args, r.from)...); err != nil {
				return err
			}
		}
	}
	if len(c.erased) > 0 {
		if err := tx.Queue(ctx, "DELETE"+fromUses+"use_id {any}", c.erased); err != nil {
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
			if err := tx.Queue(ctx, "DELETE"+these.from+"pool = ? AND place {any}", pool, byPool[pool]); err != nil {
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
		rows = append(rows, positionRow{LegalEntityID: k.entity, SourceID: k.source, LedgerAccountID: k.account, AssetType: k.asset,
			Chain: k.chain, TokenID: k.token, PeriodID: k.period, Quantity: p.quantity, Basis: p.basis, AddedQuantity: p.addedQuantity,
			AddedBasis: p.addedBasis, Lots: p.lots})
	}
	return db.Upsert(ctx, tx, "lot_positions", rows,
		`ON CONFLICT (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, accounting_period_id)
		DO UPDATE SET quantity = {dec_add}(lot_positions.quantity, excluded.quantity), basis = {dec_add}(lot_positions.basis, excluded.basis),
		added_quantity = {dec_add}(lot_positions.added_quantity, excluded.added_quantity), added_basis =
		{dec_add}(lot_positions.added_basis, excluded.added_basis),
		lot_count = lot_positions.lot_count + excluded.lot_count`)
}

func (c *changes) addGains(ctx context.Context, tx *db.Tx) error {
	var rows []gainRow
	for _, k := range slices.SortedFunc(maps.Keys(c.gains), compareGains) {
		g := c.gains[k]
		rows = append(rows, gainRow{LegalEntityID: k.entity, AssetType: k.asset, SourceID: k.source, PeriodID: k.period,
			Quantity: g.quantity, Proceeds: g.proceeds, Fee: g.fee, Basis: g.basis, Gain: g.gain, Loss: g.loss, Short: g.short, Long: g.long})
	}
	return db.Upsert(ctx, tx, "lot_gains", rows, `ON CONFLICT (organization_id, legal_entity_id, asset_type, source_id, accounting_period_id)
		DO UPDATE SET quantity = {dec_add}(lot_gains.quantity, excluded.quantity), proceeds = {dec_add}(lot_gains.proceeds, excluded.proceeds),
		fee = {dec_add}(lot_gains.fee, excluded.fee), basis = {dec_add}(lot_gains.basis, excluded.basis), gain =
		{dec_add}(lot_gains.gain, excluded.gain),
		loss = {dec_add}(lot_gains.loss, excluded.loss), short_term = {dec_add}(lot_gains.short_term, excluded.short_term), long_term =
		{dec_add}(lot_gains.long_term, excluded.long_term)`)
}

func selectCarries(ctx context.Context, tx *db.Tx, legalEntityID, ledgerAccountID string) (bool, error) {
	found, err := db.All[string](ctx, tx,
		"SELECT asset_id"+fromLots+"ledger_account_id = ? AND is_open = ? AND legal_entity_id = ? LIMIT 1", ledgerAccountID, true, legalEntityID)
	return len(found) > 0, err
}

// moveUses lets the uses of an entry be of another date.
func moveUses(ctx context.Context, tx *db.Tx, entryID string, to Ref) error {
	return tx.Queue(ctx, "UPDATE lot_uses SET accounting_date = ?, accounting_period_id = ? WHERE organization_id = @org AND "+
		"journal_entry_id = ? AND is_correction = ?",
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
	return tx.Queue(ctx, "UPDATE lot_uses SET accounting_period_id = ? WHERE organization_id = @org AND "+between, m.ToID, m.Start,
		m.End, m.FromID)
}

func selectLotsBetween(ctx context.Context, tx *db.Tx, m period.Moved) ([]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+`journal_entry_id IN (
		SELECT e.journal_entry_id FROM journal_entries e WHERE e.organization_id = @org AND e.accounting_date >= ? AND e.accounting_date
		< ? AND e.accounting_period_id = ?)`, m.Start, m.End, m.ToID)
	return lotsOf(rows), err
}
