package evm

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/spam"
)

// The events of tokens, by the hashes of their names.
const (
	eventTransfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef" // of ERC-20 and ERC-721
	eventSingle   = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62" // of ERC-1155
	eventBatch    = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb" // of ERC-1155
	eventWrap     = "0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c" // Deposit of a wrapped coin
	eventUnwrap   = "0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65" // Withdrawal of a wrapped coin
)

// event is an event that a contract has announced.
type event struct {
	Address   string   `json:"address"`
	Topics    []string `json:"topics"`
	Data      string   `json:"data"`
	Block     height   `json:"blockNumber"`
	BlockHash string   `json:"blockHash"`
	Hash      string   `json:"transactionHash"`
	Index     height   `json:"logIndex"`
	Removed   bool     `json:"removed"`

	original json.RawMessage
}

// parseEvent returns an event of a range of blocks.
func parseEvent(raw json.RawMessage, from, to int64) (out event, err error) {
	out = event{Block: -1, Index: -1}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, err
	}
	for _, text := range []*string{&out.Address, &out.Data, &out.BlockHash, &out.Hash} {
		*text = strings.ToLower(*text)
	}
	for i := range out.Topics {
		if out.Topics[i] = strings.ToLower(out.Topics[i]); !isHash(out.Topics[i]) {
			return out, errForm
		}
	}
	if !isAddress(out.Address) || !isHash(out.Hash) || !isHash(out.BlockHash) || out.Index < 0 || int64(out.Block) < from ||
		int64(out.Block) > to || len(out.Topics) == 0 {
		return out, errForm
	}
	out.original = raw
	return out, nil
}

// moved is an amount of a token that an event moves.
type moved struct {
	event    event
	from, to string
	amount   *big.Int
	token    string // the number of an NFT or of a kind of an ERC-1155 token; empty for an ERC-20 token
	suffix   string // tells the amounts of an event apart
	nft      bool
}

// moves returns what an event moves, and whether it is one of a token. Other contracts announce the same events with other contents.
func (w wallet) moves(e event) (out []moved, ok bool) {
	data := words(e.Data)
	one := moved{event: e}
	switch name, topics := e.Topics[0], len(e.Topics); {
	case e.Address == w.mirror:
		return nil, false
	case name == eventTransfer && topics == 3 && len(data) == 1:
		one.from, one.to, one.amount = unpadded(e.Topics[1]), unpadded(e.Topics[2]), amountOf(data[0])
	case name == eventTransfer && topics == 4 && len(data) == 0:
		one.from, one.to, one.amount = unpadded(e.Topics[1]), unpadded(e.Topics[2]), big.NewInt(1)
		one.token, one.nft = amountOf(e.Topics[3]).String(), true
	case name == eventSingle && topics == 4 && len(data) == 2:
		one.from, one.to, one.amount = unpadded(e.Topics[2]), unpadded(e.Topics[3]), amountOf(data[1])
		one.token, one.nft = amountOf(data[0]).String(), true
	case name == eventBatch && topics == 4:
		return batch(e, data)
	case name == eventWrap && e.Address == w.wrapped && topics == 2 && len(data) == 1:
		one.from, one.to, one.amount = zero, unpadded(e.Topics[1]), amountOf(data[0])
	case name == eventUnwrap && e.Address == w.wrapped && topics == 2 && len(data) == 1:
		one.from, one.to, one.amount = unpadded(e.Topics[1]), zero, amountOf(data[0])
	default:
		return nil, false
	}
	return []moved{one}, true
}

// batchMax bounds how many amounts an event moves.
const batchMax = 10_000

// batch returns what an event of ERC-1155 moves: two lists, of numbers and of amounts, whose places are stated before them.
func batch(e event, data []string) (out []moved, ok bool) {
	list := func(place int) []string {
		if len(data) < 2 {
			return nil
		}
		at, count := amountOf(data[place]), 0
		if !at.IsInt64() || at.Int64()%32 != 0 || at.Int64()/32 >= int64(len(data)) {
			return nil
		}
		start := int(at.Int64()/32) + 1
		if n := amountOf(data[start-1]); !n.IsInt64() || n.Int64() > int64(min(len(data)-start, batchMax)) {
			return nil
		} else {
			count = int(n.Int64())
		}
		return data[start : start+count]
	}
	numbers, amounts := list(0), list(1)
	if numbers == nil || len(numbers) != len(amounts) {
		return nil, false
	}
	for i := range numbers {
		out = append(out, moved{event: e, from: unpadded(e.Topics[2]), to: unpadded(e.Topics[3]), amount: amountOf(amounts[i]),
			token: amountOf(numbers[i]).String(), suffix: ":" + strconv.Itoa(i), nft: true})
	}
	return out, true
}

