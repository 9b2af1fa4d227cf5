package evm

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// The types that follow from a transaction alone.
const (
	typeFee = "FEE"
	typeNFT = "NFT"
)

// complete reads the transactions of a page that are missing, what became of them, and the blocks.
func (r *reader) complete(ctx context.Context, p *page) error {
	p.executed = map[string]executed{}
	var calls []*call
	for _, hash := range p.inOrder() {
		e := executed{body: p.bodies[hash]}
		if e.Hash == "" {
			calls = append(calls, &call{method: "eth_getTransactionByHash", params: []any{hash}, read: func(raw json.RawMessage) (err error) {
				e := p.executed[hash]
				e.body, err = parseBody(raw)
				p.executed[hash] = e
				return err
			}})
		}
		p.executed[hash] = e
		calls = append(calls, &call{method: "eth_getTransactionReceipt", params: []any{hash}, read: func(raw json.RawMessage) (err error) {
			e := p.executed[hash]
			e.receipt, err = parseReceipt(raw)
			p.executed[hash] = e
			return err
		}})
	}
	wanted := []int64{p.to}
	if r.at.Trace == traceNone && !r.at.Told {
		wanted = append(wanted, p.from)
	}
	wanted = slices.AppendSeq(wanted, maps.Values(p.hashes))
	for _, f := range p.frames {
		wanted = append(wanted, f.Block)
	}
	more, keep := r.headers(p, wanted)
	if err := r.must(ctx, append(calls, more...)...); err != nil {
		return err
	}
	if err := keep(); err != nil {
		return err
	}
	return r.compare(p)
}

// inOrder returns the hashes of transactions in the order of their blocks.
func (p *page) inOrder() []string {
	return slices.SortedFunc(maps.Keys(p.hashes), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.hashes[a], p.hashes[b]), cmp.Compare(p.executed[a].Index, p.executed[b].Index), strings.Compare(a, b))
	})
}

// headers returns the calls that read blocks that are missing, and a function that keeps these.
func (r *reader) headers(p *page, numbers []int64) (calls []*call, keep func() error) {
	found := map[int64]**block{}
	for _, n := range numbers {
		if p.blocks[n] == nil && found[n] == nil {
			found[n] = new(*block)
			calls = append(calls, blockOf(quantity(n), false, n, found[n]))
		}
	}
	return calls, func() error {
		for n, b := range found {
			if *b == nil {
				return r.nonsense("the block %d is missing", n)
			}
			(*b).Bodies = nil // they are large
			p.blocks[n] = *b
		}
		return nil
	}
}

// compare requires that all parts of a page are those of the same blocks.
func (r *reader) compare(p *page) error {
	same := func(n int64, hash string) bool {
		return p.blocks[n] != nil && strings.EqualFold(p.blocks[n].Hash, hash)
	}
	for hash, n := range p.hashes {
		e := p.executed[hash]
		if e.Hash != hash || e.receipt.Hash != hash || int64(e.Block) != n || int64(e.receipt.Block) != n || !same(n, e.BlockHash) ||
			!same(n, e.receipt.BlockHash) {
			return provider.Temporary(r.title, "blocks were replaced while they were read")
		}
	}
	for _, e := range p.events {
		if !same(int64(e.Block), e.BlockHash) {
			return provider.Temporary(r.title, "blocks were replaced while they were read")
		}
	}
	for _, f := range p.frames {
		if !same(f.Block, f.BlockHash) {
			return provider.Temporary(r.title, "blocks were replaced while they were read")
		}
	}
	return nil
}

// placed is a record and its place in the chain.
type placed struct {
	provider.Record
	block, index int64
	hash         string // of the block
}

// leg is an amount that moves.
type leg struct {
	suffix      string // of the id
	from, to    string
	amount, fee *big.Int // the fee is part of the amount
	contract    string
	token       string
	places      int
	kind        string
	category    string
	description string
	original    any
}

// add adds the records of a page.
func (r *reader) add(ctx context.Context, p *page) error {
	var all []moved
	for _, e := range p.events {
		found, _ := r.moves(e)
		for _, m := range found {
			if (m.from == r.address) != (m.to == r.address) && m.amount.Sign() > 0 {
				all = append(all, m)
			}
		}
	}
	all = once(all)
	if err := r.identify(ctx, all); err != nil {
		return err
	}
	var out []placed
	for _, hash := range p.inOrder() {
		e := p.executed[hash]
		for _, l := range r.legs(p, e, all) {
			out = r.place(out, p, l, e, p.hashes[hash])
		}
	}
	for _, f := range p.frames {
		if f.Hash == "" {
			out = r.place(out, p, leg{suffix: f.Path, from: f.From, to: f.To, amount: f.Value, places: coinPlaces, category: f.category,
				original: f.original}, executed{}, f.Block)
		}
	}
	slices.SortFunc(out, func(a, b placed) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.block, b.block), cmp.Compare(a.index, b.index),
			strings.Compare(a.ExternalID, b.ExternalID))
	})
	for _, one := range out {
		r.out.Records = append(r.out.Records, one.Record)
		at := mark{one.block, tail(one.hash)}
		if i := slices.IndexFunc(r.at.Recent, func(known recent) bool { return known.mark == at }); i < 0 {
			r.at.Recent = append(r.at.Recent, recent{at, []string{one.ExternalID}})
		} else if !slices.Contains(r.at.Recent[i].IDs, one.ExternalID) {
			r.at.Recent[i].IDs = append(r.at.Recent[i].IDs, one.ExternalID)
		}
	}
	return nil
}

