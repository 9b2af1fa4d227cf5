package evm

import (
	"context"
	"math/big"
)

// settle adds what validators have withdrawn to a page that was read with trace_filter, which does not state it. Such blocks are those in
// which the balance changes by something else than what the transactions move. Without old states they are not found.
func (r *reader) settle(ctx context.Context, p *page) error {
	if r.at.Trace != traceFilter || !r.validators {
		return nil
	}
	states := map[int64]state{-1: {new(big.Int), new(big.Int)}}
	if ok, err := r.states(ctx, states, []int64{p.from - 1, p.to}); err != nil || !ok {
		return err
	}
	changes := r.changes(p)
	found, end, ok, err := r.search(ctx, p, states, func(lo, hi int64) bool {
		sum := new(big.Int).Set(states[lo].balance)
		for n, change := range changes {
			if n > lo && n <= hi {
				sum.Add(sum, change)
			}
		}
		return sum.Cmp(states[hi].balance) != 0
	})
	if err != nil || !ok {
		return err
	}
	if end < p.to {
		p.to, p.shortened = end, true
		p.cut()
	}
	calls, keep := r.headers(p, append([]int64{p.to}, found...))
	if err := r.must(ctx, calls...); err != nil {
		return err
	}
	if err := keep(); err != nil {
		return err
	}
	for _, n := range found {
		p.withdrawn(r.address, p.blocks[n])
	}
	return nil
}

// changes returns by how much the transactions of a page change the coins of the wallet, by block.
func (r *reader) changes(p *page) map[int64]*big.Int {
	out := map[int64]*big.Int{}
	change := func(n int64, l leg) {
		if out[n] == nil {
			out[n] = new(big.Int)
		}
		if l.to == r.address {
			out[n].Add(out[n], l.amount)
		} else {
			out[n].Sub(out[n], l.amount)
		}
	}
	for hash, n := range p.hashes {
		for _, l := range r.legs(p, p.executed[hash], nil) {
			change(n, l)
		}
	}
	for _, f := range p.frames {
		if f.Hash == "" {
			change(f.Block, leg{to: f.To, amount: f.Value})
		}
	}
	return out
}
