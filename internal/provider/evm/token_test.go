package evm_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/provider/evm"
	"github.com/bursarhq/bursar/internal/provider/evm/evmtest"
)

// The events of tokens, from their standards.
const (
	transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
	single   = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62"
	several  = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb"
	wrap     = "0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c"
	unwrap   = "0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65"
)

// data returns numbers as the data of an event.
func data(all ...int64) string {
	out := "0x"
	for _, n := range all {
		out += evmtest.Word(big.NewInt(n))
	}
	return out
}

// announce executes a transaction of somebody else with an event.
func (h *history) announce(contract, data string, topics ...string) string {
	return h.tx(evmtest.Tx{From: stranger, To: contract, Logs: []evmtest.Log{{Contract: contract, Topics: topics, Data: data}}})
}

func TestTokensAreCalledByTheirContracts(t *testing.T) {
	t.Parallel()
	eachNode(t, func(h *history) {
		fake, coin := evmtest.Address("a fake"), evmtest.Address("a coin")
		h.Token(fake, "USDC", 6)
		h.Token(coin, "visit claim.example", 18)
		h.Tokens[coin].Symbol = "0x" + (hexOf("OLD") + strings.Repeat("0", 64))[:64]
		genuine := h.tx(evmtest.Tx{From: stranger, To: evmtest.USDC, Logs: []evmtest.Log{h.Transfer(evmtest.USDC, stranger, wallet, 25_000_001)}})
		imitated := h.tx(evmtest.Tx{From: stranger, To: fake, Logs: []evmtest.Log{h.Transfer(fake, stranger, wallet, 1_000_000)}})
		old := h.tx(evmtest.Tx{From: stranger, To: coin, Logs: []evmtest.Log{h.Transfer(coin, stranger, wallet, 1)}})
		sent := h.tx(evmtest.Tx{From: wallet, To: evmtest.USDC, Input: "0xa9059cbb" + strings.Repeat("0", 128),
			Logs: []evmtest.Log{h.Transfer(evmtest.USDC, wallet, stranger, 5_000_000)}})
		self := h.tx(evmtest.Tx{From: stranger, To: evmtest.USDC, Logs: []evmtest.Log{h.Transfer(evmtest.USDC, wallet, wallet, 5_000_000)}})
		nothing := h.tx(evmtest.Tx{From: stranger, To: evmtest.USDC, Logs: []evmtest.Log{h.Transfer(evmtest.USDC, wallet, stranger, 0)}})
		h.sync()
		h.wants(genuine, "+25.000001 USDC")
		h.wants(imitated, "+1 "+fake)
		h.wants(old, "+0.000000000000000001 "+coin)
		h.wants(sent, "-5 USDC", "-0.000021 ETH FEE")
		h.wants(self)
		h.wants(nothing)
		h.balanced()
		for hash, want := range map[string]string{imitated: "USDC", old: "OLD", sent: "USDC"} {
			r := h.read["1:"+hash+":log:0"]
			if r.Description != want || r.Crypto.ContractAddress == "" || r.Crypto.AssetType != r.Currency {
				t.Errorf("%+v %+v", r.Record, r.Crypto)
			}
		}
		if r := h.read["1:"+sent+":log:0"]; r.ProviderCategory != "transfer" || r.Crypto.From != wallet || r.Crypto.To != stranger {
			t.Errorf("%+v %+v", r.Record, r.Crypto)
		}
	})
}

func hexOf(text string) (out string) {
	for _, b := range []byte(text) {
		out += evmtest.Word(big.NewInt(int64(b)))[62:]
	}
	return out
}

func TestNFTsAreRecordsWithTheirNumbers(t *testing.T) {
	t.Parallel()
	eachNode(t, func(h *history) {
		art, items := evmtest.Address("art"), evmtest.Address("items")
		from, to := evmtest.Topic(stranger), evmtest.Topic(wallet)
		picture := h.announce(art, "0x", transfer, from, to, "0x"+evmtest.Word(big.NewInt(1234)))
		item := h.announce(items, data(7, 3), single, from, from, to)
		batch := h.announce(items, data(64, 160, 2, 7, 8, 2, 1, 20), several, from, to, from)
		empty := h.announce(items, data(64, 96, 0, 0), several, from, from, to)
		h.sync()
		h.wants(picture, "+1 "+art+"#1234 NFT")
		h.wants(item, "+3 "+items+"#7 NFT")
		h.wants(batch, "-1 "+items+"#7 NFT", "-20 "+items+"#8 NFT")
		h.wants(empty)
		if _, ok := h.read["1:"+batch+":log:0:1"]; !ok || len(h.omitted) > 0 {
			t.Errorf("%v", h.omitted)
		}
	})
}

