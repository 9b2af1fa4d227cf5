// Package plaidtest is a fake of Plaid's API for tests.
package plaidtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	clientID     = "66f1c0ffee0000001234abcd"
	clientSecret = "0123456789abcdef0123456789abcd"
	accessToken  = "access-production-de3ce8ef-33f8-452c-a685-8671031fc0f6"
	// ItemID is the id of the sign-in at the bank.
	ItemID = "M5eVJqLnv3tbzdngLDp9FL5OlDNxlNhlE55op"
	// Checking and Card are the ids of the accounts that are read, Student that of another.
	Checking = "BxBXxLj1m4HMXBm9WZZmCWVbPjX16EHwv99vp"
	Card     = "8qmrx9XlPVtQ1BEEvAb7Fa9wJpN3MzsVGa1xd"
	Student  = "XMBvvyMGQ1UoLbKByoMqH3nXMj84ALSdE5B58"
)

// Client is the registration of the service that the fake accepts.
var Client = provider.Client{ID: clientID, Secret: secret.New(clientSecret)}

// Server is a fake of Plaid with one sign-in at a bank, which has a checking account, a card and a student loan.
type Server struct {
	providertest.Server

	// PageSize is how many changes are returned at a time at most.
	PageSize int
	// NotReady says that Plaid has not read the bank yet.
	NotReady bool
	// ItemError is what keeps Plaid from updating the item; empty means nothing.
	ItemError string

	log      []change
	balances map[string]money.Decimal
	public   map[string]bool // public tokens that can be exchanged
	links    map[string]*link
	gone     bool
}

// change is a change of a transaction.
type change struct {
	kind string // added, modified or removed
	tx   map[string]any
}

// New returns a fake with accounts that hold nothing.
func New() *Server {
	return &Server{PageSize: 500, balances: map[string]money.Decimal{}, public: map[string]bool{}, links: map[string]*link{}}
}

// Credentials returns what the accounts are accessed with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.AccessToken: accessToken, provider.AccountID: ItemID}
}

// Grant does nothing: Plaid does not tell what a token permits.
func (s *Server) Grant(provider.Grant) bool { return false }

// Busy answers that there were too many requests.
var Busy = providertest.Status(http.StatusBadRequest, "", "",
	`{"error_type":"RATE_LIMIT_EXCEEDED","error_code":"TRANSACTIONS_SYNC_LIMIT","error_message":"rate limit exceeded","display_message":null}`)

// Add adds movements, most to the checking account and some to the card. Some of them were pending before.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		n := len(s.log)
		amount := money.MustParse(m.Amount)
		if m.Kind != providertest.Withdrawal {
			amount = amount.Neg() // Plaid states money that leaves the account above zero
		}
		tx := s.Transaction(fmt.Sprintf("tx%05d", n), Checking, m.At.Format("2006-01-02"), amount.String())
		tx["iso_currency_code"] = m.Asset
		if n%3 == 2 {
			tx["account_id"] = Card
		}
		if n%4 == 3 {
			pending := s.Transaction(fmt.Sprintf("pending%05d", n), tx["account_id"].(string), m.At.Format("2006-01-02"), "999.99")
			pending["pending"] = true
			s.Put("added", pending)
			s.Put("removed", pending)
			tx["pending_transaction_id"] = pending["transaction_id"]
		}
		s.Put("added", tx)
	}
}

// Transaction returns a posted transaction in US dollars, as Plaid states it.
func (s *Server) Transaction(id, account, date, amount string) map[string]any {
	return map[string]any{"transaction_id": id, "account_id": account, "amount": json.Number(amount), "iso_currency_code": "USD",
		"unofficial_currency_code": nil, "date": date, "datetime": nil, "authorized_date": date, "authorized_datetime": nil,
		"pending": false, "pending_transaction_id": nil, "name": "PURCHASE WM SUPERCENTER #1700", "merchant_name": "Walmart",
		"original_description": "PURCHASE WM SUPERCENTER #1700 BURBANK", "account_owner": nil, "check_number": nil, "category": nil,
		"category_id": nil, "transaction_code": nil, "transaction_type": "place", "payment_channel": "in store",
		"personal_finance_category": map[string]any{"primary": "GENERAL_MERCHANDISE", "detailed": "GENERAL_MERCHANDISE_SUPERSTORES",
			"confidence_level": "VERY_HIGH"},
		"payment_meta": map[string]any{"payee": nil, "payer": nil, "reason": nil, "reference_number": nil}}
}

// Put records a change of a transaction: added, modified or removed.
func (s *Server) Put(kind string, tx map[string]any) {
	id := tx["transaction_id"]
	for i := len(s.log) - 1; i >= 0 && kind != "added"; i-- { // what it was before no longer counts
		if s.log[i].tx["transaction_id"] == id {
			s.count(s.log[i].tx, false)
			break
		}
	}
	if kind != "removed" {
		s.count(tx, true)
	}
	s.log = append(s.log, change{kind, tx})
}

// count adds a posted transaction to the balance of its account, or takes it out.
func (s *Server) count(tx map[string]any, in bool) {
	account, amount := tx["account_id"].(string), money.MustParse(string(tx["amount"].(json.Number)))
	if tx["pending"].(bool) {
		return
	}
	if account != Card {
		amount = amount.Neg() // what is owed on a card is above zero
	}
	if !in {
		amount = amount.Neg()
	}
	s.balances[account] = s.balances[account].Add(amount)
}

