package lot

import "github.com/bursarhq/bursar/internal/base/money"

// Slices makes of what left one pool what arrives in another, with basis and dates kept. What was not there arrives
// too, at no cost and marked.
func Slices(uses []Use) []Slice {
	slices := make([]Slice, len(uses))
	for i := range uses {
		u := &uses[i]
		slices[i] = Slice{Parent: u.Lot, Quantity: u.Quantity, Basis: u.Basis, AcquiredAt: u.AcquiredAt, Spot: u.spot, Marks: u.Marks}
	}
	return slices
}

// unitPlaces is the number of digits after the point of the smallest unit of most tokens.
const unitPlaces = 18

// Converted gives slices of one asset as slices of another, of which there is the given quantity, more than none.
// Each becomes its share, and the last takes what is left, because a ratio such as 1:3 has no end. A slice too small
// to become anything leaves its basis to its neighbour.
func Converted(slices []Slice, quantity money.Decimal) []Slice {
	places := int32(unitPlaces)
	if !quantity.Round(places).Equal(quantity) {
		places = money.DigitsAfterMax
	}
	weights := make([]money.Decimal, len(slices))
	for i := range slices {
		weights[i] = slices[i].Quantity
	}
	converted := make([]Slice, 0, len(slices))
	var homeless money.Decimal
	for i, share := range money.Split(quantity, weights, places) {
		s := slices[i]
		if share.IsZero() {
			homeless = homeless.Add(s.Basis)
			continue
		}
		// The old price means nothing for the new asset.
		s.Quantity, s.Basis, s.Spot = share, s.Basis.Add(homeless), money.Decimal{}
		homeless = money.Decimal{}
		converted = append(converted, s)
	}
	last := &converted[len(converted)-1]
	last.Basis = last.Basis.Add(homeless)
	return converted
}
