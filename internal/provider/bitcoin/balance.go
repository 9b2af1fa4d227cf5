package bitcoin

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

// Balances returns what the wallet held after the last block that is final, which is the last one that Read reads.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	w, err := open(s)
	if err != nil {
		return provider.Holdings{}, err
	}
	c, err := dial(s)
	if err != nil {
		return provider.Holdings{}, err
	}
	all, err := c.blocks(ctx)
	if err != nil || len(all) < depth {
		return provider.Holdings{}, err
	}
	h := holding{client: c, w: w, to: all[depth-1].Height, used: make([]int, len(w.branches))}
	done := make([]int, len(w.branches))
	for more := true; more; {
		more = false
		for branch := range w.branches {
			for ; done[branch] < w.count(branch, h.used[branch]); done[branch]++ {
				more = true
				if err := h.add(ctx, place{branch, done[branch]}); err != nil {
					return provider.Holdings{}, err
				}
			}
		}
	}
	held := provider.Complete(map[string]money.Decimal{symbol: bitcoins(h.sum)})
	held.At = time.Unix(all[depth-1].Time, 0).UTC()
	return held, nil
}

// holding adds up what addresses hold after a block.
type holding struct {
	*client
	w    *wallet
	to   int64
	used []int
	sum  int64
}

// triesMax is how often an address is read if blocks arrive meanwhile.
const triesMax = 5

// add adds what an address holds: what it holds after the newest block, less what the transactions of blocks that are not final have
// changed. If there are such transactions, the sums are read once more, to be sure that both are of the same block.
func (h *holding) add(ctx context.Context, at place) error {
	to, err := h.w.output(at)
	if err != nil {
		return err
	}
	before, err := h.stats(ctx, to.address)
	if err != nil || before.Count == 0 {
		return err
	}
	h.used[at.branch] = max(h.used[at.branch], at.index+1)
	if err := h.w.recognize(h.used); err != nil {
		return err
	}
	for range triesMax {
		changed, young, err := h.young(ctx, at, to.address)
		if err != nil {
			return err
		}
		after := before
		if young {
			if after, err = h.stats(ctx, to.address); err != nil {
				return err
			}
		}
		if after == before {
			h.sum += before.Funded - before.Spent - changed
			return nil
		}
		before = after
	}
	return provider.Temporary(title, "the transactions of an address change while they are read")
}

// young returns what the transactions of blocks that are not final have changed at an address, and whether there are any.
func (h *holding) young(ctx context.Context, at place, address string) (changed int64, found bool, err error) {
	for last, final := "", false; ; {
		page, err := h.page(ctx, address, last)
		if err != nil {
			return 0, false, err
		}
		for _, t := range page {
			s, err := h.w.sum(t.original)
			for used := range s.changes { // as Read, it finds addresses behind the gap by the transactions that they take part in
				h.used[used.branch] = max(h.used[used.branch], used.index+1)
			}
			final = final || t.Status.Height <= h.to
			if final {
				continue
			}
			if err != nil {
				return 0, false, provider.Nonsense(title, err)
			}
			found = true
			changed += s.changes[at]
		}
		if final || len(page) < pageSize {
			return changed, found, nil
		}
		last = page[len(page)-1].ID
	}
}
