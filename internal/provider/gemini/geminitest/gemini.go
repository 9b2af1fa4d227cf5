// Package geminitest is a fake of Gemini's API for tests.
package geminitest

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
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
	key    = "account-2DKbFvbhtnkfrUoBdgWx"
	secret = "4BJPvVxo9WKSUaADiFFrjZ5xKgmz"
	// tolerance is by how many seconds a time based nonce may differ from the time of Gemini.
	tolerance = 30
)

// Row is a row as Gemini states it.
type Row map[string]any

// Server is a fake of Gemini with one account.
type Server struct {
	providertest.Server

	// Master makes the key one of a group of accounts.
	Master bool

	counting      bool // nonces only have to increase
	nonce         int64
	trader, funds bool
	auditor       bool
	trades        []Row
	transfers     []Row
	completed     map[int]bool // deposits that were credited in advance and are complete, by id
	staking       []Row
	balances      map[string]money.Decimal
	staked        map[string]money.Decimal
}

// New returns a fake with an empty account and a key with time based nonces.
func New() *Server {
	return &Server{auditor: true, completed: map[int]bool{}, balances: map[string]money.Decimal{}, staked: map[string]money.Decimal{}}
}

// NewCounting returns a fake as New does, with a key whose nonces have to increase.
func NewCounting() *Server {
	s := New()
	s.counting = true
	return s
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.APIKey: key, provider.APISecret: secret}
}

// Grant gives the key a role. The role Auditor excludes others.
func (s *Server) Grant(g provider.Grant) bool {
	s.auditor, s.trader = false, true
	s.funds = s.funds || g == provider.Withdraw
	return true
}

// Forbid takes all roles from the key.
func (s *Server) Forbid() { s.auditor, s.trader, s.funds = false, false, false }

// Add adds movements to the account.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		moved, fee := money.MustParse(m.Amount), money.MustParse(cmp.Or(m.Fee, "0"))
		switch m.Kind {
		case providertest.Deposit:
			s.Transfer(m.At, "Deposit", m.Asset, moved, Row{"network": "ethereum", "txHash": "605c5f", "feeAmount": "0", "feeCurrency": m.Asset})
		case providertest.Withdrawal:
			s.Transfer(m.At, "Withdrawal", m.Asset, moved, Row{"network": "bitcoin", "txHash": "714a15", "destination": "0x83c",
				"feeAmount": fee.String(), "feeCurrency": m.Asset, "withdrawalId": "69ab0b0f"})
			s.change(m.Asset, fee.Neg())
		case providertest.Trade:
			s.trade(m, moved, fee)
		case providertest.Reward:
			s.staking = append(s.staking, Row{"transactionId": fmt.Sprintf("S%d", len(s.staking)), "transactionType": "Interest",
				"amountCurrency": m.Asset, "amount": json.Number(moved.String()), "priceCurrency": "USD", "priceAmount": json.Number("0.1"),
				"dateTime": m.At.UnixMilli()})
			s.staked[m.Asset] = s.staked[m.Asset].Add(moved)
		default: // an inflow whose nature Gemini does not tell
			s.Transfer(m.At, "AdminCredit", m.Asset, moved, Row{"purpose": string(m.Kind)})
		}
	}
}

// quotes are the quote currencies of the fake.
var quotes = []string{"USD", "EUR", "USDT"}

// trade adds a trade. Gemini states the price and not the amount in the quote currency.
func (s *Server) trade(m providertest.Movement, moved, fee money.Decimal) {
	base, quote, side, amount, against := m.For, m.Asset, "Buy", money.MustParse(m.Gets), moved
	if !slices.Contains(quotes, m.Asset) {
		base, quote, side, amount, against = m.Asset, m.For, "Sell", moved, money.MustParse(m.Gets)
	}
	price := against.Quo(amount, 2)
	s.Trade(m.At, base+quote, side, amount, price, Row{"fee_currency": quote, "fee_amount": fee.String()})
	s.change(quote, fee.Neg())
	paid := price.Mul(amount)
	if side == "Sell" {
		amount, paid = amount.Neg(), paid.Neg()
	}
	s.change(base, amount)
	s.change(quote, paid.Neg())
}

func (s *Server) change(currency string, by money.Decimal) {
	s.balances[currency] = s.balances[currency].Add(by)
}

