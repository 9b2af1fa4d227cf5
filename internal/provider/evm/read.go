package evm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// spanFirst and spanMax are how many blocks a page has at first, and at most.
	spanFirst = 2000
	spanMax   = 200_000
	// recentBlocks and recentMax bound which records are remembered, so that they can be taken back if their block is replaced.
	recentBlocks = 1000
	recentMax    = 200
	// fullPages is after how many pages as long as the node allows a longer one is tried. Most nodes always refuse it, which costs a request;
	// one that was only slow should not stay with short pages.
	fullPages = 8
	// deepKept is after what time a node that does not know which block is final is asked again.
	deepKept = 24 * time.Hour
	// transactionsMax is about how many transactions a page has.
	transactionsMax = 200
)

// position is a cursor. All records of the blocks before Next were read.
type position struct {
	Wallet string   `json:"wallet"`
	Chain  int64    `json:"chain,omitempty"` // the id of the chain
	Next   int64    `json:"next"`
	Marks  []mark   `json:"marks,omitempty"` // blocks that were read, the last one last
	Recent []recent `json:"recent,omitempty"`
	Tokens []token  `json:"tokens,omitempty"` // that the wallet has received or sent

	Span int64 `json:"span,omitempty"` // blocks of the next page
	Most int64 `json:"most,omitempty"` // blocks that the node allows in a range; 0 if it has not refused any
	Full int   `json:"full,omitempty"` // pages of that length since the node has refused a longer one
	// What the node can do, and which one it is.
	Node  string  `json:"node,omitempty"`
	Trace tracing `json:"trace,omitempty"`
	Deep  bool    `json:"deep,omitempty"`  // it does not know which block is final
	Asked int64   `json:"asked,omitempty"` // when it has said so, in seconds since 1970
	Told  bool    `json:"told,omitempty"`  // the gap of a node that does not trace was reported
}

// mark is a block.
type mark struct {
	Number int64  `json:"n"`
	Hash   string `json:"h"` // its end
}

// recent are the records of one of the last blocks.
type recent struct {
	mark
	IDs []string `json:"ids"`
}

// tailSize is how many characters of a hash are remembered.
const tailSize = 16

func tail(hash string) string { return hash[max(len(hash)-tailSize, 0):] }

// reader is a call of Read.
type reader struct {
	*client
	wallet
	at     position
	final  int64 // the last block that is final
	out    provider.Page
	learnt map[string]token
}

// Read returns the records of further blocks, in their order.
func (c Connector) Read(ctx context.Context, s *provider.Session, _, cursor string) (provider.Page, error) {
	r := &reader{learnt: map[string]token{}}
	if err := provider.ParseCursor(cursor, &r.at); err != nil {
		return provider.Page{}, err
	}
	var err error
	if r.wallet, err = c.open(s); err != nil {
		return provider.Page{}, err
	}
	if r.client, err = dial(s, r.wallet); err != nil {
		return provider.Page{}, err
	}
	if cursor == "" {
		r.at.Wallet, r.at.Next = r.address, r.first
	}
	if r.at.Wallet != r.address {
		return provider.Page{}, fault.Conflictf("the position in the history belongs to another wallet: disconnect the wallet and " +
			"connect it again")
	}
	if err := r.read(ctx); err != nil {
		return provider.Page{}, err
	}
	r.out.Cursor = provider.FormatCursor(r.at)
	return r.out, nil
}

// read reads a page. It takes one request to find out that no block has become final.
func (r *reader) read(ctx context.Context) error {
	node := r.node()
	if node != r.at.Node || r.s.Now().Sub(time.Unix(r.at.Asked, 0)) >= deepKept {
		r.at.Deep = false
	}
	if err := r.head(ctx); err != nil || r.out.More || r.final < r.at.Next {
		return err
	}
	if node != r.at.Node || r.at.Trace == "" {
		if err := r.learn(ctx, r.final); err != nil {
			return err
		}
		r.at.Node, r.at.Most, r.at.Full, r.at.Told = node, 0, 0, false
	}
	span := r.at.Span
	if span <= 0 {
		span = spanFirst
	}
	to := min(r.at.Next+span-1, r.final)
	if r.at.Most > 0 {
		to = min(to, r.at.Next+r.at.Most-1)
	}
	p, err := r.load(ctx, r.at.Next, to)
	if err != nil {
		return err
	}
	if err := r.add(ctx, p); err != nil {
		return err
	}
	r.tell(p)
	r.advance(p)
	return nil
}

