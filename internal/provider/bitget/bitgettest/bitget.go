// Package bitgettest is a fake of Bitget's API for tests.
package bitgettest

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
	key        = "bg_5fa1e0bdb9a1bb3a2d6b6a5f4b9a4bd2"
	secret     = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809"
	passphrase = "correcthorse7"

	sizeMax = 500
	// tolerance is by how much the time of a request may differ.
	tolerance = 30 * time.Second
	day       = 24 * time.Hour
	// depth is how far back the records of a unified account reach.
	depth = 366 * day
)

// Server is a fake of Bitget with one account.
type Server struct {
	providertest.Server

	// Unified says that the account is a unified one, and not a classic one.
	Unified bool
	// Registered is when the account was opened.
	Registered time.Time
	// Missing is what the key may not be used for, by paths.
	Missing map[string]bool

	permissions []string
	writes      bool
	id          int64
	order       int64
	rows        []row
	balances    map[string]money.Decimal
}

// row is a record.
type row struct {
	id      int64
	at      int64
	section string
	text    json.RawMessage
}

// New returns a fake with an empty account, which was opened on a day.
func New(unified bool, registered time.Time) *Server {
	s := &Server{Unified: unified, Registered: registered, Missing: map[string]bool{}, balances: map[string]money.Decimal{}}
	s.id, s.order = 1_268_376_005_322_551_306, 1_268_376_005_262_102_633
	s.permissions = []string{"stor", "taxr"}
	if unified {
		s.permissions = []string{"uta_mgt", "uta_trade"}
	}
	return s
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.APIKey: key, provider.APISecret: secret, provider.Passphrase: passphrase}
}

// Grant gives the key a right.
func (s *Server) Grant(g provider.Grant) bool {
	s.writes = true
	if s.Unified {
		s.permissions = append(s.permissions, map[provider.Grant]string{provider.Withdraw: "withdraw"}[g])
	} else {
		s.permissions = append(s.permissions, map[provider.Grant]string{provider.Trade: "stow", provider.Withdraw: "wwow"}[g])
	}
	return true
}

// The types of records, of a classic and of a unified account.
var (
	inClassic = map[providertest.Kind]string{providertest.Deposit: "Deposit", providertest.Withdrawal: "Withdrawal",
		providertest.Reward: "batch_interest_user_in", providertest.Novelty: "Lotto rewards"}
	inUnified = map[providertest.Kind]string{providertest.Deposit: "TRANSFER_IN", providertest.Withdrawal: "TRANSFER_OUT",
		providertest.Reward: "AIRDROP_USER_IN", providertest.Novelty: "LOTTO_USER_IN"}
)

// Add adds movements to the records.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		amount, types := money.MustParse(m.Amount), inClassic
		if s.Unified {
			types = inUnified
		}
		if m.Kind == providertest.Withdrawal || m.Kind == providertest.Trade {
			amount = amount.Neg()
		}
		if m.Kind != providertest.Trade {
			s.AddRow("OTHER", m.At, types[m.Kind], m.Asset, amount.String(), m.Fee, "0")
			continue
		}
		s.order += 11
		order, out, in := strconv.FormatInt(s.order, 10), "Sell", "Buy"
		if s.Unified {
			out, in = "ORDER_DEALT_FROZEN_OUT", "ORDER_DEALT_IN"
		}
		s.AddRow("SPOT", m.At, in, m.For, m.Gets, "", order)
		s.AddRow("SPOT", m.At, out, m.Asset, amount.String(), m.Fee, order)
	}
}