// Trade adds a trade without changing balances.
func (s *Server) Trade(at time.Time, symbol, side string, amount, price money.Decimal, rest Row) {
	r := Row{"price": price.String(), "amount": amount.String(), "timestamp": at.Unix(), "timestampms": at.UnixMilli(), "type": side,
		"aggressor": true, "tid": 144115199446910513 + len(s.trades), "order_id": "73716687406755680", "exchange": "gemini",
		"is_clearing_fill": false, "symbol": symbol, "fee_currency": "USD", "fee_amount": "0"}
	for name, value := range rest {
		r[name] = value
	}
	s.trades = append(s.trades, r)
}

// Transfer adds a transfer and returns its id.
func (s *Server) Transfer(at time.Time, kind, currency string, amount money.Decimal, rest Row) int {
	id := 368598436530 + len(s.transfers)
	r := Row{"type": kind, "status": "Complete", "timestampms": at.UnixMilli(), "eid": id, "currency": currency, "amount": amount.String()}
	for name, value := range rest {
		r[name] = value
	}
	s.transfers = append(s.transfers, r)
	if kind == "Withdrawal" || kind == "AdminDebit" {
		amount = amount.Neg()
	}
	s.change(currency, amount)
	return id
}

// Stake adds an entry of the staking history without changing balances.
func (s *Server) Stake(r Row) { s.staking = append(s.staking, r) }

// SetStatus changes the status of a transfer.
func (s *Server) SetStatus(id int, status string) {
	for _, r := range s.transfers {
		if r["eid"] == id {
			r["status"] = status
		}
	}
}

// Complete completes a deposit that was credited in advance, which adds another transfer.
func (s *Server) Complete(id int, at time.Time) int {
	s.completed[id] = true
	for _, r := range s.transfers {
		if r["eid"] == id {
			currency, amount := r["currency"].(string), money.MustParse(r["amount"].(string))
			s.change(currency, amount.Neg())
			return s.Transfer(at, r["type"].(string), currency, amount, nil)
		}
	}
	panic("geminitest: no such transfer")
}

// Break marks the last trade as void.
func (s *Server) Break() { s.trades[len(s.trades)-1]["break"] = "full" }

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	payload, status, reason, message := s.accept(r, body)
	switch {
	case status != 0:
		refuse(w, status, reason, message)
	case r.URL.Path == "/v1/roles":
		write(w, http.StatusOK, Row{"isAuditor": s.auditor, "isFundManager": s.funds, "isTrader": s.trader})
	case s.Master:
		refuse(w, http.StatusBadRequest, "MissingAccounts", "Expected a JSON payload with accounts")
	case r.URL.Path == "/v1/account":
		write(w, http.StatusOK, Row{"account": Row{"accountName": "Primary", "shortName": "primary", "type": "exchange",
			"created": "1498245007981"}, "users": []Row{}, "memo_reference_code": "GEMPJBRDZ", "virtual_account_number": "123456"})
	case !s.auditor && !s.trader && !s.funds:
		refuse(w, http.StatusForbidden, "MissingRole", "To access this endpoint, you need to log in to the website and give this API key a role")
	case r.URL.Path == "/v1/balances":
		write(w, http.StatusOK, held(s.balances, "amount", "exchange"))
	case r.URL.Path == "/v1/balances/staking":
		write(w, http.StatusOK, held(s.staked, "balance", "Staking"))
	case r.URL.Path == "/v1/mytrades":
		s.list(w, s.trades, payload, "limit_trades", 500, 0)
	case r.URL.Path == "/v2/transfers":
		shown := slices.DeleteFunc(slices.Clone(s.transfers), func(r Row) bool {
			return payload["show_completed_deposit_advances"] == false && s.completed[r["eid"].(int)]
		})
		s.list(w, shown, payload, "limit_transfers", 50, 1)
	case r.URL.Path == "/v1/staking/history":
		s.listStaking(w, payload)
	default:
		refuse(w, http.StatusNotFound, "EndpointNotFound", "API entry point not found")
	}
}

// held returns balances as Gemini states them: those for trading as texts, those in staking as numbers.
func held(balances map[string]money.Decimal, name, kind string) []Row {
	out := []Row{}
	for currency, amount := range balances {
		var stated any = amount.String()
		if name == "balance" {
			stated = json.Number(amount.String())
		}
		out = append(out, Row{"type": kind, "currency": currency, name: stated, "available": stated, "availableForWithdrawal": stated})
	}
	return out
}

