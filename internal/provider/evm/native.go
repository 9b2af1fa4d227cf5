package evm

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
)

// tracing is how the node traces.
type tracing string

// The ways.
const (
	traceFilter tracing = "filter"
	traceBlocks tracing = "blocks"
	traceNone   tracing = "none"
)

// callTracer are the options of debug_traceBlockByNumber.
var callTracer = map[string]any{"tracer": "callTracer"}

// page is a range of blocks and what happens there.
type page struct {
	from, to  int64
	shortened bool // it ends earlier than was asked for
	events    []event
	frames    []frame
	hashes    map[string]int64 // the blocks of transactions that concern the wallet, by their hashes
	failed    map[string]bool  // transactions that a trace calls failed
	bodies    map[string]body
	blocks    map[int64]*block
	executed  map[string]executed
	untraced  []*block // whose traces are too large
}

// at returns the time of a block.
func (b *block) at() time.Time { return time.Unix(int64(b.Time), 0).UTC() }

// frame is a movement of coins by a contract, or by the chain itself.
type frame struct {
	Hash      string // of the transaction; empty for the chain itself
	Block     int64
	BlockHash string // empty if it is not stated
	Path      string // the places of the calls that have led to it
	From, To  string
	Value     *big.Int
	category  string

	original json.RawMessage
}

// native finds the coins that move in a page, other than by transactions that move tokens, and shortens the page if it takes too many
// requests.
func (r *reader) native(ctx context.Context, p *page) (large bool, err error) {
	if r.at.Trace == traceFilter {
		return r.filter(ctx, p)
	}
	all, err := r.changed(ctx, p)
	if err != nil {
		return false, err
	}
	for part := range slices.Chunk(all, blocksTogether) {
		if err := r.scan(ctx, p, part); err != nil {
			return false, err
		}
	}
	return false, nil
}

const (
	// blocksTogether is how many blocks are read in a request.
	blocksTogether = 10
	// blocksMax is how many blocks a page reads if the state does not tell which ones matter, and tracedMax how many it traces.
	blocksMax = 100
	tracedMax = 20
	// partsMax is how many parts a range is divided into to find out in which of them the wallet changes.
	partsMax = 9
	// searchMax is how many requests a page takes to find these, and foundMax how many blocks are enough.
	searchMax = 10
	foundMax  = 40
)

// state is the state of a wallet after a block.
type state struct{ balance, nonce *big.Int }

func (s state) equal(other state) bool {
	return s.balance.Cmp(other.balance) == 0 && s.nonce.Cmp(other.nonce) == 0
}

// changed returns the blocks of a page that may move coins of the wallet. A wallet that is no contract cannot send any without a new number
// of its own transactions, so that a range at whose ends balance and number are equal moves none. All blocks are returned if the node does
// not tell, or if the wallet is a contract.
func (r *reader) changed(ctx context.Context, p *page) (out []int64, err error) {
	code, states := "", map[int64]state{-1: {new(big.Int), new(big.Int)}}
	ok, err := r.states(ctx, states, []int64{p.from - 1, p.to}, textOf("eth_getCode", []any{r.address, quantity(p.to)}, &code))
	if err != nil {
		return nil, err
	}
	if !ok || code != "0x" {
		return p.shorten(r.at.Trace), nil
	}
	out, end, ok, err := r.search(ctx, p, states, func(lo, hi int64) bool { return !states[lo].equal(states[hi]) })
	if err != nil {
		return nil, err
	}
	if !ok {
		return p.shorten(r.at.Trace), nil
	}
	p.to, p.shortened = end, end < p.to
	return out, nil
}

// search returns the blocks of a page that differ, given the states at its ends, and the last block that it has got to. It reports whether
// the node has all states that it takes.
func (r *reader) search(ctx context.Context, p *page, states map[int64]state, differ func(lo, hi int64) bool) (out []int64, end int64,
	ok bool, err error) {
	todo := []int64{p.to, p.from - 1} // the ends of ranges, the first one last
	for requests := 0; len(todo) > 1; {
		lo, hi := todo[len(todo)-1], todo[len(todo)-2]
		if lo >= p.from && (len(out) >= foundMax || requests >= searchMax) {
			return out, lo, true, nil
		}
		todo = todo[:len(todo)-1]
		switch {
		case !differ(lo, hi):
		case hi == lo+1:
			out = append(out, hi)
		default:
			between := divide(lo, hi)
			requests++
			if ok, err := r.states(ctx, states, between); err != nil || !ok {
				return nil, 0, false, err
			}
			slices.Reverse(between)
			todo = append(append(todo, between...), lo)
		}
	}
	return out, p.to, true, nil
}

// divide returns numbers that divide a range into parts of about the same size.
func divide(lo, hi int64) (out []int64) {
	for i := int64(1); i < partsMax; i++ {
		if n := lo + (hi-lo)*i/partsMax; n > lo && (len(out) == 0 || n > out[len(out)-1]) {
			out = append(out, n)
		}
	}
	return out
}

// shorten makes a page one of which all blocks are read, and returns them.
func (p *page) shorten(by tracing) (out []int64) {
	most := int64(blocksMax)
	if by == traceBlocks {
		most = tracedMax
	}
	if p.to >= p.from+most {
		p.to, p.shortened = p.from+most-1, true
	}
	for n := p.from; n <= p.to; n++ {
		out = append(out, n)
	}
	return out
}

