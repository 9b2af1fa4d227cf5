// Package coinbasetest is a fake of Coinbase's API for tests.
package coinbasetest

import (
	"cmp"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	limitDefault = 25
	limitMax     = 100
)

// Server is a fake of Coinbase with one account.
type Server struct {
	providertest.Server

	// PageMax is how many rows an answer has at most, because Coinbase may return fewer than it was asked for. Zero means no such limit.
	PageMax int

	credentials Credentials
	trade       bool
	transfer    bool
	view        bool
	wallets     []*wallet
	made        int // rows
}

// wallet is a wallet with its history.
type wallet struct {
	ID       string
	Currency string
	balance  money.Decimal
	rows     []Row // the oldest first
}

// Row is a movement as Coinbase states it.
type Row map[string]any

// New returns a fake with an account that has never been used, and a key for ECDSA.
func New() *Server { return newServer(Elliptic) }

// NewEdwards returns a fake as New does, with a key for Ed25519, which a part of the API does not accept.
func NewEdwards() *Server { return newServer(Edwards) }

func newServer(c Credentials) *Server {
	return &Server{credentials: c, view: true, wallets: []*wallet{{ID: "BCH", Currency: "BCH"}}}
}

// Credentials returns what the account is accessed with. In the private key, \n stands for line breaks.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.APIKey: s.credentials.Name, provider.APISecret: strings.ReplaceAll(s.credentials.Secret, "\n", `\n`)}
}

// Grant gives the key a right.
func (s *Server) Grant(g provider.Grant) bool {
	s.trade = s.trade || g == provider.Trade
	s.transfer = s.transfer || g == provider.Withdraw
	return s.credentials.elliptic()
}

// Forbid takes the right to view from the key.
func (s *Server) Forbid() { s.view = false }

// wallet returns the wallet of a currency.
func (s *Server) wallet(currency string) *wallet {
	for _, w := range s.wallets {
		if w.Currency == currency {
			return w
		}
	}
	w := &wallet{ID: uuid("wallet " + currency), Currency: currency}
	s.wallets = append(s.wallets, w)
	return w
}

// uuid returns an id that looks random and is the same each time.
func uuid(text string) string {
	h := sha1.Sum([]byte(text))
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// quotes are the quote currencies of the fake.
var quotes = []string{"USD", "EUR", "USDT"}

// Add adds movements to the account.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		moved, fee := money.MustParse(m.Amount), money.MustParse(cmp.Or(m.Fee, "0"))
		switch m.Kind {
		case providertest.Deposit:
			if m.Asset == "EUR" {
				s.Put(m.At, m.Asset, moved, Row{"type": "fiat_deposit"})
				continue
			}
			s.Put(m.At, m.Asset, moved, Row{"type": "receive", "network": Row{"status": "confirmed", "hash": "0xabc", "network_name": "ethereum"},
				"from": Row{"resource": "address", "address": "0xfrom"}})
		case providertest.Withdrawal:
			s.Put(m.At, m.Asset, moved.Add(fee).Neg(), Row{"type": "send", "to": Row{"resource": "address", "address": "0xto"},
				"network": Row{"status": "confirmed", "hash": "0xdef", "network_name": "bitcoin",
					"transaction_fee": Row{"amount": fee.String(), "currency": m.Asset}}})
		case providertest.Trade:
			s.fill(m, moved, fee)
		case providertest.Reward:
			s.Put(m.At, m.Asset, moved, Row{"type": "staking_reward"})
		default:
			s.Put(m.At, m.Asset, moved, Row{"type": string(m.Kind)})
		}
	}
}

// fill adds the two parts of the execution of an order. The commission is charged in addition.
func (s *Server) fill(m providertest.Movement, moved, fee money.Decimal) {
	base, quote, side := m.For, m.Asset, "buy"
	if !slices.Contains(quotes, m.Asset) {
		base, quote, side = m.Asset, m.For, "sell"
	}
	detail := Row{"order_id": uuid(fmt.Sprint("order ", s.made)), "product_id": base + "-" + quote, "commission": fee.String(),
		"order_side": side, "fill_price": "1"}
	s.Put(m.At, m.Asset, moved.Neg(), Row{"type": "advanced_trade_fill", "advanced_trade_fill": detail})
	s.Put(m.At, m.For, money.MustParse(m.Gets), Row{"type": "advanced_trade_fill", "advanced_trade_fill": detail})
	charged := s.wallet(quote)
	charged.balance = charged.balance.Sub(fee)
}

