package notation

import (
	"strings"
	"unicode"
)

var beancountRoots = map[string]string{
	Asset: "Assets", Liability: "Liabilities", Equity: "Equity", Revenue: "Income", Expense: "Expenses",
}

// fitAccount converts a path into an account name that beancount accepts: one of its five roots, then components of
// letters, digits and dashes that begin with a capital.
func fitAccount(path []string, kind string) string {
	root := beancountRoots[kind]
	if len(path) > 1 && TypeOfRoot(path[0]) == kind {
		path = path[1:]
	}
	var b strings.Builder
	b.WriteString(root)
	for _, name := range path {
		b.WriteByte(':')
		b.WriteString(fitPart(name))
	}
	return b.String()
}

func fitPart(name string) string {
	var b strings.Builder
	dash := false
	for _, r := range name {
		if !keepable(r) {
			dash = true
			continue
		}
		switch {
		case b.Len() == 0:
			if upper := unicode.ToUpper(r); keepable(upper) && unicode.IsUpper(upper) || unicode.IsDigit(upper) {
				r = upper
			} else {
				b.WriteByte('X')
			}
		case dash:
			b.WriteByte('-')
		}
		dash = false
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "X"
	}
	return b.String()
}

// keepable reports whether beancount accepts a letter or digit. Its Unicode tables date from 2009, so this is limited
// to alphabets that have not grown since.
func keepable(r rune) bool {
	switch {
	case r < 0x80:
		return isLetter(byte(r)) || isDigit(byte(r))
	case r < 0x250, r >= 0x388 && r <= 0x3ce, r >= 0x400 && r <= 0x513:
		return unicode.IsLetter(r)
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, r >= 0x4e00 && r <= 0x9fbb, r >= 0xac00 && r <= 0xd7a3:
		return true
	}
	return false
}

// currencyMax leaves room for a number after the name; beancount allows 24 characters.
const (
	currencyMax = 24
	currencyCut = 16
)

// fitCurrency converts a name into a currency that beancount accepts: two or more capitals, digits and some
// punctuation, beginning with a capital and ending without punctuation.
func fitCurrency(name string) string {
	if isCurrency(name) {
		return name
	}
	out := []byte("")
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		if !currencyMiddle(c) {
			c = '-'
		}
		if len(out) < currencyCut && (c != '-' || len(out) > 0 && out[len(out)-1] != '-') {
			out = append(out, c)
		}
	}
	fitted := strings.TrimRight(string(out), "'._-")
	if fitted == "" || fitted[0] < 'A' || fitted[0] > 'Z' || !isCurrency(fitted) {
		fitted = "X" + strings.TrimLeft(fitted, "'._-")
	}
	if len(fitted) < 2 {
		fitted += "X"
	}
	return fitted
}

func isCurrency(s string) bool {
	if len(s) < 2 || len(s) > currencyMax || s[0] < 'A' || s[0] > 'Z' || strings.IndexByte("'._-", s[len(s)-1]) >= 0 {
		return false
	}
	for i := range len(s) {
		if !currencyMiddle(s[i]) {
			return false
		}
	}
	return s != "TRUE" && s != "FALSE" && s != "NULL" // Reserved words of beancount.
}

func currencyMiddle(c byte) bool {
	return c >= 'A' && c <= 'Z' || isDigit(c) || strings.IndexByte("'._-", c) >= 0
}