func TestWrappedCoinsAreTokens(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	h.Token(evmtest.WETH, "WETH", 18)
	h.Tokens[evmtest.WETH].Symbol = ""
	amount := int64(1_000_000_000_000_000_000)
	wrapped := h.tx(evmtest.Tx{From: wallet, To: evmtest.WETH, Value: big.NewInt(amount), Input: "0xd0e30db0",
		Logs: []evmtest.Log{{Contract: evmtest.WETH, Topics: []string{wrap, evmtest.Topic(wallet)}, Data: data(amount)}}})
	unwrapped := h.tx(evmtest.Tx{From: wallet, To: evmtest.WETH, Input: "0x2e1a7d4d",
		Calls: []evmtest.Call{{From: evmtest.WETH, To: wallet, Value: big.NewInt(amount / 2)}},
		Logs:  []evmtest.Log{{Contract: evmtest.WETH, Topics: []string{unwrap, evmtest.Topic(wallet)}, Data: data(amount / 2)}}})
	other := h.announce(evmtest.Address("a bank"), data(amount), wrap, evmtest.Topic(wallet))
	zero := evmtest.Topic("0x0000000000000000000000000000000000000000")
	both := h.tx(evmtest.Tx{From: stranger, To: evmtest.WETH, Logs: []evmtest.Log{
		{Contract: evmtest.WETH, Topics: []string{transfer, zero, evmtest.Topic(wallet)}, Data: data(5)},
		{Contract: evmtest.WETH, Topics: []string{wrap, evmtest.Topic(wallet)}, Data: data(5)}}})
	h.sync()
	h.wants(wrapped, "+1 WETH", "-1.000021 ETH fee 0.000021 ETH")
	h.wants(unwrapped, "-0.5 WETH", "+0.5 ETH", "-0.000021 ETH FEE")
	h.wants(other)
	h.wants(both, "+0.000000000000000005 WETH")
}

func TestTokensThatMakeNoSense(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	from, to := evmtest.Topic(stranger), evmtest.Topic(wallet)
	huge := "0x" + strings.Repeat("f", 64)
	whole, many, odd, large, empty := evmtest.Address("whole"), evmtest.Address("many"), evmtest.Address("odd"), evmtest.Address("large"),
		evmtest.Address("empty")
	h.Token(whole, "", 0)
	h.Tokens[whole].Decimals, h.Tokens[whole].Symbol = "", "0x1234"
	h.Token(many, strings.Repeat("x", 32), 77)
	h.Token(odd, "\x00\x01\xff", 2)
	h.Token(large, "large", 0)
	h.Tokens[large].Decimals = "0x" + evmtest.Word(big.NewInt(18))
	plain := h.announce(whole, data(12), transfer, from, to)
	places := h.announce(many, data(12), transfer, from, to)
	name := h.announce(odd, data(12), transfer, from, to)
	amount := h.announce(large, huge, transfer, from, to)
	gone := h.announce(empty, data(12), transfer, from, to)
	for _, one := range [][]string{{"0x", transfer, from, to}, {data(1, 2), transfer, from, to}, {"0x12", transfer, from, to},
		{data(64), several, from, from, to}, {data(64, 96, 5), several, from, from, to}, {data(1), single, from, from, to},
		{data(32, 96, 1, 1, 2, 1, 1), several, from, from, to}, {huge + huge[2:], several, from, from, to}} {
		if h.announce(evmtest.Address("strange"), one[0], one[1:]...) == "" {
			t.Fatal()
		}
	}
	h.sync()
	h.wants(plain, "+12 "+whole)
	h.wants(places)
	h.wants(name, "+0.12 "+odd)
	h.wants(amount)
	h.wants(gone, "+12 "+empty)
	if len(h.omitted) != 2 || h.omitted[0].ID != "1:"+places+":log:0" || h.omitted[1].ID != "1:"+amount+":log:0" || len(h.read) != 4 {
		t.Errorf("%d %+v", len(h.read), h.omitted)
	}
	if r := h.read["1:"+name+":log:0"]; r.Description != "" {
		t.Errorf("%+v", r.Record)
	}
}
