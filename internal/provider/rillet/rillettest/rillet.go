// Package rillettest is a fake of Rillet's API for tests.
package rillettest

import (
	"encoding/json"
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
	key        = "rk_live_7Jx0aQ2mZpL4cW9e"
	subsidiary = "5b2c0000-0000-4000-8000-00000000001e"
)

// Server is a fake of Rillet with one subsidiary.
type Server struct {
	providertest.Server

	books  ledgertest.Books
	sparse bool
}

// New returns a fake whose books have a currency, and no journals.
func New(currency string) *Server {
	field, value := ledgertest.UUID(7), ledgertest.UUID(8)
	return &Server{books: ledgertest.Books{TextMax: 500, LineMax: 1000, Remembers: 24 * time.Hour, Chart: provider.Chart{
		Currency: currency, Foreign: true, Accounts: ledgertest.Standard(ledgertest.UUID(1), ""), Dimensions: []provider.Dimension{
			{ID: field(1), Name: "Department", Values: []provider.DimensionValue{{ID: value(1), Name: "Operations", Active: true},
				{ID: value(2), Name: "Sales"}}},
			{ID: field(2), Name: "Project", Values: []provider.DimensionValue{{ID: value(3), Name: "Alpha", Active: true}}},
		},
	}}}
}

// NewSparse returns a fake that leaves out what Rillet need not state: the code of an account, and the ids of the accounts of items.
func NewSparse(currency string) *Server {
	s := New(currency)
	s.sparse = true
	s.books.Accounts = append(s.books.Accounts, provider.LedgerAccount{ID: ledgertest.UUID(1)(99), Name: "Uncoded", Type: "Asset",
		Active: true, Refuses: "it has no code, by which journals name accounts at Rillet"})
	return s
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string { return map[string]string{provider.APIKey: key} }

// Books returns what is in the general ledger.
func (s *Server) Books() *ledgertest.Books { return &s.books }

// Tokens returns nil: there are none.
func (s *Server) Tokens() *ledgertest.Tokens { return nil }

type object = map[string]any

// problem answers with an error by RFC 9457.
func problem(w http.ResponseWriter, status int, title, detail string) {
	ledgertest.JSON(w, status, object{"type": "https://rillet.io/problem", "title": title, "status": status, "detail": detail})
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	if r.Header.Get("Authorization") != "Bearer "+key || s.Revoked() {
		problem(w, http.StatusUnauthorized, "Unauthorized", "The key "+strings.TrimPrefix(r.Header.Get("Authorization"),
			"Bearer ")+" is not valid.")
		return
	}
	if r.Header.Get("X-Rillet-API-Version") != "4" {
		problem(w, http.StatusBadRequest, "Bad Request", "another version of the API")
		return
	}
	id, one := strings.CutPrefix(r.URL.Path, "/journal-entries/")
	switch {
	case r.URL.Path == "/subsidiaries":
		ledgertest.JSON(w, http.StatusOK, object{"subsidiaries": []object{{"id": subsidiary, "trade_name": "Example Inc.",
			"currency": s.books.Currency, "timezone": "America/New_York", "type": "LEGAL_ENTITY"}}})
	case r.URL.Path == "/accounts":
		s.accounts(w)
	case r.URL.Path == "/fields":
		s.fields(w)
	case r.URL.Path == "/books/periods/last-closed":
		s.closed(w)
	case one:
		s.entry(w, r.Method, id)
	case r.URL.Path == "/journal-entries" && r.Method == http.MethodPost:
		s.create(w, r, body)
	case r.URL.Path == "/journal-entries":
		s.list(w, r)
	default:
		problem(w, http.StatusNotFound, "Not Found", r.URL.Path)
	}
}

func (s *Server) accounts(w http.ResponseWriter) {
	types := map[string]string{"Asset": "ASSET", "Liability": "LIABILITY", "Equity": "EQUITY", "Revenue": "INCOME", "Expense": "EXPENSE"}
	out := []object{}
	for _, a := range s.books.Accounts {
		status := "INACTIVE"
		if a.Active {
			status = "ACTIVE"
		}
		var code *string
		if a.Code != "" {
			code = &a.Code
		}
		out = append(out, object{"id": a.ID, "code": code, "name": a.Name, "type": types[a.Type], "subtype": "Other", "status": status,
			"intercompany": false, "updated_at": "2026-01-01T00:00:00Z"})
	}
	ledgertest.JSON(w, http.StatusOK, object{"accounts": out})
}

func (s *Server) fields(w http.ResponseWriter) {
	out := []object{}
	for _, d := range s.books.Dimensions {
		values := []object{}
		for _, v := range d.Values {
			values = append(values, object{"id": v.ID, "name": v.Name, "deactivated": !v.Active})
		}
		out = append(out, object{"id": d.ID, "name": d.Name, "values": values, "updated_at": "2026-01-01T00:00:00Z"})
	}
	ledgertest.JSON(w, http.StatusOK, object{"fields": out})
}

func (s *Server) closed(w http.ResponseWriter) {
	if s.books.LockedThrough == "" {
		problem(w, http.StatusNotFound, "Not Found", "No period was closed.")
		return
	}
	ledgertest.JSON(w, http.StatusOK, object{"id": ledgertest.UUID(9)(1), "start": s.books.LockedThrough[:8] + "01",
		"end":    s.books.LockedThrough,
		"status": "CLOSED", "closed_on": s.Now().Format(time.DateOnly)})
}

func (s *Server) entry(w http.ResponseWriter, method, id string) {
	e := s.books.Get(id)
	if e == nil {
		problem(w, http.StatusNotFound, "Not Found", "There is no journal entry "+id+".")
		return
	}
	if method == http.MethodGet {
		ledgertest.JSON(w, http.StatusOK, s.show(e))
		return
	}
	if s.books.Delete(e, s.Now()) != nil {
		problem(w, http.StatusConflict, "Conflict", "The period is closed.")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// show returns a journal entry on the wire.
func (s *Server) show(e *ledgertest.Entry) object {
	items := []object{}
	for i, l := range e.Lines {
		at := slices.IndexFunc(s.books.Accounts, func(a provider.LedgerAccount) bool { return a.ID == l.Account })
		fields := []object{}
		for field, value := range l.Dimensions {
			fields = append(fields, object{"field_id": field, "field_value_id": value})
		}
		one := object{"id": ledgertest.UUID(5)(i), "account_id": l.Account, "account_code": s.books.Accounts[at].Code, "side": "CREDIT",
			"amount": object{"amount": l.Amount.Fixed(e.Currency), "currency": e.Currency}, "fields": fields}
		if s.sparse {
			delete(one, "account_id")
		}
		if l.Debit {
			one["side"] = "DEBIT"
		}
		if l.Memo != "" {
			one["description"] = l.Memo
		}
		items = append(items, one)
	}
	return object{"id": e.ID, "subsidiary_id": subsidiary, "name": e.Memo, "currency": e.Currency, "date": e.Date, "items": items,
		"updated_at": e.Changed.Format(time.RFC3339Nano)}
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, body []byte) {
	idempotency := r.Header.Get("Idempotency-Key")
	if e := s.books.Answered(idempotency, s.Now()); e != nil {
		ledgertest.JSON(w, http.StatusOK, s.show(e))
		return
	}
	j, wrong := s.decode(body)
	if wrong != "" {
		problem(w, http.StatusBadRequest, "Bad Request", wrong)
		return
	}
	e, refused := s.books.New(j, ledgertest.UUID(3), s.Now())
	if refused != nil {
		problem(w, http.StatusUnprocessableEntity, "Unprocessable Entity", "The journal entry cannot be created: "+string(refused.Code)+".")
		return
	}
	s.books.Remember(idempotency, e, s.Now())
	ledgertest.JSON(w, http.StatusOK, s.show(e))
}

// decode reads a journal entry of a request.
func (s *Server) decode(body []byte) (j provider.Journal, wrong string) {
	var in struct {
		Subsidiary string `json:"subsidiary_id"`
		Name       string `json:"name"`
		Date       string `json:"date"`
		Currency   string `json:"currency"`
		Items      []struct {
			Code        string `json:"account_code"`
			Side        string `json:"side"`
			Description string `json:"description"`
			Amount      struct {
				Amount   json.RawMessage `json:"amount"`
				Currency string          `json:"currency"`
			} `json:"amount"`
			Fields []struct {
				Field string `json:"field_id"`
				Value string `json:"field_value_id"`
			} `json:"fields"`
		} `json:"items"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return j, err.Error()
	}
	if in.Subsidiary != subsidiary || in.Name == "" {
		return j, "the subsidiary or the name is missing"
	}
	j = provider.Journal{Memo: in.Name, Date: in.Date, Currency: in.Currency}
	for _, one := range in.Items {
		text, err := strconv.Unquote(string(one.Amount.Amount))
		value, bad := money.Parse(text)
		at := slices.IndexFunc(s.books.Accounts, func(a provider.LedgerAccount) bool { return a.Code == one.Code })
		if err != nil || bad != nil || text != value.Fixed(in.Currency) || one.Amount.Currency != in.Currency || at < 0 ||
			one.Side != "DEBIT" && one.Side != "CREDIT" {
			return j, "an item is wrong: " + string(body)
		}
		line := provider.JournalLine{Account: s.books.Accounts[at].ID, Debit: one.Side == "DEBIT", Amount: value, Memo: one.Description}
		for _, f := range one.Fields {
			if line.Dimensions == nil {
				line.Dimensions = map[string]string{}
			}
			line.Dimensions[f.Field] = f.Value
		}
		j.Lines = append(j.Lines, line)
	}
	return j, ""
}

// list answers with the journal entries of a filter, the newest first.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 || limit > 100 {
		problem(w, http.StatusBadRequest, "Bad Request", "limit")
		return
	}
	from, err := strconv.Atoi(q.Get("cursor"))
	if err != nil {
		from = 0
	}
	var all []*ledgertest.Entry
	for _, e := range slices.Backward(s.books.Entries) {
		touches := q.Get("account_ids") == "" || slices.ContainsFunc(e.Lines, func(l provider.JournalLine) bool {
			return slices.Contains(strings.Split(q.Get("account_ids"), ","), l.Account)
		})
		if !e.Gone && touches && e.Date >= q.Get("date.gte") && (q.Get("date.lte") == "" || e.Date <= q.Get("date.lte")) {
			all = append(all, e)
		}
	}
	out, pagination := []object{}, object{}
	for i := from; i < min(from+limit, len(all)); i++ {
		out = append(out, s.show(all[i]))
	}
	if from+limit < len(all) {
		pagination["next_cursor"] = strconv.Itoa(from + limit)
	}
	ledgertest.JSON(w, http.StatusOK, object{"journal_entries": out, "pagination": pagination})
}
