package holdings

import (
	"context"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

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
		LotID: r.ID, Pool: r.Pool, LegalEntityID: r.LegalEntityID, SourceID: db.OrEmpty(r.SourceID),
		LedgerAccountID: r.LedgerAccountID, AssetType: r.AssetType, Chain: db.OrEmpty(r.Chain), TokenID: db.OrEmpty(r.TokenID),
		AcquiredAt: r.AcquiredAt, Quantity: r.Quantity, CostBasis: r.CostBasis, RemainingQuantity: r.RemainingQuantity,
		RemainingBasis: r.RemainingBasis, Currency: r.Currency, Origin: r.Origin, ParentID: db.OrEmpty(r.ParentID),
		TransactionID: db.OrEmpty(r.TransactionID), BasisPending: r.BasisPending,
	}
	if r.UsedQuantity != nil {
		l.RemainingQuantity = l.RemainingQuantity.Add(*r.UsedQuantity)
	}
	if r.UsedBasis != nil {
		l.RemainingBasis = l.RemainingBasis.Add(*r.UsedBasis)
	}
	return l
}

const lotColumns = `l.asset_id, l.pool, l.legal_entity_id, l.source_id, l.ledger_account_id, l.asset_type, l.chain, l.token_id,
	l.acquired_at, l.quantity, l.cost_basis,
	l.remaining_quantity, l.remaining_basis, l.currency, l.origin, l.parent_asset_id, l.transaction_id, l.basis_pending`

// usedSince returns a subquery over the uses of a lot from a time on. name is the alias, which must be unique in the statement.
func usedSince(what, name string) string {
	return "(SELECT " + what + " FROM lot_uses AS " + name + " WHERE " + name + ".organization_id = @org AND {rare}(" + name +
		".asset_id = l.asset_id) AND {unindexed}" + name + ".accounting_date >= ?)"
}

// selectLots reads lots of one asset and one node in the order of acquisition, as they were just before an instant. Lots that
// did not exist yet are left out; empty ones may be included. The entry is read by a scalar subquery for each lot, because
// PostgreSQL would turn an EXISTS into a join with all entries.
func selectLots(ctx context.Context, tx *db.Tx, w *lotReader, o entityAsset, node string, after *lotCursor, limit int) ([]LotState, error) {
	var q *db.Query
	if w.end.IsZero() {
		q = db.Select("SELECT " + lotColumns + " FROM lots AS l WHERE l.organization_id = @org AND l.is_open")
	} else {
		q = lotsBefore(w.end)
		if node != openNode {
			q.And("l.emptied_at >= ?", w.end)
		}
	}
	q.And("l.legal_entity_id = ? AND l.asset_type = ? AND l.life = CAST(? AS BIGINT)", o.legalEntityID, o.asset, node)
	Filter{SourceIDs: w.filter.SourceIDs}.narrow(q, "l.")
	if after != nil {
		q.And("(l.acquired_at, l.asset_id) > (?, ?)", after.acquiredAt, after.lotID)
	}
	text := q.Then("ORDER BY l.acquired_at, l.asset_id")
	if limit > 0 {
		text = q.Then("LIMIT ?", int64(limit))
	}
	rows, err := db.All[lotRow](ctx, tx, text, q.Args...)
	out := make([]LotState, len(rows))
	for i, r := range rows {
		out[i] = r.state()
	}
	return out, err
}

// lotsBefore returns a query for the lots that existed just before an instant, as they were then.
func lotsBefore(end time.Time) *db.Query {
	return db.Select("SELECT "+lotColumns+", "+usedSince("{dec_sum}(u.quantity)", "u")+" AS used_quantity, "+
		usedSince("{dec_sum}(v.basis)", "v")+" AS used_basis"+
		" FROM lots AS l WHERE l.organization_id = @org AND l.acquired_at < ?"+
		" AND (SELECT e.accounting_date FROM journal_entries AS e WHERE e.organization_id = @org AND e.journal_entry_id = "+
		"l.journal_entry_id) < ?",
		end, end, end, end)
}

// selectLot reads one lot as it was just before an instant, and reports whether it existed.
func selectLot(ctx context.Context, tx *db.Tx, lotID string, end time.Time) (LotState, bool, error) {
	q := lotsBefore(end).And("l.asset_id = ?", lotID)
	rows, err := db.All[lotRow](ctx, tx, q.Then(""), q.Args...)
	if err != nil || len(rows) == 0 {
		return LotState{}, false, err
	}
	return rows[0].state(), true, nil
}

