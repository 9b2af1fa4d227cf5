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
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// factorDigits is the number of decimal places of what a unit of one asset is in units of another.
const factorDigits = 30

// inheritLow notes the lowest price that counted for a lot before it was taken over, as another asset or by another legal entity, if
// those that had it never write up either. A run in time would have impaired it there, and it would have taken the impairment along.
func (l *lotMeasurer) inheritLow(ctx context.Context, heldID string, known map[string]lots.Lot) error {
	if l.group.kind != Impairment || l.group.model != measure.WrittenOff {
		return nil
	}
	factor := money.FromInt(1)
	for at, generations := known[heldID], 0; at.ParentID != "" && generations < lots.GenerationsMax; generations++ {
		parent, there := known[at.ParentID]
		if !there {
			return nil
		}
		if parent.LegalEntityID != at.LegalEntityID || parent.AssetType != at.AssetType {
			per, ok := l.factor(parent, at)
			if !ok {
				return nil
			}
			factor = factor.Mul(per)
			arrived, err := at.OrderKey.Place() // its accounting date is not known if it was taken over late
			if err != nil {
				return err
			}
			low, err := l.lowOfGiver(ctx, parent, arrived.At)
			if err != nil {
				return err
			}
			if low != nil {
				low.Value = low.Value.Mul(factor).Round(factorDigits)
				l.inherited[heldID] = lower(l.inherited[heldID], low)
			}
		}
		at = parent
	}
	return nil
}

// factor returns what a price per unit of a lot is per unit of the lot that it became: both have the same cost, in the currency of their
// legal entity. It is not known if a lot cost nothing, or has its share of an average instead of its own cost.
func (l *lotMeasurer) factor(from, to lots.Lot) (money.Decimal, bool) {
	if from.AssetType == to.AssetType && from.Currency == to.Currency {
		return money.FromInt(1), true
	}
	averaged := slices.ContainsFunc(l.books.Elections[from.LegalEntityID], func(e entity.Election) bool {
		return e.Method == string(lot.WeightedAverage)
	})
	divisor := to.Quantity.Mul(from.CostBasis)
	if averaged || divisor.IsZero() || to.CostBasis.IsZero() {
		return money.Decimal{}, false
	}
	return to.CostBasis.Mul(from.Quantity).Quo(divisor, factorDigits), true
}

// lowOfGiver returns the lowest price of a lot from the first measurement of its asset until it was handed over, nil if it was not
// measured, or in a way that writes up again.
func (l *lotMeasurer) lowOfGiver(ctx context.Context, given lots.Lot, until time.Time) (*Quote, error) {
	giver := l.books.Entities[given.LegalEntityID]
	month := calendar.MonthOf(until, l.books.Zone).Key()
	measurement, _, err := entity.MeasurementOn(ctx, l.tx, giver, month+"-01")
	if err != nil || giver.Framework == entity.FrameworkIFRS || measurement == entity.MeasuredAtCost {
		return nil, err
	}
	policies, err := assetpolicy.ForAssets(ctx, l.tx, []string{given.AssetType})
	if policy := policies[given.AssetType]; err != nil || policy.OwnToken || policy.InScope && measurement == entity.MeasuredAtFairValue {
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
	if given.AcquiredAt.After(from) && !from.IsZero() {
		from = given.AcquiredAt
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
