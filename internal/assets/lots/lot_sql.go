package lots

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
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
	LastKey         string        `db:"last_order_key"`
}

// GetPool returns a stored pool, nil if there is none. It is a building block.
func GetPool(ctx context.Context, tx *db.Tx, key string) (*Pool, error) {
	rows, err := db.All[poolRow](ctx, tx, "SELECT "+db.Columns[poolRow]()+" FROM lot_pools WHERE organization_id = @org AND pool = ?", key)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	p := rows[0].pool()
	return &p, nil
}

func (r poolRow) pool() Pool {
	return Pool{
		Key: r.Key, LegalEntityID: r.LegalEntityID, SourceID: db.OrEmpty(r.SourceID), LedgerAccountID: db.OrEmpty(r.LedgerAccountID),
		AssetType: r.AssetType, Chain: db.OrEmpty(r.Chain), TokenID: db.OrEmpty(r.TokenID), Currency: r.Currency,
		Quantity: r.Quantity, Basis: r.Basis, Seq: r.Seq, LastKey: lot.OrderKey(r.LastKey),
	}
}

func poolsOf(rows []poolRow) []Pool {
	out := make([]Pool, len(rows))
	for i, r := range rows {
		out[i] = r.pool()
	}
	return out
}

func upsertPools(ctx context.Context, tx *db.Tx, pools []Pool) error {
	rows := make([]poolRow, len(pools))
	for i, p := range pools {
		rows[i] = poolRow{
			Key: p.Key, LegalEntityID: p.LegalEntityID, SourceID: db.OrNull(p.SourceID), LedgerAccountID: db.OrNull(p.LedgerAccountID),
			AssetType: p.AssetType, Chain: db.OrNull(p.Chain), TokenID: db.OrNull(p.TokenID), Currency: p.Currency,
			Quantity: p.Quantity, Basis: p.Basis, Seq: p.Seq, LastKey: string(p.LastKey),
		}
	}
	return db.Upsert(ctx, tx, "lot_pools", rows, `ON CONFLICT (organization_id, pool) DO UPDATE SET
		quantity = excluded.quantity, basis = excluded.basis, seq = excluded.seq, last_order_key = excluded.last_order_key`)
}

type lotRow struct {
	ID                string        `db:"asset_id"`
	Pool              string        `db:"pool"`
	OrderKey          string        `db:"order_key"`
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
	IntervalNode      int64         `db:"interval_node"`
	EnteredAt         *time.Time    `db:"entered_at"`
	LastUsedAt        *time.Time    `db:"last_used_at"`
}

func (r lotRow) lot() Lot {
	return Lot{
		ID: r.ID, Pool: r.Pool, OrderKey: lot.OrderKey(r.OrderKey), Seq: r.Seq, LegalEntityID: r.LegalEntityID,
		SourceID: db.OrEmpty(r.SourceID), LedgerAccountID: r.LedgerAccountID, AssetType: r.AssetType, Chain: db.OrEmpty(r.Chain),
		TokenID: db.OrEmpty(r.TokenID), AcquiredAt: r.AcquiredAt, Quantity: r.Quantity, RemainingQuantity: r.RemainingQuantity,
		CostBasis: r.CostBasis, RemainingBasis: r.RemainingBasis, Currency: r.Currency, Origin: Origin(r.Origin),
		ParentID: db.OrEmpty(r.ParentID), TransactionID: db.OrEmpty(r.TransactionID), JournalEntryID: r.JournalEntryID,
		OpenedIn: db.OrEmpty(r.OpenedIn), BasisPending: r.BasisPending, Provisional: r.Provisional, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt,
		lifetime:  lifetime{enteredAt: r.EnteredAt, lastUsedAt: r.LastUsedAt, emptiedAt: r.EmptiedAt, intervalNode: r.IntervalNode},
	}
}

// unitPlaces is the number of decimal places to which unit costs are compared.
const unitPlaces = 20

