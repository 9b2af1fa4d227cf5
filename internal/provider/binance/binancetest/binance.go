// Package binancetest is a fake of Binance's API for tests.
package binancetest

import (
	"crypto/hmac"
	"crypto/sha256"
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

// The credentials are those of the example in Binance's documentation.
const (
	key    = "vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A"
	secret = "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j"
)

// Server is a fake of Binance with one account.
type Server struct {
	providertest.Server

	permissions map[string]bool
	others      bool // there are wallets for margin and futures
	refused     map[string]bool
	lists       map[string][]row // by path
	trades      map[string][]map[string]any
	markets     []market
	wallets     map[string]map[string]money.Decimal
	last        int64 // id
	asked       []string
}

// market is a market for one asset in units of another.
type market struct {
	base, quote, status string
	removed             bool
}

// New returns a fake with an empty account.
func New() *Server {
	s := &Server{permissions: map[string]bool{"enableReading": true}, refused: map[string]bool{}, lists: map[string][]row{},
		trades: map[string][]map[string]any{}, wallets: map[string]map[string]money.Decimal{}, last: 7_000}
	for _, name := range []string{"spot", "funding", "flexible", "locked"} {
		s.wallets[name] = map[string]money.Decimal{}
	}
	for _, pair := range []string{"BTC EUR", "BTC USDT", "SOL ETH", "ARB ETH", "BNB USDT", "DOGE TRY"} {
		base, quote, _ := strings.Cut(pair, " ")
		s.markets = append(s.markets, market{base: base, quote: quote, status: "TRADING"})
	}
	s.markets = append(s.markets, market{base: "ETH", quote: "EUR", status: "BREAK", removed: true})
	return s
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.APIKey: key, provider.APISecret: secret}
}

// Grant gives the key a right.
func (s *Server) Grant(g provider.Grant) bool {
	name := map[provider.Grant]string{provider.Trade: "enableSpotAndMarginTrading", provider.Withdraw: "permitsUniversalTransfer"}[g]
	s.permissions[name] = true
	return true
}

// Permit gives the key a permission by its name, or takes it away.
func (s *Server) Permit(permission string, yes bool) { s.permissions[permission] = yes }

// Refuse has the server refuse requests to a path, or no longer refuse them.
func (s *Server) Refuse(path string, yes bool) { s.refused[path] = yes }

// OpenWallets gives the account wallets for margin and futures.
func (s *Server) OpenWallets() { s.others = true }

// Asked returns the markets for whose trades the server was asked since the last call.
func (s *Server) Asked() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	out := slices.Compact(slices.Sorted(slices.Values(s.asked)))
	s.asked = nil
	return out
}

// Busy answers that there were too many requests.
var Busy = providertest.Status(http.StatusTooManyRequests, "Retry-After", "0", `{"code":-1003,"msg":"Too much request weight used; `+
	`current limit is 6000 request weight per 1 MINUTE. Please use WebSocket Streams for live updates to avoid polling the API."}`)

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, -1100, "Illegal characters found in a parameter.")
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /api/v3/ticker/price":
		s.answerPrices(w)
		return
	case "GET /api/v3/exchangeInfo":
		s.answerMarkets(w, q)
		return
	}
	if s.refuses(w, r, q, body) {
		return
	}
	for _, name := range []string{"recvWindow", "timestamp", "signature"} {
		q.Del(name)
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /sapi/v1/account/apiRestrictions":
		out := map[string]any{"ipRestrict": false, "createTime": 1623840271000}
		for _, name := range []string{"enableReading", "enableWithdrawals", "enableInternalTransfer", "enableMargin", "enableFutures",
			"permitsUniversalTransfer", "enableVanillaOptions", "enableFixApiTrade", "enableFixReadOnly", "enableSpotAndMarginTrading",
			"enablePortfolioMarginTrading"} {
			out[name] = s.permissions[name]
		}
		write(w, out)
	case "GET /sapi/v1/account/info":
		write(w, map[string]any{"vipLevel": 0, "isMarginEnabled": s.others, "isFutureEnabled": s.others, "isOptionsEnabled": false,
			"isPortfolioMarginRetailEnabled": false})
	case "GET /api/v3/account":
		write(w, map[string]any{"canTrade": true, "canWithdraw": true, "canDeposit": true, "accountType": "SPOT", "balances": s.held("spot"),
			"permissions": []string{"SPOT"}, "uid": 354937868})
	case "POST /sapi/v1/asset/get-funding-asset":
		write(w, s.held("funding"))
	case "GET /sapi/v1/simple-earn/flexible/position":
		s.answerPositions(w, q, "flexible", "totalAmount")
	case "GET /sapi/v1/simple-earn/locked/position":
		s.answerPositions(w, q, "locked", "amount")
	case "GET /api/v3/myTrades":
		s.answerTrades(w, q)
	default:
		s.answerList(w, r, q)
	}
}

