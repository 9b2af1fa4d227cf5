package quickbooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// entry is a journal entry on the wire.
type entry struct {
	ID       string     `json:"Id,omitempty"`
	Token    string     `json:"SyncToken,omitempty"`
	Status   string     `json:"status,omitempty"`
	Date     string     `json:"TxnDate"`
	Number   string     `json:"DocNumber,omitempty"`
	Note     string     `json:"PrivateNote"`
	Currency *reference `json:"CurrencyRef,omitempty"`
	Lines    []line     `json:"Line"`
}

type line struct {
	Description string         `json:"Description,omitempty"`
	Amount      provider.Exact `json:"Amount"`
	Type        string         `json:"DetailType"`
	Detail      detail         `json:"JournalEntryLineDetail"`
}

type detail struct {
	Posting    string     `json:"PostingType"`
	Account    reference  `json:"AccountRef"`
	Class      *reference `json:"ClassRef,omitempty"`
	Department *reference `json:"DepartmentRef,omitempty"`
}

// answered is an answer with a journal entry.
type answered struct {
	Entry entry `json:"JournalEntry"`
}

const (
	lineType = "JournalEntryLineDetail"
	debit    = "Debit"
	credit   = "Credit"
)

// Push stores a journal. QuickBooks recognizes a repeated request by its id; after that the journal is found by its number, and by the mark
// in its memo.
func (c Connector) Push(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	var body []byte
	var stored answered
	p, err := s.Store(ctx, provider.Storage{
		Find: func(ctx context.Context) (provider.Posted, error) {
			if j.Number == "" {
				return find(ctx, s, j.Key, "TxnDate", j.Date)
			}
			return find(ctx, s, j.Key, "DocNumber", number(j))
		},
		Prepare: func(ctx context.Context) (err error) {
			body, err = prepare(ctx, s, j)
			return err
		},
		Send: func(attempt int) provider.Call {
			id := url.Values{"requestid": {fmt.Sprintf("%s-%d", j.Key, attempt)}}
			c, err := call(ctx, s, http.MethodPost, "/journalentry", id, body, &stored)
			if err != nil {
				c.Build = func(context.Context) (*http.Request, error) { return nil, err }
			}
			return c
		},
		Read: func([]byte) (provider.Posted, error) { return posted(ctx, s, stored.Entry) },
		Get:  func(ctx context.Context, id string) (provider.Posted, error) { return c.Get(ctx, s, id) },
	})
	if fault.KindOf(err) == fault.NotFound || errors.Is(err, errStale) { // what a line refers to is gone
		err = fault.Conflictf("QuickBooks refuses the journal, because something that it refers to was made inactive or deleted there")
	}
	return p, provider.Refused(ctx, c, s, j, err)
}

// number returns the number of a journal as QuickBooks can have it.
func number(j provider.Journal) string { return provider.Shorten(j.Number, numberMax) }

// prepare returns a journal as it is sent.
func prepare(ctx context.Context, s *provider.Session, j provider.Journal) ([]byte, error) {
	if err := j.CheckAmounts(); err != nil {
		return nil, err
	}
	settings, err := learn(ctx, s)
	if err != nil {
		return nil, err
	}
	out := entry{Date: j.Date, Number: number(j), Note: provider.Mark(j.Memo, j.Key, memoMax)}
	switch home := settings.Currency.Home.Value; {
	case settings.Currency.Multiple:
		out.Currency = &reference{j.Currency}
	case j.Currency != home:
		return nil, fault.Conflictf("the company keeps its books in %s and does not use other currencies, so that a journal in %s cannot be "+
			"sent: "+
			"turn on Multicurrency in QuickBooks", home, j.Currency)
	}
	for _, l := range j.Lines {
		one := line{Description: provider.Shorten(l.Memo, lineMax), Amount: provider.NewExact(l.Amount), Type: lineType,
			Detail: detail{Posting: credit, Account: reference{l.Account}}}
		if l.Debit {
			one.Detail.Posting = debit
		}
		for dimension, value := range l.Dimensions {
			switch dimension {
			case class:
				one.Detail.Class = &reference{value}
			case department:
				one.Detail.Department = &reference{value}
			}
		}
		out.Lines = append(out.Lines, one)
	}
	return json.Marshal(out)
}

// find looks for the journal with a key among those of which a field has a value. The memo itself cannot be searched.
func find(ctx context.Context, s *provider.Session, key, field, value string) (provider.Posted, error) {
	all, err := list[entry](ctx, s, "JournalEntry", " where "+field+" = "+quote(value))
	if err != nil {
		return provider.Posted{}, err
	}
	for _, e := range all {
		if _, found := provider.Unmark(e.Note); found == key {
			return posted(ctx, s, e)
		}
	}
	return provider.Posted{}, fault.Missing("journal in QuickBooks")
}

