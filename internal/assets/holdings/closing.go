package holdings

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// ClosingParams select the period of closing positions; the default is the current one.
type ClosingParams struct {
	Filter
	PeriodID string
}

func (p ClosingParams) validate(*fault.List) {}

// Closing is a position at the end of a period.
type Closing struct {
	Position
	Period     period.Period
	Worth      Worth
	Adjustment money.Decimal // by revaluation, as booked
	Carrying   money.Decimal // cost plus adjustment
	Unrealized *money.Decimal
}

// ClosingPositions returns a page of the positions at the end of a period, by legal entity, source and asset.
func (s *Service) ClosingPositions(ctx context.Context, p ClosingParams, pr page.Request) (page.Page[Closing], error) {
	return report(ctx, s, "closing-positions", p, pr, func(c Closing) []string { return c.key() },
		func(ctx context.Context, tx *db.Tx, s *scope, after []string, limit int) ([]Closing, error) {
			month, some := s.periodAt(tx.Now())
			if p.PeriodID != "" {
				var err error
				if month, err = s.period(p.PeriodID); err != nil {
					return nil, err
				}
				some = true
			}
			if !some {
				return nil, nil
			}
			held, err := selectPositions(ctx, tx, month.Key, s.Filter, after, limit, false)
			if err != nil {
				return nil, err
			}
			return s.closings(ctx, tx, month, held)
		})
}

// valuedAt returns the instant at which holdings of a period are valued: its last one, or now if the period is not over.
func valuedAt(p period.Period, now time.Time) time.Time {
	if now.Before(p.End) {
		return now
	}
	return p.End.Add(-time.Millisecond)
}

// closings adds values and carrying amounts to positions.
func (s *scope) closings(ctx context.Context, tx *db.Tx, month period.Period, held []Position) ([]Closing, error) {
	at := valuedAt(month, tx.Now())
	var wanted []entityAsset
	for _, p := range held {
		wanted = append(wanted, entityAsset{p.LegalEntityID, p.AssetType})
	}
	prices, err := s.pricesAtEnd(ctx, tx, month, wanted)
	if err != nil {
		return nil, err
	}
	adjusted, err := s.adjustments(ctx, tx, month, held)
	if err != nil {
		return nil, err
	}
	out := make([]Closing, len(held))
	for i, p := range held {
		c := Closing{Position: p, Period: month, Worth: worthOf(at, prices[entityAsset{p.LegalEntityID, p.AssetType}], p.Quantity, p.Currency),
			Adjustment: adjusted[[6]string(p.key())]}
		c.Carrying, c.Unrealized = p.Basis.Add(c.Adjustment), c.Worth.minus(p.Basis)
		out[i] = c
	}
	return out, nil
}

// entityAsset is an asset of a legal entity.
type entityAsset struct{ legalEntityID, asset string }

// adjustments allocates the booked adjustments of assets to their positions: as they were kept when the period was closed, otherwise to
// what is held at its end. For each asset, a legal entity has accounts for fair value and for impairment, whatever the number of
// positions.
func (s *scope) adjustments(ctx context.Context, tx *db.Tx, month period.Period, wanted []Position) (map[[6]string]money.Decimal, error) {
	var f Filter
	roles := map[string]string{}
	for _, p := range wanted {
		if !slices.Contains(f.AssetTypes, p.AssetType) {
			f.AssetTypes = append(f.AssetTypes, p.AssetType)
			for _, role := range account.AdjustmentRoles(p.AssetType) {
				roles[role] = p.AssetType
			}
		}
		if !slices.Contains(f.LegalEntityIDs, p.LegalEntityID) {
			f.LegalEntityIDs = append(f.LegalEntityIDs, p.LegalEntityID)
		}
	}
	balances, err := selectBalances(ctx, tx, month.Key, f.LegalEntityIDs, roles)
	if err != nil || len(balances) == 0 {
		return nil, err
	}
	kept, err := keptAdjustments(ctx, tx, month.ID, f)
	if err != nil {
		return nil, err
	}
	all, err := Positions(ctx, tx, month.Key, f)
	if err != nil {
		return nil, err
	}
	places := map[entityAsset][]Position{}
	for _, p := range all {
		places[entityAsset{p.LegalEntityID, p.AssetType}] = append(places[entityAsset{p.LegalEntityID, p.AssetType}], p)
	}
	out, held := map[[6]string]money.Decimal{}, heldLots{month.Key, map[string]map[string][]lots.Lot{}}
	for o, balance := range balances {
		split, there := kept.split(o, places[o])
		if !there {
			if split, err = s.split(ctx, tx, held, o.legalEntityID, places[o], balance); err != nil {
				return nil, err
			}
		}
		for i, part := range split {
			out[[6]string(places[o][i].key())] = part
		}
	}
	return out, nil
}

// split allocates the adjustment of an asset to its positions by the way in which the legal entity measures it.
func (s *scope) split(ctx context.Context, tx *db.Tx, held heldLots, legalEntityID string, places []Position,
	balance money.Decimal) (parts []money.Decimal, err error) {
	e := s.entity(legalEntityID)
	if e.Measurement, _, err = entity.MeasurementOn(ctx, tx, e, held.periodKey+"-01"); err != nil {
		return nil, err
	}
	if e.Measurement != entity.MeasuredAtFairValue {
		return held.splitImpairment(ctx, tx, e, places, balance)
	}
	return splitAdjustment(e, places, balance), nil
}

// splitAdjustment allocates an adjustment to positions. At fair value the carrying amount is allocated by quantity, because
// every unit is worth the same whatever it cost; otherwise the adjustment is allocated by cost. A position that is overdrawn, as
// one of a source can be in a pool of its legal entity, gets no share.
func splitAdjustment(e entity.LegalEntity, places []Position, balance money.Decimal) []money.Decimal {
	weights := make([]money.Decimal, len(places))
	carried, quantity, basis := balance, money.Decimal{}, money.Decimal{}
	for _, p := range places {
		carried, quantity, basis = carried.Add(p.Basis), quantity.Add(p.Quantity), basis.Add(p.Basis)
	}
	digits, _ := money.MinorUnits(e.BaseCurrency)
	if e.Measurement != entity.MeasuredAtFairValue && basis.Sign() > 0 || quantity.Sign() <= 0 {
		for i, p := range places {
			weights[i] = orZero(p.Basis)
		}
		if basis.Sign() <= 0 {
			return weights[:0] // there is nothing to adjust
		}
		return money.Split(balance, weights, digits)
	}
	for i, p := range places {
		weights[i] = orZero(p.Quantity)
	}
	parts := money.Split(carried, weights, digits)
	for i, p := range places {
		parts[i] = parts[i].Sub(p.Basis)
	}
	return parts
}

// orZero returns an amount, or zero instead of a negative one.
func orZero(d money.Decimal) money.Decimal {
	if d.Sign() < 0 {
		return money.Decimal{}
	}
	return d
}
