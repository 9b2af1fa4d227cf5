package evm

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/provider"
)

// flat is a call of a transaction as trace_filter returns it.
type flat struct {
	Type   string `json:"type"`
	Action struct {
		CallType string `json:"callType"`
		From     string `json:"from"`
		To       string `json:"to"`
		Value    number `json:"value"`
		// Of the end of a contract.
		Address string `json:"address"`
		Refund  string `json:"refundAddress"`
		Balance number `json:"balance"`
		// Of a reward for a block.
		Author string `json:"author"`
		Reward string `json:"rewardType"`
	} `json:"action"`
	Result *struct {
		Address string `json:"address"`
	} `json:"result"`
	Error     string  `json:"error"`
	Path      []int   `json:"traceAddress"`
	Hash      *string `json:"transactionHash"`
	Block     int64   `json:"blockNumber"`
	BlockHash string  `json:"blockHash"`

	original json.RawMessage
}

// path returns the places of the calls that have led to a call.
func (f flat) path() string {
	parts := make([]string, len(f.Path))
	for i, n := range f.Path {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ".")
}

// frame returns the movement of coins of a call, and false if it moves none.
func (f flat) frame() (out frame, ok bool) {
	a := f.Action
	out = frame{Block: f.Block, BlockHash: strings.ToLower(f.BlockHash), Path: f.path(), original: f.original}
	if f.Hash != nil {
		out.Hash = strings.ToLower(*f.Hash)
	}
	switch {
	case f.Error != "":
		return out, false
	case f.Type == "call" && a.CallType == "call":
		out.From, out.To, out.Value = a.From, a.To, a.Value.Int
	case f.Type == "create" && f.Result != nil:
		out.From, out.To, out.Value = a.From, f.Result.Address, a.Value.Int
	case f.Type == "suicide":
		out.From, out.To, out.Value = a.Address, a.Refund, a.Balance.Int
	case f.Type == "reward" && out.Hash == "":
		out.To, out.Value, out.Path, out.category = a.Author, a.Value.Int, "reward:"+strconv.FormatInt(f.Block, 10)+":"+a.Reward, "block reward"
	default:
		return out, false
	}
	out.From, out.To = strings.ToLower(out.From), strings.ToLower(out.To)
	return out, out.Value != nil && out.Value.Sign() > 0
}

// readFlat returns the calls in a result.
func readFlat(raw json.RawMessage, into *[]flat) error {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	if all == nil {
		return errForm
	}
	*into = nil
	for _, one := range all {
		var f flat
		if err := json.Unmarshal(one, &f); err != nil {
			return err
		}
		if f.Hash != nil && !isHash(strings.ToLower(*f.Hash)) || f.Block < 0 || !isHash(strings.ToLower(f.BlockHash)) ||
			f.Hash == nil && f.Type != "reward" {
			return errForm
		}
		f.original = one
		*into = append(*into, f)
	}
	return nil
}

// filter finds the coins that move in a page with trace_filter: transactions of the wallet, and calls from and to it.
func (r *reader) filter(ctx context.Context, p *page) (large bool, err error) {
	found := make([][]flat, 2)
	calls := make([]*call, 2)
	for i, field := range []string{"fromAddress", "toAddress"} {
		calls[i] = &call{method: "trace_filter", params: []any{map[string]any{"fromBlock": quantity(p.from), "toBlock": quantity(p.to),
			field: []string{r.address}}}, read: func(raw json.RawMessage) error { return readFlat(raw, &found[i]) }}
	}
	if err := r.do(ctx, calls...); err != nil {
		if errors.Is(err, provider.ErrTooLarge) && p.to > p.from {
			return true, nil
		}
		return false, err
	}
	for _, one := range calls {
		if one.refused.tooLarge() && p.to > p.from {
			return true, nil
		}
		if one.refused != nil {
			return false, r.refuses(one)
		}
	}
	inner, seen := map[string]bool{}, map[string]bool{}
	var all []frame
	for _, f := range slices.Concat(found...) {
		if f.Block < p.from || f.Block > p.to {
			return false, r.nonsense("a trace of another block")
		}
		one, moves := f.frame()
		if key := one.Hash + ":" + one.Path; seen[key] || one.Hash == "" && !moves {
			continue
		} else {
			seen[key] = true
		}
		switch {
		case one.Hash != "" && one.Path == "":
			if p.hashes[one.Hash] = f.Block; f.Error != "" {
				p.failed[one.Hash] = true
			}
		case moves && (one.From == r.address) != (one.To == r.address):
			if all = append(all, one); one.Hash != "" {
				inner[one.Hash] = true
			}
		}
	}
	reverted, err := r.reverted(ctx, inner)
	if err != nil {
		return false, err
	}
	for _, one := range all {
		if one.Hash != "" && within(one.Path, reverted[one.Hash]) {
			continue
		}
		p.frames = append(p.frames, one)
		if one.Hash != "" {
			p.hashes[one.Hash] = one.Block
		}
	}
	return false, nil
}

// reverted returns the calls that failed in transactions. trace_filter returns calls inside of them as if they had happened.
func (r *reader) reverted(ctx context.Context, hashes map[string]bool) (map[string][]string, error) {
	out := map[string][]string{}
	var calls []*call
	for _, hash := range slices.Sorted(maps.Keys(hashes)) {
		calls = append(calls, &call{method: "trace_transaction", params: []any{hash}, read: func(raw json.RawMessage) error {
			var all []flat
			if err := readFlat(raw, &all); err != nil {
				return err
			}
			out[hash] = nil
			for _, f := range all {
				if f.Error != "" {
					out[hash] = append(out[hash], f.path())
				}
			}
			return nil
		}})
	}
	return out, r.must(ctx, calls...)
}

// within reports whether a call is one of several, or inside of one.
func within(path string, of []string) bool {
	return slices.ContainsFunc(of, func(outer string) bool {
		return outer == "" || path == outer || strings.HasPrefix(path, outer+".")
	})
}