// states reads the states after blocks, and reports whether the node has them.
func (r *reader) states(ctx context.Context, into map[int64]state, after []int64, more ...*call) (bool, error) {
	read := make([]state, len(after))
	calls := more
	for i, n := range after {
		if _, known := into[n]; !known {
			calls = append(calls, amountIn("eth_getBalance", []any{r.address, quantity(n)}, &read[i].balance),
				amountIn("eth_getTransactionCount", []any{r.address, quantity(n)}, &read[i].nonce))
		}
	}
	if err := r.do(ctx, calls...); err != nil {
		return false, err
	}
	for _, one := range calls {
		if one.refused != nil {
			return false, nil
		}
	}
	for i, n := range after {
		if read[i].balance != nil {
			into[n] = read[i]
		}
	}
	return true, nil
}

// scan reads the transactions of blocks that concern the wallet, what validators have withdrawn there, and traces.
func (r *reader) scan(ctx context.Context, p *page, numbers []int64) error {
	found := make([]*block, len(numbers))
	calls := make([]*call, len(numbers))
	for i, n := range numbers {
		calls[i] = blockOf(quantity(n), true, n, &found[i])
	}
	if err := r.must(ctx, calls...); err != nil {
		return err
	}
	for i, n := range numbers {
		b := found[i]
		if b == nil {
			return r.nonsense("the block %d is missing", n)
		}
		p.blocks[n] = b
		p.withdrawn(r.address, b)
		hashes := make([]string, len(b.Bodies))
		for i, raw := range b.Bodies {
			t, err := parseBody(raw)
			if err != nil || int64(t.Block) != n {
				return r.nonsense("a transaction of the block %d: %w", n, errForm)
			}
			if hashes[i] = t.Hash; t.From == r.address || t.To != nil && *t.To == r.address {
				p.bodies[t.Hash], p.hashes[t.Hash] = t, n
			}
		}
		if r.at.Trace == traceBlocks && n > 0 && len(hashes) > 0 {
			if err := r.trace(ctx, p, b, hashes); err != nil {
				return err
			}
		}
		b.Bodies = nil // they are large
	}
	return nil
}

// gwei is the unit of withdrawals.
var gwei = big.NewInt(1_000_000_000)

// withdrawn adds what validators have withdrawn in a block.
func (p *page) withdrawn(address string, b *block) {
	for _, w := range b.Withdrawals {
		if strings.ToLower(w.Address) != address || w.Amount.orZero().Sign() == 0 {
			continue
		}
		original, _ := json.Marshal(w) // it has only texts and numbers
		p.frames = append(p.frames, frame{Block: int64(b.Number), BlockHash: b.Hash, Path: "withdrawal:" + strconv.FormatInt(int64(w.Index), 10),
			To: address, Value: new(big.Int).Mul(w.Amount.Int, gwei), category: "validator withdrawal", original: original})
	}
}

// nested is a call of a transaction, with the calls inside of it, as callTracer returns it.
type nested struct {
	Type  string   `json:"type"`
	From  string   `json:"from"`
	To    string   `json:"to"`
	Value number   `json:"value"`
	Error string   `json:"error"`
	Calls []nested `json:"calls"`
}

// depthMax bounds how deep calls are nested: the virtual machine allows 1024.
const depthMax = 1100

// trace adds the calls of the transactions of a block that move coins of the wallet.
func (r *reader) trace(ctx context.Context, p *page, b *block, hashes []string) error {
	var all []struct {
		Hash   string  `json:"txHash"`
		Result *nested `json:"result"`
	}
	one := &call{method: "debug_traceBlockByNumber", params: []any{quantity(int64(b.Number)), callTracer},
		read: func(raw json.RawMessage) error { all = nil; return json.Unmarshal(raw, &all) }}
	err := r.do(ctx, one)
	if errors.Is(err, provider.ErrTooLarge) || err == nil && one.refused.oversized() {
		p.untraced = append(p.untraced, b)
		return nil
	}
	if err != nil {
		return err
	}
	if one.refused != nil {
		return r.refuses(one)
	}
	if len(all) != len(hashes) {
		return r.nonsense("%d traces of %d transactions", len(all), len(hashes))
	}
	for i, t := range all {
		if t.Result == nil || t.Hash != "" && strings.ToLower(t.Hash) != hashes[i] {
			return r.nonsense("a trace of another transaction")
		}
		if err := r.descend(p, frame{Hash: hashes[i], Block: int64(b.Number), BlockHash: b.Hash}, *t.Result, depthMax); err != nil {
			return err
		}
	}
	return nil
}

// descend adds the calls inside of a call. What failed, and all inside of it, did not happen.
func (r *reader) descend(p *page, at frame, n nested, deep int) error {
	if n.Error != "" || deep == 0 {
		if at.Path == "" {
			p.failed[at.Hash] = true
		}
		return nil
	}
	at.From, at.To, at.Value = strings.ToLower(n.From), strings.ToLower(n.To), n.Value.orZero()
	switch n.Type {
	case "CALL", "CREATE", "CREATE2", "SELFDESTRUCT":
		if at.Path != "" && at.Value.Sign() > 0 {
			if !isAddress(at.From) || !isAddress(at.To) {
				return r.nonsense("a trace without addresses")
			}
			if (at.From == r.address) != (at.To == r.address) {
				at.original, _ = json.Marshal(nested{Type: n.Type, From: n.From, To: n.To, Value: n.Value}) // only texts
				p.frames = append(p.frames, at)
				p.hashes[at.Hash] = at.Block
			}
		}
	}
	path := at.Path
	for i, inner := range n.Calls {
		at.Path = strings.TrimPrefix(path+"."+strconv.Itoa(i), ".")
		if err := r.descend(p, at, inner, deep-1); err != nil {
			return err
		}
	}
	return nil
}
