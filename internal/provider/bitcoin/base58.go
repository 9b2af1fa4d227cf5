package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"strings"
)

const (
	base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	// base58Max bounds what is decoded: an extended key has 111 characters.
	base58Max    = 120
	checksumSize = 4
)

// encodeBase58 returns bytes with their checksum in Base58Check.
func encodeBase58(payload []byte) string {
	all := append(bytes.Clone(payload), checksum(payload)...)
	n, zero, base, rest := new(big.Int).SetBytes(all), new(big.Int), big.NewInt(int64(len(base58Digits))), new(big.Int)
	var digits []byte
	for n.Cmp(zero) > 0 {
		n.DivMod(n, base, rest)
		digits = append(digits, base58Digits[rest.Int64()])
	}
	for _, b := range all {
		if b != 0 {
			break
		}
		digits = append(digits, base58Digits[0])
	}
	for i, j := 0, len(digits)-1; i < j; i, j = i+1, j-1 {
		digits[i], digits[j] = digits[j], digits[i]
	}
	return string(digits)
}

// decodeBase58 returns the bytes that a text in Base58Check stands for, and whether its checksum is right.
func decodeBase58(text string) ([]byte, bool) {
	if len(text) > base58Max {
		return nil, false
	}
	n, base := new(big.Int), big.NewInt(int64(len(base58Digits)))
	for i := range len(text) {
		digit := strings.IndexByte(base58Digits, text[i])
		if digit < 0 {
			return nil, false
		}
		n.Add(n.Mul(n, base), big.NewInt(int64(digit)))
	}
	zeros := len(text) - len(strings.TrimLeft(text, base58Digits[:1]))
	all := append(make([]byte, zeros), n.Bytes()...)
	if len(all) < checksumSize {
		return nil, false
	}
	payload, sum := all[:len(all)-checksumSize], all[len(all)-checksumSize:]
	return payload, bytes.Equal(checksum(payload), sum)
}

// checksum returns the checksum of Base58Check.
func checksum(payload []byte) []byte {
	once := sha256.Sum256(payload)
	twice := sha256.Sum256(once[:])
	return twice[:checksumSize]
}
