package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// The lists that are read.
const (
	ledgerTrades    = "trades"
	ledgerTransfers = "transfers"
	ledgerStaking   = "staking"
)

const (
	// overlap is by how much rows are read again, because Gemini may show one some time after the time that it states.
	overlap = 15 * time.Minute
	// openMax is for how long rows that are not final are read again.
	openMax = 30 * 24 * time.Hour
)

// span is a cursor. Gemini lists rows from a time on, the oldest ones up to a limit, of which it returns the newest first.
type span struct {
	Since int64 `json:"since,omitempty"` // in milliseconds
	Open  int64 `json:"open,omitempty"`  // the time of the first row that is not final, within a synchronization
}

// feed is a list.
type feed struct {
	path  string
	cost  int
	limit int
	query func(since int64, limit int) map[string]any
	rows  func(answer json.RawMessage) ([]json.RawMessage, error)
	parse func(original json.RawMessage, now time.Time) item
}

// feeds are the lists by name.
var feeds = map[string]feed{
	ledgerTrades: {path: "/v1/mytrades", cost: 1, limit: 500, rows: listed, parse: parseTrade,
		query: func(since int64, limit int) map[string]any {
			return map[string]any{"timestamp": since, "limit_trades": limit}
		}},
	ledgerTransfers: {path: "/v2/transfers", cost: transfersCost, limit: 50, rows: listed, parse: parseTransfer,
		query: func(since int64, limit int) map[string]any { // what was credited in advance is only shown until it is complete
			return map[string]any{"timestamp": max(since-1, 0), "limit_transfers": limit, "show_completed_deposit_advances": false}
		}},
	ledgerStaking: {path: "/v1/staking/history", cost: 1, limit: 500, rows: staked, parse: parseStaking,
		query: func(since int64, limit int) map[string]any {
			out := map[string]any{"limit": limit, "sortAsc": true}
			if since > 0 {
				out["since"] = time.UnixMilli(since - 1).UTC().Format("2006-01-02T15:04:05.000Z")
			}
			return out
		}},
}

// listed returns the rows of an answer that is a list.
func listed(answer json.RawMessage) (rows []json.RawMessage, err error) {
	err = json.Unmarshal(answer, &rows)
	return rows, err
}

// staked returns the rows of an answer that has a list for each provider of staking.
func staked(answer json.RawMessage) (rows []json.RawMessage, err error) {
	var providers []struct {
		Transactions []json.RawMessage `json:"transactions"`
	}
	err = json.Unmarshal(answer, &providers)
	for _, one := range providers {
		rows = append(rows, one.Transactions...)
	}
	return rows, err
}

// read returns the rows from a time on.
func (f feed) read(ctx context.Context, s *provider.Session, since int64, limit int) ([]json.RawMessage, error) {
	var answer json.RawMessage
	if err := post(ctx, s, f.path, f.cost, f.query(since, limit), &answer); err != nil {
		return nil, err
	}
	rows, err := f.rows(answer)
	if err != nil {
		return nil, provider.Nonsense(title, err)
	}
	return rows, nil
}

// Read returns the next rows of a list.
func (Connector) Read(ctx context.Context, s *provider.Session, ledger, cursor string) (out provider.Page, err error) {
	f, known := feeds[ledger]
	if !known {
		return out, fault.Conflictf("%q is no list of Gemini", provider.Clean(ledger))
	}
	var at span
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return out, err
	}
	rows, err := f.read(ctx, s, at.Since, f.limit)
	if ledger == ledgerStaking && errors.As(err, &gone{}) {
		return out, nil // an account that cannot stake
	}
	if err != nil {
		return out, err
	}
	var newest int64
	for _, original := range rows {
		one := f.parse(original, s.Now())
		if !one.at.IsZero() {
			newest = max(newest, one.at.UnixMilli())
		}
		if one.open && (at.Open == 0 || one.at.UnixMilli() < at.Open) {
			at.Open = one.at.UnixMilli()
		}
		add(&out, one, original)
	}
	slices.SortStableFunc(out.Records, func(a, b provider.Record) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.Group, b.Group))
	})
	if out.More = len(rows) >= f.limit; out.More {
		err = next(&out, &at, newest, f.limit)
	} else if newest > 0 {
		at.Since = max(newest-overlap.Milliseconds(), 0)
		if at.Open > 0 {
			at.Since = min(at.Since, at.Open)
		}
		at.Open = 0
	}
	out.Cursor = provider.FormatCursor(at)
	return out, err
}

// next moves the cursor to the newest row of a page that is full. If all its rows are of one time, those of that time that did not fit
// cannot be had.
func next(out *provider.Page, at *span, newest int64, limit int) error {
	switch {
	case newest == 0:
		return provider.Nonsense(title, errors.New("no row of a page states its time"))
	case newest > at.Since:
		at.Since = newest
		return nil
	}
	missing := time.UnixMilli(at.Since).UTC()
	out.Gaps = append(out.Gaps, provider.Gap{From: missing, Through: missing, Reason: fmt.Sprintf("Gemini shows no more than %d movements of "+
		"one time, and there may be others of %s", limit, missing.Format("2006-01-02T15:04:05.000Z"))})
	at.Since = max(at.Since, newest) + 1
	return nil
}

// add adds a row to a page.
func add(out *provider.Page, one item, original json.RawMessage) {
	if one.err != nil {
		out.Omitted = append(out.Omitted, provider.Omission{ID: one.id, Reason: one.err.Error(), Original: original})
		return
	}
	out.Removed = append(out.Removed, one.removed...)
	for _, r := range one.records {
		out.Records = append(out.Records, provider.Record{Record: r, Original: original})
	}
}
