package oauth

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/naming"
)

// nameProblem returns what is wrong with the name of an app, or nothing. People decide by the name, so it must be visible, must not be able
// to change the look of the page that shows it, and must not be that of the service.
func nameProblem(name string) string {
	n := utf8.RuneCountInString(name)
	switch {
	case n == 0 || n > nameMax || strings.TrimSpace(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, isHidden) ||
		!strings.ContainsFunc(name, isSeen):
		return fmt.Sprintf("must have 1 to %d characters that can be printed, without spaces at its ends", nameMax)
	case readsAsService(name):
		return "must not be that of this service or have it as a word, because people would take the app for a part of it: choose another one"
	}
	return naming.Problem(name, nameMax)
}

// isHidden reports whether a character has no place in a name: it is a control character, a space of an unusual width, or counts as a
// letter or a symbol although nothing is drawn for it, as the Hangul filler U+3164 and the empty Braille pattern U+2800.
func isHidden(c rune) bool {
	return !unicode.IsPrint(c) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) || c == '\u2800' || c == '\U0001d159'
}

// isSeen reports whether a character can be seen on its own. Accents and variation selectors cannot.
func isSeen(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsMark(c) && c != ' ' }

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
