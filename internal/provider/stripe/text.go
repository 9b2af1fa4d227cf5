package stripe

import (
	"strings"
	"unicode"
)

// messageMax is the maximum length of what is repeated of an error message of Stripe, in characters.
const messageMax = 500

// idMax is the maximum length of an id of Stripe in bytes.
const idMax = 255

// plain returns a text of Stripe without control characters: line breaks and tabs become spaces, and others are dropped.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
}

// isID reports whether a text can be an id of Stripe: such texts are stored, and sent back.
func isID(text string) bool {
	return text != "" && len(text) <= idMax && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
