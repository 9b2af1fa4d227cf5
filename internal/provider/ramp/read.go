package ramp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// pageSize is how many rows Ramp returns at a time at most.
	pageSize = 100
	// pagesMax is how many of them become one page here.
	pagesMax = 10
	// overlap is how long before the newest row the others are read again, because Ramp may show one late.
	overlap = 14 * 24 * time.Hour
	// openMax is for how long rows that are not settled are waited for.
	openMax = 90 * 24 * time.Hour
)

// position is a cursor. Ramp lists rows by the time at which they were made, with those that are not settled yet. A row is read once it is
// settled, so that the position moves on to the oldest row that is not.
type position struct {
	Since  int64  `json:"since,omitempty"`  // seconds since 1970; 0 stands for the beginning
	Start  string `json:"start,omitempty"`  // where Ramp continues; empty means at the first page
	Newest int64  `json:"newest,omitempty"` // the time of the newest row so far
	Open   int64  `json:"open,omitempty"`   // the time of the oldest row that is not settled; 0 if there is none
}

// page is what Ramp returns.
type page struct {
	Data *[]json.RawMessage `json:"data"`
	Page *struct {
		Next string `json:"next"` // an address
	} `json:"page"`
}

var (
	errPage  = errors.New("the answer has no list, or does not say whether it is the last one")
	errStuck = errors.New("more pages are announced, at no position or at the same one")
)

// start returns where the next page starts, and an empty text after the last one.
func (p page) start() (string, error) {
	if p.Page.Next == "" {
		return "", nil
	}
	next, err := url.Parse(p.Page.Next)
	if err != nil || next.Query().Get("start") == "" {
		return "", errStuck
	}
	return next.Query().Get("start"), nil
}

// Read returns the next rows of a ledger that are settled.
func (Connector) Read(ctx context.Context, s *provider.Session, name, cursor string) (out provider.Page, err error) {
	at := position{}
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return out, err
	}
	l := ledgers[max(0, slices.IndexFunc(ledgers, func(l ledger) bool { return l.name == name }))]
	again := at.Start != "" // once more from the first page, if the position is not valid any more
	for range pagesMax {
		next, err := at.next(ctx, s, l)
		if errors.Is(err, errRefused) && again {
			at.Start, again = "", false
			continue
		}
		if err != nil {
			return provider.Page{}, refused(err)
		}
		at.add(l, *next.Data, &out)
		start, err := next.start()
		if err != nil || start != "" && start == at.Start {
			return provider.Page{}, provider.Nonsense(title, errStuck)
		}
		if at.Start = start; start == "" {
			at = at.after(s.Now())
			break
		}
	}
	out.More = at.Start != ""
	slices.SortStableFunc(out.Records, func(a, b provider.Record) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.ExternalID, b.ExternalID))
	})
	out.Records = slices.CompactFunc(out.Records, func(a, b provider.Record) bool { return a.ExternalID == b.ExternalID })
	out.Cursor = provider.FormatCursor(at)
	return out, nil
}

// next asks for a page.
func (p position) next(ctx context.Context, s *provider.Session, l ledger) (out page, err error) {
	query := url.Values{"page_size": {strconv.Itoa(pageSize)}}
	if l.sorted {
		query.Set("order_by_date_asc", "true")
	}
	if p.Since > 0 {
		query.Set("from_date", time.Unix(p.Since, 0).UTC().Format(time.RFC3339))
	}
	if p.Start != "" {
		query.Set("start", p.Start)
	}
	if err = get(ctx, s, l.path, query, &out); err == nil && (out.Data == nil || out.Page == nil) {
		err = provider.Nonsense(title, errPage)
	}
	return out, err
}

// add adds the records of rows that are settled, and remembers the others.
func (p *position) add(l ledger, rows []json.RawMessage, out *provider.Page) {
	for _, original := range rows {
		r, err := l.parse(original)
		if err != nil {
			out.Omitted = append(out.Omitted, provider.Omission{ID: r.id, Reason: err.Error(), Original: original})
			continue
		}
		p.Newest = max(p.Newest, r.made.Unix())
		if r.open && (p.Open == 0 || r.made.Unix() < p.Open) {
			p.Open = r.made.Unix()
		}
		if r.ended {
			out.Removed = append(out.Removed, r.id)
		}
		for _, leg := range r.records {
			out.Records = append(out.Records, provider.Record{Record: leg, Part: part, Original: original})
		}
	}
}

// after returns the position that follows the last page.
func (p position) after(now time.Time) position {
	since := min(p.Newest, now.Unix()) - int64(overlap.Seconds())
	if p.Open > 0 {
		since = min(since, max(p.Open-1, now.Add(-openMax).Unix()))
	}
	return position{Since: max(p.Since, since, 0)}
}
