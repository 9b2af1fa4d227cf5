package intake

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
)

// decimalMark is the decimal separator of a column; zero while unknown.
type decimalMark byte

const (
	markUnknown decimalMark = 0
	markPoint   decimalMark = '.'
	markComma   decimalMark = ','
)

// number is a parsed number with the currency written beside it.
type number struct {
	value money.Decimal
	code  string // A currency code or symbol beside the number, in upper case.
}

var (
	errNotNumber = errors.New("is not a number")
	errShortened = errors.New("was shortened by the program that wrote the file, so its last digits are lost; export the number in full")
)

// blankNumber reports whether a text means that there is no number.
func blankNumber(text string) bool {
	switch text {
	case "", "-", "–", "—":
		return true
	}
	return false
}

// parseNumber reads a number as people and programs write it. Its errors continue a sentence that begins with the text.
func parseNumber(text string, mark decimalMark) (number, error) {
	if mark != markComma && plainNumber(text, mark) {
		value, err := money.Parse(text)
		return number{value: value}, err
	}
	body, negative, code, err := stripDecorations(text)
	if err != nil {
		return number{}, err
	}
	mantissa, exponent, err := cutExponent(body)
	if err != nil {
		return number{}, err
	}
	if mark == markUnknown && len(mantissa) < len(body) {
		mark = scientificMark(mantissa)
	}
	whole, fraction, err := splitDigits(mantissa, mark)
	if err != nil {
		return number{}, err
	}
	if exponent > len(fraction) {
		return number{}, errShortened
	}
	value, err := buildDecimal(whole, fraction, exponent, negative)
	return number{value, code}, err
}

// plainNumber reports whether a text is an unambiguous number without signs, currency or grouping, which needs no
// further parsing. If the separator is unknown, a point before exactly three digits is ambiguous.
func plainNumber(text string, mark decimalMark) bool {
	digits := strings.TrimPrefix(text, "-")
	point := -1
	for i := range len(digits) {
		switch c := digits[i]; {
		case c >= '0' && c <= '9':
		case c == '.' && point < 0 && i > 0:
			point = i
		default:
			return false
		}
	}
	if digits == "" || point == len(digits)-1 {
		return false
	}
	return point < 0 || mark == markPoint || !ambiguous(digits[:point], len(digits)-point-1)
}

// ambiguous reports whether a single separator may group thousands as well as precede decimals.
func ambiguous(before string, after int) bool {
	return after == 3 && len(before) >= 1 && len(before) <= 3 && before[0] != '0'
}

// stripDecorations removes signs, parentheses, currencies and spaces around a number.
func stripDecorations(text string) (body string, negative bool, code string, err error) {
	body = text
	signs := 0
	for cut := true; cut; {
		body, cut = stripEdge(body, &negative, &signs, &code)
	}
	if signs > 1 {
		return "", false, "", errors.New("has more than one sign")
	}
	// A single letter is not a currency.
	if body == "" || len(code) == 1 && code != "$" {
		return "", false, "", errNotNumber
	}
	if first, last := body[0], body[len(body)-1]; !isDigit(last) && last != '.' && last != ',' || !isDigit(first) && first != '.' &&
		first != ',' {
		return "", false, "", errNotNumber
	}
	return body, negative, code, nil
}

// stripEdge removes one sign, currency or space from either end of a number. Letters at the end are a currency code
// only if preceded by a digit or space, which keeps 1E5 whole.
func stripEdge(body string, negative *bool, signs *int, code *string) (string, bool) {
	first, n := utf8.DecodeRuneInString(body)
	last, m := utf8.DecodeLastRuneInString(body)
	switch {
	case body == "":
		return body, false
	case first == '(' && last == ')' && len(body) > 2:
		*signs++
		*negative = true
		return body[1 : len(body)-1], true
	case isSign(first):
		*signs++
		*negative = *negative || first != '+'
		return body[n:], true
	case isSign(last):
		*signs++
		*negative = *negative || last != '+'
		return body[:len(body)-m], true
	case isSpace(first):
		return body[n:], true
	case isSpace(last):
		return body[:len(body)-m], true
	case *code != "":
		return body, false
	case isCurrency(first):
		end := strings.IndexFunc(body, func(r rune) bool { return !isCurrency(r) })
		if end < 0 {
			return body, false
		}
		*code = strings.ToUpper(body[:end])
		return body[end:], len(*code) <= codeMax
	case isCurrency(last):
		begin := strings.LastIndexFunc(body, func(r rune) bool { return !isCurrency(r) })
		_, size := utf8.DecodeRuneInString(body[begin:])
		*code = strings.ToUpper(body[begin+size:])
		return body[:begin+size], len(*code) <= codeMax
	}
	return body, false
}

