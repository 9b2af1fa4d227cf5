package oauth

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// nameProblem returns what is wrong with the name of an app, or nothing. People decide by the name, so it must be visible, must not be able
// to change the look of the page that shows it, and must not be that of the service.
func nameProblem(name string) string {
	n := utf8.RuneCountInString(name)
	switch {
	case n == 0 || n > nameMax || strings.TrimSpace(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, isHidden) ||
		!strings.ContainsFunc(name, isSeen):
		return fmt.Sprintf("must have 1 to %d characters that can be printed, without spaces at its ends", nameMax)
	case skeleton(name) == serviceName:
		return "must not be that of this service, because people would take the app for it: choose another one"
	}
	return ""
}

// isHidden reports whether a character has no place in a name: it is a control character, a space of an unusual width, or counts as a
// letter or a symbol although nothing is drawn for it, as the Hangul filler U+3164 and the empty Braille pattern U+2800.
func isHidden(c rune) bool {
	return !unicode.IsPrint(c) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) || c == '\u2800' || c == '\U0001d159'
}

// isSeen reports whether a character can be seen on its own. Accents and variation selectors cannot.
func isSeen(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsMark(c) && c != ' ' }

// serviceName is the skeleton of the name of this service.
const serviceName = "bursar"

// lookAlikes are letters of other alphabets that look like those of the name of the service.
var lookAlikes = strings.NewReplacer("в", "b", "ь", "b", "β", "b", "υ", "u", "ս", "u", "г", "r", "ѕ", "s", "ꜱ", "s", "а", "a", "α", "a",
	"ʀ", "r", "ʙ", "b", "ᴜ", "u", "ᴀ", "a")

// skeleton returns what a reader makes of a name at a glance: its letters and digits, whatever their case, width and accents.
func skeleton(name string) string {
	var out strings.Builder
	for _, c := range norm.NFKD.String(name) {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			out.WriteRune(unicode.ToLower(c))
		}
	}
	return lookAlikes.Replace(out.String())
}

// HostName returns a name for an app that has none: the host that people are sent back to. It is empty if there is no such host. The end of
// a long one is kept, because that says whose it is.
func HostName(redirectURIs []string) string {
	if len(redirectURIs) == 0 {
		return ""
	}
	u, err := url.Parse(redirectURIs[0])
	if err != nil {
		return ""
	}
	host := u.Hostname()
	if len(host) > nameMax {
		host = "…" + host[len(host)-nameMax+1:]
	}
	return host
}
