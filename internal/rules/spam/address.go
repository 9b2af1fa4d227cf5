package spam

import "strings"

// address is an address or contract as it is compared. EVM addresses are 20 bytes however their letters are cased; base58 ones (Solana, old
// Bitcoin) mean something else in another case, so they stay text.
type address struct {
	evm  [20]byte
	text string
}

// contract is an address on a chain: a token of one chain is not the token of another that happens to share the address.
type contract struct {
	chain string
	address
}

// place says where a contract is, for a sentence.
func (c contract) place() string {
	if c.missing() {
		return "(no contract on " + c.chain + ")"
	}
	return "(" + c.address.String() + " on " + c.chain + ")"
}

const evmDigits = 40

// parse makes an address comparable without allocating, because every arrival needs it several times.
func parse(s string) address {
	digits, ok := cutHex(s)
	if !ok {
		if len(s) > 3 && strings.EqualFold(s[:3], "bc1") { // bech32 is written in either case
			s = strings.ToLower(s)
		}
		return address{text: s}
	}
	if len(digits) != evmDigits {
		return address{text: "0x" + strings.ToLower(digits)}
	}
	var a address
	for i := range a.evm {
		a.evm[i] = nibbles[digits[2*i]]<<4 | nibbles[digits[2*i+1]]
	}
	return a
}

// cutHex gives the digits of what is written in hexadecimal. No base58 text begins with 0.
func cutHex(s string) (string, bool) {
	if len(s) < 3 || s[0] != '0' || s[1] != 'x' && s[1] != 'X' {
		return "", false
	}
	for i := 2; i < len(s); i++ {
		if nibbles[s[i]] > 15 {
			return "", false
		}
	}
	return s[2:], true
}

// nibbles holds the value of each hexadecimal digit, and 255 for what is none: a table, because every address is read digit by digit.
var nibbles = func() (out [256]byte) {
	for c := range out {
		out[c] = 255
	}
	for i := range byte(16) {
		out[hexDigits[i]], out[upper(hexDigits[i])] = i, i
	}
	return out
}()

const hexDigits = "0123456789abcdef"

// body writes what people look at when they compare two addresses: the characters without the prefix that all of their kind share.
func (a address) body(buf []byte) []byte {
	if a.text == "" {
		for _, b := range a.evm {
			buf = append(buf, hexDigits[b>>4], hexDigits[b&15])
		}
		return buf
	}
	text := a.text
	if strings.HasPrefix(text, "bc1") && len(text) > 4 {
		text = text[4:] // and the version of the witness
	}
	return append(buf, strings.TrimPrefix(text, "0x")...)
}

// String writes EVM addresses in lower case.
func (a address) String() string {
	if a.text != "" {
		return a.text
	}
	var buf [2 + evmDigits]byte
	return string(a.body(append(buf[:0], "0x"...)))
}

// missing tells that there is no address, which says something else than any address does.
func (a address) missing() bool { return a == address{} }

// nobody tells addresses that no one has: tokens appear from them and are burned to them, whoever is behind it. The
// zero address is one of them and reads as a missing one.
func (a address) isUnowned() bool { return a.missing() || a == dead }

var (
	dead        = parse("0x000000000000000000000000000000000000dEaD")
	placeholder = parse("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE") // some sources write it where a coin has no contract
)

// edge is how many characters at each end wallets show of a shortened address, and so how many those who imitate one take care to match.
const edge = 4

type ends [2 * edge]byte

func endsOf(body []byte) (e ends, ok bool) {
	if len(body) <= 2*edge {
		return e, false
	}
	copy(e[:edge], body)
	copy(e[edge:], body[len(body)-edge:])
	return e, true
}

// lookalikes finds addresses by what a shortened one shows, in one step however many there are.
type lookalikes map[ends][]address

func (l lookalikes) add(a address) {
	var buf [64]byte
	if e, ok := endsOf(a.body(buf[:0])); ok {
		l[e] = append(l[e], a)
	}
}

// imitated gives the address that another imitates: of several the one with most characters in common, so that it
// does not depend on the order in which they were learned.
func (l lookalikes) imitated(by address) (found address, first, last int, ok bool) {
	var buf, other [64]byte
	body := by.body(buf[:0])
	e, long := endsOf(body)
	if !long {
		return found, 0, 0, false
	}
	for _, a := range l[e] {
		f, b := common(body, a.body(other[:0]))
		if !ok || f+b > first+last || f+b == first+last && a.String() < found.String() {
			found, first, last, ok = a, f, b, true
		}
	}
	return found, first, last, ok
}

// common counts the characters that two texts share at each end.
func common(a, b []byte) (first, last int) {
	n := min(len(a), len(b))
	for first < n && a[first] == b[first] {
		first++
	}
	for last < n-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	return first, last
}
