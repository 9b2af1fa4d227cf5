package wire

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// translateFault translates a fault of huma into our words and paths. For a missing property huma reports the object; we report the
// property.
func translateFault(d *huma.ErrorDetail) fault.Field {
	name := d.Location
	if name != "" && name[0] != '[' {
		name = "." + name
	}
	if rest, ok := strings.CutPrefix(d.Message, "expected required property "); ok {
		property, _, _ := strings.Cut(rest, " ")
		return fault.Field{Name: name + "." + property, Message: "is required"}
	}
	return fault.Field{Name: name, Message: translateMessage(d.Message, d.Value)}
}

// limitMessages maps the beginning of a message of huma that ends with a limit to the words that state the limit and the value.
var limitMessages = []struct {
	prefix string
	words  func(limit string, v any) string
}{
	{"expected length >= ", func(limit string, v any) string { return tooFew(limit, "character", countCharacters(v)) }},
	{"expected length <= ", func(limit string, v any) string { return tooMany(limit, "character", countCharacters(v)) }},
	{"expected array length >= ", func(limit string, v any) string { return tooFew(limit, "item", countItems(v)) }},
	{"expected array length <= ", func(limit string, v any) string { return tooMany(limit, "item", countItems(v)) }},
	{"expected number >= ", func(limit string, v any) string { return "must be at least " + limit + ", but is " + formatAny(v) }},
	{"expected number <= ", func(limit string, v any) string { return "must be at most " + limit + ", but is " + formatAny(v) }},
	{"expected number > ", func(limit string, v any) string { return "must be greater than " + limit + ", but is " + formatAny(v) }},
	{"expected number < ", func(limit string, v any) string { return "must be less than " + limit + ", but is " + formatAny(v) }},
	{"expected number to be a multiple of ", func(limit string, v any) string {
		return "must be a multiple of " + limit + ", but is " + formatAny(v)
	}},
}

// exactMessages maps the messages of huma that have no limit in them to the words before the value.
var exactMessages = map[string]string{
	"expected string":                          "must be a string",
	"expected boolean":                         "must be true or false",
	"expected integer":                         "must be an integer",
	"expected number":                          "must be a number",
	"expected array":                           "must be a list",
	"expected object":                          "must be an object",
	"expected string to be RFC 3339 date-time": "must be a date and time such as 2026-01-31T09:30:00Z",
	"expected string to be RFC 3339 date":      "must be a date such as 2026-01-31",
}

// translateMessage translates a message of huma about a value into a sentence that states the limit and the value. Messages it does not
// know stay readable: "expected X" becomes "must be X".
func translateMessage(message string, v any) string {
	for _, m := range limitMessages {
		if limit, ok := strings.CutPrefix(message, m.prefix); ok {
			return m.words(groupThousands(limit), v)
		}
	}
	if words, ok := exactMessages[message]; ok {
		return words + ", but is " + describeValue(v)
	}
	switch {
	case message == "unexpected property":
		return "is not a property of this request"
	case message == "expected array items to be unique":
		return "must not contain the same item twice"
	case strings.HasPrefix(message, "expected object with at least 1 "):
		return "must have at least one property"
	}
	if values, ok := strings.CutPrefix(message, "expected value to be one of "); ok {
		return "must be one of " + strings.ReplaceAll(values, `"`, "") + ", but is " + describeValue(v)
	}
	if pattern, ok := strings.CutPrefix(message, "expected string to match pattern "); ok {
		return "must match the pattern " + pattern + ", but is " + describeValue(v)
	}
	if what, ok := strings.CutPrefix(message, "expected string to be "); ok { // the description of a pattern
		return "must be " + what + ", but is " + describeValue(v)
	}
	if what, ok := strings.CutPrefix(message, "expected "); ok {
		return "must be " + what
	}
	return message
}

// tooFew states a minimum and what was given instead.
func tooFew(limit, noun string, count int) string {
	if count == 0 {
		return "must not be empty"
	}
	return "must have at least " + plural(limit, noun) + ", but has " + strconv.Itoa(count)
}

// tooMany states a maximum and what was given instead.
func tooMany(limit, noun string, count int) string {
	return "must have at most " + plural(limit, noun) + ", but has " + groupThousands(strconv.Itoa(count))
}

// plural returns a number with its noun.
func plural(number, noun string) string {
	if number == "1" {
		return number + " " + noun
	}
	return number + " " + noun + "s"
}

// countCharacters returns the length of a string.
func countCharacters(v any) int {
	text, _ := v.(string)
	return utf8.RuneCountInString(text)
}

// countItems returns the length of a list, which is one of strings if it comes from the query.
func countItems(v any) int {
	switch list := v.(type) {
	case []any:
		return len(list)
	case []string:
		return len(list)
	}
	return 0
}

// groupThousands writes a number without an exponent and with commas between thousands, such as 1,000,000. It returns what is not an
// integer unchanged.
func groupThousands(number string) string {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n != float64(int64(n)) {
		return number
	}
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// formatAny writes a number of a request.
func formatAny(v any) string {
	if n, ok := v.(float64); ok {
		return groupThousands(strconv.FormatFloat(n, 'g', -1, 64))
	}
	return groupThousands(fmt.Sprint(v))
}

// quotedMax is how many characters of a value a message repeats.
const quotedMax = 60

// describeValue returns a value of a request in words, such as "abc", the number 12, an object.
func describeValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if v == "" {
			return "empty"
		}
		if utf8.RuneCountInString(v) > quotedMax {
			v = string([]rune(v)[:quotedMax]) + "…"
		}
		return `"` + v + `"`
	case bool:
		return strconv.FormatBool(v)
	case *any: // hidden by hideIncomparable
		return describeValue(*v)
	case map[string]any:
		return "an object"
	case []any, []string:
		return "a list"
	}
	return "the number " + formatAny(v)
}