// Put adds a row to the wallet of a currency, and returns its id. Rows with the same time are in the order of their ids, which is none.
func (s *Server) Put(at time.Time, currency string, amount money.Decimal, rest Row) string {
	w := s.wallet(currency)
	s.made++
	id := uuid(fmt.Sprint("row ", s.made))
	r := Row{"id": id, "status": "completed", "created_at": at.UTC().Format("2006-01-02T15:04:05Z"),
		"amount":        Row{"amount": amount.String(), "currency": currency},
		"native_amount": Row{"amount": "1.00", "currency": "EUR"}, "resource": "transaction",
		"resource_path": "/v2/accounts/" + w.ID + "/transactions/" + id}
	for name, value := range rest {
		r[name] = value
	}
	if r["status"] == "completed" {
		w.balance = w.balance.Add(amount)
	}
	w.rows = append(w.rows, r)
	slices.SortFunc(w.rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a["created_at"].(string), b["created_at"].(string)), cmp.Compare(a["id"].(string), b["id"].(string)))
	})
	return id
}

// Complete completes a pending movement.
func (s *Server) Complete(currency, id string) {
	w := s.wallet(currency)
	for _, r := range w.rows {
		if r["id"] == id {
			r["status"] = "completed"
			w.balance = w.balance.Add(money.MustParse(r["amount"].(Row)["amount"].(string)))
		}
	}
}

// Remove removes a row that was never completed.
func (s *Server) Remove(currency, id string) {
	w := s.wallet(currency)
	w.rows = slices.DeleteFunc(w.rows, func(r Row) bool { return r["id"] == id })
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	brokerage := strings.HasPrefix(r.URL.Path, "/api/v3/brokerage/")
	if len(body) > 0 || s.Revoked() || !s.verifies(r) || brokerage && !s.credentials.elliptic() {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintln(w, "Unauthorized")
		return
	}
	id, isWallet := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/transactions"), "/v2/accounts/")
	at := slices.IndexFunc(s.wallets, func(w *wallet) bool { return w.ID == id })
	switch {
	case r.Method != http.MethodGet:
		refuse(w, http.StatusNotFound, "not_found", "Not found")
	case r.URL.Path == "/api/v3/brokerage/key_permissions":
		write(w, http.StatusOK, Row{"can_view": s.view, "can_trade": s.trade, "can_transfer": s.transfer,
			"portfolio_uuid": "6fbb0c52-0b1c-5a44-8d0d-6a6a2e5d4c35", "portfolio_type": "DEFAULT"})
	case !s.view:
		refuse(w, http.StatusForbidden, "invalid_scope", "Invalid scope")
	case r.URL.Path == "/v2/accounts":
		s.list(w, r.URL, s.accounts())
	case isWallet && strings.HasSuffix(r.URL.Path, "/transactions") && at >= 0:
		s.list(w, r.URL, s.wallets[at].rows)
	default:
		refuse(w, http.StatusNotFound, "not_found", "Not found")
	}
}

// accounts returns the wallets as Coinbase states them.
func (s *Server) accounts() []Row {
	out := []Row{}
	for _, w := range s.wallets {
		out = append(out, Row{"id": w.ID, "name": w.Currency + " Wallet", "primary": false, "type": "wallet",
			"currency": Row{"code": w.Currency, "name": w.Currency, "exponent": 8}, "balance": Row{"amount": w.balance.String(),
				"currency": w.Currency}, "created_at": "2015-01-31T20:49:02Z", "updated_at": "2015-01-31T20:49:02Z", "resource": "account",
			"resource_path": "/v2/accounts/" + w.ID})
	}
	return out
}

// list answers with a page of a list, which has the oldest first.
func (s *Server) list(w http.ResponseWriter, u *url.URL, all []Row) {
	query := u.Query()
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), strconv.Itoa(limitDefault)))
	order := cmp.Or(query.Get("order"), "desc")
	if err != nil || limit < 1 || limit > limitMax || order != "asc" && order != "desc" {
		refuse(w, http.StatusBadRequest, "validation_error", "Limit or order is invalid")
		return
	}
	all = slices.Clone(all)
	if order == "desc" {
		slices.Reverse(all)
	}
	if after := query.Get("starting_after"); after != "" {
		at := slices.IndexFunc(all, func(r Row) bool { return r["id"] == after })
		if at < 0 {
			refuse(w, http.StatusBadRequest, "validation_error", "Starting after is invalid")
			return
		}
		all = all[at+1:]
	}
	shown := all[:min(limit, cmp.Or(s.PageMax, limitMax), len(all))]
	var next any
	if len(shown) < len(all) {
		next = fmt.Sprintf("%s?limit=%d&order=%s&starting_after=%s", u.Path, limit, order, shown[len(shown)-1]["id"])
	}
	if shown == nil {
		shown = []Row{}
	}
	write(w, http.StatusOK, Row{"pagination": Row{"ending_before": nil, "starting_after": nil, "limit": limit, "order": order,
		"previous_uri": nil, "next_uri": next}, "data": shown})
}

func refuse(w http.ResponseWriter, status int, id, message string) {
	write(w, status, Row{"errors": []Row{{"id": id, "message": message}}})
}

func write(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}