// errNoMore reports that no asset follows.
var errNoMore = errors.New("holdings: no asset follows")

type entityAssetRow struct {
	LegalEntityID string `db:"legal_entity_id"`
	AssetType     string `db:"asset_type"`
}

// selectNextAsset returns the first asset with lots after another one. It takes one index lookup for each asset, because there
// are far fewer assets than lots.
func selectNextAsset(ctx context.Context, tx *db.Tx, f Filter, after entityAsset) (entityAsset, error) {
	q := db.Select("SELECT legal_entity_id, asset_type FROM lots WHERE organization_id = @org").And(
		"(legal_entity_id, asset_type) > (?, ?)", after.legalEntityID, after.asset)
	Filter{LegalEntityIDs: f.LegalEntityIDs, AssetTypes: f.AssetTypes}.narrow(q, "")
	rows, err := db.All[entityAssetRow](ctx, tx, q.Then("ORDER BY legal_entity_id, asset_type LIMIT 1"), q.Args...)
	if err == nil && len(rows) == 0 {
		err = errNoMore
	}
	if err != nil {
		return entityAsset{}, err
	}
	return entityAsset{rows[0].LegalEntityID, rows[0].AssetType}, nil
}

// selectNodes returns those of some nodes at which a lot of an asset was emptied at a time or later. Each is looked up by
// itself: it has many lots, or none.
func selectNodes(ctx context.Context, tx *db.Tx, o entityAsset, nodes []string, end time.Time) ([]string, error) {
	return db.All[string](ctx, tx,
		`SELECT w.value FROM {texts} WHERE (SELECT 1 FROM lots AS l WHERE l.organization_id = @org AND l.legal_entity_id = ? AND l.asset_type = ?
		AND l.life = CAST(w.value AS BIGINT) AND l.emptied_at >= ? ORDER BY l.emptied_at LIMIT 1) IS NOT NULL`, nodes, o.legalEntityID,
		o.asset, end)
}

