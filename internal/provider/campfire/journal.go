package campfire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const entries = "/coa/api/journal_entry"

// sent is a journal entry as it is sent.
type sent struct {
	Type     string     `json:"type"`
	Entity   string     `json:"entity"`
	Date     string     `json:"date"`
	Memo     string     `json:"memo"`
	Currency string     `json:"currency"`
	Lines    []sentLine `json:"transactions"`
}

// sentLine is a line as it is sent. Amounts are in the currency of the journal, from which Campfire computes those in others.
type sentLine struct {
	Account     string         `json:"account"`
	Debit       provider.Exact `json:"debit_amount_native"`
	Credit      provider.Exact `json:"credit_amount_native"`
	Description string         `json:"bank_description"`
	Department  string         `json:"department,omitempty"`
	Tags        []tag          `json:"tags,omitempty"`
}

type tag struct {
	ID string `json:"id"`
}

// entry is a journal entry as it is answered.
type entry struct {
	ID       json.Number `json:"id"`
	Order    string      `json:"order"`
	Entity   json.Number `json:"entity"`
	Date     string      `json:"date"`
	Memo     string      `json:"memo"`
	Currency string      `json:"currency"`
	Changed  string      `json:"last_modified_at"`
	Deleted  bool        `json:"is_deleted"`
	Lines    []line      `json:"transactions"`
}

type line struct {
	Account     json.Number    `json:"account"`
	Debit       provider.Exact `json:"debit_amount_native"`
	Credit      provider.Exact `json:"credit_amount_native"`
	Description string         `json:"bank_description"`
	Department  json.Number    `json:"department"`
	Tags        []struct {
		ID    json.Number `json:"id"`
		Group json.Number `json:"group"`
	} `json:"tags"`
}

// Push stores a journal. Campfire recognizes a repeated request by a key; whether or not it does, the journal is looked up by the mark in
// its memo before each repeat.
func (c Connector) Push(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	var body []byte
	var stored entry
	p, err := s.Store(ctx, provider.Storage{
		Find: func(ctx context.Context) (provider.Posted, error) {
			return find(ctx, s, j.Key, url.Values{"start_date": {j.Date}, "end_date": {j.Date}})
		},
		Prepare: func(ctx context.Context) (err error) {
			body, err = prepare(ctx, s, j)
			return err
		},
		Send: func(attempt int) provider.Call {
			return call(s, http.MethodPost, entries, nil, body, fmt.Sprintf("%s-%d", j.Key, attempt), &stored)
		},
		Read: func([]byte) (provider.Posted, error) { return posted(stored) },
		Get:  func(ctx context.Context, id string) (provider.Posted, error) { return c.Get(ctx, s, id) },
	})
	err = provider.Refused(ctx, c, s, j, err)
	if err != nil && fault.KindOf(err) == fault.Conflict && !strings.Contains(err.Error(), j.Date) {
		err = fault.Conflictf("the journal of %s: %v", j.Date, err)
	}
	return p, err
}

// prepare returns a journal as it is sent.
func prepare(ctx context.Context, s *provider.Session, j provider.Journal) ([]byte, error) {
	if err := j.CheckAmounts(); err != nil {
		return nil, err
	}
	to, err := company(ctx, s)
	if err != nil {
		return nil, err
	}
	out := sent{Type: "journal_entry", Entity: to.ID, Date: j.Date, Memo: provider.Mark(j.Memo, j.Key, memoMax), Currency: j.Currency}
	for _, l := range j.Lines {
		one := sentLine{Account: l.Account, Description: provider.Shorten(l.Memo, lineMax)}
		if l.Debit {
			one.Debit = provider.NewExact(l.Amount)
		} else {
			one.Credit = provider.NewExact(l.Amount)
		}
		for dimension, value := range l.Dimensions {
			if dimension == department {
				one.Department = value
			} else {
				one.Tags = append(one.Tags, tag{value})
			}
		}
		slices.SortFunc(one.Tags, func(a, b tag) int { return strings.Compare(a.ID, b.ID) })
		out.Lines = append(out.Lines, one)
	}
	return json.Marshal(out)
}

// find looks for the journal with a key in a list.
func find(ctx context.Context, s *provider.Session, key string, filter url.Values) (provider.Posted, error) {
	all, err := list[entry](ctx, s, entries, filter)
	if err != nil {
		return provider.Posted{}, err
	}
	for _, e := range all {
		if _, found := provider.Unmark(e.Memo); found == key && !e.Deleted {
			return posted(e)
		}
	}
	return provider.Posted{}, fault.Missing("journal in Campfire")
}

// moved is by how many days the date of a journal may have been changed in Campfire.
const moved = 45

// Find returns the journal with the key of another one. It is looked for on its day first, and then around it among those of its account.
func (Connector) Find(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	p, err := find(ctx, s, j.Key, url.Values{"start_date": {j.Date}, "end_date": {j.Date}})
	day, wrong := time.Parse(time.DateOnly, j.Date)
	if err == nil || fault.KindOf(err) != fault.NotFound || wrong != nil || len(j.Lines) == 0 {
		return p, err
	}
	return find(ctx, s, j.Key, url.Values{"account": {j.Lines[len(j.Lines)-1].Account},
		"start_date": {day.AddDate(0, 0, -moved).Format(time.DateOnly)}, "end_date": {day.AddDate(0, 0, moved).Format(time.DateOnly)}})
}

// Get returns a journal entry as it stands now.
func (Connector) Get(ctx context.Context, s *provider.Session, id string) (provider.Posted, error) {
	var e entry
	if _, err := s.Do(ctx, call(s, http.MethodGet, entries+"/"+url.PathEscape(id), nil, nil, "", &e)); err != nil {
		return provider.Posted{}, err
	}
	if e.Deleted {
		return provider.Posted{}, fault.Missing("journal in Campfire")
	}
	return posted(e)
}

// posted returns a journal entry in our terms.
func posted(e entry) (provider.Posted, error) {
	out := provider.Posted{ID: e.ID.String(), Number: e.Order, Version: e.Changed, Journal: provider.Journal{Date: e.Date,
		Currency: e.Currency}}
	out.Journal.Memo, out.Journal.Key = provider.Unmark(e.Memo)
	if e.ID == "" || e.Date == "" || len(e.Lines) == 0 {
		return provider.Posted{}, provider.Nonsense(title, errors.New("a journal entry is incomplete"))
	}
	for _, l := range e.Lines {
		if l.Account == "" || l.Debit.Stated == l.Credit.Stated {
			return provider.Posted{}, provider.Nonsense(title, errors.New("a line of a journal entry is incomplete"))
		}
		one := provider.JournalLine{Account: l.Account.String(), Debit: l.Debit.Stated, Amount: l.Credit.Amount, Memo: l.Description}
		if one.Debit {
			one.Amount = l.Debit.Amount
		}
		values := map[string]string{}
		if l.Department != "" {
			values[department] = l.Department.String()
		}
		for _, t := range l.Tags {
			values[group+t.Group.String()] = t.ID.String()
		}
		if len(values) > 0 {
			one.Dimensions = values
		}
		out.Journal.Lines = append(out.Journal.Lines, one)
	}
	return out, nil
}

// Remove deletes a journal entry.
func (Connector) Remove(ctx context.Context, s *provider.Session, p provider.Posted) error {
	_, err := s.Do(ctx, call(s, http.MethodDelete, entries+"/"+url.PathEscape(p.ID), nil, nil, "", nil))
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}
