package bitget

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// edge is by how much ranges of time overlap, because Bitget may leave out records at their ends.
	edge = int64(time.Second / time.Millisecond)
	// overlap is for how long before the newest record others are read again, because Bitget may show one late.
	overlap = int64(15 * time.Minute / time.Millisecond)
	// margin is for how long before the registration records are asked for, because that may be stated as a day, or in another time zone.
	margin = 2 * day
	// doubtful is for how long records of classic accounts are said to be kept.
	doubtful = 730 * day
)

// opened is when Bitget opened, before which there are no records.
var opened = time.Date(2018, 4, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

// position is a cursor: the time from which on records are read, in milliseconds.
type position struct {
	Unified bool  `json:"unified,omitempty"`
	From    int64 `json:"from"`
	Newest  int64 `json:"newest,omitempty"` // the time of the newest record so far
	Span    int64 `json:"span,omitempty"`   // how long the range of the page before was, if it had to be made shorter
	First   int64 `json:"first,omitempty"`  // the beginning, until there is a record
	Silent  int64 `json:"silent,omitempty"` // the beginning, until it is clear whether records are too old to be shown
}

// begin returns the position of the beginning of an account, with the time before it for which there are no records any more.
func begin(ctx context.Context, s *provider.Session) (at position, gaps []provider.Gap, err error) {
	if at.Unified, err = isUnified(ctx, s); err != nil {
		return at, nil, err
	}
	info, err := inform(ctx, s, at.Unified)
	if err != nil {
		return at, nil, err
	}
	registered, err := strconv.ParseInt(info.Registered, 10, 64)
	if err != nil || registered < opened || registered > s.Now().UnixMilli() {
		registered = opened
	}
	if at.From = registered; !at.Unified {
		at.Silent = registered
	}
	if gaps = at.forgo(s); gaps == nil {
		at.From = max(registered-margin, opened)
		at.forgo(s) // nothing is lost, because there was no account
	}
	at.First = at.From
	return at, gaps, nil
}

// forgo moves a position to the earliest records that Bitget still shows, and returns the time that is lost.
func (p *position) forgo(s *provider.Session) []provider.Gap {
	depth := bookOf(p.Unified).depth
	earliest := s.Now().UnixMilli() - depth
	if depth == 0 || p.From >= earliest {
		return nil
	}
	lost := provider.Gap{From: moment(p.From), Through: moment(earliest), Reason: "Bitget shows the records of a unified account for a " +
		"year. Import older ones from a file"}
	p.From = earliest
	return []provider.Gap{lost}
}

// moment returns a time in milliseconds.
func moment(milliseconds int64) time.Time { return time.UnixMilli(milliseconds).UTC() }

// Read returns the next records.
func (Connector) Read(ctx context.Context, s *provider.Session, _, cursor string) (out provider.Page, err error) {
	var at position
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return out, err
	}
	if at.From == 0 {
		if at, out.Gaps, err = begin(ctx, s); err != nil {
			return out, err
		}
	}
	now := s.Now().UnixMilli()
	if at.Newest == 0 && len(out.Gaps) == 0 {
		at.forgo(s) // nothing is lost, because there was no record
	}
	records, until, err := at.next(ctx, s, now)
	if errors.Is(err, errUnified) || errors.Is(err, errClassic) {
		return at.change(ctx, s, err)
	}
	if err != nil {
		return provider.Page{}, err
	}
	if at.Newest = max(at.Newest, add(&out, records)); at.Newest > 0 {
		at.First = 0
	}
	at.doubt(&out, until, now-doubtful)
	if out.More = until < now; out.More {
		at.From = until - edge
	} else {
		at = position{Unified: at.Unified, Newest: at.Newest, From: at.rest(now), First: at.First}
	}
	out.Cursor = provider.FormatCursor(at)
	return out, nil
}

// rest returns from when on to read when all was read. As long as there is no record, that is the beginning.
func (p position) rest(now int64) int64 {
	if p.Newest == 0 {
		return p.First
	}
	return max(p.Newest-overlap, bookOf(p.Unified).lately(now))
}

// next returns the records of the next range of time, and the end of that. The range is as long as Bitget allows, or shorter if it has too
// many records.
func (p *position) next(ctx context.Context, s *provider.Session, now int64) ([]found, int64, error) {
	b := bookOf(p.Unified)
	length := b.window
	if p.Span > 0 {
		length = min(2*p.Span, b.window)
	}
	for {
		until := max(min(p.From+length, now), p.From+2*edge)
		pages := pagesMax
		if until-p.From <= 2*edge {
			pages = 0
		}
		records, complete, err := b.read(ctx, s, p.From, until, pages)
		if err != nil {
			return nil, until, err
		}
		if complete {
			if p.Span = 0; length < b.window {
				p.Span = length
			}
			return records, until, nil
		}
		length = (until - p.From) / 2
	}
}

// change returns a page without records after which an account is read as one of the other kind, because it has become one.
func (p position) change(ctx context.Context, s *provider.Session, refused error) (out provider.Page, err error) {
	is, err := isUnified(ctx, s)
	if err != nil {
		return out, err
	}
	if is == p.Unified {
		return out, refused
	}
	p.Unified, p.Span = is, 0
	out.Gaps = p.forgo(s)
	out.Cursor, out.More = provider.FormatCursor(p), true
	return out, nil
}

// doubt adds a gap to a page if a classic account has no records from its registration until a limit, before which Bitget may not show them
// any more. It does so once, with the page that ends after the limit.
func (p *position) doubt(out *provider.Page, until, limit int64) {
	since, none := p.Silent, len(out.Records) == 0
	if since == 0 || none && until < limit {
		return
	}
	p.Silent = 0
	if since < limit && (none || out.Records[0].Timestamp.UnixMilli() >= limit) {
		out.Gaps = append(out.Gaps, provider.Gap{From: moment(since), Through: moment(limit), Reason: "Bitget shows no records of this time. " +
			"If there were any, they may be too old to be shown: import them from a file"})
	}
}

// lately returns a time that one request can start from, and that changes every few days only, so that a position stays the same for as
// long as nothing happens.
func (b book) lately(now int64) int64 {
	step := b.window / (7 * day) * day
	return (now - b.window + 2*step) / step * step
}

// add adds records to a page, the oldest first, and returns the time of the newest.
func add(out *provider.Page, records []found) (newest int64) {
	for _, f := range records {
		e, err := parse(f.original)
		if err != nil {
			out.Omitted = append(out.Omitted, provider.Omission{ID: e.id, Reason: err.Error(), Original: f.original})
			continue
		}
		newest = max(newest, e.at.UnixMilli())
		for _, r := range e.records(f.section) {
			out.Records = append(out.Records, provider.Record{Record: r, Original: f.original})
		}
	}
	slices.SortFunc(out.Records, func(a, b provider.Record) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(len(a.ExternalID), len(b.ExternalID)),
			cmp.Compare(a.ExternalID, b.ExternalID))
	})
	out.Records = slices.CompactFunc(out.Records, func(a, b provider.Record) bool { return a.ExternalID == b.ExternalID })
	return newest
}
