package spam

import "strings"

// address is an address or contract in comparable form. EVM addresses are case-insensitive and stored as 20 bytes; base58
// addresses (Solana, old Bitcoin) are case-sensitive and stored as text.
type address struct {
	evm  [20]byte
	text string
}

// contract is an address on a chain: a token of one chain is not the token of another that happens to share the address.
type contract struct {
	chain string
	address
}

// place describes the contract for use in a sentence.
func (c contract) place() string {
	if c.missing() {
		return "(no contract on " + c.chain + ")"
	}
	return "(" + c.address.String() + " on " + c.chain + ")"
}

const evmDigits = 40

// parse returns an address in comparable form. EVM addresses do not allocate, because it is called several times per
// arrival.
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

// cutHex returns the digits of a hexadecimal text with the prefix 0x. No base58 text begins with 0.
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

// nibbles maps each hexadecimal digit to its value and every other byte to 255.
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

// body appends the characters that people compare: the address without the prefix common to its kind.
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

// String returns the address; EVM addresses are in lower case.
func (a address) String() string {
	if a.text != "" {
		return a.text
	}
	var buf [2 + evmDigits]byte
	return string(a.body(append(buf[:0], "0x"...)))
}

// missing reports whether there is no address.
func (a address) missing() bool { return a == address{} }

// isUnowned reports whether nobody owns the address: tokens are minted from and burned to such addresses. The zero address
// is one and equals a missing address.
func (a address) isUnowned() bool { return a.missing() || a == dead }

var (
	dead        = parse("0x000000000000000000000000000000000000dEaD")
	placeholder = parse("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE") // some sources report it as the contract of a native coin
)

// edge is how many characters wallets show at each end of a shortened address, and therefore how many imitations match.
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

// lookalikes indexes addresses by the characters that their shortened form shows.
type lookalikes map[ends][]address

func (l lookalikes) add(a address) {
	var buf [64]byte
	if e, ok := endsOf(a.body(buf[:0])); ok {
		l[e] = append(l[e], a)
	}
}

// imitated returns the address that another one imitates and how many characters they share at each end. Of several it
// returns the one with most characters in common, so that the order of learning does not matter.
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

// common returns how many characters two texts share at each end.
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
