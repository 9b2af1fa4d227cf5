package coinbase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// pageSize is how many rows Coinbase returns at most.
	pageSize = 100
	// pagesMax is how many pages are read in one call, in addition to the first one of each wallet.
	pagesMax = 20
	// emptyPagesMax bounds pages without rows that are followed by others. Coinbase leaves out rows that a key may not see.
	emptyPagesMax = 100
	// overlap is how much older a row must be than the newest one before rows after it are not read again, because Coinbase may show a row
	// late, and in any order with others of the same second.
	overlap = 15 * time.Minute
	// openMax is for how long rows that are not final are read again.
	openMax = 60 * 24 * time.Hour
)

// position is a cursor. Between two synchronizations, each wallet only has the row after which to read.
type position struct {
	Reading bool               `json:"reading,omitempty"` // within a synchronization
	Wallets map[string]*wallet `json:"wallets,omitempty"`
}

// wallet is how far a wallet has been read.
type wallet struct {
	After  string `json:"after,omitempty"`  // the last row that was read
	Back   string `json:"back,omitempty"`   // the row after which the next synchronization reads
	Mark   string `json:"mark,omitempty"`   // the row that becomes Back once there is one that is newer by the overlap
	MarkAt int64  `json:"markAt,omitempty"` // the time of Mark
	Open   bool   `json:"open,omitempty"`   // a row is not final, so that Back stays where it is
}

// begin prepares for a synchronization.
func (p *position) begin() {
	if p.Wallets == nil {
		p.Wallets = map[string]*wallet{}
	}
	for id, w := range p.Wallets {
		if w == nil {
			delete(p.Wallets, id)
		} else if !p.Reading {
			w.Back = w.After
		}
	}
	p.Reading = true
}

// end leaves what the next synchronization needs.
func (p *position) end() {
	p.Reading = false
	for id, w := range p.Wallets {
		if w.Back == "" {
			delete(p.Wallets, id)
		} else {
			p.Wallets[id] = &wallet{After: w.Back}
		}
	}
}

// pass moves a position behind a row.
func (w *wallet) pass(r row, open bool) {
	if r.ID == "" {
		return
	}
	w.After, w.Open = r.ID, w.Open || open
	if w.Open || r.at.IsZero() {
		return
	}
	if w.Mark == "" {
		w.Mark, w.MarkAt = r.ID, r.at.Unix()
	} else if r.at.Sub(time.Unix(w.MarkAt, 0)) > overlap {
		w.Back, w.Mark, w.MarkAt = w.Mark, r.ID, r.at.Unix()
	}
}

// page is what Coinbase returns of a list.
type page struct {
	rows []json.RawMessage
	next string // the id after which the next page begins; empty if there is none
}

var errNoProgress = errors.New("a page ends where it begins")

// list returns the page of a list after an id.
func list(ctx context.Context, s *provider.Session, path, after string) (page, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}, "order": {"asc"}}
	if after != "" {
		query.Set("starting_after", after)
	}
	var answer struct {
		Pagination *struct {
			NextURI string `json:"next_uri"`
		} `json:"pagination"`
		Data []json.RawMessage `json:"data"`
	}
	if err := get(ctx, s, path, query, &answer); err != nil {
		return page{}, err
	}
	if answer.Pagination == nil || answer.Data == nil {
		return page{}, provider.Nonsense(title, errors.New("a list without rows or without a pagination"))
	}
	out := page{rows: answer.Data}
	if answer.Pagination.NextURI == "" {
		return out, nil
	}
	next, err := url.Parse(answer.Pagination.NextURI)
	if err != nil {
		return page{}, provider.Nonsense(title, err)
	}
	if out.next = next.Query().Get("starting_after"); out.next == "" || out.next == after {
		return page{}, provider.Nonsense(title, errNoProgress)
	}
	return out, nil
}

func walletPath(id string) string { return "/v2/accounts/" + url.PathEscape(id) + "/transactions" }