// anyUseSince reports whether there is a use at a time or later. Without the ORDER BY, PostgreSQL would scan all uses.
func anyUseSince(ctx context.Context, tx *db.Tx, at time.Time) (bool, error) {
	rows, err := db.All[string](ctx, tx,
		"SELECT use_id FROM lot_uses WHERE organization_id = @org AND accounting_date >= ? ORDER BY accounting_date DESC, use_id "+
			"DESC LIMIT 1", at)
	return len(rows) > 0, err
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

// selectPools reads the pools that may be averaged, which excludes parked lots and NFTs.
func selectPools(ctx context.Context, tx *db.Tx, f Filter) ([]pool, error) {
	q := db.Select("SELECT " + db.Columns[poolRow]() +
		" FROM lot_pools WHERE organization_id = @org AND ledger_account_id IS NULL AND (token_id IS NULL OR token_id = '')")
	f.narrow(q, "")
	rows, err := db.All[poolRow](ctx, tx, q.Then("ORDER BY pool"), q.Args...)
	out := make([]pool, len(rows))
	for i, r := range rows {
		out[i] = pool{id: r.Pool, legalEntityID: r.LegalEntityID, sourceID: db.OrEmpty(r.SourceID), assetType: r.AssetType,
			chain: db.OrEmpty(r.Chain), quantity: r.Quantity, basis: r.Basis}
	}
	return out, err
}

type gainsRow struct {
	LegalEntityID string        `db:"legal_entity_id"`
	AssetType     string        `db:"asset_type"`
	Quantity      money.Decimal `db:"quantity"`
	Proceeds      money.Decimal `db:"proceeds"`
	Fee           money.Decimal `db:"fee"`
	Basis         money.Decimal `db:"basis"`
	Gain          money.Decimal `db:"gain"`
	Loss          money.Decimal `db:"loss"`
	ShortTerm     money.Decimal `db:"short_term"`
	LongTerm      money.Decimal `db:"long_term"`
}

const gainSums = `{dec_sum}(quantity) AS quantity, {dec_sum}(proceeds) AS proceeds, {dec_sum}(fee) AS fee, {dec_sum}(basis) AS
	basis, {dec_sum}(gain) AS gain, {dec_sum}(loss) AS loss,
	{dec_sum}(short_term) AS short_term, {dec_sum}(long_term) AS long_term`

// selectGains sums up realized gains of a period over all sources. Rows that are zero altogether are left out.
func selectGains(ctx context.Context, tx *db.Tx, month period.Period, f Filter, after []string, limit int) ([]Gains, error) {
	q := db.Select("SELECT legal_entity_id, asset_type, "+gainSums+
		" FROM lot_gains WHERE organization_id = @org").And("accounting_period_id = ?", month.ID)
	f.narrow(q, "")
	if after != nil {
		q.And("(legal_entity_id, asset_type) > (?, ?)", after[0], after[1])
	}
	rows, err := db.All[gainsRow](ctx, tx,
		q.Then(`GROUP BY legal_entity_id, asset_type HAVING NOT ({dec_sum}(quantity) = '0' AND {dec_sum}(proceeds) = '0' AND
			{dec_sum}(basis) = '0'
		AND {dec_sum}(gain) = '0' AND {dec_sum}(loss) = '0') ORDER BY legal_entity_id, asset_type LIMIT ?`, int64(limit)), q.Args...)
	out := make([]Gains, len(rows))
	for i, r := range rows {
		out[i] = Gains{Period: month, LegalEntityID: r.LegalEntityID, AssetType: r.AssetType, Currency: "", Quantity: r.Quantity,
			Proceeds: r.Proceeds, Fee: r.Fee, Basis: r.Basis, Gain: r.Gain, Loss: r.Loss, ShortTerm: r.ShortTerm, LongTerm: r.LongTerm}
	}
	return out, err
}

// selectDispositions reads disposals between two instants, starting after a row if afterID is set.
func selectDispositions(ctx context.Context, tx *db.Tx, f Filter, from, to time.Time, afterID string, limit int) ([]Disposition, error) {
	filter := lots.UseFilter{LegalEntityIDs: f.LegalEntityIDs, AssetTypes: f.AssetTypes, SourceIDs: f.SourceIDs, From: from, Until: to,
		Realized: true}
	var after *lots.UseCursor
	if afterID != "" {
		after = &lots.UseCursor{Date: from, ID: afterID}
	}
	uses, err := lots.ListUses(ctx, tx, filter, after, limit)
	out := make([]Disposition, len(uses))
	for i, u := range uses {
		out[i] = dispositionOf(u)
	}
	return out, err
}

func dispositionOf(u lots.Use) Disposition {
	return Disposition{
		ID: u.ID, LotID: u.LotID, AssetType: u.AssetType, SourceID: u.SourceID, LegalEntityID: u.LegalEntityID,
		AccountingDate: u.AccountingDate, PeriodID: u.PeriodID, AcquiredAt: u.AcquiredAt, DisposedAt: u.DisposedAt,
		TransactionType: u.TransactionType, Quantity: u.Quantity, Proceeds: u.Proceeds, Fee: u.Fee, Basis: u.Basis, Gain: u.Gain,
		Currency: u.Currency, Term: u.Term, Days: u.Days, Method: u.Method, TransactionID: u.TransactionID,
		JournalEntryID: u.JournalEntryID, Correction: u.Correction,
	}
}

type lifetimeRow struct {
	ID           string     `db:"asset_id"`
	IsOpen       bool       `db:"is_open"`
	EmptiedAt    *time.Time `db:"emptied_at"`
	IntervalNode int64      `db:"life"`
	EnteredAt    time.Time  `db:"came_at"`
	LastUse      *time.Time `db:"last_use"`
}

// forEachEmptied calls do for every lot that is stored as emptied, reading them in chunks.
func forEachEmptied(ctx context.Context, tx *db.Tx, do func(lifetimeRow)) error {
	const chunk = 1000
	last := ""
	for {
		rows, err := db.All[lifetimeRow](ctx, tx, `SELECT l.asset_id, l.is_open, l.emptied_at, l.life, e.accounting_date AS came_at,
			(SELECT max(u.accounting_date) FROM lot_uses AS u WHERE u.organization_id = @org AND u.asset_id = l.asset_id) AS last_use
			FROM lots AS l JOIN journal_entries AS e ON e.organization_id = @org AND e.journal_entry_id = l.journal_entry_id
			WHERE l.organization_id = @org AND l.asset_id > ? AND (l.life <> 0 OR l.emptied_at IS NOT NULL) ORDER BY l.asset_id LIMIT ?`,
			last, int64(chunk))
		if err != nil {
			return err
		}
		for _, r := range rows {
			do(r)
			last = r.ID
		}
		if len(rows) < chunk {
			return nil
		}
	}
}
