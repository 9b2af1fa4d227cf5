package bitcoin

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/provider"
)

// walk is the reading of one address. Esplora returns the newest transactions first: they are read down to the oldest one that is missing,
// and, if that takes several calls, once more in the opposite order of the calls.
type walk struct {
	Marks []string `json:"marks"`          // the transactions behind which calls began to read
	Last  string   `json:"last,omitempty"` // the last transaction that was read on the way down
	End   string   `json:"end,omitempty"`  // the transaction with which the next call on the way up ends
	Up    bool     `json:"up,omitempty"`
}

// walk reads transactions of an address, and reports whether it has read all.
func (r *reader) walk(ctx context.Context, at place) (done bool, err error) {
	to, err := r.w.output(at)
	if err != nil {
		return false, err
	}
	if r.at.Sweep.Walk == nil {
		r.at.Sweep.Walk = &walk{}
	}
	if r.at.Sweep.Walk.Up {
		return r.ascend(ctx, at, to.address)
	}
	return r.descend(ctx, at, to.address)
}

// descend reads down to the oldest transaction that is missing. The transactions of this call are kept if it is reached.
func (r *reader) descend(ctx context.Context, at place, address string) (done bool, err error) {
	w := r.at.Sweep.Walk
	w.Marks = append(w.Marks, w.Last)
	var all []transaction
	for r.left > 0 {
		page, err := r.pageOf(ctx, address, w.Last)
		if err != nil {
			return false, err
		}
		found, bottom := r.missing(at, page)
		if err := r.extend(found); err != nil {
			return false, err
		}
		all = append(all, found...)
		if bottom || len(page) < pageSize {
			w.climb()
			return len(w.Marks) == 0, r.add(at, all)
		}
		w.Last = page[len(page)-1].ID
	}
	return false, nil
}

// climb goes on to the transactions that an earlier call has read.
func (w *walk) climb() {
	top := len(w.Marks) - 1
	w.End, w.Up, w.Last = w.Marks[top], true, ""
	w.Marks = w.Marks[:top]
}

// ascend reads again what a call has read on the way down.
func (r *reader) ascend(ctx context.Context, at place, address string) (done bool, err error) {
	w := r.at.Sweep.Walk
	last := w.Marks[len(w.Marks)-1]
	var all []transaction
	for range 2 * requestsMax {
		page, err := r.page(ctx, address, last)
		if err != nil {
			return false, err
		}
		if len(page) == 0 {
			break
		}
		for i, t := range page {
			if t.ID == w.End {
				found, _ := r.missing(at, page[:i+1])
				w.climb()
				r.left = 0 // a further one may take more requests than are left
				return len(w.Marks) == 0, r.add(at, append(all, found...))
			}
		}
		found, _ := r.missing(at, page)
		all = append(all, found...)
		last = page[len(page)-1].ID
	}
	r.at.Sweep.Walk, r.left = nil, 0 // blocks were replaced, so that the address has to be read again
	return false, nil
}

// pageOf returns transactions of an address, and remembers the newest one that is final.
func (r *reader) pageOf(ctx context.Context, address, before string) (page []transaction, err error) {
	if page, err = r.page(ctx, address, before); err != nil {
		return nil, err
	}
	if before == "" && r.w.single() {
		final := slices.IndexFunc(page, func(t transaction) bool { return t.Status.Height <= r.at.Sweep.To })
		if final >= 0 {
			r.at.Newest = newestOf(page[final:])
		}
	}
	return page, nil
}

// missing returns the transactions that are final and were not read yet, and whether it has seen one that was.
func (r *reader) missing(at place, page []transaction) (out []transaction, bottom bool) {
	from := r.at.Height
	if at.index >= r.at.Walked[at.branch] {
		from = 0 // an address that is new to the wallet
	}
	for _, t := range page {
		if t.Status.Height <= from {
			return out, true
		}
		if t.Status.Height <= r.at.Sweep.To {
			out = append(out, t)
		}
	}
	return out, false
}

// extend marks the addresses of transactions as used, and derives those that follow them.
func (r *reader) extend(all []transaction) error {
	if len(all) == 0 {
		return nil
	}
	if err := r.w.recognize(r.at.Used); err != nil {
		return err
	}
	for _, t := range all {
		s, _ := r.w.sum(t.original)
		for at := range s.changes {
			r.at.Used[at.branch] = max(r.at.Used[at.branch], at.index+1)
		}
	}
	return r.w.recognize(r.at.Used)
}

// add adds the records of transactions. One that concerns several addresses is added at the first of them.
func (r *reader) add(at place, all []transaction) error {
	if len(all) == 0 {
		return nil
	}
	if err := r.w.recognize(r.at.Used); err != nil {
		return err
	}
	for _, t := range all {
		s, err := r.w.sum(t.original)
		if err != nil {
			r.out.Omitted = append(r.out.Omitted, provider.Omission{ID: t.ID, Reason: err.Error(), Original: t.original})
			continue
		}
		if s.home != at || !s.found {
			continue
		}
		if record := t.record(s); record != nil {
			r.out.Records = append(r.out.Records, *record)
			r.at.Recent = append(r.at.Recent, recent{t.ID, t.Status.Height, tail(t.Status.Hash)})
		}
	}
	return nil
}
