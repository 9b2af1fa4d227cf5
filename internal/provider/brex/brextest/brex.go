// Package brextest is a fake of Brex's API for tests.
package brextest

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
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	token = "bxt_7Y0tWc2cQ4mZcJ3pVbX1sA9eKfHnLrUd"
	// Checking and Reserve are the ids of the cash accounts, CardAccount that of the card account.
	Checking    = "dpsa_cl0001checking"
	Reserve     = "dpsa_cl0002reserve"
	CardAccount = "cacc_cl0003primary"
)

// Server is a fake of Brex with one card account and two cash accounts.
type Server struct {
	providertest.Server

	// OldestFirst says that transactions are returned in the order of their days. By default, the newest is the first.
	OldestFirst bool
	// PageSize is how many transactions are returned at a time at most.
	PageSize int
	// Lacks is a path for which the token has no permission.
	Lacks string

	transactions map[string][]map[string]any // by account
	balances     map[string]int64            // in cents
	generation   int                         // of positions between two pages
}

// New returns a fake with accounts that hold nothing.
func New() *Server {
	return &Server{PageSize: 100, transactions: map[string][]map[string]any{}, balances: map[string]int64{}}
}

// Credentials returns what the accounts are accessed with.
func (s *Server) Credentials() map[string]string { return map[string]string{provider.APIKey: token} }

// Grant does nothing: Brex does not tell what a token permits.
func (s *Server) Grant(provider.Grant) bool { return false }

// Forget makes positions between two pages invalid.
func (s *Server) Forget() { s.generation++ }

// Add adds movements, in turn to the card and to the cash accounts.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		n := len(s.transactions[CardAccount]) + len(s.transactions[Checking]) + len(s.transactions[Reserve])
		account := []string{CardAccount, Checking, Reserve}[n%3]
		cents, err := strconv.ParseInt(money.MustParse(m.Amount).Mul(money.FromInt(100)).String(), 10, 64)
		if err != nil {
			panic(err)
		}
		kind := map[providertest.Kind][2]string{providertest.Deposit: {"COLLECTION", "PAYMENT"},
			providertest.Withdrawal: {"PURCHASE", "PAYMENT"}}[m.Kind]
		if m.Kind == providertest.Withdrawal {
			cents = -cents
		}
		tx := map[string]any{"id": fmt.Sprintf("pste_%06d", n), "description": "Uber Trip", "initiated_at_date": m.At.Format(time.DateOnly),
			"posted_at_date": m.At.Format(time.DateOnly), "type": cmp.Or(kind[1], "CRYPTO_BRIDGE"), "transfer_id": nil}
		if account == CardAccount {
			cents = -cents // a purchase is stated above zero
			tx["type"], tx["card_id"], tx["expense_id"] = cmp.Or(kind[0], "BNPL_FEE_2"), "card_1", nil
			tx["merchant"] = map[string]any{"raw_descriptor": "UBER", "mcc": "4121", "country": "USA"}
		}
		tx["amount"] = map[string]any{"amount": cents, "currency": "USD"}
		s.Put(account, tx)
	}
}

// Put adds a transaction to an account.
func (s *Server) Put(account string, tx map[string]any) {
	s.transactions[account] = append(s.transactions[account], tx)
	if of, ok := tx["amount"].(map[string]any); ok {
		cents, _ := of["amount"].(int64)
		s.balances[account] += cents
	}
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, _ []byte) {
	usd := func(cents int64) map[string]any { return map[string]any{"amount": cents, "currency": "USD"} }
	cash, isCash := strings.CutPrefix(r.URL.Path, "/v2/transactions/cash/")
	switch {
	case r.Method != http.MethodGet || s.Revoked() || r.Header.Get("Authorization") != "Bearer "+token:
		refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "Unauthorized")
	case r.URL.Path == s.Lacks:
		refuse(w, http.StatusForbidden, "FORBIDDEN", "missing scope")
	case r.URL.Path == "/v2/accounts/card":
		write(w, http.StatusOK, []any{map[string]any{"id": CardAccount, "status": "ACTIVE", "current_balance": usd(s.balances[CardAccount]),
			"available_balance": usd(0), "account_limit": usd(5000000),
			"current_statement_period": map[string]any{"start_date": "2026-11-01", "end_date": "2026-11-30"}}})
	case r.URL.Path == "/v2/accounts/cash":
		account := func(id, name, number string) map[string]any {
			return map[string]any{"id": id, "name": name, "status": "ACTIVE", "current_balance": usd(s.balances[id]),
				"available_balance": usd(s.balances[id]), "account_number": number, "routing_number": "021214891", "primary": id == Checking}
		}
		write(w, http.StatusOK, map[string]any{"next_cursor": nil, "items": []any{account(Reserve, "Reserve", "984512341235"),
			account(Checking, "Operating", "984512341234")}})
	case r.URL.Path == "/v2/transactions/card/primary":
		s.answerList(w, r, CardAccount)
	case isCash && (cash == Checking || cash == Reserve):
		s.answerList(w, r, cash)
	default:
		refuse(w, http.StatusNotFound, "NOT_FOUND", "not found")
	}
}

// answerList answers with the transactions of an account that were posted from a day on.
func (s *Server) answerList(w http.ResponseWriter, r *http.Request, account string) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	since := ""
	if text := query.Get("posted_at_start"); text != "" {
		at, failed := time.Parse("2006-01-02T15:04:05.000", text)
		since, err = at.Format(time.DateOnly), cmp.Or(err, failed)
	}
	offset, generation := 0, s.generation
	if text := query.Get("cursor"); text != "" {
		_, failed := fmt.Sscanf(text, "eyJ-%d-%d", &offset, &generation)
		err = cmp.Or(err, failed)
	}
	var found []map[string]any
	for _, tx := range s.transactions[account] {
		if posted, _ := tx["posted_at_date"].(string); posted >= since {
			found = append(found, tx)
		}
	}
	if err != nil || limit < 1 || generation != s.generation || offset > len(found) {
		refuse(w, http.StatusBadRequest, "INVALID_REQUEST", "invalid cursor or limit")
		return
	}
	slices.SortStableFunc(found, func(a, b map[string]any) int {
		return cmp.Compare(fmt.Sprint(a["posted_at_date"]), fmt.Sprint(b["posted_at_date"]))
	})
	if !s.OldestFirst {
		slices.Reverse(found)
	}
	end := min(offset+min(limit, s.PageSize), len(found))
	out := map[string]any{"items": append([]map[string]any{}, found[offset:end]...), "next_cursor": nil}
	if end < len(found) {
		out["next_cursor"] = fmt.Sprintf("eyJ-%d-%d", end, s.generation)
	}
	write(w, http.StatusOK, out)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	write(w, status, map[string]any{"errors": map[string]any{"type": kind, "message": message}})
}

func write(w http.ResponseWriter, status int, out any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(out); err != nil {
		panic(err)
	}
}
