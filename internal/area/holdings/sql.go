package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type positionRow struct {
	LegalEntityID   string        `db:"legal_entity_id"`
	SourceID        string        `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	AssetType       string        `db:"asset_type"`
	Chain           string        `db:"chain"`
	TokenID         string        `db:"token_id"`
	Currency        string        `db:"currency"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
	Lots            int64         `db:"lot_count"`
}

const place = "p.legal_entity_id, p.source_id, p.ledger_account_id, p.asset_type, p.chain, p.token_id"

// selectPositions adds up movements in the order of their key, all of them or a page.
func selectPositions(ctx context.Context, tx *db.Tx, periodKey string, f Filter, after []string, limit int) ([]Position, error) {
	from := " FROM lot_positions AS p"
	if periodKey != "" {
		from += " JOIN accounting_periods AS a ON a.organization_id = @org AND a.accounting_period_id = p.accounting_period_id"
	}
	q := db.Select("SELECT " + place + ", (SELECT base_currency FROM legal_entities AS e WHERE e.organization_id = @org AND e.legal_entity_id = p.legal_entity_id) AS currency, " +
		"{dec_sum}(p.quantity) AS quantity, {dec_sum}(p.basis) AS basis, CAST(sum(p.lot_count) AS BIGINT) AS lot_count" + from + " WHERE p.organization_id = @org")
	if periodKey != "" {
		q.And("a.key <= ?", periodKey)
	}
	f.narrow(q, "p.")
	if after != nil {
		q.And("("+place+") > (?, ?, ?, ?, ?, ?)", after[0], after[1], after[2], after[3], after[4], after[5])
	}
	const held = "GROUP BY " + place + " HAVING NOT ({dec_sum}(p.quantity) = '0' AND {dec_sum}(p.basis) = '0') ORDER BY " + place
	text := q.Then(held)
	if limit > 0 {
		text = q.Then("LIMIT ?", int64(limit))
	}
	rows, err := db.All[positionRow](ctx, tx, text, q.Args...)
	out := make([]Position, len(rows))
	for i, r := range rows {
		out[i] = Position(r)
	}
	return out, err
}

// narrow adds the conditions of a filter, on columns of a table by its name.
func (f Filter) narrow(q *db.Query, table string) {
	for _, c := range []struct {
		column string
		values []string
	}{{"legal_entity_id", f.LegalEntityIDs}, {"asset_type", f.AssetTypes}, {"source_id", f.SourceIDs}} {
		switch len(c.values) {
		case 0:
		case 1:
			q.And(table+c.column+" = ?", c.values[0])
		default:
			q.And(table+c.column+" {any}", c.values)
		}
	}
}

type lotRow struct {
	ID                string         `db:"asset_id"`
	Pool              string         `db:"pool"`
	LegalEntityID     string         `db:"legal_entity_id"`
	SourceID          *string        `db:"source_id"`
	LedgerAccountID   string         `db:"ledger_account_id"`
	AssetType         string         `db:"asset_type"`
	Chain             *string        `db:"chain"`
	TokenID           *string        `db:"token_id"`
	AcquiredAt        time.Time      `db:"acquired_at"`
	Quantity          money.Decimal  `db:"quantity"`
	CostBasis         money.Decimal  `db:"cost_basis"`
	RemainingQuantity money.Decimal  `db:"remaining_quantity"`
	RemainingBasis    money.Decimal  `db:"remaining_basis"`
	Currency          string         `db:"currency"`
	Origin            string         `db:"origin"`
	ParentID          *string        `db:"parent_asset_id"`
	TransactionID     *string        `db:"transaction_id"`
	BasisPending      bool           `db:"basis_pending"`
	UsedQuantity      *money.Decimal `db:"used_quantity"` // since
	UsedBasis         *money.Decimal `db:"used_basis"`
}

