package xerotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

// journals answers a request about manual journals.
func (s *Server) journals(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	var e *ledgertest.Entry
	if at := slices.IndexFunc(s.books.Entries, func(e *ledgertest.Entry) bool { return e.ID == id }); at >= 0 {
		e = s.books.Entries[at]
	}
	switch {
	case id == "" && r.Method == http.MethodPut:
		s.create(w, r.Header.Get("Idempotency-Key"), body)
	case id == "" && r.Method == http.MethodGet:
		s.list(w, r)
	case e == nil:
		missing(w)
	case r.Method == http.MethodGet:
		s.answer(w, e)
	case r.Method == http.MethodPost:
		s.void(w, e, body)
	default:
		missing(w)
	}
}

// answer answers with manual journals.
func (s *Server) answer(w http.ResponseWriter, all ...*ledgertest.Entry) {
	out := []object{}
	for _, e := range all {
		out = append(out, s.show(e))
	}
	ledgertest.JSON(w, http.StatusOK, object{"Id": "1", "Status": "OK", "ProviderName": "Bursar", "ManualJournals": out})
}

// invalid answers that a request is not valid.
func invalid(w http.ResponseWriter, message string) {
	ledgertest.JSON(w, http.StatusBadRequest, object{"ErrorNumber": 10, "Type": "ValidationException",
		"Message":  "A validation exception occurred",
		"Elements": []object{{"ValidationErrors": []object{{"Message": message}}}}})
}

// show returns a manual journal on the wire.
func (s *Server) show(e *ledgertest.Entry) object {
	lines := []object{}
	for _, l := range e.Lines {
		at := slices.IndexFunc(s.books.Accounts, func(a provider.LedgerAccount) bool { return a.ID == l.Account })
		amount := l.Amount
		if !l.Debit {
			amount = amount.Neg()
		}
		tracking := []object{}
		for category, option := range l.Dimensions {
			tracking = append(tracking, object{"Name": "Region", "Option": "East", "TrackingCategoryID": category, "TrackingOptionID": option})
		}
		one := object{"LineAmount": json.Number(amount.String()), "AccountID": l.Account, "AccountCode": s.books.Accounts[at].Code,
			"TaxType":  "NONE",
			"Tracking": tracking, "IsBlank": false}
		if l.Memo != "" {
			one["Description"] = l.Memo
		}
		lines = append(lines, one)
	}
	status := "POSTED"
	if e.Gone {
		status = "VOIDED"
	}
	return object{"ManualJournalID": e.ID, "Narration": e.Memo, "Date": date(e.Date), "Status": status, "LineAmountTypes": "NoTax",
		"UpdatedDateUTC": fmt.Sprintf("/Date(%d+0000)/", e.Changed.UnixMilli()), "JournalLines": lines, "HasAttachments": false}
}

func (s *Server) create(w http.ResponseWriter, key string, body []byte) {
	if len(key) > 128 {
		invalid(w, "the Idempotency-Key is too long")
		return
	}
	if e := s.books.Answered(key, s.Now()); e != nil {
		shown := s.show(e)
		shown["Status"] = "POSTED" // as it was
		ledgertest.JSON(w, http.StatusOK, object{"Id": "1", "Status": "OK", "ManualJournals": []object{shown}})
		return
	}
	j, err := s.decode(body)
	if err != nil {
		invalid(w, err.Error())
		return
	}
	e, refused := s.books.New(j, ledgertest.UUID(3), s.Now())
	switch {
	case refused == nil:
		s.books.Remember(key, e, s.Now())
		s.answer(w, e)
	case refused.Code == ledgertest.LockedPeriod:
		invalid(w, "The document date cannot be before the period lock date, currently set at "+s.books.LockedThrough)
	case refused.Code == ledgertest.Unbalanced:
		invalid(w, "The total debits must equal total credits")
	default:
		invalid(w, string(refused.Code))
	}
}

// decode reads a manual journal of a request.
func (s *Server) decode(body []byte) (j provider.Journal, err error) {
	var in struct {
		ManualJournals []struct {
			Narration, Date, Status, LineAmountTypes string
			JournalLines                             []struct {
				LineAmount               json.Number
				AccountCode, Description string
				Tracking                 []struct{ Name, Option string }
			}
		}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return j, err
	}
	if len(in.ManualJournals) != 1 || in.ManualJournals[0].Status != "POSTED" || in.ManualJournals[0].Narration == "" {
		return j, errors.New("there is no manual journal with a narration")
	}
	one := in.ManualJournals[0]
	j = provider.Journal{Memo: one.Narration, Date: one.Date, Currency: s.books.Currency}
	for _, l := range one.JournalLines {
		amount, err := money.Parse(string(l.LineAmount))
		at := slices.IndexFunc(s.books.Accounts, func(a provider.LedgerAccount) bool { return a.Code == l.AccountCode })
		if err != nil || at < 0 || len(l.Tracking) > 2 {
			return j, fmt.Errorf("account code '%s' is not a valid code for this document", l.AccountCode)
		}
		line := provider.JournalLine{Account: s.books.Accounts[at].ID, Debit: amount.Sign() > 0, Amount: amount.Abs(), Memo: l.Description,
			Dimensions: map[string]string{}}
		for _, t := range l.Tracking {
			category, option := s.track(t.Name, t.Option)
			line.Dimensions[category] = option
		}
		j.Lines = append(j.Lines, line)
	}
	return j, nil
}

// track returns the ids of a tracking option by its names.
func (s *Server) track(name, option string) (category, id string) {
	for _, d := range s.books.Dimensions {
		for _, v := range d.Values {
			if d.Name == name && v.Name == option {
				return d.ID, v.ID
			}
		}
	}
	return name, option
}

// void answers a request to void a manual journal.
func (s *Server) void(w http.ResponseWriter, e *ledgertest.Entry, body []byte) {
	var in struct {
		ManualJournals []struct{ ManualJournalID, Status string }
	}
	switch err := json.Unmarshal(body, &in); {
	case err != nil || len(in.ManualJournals) != 1 || in.ManualJournals[0].ManualJournalID != e.ID || in.ManualJournals[0].Status != "VOIDED":
		invalid(w, "the journal cannot be changed so")
	case e.Gone:
		invalid(w, "Manual Journal not of valid status for modification")
	case s.books.Delete(e, s.Now()) != nil:
		invalid(w, "The document date cannot be before the period lock date")
	default:
		s.answer(w, e)
	}
}

var (
	onDay    = regexp.MustCompile(`^Date==DateTime\((\d+),(\d+),(\d+)\)$`)
	contains = regexp.MustCompile(`^Narration!=null AND Narration\.Contains\("([^"]+)"\)$`)
)

// list answers with the manual journals of a filter, void ones included.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	day, text := onDay.FindStringSubmatch(q.Get("where")), contains.FindStringSubmatch(q.Get("where"))
	page, err := strconv.Atoi(q.Get("page"))
	if err != nil || q.Get("pageSize") != "100" || day == nil && text == nil {
		invalid(w, "the filter is wrong: "+q.Get("where"))
		return
	}
	var all []*ledgertest.Entry
	for _, e := range s.books.Entries {
		date := ""
		if day != nil {
			date = fmt.Sprintf("%04s-%02s-%02s", day[1], day[2], day[3])
		}
		if day != nil && e.Date == date || text != nil && strings.Contains(e.Memo, text[1]) {
			all = append(all, e)
		}
	}
	from := min((page-1)*100, len(all))
	s.answer(w, all[from:min(from+100, len(all))]...)
}
