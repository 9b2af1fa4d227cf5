// Package okxtest is a fake of OKX's API for tests.
package okxtest

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
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	key        = "37c541a1-1122-3344-5566-10fe7a038418"
	secret     = "22582BD0CFF14C41EDBF1AB98506286D" // that of the example in OKX's documentation
	passphrase = "Correct+Horse 9"

	pageSize = 100
	// tolerance is by how much the time of a request may differ.
	tolerance = 30 * time.Second
)

// The codes of accounts in transfers between them.
const (
	fundingCode = "6"
	tradingCode = "18"
)

// Server is a fake of OKX with one account.
type Server struct {
	providertest.Server

	// Exclusive says that the ends of a range of time do not belong to it. OKX does not document whether they do.
	Exclusive bool
	// Delay is how long after its time a bill of the funding account is shown.
	Delay time.Duration

	permissions string
	funding     account
	trading     account
	trades      int
}

// account is one of the two accounts, with its bills.
type account struct {
	bills    []entry
	balances map[string]money.Decimal
}

// entry is a bill with its time, in milliseconds, and its id.
type entry struct {
	Bill
	at, id int64
}

// Bill is an entry of a ledger. Bills of the funding account lack most of the fields.
type Bill map[string]string

// New returns a fake with an empty account.
func New() *Server {
	return &Server{permissions: "read_only", funding: account{balances: map[string]money.Decimal{}},
		trading: account{balances: map[string]money.Decimal{}}}
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.APIKey: key, provider.APISecret: secret, provider.Passphrase: passphrase}
}

// Grant gives the key a right.
func (s *Server) Grant(g provider.Grant) bool {
	s.permissions += "," + map[provider.Grant]string{provider.Trade: "trade", provider.Withdraw: "withdraw"}[g]
	return true
}

// Busy answers that there were too many requests.
var Busy = providertest.Status(http.StatusOK, "", "", `{"code":"50011","data":[],"msg":"Rate limit reached."}`)

// Add adds movements to the account. What a trade needs is transferred to the trading account before.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		amount, fee := money.MustParse(m.Amount), money.MustParse(cmp.Or(m.Fee, "0"))
		switch m.Kind {
		case providertest.Deposit:
			s.Fund(m.At, "1", m.Asset, amount.Sub(fee))
		case providertest.Withdrawal:
			s.Fund(m.At, "2", m.Asset, amount.Add(fee).Neg())
		case providertest.Reward:
			s.Fund(m.At, "83", m.Asset, amount.Sub(fee))
		case providertest.Trade:
			s.trades++
			s.Fund(m.At, "131", m.Asset, amount.Add(fee).Neg())
			s.Trade(m.At, m.Asset, amount.Add(fee), Bill{"type": "1", "subType": "11", "from": fundingCode, "to": tradingCode,
				"sz": amount.Add(fee).String()})
			same := Bill{"type": "2", "subType": "1", "instType": "SPOT", "instId": m.For + "-" + m.Asset, "mgnMode": "cash", "execType": "T",
				"ordId": strconv.Itoa(623950854525124608 + s.trades), "tradeId": strconv.Itoa(s.trades), "px": "1"}
			s.Trade(m.At, m.Asset, amount.Neg().Sub(fee), same, Bill{"fee": fee.Neg().String(), "sz": amount.String()})
			s.Trade(m.At, m.For, money.MustParse(m.Gets), same, Bill{"sz": m.Gets})
		default:
			s.Fund(m.At, "9999", m.Asset, amount.Sub(fee))
		}
	}
}

// Fund adds a bill to the funding account.
func (s *Server) Fund(at time.Time, kind, asset string, change money.Decimal) {
	s.funding.add(at, Bill{"ccy": asset, "type": kind, "clientId": "", "notes": ""}, change)
}

// Trade adds a bill to the trading account, with some of its fields.
func (s *Server) Trade(at time.Time, asset string, change money.Decimal, fields ...Bill) {
	b := Bill{"ccy": asset}
	for _, name := range strings.Fields("clOrdId earnAmt earnApr execType fillFwdPx fillIdxPx fillMarkPx fillMarkVol fillPxUsd fillPxVol " +
		"fillTime from instId instType mgnMode notes ordId px subType sz tag to tradeId type") {
		b[name] = ""
	}
	for _, name := range strings.Fields("fee interest pnl posBal posBalChg") {
		b[name] = "0"
	}
	for _, some := range fields {
		for name, text := range some {
			b[name] = text
		}
	}
	s.trading.add(at, b, change)
}

