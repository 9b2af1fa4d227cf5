package money

import "fmt"

// Split divides a total by weights into parts that are rounded to places and
// always add up to exactly the total.
//
// Each part is the growth of the rounded running share, so that the sum of the
// first n parts is never more than half a unit from its exact share, whatever n
// is; rounding the parts by themselves would pile the errors up on the last. A
// zero weight gets zero, and no part has another sign than the total.
//
// It panics when the total has more digits than places, when a weight is
// negative, or when the weights do not add up to something positive: there is no
// answer then that keeps the promise.
func Split(total Decimal, weights []Decimal, places int32) []Decimal {
	if !total.Round(places).Equal(total) {
		panic(fmt.Sprintf("money: cannot split %s into parts of %d digits after the point", total, places))
	}
	for i, weight := range weights {
		if weight.Sign() < 0 {
			panic(fmt.Sprintf("money: weight %d is negative: %s", i, weight))
		}
	}
	whole := Sum(weights...)
	if whole.IsZero() {
		panic("money: the weights of a split add up to zero")
	}

	parts := make([]Decimal, len(weights))
	var weightSoFar, shareSoFar Decimal
	for i, weight := range weights {
		weightSoFar = weightSoFar.Add(weight)
		share := total.Mul(weightSoFar).Quo(whole, places)
		parts[i] = share.Sub(shareSoFar)
		shareSoFar = share
	}
	return parts
}
