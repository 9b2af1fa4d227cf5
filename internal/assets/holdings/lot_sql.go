package holdings

import (
	"context"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// errNoMore reports that no asset follows.
var errNoMore = errors.New("holdings: no asset follows")

type entityAssetRow struct {
	LegalEntityID string `db:"legal_entity_id"`
	AssetType     string `db:"asset_type"`
}

// selectNextAsset returns the first asset with lots after another one. It takes one index lookup for each asset, because there
// are far fewer assets than lots.
func selectNextAsset(ctx context.Context, tx *db.Tx, f Filter, after entityAsset) (entityAsset, error) {
	q := db.Select("SELECT legal_entity_id, asset_type FROM lots WHERE organization_id = @org")
	q.And("(legal_entity_id, asset_type) > (?, ?)", after.legalEntityID, after.asset)
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
		`SELECT CAST(w.value AS TEXT) AS node FROM {integers} WHERE (SELECT 1 FROM lots AS l
			WHERE l.organization_id = @org AND l.legal_entity_id = ? AND l.asset_type = ?
			AND l.interval_node = w.value AND l.emptied_at >= ? ORDER BY l.emptied_at LIMIT 1) IS NOT NULL`,
		nodes, o.legalEntityID, o.asset, end)
}

// anyUseSince reports whether there is a use at a time or later. Without the ORDER BY, PostgreSQL would scan all uses.
func anyUseSince(ctx context.Context, tx *db.Tx, at time.Time) (bool, error) {
	rows, err := db.All[string](ctx, tx,
		"SELECT use_id FROM lot_uses WHERE organization_id = @org AND accounting_date >= ? "+
			"ORDER BY accounting_date DESC, use_id DESC LIMIT 1", at)
	return len(rows) > 0, err
}

// gainsRow is the sum of what was realized over all sources; a row of the table is one source.
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

const gainSums = `{dec_sum}(quantity) AS quantity, {dec_sum}(proceeds) AS proceeds, {dec_sum}(fee) AS fee,
	{dec_sum}(basis) AS basis, {dec_sum}(gain) AS gain, {dec_sum}(loss) AS loss,
	{dec_sum}(short_term) AS short_term, {dec_sum}(long_term) AS long_term`

// selectGains sums up realized gains of a period over all sources. Rows that are zero altogether are left out.
func selectGains(ctx context.Context, tx *db.Tx, month period.Period, f Filter, after []string, limit int) ([]Gains, error) {
	q := db.Select("SELECT legal_entity_id, asset_type, "+gainSums+
		" FROM lot_gains WHERE organization_id = @org").And("accounting_period_id = ?", month.ID)
	f.narrow(q, "")
	if after != nil {
		q.And("(legal_entity_id, asset_type) > (?, ?)", after[0], after[1])
	}
	rows, err := db.All[gainsRow](ctx, tx, q.Then(`GROUP BY legal_entity_id, asset_type
		HAVING NOT ({dec_sum}(quantity) = '0' AND {dec_sum}(proceeds) = '0' AND {dec_sum}(basis) = '0'
			AND {dec_sum}(gain) = '0' AND {dec_sum}(loss) = '0')
		ORDER BY legal_entity_id, asset_type LIMIT ?`, int64(limit)), q.Args...)
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
	if err != nil {
		return nil, err
	}
	added, err := realized.OfUses(ctx, tx, uses)
	out := make([]Disposition, len(uses))
	for i, u := range uses {
		out[i] = dispositionOf(u)
		out[i].BookGain = u.Gain.Add(added[u.ID])
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
