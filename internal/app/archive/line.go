package archive

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
)

// appendLine appends a row as a line.
func appendLine(buf []byte, values []any) ([]byte, error) {
	var err error
	buf = append(buf, '[')
	for i, v := range values {
		if i > 0 {
			buf = append(buf, ',')
		}
		switch t := v.(type) {
		case nil:
			buf = append(buf, "null"...)
		case bool:
			buf = strconv.AppendBool(buf, t)
		case int64:
			buf = strconv.AppendInt(buf, t, 10)
		case string:
			if buf, err = appendText(buf, t); err != nil {
				return buf, err
			}
		case []byte:
			buf = append(buf, '"')
			buf = base64.StdEncoding.AppendEncode(buf, t)
			buf = append(buf, '"')
		default:
			return buf, fmt.Errorf("archive: a %T cannot be written", v)
		}
	}
	return append(buf, ']', '\n'), nil
}

// appendText appends a text as JSON, with no more escapes than JSON requires.
func appendText(buf []byte, text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return buf, errors.New("a text is not valid UTF-8")
	}
	const hex = "0123456789abcdef"
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		buf = append(buf, text[start:i]...)
		start = i + 1
		if c < ' ' {
			buf = append(buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			continue
		}
		buf = append(buf, '\\', c)
	}
	return append(append(buf, text[start:]...), '"'), nil
}

// parseLine reads the values of a row, and returns an error that names the column which is not as it must be. The values do not share
// memory with the line.
func parseLine(line []byte, columns []db.Column) ([]any, error) {
	values := make([]any, len(columns))
	rest, ok := cut(line, '[')
	if !ok {
		return nil, errors.New("a line is not a list")
	}
	for i, c := range columns {
		if i > 0 {
			if rest, ok = cut(rest, ','); !ok {
				return nil, fmt.Errorf("a line has %d values instead of %d", i, len(columns))
			}
		}
		end := valueEnd(rest)
		v, err := parseValue(rest[:end], c)
		if err != nil {
			return nil, fmt.Errorf("the column %s: %w", c.Name, err)
		}
		values[i], rest = v, rest[end:]
	}
	if rest, ok = cut(rest, ']'); !ok || len(rest) > 0 {
		return nil, fmt.Errorf("a line has something else than %d values", len(columns))
	}
	return values, nil
}

func cut(text []byte, c byte) ([]byte, bool) {
	if len(text) == 0 || text[0] != c {
		return text, false
	}
	return text[1:], true
}

// valueEnd returns where the value ends with which a text begins.
func valueEnd(text []byte) int {
	if len(text) > 0 && text[0] == '"' {
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(text)
	}
	for i, c := range text {
		if c == ',' || c == ']' {
			return i
		}
	}
	return len(text)
}

func parseValue(text []byte, c db.Column) (any, error) {
	if string(text) == "null" {
		if !c.Null {
			return nil, errors.New("it must not be null")
		}
		return nil, nil
	}
	switch c.Type {
	case db.IntegerColumn:
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s is not an integer", printable(string(text)))
		}
		return n, nil
	case db.BooleanColumn:
		switch string(text) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%s is neither true nor false", printable(string(text)))
	}
	s, err := parseText(text)
	if err != nil {
		return nil, err
	}
	return convert(s, c.Type)
}

// decimals matches the decimals that are stored. Sums may have more digits than the API accepts, but not thousands.
var decimals = regexp.MustCompile(`^-?[0-9]{1,200}(\.[0-9]{1,200})?$`)

// convert returns the value of a column that is written as a text.
func convert(s string, t db.ColumnType) (any, error) {
	switch t {
	case db.DecimalColumn:
		if !decimals.MatchString(s) {
			return nil, fmt.Errorf("%s is not a decimal", printable(s))
		}
	case db.TimeColumn:
		if at, err := time.Parse(time.RFC3339, s); err != nil || clock.Format(at) != s {
			return nil, fmt.Errorf("%s is not a time with milliseconds in UTC", printable(s))
		}
	case db.BytesColumn:
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return nil, errors.New("it is not base64")
		}
		return b, nil
	}
	return s, nil
}

func parseText(text []byte) (string, error) {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return "", fmt.Errorf("%s is not a text", printable(string(text)))
	}
	plain := text[1 : len(text)-1]
	for _, c := range plain {
		if c == '\\' || c < ' ' || c == '"' {
			var s string
			if err := json.Unmarshal(text, &s); err != nil {
				return "", errors.New("it is not a text in JSON")
			}
			return s, nil
		}
	}
	if !utf8.Valid(plain) {
		return "", errors.New("it is not valid UTF-8")
	}
	return string(plain), nil
}
