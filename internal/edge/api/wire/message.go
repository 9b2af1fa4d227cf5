package wire

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// tooFew states a minimum and what was given instead.
func tooFew(limit int, noun string, count int) string {
	if count == 0 {
		return "must not be empty"
	}
	return "must have at least " + plural(limit, noun) + ", but has " + formatCount(count)
}

// tooMany states a maximum and what was given instead.
func tooMany(limit int, noun string, count int) string {
	return "must have at most " + plural(limit, noun) + ", but has " + formatCount(count)
}

// plural returns a number with its noun.
func plural(number int, noun string) string {
	if number == 1 {
		return "1 " + noun
	}
	return formatCount(number) + " " + noun + "s"
}

// formatCount writes a count with commas between thousands, such as 12,345.
func formatCount(n int) string { return groupThousands(strconv.Itoa(n)) }

// groupThousands writes an integer with commas between thousands, such as 1,000,000. It returns any other text unchanged.
func groupThousands(digits string) string {
	if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
		return digits
	}
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
		if n == float64(int64(n)) {
			return groupThousands(strconv.FormatInt(int64(n), 10))
		}
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return groupThousands(fmt.Sprint(v))
}

// formatEnum writes a value of an enum.
func formatEnum(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return fmt.Sprint(v)
}

// quotedMax is how many characters of a value a message repeats.
const quotedMax = 60

// shorten returns a text of at most max characters, with an ellipsis in place of the rest.
func shorten(text string, max int) string {
	if len(text) <= max || utf8.RuneCountInString(text) <= max {
		return text
	}
	end := 0
	for range max {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[:end] + "…"
}

// nameMax is more bytes than the name of any property has.
const nameMax = 200

// beginning returns as many whole characters of a long name as nameMax bytes hold.
func beginning(name string) string {
	end := nameMax
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "…"
}

// describeValue returns a value of a request in words, such as "abc", the number 12, an object.
func describeValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if v == "" {
			return "empty"
		}
		return `"` + shorten(v, quotedMax) + `"`
	case bool:
		return strconv.FormatBool(v)
	case map[string]any, partObject:
		return "an object"
	case []any, []string, longList:
		return "a list"
	}
	return "the number " + formatAny(v)
}
