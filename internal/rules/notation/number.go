package notation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// exponentMax bounds the exponent of a number such as 1E3; larger ones do not fit a decimal anyway.
const exponentMax = 60

// cutNumber splits a number, including the marks between its digits, off the start of a text.
func cutNumber(s string) (number, rest string) {
	i := 0
	for ; i < len(s); i++ {
		if isDigit(s[i]) || s[i] == '.' || s[i] == ',' {
			continue
		}
		// A space between digits groups them.
		if s[i] == ' ' && i > 0 && isDigit(s[i-1]) && i+1 < len(s) && isDigit(s[i+1]) {
			continue
		}
		break
	}
	return s[:i], s[i:]
}

// cutExponent splits an exponent such as E-6 off the start of a text.
func cutExponent(s string) (exponent int, rest string, err error) {
	if len(s) < 2 || s[0]|0x20 != 'e' {
		return 0, s, nil
	}
	i := 1
	if s[i] == '-' || s[i] == '+' {
		i++
	}
	from := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == from {
		return 0, s, nil
	}
	exponent, err = strconv.Atoi(s[1:i])
	if err != nil || exponent > exponentMax || exponent < -exponentMax {
		return 0, s, fmt.Errorf("the exponent of %q is too large", short(s[:i]))
	}
	return exponent, s[i:], nil
}

// parseNumber parses a number whose marks may be decimal or group digits. decimal is the decimal mark if a directive
// has set one, or 0. It also returns the number of decimal places.
func parseNumber(number string, decimal byte, exponent int) (money.Decimal, int, error) {
	whole, fraction, err := splitNumber(number, decimal)
	if err != nil {
		return money.Decimal{}, 0, err
	}
	for ; exponent > 0; exponent-- {
		if fraction == "" {
			fraction = "0"
		}
		whole, fraction = whole+fraction[:1], fraction[1:]
	}
	for ; exponent < 0; exponent++ {
		if whole == "" {
			whole = "0"
		}
		whole, fraction = whole[:len(whole)-1], whole[len(whole)-1:]+fraction
	}
	places := len(fraction)
	// Padding zeros must not count against the digits a decimal may have.
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	d, err := money.Parse(whole)
	if err != nil {
		return money.Decimal{}, 0, fmt.Errorf("the number %s %w", short(number), err)
	}
	return d, places, nil
}

var errNumber = errors.New("a number is missing")

// splitNumber splits a number at the decimal mark and removes the grouping.
func splitNumber(number string, decimal byte) (whole, fraction string, err error) {
	if strings.IndexFunc(number, func(r rune) bool { return r >= '0' && r <= '9' }) < 0 {
		return "", "", errNumber
	}
	mark, at, err := decimalMark(number, decimal)
	if err != nil {
		return "", "", err
	}
	whole = number
	if at >= 0 {
		whole, fraction = number[:at], number[at+1:]
	}
	if strings.IndexFunc(fraction, func(r rune) bool { return r < '0' || r > '9' }) >= 0 {
		return "", "", fmt.Errorf("the number %s has a mark after its decimal mark %q", short(number), mark)
	}
	group := strings.IndexAny(whole, "., ")
	if group < 0 {
		return whole, fraction, nil
	}
	groups := strings.Split(whole, whole[group:group+1])
	for i, digits := range groups {
		// Groups of three, of two as in India, or of four as in China.
		if len(digits) == 0 || strings.ContainsAny(digits, "., ") || i > 0 && (len(digits) < 2 || len(digits) > 4) {
			return "", "", fmt.Errorf("the number %s has digit groups of an unexpected length; write it without marks between them", short(number))
		}
	}
	return strings.Join(groups, ""), fraction, nil
}

// decimalMark returns the decimal mark of a number and its position, or -1 if there is none. A single point is decimal,
// as in hledger; a single comma before three digits is ambiguous, and only a directive can decide.
func decimalMark(number string, known byte) (byte, int, error) {
	at := strings.LastIndexAny(number, ".,")
	if at < 0 {
		return 0, -1, nil
	}
	mark := number[at]
	switch {
	case strings.Count(number, string(mark)) > 1:
		if mark == known {
			return 0, 0, fmt.Errorf("the number %s has the decimal mark %q more than once", short(number), mark)
		}
		return 0, -1, nil
	case known == mark:
		return mark, at, nil
	case known != 0:
		return 0, -1, nil
	case strings.ContainsAny(number[:at], "., "): // Another mark before it groups the digits.
		return mark, at, nil
	case mark == ',' && at >= 1 && at <= 3 && number[0] != '0' && len(number)-at-1 == 3:
		return 0, 0, fmt.Errorf("the comma in %s may be decimal or between thousands; put a line such as "+
			"\"decimal-mark .\" or \"commodity 1,000.00 USD\" at the top of the file", short(number))
	}
	return mark, at, nil
}
