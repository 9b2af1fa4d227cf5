package match

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// name is a name in the form in which names are compared.
type name struct {
	core string // words without legal form, separated by blanks
	form string // legal form, "gmbh" for example, or nothing
}

func (n name) String() string { return strings.TrimSpace(n.core + " " + n.form) }

// compatible reports whether two names with the same core may be of one company: a form that is missing contradicts nothing.
func (n name) compatible(other name) bool {
	return n.form == other.form || n.form == "" || other.form == ""
}

// parseName returns a name without case, accents, punctuation, invisible characters and legal form.
func parseName(text string) name {
	all := words(clip(text, nameMax))
	if len(all) > 1 && all[0] == "the" {
		all = all[1:]
	}
	end := len(all)
	var forms []string
	for end > 1 {
		form, ok := legalForms[all[end-1]]
		if !ok && (all[end-1] != "and" || len(forms) == 0) {
			break
		}
		if ok && form != "" {
			forms = append(forms, form)
		}
		end--
	}
	slices.Sort(forms)
	return name{core: strings.Join(all[:end], " "), form: strings.Join(slices.Compact(forms), " ")}
}

// legalForms maps the words that end names of companies to their common spelling. Words that say nothing about the form map
// to nothing.
var legalForms = map[string]string{
	"inc": "inc", "incorporated": "inc", "corp": "corp", "corporation": "corp", "co": "", "company": "",
	"llc": "llc", "llp": "llp", "lp": "lp", "ltd": "ltd", "limited": "ltd", "plc": "plc", "pty": "", "pte": "", "pvt": "",
	"gmbh": "gmbh", "mbh": "gmbh", "ag": "ag", "ug": "ug", "kg": "kg", "kgaa": "kgaa", "ohg": "ohg", "ev": "ev", "eg": "eg",
	"sa": "sa", "sas": "sas", "sarl": "sarl", "srl": "srl", "spa": "spa", "sl": "sl", "slu": "sl", "sca": "sca", "lda": "lda",
	"bv": "bv", "nv": "nv", "vof": "vof", "bvba": "bvba", "ab": "ab", "as": "as", "asa": "asa", "aps": "aps", "oy": "oy", "oyj": "oyj",
	"kk": "kk", "sro": "sro", "doo": "doo", "dd": "dd", "ood": "ood", "eood": "eood", "kft": "kft", "zrt": "zrt", "oo": "spzoo",
	"zoo": "spzoo", "sp": "", "z": "", "sdn": "", "bhd": "bhd", "fzco": "fzco", "fze": "fze", "dmcc": "dmcc", "ou": "ou", "sia": "sia",
	"uab": "uab", "jsc": "jsc", "ooo": "ooo", "se": "se",
}

func isLegalForm(word string) bool {
	_, ok := legalForms[word]
	return ok
}

// letters maps letters that Unicode does not decompose to their usual spelling.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ı': "i", 'ħ': "h", 'ŀ': "l",
}

// words returns the words of a text in lower case, without accents and invisible characters. "S.A." is one word, and "&" is
// the word "and".
func words(text string) (all []string) {
	var word []byte
	part := 0 // letters since the last point
	flush := func() {
		if len(word) > 0 {
			all = append(all, string(word))
		}
		word, part = word[:0], 0
	}
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(text, " ")) {
		r = unicode.ToLower(r)
		switch {
		case r >= utf8.RuneSelf && letters[r] != "":
			word = append(word, letters[r]...)
			part++
		case unicode.IsLetter(r), unicode.IsDigit(r):
			word = utf8.AppendRune(word, r)
			part++
		case r == '\'', r == '’', r == '`', r >= utf8.RuneSelf && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r == '.' && part == 1:
			part = 0
		case r == '&', r == '+':
			flush()
			all = append(all, "and")
		default:
			flush()
		}
	}
	flush()
	return all
}

// clip cuts a text after a number of bytes, at the start of a character.
func clip(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// parseAddress returns an address in comparable form: hexadecimal and bech32 addresses and the numbers of bank accounts are
// the same in either case and with blanks, base58 addresses are not.
func parseAddress(text string) string {
	s := strings.ToValidUTF8(strings.TrimSpace(text), "")
	lower := strings.ToLower(s)
	if strings.HasPrefix(lower, "0x") || strings.HasPrefix(lower, "bc1") {
		return lower
	}
	if packed := strings.ReplaceAll(lower, " ", ""); accountNumber(packed) {
		return packed
	}
	return s
}

// accountNumber reports whether a text begins as an IBAN does: two letters, two digits.
func accountNumber(s string) bool {
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' }
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return len(s) >= 15 && len(s) <= 34 && letter(s[0]) && letter(s[1]) && digit(s[2]) && digit(s[3])
}

// emails returns the e-mail addresses in a text, in lower case.
func emails(text string) (all []string) {
	if !strings.Contains(text, "@") {
		return nil
	}
	for _, field := range strings.FieldsFunc(strings.ToLower(strings.ToValidUTF8(text, " ")), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>()[],;:\"", r)
	}) {
		if at := strings.IndexByte(field, '@'); at > 0 && at < len(field)-1 {
			all = append(all, strings.Trim(field, "."))
		}
	}
	return all
}