// once leaves out the events of wrapping of contracts that announce it as a transfer as well.
func once(all []moved) []moved {
	transferred := map[string]bool{}
	key := func(m moved) string { return m.event.Hash + m.event.Address + m.from + m.to + m.amount.String() }
	for _, m := range all {
		if m.event.Topics[0] == eventTransfer {
			transferred[key(m)] = true
		}
	}
	return slices.DeleteFunc(all, func(m moved) bool {
		return (m.event.Topics[0] == eventWrap || m.event.Topics[0] == eventUnwrap) && transferred[key(m)]
	})
}

// legs returns what a transaction moves.
func (r *reader) legs(p *page, e executed, all []moved) (out []leg) {
	mine, to, fee := e.From == r.address, e.to(), new(big.Int)
	if mine {
		if fee = e.fee(); e.Mint.orZero().Sign() > 0 {
			out = append(out, leg{suffix: ":mint", to: r.address, amount: e.Mint.Int, places: coinPlaces, category: "bridge"})
		}
	}
	succeeded := e.succeeded() && !p.failed[e.Hash]
	if succeeded && e.Value.Sign() > 0 && mine != (to == r.address) {
		l := leg{from: e.From, to: to, amount: e.Value.Int, places: coinPlaces}
		if mine && fee.Sign() > 0 {
			l.fee, l.amount, fee = fee, new(big.Int).Add(l.amount, fee), new(big.Int)
		}
		out = append(out, l)
	}
	if fee.Sign() > 0 {
		out = append(out, leg{suffix: ":fee", from: r.address, amount: fee, places: coinPlaces, kind: typeFee})
	}
	for _, f := range p.frames {
		if f.Hash == e.Hash {
			out = append(out, leg{suffix: ":" + f.Path, from: f.From, to: f.To, amount: f.Value, places: coinPlaces, original: f.original})
		}
	}
	for _, m := range all {
		if m.event.Hash != e.Hash {
			continue
		}
		l := leg{suffix: ":log:" + strconv.FormatInt(int64(m.event.Index), 10) + m.suffix, from: m.from, to: m.to, amount: m.amount,
			contract: m.event.Address, token: m.token, original: m.event.original}
		if m.nft {
			l.kind = typeNFT
		} else {
			t, _ := r.token(m.event.Address)
			l.places, l.description = t.Places, t.Symbol
		}
		out = append(out, l)
	}
	return out
}

// source is the original of a record: what the node has said about it.
type source struct {
	Transaction json.RawMessage `json:"transaction,omitempty"`
	Receipt     json.RawMessage `json:"receipt,omitempty"`
	Detail      any             `json:"detail,omitempty"` // the event, the trace or the withdrawal
}

// place adds the record of a leg.
func (r *reader) place(out []placed, p *page, l leg, e executed, n int64) []placed {
	b := p.blocks[n]
	id := strconv.FormatInt(r.at.Chain, 10) + ":" + e.Hash + l.suffix
	original, err := json.Marshal(source{e.body.original, e.receipt.original, l.original})
	if err != nil {
		original = []byte("{}") // it was decoded from JSON
	}
	one := intake.Record{ExternalID: id, Group: cmp.Or(e.Hash, id), Timestamp: b.at(), Inflow: l.to == r.address, Currency: r.symbol,
		Type: l.kind, Description: l.description, ProviderCategory: l.category,
		Crypto: &intake.Crypto{Chain: r.chain, TransactionHash: e.Hash, BlockNumber: n, From: l.from, To: l.to, ContractAddress: l.contract,
			TokenID: l.token}}
	if l.contract != "" {
		one.Currency = r.currencyOf(l.contract)
	}
	one.Crypto.AssetType = one.Currency
	if e.Hash != "" {
		if one.ProviderCategory == "" {
			one.ProviderCategory = e.category()
		}
		if !e.succeeded() || p.failed[e.Hash] {
			one.Memo = "failed"
		}
	}
	amount, err := decimal(l.amount, max(l.places, 0))
	if err == nil && l.fee != nil {
		fee, wrong := decimal(l.fee, l.places)
		one.Crypto.FeeQuantity, one.Crypto.FeeAssetType, err = &fee, r.symbol, wrong
	}
	if err != nil || l.places < 0 {
		r.out.Omitted = append(r.out.Omitted, provider.Omission{ID: id, Reason: errAmount.Error(), Original: original})
		return out
	}
	one.Quantity = &amount
	return append(out, placed{provider.Record{Record: one, Original: original}, n, int64(e.Index), b.Hash})
}
