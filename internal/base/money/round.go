package money

import (
	"fmt"

	"github.com/cockroachdb/apd/v3"
)

// placesMax is the largest number of digits after the point to round to; it is
// enough for a quotient of two of the longest inputs.
const placesMax = 100

// Round returns the nearest decimal with at most the given number of digits after
// the point, rounding ties to the even digit. It panics unless places is 0 to 100.
func (d Decimal) Round(places int32) Decimal {
	mustBePlaces(places)
	surplus := -d.v.Exponent - places
	if surplus <= 0 {
		return d
	}
	unit := powerOfTen(surplus)
	return fromParts(d.v.Negative, quoHalfEven(&d.v.Coeff, &unit), places)
}

// RoundTo rounds half-even to the ISO 4217 minor unit of a fiat currency. It
// returns other assets unchanged, because quantities are never rounded.
func (d Decimal) RoundTo(currency string) Decimal {
	places, ok := MinorUnits(currency)
	if !ok {
		return d
	}
	return d.Round(places)
}

// Quo returns d / by, rounded once, half-even, to the given number of digits after
// the point. It panics if by is zero or places is not 0 to 100.
func (d Decimal) Quo(by Decimal, places int32) Decimal {
	mustBePlaces(places)
	if by.IsZero() {
		panic(fmt.Sprintf("money: division of %s by zero", d))
	}
	// Rounding a rounded quotient can break a tie wrongly, so both numbers are
	// scaled to integers of the wanted unit and divided once.
	dividend, divisor := d.v.Coeff, by.v.Coeff
	var scaled apd.BigInt
	if shift := d.v.Exponent - by.v.Exponent + places; shift >= 0 {
		factor := powerOfTen(shift)
		dividend = *scaled.Mul(&dividend, &factor)
	} else {
		factor := powerOfTen(-shift)
		divisor = *scaled.Mul(&divisor, &factor)
	}
	negative := d.v.Negative != by.v.Negative
	return fromParts(negative, quoHalfEven(&dividend, &divisor), places)
}

func mustBePlaces(places int32) {
	if places < 0 || places > placesMax {
		panic(fmt.Sprintf("money: %d digits after the point, want 0 to %d", places, placesMax))
	}
}

func fromParts(negative bool, coefficient apd.BigInt, places int32) Decimal {
	var d Decimal
	d.v.Negative = negative
	d.v.Coeff = coefficient
	d.v.Exponent = -places
	d.dropZeroSign()
	return d
}

// quoHalfEven divides two non-negative numbers. It is the only place where
// amounts are rounded.
func quoHalfEven(dividend, divisor *apd.BigInt) apd.BigInt {
	var quotient, rest, twice, one apd.BigInt
	quotient.QuoRem(dividend, divisor, &rest)
	twice.Add(&rest, &rest)
	half := twice.Cmp(divisor)
	if half > 0 || (half == 0 && quotient.Bit(0) == 1) {
		quotient.Add(&quotient, one.SetInt64(1))
	}
	return quotient
}

func powerOfTen(exponent int32) apd.BigInt {
	var power apd.BigInt
	if exponent <= chunkDigits {
		value := int64(1)
		for range exponent {
			value *= 10
		}
		power.SetInt64(value)
		return power
	}
	var base, times apd.BigInt
	power.Exp(base.SetInt64(10), times.SetInt64(int64(exponent)), nil)
	return power
}
