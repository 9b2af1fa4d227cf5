package spam

import (
	"strings"
	"unicode/utf8"
)

// tops are top-level domains under which claim pages live. An abbreviation such as Inc. or a symbol such as USDC.e ends in none of them.
var topLevelDomains = set("ai app art bet biz blog buzz cash cc cfd claims click club cloud co com dev digital dog eth events exchange fi " +
	"finance fit fun fund " +
	"games gg gift gifts global icu info ink io land life link live lol ltd me money network net news one online org page party pm " +
	"pro promo pub " +
	"quest run sbs shop site space store su systems team tech to today token top trade tv uk us vip website win work world wtf xyz zone ru cn")

// strong are words that ask the reader to do something; weak are words of such messages that honest tokens have in their names too.
var (
	strong = []string{"claim", "visit", "airdrop", "voucher", "redeem", "giveaway", "eligible", "winner", "congratulations",
		"free mint", "activate your", "scan qr", "swap your"}
	weak = []string{"reward", "bonus", "gift", "coupon", "ticket", "promo", "lottery", "access", "exclusive"}
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// link finds an address of the web in a lower-case text: with its scheme, of a messenger, or a name under a top-level domain.
func link(text string) (string, bool) {
	if i := strings.Index(text, "://"); i >= 0 {
		return wordAround(text, i), true
	}
	for i := range len(text) {
		if text[i] != '.' || i == 0 || !isWordByte(text[i-1]) {
			continue
		}
		rest := text[i+1:]
		end := 0
		for end < len(rest) && isWordByte(rest[end]) {
			end++
		}
		if topLevelDomains[rest[:end]] && !isNumber(text[:i]) {
			return wordAround(text, i), true
		}
	}
	return "", false
}

// amount tells that what stands before a point is a number, as in 2.to.
func isNumber(before string) bool {
	i := len(before)
	for i > 0 && isWordByte(before[i-1]) {
		i--
		if before[i] < '0' || before[i] > '9' {
			return false
		}
	}
	return true
}

// token is the run of visible characters around a place, shortened as it goes into a sentence.
func wordAround(text string, at int) string {
	start, end := at, at
	for start > 0 && text[start-1] > ' ' {
		start--
	}
	for end < len(text) && text[end] > ' ' {
		end++
	}
	return shorten(text[start:end])
}

const quotedMax = 40

// shorten cuts what is quoted in a sentence, because a spammer chooses how long it is.
func shorten(s string) string {
	if len(s) <= quotedMax {
		return s
	}
	cut := quotedMax
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// lureWord finds a word of a list where it begins a word of a lower-case text, whatever it ends in: claim, claims, claimable.
func lureWord(text string, words []string) (string, bool) {
	for _, w := range words {
		for from := 0; ; {
			i := strings.Index(text[from:], w)
			if i < 0 {
				break
			}
			if from += i; from == 0 || !isWordByte(text[from-1]) {
				return w, true
			}
			from += len(w)
		}
	}
	return "", false
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c >= 0x80
}

// readable is a text as lures are looked for in it: as it looks, in lower case.
func readable(s string) string {
	plain, _, _ := skeleton(s)
	return strings.ToLower(plain)
}