func (r lotRow) state() LotState {
	l := LotState{
		r.ID, r.Pool, r.LegalEntityID, db.OrEmpty(r.SourceID), r.LedgerAccountID, r.AssetType, db.OrEmpty(r.Chain), db.OrEmpty(r.TokenID), r.AcquiredAt, r.Quantity,
		r.CostBasis, r.RemainingQuantity, r.RemainingBasis, r.Currency, r.Origin, db.OrEmpty(r.ParentID), db.OrEmpty(r.TransactionID), r.BasisPending,
	}
	if r.UsedQuantity != nil {
		l.RemainingQuantity = l.RemainingQuantity.Add(*r.UsedQuantity)
	}
	if r.UsedBasis != nil {
		l.RemainingBasis = l.RemainingBasis.Add(*r.UsedBasis)
	}
	return l
}

const lotColumns = `l.asset_id, l.pool, l.legal_entity_id, l.source_id, l.ledger_account_id, l.asset_type, l.chain, l.token_id, l.acquired_at, l.quantity, l.cost_basis,
	l.remaining_quantity, l.remaining_basis, l.currency, l.origin, l.parent_asset_id, l.transaction_id, l.basis_pending`

// usedSince is what was taken from a lot at a time or later. Each place in a statement has its own name for it.
func usedSince(what, name string) string {
	return "(SELECT " + what + " FROM lot_uses AS " + name + " WHERE " + name + ".organization_id = @org AND " + name + ".asset_id = l.asset_id AND " + name + ".accounting_date >= ?)"
}

// selectLots reads the lots of which something was left before an end, or is left where that is zero.
func selectLots(ctx context.Context, tx *db.Tx, f Filter, end time.Time) ([]LotState, error) {
	var q *db.Query
	if end.IsZero() {
		q = db.Select("SELECT " + lotColumns + " FROM lots AS l WHERE l.organization_id = @org AND l.is_open")
	} else {
		q = db.Select("SELECT "+lotColumns+", "+usedSince("{dec_sum}(u.quantity)", "u")+" AS used_quantity, "+usedSince("{dec_sum}(v.basis)", "v")+" AS used_basis"+
			" FROM lots AS l JOIN journal_entries AS e ON e.organization_id = @org AND e.journal_entry_id = l.journal_entry_id AND e.accounting_date < ?"+
			" WHERE l.organization_id = @org AND (l.is_open OR EXISTS "+usedSince("1", "w")+")", end, end, end, end)
	}
	f.narrow(q, "l.")
	rows, err := db.All[lotRow](ctx, tx, q.Then("ORDER BY l.asset_id"), q.Args...)
	out := make([]LotState, 0, len(rows))
	for _, r := range rows {
		if l := r.state(); l.RemainingQuantity.Sign() != 0 {
			out = append(out, l)
		}
	}
	return out, err
}

type poolRow struct {
	Pool          string        `db:"pool"`
	LegalEntityID string        `db:"legal_entity_id"`
	SourceID      *string       `db:"source_id"`
	AssetType     string        `db:"asset_type"`
	Chain         *string       `db:"chain"`
	Quantity      money.Decimal `db:"quantity"`
	Basis         money.Decimal `db:"basis"`
}

// selectPools reads pools that may be averaged: not what is parked, nor what is one of a kind.
func selectPools(ctx context.Context, tx *db.Tx, f Filter) ([]pool, error) {
	q := db.Select("SELECT " + db.Columns[poolRow]() + " FROM lot_pools WHERE organization_id = @org AND ledger_account_id IS NULL AND (token_id IS NULL OR token_id = '')")
	f.narrow(q, "")
	rows, err := db.All[poolRow](ctx, tx, q.Then("ORDER BY pool"), q.Args...)
	out := make([]pool, len(rows))
	for i, r := range rows {
		out[i] = pool{r.Pool, r.LegalEntityID, db.OrEmpty(r.SourceID), r.AssetType, db.OrEmpty(r.Chain), r.Quantity, r.Basis}
	}
	return out, err
}
