package bitcoin

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// requestsMax is how many requests a call of Read should send.
	requestsMax = 12
	// recentBlocks and recentMax bound which records are remembered, so that they can be taken back if their block is replaced.
	recentBlocks = 100
	recentMax    = 200
)

// position is a cursor. All records of the blocks up to a height were read, of the addresses that were walked.
type position struct {
	Height int64    `json:"height,omitempty"`
	Hash   string   `json:"hash,omitempty"`   // of the block
	Newest string   `json:"newest,omitempty"` // the newest transaction of a wallet with one address, and the end of the hash of its block
	Used   []int    `json:"used"`             // by branch, the number of addresses up to the last one with a transaction
	Walked []int    `json:"walked"`           // by branch, the number of addresses whose history was read
	Recent []recent `json:"recent,omitempty"`
	Sweep  *sweep   `json:"sweep,omitempty"`
}

// recent is a record of one of the last blocks.
type recent struct {
	ID     string `json:"id"`
	Height int64  `json:"height"`
	Block  string `json:"block"` // the end of its hash
}

// sweep is the reading of all addresses up to a block.
type sweep struct {
	To   int64  `json:"to"`
	Hash string `json:"hash"`
	Done []int  `json:"done"` // by branch, the number of addresses that were read
	Walk *walk  `json:"walk,omitempty"`
}

// tailSize is how many characters of a hash are remembered. The first ones are zeros.
const tailSize = 16

func tail(hash string) string { return hash[max(len(hash)-tailSize, 0):] }

// reader is a call of Read.
type reader struct {
	*client
	w   *wallet
	at  position
	out provider.Page
}

// Read returns the records of further transactions. Within a page they are in the order of their times, and so are the pages of a wallet
// with one address. The addresses of other wallets are read one after the other.
func (Connector) Read(ctx context.Context, s *provider.Session, _, cursor string) (provider.Page, error) {
	var r reader
	if err := provider.ParseCursor(cursor, &r.at); err != nil {
		return r.out, err
	}
	var err error
	if r.w, err = open(s); err != nil {
		return r.out, err
	}
	if r.client, err = dial(s); err != nil {
		return r.out, err
	}
	if r.at.Used == nil {
		r.at.Used, r.at.Walked = make([]int, len(r.w.branches)), make([]int, len(r.w.branches))
	}
	if !r.at.valid(len(r.w.branches)) {
		return r.out, fault.Conflictf("the position in the history belongs to another wallet: disconnect the wallet and connect it again")
	}
	return r.read(ctx)
}

// valid reports whether a position can be one of a wallet with a number of branches.
func (p position) valid(branches int) bool {
	return len(p.Used) == branches && len(p.Walked) == branches && (p.Sweep == nil || len(p.Sweep.Done) == branches)
}

func (r *reader) read(ctx context.Context) (provider.Page, error) {
	if r.at.Sweep == nil {
		more, err := r.begin(ctx)
		if err != nil {
			return provider.Page{}, err
		}
		if !more {
			return r.finish(), nil
		}
	}
	for r.left > 0 {
		next, ok := r.next()
		if !ok {
			r.complete()
			return r.finish(), nil
		}
		done, err := r.walk(ctx, next)
		if err != nil {
			return provider.Page{}, err
		}
		if !done {
			break
		}
		r.at.Sweep.Walk = nil
		r.at.Sweep.Done[next.branch]++
	}
	r.out.More = true
	return r.finish(), nil
}

// begin begins to read the transactions of new blocks, and reports whether there are any. It takes one request to find out that there are
// none. The transactions that this request returns are asked for again, because they are older than the block up to which is read.
func (r *reader) begin(ctx context.Context) (bool, error) {
	if r.w.single() && r.at.Hash != "" {
		at, err := r.w.output(place{})
		if err != nil {
			return false, err
		}
		newest, err := r.page(ctx, at.address, "")
		if err != nil || newestOf(newest) == r.at.Newest {
			return false, err
		}
	}
	all, err := r.blocks(ctx)
	if err != nil || len(all) < depth {
		return false, err
	}
	last := all[depth-1]
	if r.at.Hash != "" {
		if all[0].Height < r.at.Height || last.ID == r.at.Hash { // a server that is behind, or no new block
			return false, nil
		}
		replaced, err := r.replaced(ctx, all)
		if err != nil {
			return false, err
		}
		if replaced {
			return false, r.rollBack(ctx)
		}
		if last.Height <= r.at.Height {
			return false, nil
		}
	}
	r.at.Sweep = &sweep{To: last.Height, Hash: last.ID, Done: make([]int, len(r.w.branches))}
	return true, nil
}

