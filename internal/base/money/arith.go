package money

import (
	"fmt"

	"github.com/cockroachdb/apd/v3"
)

// exact is wide enough that no operation under it ever rounds; settle asserts it.
var exact = apd.Context{
	Precision:   digitsMax,
	MaxExponent: apd.MaxExponent,
	MinExponent: apd.MinExponent,
	Rounding:    apd.RoundHalfEven,
}

// Add gives d + other, exactly.
func (d Decimal) Add(other Decimal) Decimal {
	var sum Decimal
	condition, err := exact.Add(&sum.v, &d.v, &other.v)
	sum.requireExact("sum", condition, err)
	return sum
}

// Sub gives d - other, exactly.
func (d Decimal) Sub(other Decimal) Decimal {
	var difference Decimal
	condition, err := exact.Sub(&difference.v, &d.v, &other.v)
	difference.requireExact("difference", condition, err)
	return difference
}

// Mul gives d * other, exactly: no digit is rounded away.
func (d Decimal) Mul(other Decimal) Decimal {
	var product Decimal
	condition, err := exact.Mul(&product.v, &d.v, &other.v)
	product.requireExact("product", condition, err)
	return product
}

// Neg gives -d.
func (d Decimal) Neg() Decimal {
	var negated Decimal
	negated.v.Neg(&d.v)
	return negated
}

// Abs gives d without its sign.
func (d Decimal) Abs() Decimal {
	var absolute Decimal
	absolute.v.Abs(&d.v)
	return absolute
}

// Sum adds up any number of decimals, exactly; of none it is 0.
func Sum(addends ...Decimal) Decimal {
	var total Decimal
	for _, addend := range addends {
		total = total.Add(addend)
	}
	return total
}

// Cmp gives -1, 0 or +1 as d is less than, equal to or greater than other.
func (d Decimal) Cmp(other Decimal) int {
	return d.v.Cmp(&other.v)
}

// Equal says whether both are the same number, however many zeros they were
// written with.
func (d Decimal) Equal(other Decimal) bool {
	return d.v.Cmp(&other.v) == 0
}

// Sign gives -1, 0 or +1 as d is negative, zero or positive.
func (d Decimal) Sign() int {
	return d.v.Sign()
}

// IsZero says whether d is 0.
func (d Decimal) IsZero() bool {
	return d.v.IsZero()
}

// settle checks that a result is exact and takes the sign off a zero. A digit
// lost here would be money lost without a trace, so it must not pass quietly.
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