// node returns a name for the node, which its address does not follow from.
func (r *reader) node() string {
	sum := sha256.Sum256([]byte(r.url))
	return hex.EncodeToString(sum[:4])
}

// head finds out which block is final, and whether the last one that was read was replaced.
func (r *reader) head(ctx context.Context) error {
	var final, last *block
	number, calls := int64(-1), []*call(nil)
	if r.at.Deep {
		calls = append(calls, numberOf("eth_blockNumber", nil, &number))
	} else {
		calls = append(calls, blockOf("finalized", false, -1, &final))
	}
	if n := len(r.at.Marks); n > 0 {
		calls = append(calls, blockOf(quantity(r.at.Marks[n-1].Number), false, r.at.Marks[n-1].Number, &last))
	}
	if err := r.do(ctx, calls...); err != nil {
		return err
	}
	if one := calls[0]; !r.at.Deep && (one.refused != nil || final == nil) {
		if r.at.Deep = one.refused != nil; r.at.Deep {
			r.at.Asked = r.s.Now().Unix()
		}
		if err := r.must(ctx, numberOf("eth_blockNumber", nil, &number)); err != nil {
			return err
		}
	} else if one.refused != nil {
		return r.refuses(one)
	}
	r.final = number - r.depth
	if final != nil {
		r.final = int64(final.Number)
	}
	if len(calls) == 1 || r.final < r.at.Next-1 { // the first page, or a node that is behind
		return nil
	}
	switch {
	case calls[1].refused != nil:
		return r.refuses(calls[1])
	case last == nil:
		return provider.Temporary(r.title, "the node does not have a block that it says is final")
	case tail(last.Hash) == r.at.Marks[len(r.at.Marks)-1].Hash:
		return nil
	}
	return r.rollBack(ctx)
}

// rollBack takes back the records of blocks that were replaced, and goes back to the last one that was not.
func (r *reader) rollBack(ctx context.Context) error {
	all := slices.Clone(r.at.Marks)
	for _, one := range r.at.Recent {
		all = append(all, one.mark)
	}
	found := make([]*block, len(all))
	calls := make([]*call, len(all))
	for i, one := range all {
		calls[i] = blockOf(quantity(one.Number), false, one.Number, &found[i])
	}
	if err := r.must(ctx, calls...); err != nil {
		return err
	}
	valid := map[mark]bool{}
	for i, one := range all {
		valid[one] = found[i] != nil && tail(found[i].Hash) == one.Hash
	}
	kept := 0
	for kept < len(r.at.Marks) && valid[r.at.Marks[kept]] {
		kept++
	}
	r.at.Marks = r.at.Marks[:kept]
	r.at.Next = r.first
	if kept > 0 {
		r.at.Next = r.at.Marks[kept-1].Number + 1
	}
	r.at.Recent = slices.DeleteFunc(r.at.Recent, func(one recent) bool {
		if !valid[one.mark] {
			r.out.Removed = append(r.out.Removed, one.IDs...)
		}
		return !valid[one.mark]
	})
	r.out.More = true
	return nil
}

// learn finds out what the node can do, and which chain it is on.
func (r *reader) learn(ctx context.Context, final int64) error {
	chain := int64(0)
	filter := &call{method: "trace_filter", params: []any{map[string]any{"fromBlock": quantity(final), "toBlock": quantity(final),
		"fromAddress": []string{r.address}}}, read: isList}
	blocks := &call{method: "debug_traceBlockByNumber", params: []any{quantity(final), callTracer}, read: isList}
	if err := r.must(ctx, numberOf("eth_chainId", nil, &chain)); err != nil {
		return err
	}
	if r.id != 0 && chain != r.id || r.at.Chain != 0 && chain != r.at.Chain {
		return fault.Conflictf("the node is one of the chain %d and not of %s: check its address", chain, r.title)
	}
	r.at.Chain, r.at.Trace = chain, traceNone
	for _, way := range []struct {
		tracing
		*call
	}{{traceFilter, filter}, {traceBlocks, blocks}} {
		err := r.do(ctx, way.call)
		if kind := fault.KindOf(err); kind == fault.Unauthorized { // some nodes say so of methods that are not paid for
			continue
		}
		if err != nil && !errors.Is(err, provider.ErrTooLarge) {
			return err
		}
		if !way.refused.unsupported() {
			r.at.Trace = way.tracing
			return nil
		}
	}
	return nil
}