// source is the list of a wallet, as far as it was fetched.
type source struct {
	*wallet
	path string
	rows []row
	next string // where the list continues; empty at its end
}

// latest returns the time of the newest row that was fetched.
func (c *source) latest() time.Time {
	return slices.MaxFunc(c.rows, func(a, b row) int { return a.at.Compare(b.at) }).at
}

// fetch fetches rows after an id, until there are some or none are left.
func (c *source) fetch(ctx context.Context, s *provider.Session, after string) error {
	for range emptyPagesMax {
		p, err := list(ctx, s, c.path, after)
		if fault.KindOf(err) == fault.Unauthorized { // Coinbase refuses a valid token now and then, and has just accepted another one
			p, err = list(ctx, s, c.path, after)
		}
		if after != "" && errors.As(err, &gone{}) { // the row is not there any more
			p, err = list(ctx, s, c.path, "")
		}
		if err != nil {
			return err
		}
		for _, original := range p.rows {
			c.rows = append(c.rows, parseRow(original))
		}
		if c.next = p.next; len(c.rows) > 0 || c.next == "" {
			return nil
		}
		after = c.next
	}
	return provider.Nonsense(title, errNoProgress)
}

// Read returns the next movements of all wallets.
func (Connector) Read(ctx context.Context, s *provider.Session, _, cursor string) (out provider.Page, err error) {
	var at position
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return out, err
	}
	at.begin()
	wallets, err := accounts(ctx, s)
	if err != nil {
		return out, err
	}
	var sources []*source
	for _, one := range wallets {
		w := at.Wallets[one.ID]
		if w == nil {
			w = &wallet{}
			at.Wallets[one.ID] = w
		}
		c := &source{wallet: w, path: walletPath(one.ID)}
		if err := c.fetch(ctx, s, w.After); err != nil {
			return out, err
		}
		sources = append(sources, c)
	}
	for pages := 0; ; {
		behind := emit(&out, sources, s.Now())
		if len(behind) == 0 {
			at.end()
			break
		}
		if out.More = pages >= pagesMax; out.More {
			break
		}
		for _, c := range behind {
			if err := c.fetch(ctx, s, c.next); err != nil {
				return out, err
			}
			pages++
		}
	}
	slices.SortStableFunc(out.Records, func(a, b provider.Record) int { return a.Timestamp.Compare(b.Timestamp) })
	out.Cursor = provider.FormatCursor(at)
	return out, nil
}

// emit adds rows to a page, up to the time for which all wallets were fetched, and returns the wallets of which more must be fetched.
func emit(out *provider.Page, sources []*source, now time.Time) (behind []*source) {
	var until time.Time
	for _, c := range sources {
		if c.next != "" && (len(behind) == 0 || c.latest().Before(until)) {
			until, behind = c.latest(), []*source{c}
		}
	}
	for _, c := range sources {
		n := 0
		for n < len(c.rows) && (len(behind) == 0 || !c.rows[n].at.After(until)) {
			add(out, c, c.rows[n], now)
			n++
		}
		if c.rows = c.rows[n:]; len(c.rows) == 0 && c.next != "" && !slices.Contains(behind, c) {
			behind = append(behind, c)
		}
	}
	return behind
}

// add adds a row to a page.
func add(out *provider.Page, c *source, r row, now time.Time) {
	open := r.open()
	if stale := open && now.Sub(r.at) > openMax; stale {
		open, r.err = false, fmt.Errorf("its status has been %q for %d days: enter it by hand if it takes place", provider.Clean(r.Status),
			openMax/(24*time.Hour))
	}
	c.pass(r, open)
	switch {
	case r.err != nil:
		out.Omitted = append(out.Omitted, provider.Omission{ID: r.ID, Reason: r.err.Error(), Original: r.original})
	case r.Status == statusCompleted:
		for _, one := range r.records() {
			out.Records = append(out.Records, provider.Record{Record: one, Original: r.original})
		}
	}
}
