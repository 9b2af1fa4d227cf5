// Package ramptest is a fake of Ramp's API for tests.
package ramptest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	// OwnID and ownSecret are those of an app of the customer, clientID and clientSecret those of the registration of the service.
	ownID        = "ramp_id_own4MXgJQ2kVbY7nT0cWzLs"
	ownSecret    = "ramp_sec_ownR8vKf3yHqPdJmXu5Ea9"
	clientID     = "ramp_id_reg7TbNcQ1wSgZk4Yf2Vh"
	clientSecret = "ramp_sec_regD6pLx0jRmAeUy9Ko3"
	// BusinessID is the id of the business.
	BusinessID = "1f8f1c0b-3c7e-4c3b-9a51-0d6c2a6d7e11"
)

// Client is the registration of the service that the fake accepts.
var Client = provider.Client{ID: clientID, Secret: secret.New(clientSecret)}

// Server is a fake of Ramp with one business.
type Server struct {
	providertest.Server

	// Lacks is a scope that is refused.
	Lacks string
	// PageSize is how many rows are returned at a time at most.
	PageSize int
	// Forgets makes positions between two pages invalid.
	Forgets bool

	consents   bool // access was given on the page of Ramp
	code       string
	access     map[string]bool
	refresh    string
	former     string // the refresh token before, which counts until an access token is used that followed it
	tokens     int
	lists      map[string][]map[string]any
	owed       money.Decimal
	ReturnedTo string // the address that the last code is valid for
}

// New returns a fake of a business that owes nothing.
func New() *Server {
	return &Server{PageSize: 100, access: map[string]bool{}, lists: map[string][]map[string]any{}}
}

// NewConsented returns a fake to which access was given on the page of Ramp.
func NewConsented() *Server {
	s := New()
	s.consents, s.refresh = true, "ramp_tok_refresh0"
	return s
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string {
	if s.consents {
		return map[string]string{provider.RefreshToken: "ramp_tok_refresh0"}
	}
	return map[string]string{provider.APIKey: ownID, provider.APISecret: ownSecret}
}

// Grant does nothing: Ramp does not tell what a token permits beyond what was asked for.
func (s *Server) Grant(provider.Grant) bool { return false }

// Expire ends the access tokens that were given out so far.
func (s *Server) Expire() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	clear(s.access)
}

// Renewals returns how many access tokens were given out.
func (s *Server) Renewals() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.tokens
}

// Consent has an admin consent on the page of Ramp, for a browser that is sent back to an address, and returns the code.
func (s *Server) Consent(back string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.code, s.ReturnedTo = fmt.Sprintf("ramp_code_%d", s.tokens), back
	return s.code
}

// Add adds movements: what is spent as card transactions, what comes in as transfers, cashback and refunds.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		n := len(s.lists["transactions"]) + len(s.lists["transfers"]) + len(s.lists["cashbacks"])
		id, at, amount := fmt.Sprintf("%08d-aaaa", n), m.At.Format("2006-01-02T15:04:05.999999-07:00"), money.MustParse(m.Amount)
		cents := json.Number(amount.Mul(money.FromInt(100)).String())
		switch {
		case m.Kind == providertest.Withdrawal:
			s.Put("transactions", Transaction(id, at, "CLEARED", amount.String()))
		case m.Kind == providertest.Deposit && n%3 == 0:
			s.Put("transfers", map[string]any{"id": id, "created_at": at, "status": "COMPLETED", "sync_status": "NOT_SYNC_READY",
				"amount": map[string]any{"amount": cents, "currency_code": "USD"}})
		case m.Kind == providertest.Deposit && n%3 == 1:
			s.Put("cashbacks", map[string]any{"id": id, "created_at": at, "sync_status": "NOT_SYNC_READY",
				"amount": map[string]any{"amount": cents, "currency_code": "USD"}})
		default:
			s.Put("transactions", Transaction(id, at, "CLEARED", amount.Neg().String()))
		}
		if m.Kind == providertest.Withdrawal {
			amount = amount.Neg()
		}
		s.owed = s.owed.Sub(amount)
	}
}

// Transaction returns a card transaction in US dollars, as Ramp states it.
func Transaction(id, at, state, amount string) map[string]any {
	return map[string]any{"id": id, "state": state, "user_transaction_time": at, "settlement_date": at, "amount": json.Number(amount),
		"currency_code": "USD", "original_transaction_amount": nil, "merchant_name": "Facebook Ads", "merchant_descriptor": "FACEBOOK ADS",
		"merchant_category_code": "7311", "sk_category_id": 27, "sk_category_name": "Advertising", "memo": nil, "card_id": "4002ca56",
		"card_holder": map[string]any{"first_name": "Dana", "last_name": "Alhasawi"}, "line_items": []any{}, "sync_status": "NOT_SYNC_READY"}
}

