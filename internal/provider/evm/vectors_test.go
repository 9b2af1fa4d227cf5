package evm

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/sha3"
)

// keccak returns the hash of a text.
func keccak(text string) string {
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte(text))
	return "0x" + hex.EncodeToString(h.Sum(nil))
}

// Events and methods are called by the hashes of their signatures, as the standards ERC-20, ERC-721 and ERC-1155 state them.
func TestEventsAndMethodsAreHashesOfTheirSignatures(t *testing.T) {
	t.Parallel()
	for signature, want := range map[string]string{
		"Transfer(address,address,uint256)":                                eventTransfer,
		"TransferSingle(address,address,address,uint256,uint256)":          eventSingle,
		"TransferBatch(address,address,address,uint256[],uint256[])":       eventBatch,
		"Deposit(address,uint256)":                                         eventWrap,
		"Withdrawal(address,uint256)":                                      eventUnwrap,
		"symbol()":                                                         methodSymbol,
		"decimals()":                                                       methodDecimals,
		"balanceOf(address)":                                               methodBalance,
		"transfer(address,uint256)":                                        nameOf("transfer"),
		"transferFrom(address,address,uint256)":                            nameOf("transferFrom"),
		"approve(address,uint256)":                                         nameOf("approve"),
		"safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)": nameOf("safeBatchTransferFrom"),
		"deposit()":         nameOf("deposit"),
		"withdraw(uint256)": nameOf("withdraw"),
	} {
		if got := keccak(signature); !strings.HasPrefix(got, want) || want == "" {
			t.Errorf("%s is %s, want %s", signature, got, want)
		}
	}
	for signature := range map[string]bool{"safeTransferFrom(address,address,uint256)": true,
		"safeTransferFrom(address,address,uint256,uint256,bytes)": true} {
		if got := methods[keccak(signature)[:selectorSize]]; got != "safeTransferFrom" {
			t.Errorf("%s is %q", signature, got)
		}
	}
}

// nameOf returns the selector of a method.
func nameOf(method string) string {
	for selector, name := range methods {
		if name == method {
			return selector
		}
	}
	return ""
}

// The examples of EIP-55.
func TestAddressesHaveChecksums(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0x52908400098527886E0F7030069857D2E4169EE7", "0xde709f2102306220921060314715629080e2fb77",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
		"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"} {
		lower, err := parseAddress(text)
		if err != nil || lower != strings.ToLower(text) {
			t.Errorf("%s: %s %v", text, lower, err)
		}
		if text != lower && checksummed(lower) != text {
			t.Errorf("%s is written %s", text, checksummed(lower))
		}
	}
}

// The examples of the specification of JSON-RPC of Ethereum.
func TestNumbersAreInTheFormOfTheSpecification(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{`"0x41"`: 65, `"0x400"`: 1024, `"0x0"`: 0} {
		var n number
		if err := json.Unmarshal([]byte(text), &n); err != nil || n.Cmp(big.NewInt(want)) != 0 {
			t.Errorf("%s: %v %v", text, n, err)
		}
	}
	for _, text := range []string{`"0x"`, `"ff"`, `65`, `"0x-1"`, `"0xg"`, `"0x` + strings.Repeat("1", 65) + `"`} {
		var n number
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("%s is taken for %v", text, n)
		}
	}
	for _, one := range []struct {
		amount int64
		places int
		want   string
	}{{0, 18, "0"}, {1, 18, "0.000000000000000001"}, {1_500_000, 6, "1.5"}, {12, 0, "12"}, {100, 2, "1"}} {
		if got, err := decimal(big.NewInt(one.amount), one.places); err != nil || got.String() != one.want {
			t.Errorf("%d with %d digits is %s %v, want %s", one.amount, one.places, got, err, one.want)
		}
	}
	if _, err := decimal(amountOf(strings.Repeat("f", 64)), 6); err == nil {
		t.Error("an amount is too large to be written")
	}
}

// The form of texts in results, by the specification of contracts' interfaces of Solidity; older contracts return 32 bytes.
func TestSymbolsAreReadInBothForms(t *testing.T) {
	t.Parallel()
	word := func(text string) string { return (hex.EncodeToString([]byte(text)) + strings.Repeat("0", 64))[:64] }
	number := func(n int64) string { return amountWord(n) }
	for result, want := range map[string]string{
		"0x" + number(32) + number(4) + word("USDC"):                               "USDC",
		"0x" + number(32) + number(33) + word(strings.Repeat("a", 32)) + word("b"): strings.Repeat("a", 32) + "b",
		"0x" + word("MKR"):                                      "MKR",
		"0x" + number(32) + number(0):                           "",
		"0x" + number(32) + number(99) + word("USDC"):           "",
		"0x" + number(64) + number(4) + word("USDC"):            "",
		"0x" + number(32) + number(4) + word("a\u202eb"):        "",
		"0x" + number(32) + number(2) + word("\xff\xfe"):        "",
		"0x" + number(32) + strings.Repeat("f", 64) + word("x"): "",
		"0x":   "",
		"0x12": "",
	} {
		if got := symbolOf(result); got != want {
			t.Errorf("%s is %q, want %q", result, got, want)
		}
	}
}

func amountWord(n int64) string {
	digits := big.NewInt(n).Text(16)
	return strings.Repeat("0", 64-len(digits)) + digits
}

// The distances between marks grow, so that a cursor stays short.
func TestOldMarksAreThinnedOut(t *testing.T) {
	t.Parallel()
	var all []mark
	for n := range int64(10_000) {
		all = thin(append(all, mark{Number: n}))
	}
	if len(all) > 20 || all[len(all)-1].Number != 9999 || all[len(all)-2].Number != 9998 || all[0].Number > 9000 ||
		!slices.IsSortedFunc(all, func(a, b mark) int { return int(a.Number - b.Number) }) {
		t.Errorf("%v", all)
	}
}

// What nodes and their providers say about ranges that are too long, and about methods that they do not have.
func TestWordsOfRefusals(t *testing.T) {
	t.Parallel()
	for text, large := range map[string]bool{
		"query returned more than 10000 results":                                                    true,
		"Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range": true,
		"eth_getLogs is limited to a 1000 blocks range":                                             true,
		"exceed maximum block range: 50000":                                                         true,
		"query timeout exceeded":                                                                    true,
		"block range is too wide":                                                                   true,
		"header not found":                                                                          false,
	} {
		if r := (&refusal{Code: -32000, Message: text}); r.tooLarge() != large || large && (r.busy() || r.behind()) {
			t.Errorf("%s: %t %t %t", text, r.tooLarge(), r.busy(), r.behind())
		}
	}
	for _, text := range []string{"the method trace_filter does not exist/is not available", "Method not found",
		"method is not available on freetier", "trace_filter is not supported", "Unsupported method: debug_traceBlockByNumber"} {
		if r := (&refusal{Code: -32000, Message: text}); !r.unsupported() {
			t.Error(text)
		}
	}
}
