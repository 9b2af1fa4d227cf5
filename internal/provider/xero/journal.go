package xero

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

const journals = api + "/ManualJournals"

// entry is a manual journal on the wire.
type entry struct {
	ID        string `json:"ManualJournalID,omitempty"`
	Narration string `json:"Narration"`
	Date      string `json:"Date,omitempty"`
	Status    string `json:"Status"`
	Taxes     string `json:"LineAmountTypes,omitempty"`
	Updated   string `json:"UpdatedDateUTC,omitempty"`
	Lines     []line `json:"JournalLines,omitempty"`
}

// line is a line of a manual journal. Debits are positive, and credits negative.
type line struct {
	Amount      provider.Exact `json:"LineAmount"`
	AccountID   string         `json:"AccountID,omitempty"`
	AccountCode string         `json:"AccountCode"`
	Description string         `json:"Description,omitempty"`
	TaxType     string         `json:"TaxType,omitempty"`
	Blank       bool           `json:"IsBlank,omitempty"`
	Tracking    []tracking     `json:"Tracking,omitempty"`
}

// tracking is an option of a tracking category. Requests state the names, and answers the ids as well.
type tracking struct {
	CategoryID string `json:"TrackingCategoryID,omitempty"`
	OptionID   string `json:"TrackingOptionID,omitempty"`
	Name       string `json:"Name"`
	Option     string `json:"Option"`
}

// answered is a list of manual journals.
type answered struct {
	Journals []entry `json:"ManualJournals"`
}

const (
	statusPosted  = "POSTED"
	statusDraft   = "DRAFT"
	statusVoided  = "VOIDED"
	statusDeleted = "DELETED"
)

// Push stores a journal. Xero recognizes a repeated request for some minutes by a key; after that the journal is found by the mark in its
// narration.
func (c Connector) Push(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	var body []byte
	var stored answered
	var base string
	p, err := s.Store(ctx, provider.Storage{
		Find: func(ctx context.Context) (provider.Posted, error) { return find(ctx, s, j.Key, onDay(j.Date)) },
		Prepare: func(ctx context.Context) (err error) {
			body, base, err = c.prepare(ctx, s, j)
			return err
		},
		Send: func(attempt int) provider.Call {
			q := request{method: http.MethodPut, path: journals, body: body, key: fmt.Sprintf("%s-%d", j.Key, attempt)}
			c, err := call(ctx, s, q, &stored)
			if err != nil {
				c.Build = func(context.Context) (*http.Request, error) { return nil, err }
			}
			return c
		},
		Read: func([]byte) (provider.Posted, error) {
			if len(stored.Journals) != 1 {
				return provider.Posted{}, provider.Nonsense(title, errors.New("there is no manual journal"))
			}
			return posted(s, stored.Journals[0], base)
		},
		Get: func(ctx context.Context, id string) (provider.Posted, error) { return c.Get(ctx, s, id) },
	})
	return p, provider.Refused(ctx, c, s, j, err)
}

// prepare returns a journal as it is sent, and the base currency.
func (c Connector) prepare(ctx context.Context, s *provider.Session, j provider.Journal) (body []byte, base string, err error) {
	if err := j.CheckAmounts(); err != nil {
		return nil, "", err
	}
	known, err := c.learn(ctx, s, j)
	if err != nil {
		return nil, "", err
	}
	if j.Currency != known.Currency {
		return nil, "", fault.Conflictf("manual journals in Xero have the base currency %s, so that a journal in %s cannot be sent",
			known.Currency,
			j.Currency)
	}
	out := entry{Narration: provider.Mark(j.Memo, j.Key, narrationMax), Date: j.Date, Status: statusPosted, Taxes: "NoTax"}
	for _, l := range j.Lines {
		one := line{Amount: provider.NewExact(l.Amount), AccountCode: known.Codes[l.Account], Description: provider.Shorten(l.Memo, lineMax)}
		if !l.Debit {
			one.Amount = provider.NewExact(l.Amount.Neg())
		}
		for _, value := range l.Dimensions {
			one.Tracking = append(one.Tracking, known.Tracking[value])
		}
		slices.SortFunc(one.Tracking, func(a, b tracking) int { return strings.Compare(a.Name, b.Name) })
		out.Lines = append(out.Lines, one)
	}
	body, err = json.Marshal(answered{[]entry{out}})
	return body, known.Currency, err
}

// onDay selects the journals of a day.
func onDay(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return "Date==null"
	}
	return fmt.Sprintf("Date==DateTime(%d,%d,%d)", day.Year(), int(day.Month()), day.Day())
}

// find looks for the journal with a key among those of a filter.
func find(ctx context.Context, s *provider.Session, key, where string) (provider.Posted, error) {
	for page := 1; page <= pagesMax; page++ {
		var got answered
		query := url.Values{"where": {where}, "page": {strconv.Itoa(page)}, "pageSize": {strconv.Itoa(pageSize)}}
		if err := do(ctx, s, request{method: http.MethodGet, path: journals, query: query}, &got); err != nil {
			return provider.Posted{}, err
		}
		if got.Journals == nil {
			return provider.Posted{}, provider.Nonsense(title, errors.New("there is no list of manual journals"))
		}
		for _, e := range got.Journals {
			if _, found := provider.Unmark(e.Narration); found == key && e.there() {
				return posted(s, e, "")
			}
		}
		if len(got.Journals) < pageSize {
			return provider.Posted{}, fault.Missing("journal in Xero")
		}
	}
	return provider.Posted{}, fault.Conflictf("Xero has so many manual journals on the day of the journal that it cannot be looked up " +
		"among them")
}

