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

// decimalMark is the mark before the decimals of a column's numbers; zero while nothing has settled it.
type decimalMark byte

const (
	markUnknown decimalMark = 0
	markPoint   decimalMark = '.'
	markComma   decimalMark = ','
)

// number is what a text says: the digits with their sign, and what stood around them.
type number struct {
	value money.Decimal
	code  string // A currency code or symbol beside the number, upper case.
}

var (
	errNotNumber = errors.New("is not a number")
	errShortened = errors.New("was shortened by the program that wrote it, so its last digits are lost; export the number in full")
)

// blankNumber tells the texts that stand for no number at all.
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
	body, negative, code, err := undress(text)
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
	value, err := assemble(whole, fraction, exponent, negative)
	return number{value, code}, err
}

// plainNumber tells a text that can mean only one thing and needs no undressing. Without a known mark a point before
// exactly three digits is not plain.
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

// ambiguous tells whether a single mark may as well stand between thousands as before decimals.
func ambiguous(before string, after int) bool {
	return after == 3 && len(before) >= 1 && len(before) <= 3 && before[0] != '0'
}

// undress takes off signs, parentheses, currencies and spaces around a number.
func undress(text string) (body string, negative bool, code string, err error) {
	body = text
	signs := 0
	for cut := true; cut; {
		body, cut = cutEdge(body, &negative, &signs, &code)
	}
	if signs > 1 {
		return "", false, "", errors.New("has more than one sign")
	}
	// A letter alone is no currency, and no number has one.
	if body == "" || len(code) == 1 && code != "$" {
		return "", false, "", errNotNumber
	}
	if first, last := body[0], body[len(body)-1]; !isDigit(last) && last != '.' && last != ',' || !isDigit(first) && first != '.' &&
		first != ',' {
		return "", false, "", errNotNumber
	}
	return body, negative, code, nil
}

// cutEdge takes one thing off either end of a number. Letters at the end are a code only if a digit or space is before
// them, which keeps 1E5 whole.
func cutEdge(body string, negative *bool, signs *int, code *string) (string, bool) {
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

// isSpace includes the spaces that do not break, which group digits in French and Swiss files.
func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\u00a0' || r == '\u202f' || r == '\u2009'
}

func isCurrency(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Sc, r) }

// exponentMax bounds a number such as 1E-8; more would not fit a decimal anyway.
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

// splitDigits finds the decimal mark and takes the marks between groups out.
func splitDigits(body string, mark decimalMark) (whole, fraction string, err error) {
	at := strings.LastIndexAny(body, ".,")
	if own := ownMark(body); at >= 0 && mark == markUnknown {
		if own == markUnknown {
			return "", "", fmt.Errorf("may mean %s or %s; state the decimal separator of the column in the mapping",
				readings(body, at, true), readings(body, at, false))
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

// scientificMark is the mark of a number with an exponent: nobody groups the digits of those.
func scientificMark(mantissa string) decimalMark {
	if at := strings.IndexAny(mantissa, ".,"); at >= 0 {
		return decimalMark(mantissa[at])
	}
	return markUnknown
}

// readings prints what an ambiguous number may mean, for the error.
func readings(body string, at int, decimal bool) string {
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

// ownMark is the decimal mark that a number's own text settles, or markUnknown.
func ownMark(body string) decimalMark {
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
	case strings.IndexByte(before, byte(last)) >= 0: // It stands twice, so it groups.
		return other
	case strings.IndexFunc(before, func(r rune) bool { return r < '0' || r > '9' }) >= 0: // Something else groups.
		return last
	case ambiguous(before, digitsAfter(body[at+1:])):
		return markUnknown
	}
	return last
}

// digitsAfter counts the digits at the start of a text, because an exponent may follow them.
func digitsAfter(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// joinGroups takes the marks out of the digits before the decimal mark. Groups have three digits, or, but for the last,
// two as in India; anything else is more likely a slip than a number.
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
			return "", errors.New("has its digits in odd groups")
		}
	}
	return strings.Join(groups, ""), nil
}

func isGroupMark(r rune) bool {
	return r == '.' || r == ',' || r == '\'' || r == '’' || r == '_' || isSpace(r) && r != '\t'
}

// assemble makes the decimal of its digits, moved by the exponent. Zeros that only pad do not count against the limits.
func assemble(whole, fraction string, exponent int, negative bool) (money.Decimal, error) {
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

// jsonNumber reads a JSON number from its text, which has one meaning only.
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
	return assemble(whole, fraction, exponent, negative)
}

// numberEvidence gathers what the numbers of a column say about their decimal mark and sign.
type numberEvidence struct {
	point, comma       int
	positive, negative int
	numbers, ambiguous int
	notNumbers         int
}

func (e *numberEvidence) see(text string) {
	text = strings.TrimSpace(text)
	if blankNumber(text) {
		return
	}
	body, negative, _, err := undress(text)
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
	own := ownMark(mantissa)
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

// mark is what the column settles; where its values contradict one another it settles nothing.
func (e *numberEvidence) mark() decimalMark {
	switch {
	case e.point > 0 && e.comma == 0:
		return markPoint
	case e.comma > 0 && e.point == 0:
		return markComma
	}
	return markUnknown
}