// accounts returns the accounts as Plaid states them.
func (s *Server) accounts() []map[string]any {
	account := func(id, kind, subtype, name, mask string) map[string]any {
		return map[string]any{"account_id": id, "type": kind, "subtype": subtype, "name": name, "official_name": nil, "mask": mask,
			"balances": map[string]any{"available": nil, "current": json.Number(s.balances[id].String()), "limit": nil,
				"iso_currency_code": "USD", "unofficial_currency_code": nil}}
	}
	return []map[string]any{account(Checking, "depository", "checking", "Plaid Checking", "0000"),
		account(Card, "credit", "credit card", "Plaid Credit Card", "3333"), account(Student, "loan", "student", "Student Loan", "7777")}
}

// fields are those of a request.
type fields struct {
	ClientID    string `json:"client_id"`
	Secret      string `json:"secret"`
	AccessToken string `json:"access_token"`
	Cursor      string `json:"cursor"`
	Count       int    `json:"count"`
	Options     struct {
		Original bool `json:"include_original_description"`
	} `json:"options"`
	PublicToken string `json:"public_token"`
	LinkToken   string `json:"link_token"`
	linkFields
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	var f fields
	switch err := json.Unmarshal(body, &f); {
	case r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || err != nil:
		refuse(w, "INVALID_REQUEST", "INVALID_BODY", "body could not be parsed as JSON")
	case f.ClientID != clientID || f.Secret != clientSecret:
		refuse(w, "INVALID_INPUT", "INVALID_API_KEYS", "invalid client_id or secret provided")
	case s.answerSetup(w, r.URL.Path, f):
	case f.AccessToken != accessToken || s.gone:
		refuse(w, "INVALID_INPUT", "INVALID_ACCESS_TOKEN", "could not find matching access token")
	case r.URL.Path == "/item/get":
		answer(w, map[string]any{"item": s.item(), "status": nil})
	case s.itemError() != "":
		refuse(w, "ITEM_ERROR", s.itemError(), "the login details of this item have changed")
	case r.URL.Path == "/accounts/get":
		answer(w, map[string]any{"accounts": s.accounts(), "item": s.item()})
	case r.URL.Path == "/transactions/sync":
		s.answerSync(w, f)
	case r.URL.Path == "/item/remove":
		s.gone = true
		answer(w, map[string]any{})
	default:
		refuse(w, "INVALID_REQUEST", "NOT_FOUND", "the requested path was not found")
	}
}

func (s *Server) itemError() string {
	if s.Revoked() {
		return "ITEM_LOGIN_REQUIRED"
	}
	return s.ItemError
}

func (s *Server) item() map[string]any {
	item := map[string]any{"item_id": ItemID, "institution_id": "ins_109508", "institution_name": "First Platypus Bank", "webhook": nil,
		"error": nil, "products": []string{"transactions"}, "consent_expiration_time": "2027-03-16T15:53:00Z", "update_type": "background"}
	if code := s.itemError(); code != "" {
		item["error"] = map[string]any{"error_type": "ITEM_ERROR", "error_code": code, "error_message": "the login details have changed",
			"display_message": nil, "status": 400}
	}
	return item
}

// answerSync answers with the changes after a cursor. A cursor between two pages is refused once another transaction has changed.
func (s *Server) answerSync(w http.ResponseWriter, f fields) {
	at, seen := 0, 0
	switch _, err := fmt.Sscanf(f.Cursor, "page-%d-%d", &at, &seen); {
	case f.Cursor == "":
	case err == nil && seen != len(s.log):
		refuse(w, "TRANSACTIONS_ERROR", "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION",
			"Underlying transaction data changed since last page was fetched. Please restart pagination from last update.")
		return
	case err == nil:
	default:
		if _, err := fmt.Sscanf(f.Cursor, "end-%d", &at); err != nil || at > len(s.log) {
			refuse(w, "INVALID_INPUT", "INVALID_FIELD", "cursor not associated with access_token")
			return
		}
	}
	if f.Count < 1 || f.Count > 500 || !f.Options.Original {
		refuse(w, "INVALID_REQUEST", "INVALID_FIELD", "count must be between 1 and 500")
		return
	}
	out := map[string]any{"accounts": s.accounts(), "transactions_update_status": "HISTORICAL_UPDATE_COMPLETE"}
	lists := map[string][]any{"added": {}, "modified": {}, "removed": {}}
	if s.NotReady {
		out["transactions_update_status"], out["next_cursor"], out["has_more"], at = "NOT_READY", "", false, len(s.log)
	}
	end := min(at+min(f.Count, s.PageSize), len(s.log))
	for _, c := range s.log[at:end] {
		if c.kind == "removed" {
			c.tx = map[string]any{"transaction_id": c.tx["transaction_id"], "account_id": c.tx["account_id"]}
		}
		lists[c.kind] = append(lists[c.kind], c.tx)
	}
	for kind, list := range lists {
		out[kind] = list
	}
	if !s.NotReady {
		out["next_cursor"], out["has_more"] = fmt.Sprintf("end-%d", end), end < len(s.log)
		if end < len(s.log) {
			out["next_cursor"] = fmt.Sprintf("page-%d-%d", end, len(s.log))
		}
	}
	answer(w, out)
}

func answer(w http.ResponseWriter, out map[string]any) {
	out["request_id"] = "45QSn"
	write(w, http.StatusOK, out)
}

// refuse answers with an error, as Plaid does.
func refuse(w http.ResponseWriter, kind, code, message string) {
	write(w, http.StatusBadRequest, map[string]any{"error_type": kind, "error_code": code, "error_message": message,
		"display_message": nil, "documentation_url": "https://plaid.com/docs/", "suggested_action": nil, "request_id": "HNTDNrA8F1shFEW"})
}

func write(w http.ResponseWriter, status int, out map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(out); err != nil {
		panic(err)
	}
}