// AddRow adds a record with the next id. The fee is above zero, or empty.
func (s *Server) AddRow(section string, at time.Time, kind, coin, amount, fee, order string) {
	s.id += 7
	cost := money.MustParse(cmp.Or(fee, "0"))
	s.balances[coin] = s.balances[coin].Add(money.MustParse(amount)).Sub(cost)
	fields := map[string]string{"id": strconv.FormatInt(s.id, 10), "coin": coin, "amount": amount, "fee": cost.Neg().String(),
		"balance": s.balances[coin].String(), "ts": strconv.FormatInt(at.UnixMilli(), 10)}
	if s.Unified {
		fields["type"] = kind
	} else {
		fields["spotTaxType"], fields["bizOrderId"], section = kind, order, ""
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	s.rows = append(s.rows, row{s.id, at.UnixMilli(), section, text})
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	unified := strings.HasPrefix(r.URL.Path, "/api/v3/")
	code, said := s.refuses(r, string(body))
	switch {
	case code != "":
		s.answer(w, code, said, nil)
	case s.Missing[r.URL.Path]:
		s.answer(w, "40014", "Incorrect permissions, need tax read permissions", nil)
	case unified && !s.Unified:
		s.answer(w, "40084", "You are in Classic Account mode, and the Unified Account API is not supported at this time", nil)
	case !unified && s.Unified:
		s.answer(w, "40085", "You are in Unified Account mode, and the Classic Account API is not supported at this time", nil)
	case r.URL.Path == "/api/v2/spot/account/info":
		s.answer(w, "", "", map[string]any{"userId": "8714012345", "inviterId": "0", "ips": "", "authorities": s.permissions, "parentId": 0,
			"traderType": "not_trader", "channelCode": "", "channel": "", "regisTime": strconv.FormatInt(s.Registered.UnixMilli(), 10)})
	case r.URL.Path == "/api/v3/account/info":
		access := map[bool]string{false: "read-only", true: "read-and-write"}[s.writes]
		s.answer(w, "", "", map[string]any{"uid": "8714012345", "inviterId": "", "parentId": "", "channelCode": "", "channel": "", "ips": "",
			"permType": access, "permissions": s.permissions, "regisTime": strconv.FormatInt(s.Registered.UnixMilli(), 10)})
	case r.URL.Path == "/api/v2/spot/account/assets":
		s.answer(w, "", "", s.assets(func(coin, amount string) map[string]string {
			return map[string]string{"coin": coin, "available": amount, "frozen": "0", "locked": "0", "limitAvailable": "0"}
		}))
	case r.URL.Path == "/api/v3/account/assets":
		s.answer(w, "", "", map[string]any{"accountEquity": "11.1", "assets": s.assets(func(coin, amount string) map[string]string {
			return map[string]string{"coin": coin, "equity": amount, "balance": amount, "available": amount, "debt": "0", "locked": "0"}
		})})
	case r.URL.Path == "/api/v2/tax/spot-record":
		s.answerRecords(w, r.URL.Query(), "", "idLessThan", 30*day)
	case r.URL.Path == "/api/v3/tax/records":
		of := r.URL.Query().Get("bizType")
		if r.URL.Query().Get("marginType") == "isolated" {
			of = "ISOLATED"
		}
		s.answerRecords(w, r.URL.Query(), of, "cursor", 7*day)
	default:
		s.answer(w, "40404", "Request URL NOT FOUND", nil)
	}
}

// refuses returns the error for a request that is not signed as Bitget demands.
func (s *Server) refuses(r *http.Request, body string) (code, said string) {
	h := r.Header
	stamp, err := strconv.ParseInt(h.Get("ACCESS-TIMESTAMP"), 10, 64)
	text := h.Get("ACCESS-TIMESTAMP") + strings.ToUpper(r.Method) + r.URL.Path
	if r.URL.RawQuery != "" {
		text += "?" + r.URL.RawQuery
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	mac.Write([]byte(body))
	got, failed := base64.StdEncoding.DecodeString(h.Get("ACCESS-SIGN"))
	switch {
	case s.Revoked():
		return "40037", "Apikey does not exist"
	case h.Get("ACCESS-KEY") != key:
		return "40006", "Invalid ACCESS_KEY"
	case err != nil:
		return "40005", "Invalid ACCESS_TIMESTAMP"
	case s.Now().Sub(time.UnixMilli(stamp)).Abs() > tolerance:
		return "40008", "Request timestamp expired"
	case failed != nil || !hmac.Equal(got, mac.Sum(nil)):
		return "40009", "sign signature error"
	case h.Get("ACCESS-PASSPHRASE") != passphrase:
		return "40012", "apikey/password is incorrect"
	}
	return "", ""
}

// assets returns what the account holds, each with what a function returns.
func (s *Server) assets(of func(coin, amount string) map[string]string) []map[string]string {
	out := []map[string]string{}
	for coin, amount := range s.balances {
		if !amount.IsZero() {
			out = append(out, of(coin, amount.String()))
		}
	}
	return out
}

// answerRecords answers with the newest records of a section between two times, without these.
func (s *Server) answerRecords(w http.ResponseWriter, query url.Values, section, before string, window time.Duration) {
	from, err := strconv.ParseInt(query.Get("startTime"), 10, 64)
	until, other := strconv.ParseInt(query.Get("endTime"), 10, 64)
	size, third := strconv.Atoi(cmp.Or(query.Get("limit"), strconv.Itoa(sizeMax)))
	last, fourth := strconv.ParseInt(cmp.Or(query.Get(before), "9223372036854775807"), 10, 64)
	if err = cmp.Or(err, other, third, fourth); err != nil || size < 1 || size > sizeMax || until < from || s.Unified && section == "" {
		s.answer(w, "40017", "Parameter verification failed", nil)
		return
	}
	if s.Unified && from < s.Now().Add(-depth).UnixMilli() {
		s.answer(w, "40017", "The data query range is 366 days", nil)
		return
	}
	if until-from > window.Milliseconds() {
		s.answer(w, "40017", fmt.Sprintf("The time range must not exceed %d days", window/day), nil)
		return
	}
	found := []row{}
	for _, r := range s.rows {
		if r.section == section && r.at > from && r.at < until && r.id < last {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b row) int { return cmp.Compare(b.id, a.id) })
	page := []json.RawMessage{}
	for _, r := range found[:min(size, len(found))] {
		page = append(page, r.text)
	}
	s.answer(w, "", "", page)
}

// answer writes an answer as Bitget does: with the status 400 for an error.
func (s *Server) answer(w http.ResponseWriter, code, said string, data any) {
	w.Header().Set("Content-Type", "application/json")
	if code != "" {
		w.WriteHeader(http.StatusBadRequest)
	}
	out := map[string]any{"code": cmp.Or(code, "00000"), "msg": cmp.Or(said, "success"), "requestTime": s.Now().UnixMilli(), "data": data}
	if err := json.NewEncoder(w).Encode(out); err != nil {
		panic(err)
	}
}
