package rillet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// entry is a journal entry on the wire.
type entry struct {
	ID         string `json:"id,omitempty"`
	Subsidiary string `json:"subsidiary_id,omitempty"`
	Name       string `json:"name"`
	Date       string `json:"date"`
	Currency   string `json:"currency"`
	Items      []item `json:"items"`
	Updated    string `json:"updated_at,omitempty"`
}

// item is a line of a journal entry. Requests state the code of its account, and answers the id as well, if Rillet knows it.
type item struct {
	AccountID   string       `json:"account_id,omitempty"`
	Code        string       `json:"account_code"`
	Side        string       `json:"side"`
	Description string       `json:"description,omitempty"`
	Amount      amount       `json:"amount"`
	Fields      []assignment `json:"fields,omitempty"`
}

type amount struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

type assignment struct {
	Field string `json:"field_id"`
	Value string `json:"field_value_id"`
}

const (
	debit  = "DEBIT"
	credit = "CREDIT"
)

// Push stores a journal. Rillet recognizes a repeated request for 24 hours by a key; after that the journal is found by the mark in its
// name.
func (c Connector) Push(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	var body []byte
	var stored entry
	p, err := s.Store(ctx, provider.Storage{
		Find: func(ctx context.Context) (provider.Posted, error) {
			return find(ctx, s, j.Key, url.Values{"date.gte": {j.Date}, "date.lte": {j.Date}})
		},
		Prepare: func(ctx context.Context) (err error) {
			body, err = c.prepare(ctx, s, j)
			return err
		},
		Send: func(attempt int) provider.Call {
			return call(s, http.MethodPost, "/journal-entries", nil, body, fmt.Sprintf("%s-%d", j.Key, attempt), &stored)
		},
		Read: func([]byte) (provider.Posted, error) { return posted(ctx, s, stored) },
		Get:  func(ctx context.Context, id string) (provider.Posted, error) { return c.Get(ctx, s, id) },
	})
	return p, provider.Refused(ctx, c, s, j, err)
}

// prepare returns a journal as it is sent.
func (c Connector) prepare(ctx context.Context, s *provider.Session, j provider.Journal) ([]byte, error) {
	if err := j.CheckAmounts(); err != nil {
		return nil, err
	}
	known, err := c.learnCodes(ctx, s, j)
	if err != nil {
		return nil, err
	}
	if j.Date <= known.Locked {
		return nil, provider.Locked(title, j.Date, known.Locked)
	}
	out := entry{Subsidiary: known.ID, Name: provider.Mark(j.Memo, j.Key, nameMax), Date: j.Date, Currency: j.Currency}
	for _, line := range j.Lines {
		one := item{Code: known.Codes[line.Account], Side: credit, Description: provider.Shorten(line.Memo, lineMax),
			Amount: amount{line.Amount.Fixed(j.Currency), j.Currency}}
		if line.Debit {
			one.Side = debit
		}
		for field, value := range line.Dimensions {
			one.Fields = append(one.Fields, assignment{field, value})
		}
		slices.SortFunc(one.Fields, func(a, b assignment) int { return strings.Compare(a.Field, b.Field) })
		out.Items = append(out.Items, one)
	}
	return json.Marshal(out)
}

// learnCodes returns the codes of the accounts of a journal. They are read again if one is missing.
func (c Connector) learnCodes(ctx context.Context, s *provider.Session, j provider.Journal) (learnt, error) {
	known, err := learn(ctx, s)
	missing := func(l provider.JournalLine) bool { return known.Codes[l.Account] == "" }
	if err != nil || !slices.ContainsFunc(j.Lines, missing) {
		return known, err
	}
	chart := provider.Chart{}
	if chart.Accounts, err = accounts(ctx, s); err != nil {
		return known, err
	}
	if err := chart.Blame(title, j); err != nil {
		return known, err
	}
	if known.Locked, err = lockedThrough(ctx, s); err != nil {
		return known, err
	}
	known.Codes = map[string]string{}
	for _, a := range chart.Accounts {
		known.Codes[a.ID] = a.Code
	}
	s.Learnt = provider.FormatCursor(known)
	return known, nil
}