// codeMax bounds a currency beside a number, in bytes.
const codeMax = 12

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isSign(r rune) bool {
	return r == '-' || r == '+' || r == '−' || r == '–' || r == '﹣' || r == '－'
}

// isSpace includes non-breaking spaces, which group digits in French and Swiss files.
func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\u00a0' || r == '\u202f' || r == '\u2009'
}

func isCurrency(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Sc, r) }

// exponentMax bounds the exponent of a number such as 1E-8; larger ones do not fit a decimal anyway.
const exponentMax = 100

func cutExponent(body string) (mantissa string, exponent int, err error) {
	at := strings.IndexAny(body, "eE")
	if at < 0 {
		return body, 0, nil
	}
	exponent, err = strconv.Atoi(body[at+1:])
	if err != nil || exponent > exponentMax || exponent < -exponentMax || at == 0 {
		return "", 0, errNotNumber
	}
	return body[:at], exponent, nil
}

// splitDigits splits a number at the decimal separator and removes the grouping.
func splitDigits(body string, mark decimalMark) (whole, fraction string, err error) {
	at := strings.LastIndexAny(body, ".,")
	if own := inferMark(body); at >= 0 && mark == markUnknown {
		if own == markUnknown {
			return "", "", fmt.Errorf("may mean %s or %s; state the decimal separator of the column in the mapping",
				formatReading(body, at, true), formatReading(body, at, false))
		}
		mark = own
	}
	whole = body
	if at >= 0 && body[at] == byte(mark) {
		whole, fraction = body[:at], body[at+1:]
	}
	if !allDigits(fraction) || whole+fraction == "" {
		return "", "", errNotNumber
	}
	if allDigits(whole) {
		return whole, fraction, nil
	}
	if whole, err = joinGroups(whole, mark); err != nil {
		return "", "", err
	}
	return whole, fraction, nil
}

// scientificMark returns the decimal separator of a number with an exponent, whose digits are never grouped.
func scientificMark(mantissa string) decimalMark {
	if at := strings.IndexAny(mantissa, ".,"); at >= 0 {
		return decimalMark(mantissa[at])
	}
	return markUnknown
}

