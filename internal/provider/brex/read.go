package brex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
)

const (
	cardPath = "/v2/transactions/card/primary"
	cashPath = "/v2/transactions/cash/"
	// pageSize is how many transactions are asked for at a time.
	pageSize = 100
	// pagesMax is how many pages of Brex become one page here.
	pagesMax = 10
	// overlapDays is how many days before the newest transaction are read again, because Brex may show one late.
	overlapDays = 4
)

// position is a cursor. The accounts of a ledger are read in the order of their ids, each from a day on. The order in which Brex returns
// transactions is not documented, so that the day moves on only after the last page.
type position struct {
	Since   map[string]string `json:"since,omitempty"`   // by account: the day from which on it is read next
	Account string            `json:"account,omitempty"` // that is being read
	Page    string            `json:"page,omitempty"`    // where Brex continues; empty means at the first page
	Newest  string            `json:"newest,omitempty"`  // the newest day of the account so far
}

// page is what Brex returns.
type page struct {
	Items *[]json.RawMessage `json:"items"`
	Next  string             `json:"next_cursor"`
}

var (
	errPage  = errors.New("the answer has no list")
	errStuck = errors.New("more pages are announced, at the same position")
)

// Read returns the next transactions of the cards or of all cash accounts.
func (Connector) Read(ctx context.Context, s *provider.Session, ledger, cursor string) (out provider.Page, err error) {
	at := position{}
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return out, err
	}
	accounts := []account{{ID: cardPart}}
	if ledger == cashLedger {
		if accounts, err = cashAccounts(ctx, s); err != nil {
			return out, err
		}
	}
	at.Since = maps.Clone(at.Since)
	if at.Since == nil {
		at.Since = map[string]string{}
	}
	first := max(0, slices.IndexFunc(accounts, func(a account) bool { return a.ID == at.Account }))
	requests := pagesMax
	for _, a := range accounts[min(first, len(accounts)):] {
		if a.ID != at.Account {
			at.Account, at.Page, at.Newest = a.ID, "", ""
		}
		if requests == 0 {
			out.More = true
			break
		}
		if out.More, err = at.read(ctx, s, a, &requests, &out); err != nil {
			return provider.Page{}, err
		}
		if out.More {
			break
		}
	}
	if !out.More {
		at.Account, at.Page, at.Newest = "", "", ""
	}
	slices.SortStableFunc(out.Records, func(a, b provider.Record) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.ExternalID, b.ExternalID))
	})
	out.Records = slices.CompactFunc(out.Records, func(a, b provider.Record) bool { return a.ExternalID == b.ExternalID && a.Part == b.Part })
	out.Cursor = provider.FormatCursor(at)
	return out, nil
}

// read adds the transactions of an account, and reports whether there are more.
func (p *position) read(ctx context.Context, s *provider.Session, a account, requests *int, out *provider.Page) (more bool, err error) {
	again := p.Page != "" // once more from the first page, if the position is not valid any more
	for *requests > 0 {
		*requests--
		next, err := p.next(ctx, s, a)
		if errors.Is(err, errRefused) && again {
			p.Page, again = "", false
			continue
		}
		if err != nil {
			return false, refused(err)
		}
		p.add(a, *next.Items, out)
		if p.Page = next.Next; p.Page == "" {
			p.Since[a.ID] = before(min(p.Newest, s.Now().UTC().Format(time.DateOnly)), p.Since[a.ID])
			p.Newest = ""
			return false, nil
		}
	}
	return true, nil
}

// next asks for a page.
func (p *position) next(ctx context.Context, s *provider.Session, a account) (out page, err error) {
	path, query := cardPath, url.Values{"limit": {strconv.Itoa(pageSize)}}
	if a.ID != cardPart {
		path = cashPath + url.PathEscape(a.ID)
	}
	if since := p.Since[a.ID]; since != "" {
		query.Set("posted_at_start", since+"T00:00:00.000")
	}
	if p.Page != "" {
		query.Set("cursor", p.Page)
	}
	if err = get(ctx, s, path, query, &out); err != nil {
		return out, err
	}
	switch {
	case out.Items == nil:
		err = provider.Nonsense(title, errPage)
	case out.Next != "" && out.Next == p.Page:
		err = provider.Nonsense(title, errStuck)
	}
	return out, err
}

// add adds the records of transactions.
func (p *position) add(a account, items []json.RawMessage, out *provider.Page) {
	for _, original := range items {
		t, err := parse(original)
		if err == nil {
			p.Newest = max(p.Newest, t.Posted)
			out.Records = append(out.Records, t.records(a, original)...)
			continue
		}
		out.Omitted = append(out.Omitted, provider.Omission{ID: t.ID, Reason: err.Error(), Original: original})
	}
}

// before returns the day from which on transactions are read after the newest one, which is never before a former one.
func before(newest, former string) string {
	at, err := time.Parse(time.DateOnly, newest)
	if err != nil {
		return former
	}
	return max(former, at.AddDate(0, 0, -overlapDays).Format(time.DateOnly))
}
