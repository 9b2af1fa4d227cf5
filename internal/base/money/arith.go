package money

import (
	"fmt"

	"github.com/cockroachdb/apd/v3"
)

// exact has enough precision that no operation rounds; requireExact asserts it.
var exact = apd.Context{
	Precision:   digitsMax,
	MaxExponent: apd.MaxExponent,
	MinExponent: apd.MinExponent,
	Rounding:    apd.RoundHalfEven,
}

// Add returns d + other, exactly.
func (d Decimal) Add(other Decimal) Decimal {
	var sum Decimal
	condition, err := exact.Add(&sum.v, &d.v, &other.v)
	sum.requireExact("sum", condition, err)
	return sum
}

// Sub returns d - other, exactly.
func (d Decimal) Sub(other Decimal) Decimal {
	var difference Decimal
	condition, err := exact.Sub(&difference.v, &d.v, &other.v)
	difference.requireExact("difference", condition, err)
	return difference
}

// Mul returns d * other, exactly: no digit is rounded away.
func (d Decimal) Mul(other Decimal) Decimal {
	var product Decimal
	condition, err := exact.Mul(&product.v, &d.v, &other.v)
	product.requireExact("product", condition, err)
	return product
}

// Neg returns -d.
func (d Decimal) Neg() Decimal {
	var negated Decimal
	negated.v.Neg(&d.v)
	return negated
}

// Abs returns the absolute value of d.
func (d Decimal) Abs() Decimal {
	var absolute Decimal
	absolute.v.Abs(&d.v)
	return absolute
}

// Sum returns the exact sum of any number of decimals, 0 for none.
func Sum(addends ...Decimal) Decimal {
	var total Decimal
	for _, addend := range addends {
		total = total.Add(addend)
	}
	return total
}

// Cmp returns -1, 0 or +1 as d is less than, equal to or greater than other.
func (d Decimal) Cmp(other Decimal) int {
	return d.v.Cmp(&other.v)
}

// Equal reports whether both are the same number, regardless of trailing zeros.
func (d Decimal) Equal(other Decimal) bool {
	return d.v.Cmp(&other.v) == 0
}

// Sign returns -1, 0 or +1 as d is negative, zero or positive.
func (d Decimal) Sign() int {
	return d.v.Sign()
}

// IsZero reports whether d is 0.
func (d Decimal) IsZero() bool {
	return d.v.IsZero()
}

// requireExact panics unless a result is exact, because a lost digit would be money
// lost without a trace. It also removes the sign of a negative zero.
func (d *Decimal) requireExact(operation string, condition apd.Condition, err error) {
	// Rounded alone means that only zeros were dropped: the value is the same.
	if lost := condition &^ apd.Rounded; lost != 0 || err != nil {
		panic(fmt.Sprintf("money: %s is not exact (over %d digits): %v %v", operation, digitsMax, lost, err))
	}
	d.dropZeroSign()
}

func (d *Decimal) dropZeroSign() {
	if d.v.Coeff.Sign() == 0 {
		d.v.Negative = false
	}
}