// formatReading prints one possible meaning of an ambiguous number, for the error.
func formatReading(body string, at int, decimal bool) string {
	before, after := strings.TrimLeft(body[:at], "0"), body[at+1:]
	if before == "" {
		before = "0"
	}
	if decimal {
		return before + "." + after
	}
	return before + after
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// inferMark returns the decimal separator that the text of a number implies, or markUnknown.
func inferMark(body string) decimalMark {
	at := strings.LastIndexAny(body, ".,")
	if at < 0 {
		return markUnknown
	}
	last := decimalMark(body[at])
	other := markPoint
	if last == markPoint {
		other = markComma
	}
	before := body[:at]
	switch {
	case strings.IndexByte(before, byte(last)) >= 0: // It occurs twice, so it groups.
		return other
	case strings.IndexFunc(before, func(r rune) bool { return r < '0' || r > '9' }) >= 0: // Another character groups.
		return last
	case ambiguous(before, countDigits(body[at+1:])):
		return markUnknown
	}
	return last
}

// countDigits returns the number of digits at the start of a text.
func countDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// joinGroups removes the grouping from the digits before the decimal separator. Groups have three digits or, except for
// the last, two as in India; anything else is more likely a typing error than a number.
func joinGroups(whole string, mark decimalMark) (string, error) {
	var groups []string
	separator := rune(0)
	begin := 0
	for i, r := range whole {
		if r >= '0' && r <= '9' {
			continue
		}
		if separator == 0 {
			separator = r
		}
		if r != separator || !isGroupMark(r) {
			return "", errNotNumber
		}
		groups = append(groups, whole[begin:i])
		begin = i + utf8.RuneLen(r)
	}
	groups = append(groups, whole[begin:])
	if separator == rune(mark) {
		return "", fmt.Errorf("has the decimal separator %q more than once", rune(mark))
	}
	size := 3
	if len(groups) > 2 && len(groups[1]) == 2 {
		size = 2
	}
	for i, g := range groups {
		fits := len(g) == size
		switch {
		case i == 0:
			fits = len(g) >= 1 && len(g) <= size
		case i == len(groups)-1:
			fits = len(g) == 3
		}
		if !fits {
			if separator == '.' || separator == ',' {
				return "", fmt.Errorf("does not fit the decimal separator %q of its column", rune(mark))
			}
			return "", errors.New("has digit groups of an unexpected length")
		}
	}
	return strings.Join(groups, ""), nil
}

func isGroupMark(r rune) bool {
	return r == '.' || r == ',' || r == '\'' || r == '’' || r == '_' || isSpace(r) && r != '\t'
}

// buildDecimal returns the decimal with these digits and exponent. Padding zeros do not count against the limits.
func buildDecimal(whole, fraction string, exponent int, negative bool) (money.Decimal, error) {
	switch {
	case exponent > 0:
		if missing := exponent - len(fraction); missing > 0 {
			fraction += strings.Repeat("0", missing)
		}
		whole, fraction = whole+fraction[:exponent], fraction[exponent:]
	case exponent < 0:
		if missing := -exponent - len(whole); missing > 0 {
			whole = strings.Repeat("0", missing) + whole
		}
		cut := len(whole) + exponent
		whole, fraction = whole[:cut], whole[cut:]+fraction
	}
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	var plain strings.Builder
	if negative && whole+fraction != "" {
		plain.WriteByte('-')
	}
	if whole == "" {
		whole = "0"
	}
	plain.WriteString(whole)
	if fraction != "" {
		plain.WriteByte('.')
		plain.WriteString(fraction)
	}
	return money.Parse(plain.String())
}

// jsonNumber parses a JSON number from its text, which is never ambiguous.
func jsonNumber(text string) (money.Decimal, error) {
	digits, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, err := cutExponent(digits)
	if err != nil {
		return money.Decimal{}, err
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" || !allDigits(whole) || !allDigits(fraction) {
		return money.Decimal{}, errNotNumber
	}
	return buildDecimal(whole, fraction, exponent, negative)
}

// numberEvidence counts what the numbers of a column imply about their decimal separator and sign.
type numberEvidence struct {
	point, comma       int
	positive, negative int
	numbers, ambiguous int
	notNumbers         int
}

func (e *numberEvidence) observe(text string) {
	text = strings.TrimSpace(text)
	if blankNumber(text) {
		return
	}
	body, negative, _, err := stripDecorations(text)
	if err != nil {
		e.notNumbers++
		return
	}
	mantissa, _, err := cutExponent(body)
	if err != nil || strings.IndexFunc(mantissa, isCurrency) >= 0 {
		e.notNumbers++
		return
	}
	e.numbers++
	if negative {
		e.negative++
	} else if strings.ContainsAny(body, "123456789") {
		e.positive++
	}
	own := inferMark(mantissa)
	if len(mantissa) < len(body) {
		own = scientificMark(mantissa)
	}
	switch own {
	case markPoint:
		e.point++
	case markComma:
		e.comma++
	default:
		if strings.ContainsAny(mantissa, ".,") {
			e.ambiguous++
		}
	}
}

// mark returns the separator that the column implies; markUnknown if its values contradict one another.
func (e *numberEvidence) mark() decimalMark {
	switch {
	case e.point > 0 && e.comma == 0:
		return markPoint
	case e.comma > 0 && e.point == 0:
		return markComma
	}
	return markUnknown
}
