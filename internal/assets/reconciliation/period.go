package reconciliation

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/observation"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// PeriodEnd is how the books of a source compare with its observed balances at the end of a period.
type PeriodEnd struct {
	Source     source.Source
	Differing  []Figures // without differences that a reconciliation has accepted
	Unknown    []Figures // which cannot be compared
	Reconciled bool      // somebody has reconciled the source at its last observed balance of the period, or later
}

// InPeriod compares the sources with balances that were observed from start until end, at the latest of these. It is a building block and
// does not check what the actor may see.
func InPeriod(ctx context.Context, tx *db.Tx, start, end time.Time) (out []PeriodEnd, err error) {
	ids, err := observation.SourcesIn(ctx, tx, start, end)
	if err != nil {
		return nil, err
	}
	sources, err := source.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if src, there := sources[id]; there && src.DeletedAt == nil {
			found, err := inPeriod(ctx, tx, src, start, end)
			if err != nil {
				return nil, err
			}
			out = append(out, found)
		}
	}
	return out, nil
}

func inPeriod(ctx context.Context, tx *db.Tx, src source.Source, start, end time.Time) (PeriodEnd, error) {
	out := PeriodEnd{Source: src}
	c, err := newComparison(ctx, tx, src)
	if err != nil {
		return out, err
	}
	assets, err := observation.AssetsOf(ctx, tx, src.ID)
	if err != nil {
		return out, err
	}
	figures, err := c.figures(ctx, tx, end.Add(-time.Millisecond), assets)
	if err != nil {
		return out, err
	}
	last := time.Time{}
	for _, f := range figures {
		if f.Observed != nil && f.ComparedAt.After(last) {
			last = f.ComparedAt
		}
	}
	marked, err := selectCovering(ctx, tx, src.ID, last)
	if err != nil {
		return out, err
	}
	out.Reconciled = marked != nil
	for _, f := range figures {
		if f.Observed != nil && f.Status() == Unknown && !f.ComparedAt.Before(start) {
			out.Unknown = append(out.Unknown, f)
		}
		if f.Status() == Differs && !f.ComparedAt.Before(start) && !marked.accepts(f) {
			out.Differing = append(out.Differing, f)
		}
	}
	return out, nil
}

// accepts reports whether a difference was accepted as it is.
func (r *Reconciliation) accepts(f Figures) bool {
	if r == nil {
		return false
	}
	for _, c := range r.Assets {
		if c.AssetType == f.AssetType {
			return same(c.Difference(), f.Difference())
		}
	}
	return false
}
