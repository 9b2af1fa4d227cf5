package kucoin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// pagesMax is how many pages of KuCoin become one page here, as far as entries can be told apart by time. KuCoin has 50 at most.
	pagesMax = 10
	// rangesMax is how many ranges of time without entries are read at once.
	rangesMax = 2
	// endsMax bounds a cursor.
	endsMax = 500
	// overlap is by how much entries are read again, because KuCoin may show one some time after the time that it states.
	overlap = 30 * time.Minute
	// stale is how old the beginning of the last range may become while there is nothing new. KuCoin allows for 24 hours.
	stale = 20 * time.Hour
	// seenEvery is how often a cursor is changed to say that the ledger was read to its end.
	seenEvery = 24 * time.Hour
)

// The ledgers.
const (
	account       = "account"
	highFrequency = "trade_hf"
	margin        = "margin_hf"
)

// span is a cursor: which entries follow, by time in milliseconds. KuCoin returns the newest entries first. To return the oldest ones
// first, Read divides the time into ranges whose entries fit into a page. It does so from the end to the beginning, and returns no records
// meanwhile.
type span struct {
	From int64 `json:"from,omitempty"` // entries before it were read
	Ends []end `json:"ends,omitempty"` // of the ranges found, the newest first
	Seen int64 `json:"seen,omitempty"` // when the ledger was read to its end, to tell what was missed
}

// end is the end of a range: a time, and the id of an entry of that time.
type end struct {
	At int64  `json:"at"`
	ID string `json:"id"`
}

// bounds is a range of time in milliseconds, without its end.
type bounds struct {
	from, until int64
	last        string // the id of an entry after all those before the end, empty if it is not known
}

// book is one of the ledgers.
type book struct {
	path     string
	pageSize int
	shows    time.Duration // for how long it shows an entry at least
	reason   string        // why there is a gap
	numbered bool          // pages have numbers, and not the id of the entry before them
}

// window is the longest range of time that is asked for. Without a range, or with a longer one, KuCoin takes another one, such as the last
// 24 hours, and does not say so.
const window = 23 * time.Hour

// week is for how long KuCoin shows trading.
const week = 7 * 24 * time.Hour

// reserve is how long before KuCoin stops to show them entries are given up. Otherwise a range could begin too early when KuCoin sees the
// request, and KuCoin would take another one.
const reserve = time.Hour

// opened is a time before all entries.
var opened = time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)

var books = map[string]book{
	account: {path: "/api/v1/accounts/ledgers", pageSize: 500, shows: 364 * 24 * time.Hour, numbered: true,
		reason: "KuCoin shows the account for the last year only. If the account is older, download its earlier history in KuCoin and import " +
			"the files"},
	highFrequency: {path: "/api/v1/hf/accounts/ledgers", pageSize: 200, shows: week,
		reason: "KuCoin shows high-frequency trading for about a week only. Download what is older in KuCoin and import the files"},
	margin: {path: "/api/v3/hf/margin/account/ledgers", pageSize: 200, shows: week,
		reason: "KuCoin shows margin trading for about a week only. Download what is older in KuCoin and import the files"},
}

// query asks for a page of a range of time: the one with a number, or the newest entries that precede an entry. It does not matter whether
// KuCoin includes the ends of the range.
func (b book) query(in bounds, page int, last string) url.Values {
	form := url.Values{"startAt": {strconv.FormatInt(in.from-1, 10)}, "endAt": {strconv.FormatInt(in.until, 10)}}
	if b.numbered {
		form.Set("currentPage", strconv.Itoa(page))
		form.Set("pageSize", strconv.Itoa(b.pageSize))
		return form
	}
	form.Set("limit", strconv.Itoa(b.pageSize))
	if last != "" {
		form.Set("lastId", last)
	}
	return form
}

var errList = errors.New("there is no list of entries")

// page returns a page of a ledger.
func (b book) page(ctx context.Context, s *provider.Session, form url.Values) (out []json.RawMessage, err error) {
	if !b.numbered {
		err = get(ctx, s, b.path, ledgerCost, form, &out)
		return out, err
	}
	var all struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := get(ctx, s, b.path, ledgerCost, form, &all); err != nil {
		return nil, err
	}
	if all.Items == nil { // which must not pass for an empty list, the end of the entries
		return nil, provider.Nonsense(title, errList)
	}
	return all.Items, nil
}

