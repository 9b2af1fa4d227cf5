package password

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
)

// The lengths of passwords in characters. There are no rules about kinds of characters: length is what makes guessing hard.
const (
	LengthMin = 12
	LengthMax = 256
)

// Check returns a fault that blames a field for a password that is too short, too long, or one of the first that somebody would guess who
// knows some texts about the person, such as the email address and the name of the organization.
func Check(field string, plain secret.Text, about ...string) error {
	text := normal(plain)
	length := utf8.RuneCountInString(text)
	switch {
	case length < LengthMin:
		return fault.Invalidf(field, "must have at least %d characters, but has %d: several words that do not belong together are easy to "+
			"remember and hard to guess", LengthMin, length)
	case length > LengthMax:
		return fault.Invalidf(field, "must have at most %d characters, but has %d", LengthMax, length)
	case guessable(text, about):
		return fault.Invalidf(field, "is easy to guess: it is made of common words, sequences, repetitions, or what is known about you; use "+
			"several words that do not belong together")
	}
	return nil
}

// rest is how many characters must be left of a password without what is easy to guess.
const rest = 8

// guessable reports whether little is left of a password without common words, sequences, repetitions and what is known of the person.
func guessable(text string, about []string) bool {
	words := append([]string{}, common...)
	for _, one := range about {
		words = append(words, strings.FieldsFunc(strings.ToLower(one), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})...)
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // the longest first, because it may contain others
	text = strings.ToLower(text)
	return unpredictable(without(words, text)) < rest || unpredictable(without(words, substitutions.Replace(text))) < rest
}

// without returns a text with a mark in the place of each word.
func without(words []string, text string) string {
	for _, w := range words {
		if utf8.RuneCountInString(w) >= 3 {
			text = strings.ReplaceAll(text, w, "\x00")
		}
	}
	return text
}

// unpredictable counts the characters that do not follow from those before them: the first of a sequence, the first of a repetition, and
// the first appearance of a group of characters that is repeated.
func unpredictable(text string) int {
	count := 0
	runes := []rune(text)
	seen := map[string]bool{}
	for i, r := range runes {
		if r == 0 {
			continue
		}
		if i >= 1 {
			pair := string(runes[i-1 : i+1])
			step := r - runes[i-1]
			known := seen[pair] || step == 0 || step == 1 || step == -1 || neighbours(runes[i-1], r)
			seen[pair] = true
			if known {
				continue
			}
		}
		count++
	}
	return count
}

// rows are the letters of keyboards, from which people take sequences.
var rows = []string{"1234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm"}

// neighbours reports whether two characters are side by side on a keyboard.
func neighbours(a, b rune) bool {
	for _, row := range rows {
		i, j := strings.IndexRune(row, a), strings.IndexRune(row, b)
		if i >= 0 && j >= 0 && (i-j == 1 || j-i == 1) {
			return true
		}
	}
	return false
}

// substitutions are what people write for letters.
var substitutions = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "@", "a", "$", "s", "!", "i")

// common are words that many passwords are made of, after the substitutions.
var common = []string{
	"password", "passwort", "passw", "motdepasse", "contrasena", "parola", "senha", "secret", "geheim", "letmein", "welcome", "willkommen",
	"bienvenue", "login", "admin", "administrator", "master", "root", "user", "test", "demo", "changeme", "default", "temporary", "temp",
	"iloveyou", "love", "princess", "dragon", "monkey", "football", "baseball", "soccer", "hockey", "superman", "batman", "starwars",
	"sunshine", "shadow", "summer", "winter", "spring", "autumn", "january", "february", "march", "april", "june", "july", "august",
	"september", "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "michael",
	"jordan", "thomas", "daniel", "jessica", "ashley", "charlie", "freedom", "whatever", "trustno", "hello", "computer", "internet",
	"company", "office", "finance", "accounting", "treasury", "bursar", "bitcoin", "ethereum", "crypto", "wallet", "money", "bank",
	"qwerty", "qwertz", "azerty", "qazwsx", "asdf", "zxcv", "abc", "correcthorsebatterystaple",
}
