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
func parseRuns(text string) []run {
	text = foldText(text)
	runs := make([]run, 0, 8)
	begin, digits := -1, false // where the current run begins, or negative between words
	hash, gap := false, 0
	for i, r := range text {
		letter, digit := unicode.IsLetter(r), unicode.IsDigit(r)
		switch {
		case begin >= 0 && (letter || digit) && digit == digits:
		case letter, digit:
			if begin >= 0 {
				runs[len(runs)-1].text = text[begin:i]
			}
			runs = append(runs, run{digits: digit, start: begin < 0, hash: hash, near: gap <= gapMax})
			begin, digits = i, digit
			hash, gap = false, 0
		default:
			if begin >= 0 {
				runs[len(runs)-1].text, runs[len(runs)-1].end = text[begin:i], true
			}
			begin, hash = -1, r == '#'
			gap++
		}
	}
	if begin >= 0 {
		runs[len(runs)-1].text, runs[len(runs)-1].end = text[begin:], true
	}
	return runs
}

// foldText returns a text in lower case, in compatible characters and without invisible ones.
func foldText(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return strings.Map(func(r rune) rune {
				if unicode.In(r, unicode.Cf, unicode.Mn) {
					return -1
				}
				return unicode.ToLower(r)
			}, norm.NFKC.String(strings.ToValidUTF8(text, " ")))
		}
	}
	return strings.ToLower(text)
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
	numberMin       = 3 // characters from which a number without a marker is recognized; a shorter one needs a letter and a confirmation
	plainNumberMin  = 6 // digits of a number without letters that is recognized without a marker
	tailDigitsMin   = 3 // digits by which a number with letters is recognized after a marker
	numberLengthMax = 64
)

// numberIndex finds invoices by their numbers.
type numberIndex struct {
	whole  chains // by number, in lower case and without punctuation
	digits chains // by the digits alone, of numbers that begin with letters
	// prefixes are the letters before the digits, of numbers that consist of both
	prefixes map[string]bool
}

// chains maps keys to invoices. Nearly all have one, for which this allocates nothing.
type chains struct {
	first map[string]int32
	next  []int32 // by invoice: another one with the same key, or itself
}

func newChains(size int) chains { return chains{make(map[string]int32, size), make([]int32, size)} }

func (c *chains) add(key []byte, i int32) {
	c.next[i] = i
	if other, ok := c.first[string(key)]; ok {
		c.next[i] = other
	}
	c.first[string(key)] = i
}

// get returns the invoices with a key that are known. It examines some of them only if there are very many.
func (c *chains) get(key []byte, known func(int32) bool) (all []int32) {
	i, ok := c.first[string(key)]
	for examined := 0; ok && examined < sameNumberMax; examined++ {
		if known(i) {
			all = append(all, i)
		}
		ok, i = c.next[i] != i, c.next[i]
	}
	return all
}

// sameNumberMax is how many invoices with one number are examined. A number that so many have identifies none of them.
const sameNumberMax = 20

func newNumberIndex(invoices []Invoice) *numberIndex {
	x := &numberIndex{whole: newChains(len(invoices)), digits: newChains(len(invoices)), prefixes: map[string]bool{}}
	var key, digits []byte
	for i := len(invoices) - 1; i >= 0; i-- { // so that the oldest comes first
		runs := parseRuns(clip(invoices[i].Number, numberLengthMax))
		key, digits = key[:0], digits[:0]
		prefix := ""
		for n, r := range runs {
			key = append(key, r.text...)
			if r.digits {
				digits = append(digits, r.text...)
			} else if n == 0 {
				prefix = r.text
			}
		}
		if len(digits) == 0 {
			continue // A word of a memo would be taken for a number.
		}
		x.whole.add(key, int32(i))
		if prefix != "" {
			x.digits.add(digits, int32(i))
		}
		if prefix != "" && len(key) == len(prefix)+len(digits) {
			x.prefixes[prefix] = true
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
		found := x.whole.get(key, known)
		if len(found) == 0 && plain && marked && len(digits) >= tailDigitsMin {
			found = x.digits.get(digits, known)
		}
		if short := len(key) < numberMin; len(found) > 0 && (marked || !short || !plain) {
			m = mention{string(key), found, !marked && (short || plain && (len(digits) < plainNumberMin || isDate(string(digits))))}
			n = i + 1
			continue
		}
		series := !runs[0].digits && len(key) == len(runs[0].text)+len(digits) && x.prefixes[runs[0].text]
		if series || plain && marked && len(digits) >= tailDigitsMin && !isDate(string(digits)) && !isYear(string(digits)) {
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

// isYear reports whether digits are a year of this century.
func isYear(digits string) bool { return len(digits) == 4 && strings.HasPrefix(digits, "20") }

// isDate reports whether eight digits are a date of this century.
func isDate(digits string) bool {
	return len(digits) == 8 && (strings.HasPrefix(digits, "20") && digits[4:6] <= "12" && digits[6:] <= "31" ||
		digits[4:6] == "20" && digits[:2] <= "31" && digits[2:4] <= "31")
}

// NumberKeys are the forms in which the number of an invoice is looked up. All are empty for a number without digits, which is never looked
// up.
type NumberKeys struct {
	Key    string // its letters and digits
	Tail   string // the digits alone, if it begins with a letter
	Prefix string // the letters before the digits, if it consists of both
}

// KeysOf returns the forms in which a number is looked up.
func KeysOf(number string) (k NumberKeys) {
	prefix, digits := "", ""
	for n, r := range parseRuns(clip(number, numberLengthMax)) {
		k.Key += r.text
		if r.digits {
			digits += r.text
		} else if n == 0 {
			prefix = r.text
		}
	}
	if digits == "" {
		return NumberKeys{}
	}
	if prefix == "" {
		return k
	}
	if k.Tail = digits; k.Key == prefix+digits {
		k.Prefix = prefix
	}
	return k
}

// Lookup is what may be the numbers of invoices in a memo, by their forms. Of a prefix, any invoice shows that such numbers exist.
type Lookup struct{ Keys, Tails, Prefixes []string }

// lookupMax is how many texts of a memo are looked up.
const lookupMax = 200

// Lookups returns everything in a memo that may be the number of an invoice, so that a matcher with these invoices reads the memo as one
// with all invoices does.
func Lookups(memo string) (out Lookup) {
	runs := parseRuns(clip(memo, memoMax))
	for at := range runs {
		key, digits := "", ""
		for i, r := range runs[at:min(len(runs), at+joinedMax)] {
			if i > 0 && r.start && !r.near || len(key)+len(r.text) > numberLengthMax || len(out.Keys) >= lookupMax {
				break
			}
			key += r.text
			if r.digits {
				digits += r.text
			}
			if !r.end || digits == "" {
				continue
			}
			if slices.Contains(out.Keys, key) {
				continue
			}
			out.Keys = append(out.Keys, key)
			if first := runs[at]; len(digits) == len(key) {
				out.Tails = append(out.Tails, digits)
			} else if len(key) == len(first.text)+len(digits) && !first.digits {
				if !slices.Contains(out.Prefixes, first.text) {
					out.Prefixes = append(out.Prefixes, first.text)
				}
			}
		}
	}
	return out
}
