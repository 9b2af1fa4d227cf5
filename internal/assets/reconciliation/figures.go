package reconciliation

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/observation"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Status says how the books compare with what was observed.
type Status string

// The statuses.
const (
	Reconciled Status = "reconciled"
	Differs    Status = "difference"
	Unknown    Status = "unknown"
)

// Figures compare the books of a source with what it stated about an asset.
type Figures struct {
	AssetType    string
	ComparedAt   time.Time             // the instant of the figures: that of the observed balance, if there is one
	Book         *money.Decimal        // nil if it cannot be told apart from what other sources hold
	Transactions *money.Decimal        // what the transactions of the source add up to; nil if that of one of them is unknown
	Pending      money.Decimal         // the part of them that is not booked
	Waiting      int64                 // how many are not booked
	Observed     *observation.Observed // nil if none is known
}

// Difference returns what the books have less what was observed; nil if one of them is unknown.
func (f Figures) Difference() *money.Decimal {
	if f.Book == nil || f.Observed == nil {
		return nil
	}
	return new(f.Book.Sub(f.Observed.Quantity))
}

// Status says how the figures compare. The books have no smaller amounts of money than the minor unit, so that these make no difference.
func (f Figures) Status() Status {
	switch d := f.Difference(); {
	case d == nil:
		return Unknown
	case d.RoundTo(f.AssetType).IsZero():
		return Reconciled
	}
	return Differs
}

// empty reports whether there is nothing to show: no balance was observed, and nothing is held.
func (f Figures) empty() bool {
	return f.Observed == nil && f.Waiting == 0 && f.Book != nil && f.Book.IsZero() && (f.Transactions == nil || f.Transactions.IsZero())
}

// Why says why a status is unknown; it is empty if it is known.
func (f Figures) Why() string {
	switch {
	case f.Book == nil:
		return "Other sources have the same ledger account, so that the books cannot tell what this one holds: give it an account of its own."
	case f.Observed == nil:
		return "No balance was observed: import a file that states balances, connect the source, or enter a balance with " +
			"POST /v1/sources/{source_id}/observed-balances."
	}
	return ""
}

// comparison compares the books of one source.
type comparison struct {
	source source.Source
	shared bool // the account of the source has other sources
}

func newComparison(ctx context.Context, tx *db.Tx, src source.Source) (*comparison, error) {
	shared, err := holdings.SharesAccount(ctx, tx, src)
	return &comparison{src, shared}, err
}

// assets returns what the source holds, held or may hold, sorted.
func (c *comparison) assets(ctx context.Context, tx *db.Tx, at time.Time) ([]string, error) {
	moved, err := transaction.AssetsOf(ctx, tx, c.source.ID)
	if err != nil {
		return nil, err
	}
	stated, err := observation.AssetsOf(ctx, tx, c.source.ID)
	if err != nil {
		return nil, err
	}
	held, err := holdings.HeldBySource(ctx, tx, c.source, at, nil)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(moved, stated)
	for asset := range held {
		all = append(all, asset)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// figures compares some assets, each at the time of its latest observed balance up to an instant, or at the instant if there is none.
func (c *comparison) figures(ctx context.Context, tx *db.Tx, at time.Time, assets []string) ([]Figures, error) {
	stated, err := observation.Before(ctx, tx, c.source.ID, at, assets...)
	if err != nil || len(assets) == 0 {
		return nil, err
	}
	out := make([]Figures, len(assets))
	for n, asset := range assets {
		out[n] = Figures{AssetType: asset, ComparedAt: at}
		if i := slices.IndexFunc(stated, func(o observation.Observed) bool { return o.AssetType == asset }); i >= 0 {
			out[n].ComparedAt, out[n].Observed = stated[i].At, &stated[i]
		}
	}
	return out, c.fill(ctx, tx, out)
}

// fill sets what the books and the transactions have at the instants of some figures. Those of one instant are read together.
func (c *comparison) fill(ctx context.Context, tx *db.Tx, all []Figures) error {
	byTime := map[time.Time][]int{}
	for n, f := range all {
		byTime[f.ComparedAt] = append(byTime[f.ComparedAt], n)
	}
	for at, some := range byTime {
		var assets []string
		for _, n := range some {
			assets = append(assets, all[n].AssetType)
		}
		held, err := holdings.HeldBySource(ctx, tx, c.source, at, assets)
		if err != nil {
			return err
		}
		totals, err := transaction.Totals(ctx, tx, c.source.ID, at, assets)
		if err != nil {
			return err
		}
		for _, n := range some {
			f := &all[n]
			total := totals[f.AssetType]
			f.Transactions, f.Pending, f.Waiting = total.All(), total.Pending, total.Waiting
			f.Book = nil
			if !c.shared || !money.IsFiat(f.AssetType) {
				f.Book = new(held[f.AssetType])
			}
		}
	}
	return nil
}