// accept verifies a request as the documentation says. A status of zero means that it is accepted.
func (s *Server) accept(r *http.Request, body []byte) (payload Row, status int, reason, message string) {
	encoded := r.Header.Get("X-GEMINI-PAYLOAD")
	text, err := base64.StdEncoding.DecodeString(encoded)
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	mac := hmac.New(sha512.New384, []byte(secret))
	mac.Write([]byte(encoded))
	switch {
	case r.Method != http.MethodPost || len(body) > 0 || r.Header.Get("Content-Length") != "0" && r.ContentLength != 0:
		return nil, http.StatusBadRequest, "InvalidJson", "The body must be empty"
	case s.Revoked() || r.Header.Get("X-GEMINI-APIKEY") != key:
		return nil, http.StatusBadRequest, "InvalidSignature", "InvalidSignature"
	case fmt.Sprintf("%x", mac.Sum(nil)) != r.Header.Get("X-GEMINI-SIGNATURE"):
		return nil, http.StatusBadRequest, "InvalidSignature", "InvalidSignature"
	case err != nil || d.Decode(&payload) != nil:
		return nil, http.StatusBadRequest, "InvalidJson", "InvalidJson"
	case payload["request"] != r.URL.Path:
		return nil, http.StatusBadRequest, "EndpointMismatch", "EndpointMismatch"
	}
	number, _ := payload["nonce"].(json.Number)
	nonce, err := number.Int64()
	switch now := s.Now().Unix(); {
	case err != nil:
		return nil, http.StatusBadRequest, "MissingNonce", "Must provide 'nonce' JSON key in payload"
	case s.counting && nonce <= s.nonce:
		return nil, http.StatusBadRequest, "InvalidNonce",
			fmt.Sprintf("Nonce '%d' has not increased since your last call to the Gemini API.", nonce)
	case !s.counting && (nonce < now-tolerance || nonce > now+tolerance):
		return nil, http.StatusBadRequest, "InvalidNonce", fmt.Sprintf("Nonce '%d' is not within 30 seconds of server time '%d'", nonce, now)
	}
	s.nonce = nonce
	return payload, 0, "", ""
}

// at returns the time of a row.
func at(r Row) int64 {
	if ms, ok := r["timestampms"].(int64); ok {
		return ms
	}
	ms, _ := r["dateTime"].(int64)
	return ms
}

// list answers with the oldest rows from a time on, the newest of them first. Without a time, it answers with the newest of all. The time
// may be exclusive.
func (s *Server) list(w http.ResponseWriter, all []Row, payload Row, limitName string, limitMax int, exclusive int64) {
	limit := limitMax
	if stated, ok := payload[limitName].(json.Number); ok {
		limit, _ = strconv.Atoi(stated.String())
	}
	if limit < 1 || limit > limitMax {
		refuse(w, http.StatusBadRequest, "InvalidLimit", "The limit is out of range")
		return
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Row) int { return cmp.Compare(at(a), at(b)) })
	if since, ok := payload["timestamp"].(json.Number); ok {
		from, _ := since.Int64()
		all = slices.DeleteFunc(all, func(r Row) bool { return at(r) < from+exclusive })
		all = all[:min(limit, len(all))]
	} else {
		all = all[max(0, len(all)-limit):]
	}
	slices.Reverse(all)
	write(w, http.StatusOK, append([]Row{}, all...))
}

// listStaking answers with the oldest entries from a time on, of two providers.
func (s *Server) listStaking(w http.ResponseWriter, payload Row) {
	limit := 50
	if stated, ok := payload["limit"].(json.Number); ok {
		limit, _ = strconv.Atoi(stated.String())
	}
	from := time.UnixMilli(0)
	if since, ok := payload["since"].(string); ok {
		var err error
		if from, err = time.Parse(time.RFC3339, since); err != nil {
			refuse(w, http.StatusBadRequest, "InvalidTimestampInPayload", "InvalidTimestampInPayload")
			return
		}
	}
	if limit < 1 || limit > 500 || payload["sortAsc"] != true {
		refuse(w, http.StatusBadRequest, "InvalidLimit", "The limit is out of range")
		return
	}
	all := slices.DeleteFunc(slices.Clone(s.staking), func(r Row) bool { return at(r) < from.UnixMilli() })
	slices.SortStableFunc(all, func(a, b Row) int { return cmp.Compare(at(a), at(b)) })
	providers := []Row{}
	for i, r := range all[:min(limit, len(all))] {
		if i < 2 {
			providers = append(providers, Row{"providerId": fmt.Sprintf("62b21e17-%d", i), "transactions": []Row{}})
		}
		providers[i%2]["transactions"] = append(providers[i%2]["transactions"].([]Row), r)
	}
	write(w, http.StatusOK, providers)
}

func refuse(w http.ResponseWriter, status int, reason, message string) {
	write(w, status, Row{"result": "error", "reason": reason, "message": message})
}

func write(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}
