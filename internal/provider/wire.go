package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// ParseCursor decodes a cursor that FormatCursor has made. An empty cursor leaves the value as it is.
func ParseCursor(cursor string, into any) error {
	if cursor == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(cursor), into); err != nil {
		return fault.Conflictf("the position in the history of the account is not one of this version of the service: disconnect the account " +
			"and connect it again, which adds nothing twice")
	}
	return nil
}

// FormatCursor encodes a position as a cursor.
func FormatCursor(position any) string {
	text, err := json.Marshal(position)
	if err != nil {
		panic(fmt.Sprintf("provider: a cursor cannot be encoded: %v", err))
	}
	return string(text)
}

// nanoseconds is how many digits after the point a time in seconds can have.
const nanoseconds = 9

// UnixSeconds returns a time that is stated in seconds since 1970, such as 1688464484.1787. More than nine digits after the point are cut.
func UnixSeconds(text string) (time.Time, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("%q is no time in seconds", Clean(text))
	}
	fraction = (fraction + strings.Repeat("0", nanoseconds))[:nanoseconds]
	rest, err := strconv.ParseUint(fraction, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time in seconds", Clean(text))
	}
	return time.Unix(seconds, int64(rest)).UTC(), nil
}

// cleanMax is how many characters of a text of a system are shown.
const cleanMax = 300

// Clean returns a text of a system as it may be shown to people: in one line, and not too long.
func Clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if utf8.RuneCountInString(text) > cleanMax {
		text = string([]rune(text)[:cleanMax]) + "…"
	}
	return text
}

// symbolMax bounds the symbol of an asset, in bytes.
const symbolMax = 64

// Symbol returns the symbol of an asset as it is stored, and an empty text for what is none.
func Symbol(text string) string {
	if text = strings.ToUpper(strings.TrimSpace(text)); len(text) > symbolMax || text != Clean(text) {
		return ""
	}
	return text
}

// Complete returns the sums of assets as all that an account holds now, without those that are zero, in the order of their symbols.
func Complete(sums map[string]money.Decimal) Holdings {
	out := Holdings{Balances: make([]Balance, 0, len(sums)), Complete: true}
	for currency, amount := range sums {
		if !amount.IsZero() && currency != "" {
			out.Balances = append(out.Balances, Balance{Currency: currency, Amount: amount})
		}
	}
	slices.SortFunc(out.Balances, func(a, b Balance) int { return cmp.Compare(a.Currency, b.Currency) })
	return out
}
