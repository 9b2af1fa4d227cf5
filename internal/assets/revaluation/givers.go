package revaluation

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// factorDigits is the number of decimal places of what a unit of one asset is in units of another.
const factorDigits = 30

// inheritLow notes the lowest price that counted for a lot before it was taken over, as another asset or by another legal entity, if
// those that had it never write up either. A run in time would have impaired it there, and it would have taken the impairment along.
// lowOf returns the lowest price of a lot from one instant to another.
func (l *lotMeasurer) inheritLow(ctx context.Context, heldID string, known map[string]lots.Lot,
	lowOf func(ctx context.Context, given lots.Lot, from, until time.Time) (*Quote, error)) error {
	if !l.countsLows() {
		return nil
	}
	factor := money.FromInt(1)
	for at, generations := known[heldID], 0; at.ParentID != "" && generations < lots.GenerationsMax; generations++ {
		parent, there := known[at.ParentID]
		if !there {
			return nil
		}
		if !sameForm(parent, at) {
			per, ok := l.factor(parent, at)
			if !ok {
				return nil
			}
			factor = factor.Mul(per)
			until, err := beginning(at) // its accounting date is not known if it was taken over late
			if err != nil {
				return err
			}
			from, err := beginning(firstOf(parent, known))
			if err != nil {
				return err
			}
			low, err := lowOf(ctx, parent, from, until)
			if err != nil {
				return err
			}
			if low != nil {
				inherited := *low
				inherited.Value = low.Value.Mul(factor).Round(factorDigits)
				l.inherited[heldID] = lower(l.inherited[heldID], &inherited)
			}
		}
		at = parent
	}
	return nil
}

// countsLows reports whether the lowest price of a period counts.
func (l *lotMeasurer) countsLows() bool {
	return l.group.kind == Impairment && l.group.model == measure.WrittenOff
}

// sameForm reports whether two lots are of the same asset and legal entity.
func sameForm(a, b lots.Lot) bool {
	return a.LegalEntityID == b.LegalEntityID && a.AssetType == b.AssetType
}

// firstOf returns the lot that a lot was moved from first, as the same asset and within the legal entity, as far as that is known.
func firstOf(at lots.Lot, known map[string]lots.Lot) lots.Lot {
	for range lots.GenerationsMax {
		parent, there := known[at.ParentID]
		if !there || !sameForm(parent, at) {
			break
		}
		at = parent
	}
	return at
}

// beginning returns when a lot was acquired or, if it came from another lot, when it arrived.
func beginning(at lots.Lot) (time.Time, error) {
	if at.ParentID == "" {
		return at.AcquiredAt, nil
	}
	place, err := at.OrderKey.Place()
	return place.At, err
}

// readTakenOver notes since when lots are held that were taken over in the period, as another asset or by another legal entity: prices
// of before do not count for what they are now. Those that counted for what they were then do.
func (l *lotMeasurer) readTakenOver(ctx context.Context) error {
	if !l.countsLows() {
		return nil
	}
	var ids []string
	for _, held := range l.subject.lots {
		if held.ParentID != "" && !l.stored[held.ID] {
			ids = append(ids, held.ID)
		}
	}
	known, err := lots.Ancestry(ctx, l.tx, ids, func(at lots.Lot) bool {
		arrived, err := beginning(at)
		return err == nil && !arrived.Before(l.period.Start)
	})
	if err != nil {
		return err
	}
	for _, heldID := range ids {
		first := firstOf(known[heldID], known)
		if _, there := known[first.ParentID]; !there {
			continue // it was not taken over, or before the period
		}
		if l.since[heldID], err = beginning(first); err != nil {
			return err
		}
		if err := l.inheritLow(ctx, heldID, known, l.lowOfPeriod); err != nil {
			return err
		}
	}
	return nil
}

