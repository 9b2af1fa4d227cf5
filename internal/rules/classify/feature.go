package classify

import (
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a feature that transactions can share.
type Kind string

// The kinds of features, in the order in which Features returns them.
const (
	KindAddress  Kind = "address"  // of the counterparty
	KindPayee    Kind = "payee"    // the counterparty's name
	KindText     Kind = "text"     // the description without its numbers
	KindCategory Kind = "category" // of the platform, for an asset
	KindStanding Kind = "standing" // an exact amount to or from one payee: rent, a subscription
)

var kinds = []Kind{KindAddress, KindPayee, KindText, KindCategory, KindStanding}

// Feature is a property that transactions can share. It includes the direction, because the booking of receipts says
// nothing about payments.
type Feature struct {
	Kind  Kind
	Value string
}

// Key returns the feature as one string.
func (f Feature) Key() string { return string(f.Kind) + "/" + f.Value }

// valueMax is the length in bytes to which values are cut, because they are stored in an index. Names and references are
// shorter.
const valueMax = 240

// textMin is the minimum length of a meaningful text, in characters.
const textMin = 3

// Features returns the features of a transaction, at most one of each kind.
func Features(s Subject) []Feature {
	out := make([]Feature, 0, len(kinds))
	var buffer []byte
	for _, k := range kinds {
		if buffer = k.appendValue(&s, buffer[:0]); len(buffer) > 0 {
			out = append(out, Feature{k, string(buffer)})
		}
	}
	return out
}

// appendValue appends a transaction's value of the kind, or nothing if it has none. The value starts with the direction.
func (k Kind) appendValue(s *Subject, to []byte) []byte {
	start := len(to)
	if s.Inflow {
		to = append(to, "in/"...)
	} else {
		to = append(to, "out/"...)
	}
	from := len(to)
	switch k {
	case KindAddress:
		if s.Inflow {
			to = fold(to, s.From)
		} else {
			to = fold(to, s.To)
		}
	case KindPayee:
		to = s.payee(to)
	case KindText:
		if to = appendWords(to, s.Description, numbered); utf8.RuneCount(to[from:]) < textMin {
			to = to[:from]
		}
	case KindCategory:
		if !blank(s.Category) {
			to = fold(append(fold(to, s.Asset), '/'), s.Category)
		}
	case KindStanding:
		if blank(s.Asset) || s.Quantity.IsZero() {
			break
		}
		to = append(s.Quantity.Abs().AppendFixed(append(fold(to, s.Asset), '/'), 0), '/')
		if amount := len(to); len(s.payee(to)) > amount {
			to = s.payee(to)
		} else {
			to = to[:from]
		}
	}
	if len(to) == from {
		return to[:start]
	}
	if end := start + valueMax; len(to) > end {
		for !utf8.RuneStart(to[end]) {
			end--
		}
		to = to[:end]
	}
	return to
}

// payee appends the name of the counterparty.
func (s *Subject) payee(to []byte) []byte {
	from := len(to)
	for _, name := range []string{s.Vendor, s.Counterparty, s.Merchant} {
		if to = appendName(to, name); len(to) > from {
			break
		}
	}
	return to
}

// appendName appends a name without punctuation and without the numbers of stores and orders. A name that consists only
// of numbers is kept.
func appendName(to []byte, name string) []byte {
	from := len(to)
	if to = appendWords(to, name, mostlyDigits); len(to) > from {
		return to
	}
	return appendWords(to, name, func(int, int, bool) bool { return false })
}

// mostlyDigits drops words that are numbers rather than parts of a name: at least half digits, or some digits and
// announced as a number.
func mostlyDigits(digits, letters int, announced bool) bool {
	return digits > 0 && (digits >= letters || announced)
}

// numbered drops words with any digit: dates, amounts and references.
func numbered(digits, _ int, _ bool) bool { return digits > 0 }

// appendWords appends the words of a text in lower case, separated by blanks, except those that drop returns true for. A
// word is announced as a number by a star or a number sign right before it, as in US*2K4.
func appendWords(to []byte, text string, drop func(digits, letters int, announced bool) bool) []byte {
	start, word := len(to), len(to) // where the word begins, with the blank before it
	digits, letters := 0, 0
	announced := false
	end := func() {
		if digits+letters == 0 || drop(digits, letters, announced) {
			to = to[:word]
		}
		word, digits, letters, announced = len(to), 0, 0, false
	}
	for _, r := range text {
		digit := unicode.IsDigit(r)
		switch {
		case r == '\'' || r == '’':
			continue // Joe's is one word
		case !digit && !unicode.IsLetter(r) && !unicode.IsMark(r):
			end()
			announced = r == '*' || r == '#'
			continue
		case digit:
			digits++
		default:
			letters++
		}
		if len(to) == word && word > start {
			to = append(to, ' ')
		}
		to = utf8.AppendRune(to, unicode.ToLower(r))
	}
	end()
	return to
}