// events reads the last block of a page, and the events of tokens that concern the wallet, in the order in which they happened.
func (r *reader) events(ctx context.Context, p *page) (large bool, err error) {
	from, to, own := p.from, p.to, padded(r.address)
	filters := [][]any{
		{[]string{eventTransfer, eventWrap, eventUnwrap}, own},
		{[]string{eventTransfer, eventSingle, eventBatch}, nil, own}, // to whom, and from whom in ERC-1155
		{[]string{eventSingle, eventBatch}, nil, nil, own},
	}
	found := make([][]event, len(filters))
	calls := make([]*call, len(filters))
	for i, topics := range filters {
		calls[i] = &call{method: "eth_getLogs", params: []any{map[string]any{"fromBlock": quantity(from), "toBlock": quantity(to),
			"topics": topics}}, read: func(raw json.RawMessage) (err error) {
			found[i], err = readEvents(raw, from, to)
			return err
		}}
	}
	last, keep := r.headers(p, []int64{to}) // it is read first, so that it is noticed if blocks are replaced now
	if err := r.do(ctx, append(last, calls...)...); err != nil {
		if errors.Is(err, provider.ErrTooLarge) && to > from {
			return true, nil
		}
		return false, err
	}
	for _, one := range append(last, calls...) {
		if one.refused.tooLarge() && to > from {
			return true, nil
		}
		if one.refused != nil {
			return false, r.refuses(one)
		}
	}
	out := slices.Concat(found...)
	slices.SortFunc(out, func(a, b event) int {
		if a.Block != b.Block {
			return int(a.Block - b.Block)
		}
		return int(a.Index - b.Index)
	})
	p.events = slices.CompactFunc(out, func(a, b event) bool { return a.Block == b.Block && a.Index == b.Index })
	return false, keep()
}

func readEvents(raw json.RawMessage, from, to int64) (out []event, err error) {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	if all == nil {
		return nil, errForm
	}
	for _, one := range all {
		e, err := parseEvent(one, from, to)
		if err != nil {
			return nil, err
		}
		if !e.Removed {
			out = append(out, e)
		}
	}
	return out, nil
}

// token is what is known of the contract of an ERC-20 token.
type token struct {
	Contract string `json:"c"`
	Places   int    `json:"d,omitempty"` // digits after the point
	Symbol   string `json:"s,omitempty"` // what it calls itself
}

// tokensMax is how many tokens are remembered.
const tokensMax = 300

// currencyOf returns what a token is called: by its symbol if the contract is known to be the one with this symbol, and otherwise by the
// address of the contract, because anybody can make a token that calls itself USDC.
func (w wallet) currencyOf(contract string) string {
	if symbol := spam.KnownSymbol(w.name, contract); symbol != "" {
		return provider.Symbol(symbol)
	}
	return contract
}

// The methods of ERC-20 tokens.
const (
	methodSymbol   = "0x95d89b41"
	methodDecimals = "0x313ce567"
	methodBalance  = "0x70a08231"
)

// ask is a call of a method of a contract. The result stays empty if the contract does not have it.
func ask(contract, data, at string, into *string) *call {
	return textOf("eth_call", []any{map[string]any{"to": contract, "data": data}, at}, into)
}

// identify finds out the digits after the point and the symbols of tokens.
func (r *reader) identify(ctx context.Context, all []moved) error {
	missing, asked := []string{}, map[string]bool{}
	for _, m := range all {
		if _, known := r.token(m.event.Address); m.token == "" && !known && !asked[m.event.Address] {
			asked[m.event.Address] = true
			missing = append(missing, m.event.Address)
		}
	}
	decimals, symbols := make([]string, len(missing)), make([]string, len(missing))
	var calls []*call
	for i, contract := range missing {
		calls = append(calls, ask(contract, methodDecimals, "latest", &decimals[i]), ask(contract, methodSymbol, "latest", &symbols[i]))
	}
	if err := r.do(ctx, calls...); err != nil {
		return err
	}
	for _, one := range calls {
		if one.refused != nil && !one.refused.reverted() {
			return r.refuses(one)
		}
	}
	for i, contract := range missing {
		t := token{Contract: contract, Symbol: symbolOf(symbols[i])}
		if d := words(decimals[i]); len(d) > 0 {
			n := amountOf(d[0])
			if !n.IsInt64() || n.Int64() > money.DigitsAfterMax {
				t.Places = -1 // amounts cannot be written
			} else {
				t.Places = int(n.Int64())
			}
		}
		r.learnt[contract] = t
		if len(r.at.Tokens) < tokensMax {
			r.at.Tokens = append(r.at.Tokens, t)
		}
	}
	return nil
}

// token returns what is known of a token.
func (r *reader) token(contract string) (token, bool) {
	if t, ok := r.learnt[contract]; ok {
		return t, true
	}
	at := slices.IndexFunc(r.at.Tokens, func(t token) bool { return t.Contract == contract })
	if at < 0 {
		return token{}, false
	}
	return r.at.Tokens[at], true
}

// symbolMax is how many characters of the symbol of a token are remembered.
const symbolMax = 40

// symbolOf returns the symbol in the result of a contract: a text with its length before it, or 32 bytes as older contracts have it. It is
// empty if the result makes no sense.
func symbolOf(result string) string {
	all := words(result)
	if len(all) == 0 {
		return ""
	}
	digits := all[0]
	if len(all) > 2 {
		at, n := amountOf(all[0]), amountOf(all[1])
		if at.Cmp(big.NewInt(32)) != 0 || !n.IsInt64() || n.Int64() > int64(len(all)-2)*32 {
			return ""
		}
		digits = strings.Join(all[2:], "")[:2*n.Int64()]
	} else if len(all) == 2 {
		return ""
	}
	text, err := hex.DecodeString(digits)
	if err != nil || !utf8.Valid(text) {
		return ""
	}
	symbol := strings.TrimSpace(strings.TrimRight(string(text), "\x00"))
	if symbol != provider.Clean(symbol) || utf8.RuneCountInString(symbol) > symbolMax {
		return ""
	}
	return symbol
}
