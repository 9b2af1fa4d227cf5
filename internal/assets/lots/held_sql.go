package lots

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// heldRow is a lot and what was consumed from it since some time.
type heldRow struct {
	lotRow
	UsedQuantity *money.Decimal `db:"used_quantity"`
	UsedBasis    *money.Decimal `db:"used_basis"`
}

func (r heldRow) lot() Lot {
	l := r.lotRow.lot()
	l.RemainingQuantity = l.RemainingQuantity.Add(orZero(r.UsedQuantity))
	l.RemainingBasis = l.RemainingBasis.Add(orZero(r.UsedBasis))
	return l
}

// heldColumns are the columns that reports need, which read many lots.
const heldColumns = `l.asset_id, l.pool, l.legal_entity_id, l.source_id, l.ledger_account_id, l.asset_type, l.chain, l.token_id,
	l.seq, l.acquired_at, l.quantity, l.cost_basis, l.remaining_quantity, l.remaining_basis, l.currency, l.origin, l.parent_asset_id,
	l.transaction_id, l.basis_pending`

// usedSince returns a subquery over the uses of a lot from a time on. name is the alias, which must be unique in the statement.
func usedSince(what, name string) string {
	return "(SELECT " + what + " FROM lot_uses AS " + name + " WHERE " + name + ".organization_id = @org AND {rare}(" + name +
		".asset_id = l.asset_id) AND {unindexed}" + name + ".accounting_date >= ?)"
}

// heldBefore returns a query for the lots that existed just before an instant, as they were then: those whose entry is dated
// before it, and opening balances, which existed before everything and have no entry if they cost nothing. The entry is read by
// a scalar subquery for each lot, because PostgreSQL would turn an EXISTS into a join with all entries.
func heldBefore(end time.Time) *db.Query {
	return db.Select("SELECT "+heldColumns+", "+usedSince("{dec_sum}(u.quantity)", "u")+" AS used_quantity, "+
		usedSince("{dec_sum}(v.basis)", "v")+" AS used_basis"+
		" FROM lots AS l WHERE l.organization_id = @org AND (l.journal_entry_id = '' OR (SELECT e.accounting_date FROM journal_entries AS e "+
		"WHERE e.organization_id = @org AND e.journal_entry_id = l.journal_entry_id) < ?)", end, end, end)
}

// OpenNode is the interval node of open lots.
const OpenNode = "0"

// HeldFilter selects lots of one asset of a legal entity that have the same interval node.
type HeldFilter struct {
	LegalEntityID string
	AssetType     string
	SourceIDs     []string  // all if empty
	IntervalNode  string    // see calendar.IntervalNode
	Before        time.Time // lots as they were just before this instant; zero for open lots as they are now
}

// HeldCursor is the position of a lot by date of acquisition.
type HeldCursor struct {
	AcquiredAt time.Time
	LotID      string
}

// ListHeld returns lots in the order of acquisition, beginning after a cursor unless that is nil, without a limit if it is zero.
// What remains of them is as of the time of the filter. Lots that did not exist then are left out; empty ones may be included.
// Fields that reports do not need, such as the order key, are not set. It is a building block.
func ListHeld(ctx context.Context, tx *db.Tx, f HeldFilter, after *HeldCursor, limit int) ([]Lot, error) {
	if f.Before.IsZero() {
		open := db.Select("SELECT " + heldColumns + " FROM lots AS l WHERE l.organization_id = @org AND l.is_open")
		return listHeld(ctx, tx, open, f, after, limit)
	}
	out, err := listHeld(ctx, tx, heldBefore(f.Before).And("l.acquired_at < ?", f.Before), f, after, limit)
	if err != nil || limit > 0 && len(out) == limit {
		return out, err
	}
	// An opening balance, or a part of one that was moved, can have a later date of acquisition. A query with OR would read all lots
	// acquired since.
	if limit > 0 {
		limit -= len(out)
	}
	later, err := listHeld(ctx, tx, heldBefore(f.Before).And("l.acquired_at >= ? AND "+mayPrecede, f.Before), f, after, limit)
	return append(out, later...), err
}

