// Package naming holds the rule for names that people give: to organizations, keys, passkeys, apps and themselves. Names are shown in
// mail and in terminals, where a line break or a control character could add or hide text.
package naming

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem returns what is wrong with a name of at most so many characters, to follow the name of its field, or an empty text. Whether the
// name may be empty is for the caller to say.
func Problem(name string, most int) string {
	if !utf8.ValidString(name) {
		return "must be text in UTF-8"
	}
	if n := utf8.RuneCountInString(name); n > most {
		return fmt.Sprintf("must have at most %d characters, but has %d", most, n)
	}
	for _, r := range name {
		switch {
		case forbidden(r):
			return fmt.Sprintf("must be one line without control characters, but has the character U+%04X", r)
		case strings.ContainsRune(wide, r):
			return fmt.Sprintf("must have no character that is as wide as a line of text, but has U+%04X", r)
		}
	}
	if tooManyMarks(name) {
		return fmt.Sprintf("must have at most %d accents or other marks on a letter, because more of them cover the lines above and below",
			accentsMax)
	}
	if name != "" && strings.IndexFunc(name, visible) < 0 {
		return "must have a character that can be seen"
	}
	return ""
}

// visible reports whether a character leaves something on the screen by itself.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.In(r, unicode.Z, unicode.M, unicode.Other_Default_Ignorable_Code_Point) &&
		!strings.ContainsRune("\u2800\ufffc\U0001d159", r) // an empty cell of braille, the place of an object, a note without a head
}

// forbidden reports whether a character begins a line, controls a terminal, or changes the direction in which the text after it is read.
// The characters that join others stay allowed, because several scripts need them.
func forbidden(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029', r == '\u061c', r == '\u200e', r == '\u200f':
		return true
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return false
}

// wide are characters that push what follows them out of sight: a sentence, ornaments and cuneiform signs that are drawn as one character.
const wide = "\ufdfd\ua9c5\U00012143\U00012219\U0001242b"

const (
	// accentsMax is how many marks that suit any letter can follow each other. Vietnamese letters, and Arabic ones with vowels, have two.
	accentsMax = 2
	// marksMax is how many marks of a script can. Letters of Hindi, Hebrew, Tibetan and Burmese words have three.
	marksMax = 3
)

// tooManyMarks reports whether more marks are drawn over a letter of a name than a language needs.
func tooManyMarks(name string) bool {
	accents, marks := 0, 0
	for _, r := range name {
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			accents, marks = 0, 0
			continue
		}
		marks++
		if unicode.In(r, unicode.Inherited, unicode.Me) {
			accents++
		}
		if accents > accentsMax || marks > marksMax {
			return true
		}
	}
	return false
}