// find looks for the journal with a key in a list.
func find(ctx context.Context, s *provider.Session, key string, filter url.Values) (provider.Posted, error) {
	c, err := learn(ctx, s)
	if err != nil {
		return provider.Posted{}, err
	}
	filter.Set("subsidiary_id", c.ID)
	filter.Set("limit", strconv.Itoa(pageSize))
	filter.Del("cursor")
	for range pagesMax {
		var page struct {
			Entries    []entry `json:"journal_entries"`
			Pagination struct {
				Next string `json:"next_cursor"`
			} `json:"pagination"`
		}
		if err := do(ctx, s, http.MethodGet, "/journal-entries", filter, nil, "", &page); err != nil {
			return provider.Posted{}, err
		}
		if page.Entries == nil {
			return provider.Posted{}, provider.Nonsense(title, errors.New("there is no list of journal entries"))
		}
		for _, e := range page.Entries {
			if _, found := provider.Unmark(e.Name); found == key {
				return posted(ctx, s, e)
			}
		}
		if page.Pagination.Next == "" {
			return provider.Posted{}, fault.Missing("journal in Rillet")
		}
		filter.Set("cursor", page.Pagination.Next)
	}
	return provider.Posted{}, fault.Conflictf("Rillet has so many journal entries on the day of the journal that it cannot be looked up " +
		"among them")
}

// moved is by how many days the date of a journal may have been changed in Rillet.
const moved = 45

// Find returns the journal with the key of another one. It is looked for on its day first, and then around it among those of its account.
func (Connector) Find(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	p, err := find(ctx, s, j.Key, url.Values{"date.gte": {j.Date}, "date.lte": {j.Date}})
	day, wrong := time.Parse(time.DateOnly, j.Date)
	if err == nil || fault.KindOf(err) != fault.NotFound || wrong != nil || len(j.Lines) == 0 {
		return p, err
	}
	return find(ctx, s, j.Key, url.Values{"account_ids": {j.Lines[len(j.Lines)-1].Account},
		"date.gte": {day.AddDate(0, 0, -moved).Format(time.DateOnly)}, "date.lte": {day.AddDate(0, 0, moved).Format(time.DateOnly)}})
}

// Get returns a journal entry as it stands now.
func (Connector) Get(ctx context.Context, s *provider.Session, id string) (provider.Posted, error) {
	var e entry
	if err := do(ctx, s, http.MethodGet, "/journal-entries/"+url.PathEscape(id), nil, nil, "", &e); err != nil {
		return provider.Posted{}, err
	}
	return posted(ctx, s, e)
}

// posted returns a journal entry in our terms.
func posted(ctx context.Context, s *provider.Session, e entry) (provider.Posted, error) {
	out := provider.Posted{ID: e.ID, Version: e.Updated, Journal: provider.Journal{Date: e.Date, Currency: e.Currency}}
	out.Journal.Memo, out.Journal.Key = provider.Unmark(e.Name)
	if e.ID == "" || e.Date == "" || len(e.Items) == 0 {
		return provider.Posted{}, provider.Nonsense(title, errors.New("a journal entry is incomplete"))
	}
	if err := identify(ctx, s, e.Items); err != nil {
		return provider.Posted{}, err
	}
	for n, one := range e.Items {
		var value provider.Exact
		if err := value.UnmarshalJSON([]byte(strconv.Quote(one.Amount.Amount))); err != nil || !value.Stated ||
			one.Side != debit && one.Side != credit || one.AccountID == "" {
			return provider.Posted{}, provider.Nonsense(title, fmt.Errorf("item %d of a journal entry has no account, side or amount", n+1))
		}
		line := provider.JournalLine{Account: one.AccountID, Debit: one.Side == debit, Amount: value.Amount, Memo: one.Description}
		for _, f := range one.Fields {
			if line.Dimensions == nil {
				line.Dimensions = map[string]string{}
			}
			line.Dimensions[f.Field] = f.Value
		}
		out.Journal.Lines = append(out.Journal.Lines, line)
	}
	return out, nil
}

// identify adds the ids of accounts to items that state only their codes.
func identify(ctx context.Context, s *provider.Session, items []item) error {
	if !slices.ContainsFunc(items, func(i item) bool { return i.AccountID == "" && i.Code != "" }) {
		return nil
	}
	all, err := accounts(ctx, s)
	if err != nil {
		return err
	}
	for n, one := range items {
		at := slices.IndexFunc(all, func(a provider.LedgerAccount) bool { return a.Code == one.Code })
		if one.AccountID == "" && one.Code != "" && at >= 0 {
			items[n].AccountID = all[at].ID
		}
	}
	return nil
}

// Remove deletes a journal entry, which Rillet permits until its period is closed.
func (c Connector) Remove(ctx context.Context, s *provider.Session, p provider.Posted) error {
	err := do(ctx, s, http.MethodDelete, "/journal-entries/"+url.PathEscape(p.ID), nil, nil, "", nil)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if fault.KindOf(err) != fault.Conflict {
		return err
	}
	there, failed := c.Get(ctx, s, p.ID)
	if failed != nil {
		return err
	}
	if through, failed := lockedThrough(ctx, s); failed == nil && there.Journal.Date <= through {
		return provider.Locked(title, there.Journal.Date, through)
	}
	return err
}
