package lots

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

type consumptionRow struct {
	Pool            string        `db:"pool"`
	OrderKey        string        `db:"order_key"`
	JournalEntryID  string        `db:"journal_entry_id"`
	Position        int64         `db:"position"`
	TransactionID   *string       `db:"transaction_id"`
	SourceID        *string       `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	Chain           *string       `db:"chain"`
	At              time.Time     `db:"consumed_at"`
	Block           int64         `db:"block_number"`
	Number          int64         `db:"number"`
	Kind            string        `db:"kind"`
	Quantity        money.Decimal `db:"quantity"`
	FeeQuantity     money.Decimal `db:"fee_quantity"`
	Proceeds        money.Decimal `db:"proceeds"`
	FeeProceeds     money.Decimal `db:"fee_proceeds"`
	Costs           money.Decimal `db:"costs"`
	NetFees         bool          `db:"net_fees"`
	Picks           *string       `db:"picks"`
}

func consumptionsOf(rows []consumptionRow) ([]Consumption, error) {
	out := make([]Consumption, len(rows))
	for i, r := range rows {
		out[i] = Consumption{
			Pool: r.Pool, OrderKey: lot.OrderKey(r.OrderKey), EntryID: r.JournalEntryID, Position: int(r.Position),
			TransactionID: db.OrEmpty(r.TransactionID), SourceID: db.OrEmpty(r.SourceID), LedgerAccountID: r.LedgerAccountID,
			Chain: db.OrEmpty(r.Chain), At: r.At, Block: r.Block, Number: r.Number, Kind: posting.Kind(r.Kind), Quantity: r.Quantity,
			FeeQuantity: r.FeeQuantity, Proceeds: r.Proceeds, FeeProceeds: r.FeeProceeds, Costs: r.Costs, NetFees: r.NetFees,
		}
		if r.Picks != nil {
			if err := json.Unmarshal([]byte(*r.Picks), &out[i].Picks); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func insertConsumptions(ctx context.Context, tx *db.Tx, consumptions []Consumption) error {
	rows := make([]consumptionRow, len(consumptions))
	for i, t := range consumptions {
		rows[i] = consumptionRow{
			Pool: t.Pool, OrderKey: string(t.OrderKey), JournalEntryID: t.EntryID, Position: int64(t.Position),
			TransactionID: db.OrNull(t.TransactionID), SourceID: db.OrNull(t.SourceID), LedgerAccountID: t.LedgerAccountID,
			Chain: db.OrNull(t.Chain), At: t.At, Block: t.Block, Number: t.Number, Kind: string(t.Kind), Quantity: t.Quantity,
			FeeQuantity: t.FeeQuantity, Proceeds: t.Proceeds, FeeProceeds: t.FeeProceeds, Costs: t.Costs, NetFees: t.NetFees,
			Picks: picksText(t.Picks),
		}
	}
	return db.Insert(ctx, tx, "lot_consumptions", rows...)
}

func picksText(picks []lot.Pick) *string {
	if len(picks) == 0 {
		return nil
	}
	text, err := json.Marshal(picks)
	if err != nil {
		panic("lots: picks cannot be written: " + err.Error())
	}
	return db.OrNull(string(text))
}

const fromConsumptions = " FROM lot_consumptions WHERE organization_id = @org AND "

// ConsumptionsSince returns the consumptions of a pool from an order key on, in order. It is a building block.
func ConsumptionsSince(ctx context.Context, tx *db.Tx, pool string, from lot.OrderKey) ([]Consumption, error) {
	rows, err := db.All[consumptionRow](ctx, tx, "SELECT "+db.Columns[consumptionRow]()+fromConsumptions+
		"pool = ? AND order_key >= ? ORDER BY order_key", pool, string(from))
	if err != nil {
		return nil, err
	}
	return consumptionsOf(rows)
}

// ConsumptionsOfEntry returns the consumptions of an entry, by position. It is a building block.
func ConsumptionsOfEntry(ctx context.Context, tx *db.Tx, entryID string) ([]Consumption, error) {
	rows, err := db.All[consumptionRow](ctx, tx, "SELECT "+db.Columns[consumptionRow]()+fromConsumptions+
		"(pool, order_key) IN (SELECT c.pool, c.order_key FROM lot_consumptions AS c "+
		"WHERE c.organization_id = @org AND c.journal_entry_id = ?)", entryID)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b consumptionRow) int { return cmp.Compare(a.Position, b.Position) })
	return consumptionsOf(rows)
}

// EntriesBeforeOthers returns those of some entries that consumed lots, or created some, in a pool from which another entry consumed lots
// afterwards. It is a building block.
func EntriesBeforeOthers(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]bool, error) {
	if len(entryIDs) == 0 {
		return nil, nil
	}
	const later = ` AND EXISTS (SELECT 1 FROM lot_consumptions AS c WHERE c.organization_id = @org AND c.pool = x.pool
		AND c.order_key > x.order_key AND c.journal_entry_id <> x.journal_entry_id)`
	found, err := db.All[string](ctx, tx, `SELECT x.journal_entry_id FROM lot_consumptions AS x WHERE x.organization_id = @org
		AND x.journal_entry_id {any}`+later+` UNION SELECT x.journal_entry_id FROM lots AS x WHERE x.organization_id = @org
		AND x.journal_entry_id {any}`+later, entryIDs, entryIDs)
	out := make(map[string]bool, len(found))
	for _, id := range found {
		out[id] = true
	}
	return out, err
}

// deleteAtKeys deletes the rows of consumptions from a table that has their pool and order key.
func deleteAtKeys(ctx context.Context, tx *db.Tx, from string, consumptions []Consumption) error {
	byPool := map[string][]string{}
	for _, c := range consumptions {
		byPool[c.Pool] = append(byPool[c.Pool], string(c.OrderKey))
	}
	for _, pool := range slices.Sorted(maps.Keys(byPool)) {
		if err := tx.Queue(ctx, "DELETE"+from+"pool = ? AND order_key {any}", pool, byPool[pool]); err != nil {
			return err
		}
	}
	return nil
}

// LastDisposal returns when a legal entity last consumed lots, nil if it never did. Moves count too, because under another
// election other lots would have moved. It reads the last consumption of every pool, because order keys sort by time. It is a
// building block.
func LastDisposal(ctx context.Context, tx *db.Tx, legalEntityID string) (*time.Time, error) {
	return db.One[*time.Time](ctx, tx, "disposal",
		`SELECT max(l.consumed_at) FROM (
			SELECT (SELECT c.consumed_at FROM lot_consumptions c WHERE c.organization_id = @org AND c.pool = p.pool
				ORDER BY c.order_key DESC LIMIT 1) AS consumed_at
			FROM lot_pools p WHERE p.organization_id = @org AND p.legal_entity_id = ?) AS l`, legalEntityID)
}
