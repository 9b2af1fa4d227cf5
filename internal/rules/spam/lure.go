package spam

import (
	"strings"
	"unicode/utf8"
)

// topLevelDomains are common for phishing pages. They exclude endings of abbreviations such as Inc. and of symbols such as
// USDC.e.
var topLevelDomains = set("ai app art bet biz blog buzz cash cc cfd claims click club cloud co com dev digital dog eth events " +
	"exchange fi finance fit fun fund " +
	"games gg gift gifts global icu info ink io land life link live lol ltd me money network net news one online org page party pm " +
	"pro promo pub " +
	"quest run sbs shop site space store su systems team tech to today token top trade tv uk us vip website win work world wtf xyz zone ru cn")

// strong are words that urge the reader to act; weak are words of such messages that also occur in names of genuine tokens.
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

// link finds a URL or a domain name in a lower-case text.
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

// isNumber reports whether the word before a point is a number, as in 2.to.
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

// wordAround returns the run of visible characters around an index, shortened for use in a sentence.
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

// shorten limits the length of untrusted text in a sentence.
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

// lureWord finds a word of a list that is a prefix of a word in a lower-case text, such as claim in claimable.
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

// readable returns the skeleton of a text in lower case, in which lures are searched.
func readable(s string) string {
	plain, _, _ := skeleton(s)
	return strings.ToLower(plain)
}