// there reports whether a manual journal has not been voided or deleted.
func (e entry) there() bool { return e.Status == statusPosted || e.Status == statusDraft }

// Find returns the journal with the key of another one. It is looked for on its day first, and then by its narration, which takes Xero
// longer.
func (Connector) Find(ctx context.Context, s *provider.Session, j provider.Journal) (provider.Posted, error) {
	p, err := find(ctx, s, j.Key, onDay(j.Date))
	if err == nil || fault.KindOf(err) != fault.NotFound {
		return p, err
	}
	return find(ctx, s, j.Key, `Narration!=null AND Narration.Contains("`+j.Key+`")`)
}

// Get returns a manual journal as it stands now.
func (Connector) Get(ctx context.Context, s *provider.Session, id string) (provider.Posted, error) {
	e, err := get(ctx, s, id)
	if err != nil {
		return provider.Posted{}, err
	}
	var known learnt
	if s.Learnt == "" || json.Unmarshal([]byte(s.Learnt), &known) != nil {
		o, _, err := readOrganisation(ctx, s)
		if err != nil {
			return provider.Posted{}, err
		}
		known.Currency = o.Currency
		s.Learnt = provider.FormatCursor(known)
	}
	return posted(s, e, known.Currency)
}

// get returns a manual journal on the wire, unless it is void.
func get(ctx context.Context, s *provider.Session, id string) (entry, error) {
	var got answered
	if err := do(ctx, s, request{method: http.MethodGet, path: journals + "/" + url.PathEscape(id)}, &got); err != nil {
		return entry{}, err
	}
	if len(got.Journals) != 1 {
		return entry{}, provider.Nonsense(title, errors.New("there is no manual journal"))
	}
	switch e := got.Journals[0]; {
	case e.Status == statusVoided, e.Status == statusDeleted:
		return entry{}, fault.Missing("journal in Xero")
	case !e.there():
		return entry{}, provider.Nonsense(title, errors.New("a manual journal has an unknown status"))
	default:
		return e, nil
	}
}

// posted returns a manual journal in our terms. The currency is that of the books, and empty if it is not known.
func posted(s *provider.Session, e entry, currency string) (provider.Posted, error) {
	out := provider.Posted{ID: e.ID, Version: e.Updated, Journal: provider.Journal{Currency: currency}}
	out.Journal.Memo, out.Journal.Key = provider.Unmark(e.Narration)
	if !s.Replaced() {
		out.URL = "https://go.xero.com/Journal/View.aspx?invoiceID=" + url.QueryEscape(e.ID)
	}
	var err error
	if out.Journal.Date, err = parseDate(e.Date); err != nil || e.ID == "" {
		return provider.Posted{}, provider.Nonsense(title, errors.New("a manual journal is incomplete"))
	}
	for _, l := range e.Lines {
		if l.Blank {
			continue
		}
		if !l.Amount.Stated || l.AccountID == "" {
			return provider.Posted{}, provider.Nonsense(title, errors.New("a line of a manual journal is incomplete"))
		}
		one := provider.JournalLine{Account: l.AccountID, Debit: l.Amount.Amount.Sign() >= 0, Amount: l.Amount.Amount.Abs(), Memo: l.Description}
		for _, t := range l.Tracking {
			if one.Dimensions == nil {
				one.Dimensions = map[string]string{}
			}
			one.Dimensions[t.CategoryID] = t.OptionID
		}
		out.Journal.Lines = append(out.Journal.Lines, one)
	}
	return out, nil
}

// Remove voids a manual journal, or deletes it if somebody has made it a draft.
func (Connector) Remove(ctx context.Context, s *provider.Session, p provider.Posted) error {
	e, err := get(ctx, s, p.ID)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	status := statusVoided
	if e.Status == statusDraft {
		status = statusDeleted
	}
	body, err := json.Marshal(answered{[]entry{{ID: e.ID, Narration: e.Narration, Status: status}}})
	if err != nil {
		return err
	}
	var got answered
	err = do(ctx, s, request{method: http.MethodPost, path: journals + "/" + url.PathEscape(e.ID), body: body}, &got)
	if err == nil && (len(got.Journals) != 1 || got.Journals[0].there()) {
		return provider.Nonsense(title, errors.New("the answer does not confirm that the manual journal was voided"))
	}
	if fault.KindOf(err) != fault.Conflict {
		return err
	}
	if _, failed := get(ctx, s, p.ID); fault.KindOf(failed) == fault.NotFound {
		return nil // the answer to an earlier request was lost
	}
	day, wrong := parseDate(e.Date)
	if _, locked, failed := readOrganisation(ctx, s); failed == nil && wrong == nil && day <= locked {
		return provider.Locked(title, day, locked)
	}
	return err
}
