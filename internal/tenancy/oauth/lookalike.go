package oauth

import (
	"slices"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// serviceName is the name of this service in the letters that fold returns.
var serviceName = []rune("bursar")

// lookAlikes are characters that look like the letters of the name of the service, or like their capitals, and that neither upper case nor
// the decomposition of Unicode accounts for.
var lookAlikes = foldings(map[rune]string{
	'b': "вьъβƅƃƀɓʙᴃꞗßⲃᏼᏴᏰꮟᏏᗷᑲᖯꓐ𐊂𐊡𐌁ᛒ8฿₿🅑",
	'u': "υսʋʊʉᴜꞟꭎꭒцሀᑌꓴ𐓎𐓶∪⋃🅤",
	'r': "гʀɍɼɽɾᴦⲅꭇꭈᎡᏒꮁꮢᖇꓣяꞃ🅡",
	's': "ѕꜱƽʂȿտᏕᏚꮥꮪꓢ𐊖𐐠𐑈5$§🅢",
	'a': "аαɑᴀⱥᶏ⍺ⲁλδᎪꭺᗅꓮ𐊠ᐱ4@∆🅐",
})

// foldings returns the letter that each look-alike stands for.
func foldings(of map[rune]string) map[rune]rune {
	out := map[rune]rune{}
	for letter, alike := range of {
		for _, c := range alike {
			out[unicode.ToLower(c)] = letter
		}
	}
	return out
}

// letterSigns are the first of 26 characters in a row that show the letters from A to Z in white on a square, in white on a disk and as
// halves of flags.
var letterSigns = []rune{'\U0001f170', '\U0001f150', '\U0001f1e6'}

// fold returns the letter that a reader takes a character for at a glance, whatever its case is.
func fold(c rune) rune {
	for _, first := range letterSigns {
		if c >= first && c < first+26 {
			return 'a' + c - first
		}
	}
	c = unicode.ToLower(c)
	if letter, ok := lookAlikes[c]; ok {
		return letter
	}
	return c
}

// readsAsService reports whether somebody who glances at a name reads that of this service in it, as a word of its own or as several words
// in a row: whatever its case, its width, its accents and the signs between its letters are. A longer word may contain it.
func readsAsService(name string) bool {
	var letters []rune
	var begins []bool // whether a word may begin at the letter
	before := ' '
	for _, c := range norm.NFKD.String(name) {
		if unicode.IsMark(c) {
			continue
		}
		if letter := fold(c); unicode.IsLetter(letter) {
			letters, begins = append(letters, letter), append(begins, beginsWord(before, c))
		}
		before = c
	}
	for i := range len(letters) - len(serviceName) + 1 {
		end := i + len(serviceName)
		if begins[i] && slices.Equal(letters[i:end], serviceName) && (end == len(letters) || begins[end]) {
			return true
		}
	}
	return false
}

// beginsWord reports whether a word may begin between two characters: where there is a digit or a sign, a small letter before a capital,
// or a change between Latin letters and others, because not all scripts have spaces.
func beginsWord(before, c rune) bool {
	return !unicode.IsLetter(before) || !unicode.IsLetter(c) || unicode.IsLower(before) && unicode.IsUpper(c) || isLatin(before) != isLatin(c)
}

// isLatin reports whether a letter is Latin, or looks like it.
func isLatin(c rune) bool { return unicode.Is(unicode.Latin, c) || fold(c) <= unicode.MaxASCII }
