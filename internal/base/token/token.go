// Package token makes the secret texts by which keys, tokens, sessions and links are known: a prefix that says what they are, and 43
// letters and digits with 256 bits of randomness. Only their hashes are stored.
package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/big"
	"strings"

	"github.com/bursarhq/bursar/internal/base/secret"
)

// Digits is how many digits of base 62 follow the prefix. They hold 256 bits.
const Digits = 43

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// New returns a new text with a prefix. Random bytes beyond the last whole multiple of 62 are drawn again, so that all digits are equally
// likely.
func New(random io.Reader, prefix string) (secret.Text, error) {
	limit := new(big.Int).Exp(big.NewInt(62), big.NewInt(Digits), nil)
	space := new(big.Int).Lsh(big.NewInt(1), 264)
	usable := new(big.Int).Sub(space, new(big.Int).Mod(space, limit))
	raw := make([]byte, 33)
	n := new(big.Int)
	for {
		if _, err := io.ReadFull(random, raw); err != nil {
			return secret.Text{}, err
		}
		if n.SetBytes(raw); n.Cmp(usable) < 0 {
			break
		}
	}
	return secret.New(prefix + encode(n.Mod(n, limit))), nil
}

// Derive returns the text that follows from another one and a salt. Neither of them reveals it alone.
func Derive(from secret.Text, salt, prefix string) secret.Text {
	mac := hmac.New(sha256.New, []byte(from.Reveal()))
	_, _ = io.WriteString(mac, salt)
	return secret.New(prefix + encode(new(big.Int).SetBytes(mac.Sum(nil))))
}

// encode writes a number with a fixed number of digits.
func encode(n *big.Int) string {
	text := make([]byte, Digits)
	digit, sixtyTwo := new(big.Int), big.NewInt(62)
	for i := range text {
		n.DivMod(n, sixtyTwo, digit)
		text[i] = base62[digit.Int64()]
	}
	return string(text)
}

// Hash returns the hash that a text is found by. The text has 256 bits of randomness, so that a plain hash is safe against guessing.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Looks reports whether a text can be one with a prefix, which saves a database query for those that cannot.
func Looks(text, prefix string) bool {
	rest, ok := strings.CutPrefix(text, prefix)
	return ok && len(rest) == Digits && strings.Trim(rest, base62) == ""
}
