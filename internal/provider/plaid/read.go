package plaid

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// pageSize is how many changes Plaid returns at a time at most.
	pageSize = 500
	// pagesMax is how many of them become one page here. They are kept in memory until the last of them is read.
	pagesMax = 200
	// restartsMax is how often the pages are read from the beginning because transactions have changed meanwhile.
	restartsMax = 5
)

// position is a cursor. Plaid's own cursors between two pages are of no use once a transaction has changed; only the one that follows the
// last page lasts. After pagesMax pages the position is between two nevertheless, and says where the first of them began.
type position struct {
	At     string `json:"at,omitempty"`
	Within bool   `json:"within,omitempty"`
	Start  string `json:"start,omitempty"`
}

// changes are what has changed since a position: the last state of each transaction.
type changes struct {
	found    map[string]json.RawMessage // by the id of the transaction
	removed  map[string]bool            // ids of transactions that were withdrawn or have other contents now
	omitted  []provider.Omission
	accounts map[string]account
	replaces bool // what was added may have been read before, with other contents
	next     position
	more     bool
}

// Read returns what has changed since a cursor. All pages of Plaid are one page here, because a transaction that changes meanwhile makes
// Plaid start again.
//
// A transaction keeps its id when the bank or Plaid changes it. It is then among the records and its id among those that are removed, so
// that it replaces the former one. Pending transactions are left out; what is posted later has an id of its own.
func (Connector) Read(ctx context.Context, s *provider.Session, _, cursor string) (provider.Page, error) {
	var at position
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return provider.Page{}, err
	}
	replaces := false
	for range restartsMax {
		c := changes{found: map[string]json.RawMessage{}, removed: map[string]bool{}, accounts: map[string]account{}, replaces: replaces}
		err := c.collect(ctx, s, at)
		if err == nil {
			return c.page(), nil
		}
		if !errors.Is(err, errMutation) {
			return provider.Page{}, err
		}
		if at.Within {
			at, replaces = position{At: at.Start}, true
		}
	}
	return provider.Page{}, provider.Temporary(title, "the transactions have changed %d times while they were read", restartsMax)
}

// answer is a page of changes.
type answer struct {
	Accounts []account          `json:"accounts"`
	Added    *[]json.RawMessage `json:"added"`
	Modified *[]json.RawMessage `json:"modified"`
	Removed  *[]struct {
		ID string `json:"transaction_id"`
	} `json:"removed"`
	Next *string `json:"next_cursor"`
	More *bool   `json:"has_more"`
}

var (
	errIncomplete = errors.New("the answer lacks a list of changes or the cursor that follows")
	errStuck      = errors.New("more pages are announced, with the same cursor")
)

// collect reads all pages from a position on.
func (c *changes) collect(ctx context.Context, s *provider.Session, at position) error {
	c.next = at
	for range pagesMax {
		fields := map[string]any{"count": pageSize, "options": map[string]any{"include_original_description": true}}
		if c.next.At != "" {
			fields["cursor"] = c.next.At
		}
		var a answer
		if err := callItem(ctx, s, "/transactions/sync", fields, &a); err != nil {
			return err
		}
		if a.Added == nil || a.Modified == nil || a.Removed == nil || a.Next == nil || a.More == nil {
			return provider.Nonsense(title, errIncomplete)
		}
		if *a.More && (*a.Next == c.next.At || *a.Next == "") {
			return provider.Nonsense(title, errStuck)
		}
		c.add(a)
		if *a.Next != "" { // it is empty until Plaid has read the bank for the first time
			c.next.At = *a.Next
		}
		if !*a.More {
			c.next = position{At: c.next.At}
			return nil
		}
	}
	if !at.Within {
		c.next.Within, c.next.Start = true, at.At
	}
	c.more = true
	return nil
}

// add takes over the changes of a page.
func (c *changes) add(a answer) {
	for _, known := range a.Accounts {
		c.accounts[known.ID] = known
	}
	for _, original := range *a.Added {
		c.put(original, c.replaces)
	}
	for _, original := range *a.Modified {
		c.put(original, true)
	}
	for _, r := range *a.Removed {
		if r.ID != "" {
			delete(c.found, r.ID)
			c.removed[r.ID] = true
		}
	}
}

// put remembers the state of a transaction.
func (c *changes) put(original json.RawMessage, replaces bool) {
	var named struct {
		ID string `json:"transaction_id"`
	}
	if json.Unmarshal(original, &named) != nil || named.ID == "" {
		c.omitted = append(c.omitted, provider.Omission{Reason: errID.Error(), Original: original})
		return
	}
	c.found[named.ID] = original
	if replaces {
		c.removed[named.ID] = true
	}
}

// page returns the changes, the oldest first.
func (c *changes) page() provider.Page {
	out := provider.Page{Omitted: c.omitted, Removed: slices.Sorted(maps.Keys(c.removed)), Cursor: provider.FormatCursor(c.next), More: c.more}
	for _, id := range slices.Sorted(maps.Keys(c.found)) {
		records, err := c.parse(c.found[id])
		if err != nil {
			out.Omitted = append(out.Omitted, provider.Omission{ID: id, Reason: err.Error(), Original: c.found[id]})
		}
		out.Records = append(out.Records, records...)
	}
	slices.SortStableFunc(out.Records, func(a, b provider.Record) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.ExternalID, b.ExternalID))
	})
	return out
}
