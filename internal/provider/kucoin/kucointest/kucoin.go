// Package kucointest is a fake of KuCoin's API for tests.
package kucointest

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	key        = "6705f5c311545b000157d3eb"
	secret     = "2b5e8f7a-7b0e-4c5a-9a53-1d2c3b4a5f60"
	passphrase = "Correct+Horse 9"

	// tolerance is by how much the time of a request may differ.
	tolerance = 5 * time.Second
	day       = 24 * time.Hour
	// pages is how many pages of a range can be read.
	pages = 50
)

// The types of accounts.
const (
	Main          = "MAIN"
	Trade         = "TRADE"
	HighFrequency = "TRADE_HF"
	Margin        = "MARGIN_V2"
	Isolated      = "ISOLATED_V2"
)

// Server is a fake of KuCoin with one account.
type Server struct {
	providertest.Server

	// Inclusive says that an entry at the end of a range of time belongs to it. Others say that it does not.
	Inclusive bool

	permissions string
	entries     []entry
	balances    map[held]money.Decimal
	trades      int
}

// held says what a balance is about.
type held struct{ account, asset string }

// entry is an entry of a ledger.
type entry struct {
	id, at  int64
	account string
	fields  map[string]any
}

// New returns a fake with an empty account.
func New() *Server { return &Server{permissions: "General", balances: map[held]money.Decimal{}} }

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.APIKey: key, provider.APISecret: secret, provider.Passphrase: passphrase}
}

// Grant gives the key a right.
func (s *Server) Grant(g provider.Grant) bool {
	s.permissions += "," + map[provider.Grant]string{provider.Trade: "Spot", provider.Withdraw: "Transfer"}[g]
	return true
}

// Busy answers that there were too many requests.
var Busy = providertest.Status(http.StatusForbidden, "", "", `{"code":"200002","msg":"Too many requests in a short period of time"}`)

// Add adds movements to the account. Trades of the last days are those of high-frequency trading, and what they need is transferred before.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		amount, fee := money.MustParse(m.Amount), money.MustParse(cmp.Or(m.Fee, "0"))
		switch m.Kind {
		case providertest.Deposit:
			s.Move(m.At, Main, "Deposit", m.Asset, amount.Sub(fee), fee, "")
		case providertest.Withdrawal:
			s.Move(m.At, Main, "Withdrawal", m.Asset, amount.Add(fee).Neg(), fee, "")
		case providertest.Reward:
			s.Move(m.At, Main, "Staking Profits", m.Asset, amount.Sub(fee), fee, "")
		case providertest.Trade:
			s.trades++
			about := fmt.Sprintf(`{"symbol":"%s-%s","orderId":"6705f6350dc7210007%06x","tradeId":"%d"}`, m.For, m.Asset, s.trades, s.trades)
			account := Trade
			if m.At.After(s.Now().Add(-6 * day)) {
				account = HighFrequency
			}
			s.Move(m.At, Main, "Transfer", m.Asset, amount.Add(fee).Neg(), money.Decimal{}, "{}")
			s.Move(m.At, account, "TRANSFER", m.Asset, amount.Add(fee), money.Decimal{}, "{}")
			s.Move(m.At, account, "TRADE_EXCHANGE", m.Asset, amount.Add(fee).Neg(), fee, about)
			s.Move(m.At, account, "TRADE_EXCHANGE", m.For, money.MustParse(m.Gets), money.Decimal{}, about)
		default:
			s.Move(m.At, Main, "Lucky Draw", m.Asset, amount.Sub(fee), fee, "")
		}
	}
}

