package provider

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Exact is an amount in a document of JSON, stated as a number or as a text. It is read and written digit by digit, never as a binary
// floating point number. The zero value is an amount that is not stated, which is null.
type Exact struct {
	Amount money.Decimal
	Stated bool
}

// NewExact returns an amount that is stated.
func NewExact(d money.Decimal) Exact { return Exact{Amount: d, Stated: true} }

// exponentMax bounds the exponents of amounts.
const exponentMax = 60

var (
	errExact    = errors.New("an amount is no decimal number")
	errUnstated = errors.New("an amount is not stated")
)

// UnmarshalJSON reads a number, also one with an exponent, a text with a number, or null. An empty text is not stated.
func (e *Exact) UnmarshalJSON(data []byte) error {
	*e = Exact{}
	text := string(data)
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(data, &text); err != nil {
			return errExact
		}
	}
	if text == "null" || text == "" {
		return nil
	}
	d, err := ParseAmount(text)
	if err != nil {
		return errExact
	}
	*e = NewExact(d)
	return nil
}

// MarshalJSON writes a number in plain digits, or null.
func (e Exact) MarshalJSON() ([]byte, error) {
	if !e.Stated {
		return []byte("null"), nil
	}
	return []byte(e.Amount.String()), nil
}

// ParseAmount reads an amount digit by digit, also one with an exponent, as some systems write small ones.
func ParseAmount(text string) (money.Decimal, error) {
	plain, err := expand(text)
	if err != nil {
		return money.Decimal{}, err
	}
	return money.Parse(plain)
}

// Decimal is an amount in a document of JSON that has to be stated, as a number or as a text. It is read digit by digit.
type Decimal struct{ money.Decimal }

// UnmarshalJSON reads what Exact reads, unless it is not stated.
func (d *Decimal) UnmarshalJSON(data []byte) error {
	var e Exact
	if err := e.UnmarshalJSON(data); err != nil {
		return err
	}
	if !e.Stated {
		return errUnstated
	}
	d.Decimal = e.Amount
	return nil
}

// Text is a text in a document of JSON that some systems write as a number, whose digits are kept as they are. Null is an empty text.
type Text string

// UnmarshalJSON reads a text, a number or null.
func (t *Text) UnmarshalJSON(data []byte) error {
	*t = ""
	var number json.Number
	if err := json.Unmarshal(data, &number); err == nil { // a text with a number, too
		*t = Text(number)
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// expand returns a number without its exponent: 1.5E3 is 1500.
func expand(text string) (string, error) {
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return text, nil
	}
	exponent, err := strconv.Atoi(strings.TrimPrefix(text[at+1:], "+"))
	if err != nil || exponent < -exponentMax || exponent > exponentMax {
		return "", errExact
	}
	digits, negative := strings.CutPrefix(text[:at], "-")
	before, after, _ := strings.Cut(digits, ".")
	digits = strings.Repeat("0", exponentMax) + before + after + strings.Repeat("0", exponentMax)
	point := exponentMax + len(before) + exponent
	before, after = strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	if before == "" {
		before = "0"
	}
	if negative {
		before = "-" + before
	}
	if after != "" {
		before += "." + after
	}
	return before, nil
}
