package lots

import (
	"cmp"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Totals are sums of lots and uses by accounting period: of what is held, and of what was realized.
type Totals struct {
	Positions map[PositionKey]Position
	Gains     map[GainKey]Gain
}

// NewTotals returns empty totals.
func NewTotals() Totals {
	return Totals{Positions: map[PositionKey]Position{}, Gains: map[GainKey]Gain{}}
}

// PositionKey identifies a holding and an accounting period.
type PositionKey struct {
	LegalEntityID, SourceID, LedgerAccountID, AssetType, Chain, TokenID, PeriodID string
}

// Position is the change of a holding in an accounting period. The added amounts are those that did not come from another
// lot.
type Position struct {
	Quantity, Basis, AddedQuantity, AddedBasis money.Decimal
	Lots                                       int64
}

// GainKey identifies an asset of a source and an accounting period.
type GainKey struct{ LegalEntityID, AssetType, SourceID, PeriodID string }

// Gain is what was realized in an accounting period.
type Gain struct{ Quantity, Proceeds, Fee, Basis, Gain, Loss, Short, Long money.Decimal }

// ComparePositions orders the keys of positions.
func ComparePositions(a, b PositionKey) int {
	return cmp.Or(cmp.Compare(a.LegalEntityID, b.LegalEntityID), cmp.Compare(a.SourceID, b.SourceID),
		cmp.Compare(a.LedgerAccountID, b.LedgerAccountID), cmp.Compare(a.AssetType, b.AssetType),
		cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.TokenID, b.TokenID), cmp.Compare(a.PeriodID, b.PeriodID))
}

// CompareGains orders the keys of gains.
func CompareGains(a, b GainKey) int {
	return cmp.Or(cmp.Compare(a.LegalEntityID, b.LegalEntityID), cmp.Compare(a.AssetType, b.AssetType),
		cmp.Compare(a.SourceID, b.SourceID), cmp.Compare(a.PeriodID, b.PeriodID))
}

// Plus returns the sum of two positions.
func (p Position) Plus(o Position) Position {
	return Position{
		Quantity: p.Quantity.Add(o.Quantity), Basis: p.Basis.Add(o.Basis), AddedQuantity: p.AddedQuantity.Add(o.AddedQuantity),
		AddedBasis: p.AddedBasis.Add(o.AddedBasis), Lots: p.Lots + o.Lots,
	}
}

// IsZero reports whether all amounts are zero.
func (p Position) IsZero() bool { return p.Equal(Position{}) }

// Minus returns a position less another one.
func (p Position) Minus(o Position) Position {
	return p.Plus(Position{
		Quantity: o.Quantity.Neg(), Basis: o.Basis.Neg(), AddedQuantity: o.AddedQuantity.Neg(), AddedBasis: o.AddedBasis.Neg(), Lots: -o.Lots,
	})
}

// Equal reports whether two positions have the same amounts.
func (p Position) Equal(o Position) bool {
	return p.Quantity.Equal(o.Quantity) && p.Basis.Equal(o.Basis) && p.AddedQuantity.Equal(o.AddedQuantity) &&
		p.AddedBasis.Equal(o.AddedBasis) && p.Lots == o.Lots
}

// Equal reports whether two gains have the same amounts.
func (g Gain) Equal(o Gain) bool {
	return g.Quantity.Equal(o.Quantity) && g.Proceeds.Equal(o.Proceeds) && g.Fee.Equal(o.Fee) && g.Basis.Equal(o.Basis) &&
		g.Gain.Equal(o.Gain) && g.Loss.Equal(o.Loss) && g.Short.Equal(o.Short) && g.Long.Equal(o.Long)
}

// CountLot adds a lot that entered in an accounting period to the totals, or with sign -1 subtracts it.
func (t Totals) CountLot(l Lot, periodID string, sign int64) {
	k := positionKey(l, periodID)
	t.Positions[k] = t.Positions[k].Plus(positionOf(l, sign))
}

// CountUse adds a use to the totals, or with sign -1 subtracts it.
func (t Totals) CountUse(u Use, sign int64) {
	n := money.FromInt(sign)
	if u.LotID != "" || u.Kind == Relocated {
		k := PositionKey{LegalEntityID: u.LegalEntityID, SourceID: u.SourceID, LedgerAccountID: u.LedgerAccountID, AssetType: u.AssetType,
			Chain: u.Chain, TokenID: u.TokenID, PeriodID: u.PeriodID}
		p := t.Positions[k]
		p.Quantity, p.Basis, p.Lots = p.Quantity.Sub(u.Quantity.Mul(n)), p.Basis.Sub(u.Basis.Mul(n)), p.Lots+sign*u.LotCount
		t.Positions[k] = p
	}
	if !u.Realizes() {
		return
	}
	k := GainKey{u.LegalEntityID, u.AssetType, u.SourceID, u.PeriodID}
	g := t.Gains[k]
	amount := u.Gain.Mul(n)
	g.Quantity, g.Proceeds = g.Quantity.Add(u.Quantity.Mul(n)), g.Proceeds.Add(u.Proceeds.Mul(n))
	g.Fee, g.Basis = g.Fee.Add(u.Fee.Mul(n)), g.Basis.Add(u.Basis.Mul(n))
	if u.Gain.Sign() >= 0 {
		g.Gain = g.Gain.Add(amount)
	} else {
		g.Loss = g.Loss.Sub(amount)
	}
	if u.Term == "long" {
		g.Long = g.Long.Add(amount)
	} else {
		g.Short = g.Short.Add(amount)
	}
	t.Gains[k] = g
}