// Move adds an entry to the ledger of an account. The change of the balance is after the fee.
func (s *Server) Move(at time.Time, account, business, asset string, change, fee money.Decimal, about string) {
	of := held{account, asset}
	s.balances[of] = s.balances[of].Add(change)
	e := entry{id: (at.UnixMilli()-1_500_000_000_000)<<20 + int64(len(s.entries)), at: at.UnixMilli(), account: account}
	direction := map[bool]string{true: "in", false: "out"}[change.Sign() > 0]
	e.fields = map[string]any{"id": fmt.Sprintf("%024x", e.id), "currency": asset, "amount": change.Abs().String(), "fee": fee.String(),
		"balance": "0", "accountType": account, "bizType": business, "direction": direction, "createdAt": e.at, "context": about}
	switch account {
	case HighFrequency:
		e.fields["id"], e.fields["createdAt"], e.fields["tax"] = strconv.FormatInt(e.id, 10), strconv.FormatInt(e.at, 10), "0"
	case Margin, Isolated:
		e.fields["id"], e.fields["tax"] = e.id, "0"
	}
	s.entries = append(s.entries, e)
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	if status, code, message := s.refuses(r, body); code != "" {
		fail(w, status, code, message)
		return
	}
	query := r.URL.Query()
	switch path := r.URL.Path; {
	case r.Method != http.MethodGet:
		fail(w, http.StatusMethodNotAllowed, "405000", "Method Not Allowed")
	case path == "/api/v1/user/api-key":
		succeed(w, map[string]any{"remark": "books", "apiKey": key, "apiVersion": 3, "permission": s.permissions, "createdAt": 1728443843000,
			"uid": 165111215, "isMaster": true})
	case path == "/api/v1/accounts":
		all := []any{}
		for of, amount := range s.balances {
			name := map[string]string{Main: "main", Trade: "trade", HighFrequency: "trade_hf"}[of.account]
			if name != "" {
				all = append(all, map[string]string{"id": "548674591753", "currency": of.asset, "type": name, "balance": amount.String(),
					"available": amount.String(), "holds": "0"})
			}
		}
		abandoned := map[string]string{"id": "1", "currency": "USDT", "type": "margin", "balance": "999", "available": "0", "holds": "0"}
		succeed(w, append(all, abandoned))
	case path == "/api/v3/margin/accounts" && query.Get("queryType") == "ALL":
		succeed(w, map[string]any{"totalAssetOfQuoteCurrency": "1", "debtRatio": "0", "status": "EFFECTIVE", "accounts": s.holdings(Margin)})
	case path == "/api/v3/isolated/accounts" && query.Get("queryType") == "ALL":
		assets := []any{}
		for i, h := range s.holdings(Isolated) {
			nothing := map[string]string{"currency": "USDC", "total": "0"}
			pair := map[string]any{"symbol": "BTC-USDT", "status": "EFFECTIVE", "baseAsset": h, "quoteAsset": nothing}
			if i > 0 {
				pair["baseAsset"], pair["quoteAsset"] = nothing, h
			}
			assets = append(assets, pair)
		}
		succeed(w, map[string]any{"totalAssetOfQuoteCurrency": "1", "timestamp": 1747303659773, "assets": assets})
	case path == "/api/v1/accounts/ledgers":
		s.answerAccount(w, query)
	case path == "/api/v1/hf/accounts/ledgers":
		s.answerTrading(w, query, HighFrequency)
	case path == "/api/v3/hf/margin/account/ledgers":
		s.answerTrading(w, query, Margin, Isolated)
	default:
		fail(w, http.StatusNotFound, "404000", "Url Not Found")
	}
}

// holdings returns what a margin account holds.
func (s *Server) holdings(account string) []any {
	all := []any{}
	for of, amount := range s.balances {
		if of.account == account {
			all = append(all, map[string]any{"currency": of.asset, "total": amount.String(), "available": amount.String(), "hold": "0",
				"liability": "0", "borrowEnabled": true})
		}
	}
	return all
}

