package bitstamp

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
	// pageSize is how many transactions Bitstamp returns at a time if it is asked for those from an id on.
	pageSize = 1000
	// overlap is for how long before the newest transaction the others are read again, because Bitstamp may show one late.
	overlap = 15 * time.Minute
	// overlapRows is how many transactions of a full page are read again with the next one at most.
	overlapRows = 100
)

// position is a cursor: the id from which on transactions are read. Bitstamp returns them in the order of their times. That order differs
// from the order of the ids a little, so that a page begins before the end of the one before it.
type position struct {
	Since int64 `json:"since"`
}

// first is the position of the beginning, as Bitstamp's support has told others: ids begin at 1.
var first = position{Since: 1}

// mark is where a transaction stands.
type mark struct {
	id int64
	at time.Time
}

var errMarks = errors.New("a full page of transactions without ids")

// Read returns the next transactions.
func (Connector) Read(ctx context.Context, s *provider.Session, _, cursor string) (out provider.Page, err error) {
	at := first
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return out, err
	}
	var rows []json.RawMessage
	err = post(ctx, s, "user_transactions", url.Values{"limit": {strconv.Itoa(pageSize)}, "sort": {"asc"},
		"since_id": {strconv.FormatInt(at.Since, 10)}}, &rows)
	if err != nil {
		return out, err
	}
	marks := make([]mark, 0, len(rows))
	for _, original := range rows {
		t, err := parse(original)
		if err == nil {
			marks = append(marks, mark{t.id, t.at})
			var records []provider.Record
			if records, err = t.records(original); err == nil {
				out.Records = append(out.Records, records...)
				continue
			}
		}
		out.Omitted = append(out.Omitted, provider.Omission{ID: t.name(), Reason: err.Error(), Original: original})
	}
	slices.SortStableFunc(out.Records, func(a, b provider.Record) int { return a.Timestamp.Compare(b.Timestamp) })
	out.More = len(rows) >= pageSize
	next, progress := at.after(marks, out.More)
	if out.More && !progress {
		return provider.Page{}, provider.Nonsense(title, errMarks)
	}
	out.Cursor = provider.FormatCursor(next)
	return out, nil
}

// after returns the position that follows a page, and whether it differs. It lies just before the first id that is to be read again,
// which is right whether or not Bitstamp counts the id that it is asked for.
func (p position) after(page []mark, full bool) (position, bool) {
	if len(page) == 0 {
		return p, false
	}
	newest := slices.MaxFunc(page, func(a, b mark) int { return a.at.Compare(b.at) }).at
	ids := make([]int64, 0, len(page))
	lowest := int64(0)
	for _, m := range page {
		ids = append(ids, m.id)
		if newest.Sub(m.at) <= overlap && (lowest == 0 || m.id < lowest) {
			lowest = m.id
		}
	}
	if full { // even if all of the page is within the overlap, the next one has to bring something new
		slices.SortFunc(ids, cmp.Compare[int64])
		lowest = max(lowest, ids[max(0, len(ids)-overlapRows)])
	}
	next := position{Since: max(p.Since, lowest-1)}
	return next, next != p
}
