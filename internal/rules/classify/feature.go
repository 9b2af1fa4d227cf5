package classify

import (
	"unicode"
	"unicode/utf8"
)

// Kind is in what transactions may be alike.
type Kind string

// The kinds of features, in the order in which they are given.
const (
	KindAddress  Kind = "address"  // of the other side
	KindPayee    Kind = "payee"    // who is at the other end, by name
	KindText     Kind = "text"     // what the description says beside its numbers
	KindCategory Kind = "category" // of the platform, for an asset
	KindStanding Kind = "standing" // exactly so much of an asset, to or from one payee: the rent, a subscription
)

var kinds = []Kind{KindAddress, KindPayee, KindText, KindCategory, KindStanding}

// Feature is something that transactions of a kind have in common. Which way the money went is part of it: what was
// booked of receipts says nothing about payments.
type Feature struct {
	Kind  Kind
	Value string
}

// Key is the feature as one text.
func (f Feature) Key() string { return string(f.Kind) + "/" + f.Value }

// valueMax is how much of a value counts, in bytes: names and references are shorter, and an index has to hold it.
const valueMax = 240

// textMin is from how many characters on a text says something.
const textMin = 3

// Features are what a transaction may have in common with others, at most one of each kind.
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

// of appends the value that a transaction has of a kind, or nothing. The value begins with the direction.
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

// payee appends who is at the other end, by name.
func (s *Subject) payee(to []byte) []byte {
	from := len(to)
	for _, name := range []string{s.Vendor, s.Counterparty, s.Merchant} {
		if to = appendName(to, name); len(to) > from {
			break
		}
	}
	return to
}

// appendName appends a name without its punctuation and without the numbers of stores and orders. What has only numbers is a name as it is.
func appendName(to []byte, name string) []byte {
	from := len(to)
	if to = appendWords(to, name, mostlyDigits); len(to) > from {
		return to
	}
	return appendWords(to, name, func(int, int, bool) bool { return false })
}

// mostlyDigits drops what is a number rather than a part of a name: half of it is digits, or it has some and is announced as a number.
func mostlyDigits(digits, letters int, announced bool) bool {
	return digits > 0 && (digits >= letters || announced)
}

// numbered drops what has any digit: dates, amounts and references.
func numbered(digits, _ int, _ bool) bool { return digits > 0 }

// appendWords appends the words of a text in lower case with blanks between them, without those that are to be
// dropped. A word is announced as a number by a star or a number sign right before it, as in US*2K4.
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
