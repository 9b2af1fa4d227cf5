package spam

import (
	"encoding/hex"
	"math/bits"
	"strings"
	"testing"
)

func TestEveryBuiltInContractHasItsChecksum(t *testing.T) {
	t.Parallel()
	seen := map[contract]string{}
	for _, tok := range builtin {
		if other := seen[contract{tok.Chain, parse(tok.Contract)}]; other != "" {
			t.Errorf("%s: %s and %s share a contract", tok.Chain, other, tok.Symbol)
		}
		seen[contract{tok.Chain, parse(tok.Contract)}] = tok.Symbol
		if tok.Chain == "solana" {
			continue
		}
		if got := checksummed(tok.Contract); got != tok.Contract {
			t.Errorf("%s on %s: %s, by its checksum %s", tok.Symbol, tok.Chain, tok.Contract, got)
		}
	}
	// The examples of EIP-55.
	for _, a := range []string{"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
		"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB"} {
		if got := checksummed(a); got != a {
			t.Errorf("%s gives %s", a, got)
		}
	}
}

// checksummed writes an address with capitals where the digit of its hash is 8 or more (EIP-55).
func checksummed(a string) string {
	digits := []byte(strings.ToLower(a[2:]))
	hash := keccak(digits)
	for i, c := range digits {
		if c >= 'a' && hash[i/2]>>(4*(1-i%2))&15 >= 8 {
			digits[i] = c - 'a' + 'A'
		}
	}
	return "0x" + string(digits)
}

// keccak hashes one block as Ethereum does, which is SHA-3 before its padding was changed; the standard library has only the later one.
func keccak(text []byte) (hash [32]byte) {
	const rate = 136
	var block [rate]byte
	copy(block[:], text)
	block[len(text)] ^= 0x01
	block[rate-1] ^= 0x80
	var s [25]uint64
	for i := range block {
		s[i/8] ^= uint64(block[i]) << (8 * (i % 8))
	}
	permute(&s)
	for i := range hash {
		hash[i] = byte(s[i/8] >> (8 * (i % 8)))
	}
	return hash
}

func permute(s *[25]uint64) {
	lfsr := byte(1)
	for range 24 {
		var c [5]uint64
		for x := range 5 {
			c[x] = s[x] ^ s[x+5] ^ s[x+10] ^ s[x+15] ^ s[x+20]
		}
		for i := range s {
			s[i] ^= c[(i+4)%5] ^ bits.RotateLeft64(c[(i+1)%5], 1)
		}
		x, y, lane := 1, 0, s[1]
		for t := range 24 {
			x, y = y, (2*x+3*y)%5
			s[x+5*y], lane = bits.RotateLeft64(lane, (t+1)*(t+2)/2), s[x+5*y]
		}
		for row := 0; row < 25; row += 5 {
			copy(c[:], s[row:row+5])
			for x := range 5 {
				s[row+x] = c[x] ^ ^c[(x+1)%5]&c[(x+2)%5]
			}
		}
		for j := range 7 {
			if lfsr&1 == 1 {
				s[0] ^= 1 << (1<<j - 1)
			}
			over := lfsr&0x80 != 0
			if lfsr <<= 1; over {
				lfsr ^= 0x71
			}
		}
	}
}

func TestTheHashOfNothingIsWhatEthereumSaysItIs(t *testing.T) {
	t.Parallel()
	hash := keccak(nil)
	if got := hex.EncodeToString(hash[:]); got != "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470" {
		t.Error(got)
	}
}

func TestTheMostSimilarOfSeveralAddressesIsNamed(t *testing.T) {
	t.Parallel()
	near, far := parse("0xabcd120000000000000000000000000000009876"), parse("0xabcd340000000000000000000000000000009876")
	for _, order := range [][]address{{near, far}, {far, near}} {
		l := lookalikes{}
		for _, a := range order {
			l.add(a)
		}
		got, first, last, ok := l.imitated(parse("0xABCD12ffffffffffffffffffffffffffffff9876"))
		if !ok || got != near || first != 6 || last != 4 {
			t.Errorf("%s %d %d %t", got, first, last, ok)
		}
		if _, _, _, ok := l.imitated(parse("0xABCE12ffffffffffffffffffffffffffffff9876")); ok {
			t.Error("three characters are taken for a look-alike")
		}
	}
}

func TestSymbolsAreReadAsTheyLook(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"usdc": "USDC", "UЅDС": "USDC", "ＵＳＤＣ": "USDC", "𝕌𝕊𝔻ℂ": "USDC", "𝟙INCH": "1INCH", "Ⓔⓣⓗ": "ETH", "🅴🅣🅷": "ETH", "ЖЭ": "ЖЭ",
		"E\u0301TH": "ETH", "ΕΤΗ": "ETH", "": "",
	} {
		if got, _, _ := skeleton(in); got != want {
			t.Errorf("%s reads %s, want %s", in, got, want)
		}
	}
}