// add adds a bill, whose id contains its time, as those of OKX do.
func (a *account) add(at time.Time, b Bill, change money.Decimal) {
	asset := b["ccy"]
	a.balances[asset] = a.balances[asset].Add(change)
	id := (at.UnixMilli()-1_500_000_000_000)<<20 + int64(len(a.bills))
	b["billId"], b["ts"] = strconv.FormatInt(id, 10), strconv.FormatInt(at.UnixMilli(), 10)
	b["balChg"], b["bal"] = change.String(), a.balances[asset].String()
	a.bills = append(a.bills, entry{b, at.UnixMilli(), id})
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
		fail(w, http.StatusMethodNotAllowed, "50115", "Invalid request method.")
	case path == "/api/v5/account/config":
		succeed(w, []any{map[string]any{"acctLv": "2", "acctStpMode": "cancel_maker", "autoLoan": false, "ip": "", "kycLv": "3", "label": "books",
			"level": "Lv1", "mainUid": "44705892343619584", "uid": "44705892343619584", "perm": s.permissions, "roleType": "0", "type": "0"}})
	case path == "/api/v5/asset/balances":
		all := []any{}
		for asset, amount := range s.funding.balances {
			all = append(all, map[string]string{"availBal": amount.String(), "bal": amount.String(), "ccy": asset, "frozenBal": "0"})
		}
		succeed(w, all)
	case path == "/api/v5/account/balance":
		details := []any{}
		for asset, amount := range s.trading.balances {
			if !amount.IsZero() { // as OKX does
				details = append(details, map[string]string{"availBal": amount.String(), "cashBal": amount.String(), "ccy": asset,
					"eq": amount.String(), "frozenBal": "0", "liab": "", "isoEq": "0", "stgyEq": "0"})
			}
		}
		succeed(w, []any{map[string]any{"totalEq": "1", "isoEq": "0", "adjEq": "", "uTime": "1705474164160", "details": details}})
	case path == "/api/v5/account/bills-archive":
		s.answerTrading(w, query)
	case path == "/api/v5/asset/bills-history":
		s.answerFunding(w, query)
	default:
		w.WriteHeader(http.StatusNotFound)
		write(w, map[string]any{"code": "404", "msg": "Not Found", "data": map[string]any{}})
	}
}

// refuses returns the error for a request that is not signed as OKX demands.
func (s *Server) refuses(r *http.Request, body []byte) (status int, code, message string) {
	at, err := time.Parse(time.RFC3339Nano, r.Header.Get("OK-ACCESS-TIMESTAMP"))
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprint(mac, r.Header.Get("OK-ACCESS-TIMESTAMP"), r.Method, r.RequestURI, string(body))
	switch {
	case r.Header.Get("OK-ACCESS-KEY") == "":
		return http.StatusUnauthorized, "50103", `Request header "OK-ACCESS-KEY" cannot be empty.`
	case err != nil || !strings.HasSuffix(r.Header.Get("OK-ACCESS-TIMESTAMP"), "Z") || len(r.Header.Get("OK-ACCESS-TIMESTAMP")) != 24:
		return http.StatusUnauthorized, "50112", "Invalid OK-ACCESS-TIMESTAMP."
	case at.Sub(s.Now()).Abs() > tolerance:
		return http.StatusUnauthorized, "50102", "Timestamp request expired."
	case s.Revoked():
		return http.StatusUnauthorized, "50119", "API key doesn't exist"
	case r.Header.Get("OK-ACCESS-KEY") != key:
		return http.StatusUnauthorized, "50111", "Invalid OK-ACCESS-KEY."
	case r.Header.Get("OK-ACCESS-PASSPHRASE") != passphrase:
		return http.StatusUnauthorized, "50105", `Request header "OK-ACCESS-PASSPHRASE" incorrect.`
	case r.Header.Get("OK-ACCESS-SIGN") != base64.StdEncoding.EncodeToString(mac.Sum(nil)):
		return http.StatusUnauthorized, "50113", "Invalid signature."
	}
	return 0, "", ""
}

// answerTrading answers with bills of the last three months that precede a bill, within a range of time.
func (s *Server) answerTrading(w http.ResponseWriter, query url.Values) {
	begin, end, after := number(query.Get("begin")), number(query.Get("end")), number(query.Get("after"))
	earliest := s.Now().AddDate(0, -3, 0).UnixMilli()
	s.answerBills(w, query, s.trading.bills, func(b entry) bool {
		if s.Exclusive && (b.at == begin || b.at == end) {
			return false
		}
		return b.at >= max(begin, earliest) && (end == 0 || b.at <= end) && (after == 0 || b.id < after)
	})
}

// answerFunding answers with bills since February 2021 that precede a time or a bill.
func (s *Server) answerFunding(w http.ResponseWriter, query url.Values) {
	kind, after := cmp.Or(query.Get("pagingType"), "1"), number(query.Get("after"))
	if kind != "1" && kind != "2" || query.Has("begin") || query.Has("end") {
		fail(w, http.StatusOK, "51000", "Parameter pagingType error")
		return
	}
	earliest, latest := time.Date(2021, 2, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), s.Now().Add(-s.Delay).UnixMilli()
	s.answerBills(w, query, s.funding.bills, func(b entry) bool {
		position := b.at
		if kind == "2" {
			position = b.id
		}
		return b.at >= earliest && b.at <= latest && (after == 0 || position < after)
	})
}

// answerBills answers with the newest of some bills.
func (s *Server) answerBills(w http.ResponseWriter, query url.Values, all []entry, shown func(entry) bool) {
	limit := pageSize
	if query.Has("limit") {
		limit = int(number(query.Get("limit")))
	}
	if limit < 1 || limit > pageSize || query.Has("before") {
		fail(w, http.StatusBadRequest, "51000", "Parameter limit error")
		return
	}
	found := slices.DeleteFunc(slices.Clone(all), func(b entry) bool { return !shown(b) })
	slices.SortFunc(found, func(a, b entry) int { return cmp.Compare(b.id, a.id) })
	page := []Bill{}
	for _, b := range found[:min(limit, len(found))] {
		page = append(page, b.Bill)
	}
	succeed(w, page)
}

// number returns a number of a request, zero if there is none.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func succeed(w http.ResponseWriter, data any) {
	w.Header().Set("Content-Type", "application/json")
	write(w, map[string]any{"code": "0", "data": data, "msg": ""})
}

// fail answers with an error, which has no data.
func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	write(w, map[string]string{"msg": message, "code": code})
}

func write(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}
