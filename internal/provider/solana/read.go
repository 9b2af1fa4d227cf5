package solana

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// requestsMax is how many requests a call of Read should send.
	requestsMax = 20
	// settled is the age from which on a transaction that a server does not have is not expected to appear there any more.
	settled = 48 * time.Hour
)

// position is a cursor: the accounts whose transactions are read one after the other, and how far.
type position struct {
	Accounts []account `json:"accounts"` // the wallet, and its token accounts in the order in which they were found
	Sweep    *sweep    `json:"sweep,omitempty"`
}

// account is an account of a wallet, and the newest transaction that was read.
type account struct {
	Key  string `json:"key"`
	Last string `json:"last,omitempty"`
	Slot int64  `json:"slot,omitempty"`
}

// sweep is the reading of all accounts.
type sweep struct {
	Index int `json:"index"`
	// Marks are the transactions before which pages of the list begin, the newest first. Servers return the newest transactions first: the
	// pages are looked up down to the oldest one, and read in the opposite order.
	Marks []string `json:"marks"`
	Up    bool     `json:"up,omitempty"`
}

// reader is a call of Read.
type reader struct {
	*client
	owner string
	at    position
	out   provider.Page
	known map[string]bool
	nfts  map[string]bool // by mint, whether it is an NFT

	page   []entry // the last one that was looked up
	before string
}

// Read returns the records of further transactions. Within a page they are in the order of their times. The accounts of a wallet are read
// one after the other.
func (Connector) Read(ctx context.Context, s *provider.Session, _, cursor string) (provider.Page, error) {
	r := reader{known: map[string]bool{}, nfts: map[string]bool{}}
	if err := provider.ParseCursor(cursor, &r.at); err != nil {
		return provider.Page{}, err
	}
	var err error
	if r.owner, err = ownerOf(s); err != nil {
		return provider.Page{}, err
	}
	if r.client, err = dial(s); err != nil {
		return provider.Page{}, err
	}
	if len(r.at.Accounts) == 0 {
		r.at.Accounts = []account{{Key: r.owner}}
	}
	if r.at.Accounts[0].Key != r.owner || r.at.Sweep != nil && (r.at.Sweep.Index < 0 || r.at.Sweep.Index >= len(r.at.Accounts)) {
		return provider.Page{}, fault.Conflictf("the position in the history belongs to another wallet: disconnect the wallet and " +
			"connect it again")
	}
	for _, a := range r.at.Accounts {
		r.known[a.Key] = true
	}
	if err := r.read(ctx); err != nil {
		return provider.Page{}, err
	}
	slices.SortStableFunc(r.out.Records, func(a, b provider.Record) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.Crypto.BlockNumber, b.Crypto.BlockNumber))
	})
	r.out.Cursor = provider.FormatCursor(r.at)
	return r.out, nil
}

func (r *reader) read(ctx context.Context) error {
	if r.at.Sweep == nil {
		all, err := r.holdings(ctx, r.owner)
		if err != nil {
			return err
		}
		keys := make([]string, 0, len(all))
		for _, one := range all {
			keys = append(keys, one.Key)
		}
		r.find(keys)
		r.at.Sweep = &sweep{Marks: []string{""}}
	}
	for r.left > 0 {
		done, err := r.walk(ctx)
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		if r.at.Sweep.Index+1 == len(r.at.Accounts) {
			r.at.Sweep = nil
			return nil
		}
		r.at.Sweep = &sweep{Index: r.at.Sweep.Index + 1, Marks: []string{""}}
	}
	r.out.More = true
	return nil
}

// find adds token accounts that are new.
func (r *reader) find(keys []string) {
	slices.Sort(keys)
	for _, key := range keys {
		if !r.known[key] {
			r.known[key] = true
			r.at.Accounts = append(r.at.Accounts, account{Key: key})
		}
	}
}