// newestOf returns how the newest of several transactions is remembered.
func newestOf(all []transaction) string {
	if len(all) == 0 {
		return ""
	}
	return all[0].ID + ":" + tail(all[0].Status.Hash)
}

// replaced reports whether the block up to which was read is no longer in the best chain.
func (r *reader) replaced(ctx context.Context, newest []block) (bool, error) {
	for _, b := range newest {
		if b.Height == r.at.Height {
			return b.ID != r.at.Hash, nil
		}
	}
	hash, err := r.hash(ctx, r.at.Height)
	return err == nil && hash != r.at.Hash, err
}

// rollBack takes back the records of blocks that are no longer in the best chain, and goes back to one that is.
func (r *reader) rollBack(ctx context.Context) (err error) {
	all := r.at.Recent
	slices.SortStableFunc(all, func(a, b recent) int { return cmp.Compare(b.Height, a.Height) })
	height, hash := max(r.at.Height-recentBlocks, 0), ""
	for r.at.Recent = nil; len(all) > 0; {
		count := 1
		for count < len(all) && all[count].Height == all[0].Height {
			count++
		}
		hash, err = r.hash(ctx, all[0].Height)
		if err != nil && !errors.Is(err, errMissing) {
			return err
		}
		valid := true
		for _, one := range all[:count] {
			if one.Block != tail(hash) {
				valid = false
				r.out.Removed = append(r.out.Removed, one.ID)
			}
		}
		if valid {
			height, r.at.Recent = all[0].Height, all
			break
		}
		all, hash = all[count:], ""
	}
	if hash == "" && height > 0 {
		if hash, err = r.hash(ctx, height); err != nil {
			return err
		}
	}
	r.at.Height, r.at.Hash, r.at.Newest, r.out.More = height, hash, "", true
	return nil
}

// next returns the next address to read, and false if all were read.
func (r *reader) next() (place, bool) {
	for branch, done := range r.at.Sweep.Done {
		if done < r.w.count(branch, r.at.Used[branch]) {
			return place{branch, done}, true
		}
	}
	return place{}, false
}

// complete ends a sweep.
func (r *reader) complete() {
	r.at.Height, r.at.Hash = r.at.Sweep.To, r.at.Sweep.Hash
	r.at.Walked, r.at.Sweep = r.at.Sweep.Done, nil
}

// finish sorts a page, forgets the records of older blocks, and sets the cursor.
func (r *reader) finish() provider.Page {
	slices.SortFunc(r.out.Records, func(a, b provider.Record) int {
		order := cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.Crypto.BlockNumber, b.Crypto.BlockNumber))
		if order == 0 && a.Inflow != b.Inflow {
			order = 1
			if a.Inflow {
				order = -1
			}
		}
		return cmp.Or(order, cmp.Compare(a.ExternalID, b.ExternalID))
	})
	slices.SortFunc(r.at.Recent, func(a, b recent) int { return cmp.Or(cmp.Compare(b.Height, a.Height), cmp.Compare(a.ID, b.ID)) })
	r.at.Recent = slices.Compact(r.at.Recent)
	lowest := r.at.Height
	if r.at.Sweep != nil {
		lowest = r.at.Sweep.To
	}
	r.at.Recent = slices.DeleteFunc(r.at.Recent, func(one recent) bool { return one.Height <= lowest-recentBlocks })
	if len(r.at.Recent) > recentMax {
		r.at.Recent = r.at.Recent[:recentMax]
	}
	r.out.Cursor = provider.FormatCursor(r.at)
	return r.out
}
