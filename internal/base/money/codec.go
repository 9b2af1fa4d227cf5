package money

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

var (
	errJSONNumber = errors.New(`must be a decimal string such as "1200.50", not a JSON number`)
	errJSONNull   = errors.New(`must be a decimal string such as "1200.50", not null`)
)

// MarshalJSON returns a JSON string, because many readers of JSON numbers would round.
func (d Decimal) MarshalJSON() ([]byte, error) {
	var buf [96]byte
	plain := d.appendPlain(buf[:0], 0)
	out := make([]byte, 0, len(plain)+2)
	out = append(out, '"')
	out = append(out, plain...)
	return append(out, '"'), nil
}

// UnmarshalJSON accepts a JSON string only; a JSON number has often been rounded to
// binary floating point before.
func (d *Decimal) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case bytes.Equal(data, []byte("null")):
		return errJSONNull
	case len(data) > 0 && (data[0] == '-' || (data[0] >= '0' && data[0] <= '9')):
		return errJSONNumber
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return errSyntax
	}
	return d.UnmarshalText([]byte(text))
}

// MarshalText returns the same digits as String.
func (d Decimal) MarshalText() ([]byte, error) {
	return d.appendPlain(nil, 0), nil
}

// UnmarshalText reads what Parse accepts.
func (d *Decimal) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// Value returns plain digits, which both NUMERIC and the DECIMAL collation of
// SQLite store without loss.
func (d Decimal) Value() (driver.Value, error) {
	return d.String(), nil
}

// Scan reads a column. It accepts longer numbers than Parse, because a SUM may be
// longer than its inputs, and rejects binary floating point and NULL.
func (d *Decimal) Scan(source any) error {
	var text string
	switch value := source.(type) {
	case string:
		text = value
	case []byte:
		text = string(value)
	case int64:
		*d = FromInt(value)
		return nil
	case nil:
		return errors.New("money: cannot read NULL as a decimal; use sql.Null where it may be missing")
	default:
		return fmt.Errorf("money: cannot read %T as a decimal without loss; the column must hold text or NUMERIC", source)
	}
	parsed, err := parse(text, storedDigitsMax, storedDigitsMax)
	if err != nil {
		return fmt.Errorf("money: stored value %q %w", text, err)
	}
	*d = parsed
	return nil
}

// SortKey returns a text whose bytes sort as the number does: the number of digits before the point, then the number. It
// panics for negative numbers. Indexes of both databases compare it as plain text.
func (d Decimal) SortKey() string {
	if d.Sign() < 0 {
		panic("money: a negative number has no sort key")
	}
	text := d.String()
	before := strings.IndexByte(text, '.')
	if before < 0 {
		before = len(text)
	}
	return string([]byte{'0' + byte(before/10), '0' + byte(before%10)}) + text
}
