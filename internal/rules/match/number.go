package match

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// run is a run of letters or of digits in a text.
type run struct {
	text   string
	digits bool
	start  bool // a word begins here
	end    bool // a word ends here
	hash   bool // preceded by "#"
	near   bool // few other characters since the run before, so that both may be parts of one number or of one list
}

// parseRuns cuts a text into runs of letters and of digits, in lower case and without invisible characters.
func parseRuns(text string) (runs []run) {
	var current []byte
	digits, open := false, false // open: the previous character belongs to a word
	hash, gap := false, 0
	flush := func(end bool) {
		if len(current) > 0 {
			runs[len(runs)-1].text = string(current)
			runs[len(runs)-1].end = end
			current = current[:0]
		}
	}
	for _, r := range norm.NFKC.String(strings.ToValidUTF8(text, " ")) {
		r = unicode.ToLower(r)
		switch {
		case unicode.In(r, unicode.Cf, unicode.Mn):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			if is := unicode.IsDigit(r); len(current) == 0 || is != digits {
				flush(false)
				runs = append(runs, run{digits: is, start: !open, hash: hash, near: gap <= gapMax})
				digits = is
			}
			current = utf8.AppendRune(current, r)
			open, hash, gap = true, false, 0
		default:
			flush(true)
			open, hash = false, r == '#'
			gap++
		}
	}
	flush(true)
	return runs
}

// markers are words that precede the number of an invoice.
var markers = map[string]bool{
	"inv": true, "invs": true, "invoice": true, "invoices": true, "rechnung": true, "rechnungen": true, "rechnungsnummer": true, "rg": true,
	"facture": true, "factures": true, "factura": true, "facturas": true, "fattura": true, "faktura": true, "factuur": true, "bill": true,
}

// fillers are words that may stand between a marker and a number.
var fillers = map[string]bool{"no": true, "nr": true, "num": true, "number": true, "n": true, "id": true, "ref": true}

const (
	gapMax          = 3 // characters between the parts of a number, or of a list
	joinedMax       = 8 // runs that are joined to a number
	numberMin       = 3 // characters of a number that is recognized without a marker
	plainNumberMin  = 6 // digits of a number without letters that is recognized without a marker
	tailDigitsMin   = 3 // digits by which a number with letters is recognized after a marker
	numberLengthMax = 64
)

// numberIndex finds invoices by their numbers.
type numberIndex struct {
	whole  map[string][]int32 // by number, in lower case and without punctuation
	digits map[string][]int32 // by the digits alone, of numbers that begin with letters
	shapes map[shape]bool
}

// shape is what numbers of a series have in common.
type shape struct {
	prefix string
	digits int
}

func newNumberIndex(invoices []Invoice) *numberIndex {
	x := &numberIndex{whole: map[string][]int32{}, digits: map[string][]int32{}, shapes: map[shape]bool{}}
	for i := range invoices {
		runs := parseRuns(clip(invoices[i].Number, numberLengthMax))
		var key, digits, prefix string
		for n, r := range runs {
			key += r.text
			if r.digits {
				digits += r.text
			} else if n == 0 {
				prefix = r.text
			}
		}
		if digits == "" {
			continue // A word of a memo would be taken for a number.
		}
		x.whole[key] = append(x.whole[key], int32(i))
		if prefix != "" {
			x.digits[digits] = append(x.digits[digits], int32(i))
		}
		if len(runs) > 0 && len(key) == len(prefix)+len(digits) {
			x.shapes[shape{prefix, len(digits)}] = true
		}
	}
	return x
}

// mention is the number of an invoice in a memo.
type mention struct {
	text     string
	invoices []int32 // with this number; none if only its form is that of a number
	weak     bool    // it may as well be something else: a short number without a word that says what it is
}

// mentions returns the numbers of invoices in a memo, and the steps that it took. known reports whether an invoice may be
// mentioned at all: others are treated as if they did not exist.
func (x *numberIndex) mentions(memo string, known func(int32) bool) (all []mention, steps int) {
	runs := parseRuns(clip(memo, memoMax))
	marked := false // a marker precedes, or a number of the same list
	for i := 0; i < len(runs); {
		r := runs[i]
		marked = marked && r.near
		steps += joinedMax
		m, n := x.at(runs[i:], marked, known)
		switch {
		case n > 0:
			all = append(all, m)
			marked = true
			i += n
		case markers[r.text] && r.start:
			marked = true
			i++
		default:
			marked = marked && fillers[r.text]
			i++
		}
	}
	return all, steps
}

// at returns the number that begins with the first run, and how many runs it consists of: the longest that is known.
func (x *numberIndex) at(runs []run, marked bool, known func(int32) bool) (m mention, n int) {
	if !runs[0].start && !marked {
		return m, 0 // The end of a longer word, such as the hash of a transaction.
	}
	marked = marked || runs[0].hash
	var key, digits []byte
	unknown := 0
	for i, r := range runs[:min(len(runs), joinedMax)] {
		if i > 0 && r.start && !r.near || len(key)+len(r.text) > numberLengthMax {
			break
		}
		key = append(key, r.text...)
		if r.digits {
			digits = append(digits, r.text...)
		}
		if !r.end || len(digits) == 0 {
			continue
		}
		plain := len(digits) == len(key)
		found := filter(x.whole[string(key)], known)
		if len(found) == 0 && plain && marked && len(digits) >= tailDigitsMin {
			found = filter(x.digits[string(digits)], known)
		}
		if len(found) > 0 && (marked || len(key) >= numberMin) {
			m = mention{string(key), found, plain && !marked && (len(digits) < plainNumberMin || isDate(string(digits)))}
			n = i + 1
			continue
		}
		if !runs[0].digits && len(key) == len(runs[0].text)+len(digits) && x.shapes[shape{runs[0].text, len(digits)}] {
			unknown = i + 1
		}
	}
	if n == 0 && unknown > 0 {
		for _, r := range runs[:unknown] {
			m.text += r.text
		}
		return m, unknown
	}
	return m, n
}

func filter(all []int32, known func(int32) bool) []int32 {
	return slices.DeleteFunc(slices.Clone(all), func(i int32) bool { return !known(i) })
}

// isDate reports whether eight digits are a date of this century.
func isDate(digits string) bool {
	return len(digits) == 8 && (strings.HasPrefix(digits, "20") && digits[4:6] <= "12" && digits[6:] <= "31" ||
		digits[4:6] == "20" && digits[:2] <= "31" && digits[2:4] <= "31")
}