func toRow(l Lot) lotRow {
	r := lotRow{
		ID: l.ID, Pool: l.Pool, OrderKey: string(l.OrderKey), Seq: l.Seq, LegalEntityID: l.LegalEntityID,
		SourceID: db.OrNull(l.SourceID), LedgerAccountID: l.LedgerAccountID, AssetType: l.AssetType, Chain: db.OrNull(l.Chain),
		TokenID: db.OrNull(l.TokenID), AcquiredAt: l.AcquiredAt, Quantity: l.Quantity, RemainingQuantity: l.RemainingQuantity,
		CostBasis: l.CostBasis, RemainingBasis: l.RemainingBasis, Currency: l.Currency, UnitKey: "",
		Open: l.RemainingQuantity.Sign() > 0, Origin: string(l.Origin), ParentID: db.OrNull(l.ParentID),
		TransactionID: db.OrNull(l.TransactionID), JournalEntryID: l.JournalEntryID, OpenedIn: db.OrNull(l.OpenedIn),
		BasisPending: l.BasisPending, Provisional: l.Provisional, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt,
		EmptiedAt: l.emptiedAt, IntervalNode: l.intervalNode, EnteredAt: l.enteredAt, LastUsedAt: l.lastUsedAt,
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
		pool = excluded.pool, order_key = excluded.order_key, seq = excluded.seq, legal_entity_id = excluded.legal_entity_id,
		source_id = excluded.source_id, ledger_account_id = excluded.ledger_account_id, acquired_at = excluded.acquired_at,
		quantity = excluded.quantity, remaining_quantity = excluded.remaining_quantity,
		cost_basis = excluded.cost_basis, remaining_basis = excluded.remaining_basis,
		opened_in = excluded.opened_in, unit_key = excluded.unit_key, is_open = excluded.is_open, origin = excluded.origin,
		parent_asset_id = excluded.parent_asset_id, journal_entry_id = excluded.journal_entry_id,
		basis_pending = excluded.basis_pending, provisional = excluded.provisional, updated_at = excluded.updated_at,
		emptied_at = excluded.emptied_at, interval_node = excluded.interval_node, entered_at = excluded.entered_at,
		last_used_at = excluded.last_used_at`)
}

func deleteLots(ctx context.Context, tx *db.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return tx.Queue(ctx, "DELETE FROM lots WHERE organization_id = @org AND asset_id {any}", ids)
}

const fromLots = " FROM lots WHERE organization_id = @org AND "

// ByID returns lots in no particular order, without those that do not exist. It is a building block.
func ByID(ctx context.Context, tx *db.Tx, ids []string) ([]Lot, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"asset_id {any}", ids)
	return lotsOf(rows), err
}

// Entered returns the lots that entered a pool from an order key on, in order. It is a building block.
func Entered(ctx context.Context, tx *db.Tx, pool string, from lot.OrderKey) ([]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+"pool = ? AND order_key >= ? ORDER BY order_key, seq", pool,
		string(from))
	return lotsOf(rows), err
}

// LastKeyBefore returns the order key of the last event of a pool before another key, empty if there is none. It is a building block.
func LastKeyBefore(ctx context.Context, tx *db.Tx, pool string, before lot.OrderKey) (last lot.OrderKey, err error) {
	for _, from := range []string{fromLots, fromConsumptions} {
		key, err := db.One[*string](ctx, tx, "event", "SELECT max(order_key)"+from+"pool = ? AND order_key < ?", pool, string(before))
		if err != nil {
			return "", err
		}
		last = max(last, lot.OrderKey(db.OrEmpty(key)))
	}
	return last, nil
}

// OfEntries returns the lots that entries created. It selects the IDs in a subquery, which an index covers: without
// statistics SQLite would read all lots of the organization. The same holds for ConsumptionsOfEntry and UsesOfEntry. It is a
// building block.
func OfEntries(ctx context.Context, tx *db.Tx, entryIDs ...string) ([]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+
		"asset_id IN (SELECT l.asset_id FROM lots AS l WHERE l.organization_id = @org AND l.journal_entry_id {any})", entryIDs)
	slices.SortFunc(rows, func(a, b lotRow) int {
		return cmp.Or(cmp.Compare(a.JournalEntryID, b.JournalEntryID), cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Seq, b.Seq))
	})
	return lotsOf(rows), err
}

// Order is an order in which the lots of a pool are read.
type Order int

// The orders.
const (
	OldestFirst Order = iota
	NewestFirst
	HighestCostFirst
	LowestCostFirst
)

// scans are the orders in SQL: the columns of an index, forwards or backwards. Lots of the same unit cost come in the order
// of the index, so a caller that reads by cost must read all lots that could be first.
var scans = map[Order]struct{ after, by string }{
	OldestFirst:      {"(acquired_at, seq) > (?, ?)", "acquired_at, seq"},
	NewestFirst:      {"(acquired_at, seq) < (?, ?)", "acquired_at DESC, seq DESC"},
	HighestCostFirst: {"(unit_key, asset_id) < (?, ?)", "unit_key DESC, asset_id DESC"},
	LowestCostFirst:  {"(unit_key, asset_id) > (?, ?)", "unit_key, asset_id"},
}

// OpenLots returns a page of the open lots of a pool in an order, starting after one of them unless that is nil. It is a
// building block.
func OpenLots(ctx context.Context, tx *db.Tx, pool string, by Order, after *Lot, limit int) ([]Lot, error) {
	q := db.Select("SELECT "+db.Columns[lotRow]()+fromLots+"pool = ?", pool).And("is_open = ?", true)
	if after != nil {
		if by == OldestFirst || by == NewestFirst {
			q.And(scans[by].after, after.AcquiredAt, after.Seq)
		} else {
			q.And(scans[by].after, toRow(*after).UnitKey, after.ID)
		}
	}
	rows, err := db.All[lotRow](ctx, tx, q.Then("ORDER BY "+scans[by].by+" LIMIT ?", limit), q.Args...)
	return lotsOf(rows), err
}
