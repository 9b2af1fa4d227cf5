package classify

import (
	"unicode"
	"unicode/utf8"
)

// fold appends a text in the form in which texts are compared: in lower case, with one blank for every run of white space
// and none at the ends. It is equivalent to strings.ToLower and strings.Fields, without allocating.
func fold(to []byte, text string) []byte {
	start := len(to)
	blank := false
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch kind := ascii[c]; {
			case kind == ' ':
				blank = true
				continue
			case blank && len(to) > start:
				to = append(to, ' ', kind)
			default:
				to = append(to, kind)
			}
			blank = false
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if unicode.IsSpace(r) {
			blank = true
			continue
		}
		if blank && len(to) > start {
			to = append(to, ' ')
		}
		blank = false
		to = utf8.AppendRune(to, unicode.ToLower(r))
	}
	return to
}

// folded returns a folded text, for use where allocating does not matter.
func folded(text string) string { return string(fold(nil, text)) }

// ascii maps each ASCII character to its folded form; all white space maps to a blank.
var ascii = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		if r := rune(c); unicode.IsSpace(r) {
			table[c] = ' '
		} else {
			table[c] = byte(unicode.ToLower(r))
		}
	}
	return table
}()
