package quickbookstest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

type reference struct {
	Value string `json:"value"`
}

// show returns a journal entry on the wire.
func (s *Server) show(e *ledgertest.Entry) object {
	lines := []object{}
	for i, l := range e.Lines {
		detail := object{"PostingType": "Credit", "AccountRef": object{"value": l.Account, "name": "an account"}}
		if l.Debit {
			detail["PostingType"] = "Debit"
		}
		for dimension, field := range map[string]string{"class": "ClassRef", "department": "DepartmentRef"} {
			if v := l.Dimensions[dimension]; v != "" {
				detail[field] = object{"value": v}
			}
		}
		one := object{"Id": strconv.Itoa(i), "Amount": json.Number(l.Amount.String()), "DetailType": "JournalEntryLineDetail",
			"JournalEntryLineDetail": detail}
		if l.Memo != "" {
			one["Description"] = l.Memo
		}
		lines = append(lines, one)
	}
	lines = append(lines, object{"Id": "99", "Description": "a note", "DetailType": "DescriptionOnly"})
	out := object{"Id": e.ID, "SyncToken": strconv.Itoa(e.Version - 1), "TxnDate": e.Date, "PrivateNote": e.Memo, "Line": lines,
		"domain": "QBO",
		"sparse": false}
	if e.Number != "" {
		out["DocNumber"] = e.Number
	}
	if s.books.Foreign {
		out["CurrencyRef"] = object{"value": e.Currency}
	}
	return out
}

func (s *Server) get(w http.ResponseWriter, id string) {
	e := s.books.Get(id)
	if e == nil {
		refuse(w, http.StatusBadRequest, validation, "610", "Object Not Found", "Object Not Found : Something you're trying to use has been "+
			"made inactive.")
		return
	}
	ledgertest.JSON(w, http.StatusOK, object{"JournalEntry": s.show(e), "time": "2026-11-02T01:30:00.000-08:00"})
}

func (s *Server) remove(w http.ResponseWriter, body []byte) {
	var in struct{ ID, SyncToken string }
	if err := json.Unmarshal(body, &in); err != nil {
		refuse(w, http.StatusBadRequest, validation, "2010", "Request has invalid or unsupported property", err.Error())
		return
	}
	e := s.books.Get(in.ID)
	switch {
	case e == nil:
		refuse(w, http.StatusBadRequest, validation, "610", "Object Not Found", "Object Not Found : Another user has deleted this transaction.")
	case in.SyncToken != strconv.Itoa(e.Version-1):
		refuse(w, http.StatusBadRequest, validation, "5010", "Stale Object Error", "Stale Object Error : You and root were working on this at "+
			"the same time.")
	case s.books.Delete(e, s.Now()) != nil:
		s.closed(w)
	default:
		ledgertest.JSON(w, http.StatusOK, object{"JournalEntry": object{"status": "Deleted", "domain": "QBO", "Id": e.ID}})
	}
}

func (s *Server) closed(w http.ResponseWriter) {
	refuse(w, http.StatusBadRequest, validation, "6200", "Account Period Closed, Cannot Update Through Services API",
		"The account period has closed and the account books cannot be updated through the QBO Services API.")
}

func (s *Server) create(w http.ResponseWriter, request string, body []byte) {
	if len(request) > 50 {
		refuse(w, http.StatusBadRequest, validation, "2010", "Request has invalid or unsupported property", "requestid")
		return
	}
	if e := s.books.Answered(request, s.Now()); e != nil {
		ledgertest.JSON(w, http.StatusOK, object{"JournalEntry": s.show(e)})
		return
	}
	j, err := s.decode(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, validation, "2010", "Request has invalid or unsupported property", err.Error())
		return
	}
	e, refused := s.books.New(j, name, s.Now())
	if refused == nil {
		s.books.Remember(request, e, s.Now())
		ledgertest.JSON(w, http.StatusOK, object{"JournalEntry": s.show(e), "time": "2026-11-02T01:30:00.000-08:00"})
		return
	}
	switch refused.Code {
	case ledgertest.LockedPeriod:
		s.closed(w)
	case ledgertest.UnknownAccount:
		refuse(w, http.StatusBadRequest, validation, "2500", "Invalid Reference Id", "Invalid Reference Id : Something you're trying to use "+
			"has been made "+
			"inactive. Check the fields with accounts, customers, items, vendors or employees.")
	case ledgertest.InactiveAccount, ledgertest.UnknownDimension:
		refuse(w, http.StatusBadRequest, validation, "610", "Object Not Found", "Object Not Found : Something you're trying to use has been "+
			"made inactive.")
	default:
		refuse(w, http.StatusBadRequest, validation, "6000", "A business validation error has occurred while processing your request",
			"Business Validation Error: "+string(refused.Code))
	}
}

// decode reads a journal entry of a request.
func (s *Server) decode(body []byte) (j provider.Journal, err error) {
	var in struct {
		TxnDate     string
		DocNumber   string
		PrivateNote string
		CurrencyRef *reference
		Line        []struct {
			Description string
			Amount      json.Number
			DetailType  string
			Detail      struct {
				PostingType   string
				AccountRef    reference
				ClassRef      *reference
				DepartmentRef *reference
			} `json:"JournalEntryLineDetail"`
		}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return j, err
	}
	j = provider.Journal{Number: in.DocNumber, Memo: in.PrivateNote, Date: in.TxnDate, Currency: s.books.Currency}
	if len([]rune(in.DocNumber)) > 21 || (in.CurrencyRef == nil) == s.books.Foreign {
		return j, errors.New("the number or the currency is wrong")
	}
	if in.CurrencyRef != nil {
		j.Currency = in.CurrencyRef.Value
	}
	for _, l := range in.Line {
		amount, err := money.Parse(string(l.Amount))
		if err != nil || l.DetailType != "JournalEntryLineDetail" || l.Detail.PostingType != "Debit" && l.Detail.PostingType != "Credit" {
			return j, errors.New("a line is wrong")
		}
		one := provider.JournalLine{Account: l.Detail.AccountRef.Value, Debit: l.Detail.PostingType == "Debit", Amount: amount,
			Memo:       l.Description,
			Dimensions: map[string]string{}}
		if v := l.Detail.ClassRef; v != nil {
			one.Dimensions["class"] = v.Value
		}
		if v := l.Detail.DepartmentRef; v != nil {
			one.Dimensions["department"] = v.Value
		}
		j.Lines = append(j.Lines, one)
	}
	return j, nil
}
