package netsuite

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const records = "/record/v1/journalEntry"

// reference is a reference to another record.
type reference struct {
	ID string `json:"id"`
}

// entry is a journal entry on the wire.
type entry struct {
	ID         string     `json:"id,omitempty"`
	External   string     `json:"externalId"`
	Number     string     `json:"tranId,omitempty"`
	Date       string     `json:"tranDate"`
	Memo       string     `json:"memo,omitempty"`
	Changed    string     `json:"lastModifiedDate,omitempty"`
	Subsidiary *reference `json:"subsidiary,omitempty"`
	Currency   *reference `json:"currency,omitempty"`
	Line       lines      `json:"line"`
}

type lines struct {
	Items []line `json:"items"`
	More  bool   `json:"hasMore,omitempty"`
}

type line struct {
	Account    *reference     `json:"account"`
	Debit      provider.Exact `json:"debit,omitzero"`
	Credit     provider.Exact `json:"credit,omitzero"`
	Memo       string         `json:"memo,omitempty"`
	Department *reference     `json:"department,omitempty"`
	Class      *reference     `json:"class,omitempty"`
	Location   *reference     `json:"location,omitempty"`
}

// Push stores a journal. Its key is the external ID of the record, of which NetSuite stores only one: unlike the upsert that NetSuite
// offers, the creation of a second one is refused and changes nothing.
func (c Connector) Push(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	p, err := find(ctx, s, j.Key)
	if err == nil || fault.KindOf(err) != fault.NotFound {
		return p, err
	}
	body, err := prepare(ctx, s, j)
	if err != nil {
		return p, provider.Refused(ctx, c, s, j, err)
	}
	id, err := do(ctx, s, request{http.MethodPost, records, nil, body}, nil)
	switch {
	case err == nil && id == "": // the header with the id was lost
		there, err := find(ctx, s, j.Key)
		if fault.KindOf(err) == fault.NotFound { // which does not mean that it was not stored
			err = provider.Nonsense(title, errors.New("a journal entry was stored without an id, and cannot be found"))
		}
		return there, err
	case err == nil:
		return provider.Posted{ID: id, URL: page(s, id)}, nil
	case fault.KindOf(err) != fault.Conflict && fault.KindOf(err) != fault.NotFound:
		return p, err
	}
	there, failed := find(ctx, s, j.Key)
	if failed == nil {
		return there, nil // it was stored by a request whose answer was lost, or by somebody else at the same time
	}
	if fault.KindOf(failed) != fault.NotFound {
		return p, failed
	}
	if fault.KindOf(err) == fault.NotFound {
		err = fault.Conflictf("NetSuite refuses the journal, because something that it refers to does not exist there")
	}
	return p, provider.Refused(ctx, c, s, j, err)
}

// prepare returns a journal as it is sent.
func prepare(ctx context.Context, s *provider.Session, j provider.Journal) ([]byte, error) {
	if err := j.CheckAmounts(); err != nil {
		return nil, err
	}
	known, err := learn(ctx, s)
	if err != nil {
		return nil, err
	}
	out := entry{External: j.Key, Date: j.Date, Memo: provider.Shorten(j.Memo, memoMax)}
	if known.ID != "" {
		out.Subsidiary = &reference{known.ID}
	}
	if j.Currency != known.Currency {
		for id, symbol := range known.Currencies {
			if symbol == j.Currency {
				out.Currency = &reference{id}
			}
		}
		if out.Currency == nil {
			return nil, fault.Conflictf("the currency %s does not exist in NetSuite: create it there under Lists, Accounting, Currencies",
				j.Currency)
		}
	}
	for _, l := range j.Lines {
		one := line{Account: &reference{l.Account}, Memo: provider.Shorten(l.Memo, memoMax)}
		if l.Debit {
			one.Debit = provider.NewExact(l.Amount)
		} else {
			one.Credit = provider.NewExact(l.Amount)
		}
		for dimension, value := range l.Dimensions {
			switch dimension {
			case "department":
				one.Department = &reference{value}
			case "class":
				one.Class = &reference{value}
			case "location":
				one.Location = &reference{value}
			}
		}
		out.Line.Items = append(out.Line.Items, one)
	}
	return json.Marshal(out)
}

// page returns the page of NetSuite that shows a journal entry.
func page(s *provider.Session, id string) string {
	host, err := account(s)
	if err != nil || s.Replaced() {
		return ""
	}
	return pages(s, host) + "/app/accounting/transactions/journal.nl?id=" + url.QueryEscape(id)
}

// find returns the journal with a key.
func find(ctx context.Context, s *provider.Session, key string) (provider.Posted, error) {
	return Connector{}.Get(ctx, s, "eid:"+key)
}

// Find returns the journal with the key of another one.
func (Connector) Find(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	return find(ctx, s, j.Key)
}

// Get returns a journal entry as it stands now.
func (Connector) Get(ctx context.Context, s *provider.Session, id string) (provider.Posted, error) {
	var e entry
	q := request{http.MethodGet, records + "/" + url.PathEscape(id), url.Values{"expandSubResources": {"true"}}, nil}
	if _, err := do(ctx, s, q, &e); err != nil {
		return provider.Posted{}, err
	}
	known, err := learn(ctx, s)
	if err != nil {
		return provider.Posted{}, err
	}
	out := provider.Posted{ID: e.ID, Number: e.Number, Version: e.Changed, URL: page(s, e.ID), Journal: provider.Journal{Key: e.External,
		Date: e.Date,
		Memo: e.Memo, Currency: known.Currency}}
	if e.ID == "" || e.Date == "" || len(e.Line.Items) == 0 || e.Line.More {
		return provider.Posted{}, provider.Nonsense(title, errors.New("a journal entry is incomplete"))
	}
	if e.Currency != nil {
		out.Journal.Currency = known.Currencies[e.Currency.ID]
	}
	for _, l := range e.Line.Items {
		one, err := l.line()
		if err != nil {
			return provider.Posted{}, provider.Nonsense(title, err)
		}
		if !one.Amount.IsZero() {
			out.Journal.Lines = append(out.Journal.Lines, one)
		}
	}
	if len(out.Journal.Lines) == 0 {
		return provider.Posted{}, fault.Missing("journal in NetSuite") // it is void
	}
	return out, nil
}

// line returns a line in our terms. The side that is not used may be stated as zero.
func (l line) line() (out provider.JournalLine, err error) {
	debit, credit := l.Debit.Stated && !l.Debit.Amount.IsZero(), l.Credit.Stated && !l.Credit.Amount.IsZero()
	if l.Account == nil || l.Account.ID == "" || !l.Debit.Stated && !l.Credit.Stated || debit && credit {
		return out, errors.New("a line of a journal entry is incomplete")
	}
	out = provider.JournalLine{Account: l.Account.ID, Debit: debit, Amount: l.Credit.Amount, Memo: l.Memo}
	if debit {
		out.Amount = l.Debit.Amount
	}
	for dimension, value := range map[string]*reference{"department": l.Department, "class": l.Class, "location": l.Location} {
		if value != nil && value.ID != "" {
			if out.Dimensions == nil {
				out.Dimensions = map[string]string{}
			}
			out.Dimensions[dimension] = value.ID
		}
	}
	return out, nil
}

// Remove deletes a journal entry, which NetSuite permits in open periods.
func (c Connector) Remove(ctx context.Context, s *provider.Session, p provider.Posted) error {
	_, err := do(ctx, s, request{http.MethodDelete, records + "/" + url.PathEscape(p.ID), nil, nil}, nil)
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
