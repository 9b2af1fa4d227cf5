// Package campfiretest is a fake of Campfire's API for tests.
package campfiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	key    = "cf_5d0e7a91b2c84f6da3"
	entity = 54
)

// Server is a fake of Campfire with one entity that keeps its books in USD, and others that do not count.
type Server struct {
	providertest.Server

	Currency string // of the entity

	books ledgertest.Books
}

// New returns a fake without journals.
func New() *Server {
	number := func(n int) string { return strconv.Itoa(180000 + n) }
	return &Server{Currency: "USD", books: ledgertest.Books{TextMax: 1000, LineMax: 500, Remembers: 24 * time.Hour, Chart: provider.Chart{
		Currency: "USD", Foreign: true, Accounts: ledgertest.Standard(number, ""), Dimensions: []provider.Dimension{
			{ID: "department", Name: "Department", Values: []provider.DimensionValue{{ID: "35", Name: "Engineering", Active: true},
				{ID: "36", Name: "Sales"}}},
			{ID: "tag_group_760", Name: "Segment", Values: []provider.DimensionValue{{ID: "8360", Name: "Operating", Active: true},
				{ID: "8361", Name: "Former"}}},
		},
	}}}
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string { return map[string]string{provider.APIKey: key} }

// Books returns what is in the general ledger.
func (s *Server) Books() *ledgertest.Books { return &s.books }

// Tokens returns nil: there are none.
func (s *Server) Tokens() *ledgertest.Tokens { return nil }

type object = map[string]any

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	if r.Header.Get("Authorization") != "Token "+key || s.Revoked() {
		ledgertest.JSON(w, http.StatusUnauthorized, object{"detail": "Invalid token."})
		return
	}
	id, one := strings.CutPrefix(r.URL.Path, "/coa/api/journal_entry/")
	switch {
	case r.URL.Path == "/coa/api/entity":
		page(w, r, []object{
			{"id": entity, "name": "Top Level", "currency": s.Currency, "active": true, "is_deleted": false},
			{"id": 55, "name": "Europe", "currency": "EUR", "active": true, "is_deleted": false},
			{"id": 56, "name": "Eliminations", "currency": "USD", "active": true, "is_elimination_entity": true},
			{"id": 57, "name": "Former", "currency": "USD", "active": false},
		})
	case r.URL.Path == "/coa/api/account":
		s.accounts(w)
	case r.URL.Path == "/coa/api/department":
		s.departments(w, r)
	case r.URL.Path == "/coa/api/tag":
		s.tags(w, r)
	case one:
		s.entry(w, r.Method, id)
	case r.URL.Path == "/coa/api/journal_entry" && r.Method == http.MethodPost:
		s.create(w, r, body)
	case r.URL.Path == "/coa/api/journal_entry":
		s.list(w, r)
	default:
		ledgertest.JSON(w, http.StatusNotFound, object{"detail": "Not found."})
	}
}

// page answers with a page of a list, which has 50 records unless the request says otherwise.
func page(w http.ResponseWriter, r *http.Request, all []object) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil {
		limit = 50
	}
	offset, err := strconv.Atoi(r.URL.Query().Get("offset"))
	if err != nil {
		offset = 0
	}
	out := object{"count": len(all), "next": nil, "previous": nil, "results": all[min(offset, len(all)):min(offset+limit, len(all))]}
	if offset+limit < len(all) {
		out["next"] = fmt.Sprintf("http://elsewhere.example%s?limit=%d&offset=%d", r.URL.Path, limit, offset+limit)
	}
	ledgertest.JSON(w, http.StatusOK, out)
}

func number(text string) json.Number { return json.Number(text) }

func (s *Server) accounts(w http.ResponseWriter) {
	types := map[string]string{"Asset": "ASSET", "Liability": "LIABILITY", "Equity": "EQUITY", "Revenue": "REVENUE",
		"Expense": "OPERATING_EXPENSES"}
	out := []object{{"id": 179999, "number": nil, "name": "Gone", "account_type": "ASSET", "status": "ACTIVE", "is_deleted": true}}
	for _, a := range s.books.Accounts {
		status := "INACTIVE"
		if a.Active {
			status = "ACTIVE"
		}
		out = append(out, object{"id": number(a.ID), "number": a.Code, "name": a.Name, "account_type": types[a.Type], "status": status,
			"is_deleted": false, "currency": "USD"})
	}
	ledgertest.JSON(w, http.StatusOK, out)
}

func (s *Server) departments(w http.ResponseWriter, r *http.Request) {
	out := []object{}
	for _, v := range s.books.Dimensions[0].Values {
		out = append(out, object{"id": number(v.ID), "name": v.Name, "active": v.Active, "parent": nil})
	}
	page(w, r, out)
}

func (s *Server) tags(w http.ResponseWriter, r *http.Request) {
	out := []object{{"id": 8000, "name": "Alone", "group": nil, "group_name": nil, "is_active": true, "is_deleted": false}}
	for _, v := range s.books.Dimensions[1].Values {
		if v.Active || r.URL.Query().Get("include_inactive") == "true" {
			out = append(out, object{"id": number(v.ID), "name": v.Name, "group": 760, "group_name": "Segment", "is_active": v.Active,
				"is_deleted": false})
		}
	}
	page(w, r, out)
}

