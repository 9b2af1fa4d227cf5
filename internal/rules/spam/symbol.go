package spam

import (
	"strings"
	"unicode"
)

// confusable maps letters that look like Latin ones to the capital they resemble. It holds the Unicode confusables that
// have been seen in token symbols. Genuine Greek or Russian words are affected too, but never become a known symbol.
var confusable = func() map[rune]byte {
	looks := map[byte]string{
		'A': "АаΑαÀÁÂÃÄÅĀĂĄǍȦàáâãäåāăąɑᎪᗅꓮ",
		'B': "ВвΒвƁɃЬЪßᏴᗷꓐℬ",
		'C': "СсϹϲÇĆĈĊČƇçćĉċčҪᏟᑕꓚⅭⅽℂℭ",
		'D': "ÐĎĐƊďđԁᎠᗞꓓⅮⅾ",
		'E': "ЕеЁёΕεÈÉÊËĒĔĖĘĚèéêëēĕėęěЄєᎬꓰℰ",
		'F': "ϜƑғᖴꓝℱ",
		'G': "ԌĜĞĠĢǤĝğġģɡᏀꓖ",
		'H': "НнΗĤĦһᎻꓧℋℌℍ",
		'I': "ІіΙιЇїÌÍÎÏĨĪĬĮİìíîïĩīĭįıӀӏꓲⅠⅰℐℑ",
		'J': "ЈјĴĵᎫꓙ",
		'K': "КкΚκĶƘķᏦꓗ",
		'L': "ĹĻĽĿŁĺļľłᏞᒪꓡⅬⅼℒ",
		'M': "МмΜᎷꓟⅯⅿℳ",
		'N': "ΝñńņňÑŃŅŇƝꓠℕ",
		'O': "ОоΟοÒÓÔÕÖØŌŎŐòóôõöøōŏőՕօꓳ",
		'P': "РрΡρƤᏢꓑℙ",
		'Q': "ԚԛႳℚ",
		'R': "ŔŖŘŕŗřЯяᎡᖇꓣℛℜℝ",
		'S': "ЅѕŚŜŞŠȘśŝşšșՏᏚᏕꓢ",
		'T': "ТтΤτŢŤŦȚţťŧțᎢꓔ",
		'U': "ՍսÙÚÛÜŨŪŬŮŰŲƯùúûüũūŭůűųưυᑌꓴ",
		'V': "ѴѵᏙꓦⅤⅴ",
		'W': "ԜԝŴŵѠᎳꓪ",
		'X': "ХхΧχꓫⅩⅹ",
		'Y': "УуΥγÝŶŸýŷÿҮүꓬ",
		'Z': "ΖŹŻŽźżžᏃꓜℤ",
	}
	out := map[rune]byte{}
	for letter, pictures := range looks {
		for _, r := range pictures {
			out[r] = letter
		}
	}
	return out
}()

// runs holds the first letter of each Unicode block that repeats the letters A to Z.
var runs = []rune{'Ａ', 'ａ', 'Ⓐ', 'ⓐ', '🄰', '🅐', '🅰', '🇦'}

const (
	mathFirst, mathLast   = 0x1D400, 0x1D6A3 // alphabets in bold, italic, script and so on, alternating upper and lower case
	digitFirst, digitLast = 0x1D7CE, 0x1D7FF
	wideZero, wideNine    = '０', '９'
)

// latin returns the upper-case ASCII character that a rune resembles, 0 for an invisible rune, and false if it resembles
// none.
func latin(r rune) (byte, bool) {
	switch {
	case r < 0x80:
		return upper(byte(r)), true
	case isInvisible(r):
		return 0, true
	case mathFirst <= r && r <= mathLast:
		return 'A' + byte((r-mathFirst)%26), true
	case digitFirst <= r && r <= digitLast:
		return '0' + byte((r-digitFirst)%10), true
	case wideZero <= r && r <= wideNine:
		return '0' + byte(r-wideZero), true
	}
	if c, ok := confusable[r]; ok {
		return c, true
	}
	for _, first := range runs {
		if first <= r && r < first+26 {
			return 'A' + byte(r-first), true
		}
	}
	return 0, false
}

// isInvisible reports whether a character is invisible by itself: zero-width, directional, combining, or a filler.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Cc, unicode.Variation_Selector) || r == '\u115F' ||
		r == '\u1160' || r == '\u3164' || r == '\uFFA0' || r == '\u2800'
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// skeleton returns a text as a reader perceives it: look-alike letters replaced by upper-case ASCII, invisible characters
// removed. It also reports whether anything was invisible and whether any letter was replaced.
func skeleton(s string) (plain string, concealed, posed bool) {
	if ascii(s) {
		return strings.ToUpper(s), false, false
	}
	out := make([]byte, 0, len(s))
	for _, r := range s {
		c, ok := latin(r)
		switch {
		case !ok:
			out = append(out, string(r)...)
		case c == 0:
			concealed = true
		default:
			posed = posed || r >= 0x80
			out = append(out, c)
		}
	}
	return string(out), concealed, posed
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] < ' ' {
			return false
		}
	}
	return true
}

// digitLookalikes replaces ASCII digits and signs by the letters they resemble.
var digitLookalikes = strings.NewReplacer("0", "O", "1", "I", "5", "S", "$", "S", "|", "I")

// imitates returns the known symbol that an unknown one resembles, such as USDC for $USDC, U5DC or "USDC ".
func (k *Knowledge) imitates(plain string) (string, bool) {
	if k.symbols[plain] {
		return "", false
	}
	bare := strings.Trim(plain, " $-_.*[](){}\"'`~!#:")
	for _, guess := range []string{bare, strings.TrimRight(bare, "0123456789. "), digitLookalikes.Replace(bare)} {
		if guess != plain && len(guess) > 1 && k.symbols[guess] {
			return guess, true
		}
	}
	return "", false
}
