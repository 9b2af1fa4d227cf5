package explain

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// useFilter selects uses of lots by every field that is not empty.
type useFilter struct {
	id, lotID, entryID  string
	entities            []string
	sourceID, assetType string
	periodID            string
	from, until         time.Time
	realized            bool // only uses that realize a gain or a loss
}

func (f useFilter) filter() lots.UseFilter {
	out := lots.UseFilter{ID: f.id, LotID: f.lotID, EntryID: f.entryID, LegalEntityIDs: f.entities, PeriodID: f.periodID, From: f.from,
		Until: f.until, Realized: f.realized}
	if f.sourceID != "" {
		out.SourceIDs = []string{f.sourceID}
	}
	if f.assetType != "" {
		out.AssetTypes = []string{f.assetType}
	}
	return out
}

// selectUses reads uses by accounting date, beginning after a cursor unless that is nil.
func selectUses(ctx context.Context, tx *db.Tx, f useFilter, after *lots.UseCursor, limit int) ([]Use, error) {
	rows, err := lots.ListUses(ctx, tx, f.filter(), after, limit)
	if err != nil {
		return nil, err
	}
	added, err := realized.OfUses(ctx, tx, rows)
	out := make([]Use, len(rows))
	for i, u := range rows {
		out[i] = useOf(u)
		out[i].BookGain = u.Gain.Add(added[u.ID])
	}
	return out, err
}

// sums are the totals of uses, by the column that shows them.
type sums map[string]money.Decimal

// sumUses adds up uses. It returns nothing if there are none, and no currency if they have different ones.
func sumUses(ctx context.Context, tx *db.Tx, f useFilter) (sums, string, error) {
	s, err := lots.SumUses(ctx, tx, f.filter())
	if err != nil || !s.Found {
		return nil, "", err
	}
	return sums{"quantity": s.Quantity, "proceeds": s.Proceeds, "fee": s.Fee, "cost_basis": s.Basis, "gain_loss": s.Gain,
		taxGain: s.Gain}, s.Currency, nil
}

// sumBookGains adds up the gains of uses in the books.
func sumBookGains(ctx context.Context, tx *db.Tx, f useFilter) (total money.Decimal, err error) {
	const batch = 1000
	var after *lots.UseCursor
	for {
		uses, err := selectUses(ctx, tx, f, after, batch)
		for _, u := range uses {
			total = total.Add(u.BookGain)
		}
		if err != nil || len(uses) < batch {
			return total, err
		}
		last := uses[len(uses)-1]
		after = &lots.UseCursor{Date: last.Date, ID: last.ID}
	}
}