// mayPrecede selects the lots that can have existed before their date of acquisition. It is the condition of the index lots_preceding.
const mayPrecede = "(l.origin = 'manual' OR l.parent_asset_id IS NOT NULL)"

// listHeld returns the lots of a query that a filter selects.
func listHeld(ctx context.Context, tx *db.Tx, q *db.Query, f HeldFilter, after *HeldCursor, limit int) ([]Lot, error) {
	if !f.Before.IsZero() && f.IntervalNode != OpenNode {
		q.And("l.emptied_at >= ?", f.Before)
	}
	q.And("l.legal_entity_id = ? AND l.asset_type = ? AND l.interval_node = CAST(? AS BIGINT)", f.LegalEntityID, f.AssetType, f.IntervalNode)
	among(q, "l.source_id", f.SourceIDs)
	if after != nil {
		q.And("(l.acquired_at, l.asset_id) > (?, ?)", after.AcquiredAt, after.LotID)
	}
	text := q.Then("ORDER BY l.acquired_at, l.asset_id")
	if limit > 0 {
		text = q.Then("LIMIT ?", int64(limit))
	}
	rows, err := db.All[heldRow](ctx, tx, text, q.Args...)
	out := make([]Lot, len(rows))
	for i, r := range rows {
		out[i] = r.lot()
	}
	return out, err
}

// GetHeld returns one lot as ListHeld does, and reports whether it existed just before an instant. It is a building block.
func GetHeld(ctx context.Context, tx *db.Tx, lotID string, before time.Time) (Lot, bool, error) {
	q := heldBefore(before).And("l.asset_id = ?", lotID)
	rows, err := db.All[heldRow](ctx, tx, q.Then(""), q.Args...)
	if err != nil || len(rows) == 0 {
		return Lot{}, false, err
	}
	return rows[0].lot(), true, nil
}

// AveragedPools returns the pools of legal entities and assets that a weighted average applies to: parked lots and NFTs are never
// averaged. It is a building block.
func AveragedPools(ctx context.Context, tx *db.Tx, legalEntityIDs, assetTypes []string) ([]Pool, error) {
	q := db.Select("SELECT " + db.Columns[poolRow]() +
		" FROM lot_pools WHERE organization_id = @org AND ledger_account_id IS NULL AND (token_id IS NULL OR token_id = '')")
	among(q, "legal_entity_id", legalEntityIDs)
	among(q, "asset_type", assetTypes)
	rows, err := db.All[poolRow](ctx, tx, q.Then("ORDER BY pool"), q.Args...)
	return poolsOf(rows), err
}

// WrongLifetimes returns the lots that reports as of an earlier time would miss, because the date on which they were emptied or
// their interval node is stored wrong. It is a building block.
func WrongLifetimes(ctx context.Context, tx *db.Tx) (lotIDs []string, err error) {
	const chunk = 1000
	last := ""
	for {
		rows, err := db.All[lifetimeRow](ctx, tx, `SELECT l.asset_id, l.is_open, l.emptied_at, l.interval_node,
			e.accounting_date AS entered_at,
			(SELECT max({unindexed}u.accounting_date) FROM lot_uses AS u
				WHERE u.organization_id = @org AND {rare}(u.asset_id = l.asset_id)) AS last_use
			FROM lots AS l JOIN journal_entries AS e ON e.organization_id = @org AND e.journal_entry_id = l.journal_entry_id
			WHERE l.organization_id = @org AND l.asset_id > ? AND (l.interval_node <> 0 OR l.emptied_at IS NOT NULL)
			ORDER BY l.asset_id LIMIT ?`, last, int64(chunk))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r.Open || r.EmptiedAt == nil || r.LastUse == nil || !r.EmptiedAt.Equal(*r.LastUse) || r.EnteredAt == nil ||
				r.IntervalNode != calendar.IntervalNode(*r.EnteredAt, *r.EmptiedAt) {
				lotIDs = append(lotIDs, r.ID)
			}
			last = r.ID
		}
		if len(rows) < chunk {
			return lotIDs, nil
		}
	}
}
