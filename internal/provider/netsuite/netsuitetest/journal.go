package netsuitetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

type reference struct {
	ID string `json:"id"`
}

// record answers a request about a journal entry.
func (s *Server) record(w http.ResponseWriter, r *http.Request, id string) {
	e := s.books.Get(id)
	if key, external := strings.CutPrefix(id, "eid:"); external {
		for _, one := range s.books.Entries {
			if one.Key == key && !one.Gone {
				e = one
			}
		}
	}
	switch {
	case e == nil:
		refuse(w, http.StatusNotFound, "NONEXISTENT_ID", "The record instance does not exist. Provide a valid record instance ID.")
	case r.Method == http.MethodGet:
		ledgertest.JSON(w, http.StatusOK, s.show(e, r.URL.Query().Get("expandSubResources") == "true"))
	case s.books.Delete(e, s.Now()) != nil:
		refuse(w, http.StatusBadRequest, "USER_ERROR", "This transaction cannot be deleted because it is in a closed period.")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// show returns a journal entry on the wire.
func (s *Server) show(e *ledgertest.Entry, expanded bool) object {
	items := []object{}
	for i, l := range e.Lines {
		one := object{"line": i + 1, "account": object{"id": l.Account, "refName": "an account"}}
		side, other := "credit", "debit"
		if l.Debit {
			side, other = other, side
		}
		one[side] = json.Number(l.Amount.String())
		if i == 0 {
			one[other] = json.Number("0.0")
		}
		if l.Memo != "" {
			one["memo"] = l.Memo
		}
		for dimension, value := range l.Dimensions {
			one[dimension] = object{"id": value, "refName": "a value"}
		}
		items = append(items, one)
	}
	out := object{"links": []object{}, "id": e.ID, "externalId": e.Key, "tranId": "JE" + e.ID, "tranDate": e.Date,
		"currency": object{"id": s.currency(e.Currency), "refName": "a currency"}, "lastModifiedDate": e.Changed.Format(time.RFC3339Nano)}
	if e.Memo != "" {
		out["memo"] = e.Memo
	}
	if expanded {
		out["line"] = object{"links": []object{}, "items": items, "totalResults": len(items)}
	}
	return out
}

func (s *Server) create(w http.ResponseWriter, body []byte) {
	j, err := s.decode(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "INVALID_CONTENT", err.Error())
		return
	}
	if len(s.books.Keyed(j.Key)) > 0 {
		refuse(w, http.StatusBadRequest, "USER_ERROR", "Error while accessing a resource. This record already exists.")
		return
	}
	e, refused := s.books.New(j, func(n int) string { return strconv.Itoa(640 + n) }, s.Now())
	switch {
	case refused == nil:
		w.Header().Set("Location", s.URL+"/services/rest/record/v1/journalEntry/"+e.ID)
		w.WriteHeader(http.StatusNoContent)
	case refused.Code == ledgertest.LockedPeriod:
		refuse(w, http.StatusBadRequest, "USER_ERROR", "Error while accessing a resource. The transaction date is in a closed period.")
	default:
		refuse(w, http.StatusBadRequest, "INVALID_CONTENT", fmt.Sprintf("Error while accessing a resource. Invalid value %s for line %d: %s.",
			refused.What, refused.Line, refused.Code))
	}
}

// decode reads a journal entry of a request.
func (s *Server) decode(body []byte) (j provider.Journal, err error) {
	var in struct {
		External   string     `json:"externalId"`
		Date       string     `json:"tranDate"`
		Memo       string     `json:"memo"`
		Subsidiary *reference `json:"subsidiary"`
		Currency   *reference `json:"currency"`
		Line       struct {
			Items []struct {
				Account    reference   `json:"account"`
				Debit      json.Number `json:"debit"`
				Credit     json.Number `json:"credit"`
				Memo       string      `json:"memo"`
				Department *reference  `json:"department"`
				Class      *reference  `json:"class"`
				Location   *reference  `json:"location"`
			} `json:"items"`
		} `json:"line"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return j, err
	}
	if in.External == "" || (in.Subsidiary == nil) != s.Single || in.Subsidiary != nil && in.Subsidiary.ID != "1" {
		return j, fmt.Errorf("the external ID or the subsidiary is wrong")
	}
	j = provider.Journal{Key: in.External, Memo: in.Memo, Date: in.Date, Currency: s.books.Currency}
	if in.Currency != nil {
		rows, _ := s.rows("currency")
		for _, r := range rows {
			if r["id"] == in.Currency.ID {
				j.Currency = r["symbol"].(string)
			}
		}
	}
	for _, l := range in.Line.Items {
		amount, err := money.Parse(string(l.Debit) + string(l.Credit))
		if err != nil || (l.Debit == "") == (l.Credit == "") {
			return j, fmt.Errorf("a line needs either a debit or a credit: %s", body)
		}
		one := provider.JournalLine{Account: l.Account.ID, Debit: l.Debit != "", Amount: amount, Memo: l.Memo, Dimensions: map[string]string{}}
		for dimension, value := range map[string]*reference{"department": l.Department, "class": l.Class, "location": l.Location} {
			if value != nil {
				one.Dimensions[dimension] = value.ID
			}
		}
		j.Lines = append(j.Lines, one)
	}
	return j, nil
}