// refuses answers a request that is not signed as Binance demands, or that is too old or too new.
func (s *Server) refuses(w http.ResponseWriter, r *http.Request, q url.Values, body []byte) bool {
	payload, signature, signed := strings.Cut(r.URL.RawQuery, "&signature=")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(append([]byte(payload), body...))
	at, err := strconv.ParseInt(q.Get("timestamp"), 10, 64)
	window, failed := strconv.ParseInt(q.Get("recvWindow"), 10, 64)
	if q.Get("recvWindow") == "" {
		window, failed = 5000, nil
	}
	now := s.Now().UnixMilli()
	switch sent := r.Header.Get("X-MBX-APIKEY"); {
	case len(sent) != len(key):
		refuse(w, http.StatusUnauthorized, -2014, "API-key format invalid.")
	case sent != key || s.Revoked():
		refuse(w, http.StatusUnauthorized, -2015, "Invalid API-key, IP, or permissions for action.")
	case !signed || err != nil || failed != nil || window > 60_000:
		refuse(w, http.StatusBadRequest, -1102, "Mandatory parameter 'signature' was not sent, was empty/null, or malformed.")
	case at >= now+1000:
		refuse(w, http.StatusBadRequest, -1021, "Timestamp for this request was 1000ms ahead of the server's time.")
	case now-at > window:
		refuse(w, http.StatusBadRequest, -1021, "Timestamp for this request is outside of the recvWindow.")
	case !strings.EqualFold(signature, fmt.Sprintf("%x", mac.Sum(nil))):
		refuse(w, http.StatusBadRequest, -1022, "Signature for this request is not valid.")
	case !s.permissions["enableReading"] && r.URL.Path != "/sapi/v1/account/apiRestrictions":
		refuse(w, http.StatusUnauthorized, -2015, "Invalid API-key, IP, or permissions for action.")
	case s.refused[r.URL.Path]:
		refuse(w, http.StatusBadRequest, -9999, "This service is not available for your account.")
	default:
		return false
	}
	return true
}

// held returns what a wallet holds. The spot wallet also shows receipts for positions in flexible products.
func (s *Server) held(wallet string) []map[string]string {
	out := []map[string]string{}
	add := func(name string, amount money.Decimal) {
		if !amount.IsZero() {
			part := amount.Mul(money.MustParse("0.25"))
			out = append(out, map[string]string{"asset": name, "free": amount.Sub(part).String(), "locked": part.String()})
		}
	}
	for name, amount := range s.wallets[wallet] {
		add(name, amount)
	}
	if wallet == "spot" {
		for name, amount := range s.wallets["flexible"] {
			add("LD"+name, amount)
		}
	}
	return out
}

func (s *Server) answerPositions(w http.ResponseWriter, q url.Values, wallet, field string) {
	size, _ := strconv.Atoi(q.Get("size"))
	current, _ := strconv.Atoi(q.Get("current"))
	if size < 1 || size > 100 || current < 1 {
		refuse(w, http.StatusBadRequest, -1102, "A mandatory parameter was not sent, was empty/null, or malformed.")
		return
	}
	rows := []map[string]any{}
	for name, amount := range s.wallets[wallet] {
		if !amount.IsZero() && current == 1 {
			rows = append(rows, map[string]any{"asset": name, field: amount.String(), "canRedeem": true})
		}
	}
	write(w, map[string]any{"rows": rows, "total": len(rows)})
}

func (s *Server) answerPrices(w http.ResponseWriter) {
	out := []map[string]string{}
	for _, m := range s.markets {
		out = append(out, map[string]string{"symbol": m.base + m.quote, "price": "1.00000000"})
	}
	write(w, out)
}

func (s *Server) answerMarkets(w http.ResponseWriter, q url.Values) {
	var names []string
	if json.Unmarshal([]byte(q.Get("symbols")), &names) != nil || len(names) == 0 {
		refuse(w, http.StatusBadRequest, -1100, "Illegal characters found in parameter 'symbols'.")
		return
	}
	out := []map[string]any{}
	for _, name := range names {
		at := slices.IndexFunc(s.markets, func(m market) bool { return m.base+m.quote == name })
		if at < 0 {
			refuse(w, http.StatusBadRequest, -1121, "Invalid symbol.")
			return
		}
		m := s.markets[at]
		out = append(out, map[string]any{"symbol": name, "status": m.status, "baseAsset": m.base, "quoteAsset": m.quote})
	}
	write(w, map[string]any{"timezone": "UTC", "symbols": out})
}

// answerTrades answers with the trades of a market from one on, the oldest first.
func (s *Server) answerTrades(w http.ResponseWriter, q url.Values) {
	symbol := q.Get("symbol")
	from, err := strconv.ParseInt(q.Get("fromId"), 10, 64)
	limit, failed := strconv.Atoi(q.Get("limit"))
	known := slices.ContainsFunc(s.markets, func(m market) bool { return m.base+m.quote == symbol && !m.removed })
	switch {
	case err != nil || from < 0 || failed != nil || limit < 1 || limit > 1000 || len(q) != 3:
		refuse(w, http.StatusBadRequest, -1100, "Illegal characters found in a parameter.")
		return
	case !known:
		refuse(w, http.StatusBadRequest, -1121, "Invalid symbol.")
		return
	}
	s.asked = append(s.asked, symbol)
	out := []map[string]any{}
	for _, t := range s.trades[symbol] {
		if t["id"].(int64) >= from && len(out) < limit {
			out = append(out, t)
		}
	}
	write(w, out)
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, status, code int, text string) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	encode(w, map[string]any{"code": code, "msg": text})
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	encode(w, v)
}

func encode(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

// id returns a new id.
func (s *Server) id() int64 {
	s.last++
	return s.last
}

// millis is a time as Binance states it.
func millis(at time.Time) int64 { return at.UnixMilli() }