// Find returns the journal with the key of another one. It is looked for by its number, and then by its date.
func (Connector) Find(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	if j.Number != "" {
		p, err := find(ctx, s, j.Key, "DocNumber", number(j))
		if err == nil || fault.KindOf(err) != fault.NotFound {
			return p, err
		}
	}
	return find(ctx, s, j.Key, "TxnDate", j.Date)
}

// Get returns a journal entry as it stands now.
func (Connector) Get(ctx context.Context, s *provider.Session, id string) (provider.Posted, error) {
	e, err := get(ctx, s, id)
	if err != nil {
		return provider.Posted{}, err
	}
	return posted(ctx, s, e)
}

// get returns a journal entry on the wire.
func get(ctx context.Context, s *provider.Session, id string) (entry, error) {
	var got answered
	if err := do(ctx, s, http.MethodGet, "/journalentry/"+url.PathEscape(id), nil, nil, &got); err != nil {
		return entry{}, err
	}
	if got.Entry.Status == "Deleted" {
		return entry{}, fault.Missing("journal in QuickBooks")
	}
	return got.Entry, nil
}

// posted returns a journal entry in our terms.
func posted(ctx context.Context, s *provider.Session, e entry) (provider.Posted, error) {
	out := provider.Posted{ID: e.ID, Number: e.Number, Version: e.Token, Journal: provider.Journal{Number: e.Number, Date: e.Date}}
	out.Journal.Memo, out.Journal.Key = provider.Unmark(e.Note)
	if e.ID == "" || e.Date == "" || len(e.Lines) == 0 {
		return provider.Posted{}, provider.Nonsense(title, errors.New("a journal entry is incomplete"))
	}
	if !s.Replaced() {
		out.URL = "https://app.qbo.intuit.com/app/journal?txnId=" + url.QueryEscape(e.ID)
	}
	if e.Currency != nil {
		out.Journal.Currency = e.Currency.Value
	} else {
		settings, err := learn(ctx, s)
		if err != nil {
			return provider.Posted{}, err
		}
		out.Journal.Currency = settings.Currency.Home.Value
	}
	for _, l := range e.Lines {
		if l.Type != lineType {
			continue // a description or a subtotal
		}
		if !l.Amount.Stated || l.Detail.Account.Value == "" || l.Detail.Posting != debit && l.Detail.Posting != credit {
			return provider.Posted{}, provider.Nonsense(title, errors.New("a line of a journal entry is incomplete"))
		}
		one := provider.JournalLine{Account: l.Detail.Account.Value, Debit: l.Detail.Posting == debit, Amount: l.Amount.Amount,
			Memo: l.Description}
		for dimension, value := range map[string]*reference{class: l.Detail.Class, department: l.Detail.Department} {
			if value != nil && value.Value != "" {
				if one.Dimensions == nil {
					one.Dimensions = map[string]string{}
				}
				one.Dimensions[dimension] = value.Value
			}
		}
		out.Journal.Lines = append(out.Journal.Lines, one)
	}
	return out, nil
}

// Remove deletes a journal entry, as it stands now. It is read again if somebody changes it at the same time.
func (Connector) Remove(ctx context.Context, s *provider.Session, p provider.Posted) error {
	for try := 1; ; try++ {
		e, err := get(ctx, s, p.ID)
		if err == nil {
			err = remove(ctx, s, e)
		}
		switch {
		case fault.KindOf(err) == fault.NotFound:
			return nil
		case errors.Is(err, errStale) && try < 3:
			continue
		case errors.Is(err, errStale):
			return provider.Temporary(title, "the journal entry is changed all the time")
		case fault.KindOf(err) != fault.Conflict:
			return err
		}
		if settings, failed := readPreferences(ctx, s); failed == nil && e.Date <= settings.Accounting.Close {
			return provider.Locked(title, e.Date, settings.Accounting.Close)
		}
		return err
	}
}

// remove deletes a journal entry with a version.
func remove(ctx context.Context, s *provider.Session, e entry) error {
	body, err := json.Marshal(map[string]string{"Id": e.ID, "SyncToken": e.Token})
	if err != nil {
		return err
	}
	var got answered
	err = do(ctx, s, http.MethodPost, "/journalentry", url.Values{"operation": {"delete"}}, body, &got)
	if err == nil && (got.Entry.ID != e.ID || got.Entry.Status != "Deleted") {
		return provider.Nonsense(title, errors.New("the answer does not confirm that the journal entry was deleted"))
	}
	return err
}
