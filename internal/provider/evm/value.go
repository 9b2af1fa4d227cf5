package evm

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

const (
	// blockMax bounds the numbers of blocks, so that they can be counted with.
	blockMax = 1 << 53
	// wordDigits is how many digits a word of the virtual machine has.
	wordDigits = 64
)

var (
	errNumber = errors.New("a number is not in the form of the chain")
	errAmount = errors.New("it states an amount that is too large or has too many digits")
	errForm   = errors.New("it is not in the form of the chain")
)

// number is an amount, such as 0x1b4. It is nil if it is not stated.
type number struct{ *big.Int }

// UnmarshalJSON reads a number of at most 256 bits, or null.
func (n *number) UnmarshalJSON(data []byte) error {
	n.Int = nil
	if string(data) == "null" {
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) != nil {
		return errNumber
	}
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || digits == "" || len(digits) > wordDigits || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return errNumber
	}
	n.Int, _ = new(big.Int).SetString(digits, 16)
	return nil
}

// orZero returns a number, and zero if it is not stated.
func (n number) orZero() *big.Int {
	if n.Int == nil {
		return new(big.Int)
	}
	return n.Int
}

// height is the number of a block or a place in one. It is negative if it is not stated.
type height int64

// UnmarshalJSON reads a number.
func (h *height) UnmarshalJSON(data []byte) error {
	var n number
	if err := n.UnmarshalJSON(data); err != nil {
		return err
	}
	switch {
	case n.Int == nil:
		*h = -1
	case n.BitLen() > 53:
		return errNumber
	default:
		*h = height(n.Int64())
	}
	return nil
}

// quantity writes the number of a block as nodes expect it.
func quantity(n int64) string { return "0x" + strconv.FormatInt(n, 16) }

// decimal returns an amount in the smallest unit as a decimal.
func decimal(n *big.Int, places int) (money.Decimal, error) {
	digits := n.String()
	if missing := places + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	text := digits[:len(digits)-places]
	if rest := strings.TrimRight(digits[len(digits)-places:], "0"); rest != "" {
		text += "." + rest
	}
	out, err := money.Parse(text)
	if err != nil {
		return out, errAmount
	}
	return out, nil
}

// isHash reports whether a text is the hash of a block or of a transaction, or a topic.
func isHash(text string) bool { return isHex(text, 32) }

// isAddress reports whether a text is an address in lower case.
func isAddress(text string) bool { return isHex(text, addressSize) }

// zero is the address from which tokens come when they are made.
const zero = "0x0000000000000000000000000000000000000000"

// padded returns an address as a topic.
func padded(address string) string {
	return "0x" + strings.Repeat("0", wordDigits-2*addressSize) + address[2:]
}

// unpadded returns the address that a topic states.
func unpadded(topic string) string { return "0x" + topic[len(topic)-2*addressSize:] }

// words returns the words of data, and nil if it does not consist of whole ones.
func words(data string) []string {
	digits, ok := strings.CutPrefix(data, "0x")
	if !ok || len(digits)%wordDigits != 0 || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil
	}
	out := make([]string, 0, len(digits)/wordDigits)
	for part := range slices.Chunk([]byte(digits), wordDigits) {
		out = append(out, string(part))
	}
	return out
}

// amountOf returns the number that a word states.
func amountOf(word string) *big.Int {
	n, _ := new(big.Int).SetString(strings.TrimPrefix(word, "0x"), 16)
	return n
}

// numberOf is a call whose result is a number.
func numberOf(method string, params []any, into *int64) *call {
	return &call{method: method, params: params, read: func(raw json.RawMessage) error {
		var h height
		if err := json.Unmarshal(raw, &h); err != nil || h < 0 {
			return errNumber
		}
		*into = int64(h)
		return nil
	}}
}

// amountIn is a call whose result is an amount.
func amountIn(method string, params []any, into **big.Int) *call {
	return &call{method: method, params: params, read: func(raw json.RawMessage) error {
		var n number
		if err := json.Unmarshal(raw, &n); err != nil || n.Int == nil {
			return errNumber
		}
		*into = n.Int
		return nil
	}}
}

// textOf is a call whose result is a text in hexadecimal digits.
func textOf(method string, params []any, into *string) *call {
	return &call{method: method, params: params, read: func(raw json.RawMessage) error {
		var text string
		if json.Unmarshal(raw, &text) != nil || !strings.HasPrefix(text, "0x") || strings.Trim(text[2:], "0123456789abcdefABCDEF") != "" {
			return errForm
		}
		*into = strings.ToLower(text)
		return nil
	}}
}

// block is a block.
type block struct {
	Number      height            `json:"number"`
	Hash        string            `json:"hash"`
	Time        height            `json:"timestamp"`
	Bodies      []json.RawMessage `json:"transactions"`
	Withdrawals []struct {
		Index   height `json:"index"`
		Address string `json:"address"`
		Amount  number `json:"amount"` // in Gwei
	} `json:"withdrawals"`
}

// earliest is before the first block of any of these chains.
const earliest = 1_400_000_000

// latest is after the last block for a long time.
const latest = 1 << 33

// blockOf is a call whose result is a block, or none if the node does not have it. The block is the one with a number, unless that is
// negative.
func blockOf(at any, full bool, want int64, into **block) *call {
	return &call{method: "eth_getBlockByNumber", params: []any{at, full}, read: func(raw json.RawMessage) error {
		*into = nil
		if string(raw) == "null" {
			return nil
		}
		b := block{Number: -1}
		if err := json.Unmarshal(raw, &b); err != nil {
			return err
		}
		genesis := b.Number == 0 && b.Time >= 0
		if b.Number < 0 || want >= 0 && int64(b.Number) != want || !isHash(b.Hash) || !genesis && b.Time < earliest || b.Time > latest ||
			b.Bodies == nil {
			return errForm
		}
		*into = &b
		return nil
	}}
}