// lowOfPeriod returns the lowest price of the period of a lot from one instant to another, nil if those that had it then do not count it.
func (l *lotMeasurer) lowOfPeriod(ctx context.Context, given lots.Lot, from, until time.Time) (out *Quote, err error) {
	key := [2]string{given.LegalEntityID, given.AssetType}
	prices, read := l.given[key]
	if !read {
		giver := l.books.Entities[given.LegalEntityID]
		counts, err := l.writesOff(ctx, giver, given.AssetType, l.period.Key)
		if err != nil {
			return nil, err
		}
		if counts {
			if prices, err = price.ListBetween(ctx, l.tx, []string{given.AssetType}, giver.BaseCurrency, l.period.Start, l.asOf); err != nil {
				return nil, err
			}
		}
		l.given[key] = prices
	}
	for _, p := range prices {
		if !p.At.Before(from) && !p.At.After(until) {
			out = lower(out, &Quote{p.Value, p.ID, p.At, string(p.Origin)})
		}
	}
	return out, nil
}

// factor returns what a price per unit of a lot is per unit of the lot that it became: both have the same cost, in the currency of their
// legal entity. It is not known if a lot cost nothing, or has its share of an average instead of its own cost.
func (l *lotMeasurer) factor(from, to lots.Lot) (money.Decimal, bool) {
	if from.AssetType == to.AssetType && from.Currency == to.Currency {
		return money.FromInt(1), true
	}
	averaged := slices.ContainsFunc(l.books.Elections[from.LegalEntityID], isAverage)
	divisor := to.Quantity.Mul(from.CostBasis)
	if averaged || divisor.IsZero() || to.CostBasis.IsZero() {
		return money.Decimal{}, false
	}
	return to.CostBasis.Mul(from.Quantity).Quo(divisor, factorDigits), true
}

// writesOff reports whether a legal entity measures an asset at the lowest price of a month, and never writes it up.
func (l *lotMeasurer) writesOff(ctx context.Context, e entity.LegalEntity, asset, month string) (bool, error) {
	measurement, _, err := entity.MeasurementOn(ctx, l.tx, e, month+"-01")
	if err != nil || e.Framework == entity.FrameworkIFRS || measurement == entity.MeasuredAtCost {
		return false, err
	}
	policies, err := assetpolicy.ForAssets(ctx, l.tx, []string{asset})
	policy := policies[asset]
	return !policy.OwnToken && !(policy.InScope && measurement == entity.MeasuredAtFairValue), err
}

// lowOfGiver returns the lowest price of a lot from the first measurement of its asset until it was handed over, nil if it was not
// measured, or in a way that writes up again.
func (l *lotMeasurer) lowOfGiver(ctx context.Context, given lots.Lot, since, until time.Time) (*Quote, error) {
	giver := l.books.Entities[given.LegalEntityID]
	month := calendar.MonthOf(until, l.books.Zone).Key()
	if counts, err := l.writesOff(ctx, giver, given.AssetType, month); err != nil || !counts {
		return nil, err
	}
	posted, err := selectPosted(ctx, l.tx, giver.ID, month)
	if err != nil {
		return nil, err
	}
	var from time.Time
	for _, at := range posted { // the first period is the last one here
		if p, there := l.books.Period(at.Key); there && at.inForce() && at.Kind == string(Impairment) && at.Unit == given.AssetType {
			from = p.Start
		}
	}
	if since.After(from) && !from.IsZero() {
		from = since
	}
	if from.IsZero() || !from.Before(until) {
		return nil, nil
	}
	prices, err := price.ListBetween(ctx, l.tx, []string{given.AssetType}, giver.BaseCurrency, from, until)
	var out *Quote
	for _, p := range prices {
		out = lower(out, &Quote{p.Value, p.ID, p.At, string(p.Origin)})
	}
	return out, err
}

// lower returns the lower of two prices, either of which may be nil.
func lower(a, b *Quote) *Quote {
	if a == nil || b != nil && b.Value.Cmp(a.Value) < 0 {
		return b
	}
	return a
}