func (s *Server) entry(w http.ResponseWriter, method, id string) {
	e := s.books.Get(id)
	switch {
	case e == nil:
		ledgertest.JSON(w, http.StatusNotFound, object{"detail": "No JournalEntry matches the given query."})
	case method == http.MethodGet:
		ledgertest.JSON(w, http.StatusOK, show(e))
	case s.books.Delete(e, s.Now()) != nil:
		ledgertest.JSON(w, http.StatusBadRequest, []string{"The books are closed for this period."})
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// show returns a journal entry on the wire.
func show(e *ledgertest.Entry) object {
	lines := []object{}
	for i, l := range e.Lines {
		one := object{"id": 24429000 + i, "account": number(l.Account), "debit_amount_native": nil, "credit_amount_native": nil,
			"bank_description": l.Memo, "department": nil, "tags": []object{}, "entity": entity}
		if l.Memo == "" {
			one["bank_description"] = nil
		}
		side := "credit_amount_native"
		if l.Debit {
			side = "debit_amount_native"
		}
		one[side] = number(l.Amount.String())
		if v := l.Dimensions["department"]; v != "" {
			one["department"] = number(v)
		}
		if v := l.Dimensions["tag_group_760"]; v != "" {
			one["tags"] = []object{{"id": number(v), "name": "Operating", "group": 760}}
		}
		lines = append(lines, one)
	}
	return object{"id": number(e.ID), "order": fmt.Sprintf("%07s", e.ID), "transactions": lines, "memo": e.Memo, "date": e.Date,
		"currency": e.Currency, "entity": entity, "is_deleted": false, "last_modified_at": e.Changed.Format(time.RFC3339Nano)}
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, body []byte) {
	idempotency := r.Header.Get("Idempotency-Key")
	if e := s.books.Answered(idempotency, s.Now()); e != nil {
		ledgertest.JSON(w, http.StatusCreated, show(e))
		return
	}
	j, err := s.decode(body)
	if err != nil {
		ledgertest.JSON(w, http.StatusBadRequest, object{"transactions": []string{err.Error()}})
		return
	}
	e, refused := s.books.New(j, func(n int) string { return strconv.Itoa(7491000 + n) }, s.Now())
	if refused != nil {
		ledgertest.JSON(w, http.StatusBadRequest, object{"non_field_errors": []string{"The journal entry is invalid: " + string(refused.Code)}})
		return
	}
	s.books.Remember(idempotency, e, s.Now())
	ledgertest.JSON(w, http.StatusCreated, show(e))
}

// decode reads a journal entry of a request.
func (s *Server) decode(body []byte) (j provider.Journal, err error) {
	var in struct {
		Type     string `json:"type"`
		Entity   string `json:"entity"`
		Date     string `json:"date"`
		Memo     string `json:"memo"`
		Currency string `json:"currency"`
		Lines    []struct {
			Account     string      `json:"account"`
			Debit       json.Number `json:"debit_amount_native"`
			Credit      json.Number `json:"credit_amount_native"`
			Description string      `json:"bank_description"`
			Department  string      `json:"department"`
			Tags        []struct {
				ID string `json:"id"`
			} `json:"tags"`
		} `json:"transactions"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return j, err
	}
	if in.Type != "journal_entry" || in.Entity != strconv.Itoa(entity) || in.Memo == "" {
		return j, fmt.Errorf("the type, the entity or the memo is wrong")
	}
	j = provider.Journal{Memo: in.Memo, Date: in.Date, Currency: in.Currency}
	for _, l := range in.Lines {
		amount, err := money.Parse(string(l.Debit) + string(l.Credit))
		if err != nil || (l.Debit == "") == (l.Credit == "") {
			return j, fmt.Errorf("a line needs either a debit or a credit")
		}
		one := provider.JournalLine{Account: l.Account, Debit: l.Debit != "", Amount: amount, Memo: l.Description,
			Dimensions: map[string]string{}}
		if l.Department != "" {
			one.Dimensions["department"] = l.Department
		}
		for _, t := range l.Tags {
			one.Dimensions["tag_group_760"] = t.ID
		}
		j.Lines = append(j.Lines, one)
	}
	return j, nil
}

// list answers with the journal entries of a filter, the newest first. Without dates it shows half a year only.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, through := q.Get("start_date"), q.Get("end_date")
	if from == "" && q.Get("all_time") != "true" {
		from = s.Now().AddDate(0, -6, 0).Format(time.DateOnly)
	}
	out := []object{}
	for _, e := range slices.Backward(s.books.Entries) {
		touches := q.Get("account") == "" || slices.ContainsFunc(e.Lines,
			func(l provider.JournalLine) bool { return l.Account == q.Get("account") })
		if !e.Gone && touches && e.Date >= from && (through == "" || e.Date <= through) {
			out = append(out, show(e))
		}
	}
	page(w, r, out)
}