// refuses returns the error for a request that is not signed as KuCoin demands.
func (s *Server) refuses(r *http.Request, body []byte) (status int, code, message string) {
	h := r.Header
	at, err := strconv.ParseInt(h.Get("KC-API-TIMESTAMP"), 10, 64)
	digest := func(parts ...any) string {
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = fmt.Fprint(mac, parts...)
		return base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	switch {
	case h.Get("KC-API-KEY") == "" || h.Get("KC-API-SIGN") == "" || h.Get("KC-API-PASSPHRASE") == "" || h.Get("KC-API-KEY-VERSION") != "3":
		return http.StatusBadRequest, "400001", "Please check the header of your request"
	case err != nil || time.UnixMilli(at).Sub(s.Now()).Abs() > tolerance:
		return http.StatusBadRequest, "400002", "Invalid KC-API-TIMESTAMP"
	case s.Revoked() || h.Get("KC-API-KEY") != key:
		return http.StatusUnauthorized, "400003", "KC-API-KEY not exists"
	case h.Get("KC-API-SIGN") != digest(h.Get("KC-API-TIMESTAMP")+r.Method+r.RequestURI+string(body)):
		return http.StatusUnauthorized, "400005", "Invalid KC-API-SIGN"
	case h.Get("KC-API-PASSPHRASE") != digest(passphrase):
		return http.StatusUnauthorized, "400004", "Invalid KC-API-PASSPHRASE"
	}
	return 0, "", ""
}

// answerAccount answers with a page of a range of at most 24 hours, within the last year.
func (s *Server) answerAccount(w http.ResponseWriter, query url.Values) {
	start, end := number(query.Get("startAt"), 0), number(query.Get("endAt"), 0)
	page, size := number(query.Get("currentPage"), 1), number(query.Get("pageSize"), 50)
	switch {
	case start == 0 && end == 0:
		start, end = s.Now().Add(-day).UnixMilli(), s.Now().UnixMilli()
	case start == 0:
		start = end - day.Milliseconds()
	case end == 0:
		end = start + day.Milliseconds()
	}
	if end-start > day.Milliseconds() || size < 10 || size > 500 || page < 1 || page > pages {
		fail(w, http.StatusBadRequest, "400100", "The start and end time range cannot exceed 24 hours")
		return
	}
	year := s.Now().AddDate(-1, 0, 0).UnixMilli()
	found := s.find(func(e entry) bool {
		return (e.account == Main || e.account == Trade) && e.at >= max(start, year) && (e.at < end || s.Inclusive && e.at == end)
	})
	total := int64(len(found))
	succeed(w, map[string]any{"currentPage": page, "pageSize": size, "totalNum": total, "totalPage": (total + size - 1) / size,
		"items": fields(found[min((page-1)*size, total):min(page*size, total)])})
}

// answerTrading answers with entries of the last seven days that precede an entry. A range of time that begins before, that is longer than
// 24 hours or that is not stated is replaced.
func (s *Server) answerTrading(w http.ResponseWriter, query url.Values, accounts ...string) {
	week := s.Now().Add(-7 * day).UnixMilli()
	start, end := number(query.Get("startAt"), 0), number(query.Get("endAt"), 0)
	if start < week || end-start > day.Milliseconds() {
		start, end = s.Now().Add(-day).UnixMilli(), s.Now().UnixMilli()
	}
	last, limit := number(query.Get("lastId"), 0), number(query.Get("limit"), 100)
	switch {
	case limit < 1 || limit > 200:
		fail(w, http.StatusBadRequest, "400100", "limit must be between 1 and 200")
		return
	case start >= end:
		fail(w, http.StatusBadRequest, "400100", "startAt must be before endAt")
		return
	}
	found := s.find(func(e entry) bool {
		return slices.Contains(accounts, e.account) && e.at >= start && (e.at < end || s.Inclusive && e.at == end) && (last == 0 || e.id < last)
	})
	succeed(w, fields(found[:min(limit, int64(len(found)))]))
}

// find returns entries, the newest first.
func (s *Server) find(shown func(entry) bool) (found []entry) {
	for _, e := range s.entries {
		if shown(e) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.id, a.id)) })
	return found
}

// fields returns entries as KuCoin writes them.
func fields(some []entry) []map[string]any {
	out := make([]map[string]any, len(some))
	for i, e := range some {
		out[i] = e.fields
	}
	return out
}

// number returns a number of a request.
func number(text string, otherwise int64) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

func succeed(w http.ResponseWriter, data any) {
	w.Header().Set("Content-Type", "application/json")
	write(w, map[string]any{"code": "200000", "data": data})
}

// fail answers with an error, which has no data.
func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	write(w, map[string]string{"code": code, "msg": message})
}

func write(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}
