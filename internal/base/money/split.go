package money

import "fmt"

// Split divides a total by weights into parts that are rounded to places and
// always add up to exactly the total.
//
// Each part gets its share of the rest, in proportion to the remaining weights, so
// that the last one gets all of the rest and rounding errors do not accumulate:
// 100.00 by 1:1:1 is 33.33, 33.34, 33.33. A zero weight gets zero, and no part has
// the opposite sign of the total.
//
// It panics if the total has more digits than places, if a weight is negative, or
// if the weights add up to zero: no exact split exists then.
func Split(total Decimal, weights []Decimal, places int32) []Decimal {
	for i, weight := range weights {
		if weight.Sign() < 0 {
			panic(fmt.Sprintf("money: weight %d is negative: %s", i, weight))
		}
	}
	return Apportion(total, weights, places)
}

// Apportion is Split for weights of which some may be negative, as discounts are: their parts then have the opposite sign of the total. It
// panics if the total has more digits than places, or unless the weights add up to a positive number.
func Apportion(total Decimal, weights []Decimal, places int32) []Decimal {
	if !total.Round(places).Equal(total) {
		panic(fmt.Sprintf("money: cannot split %s into parts of %d digits after the point", total, places))
	}
	left := Sum(weights...)
	if left.Sign() <= 0 {
		panic(fmt.Sprintf("money: the weights of a split add up to %s", left))
	}
	parts, rest := make([]Decimal, len(weights)), total
	for _, negative := range []bool{true, false} { // negative ones first, so that nothing is left only at the end
		for i, weight := range weights {
			if weight.IsZero() || negative != (weight.Sign() < 0) {
				continue
			}
			parts[i] = rest.Mul(weight).Quo(left, places)
			rest, left = rest.Sub(parts[i]), left.Sub(weight)
		}
	}
	return parts
}