// walk looks up a page of an account, or reads transactions of one, and reports whether all transactions of the account were read.
func (r *reader) walk(ctx context.Context) (done bool, err error) {
	s, a := r.at.Sweep, r.at.Accounts[r.at.Sweep.Index]
	if len(s.Marks) == 0 {
		return true, nil
	}
	before := s.Marks[len(s.Marks)-1]
	if before == "" && r.page == nil {
		s.Up = false // transactions may have been added, so that this page no longer reaches down to the next one
	}
	if r.page == nil || r.before != before || !s.Up {
		page, err := r.list(ctx, a.Key, before, a.Last)
		if err != nil {
			return false, err
		}
		page = slices.DeleteFunc(page, func(e entry) bool { return *e.Slot < a.Slot }) // the server does not know the last one
		switch {
		case s.Up:
		case len(page) == 0:
			s.Marks, s.Up = s.Marks[:len(s.Marks)-1], true
			return len(s.Marks) == 0, nil
		default:
			next := page[len(page)-1].Signature
			if slices.Contains(s.Marks, next) {
				return false, provider.Nonsense(title, errors.New("a page of transactions follows itself"))
			}
			s.Marks = append(s.Marks, next)
			r.page, r.before = page, before
			return false, nil
		}
		r.page, r.before = page, before
	}
	for len(r.page) > 0 {
		if r.left <= 0 {
			return false, nil
		}
		last := r.page[len(r.page)-1]
		if err := r.add(ctx, last); err != nil {
			return false, err
		}
		own := &r.at.Accounts[s.Index]
		own.Last, own.Slot = last.Signature, *last.Slot
		r.page = r.page[:len(r.page)-1]
	}
	r.page = nil
	s.Marks = s.Marks[:len(s.Marks)-1]
	return len(s.Marks) == 0, nil
}

// add adds the records of a transaction. One that concerns several accounts is added with the first of them.
func (r *reader) add(ctx context.Context, e entry) error {
	here := r.at.Accounts[r.at.Sweep.Index].Key
	if here != r.owner && !isNull(e.Err) {
		return nil // a failed transaction moves nothing but the fee, which the wallet pays, if at all
	}
	original, err := r.transaction(ctx, e.Signature)
	omit := func(reason error) {
		o := provider.Omission{ID: e.Signature, Reason: reason.Error(), Original: original}
		if isNull(original) {
			o.Original = []byte(fmt.Sprintf(`{"signature":%q}`, e.Signature))
		}
		r.out.Omitted = append(r.out.Omitted, o)
	}
	switch {
	case errors.Is(err, errMissing) && e.Time != nil && r.s.Now().Sub(time.Unix(*e.Time, 0)) < settled:
		return provider.Temporary(title, "the server does not have a transaction yet")
	case errors.Is(err, errMissing), errors.Is(err, errVersion):
		omit(err)
		return nil
	case err != nil:
		return err
	}
	t, err := parse(original)
	if err != nil {
		omit(err)
		return nil
	}
	if r.home(t) != here {
		return nil
	}
	effect, err := t.effect(r.owner, r.known)
	if err == nil && (t.Time == nil || *t.Time <= 0) {
		err = errTime
	}
	if err != nil {
		omit(err)
		return nil
	}
	r.find(effect.accounts)
	if err := r.identify(ctx, effect); err != nil {
		return err
	}
	r.out.Records = append(r.out.Records, t.records(e.Signature, r.owner, effect, r.nfts)...)
	return nil
}

// home returns the first account of the wallet that takes part in a transaction.
func (r *reader) home(t transaction) string {
	for _, a := range r.at.Accounts {
		if slices.Contains(t.keys, a.Key) {
			return a.Key
		}
	}
	return ""
}

// identify finds out which tokens of a transaction are NFTs: those of which there is one, or was one before it was burned.
func (r *reader) identify(ctx context.Context, e effect) error {
	one := money.FromInt(1)
	for mint, f := range e.byMint {
		if _, known := r.nfts[mint]; known || f.places > 0 || !f.own.Abs().Equal(one) {
			continue
		}
		var supply struct {
			Value amount `json:"value"`
		}
		if err := r.call(ctx, "getTokenSupply", []any{mint, settings{"commitment": "finalized"}}, &supply); err != nil {
			if fault.KindOf(err) != fault.Conflict {
				return err
			}
			r.nfts[mint] = true // the mint was closed, which takes that all of its tokens were burned
			continue
		}
		n, err := supply.Value.decimal()
		if err != nil {
			return provider.Nonsense(title, err)
		}
		r.nfts[mint] = n.Cmp(one) <= 0
	}
	return nil
}
