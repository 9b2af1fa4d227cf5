package okx

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
	// pageSize is how many bills OKX returns at a time.
	pageSize = 100
	// pagesMax is how many of its pages become one page here, as far as bills can be told apart by time.
	pagesMax = 10
	// endsMax bounds a cursor.
	endsMax = 500
	// overlap is by how much bills are read again, because OKX may show one some time after the time that it states.
	overlap = 15 * time.Minute
	// seenEvery is how often a cursor is changed to say that the ledger was read.
	seenEvery = 7 * 24 * time.Hour
)

// span is a cursor: which bills follow, by time in milliseconds. OKX returns the newest bills first. To return the oldest ones first, Read
// divides the time into ranges whose bills fit into a page. It does so from the end to the beginning, and returns no records meanwhile.
type span struct {
	From int64   `json:"from,omitempty"` // bills before it were read
	Ends []int64 `json:"ends,omitempty"` // of the ranges found, the newest first
	Seen int64   `json:"seen,omitempty"` // when the ledger was read, to tell what was missed
}

// The ledgers.
const (
	funding = "funding"
	trading = "trading"
)

// book is one of the two ledgers of an account.
type book struct {
	path string
	cost int
	// since returns the time of the oldest bill that OKX shows.
	since func(now time.Time) time.Time
	// query asks for the newest bills of a range of time, or for those that precede one with an id.
	query func(in bounds, before string) url.Values
	// reason says why there is a gap before the time of the oldest bill.
	reason string
}

// bounds is a range of time in milliseconds, without its end, which is zero if there is none.
type bounds struct{ from, until int64 }

// opened is a time before all bills.
var opened = time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)

// fundingSince is the time since which OKX shows bills of the funding account.
var fundingSince = time.Date(2021, 2, 1, 0, 0, 0, 0, time.UTC)

var books = map[string]book{
	funding: {path: "/api/v5/asset/bills-history", cost: fundingCost, query: fundingQuery,
		since: func(time.Time) time.Time { return fundingSince },
		reason: "OKX shows the funding account since February 2021 only. If the account is older, download its earlier history in OKX and " +
			"import the files"},
	trading: {path: "/api/v5/account/bills-archive", cost: tradingCost, query: tradingQuery,
		since: func(now time.Time) time.Time { return now.AddDate(0, -3, 0) },
		reason: "OKX shows the trading account for the last three months only. If the account is older, download its earlier history in " +
			"OKX and import the files"},
}

// tradingQuery states the range of time so that it does not matter whether OKX includes its ends.
func tradingQuery(in bounds, before string) url.Values {
	form := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if in.from > 0 {
		form.Set("begin", strconv.FormatInt(in.from-1, 10))
	}
	if in.until > 0 {
		form.Set("end", strconv.FormatInt(in.until, 10))
	}
	if before != "" {
		form.Set("after", before)
	}
	return form
}

// fundingQuery states the end of a range only, because the funding account has no other limit.
func fundingQuery(in bounds, before string) url.Values {
	form := url.Values{"limit": {strconv.Itoa(pageSize)}}
	switch {
	case before != "": // by id, because of bills of the same time
		form.Set("pagingType", "2")
		form.Set("after", before)
	case in.until > 0:
		form.Set("pagingType", "1")
		form.Set("after", strconv.FormatInt(in.until, 10))
	}
	return form
}

// gaps returns what OKX does not show and was not read before.
func (b book) gaps(at *span, now time.Time) (out []provider.Gap) {
	since, shown := opened, b.since(now)
	if at.Seen > 0 {
		since = time.UnixMilli(at.Seen).UTC()
	}
	if since.Before(shown) {
		out = []provider.Gap{{From: since, Through: shown, Reason: b.reason}}
	}
	if now.Sub(since) > seenEvery {
		at.Seen = now.UnixMilli()
	}
	return out
}

// Read returns the next bills of a ledger.
func (Connector) Read(ctx context.Context, s *provider.Session, ledger, cursor string) (out provider.Page, err error) {
	var at span
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return out, err
	}
	b, known := books[ledger]
	if !known {
		return out, fault.Conflictf("OKX has no ledger %q", ledger)
	}
	now := s.Now()
	out.Gaps = b.gaps(&at, now)
	in := bounds{from: at.From}
	if n := len(at.Ends); n > 0 {
		in.until, at.Ends = at.Ends[n-1], at.Ends[:n-1]
	}
	rows, reached, err := b.rows(ctx, s, in, now)
	if err != nil {
		return provider.Page{}, err
	}
	if reached > 0 {
		at.Ends = append(at.Ends, append(ends(in.until), reached)...)
		at.Ends = at.Ends[max(len(at.Ends)-endsMax, 0):]
		out.More, out.Cursor = true, provider.FormatCursor(at)
		return out, nil
	}
	newest := int64(0)
	for _, r := range inside(rows, in) {
		newest = max(newest, min(r.at, now.UnixMilli())) // a wrong time must not become the cursor
		r.addTo(&out, ledger)
	}
	if in.until > 0 {
		at.From, out.More = in.until, true
	} else if newest > 0 {
		at.From = max(at.From, newest-overlap.Milliseconds())
	}
	out.Cursor = provider.FormatCursor(at)
	return out, nil
}

// ends returns the end of a range, if it has one.
func ends(until int64) []int64 {
	if until == 0 {
		return nil
	}
	return []int64{until}
}

// inside returns the rows of a range, the oldest first, and those without a time.
func inside(rows []row, in bounds) []row {
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.at > 0 && (r.at < in.from || in.until > 0 && r.at >= in.until) })
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(rows, func(a, b row) bool { return a.ID != "" && a.ID == b.ID })
}

var errStuck = errors.New("the bills of a page have no ids, or those of the page before")

// rows returns the bills of a range, the newest first, and perhaps some before it. If they are too many, it returns the time that was
// reached instead, which divides the range.
func (b book) rows(ctx context.Context, s *provider.Session, in bounds, now time.Time) (all []row, reached int64, err error) {
	asked := in
	if b.since(now).UnixMilli() > in.from {
		asked.from = 0 // OKX need not accept a time before those that it shows
	}
	settled := now.Add(-overlap).UnixMilli() // what is newer is read as a whole, so that it is read again next time
	before := ""
	for page := 1; ; page++ {
		var some []json.RawMessage
		if err := get(ctx, s, b.path, b.cost, b.query(asked, before), &some); err != nil {
			return nil, 0, err
		}
		last, oldest := before, int64(0)
		for _, original := range some {
			r := parse(original)
			all = append(all, r)
			if r.at > 0 {
				last, oldest = r.ID, r.at
			}
		}
		switch {
		case len(some) < pageSize || oldest > 0 && oldest < in.from:
			return all, 0, nil
		case last == before:
			return nil, 0, provider.Nonsense(title, errStuck)
		case page >= pagesMax && oldest > in.from && oldest <= settled && (in.until == 0 || oldest < in.until):
			return nil, oldest, nil
		}
		before = last
	}
}
