package binance

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// idMax is how many characters an id may have.
	idMax = 100
	// symbolMax is how many bytes the symbol of an asset may have.
	symbolMax = 64
	// exponentMax bounds the exponent of a number.
	exponentMax = 30
)

// text is a JSON string in one line, or a number as it is written: Binance states some values in either way. Null is an empty text.
type text string

// UnmarshalJSON reads a string or a number.
func (t *text) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		return nil
	case data[0] == '"':
		var s string
		err := json.Unmarshal(data, &s)
		*t = text(provider.Clean(s))
		return err
	case data[0] == '-' || data[0] >= '0' && data[0] <= '9':
		*t = text(data)
		return nil
	}
	return fmt.Errorf("%s is neither a text nor a number", provider.Clean(string(data)))
}

// identifier is an id in Latin letters, digits and a few other characters.
type identifier text

// UnmarshalJSON reads a string or a number.
func (i *identifier) UnmarshalJSON(data []byte) error {
	var t text
	if err := t.UnmarshalJSON(data); err != nil {
		return err
	}
	if len(t) > idMax || strings.ContainsFunc(string(t), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.*", r)
	}) {
		return fmt.Errorf("%q is no id", provider.Clean(string(t)))
	}
	*i = identifier(t)
	return nil
}

// amount is a decimal number, known or not. Binance writes it as a string or a number, small ones such as 1E-8.
type amount struct {
	money.Decimal
	known bool
}

var errAmount = errors.New("it does not state its amount")

// UnmarshalJSON reads a string or a number.
func (a *amount) UnmarshalJSON(data []byte) error {
	var t text
	if err := t.UnmarshalJSON(data); err != nil || t == "" {
		return err
	}
	mantissa, exponent, scaled := strings.Cut(strings.ToUpper(string(t)), "E")
	d, err := money.Parse(mantissa)
	if err != nil {
		return fmt.Errorf("%q is no amount", provider.Clean(string(t)))
	}
	if scaled {
		n, err := strconv.Atoi(exponent)
		if err != nil || n < -exponentMax || n > exponentMax {
			return fmt.Errorf("%q is no amount", provider.Clean(string(t)))
		}
		step := money.FromInt(10)
		if n < 0 {
			step, n = money.MustParse("0.1"), -n
		}
		for range n {
			d = d.Mul(step)
		}
		if d, err = money.Parse(d.String()); err != nil {
			return fmt.Errorf("%q is too long", provider.Clean(string(t)))
		}
	}
	a.Decimal, a.known = d, true
	return nil
}

// instant is a time, in milliseconds since 1970 or as in 2019-10-12 11:12:02, which is UTC.
type instant struct{ time.Time }

// UnmarshalJSON reads a number, a number in a string, or a time in a string.
func (i *instant) UnmarshalJSON(data []byte) error {
	var t text
	if err := t.UnmarshalJSON(data); err != nil || t == "" {
		return err
	}
	at, err := time.Parse(time.DateTime, string(t))
	if err != nil {
		ms, failed := strconv.ParseInt(string(t), 10, 64)
		if failed != nil {
			return fmt.Errorf("%q is no time", provider.Clean(string(t)))
		}
		at = time.UnixMilli(ms).UTC()
	}
	if at.Before(launch) || at.Year() > 9999 {
		return fmt.Errorf("%q is no time since Binance exists", provider.Clean(string(t)))
	}
	i.Time = at
	return nil
}

// launch is when Binance began to trade.
var launch = time.Date(2017, 7, 14, 0, 0, 0, 0, time.UTC)

// asset is the symbol of an asset, in capital letters.
type asset string

// UnmarshalJSON reads a string.
func (a *asset) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s = strings.TrimSpace(s); len(s) > symbolMax || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return fmt.Errorf("%q is no asset", provider.Clean(s))
	}
	*a = asset(strings.ToUpper(s))
	return nil
}