// Put adds a row to a list, or replaces the one with its id.
func (s *Server) Put(list string, row map[string]any) {
	s.lists[list] = slices.DeleteFunc(s.lists[list], func(r map[string]any) bool { return r["id"] == row["id"] })
	s.lists[list] = append(s.lists[list], row)
}

// scopes are what a list needs.
var scopes = map[string]string{"/developer/v1/transactions": "transactions:read", "/developer/v1/transfers": "transfers:read",
	"/developer/v1/cashbacks": "cashbacks:read", "/developer/v1/business": "business:read", "/developer/v1/business/balance": "business:read"}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	token := r.Header.Get("Authorization")
	scope, known := scopes[r.URL.Path]
	if s.access[strings.TrimPrefix(token, "Bearer ")] {
		s.former = ""
	}
	switch {
	case r.URL.Path == "/developer/v1/token" && r.Method == http.MethodPost:
		s.answerToken(w, r, body)
	case r.URL.Path == "/developer/v1/token/revoke" && r.Method == http.MethodPost:
		s.answerRevoke(w, r, body)
	case s.Revoked() || !strings.HasPrefix(token, "Bearer ") || !s.access[strings.TrimPrefix(token, "Bearer ")]:
		refuse(w, http.StatusUnauthorized, "DEVELOPER_7100", "The access token is invalid or has expired")
	case !known || r.Method != http.MethodGet:
		refuse(w, http.StatusNotFound, "DEVELOPER_7000", "not found")
	case s.Lacks == scope:
		refuse(w, http.StatusForbidden, "DEVELOPER_7101", "insufficient scope")
	case r.URL.Path == "/developer/v1/business":
		write(w, http.StatusOK, map[string]any{"id": BusinessID, "business_name_legal": "Acme Rockets, Inc.", "active": true})
	case r.URL.Path == "/developer/v1/business/balance":
		write(w, http.StatusOK, map[string]any{"card_balance_excluding_pending": json.Number(s.owed.String()),
			"card_balance_including_pending": 99999, "available_card_limit": 10000.5, "next_billing_date": "2026-12-01"})
	default:
		s.answerList(w, r, r.URL.Path[len("/developer/v1/"):])
	}
}

// answerList answers with a page of a list.
func (s *Server) answerList(w http.ResponseWriter, r *http.Request, list string) {
	query := r.URL.Query()
	size, err := strconv.Atoi(query.Get("page_size"))
	if err != nil || size < 2 || size > 100 {
		refuse(w, http.StatusUnprocessableEntity, "DEVELOPER_7001", "Value must be between 2 and 100")
		return
	}
	by := "created_at"
	if list == "transactions" {
		by = "user_transaction_time"
	}
	since := time.Time{}
	if text := query.Get("from_date"); text != "" {
		if since, err = time.Parse(time.RFC3339, text); err != nil {
			refuse(w, http.StatusUnprocessableEntity, "DEVELOPER_7001", "Not a valid datetime.")
			return
		}
	}
	var found []map[string]any
	for _, row := range s.lists[list] {
		if (since.IsZero() || made(row, by).After(since)) && row["state"] != "DECLINED" {
			found = append(found, row)
		}
	}
	slices.SortStableFunc(found, func(a, b map[string]any) int {
		return cmp.Or(made(a, by).Compare(made(b, by)), cmp.Compare(fmt.Sprint(a["id"]), fmt.Sprint(b["id"])))
	})
	if query.Get("order_by_date_asc") != "true" {
		slices.Reverse(found)
	}
	first := 0
	if start := query.Get("start"); start != "" {
		first = 1 + slices.IndexFunc(found, func(row map[string]any) bool { return row["id"] == start })
		if first == 0 || s.Forgets {
			s.Forgets = false
			refuse(w, http.StatusUnprocessableEntity, "DEVELOPER_7001", "Not a valid start.")
			return
		}
	}
	end := min(first+min(size, s.PageSize), len(found))
	out := map[string]any{"data": append([]map[string]any{}, found[first:end]...), "page": map[string]any{"next": nil}}
	if end < len(found) {
		query.Set("start", fmt.Sprint(found[end-1]["id"]))
		out["page"] = map[string]any{"next": "https://api.ramp.com" + r.URL.Path + "?" + query.Encode()}
	}
	write(w, http.StatusOK, out)
}

// made returns when a row was made.
func made(row map[string]any, by string) time.Time {
	text, _ := row[by].(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		at, _ = time.Parse("2006-01-02T15:04:05", text)
	}
	return at
}

// refuse answers with an error, as Ramp does.
func refuse(w http.ResponseWriter, status int, code, message string) {
	write(w, status, map[string]any{"error": map[string]any{"message": message},
		"error_v2": map[string]any{"error_code": code, "message": message, "notes": "", "additional_info": map[string]any{}}})
}

func write(w http.ResponseWriter, status int, out any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Trace-Id", "9d3c1f")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(out); err != nil {
		panic(err)
	}
}