// isList requires a list.
func isList(raw json.RawMessage) error {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return errForm
	}
	return nil
}

// load reads what happens in a range of blocks. If the node refuses it as too long, or it has too many transactions, a part of it is read.
func (r *reader) load(ctx context.Context, from, to int64) (*page, error) {
	for {
		p := &page{from: from, to: to, bodies: map[string]body{}, blocks: map[int64]*block{}, failed: map[string]bool{},
			hashes: map[string]int64{}}
		large, err := r.events(ctx, p)
		if err != nil {
			return nil, err
		}
		if !large {
			if large, err = r.native(ctx, p); err != nil {
				return nil, err
			}
		}
		if large {
			r.at.Most, r.at.Full = max((to-from+1)/2, 1), 0
			to = from + r.at.Most - 1
			continue
		}
		p.cut()
		for _, e := range p.events {
			p.hashes[e.Hash] = int64(e.Block)
		}
		if len(p.hashes) <= transactionsMax || p.to == from {
			if err := r.complete(ctx, p); err != nil {
				return nil, err
			}
			return p, r.settle(ctx, p)
		}
		to = from + (p.to-from+1)/2 - 1
		r.at.Span = max(to-from+1, 1)
	}
}

// cut leaves out what is behind the end of a page.
func (p *page) cut() {
	p.untraced = slices.DeleteFunc(p.untraced, func(b *block) bool { return int64(b.Number) > p.to })
	p.events = slices.DeleteFunc(p.events, func(e event) bool { return int64(e.Block) > p.to })
	p.frames = slices.DeleteFunc(p.frames, func(f frame) bool { return f.Block > p.to })
	maps.DeleteFunc(p.hashes, func(_ string, n int64) bool { return n > p.to })
}

// untraced says what is missing without traces.
const untraced = "this node does not trace: transfers inside of contracts are missing. Enter the address of a node with trace_filter or " +
	"debug_traceBlockByNumber, and connect the wallet again"

// oversized says what is missing of a block whose traces are too large.
const oversized = "the traces of a block are too large to be read: transfers inside of contracts are missing if they are in this block. " +
	"Compare the balance of the wallet, and enter what is missing"

// tell reports the blocks that are too large to be traced, and once that the node does not trace.
func (r *reader) tell(p *page) {
	for _, b := range p.untraced {
		r.out.Gaps = append(r.out.Gaps, provider.Gap{From: b.at(), Through: b.at(), Reason: oversized})
	}
	if r.at.Trace != traceNone || r.at.Told {
		return
	}
	first, last := p.blocks[p.from], p.blocks[p.to]
	r.out.Gaps = append(r.out.Gaps, provider.Gap{From: first.at(), Through: later(last.at(), r.s.Now().UTC()), Reason: untraced})
	r.at.Told = true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// advance moves the position behind a page.
func (r *reader) advance(p *page) {
	read := p.to - p.from + 1
	if !p.shortened && (read >= r.at.Span || r.at.Span == 0) {
		r.at.Span = min(max(read, spanFirst)*2, spanMax)
	}
	if r.at.Most > 0 && read >= r.at.Most {
		if r.at.Full++; r.at.Full >= fullPages {
			r.at.Most, r.at.Full = min(2*r.at.Most, spanMax), 0
		}
	}
	r.at.Next = p.to + 1
	r.at.Marks = thin(append(r.at.Marks, mark{p.to, tail(p.blocks[p.to].Hash)}))
	slices.SortStableFunc(r.at.Recent, func(a, b recent) int { return int(a.Number - b.Number) })
	r.at.Recent = slices.DeleteFunc(r.at.Recent, func(one recent) bool { return one.Number <= p.to-recentBlocks })
	count := 0
	for i, one := range slices.Backward(r.at.Recent) {
		if count += len(one.IDs); count > recentMax {
			r.at.Recent = r.at.Recent[i+1:]
			break
		}
	}
	r.out.More = r.at.Next <= r.final
}

// marksNear is how many of the last marks are all kept.
const marksNear = 4

// thin leaves out older marks: of those at a distance between two powers of two, the oldest one is kept.
func thin(all []mark) (out []mark) {
	last, before := all[len(all)-1].Number, -1
	for i, one := range all {
		power := bits.Len64(uint64(last - one.Number))
		if power != before || len(all)-i <= marksNear {
			out = append(out, one)
		}
		before = power
	}
	return out
}
