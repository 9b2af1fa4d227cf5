// Package money provides Decimal, the exact decimal type of every amount and
// quantity, and the rules for rounding, splitting and formatting it.
package money

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

const (
	// DigitsBeforeMax is how many digits an input may have before the point.
	DigitsBeforeMax = 38
	// DigitsAfterMax is how many digits an input may have after the point.
	DigitsAfterMax = 30

	// digitsMax is the precision of arithmetic. A product of ten of the longest
	// inputs still fits, so only a defect can exceed it.
	digitsMax = 1000

	// storedDigitsMax bounds the digits on each side of the point of numbers read
	// from a database, where sums and products may be longer than inputs.
	storedDigitsMax = 200

	// chunkDigits is the longest run of digits that always fits in an int64.
	chunkDigits = 18
)

var errSyntax = errors.New(`must be a decimal string such as "1200.50"`)

// Decimal is an immutable, exact decimal number; its zero value is 0.
type Decimal struct {
	// 1.5 and 1.50 are equal but may be represented differently, so == must not be
	// used. This field makes it a compile error: use Equal.
	_ [0]func()

	// v is finite, never negative zero, and never modified after it is returned,
	// because copies share the digits of large values.
	v apd.Decimal
}

// Parse parses plain decimal notation. It rejects exponents, signs other than a
// leading minus, and numbers too long to store. Its errors are worded as messages
// about an API field.
func Parse(s string) (Decimal, error) {
	return parse(s, DigitsBeforeMax, DigitsAfterMax)
}

// MustParse is Parse for constants and tests: it panics on an error.
func MustParse(s string) Decimal {
	d, err := Parse(s)
	if err != nil {
		panic(fmt.Sprintf("money: %q %v", s, err))
	}
	return d
}

// FromInt returns an integer as a decimal.
func FromInt(n int64) Decimal {
	var d Decimal
	d.v.SetInt64(n)
	return d
}

func parse(s string, beforeMax, afterMax int) (Decimal, error) {
	digits, negative := strings.CutPrefix(s, "-")
	before, after, pointed := strings.Cut(digits, ".")
	if !allDigits(before) || (pointed && !allDigits(after)) {
		return Decimal{}, errSyntax
	}
	if len(before) > beforeMax {
		return Decimal{}, fmt.Errorf("must have at most %d digits before the point", beforeMax)
	}
	if len(after) > afterMax {
		return Decimal{}, fmt.Errorf("must have at most %d digits after the point", afterMax)
	}
	// NUMERIC columns are padded with zeros to their scale; without the padding,
	// most numbers need no allocation.
	after = strings.TrimRight(after, "0")

	var d Decimal
	appendDigits(&d.v.Coeff, before)
	appendDigits(&d.v.Coeff, after)
	d.v.Exponent = -int32(len(after))
	d.v.Negative = negative && d.v.Coeff.Sign() != 0
	return d, nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// appendDigits appends decimal digits to n. apd's own parser allocates several
// times for each amount.
func appendDigits(n *apd.BigInt, digits string) {
	for digits != "" {
		chunk := digits[:min(len(digits), chunkDigits)]
		digits = digits[len(chunk):]
		value, scale := int64(0), int64(1)
		for i := range len(chunk) {
			value = value*10 + int64(chunk[i]-'0')
			scale *= 10
		}
		var factor, addend apd.BigInt
		n.Mul(n, factor.SetInt64(scale))
		n.Add(n, addend.SetInt64(value))
	}
}

// String returns plain digits, without exponent, trailing zeros or negative zero.
func (d Decimal) String() string {
	var buf [96]byte
	return string(d.appendPlain(buf[:0], 0))
}

// Fixed returns plain digits with at least the currency's ISO 4217 minor units,
// and more if the value has more. For a code that is not fiat it equals String.
func (d Decimal) Fixed(currency string) string {
	places, _ := MinorUnits(currency)
	var buf [96]byte
	return string(d.appendPlain(buf[:0], int(places)))
}

// AppendFixed appends the result of Fixed for a currency with the given number of minor units, without allocating a string.
func (d Decimal) AppendFixed(buf []byte, minorUnits int32) []byte {
	return d.appendPlain(buf, int(minorUnits))
}

// appendPlain appends d with as few digits after the point as its value needs,
// but at least placesMin.
func (d Decimal) appendPlain(buf []byte, placesMin int) []byte {
	out := d.v.Append(buf, 'f')
	point := bytes.IndexByte(out[len(buf):], '.') + len(buf)
	if point < len(buf) {
		point = len(out)
		out = append(out, '.')
	}
	for len(out)-point-1 < placesMin {
		out = append(out, '0')
	}
	for len(out)-point-1 > placesMin && out[len(out)-1] == '0' {
		out = out[:len(out)-1]
	}
	if len(out) == point+1 {
		out = out[:point]
	}
	return out
}