// Read returns the next entries of a ledger.
func (Connector) Read(ctx context.Context, s *provider.Session, ledger, cursor string) (out provider.Page, err error) {
	var at span
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return out, err
	}
	b, known := books[ledger]
	if !known {
		return out, fault.Conflictf("KuCoin has no ledger %q", ledger)
	}
	now := s.Now()
	out.Gaps = b.advance(&at, now)
	for range rangesMax {
		if err := b.next(ctx, s, ledger, &at, now, &out); err != nil {
			return provider.Page{}, err
		}
		if !out.More || len(out.Records)+len(out.Omitted) > 0 {
			break
		}
	}
	out.Cursor = provider.FormatCursor(at)
	return out, nil
}

// advance moves a cursor to entries that KuCoin still shows, and returns what it does not show and was not read before.
func (b book) advance(at *span, now time.Time) (out []provider.Gap) {
	shown := now.Add(reserve - b.shows)
	if at.From < shown.Add(-reserve/2).UnixMilli() { // not at each request, because that would be a gap each time
		since := opened
		if read := max(at.From, at.Seen); len(at.Ends) > 0 {
			since = time.UnixMilli(at.From).UTC() // a range is only read in part
		} else if read > 0 {
			since = time.UnixMilli(read).UTC()
		}
		if since.Before(shown) {
			out = []provider.Gap{{From: since, Through: shown, Reason: b.reason}}
		}
		at.From = shown.UnixMilli()
	}
	at.Ends = slices.DeleteFunc(at.Ends, func(e end) bool { return e.At <= at.From })
	if n := len(at.Ends); n > 0 && at.Ends[n-1].At-at.From > window.Milliseconds() { // as cursors of an earlier version
		at.Ends = nil
	}
	return out
}

// next reads the next range of time and moves the cursor.
func (b book) next(ctx context.Context, s *provider.Session, ledger string, at *span, now time.Time, out *provider.Page) error {
	in, last := bounds{from: at.From}, true
	if n := len(at.Ends); n > 0 {
		in.until, in.last, at.Ends, last = at.Ends[n-1].At, at.Ends[n-1].ID, at.Ends[:n-1], false
	} else {
		in.until = at.From + window.Milliseconds()
		if last = in.until > now.Add(-overlap).UnixMilli(); last {
			in.until = now.UnixMilli() // the range is still shorter than 24 hours
		}
	}
	rows, reached, err := b.rows(ctx, s, in, now)
	if err != nil {
		return err
	}
	if reached.At > 0 {
		if !last { // the last range has no end next time
			at.Ends = append(at.Ends, end{in.until, in.last})
		}
		at.Ends = append(at.Ends, reached)
		at.Ends = at.Ends[max(len(at.Ends)-endsMax, 0):]
		out.More = true
		return nil
	}
	newest := int64(0)
	for _, r := range inside(rows, in) {
		newest = max(newest, min(r.at, now.UnixMilli())) // a wrong time must not become the cursor
		r.addTo(out, ledger)
	}
	if out.More = !last; out.More {
		at.From = in.until
		return nil
	}
	if newest > 0 {
		at.From = max(at.From, newest-overlap.Milliseconds())
	}
	if now.UnixMilli()-at.From > stale.Milliseconds() {
		at.From = now.Add(-overlap).UnixMilli()
	}
	if now.Sub(time.UnixMilli(at.Seen)) > seenEvery {
		at.Seen = now.UnixMilli()
	}
	return nil
}

// inside returns the rows of a range, the oldest first, and those without a time.
func inside(rows []row, in bounds) []row {
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.at > 0 && (r.at < in.from || r.at >= in.until) })
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(rows, func(a, b row) bool { return a.ID != "" && a.ID == b.ID })
}

var errStuck = errors.New("the entries of a page have no ids, or those of the page before")

// rows returns the entries of a range, the newest first, and perhaps some before it. If they are too many, it returns the time that was
// reached instead, which divides the range.
func (b book) rows(ctx context.Context, s *provider.Session, in bounds, now time.Time) (all []row, reached end, err error) {
	settled := now.Add(-overlap).UnixMilli() // what is newer is read as a whole, so that it is read again next time
	before := in.last
	for page := 1; ; page++ {
		some, err := b.page(ctx, s, b.query(in, page, before))
		if err != nil {
			return nil, end{}, err
		}
		last, oldest := before, int64(0)
		for _, original := range some {
			r := parse(original)
			all = append(all, r)
			if r.at > 0 {
				last, oldest = string(r.ID), r.at
			}
		}
		switch {
		case len(some) < b.pageSize || oldest > 0 && oldest < in.from:
			return all, end{}, nil
		case last == before:
			return nil, end{}, provider.Nonsense(title, errStuck)
		case page >= pagesMax && oldest > in.from && oldest <= settled && oldest < in.until:
			return nil, end{oldest, last}, nil
		}
		before = last
	}
}
