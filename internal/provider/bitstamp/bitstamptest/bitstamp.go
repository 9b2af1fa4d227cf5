// Package bitstamptest is a fake of Bitstamp's API for tests.
package bitstamptest

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	key    = "0zmPJpPRYQzTkXJ7yTzd9uJbVwYvQ3Bq"
	secret = "Wv3hC8Qm1NfX6sKdZtR0yLbGpJ4uE9aT"

	sizeDefault = 100
	sizeMax     = 1000
	offsetMax   = 200_000
	// tolerance is by how much the time of a request may differ, and for how long its nonce is remembered.
	tolerance = 150 * time.Second
)

// Server is a fake of Bitstamp with one account.
type Server struct {
	providertest.Server

	// Exclusive says that the transactions that are returned begin after the id that was asked for, and not with it.
	Exclusive bool
	// Hidden are transactions that are not shown yet, by their ids.
	Hidden map[int64]bool
	// Missing is what the key may not be used for, by the names of methods.
	Missing map[string]bool

	rows     []row
	id       int64
	nonces   map[string]time.Time
	balances map[string]money.Decimal
}

// row is a transaction.
type row struct {
	id   int64
	at   time.Time
	text json.RawMessage
}

// New returns a fake with an empty account.
func New() *Server {
	return &Server{id: 209_895_701, nonces: map[string]time.Time{}, balances: map[string]money.Decimal{}, Missing: map[string]bool{},
		Hidden: map[int64]bool{}}
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.APIKey: key, provider.APISecret: secret}
}

// Grant reports that Bitstamp does not tell what a key permits.
func (s *Server) Grant(provider.Grant) bool { return false }

// Busy answers that there were too many requests.
var Busy = providertest.Status(http.StatusBadRequest, "Content-Type", "application/json",
	`{"response_code":"400.002","response_explanation":"Request rejected due to exceeded rate limit."}`)

// notFound is the answer to a request for something that Bitstamp does not have.
var notFound = map[string]string{"response_code": "404.001", "response_explanation": "Unknown not found error."}

// types are the numbers of types of transactions.
var types = map[providertest.Kind]string{providertest.Deposit: "0", providertest.Withdrawal: "1", providertest.Trade: "2",
	providertest.Reward: "27", providertest.Novelty: "71"}

// Add adds movements to the transactions.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		asset, amount := strings.ToLower(m.Asset), money.MustParse(m.Amount)
		if m.Kind == providertest.Withdrawal || m.Kind == providertest.Trade {
			amount = amount.Neg()
		}
		fields := map[string]any{asset: amount.String(), "fee": cmp.Or(m.Fee, "0.00000000")}
		s.change(asset, amount.Sub(money.MustParse(cmp.Or(m.Fee, "0"))))
		if m.Kind == providertest.Trade {
			gets := strings.ToLower(m.For)
			fields[gets], fields["order_id"] = m.Gets, 1_429_545_880_227_846+s.id
			if m.Fee == "" {
				fields[asset+"_"+gets] = json.Number("63400.5")
			} else { // the fee is in the second currency
				fields[gets+"_"+asset] = json.Number("81082.30")
			}
			s.change(gets, money.MustParse(m.Gets))
		}
		s.AddRow(m.At, types[m.Kind], fields)
	}
}

func (s *Server) change(asset string, by money.Decimal) {
	s.balances[asset] = s.balances[asset].Add(by)
}

// AddRow adds a transaction with the next id and returns the id.
func (s *Server) AddRow(at time.Time, kind string, fields map[string]any) int64 {
	s.id += 3
	for _, zero := range []string{"usd", "eur", "btc"} {
		if _, set := fields[zero]; !set {
			fields[zero] = 0
		}
	}
	fields["id"], fields["type"], fields["datetime"] = s.id, kind, at.UTC().Format("2006-01-02 15:04:05.000000")
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	s.rows = append(s.rows, row{s.id, at.Truncate(time.Microsecond), text})
	return s.id
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	method, private := strings.CutPrefix(r.URL.Path, "/api/v2/")
	form, err := url.ParseQuery(string(body))
	code, reason := s.refuses(r, string(body))
	switch {
	case !private || r.Method != http.MethodPost || err != nil:
		answer(w, http.StatusNotFound, notFound)
	case code != "":
		answer(w, http.StatusForbidden, map[string]any{"status": "error", "reason": reason, "code": code})
	case s.Missing[method]:
		answer(w, http.StatusForbidden, map[string]any{"status": "error", "reason": "No permission found", "code": "API0003"})
	case method == "account_balances/":
		held := []map[string]string{}
		for asset, amount := range s.balances {
			held = append(held, map[string]string{"currency": asset, "total": amount.String(), "available": amount.String(), "reserved": "0.00"})
		}
		answer(w, http.StatusOK, held)
	case method == "user_transactions/":
		s.answerTransactions(w, form)
	default:
		answer(w, http.StatusNotFound, notFound)
	}
}

// uuid is the form of a nonce.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// refuses returns the error for a request that is not signed as Bitstamp demands.
func (s *Server) refuses(r *http.Request, body string) (code, reason string) {
	h := r.Header
	scheme, sent, _ := strings.Cut(h.Get("X-Auth"), " ")
	stamp, err := strconv.ParseInt(h.Get("X-Auth-Timestamp"), 10, 64)
	once := h.Get("X-Auth-Nonce")
	signed := h.Get("X-Auth") + r.Method + r.Host + r.URL.Path
	if r.URL.RawQuery != "" {
		signed += "?" + r.URL.RawQuery
	}
	signed += h.Get("Content-Type") + once + h.Get("X-Auth-Timestamp") + h.Get("X-Auth-Version") + body
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	got, hexed := hex.DecodeString(h.Get("X-Auth-Signature"))
	used, repeated := s.nonces[once]
	switch {
	case h.Get("X-Auth-Version") != "v2":
		return "API0010", "Invalid version"
	case s.Revoked() || scheme != "BITSTAMP" || sent != key:
		return "API0001", "API key not found"
	case body == "" && h.Get("Content-Type") != "":
		return "API0020", "Content-Type header should not be present"
	case body != "" && h.Get("Content-Type") != "application/x-www-form-urlencoded":
		return "API0019", "Content-Type header is not accepted"
	case err != nil:
		return "API0018", "X-Auth-Timestamp header is invalid"
	case s.Now().Sub(time.UnixMilli(stamp)).Abs() > tolerance:
		return "API0017", "X-Auth-Timestamp header is out of boundaries"
	case !uuid.MatchString(once) || repeated && s.Now().Sub(used).Abs() < tolerance:
		return "API0004", "Invalid nonce"
	case hexed != nil || !hmac.Equal(got, mac.Sum(nil)):
		return "API0005", "Invalid signature"
	}
	s.nonces[once] = s.Now()
	return "", ""
}

// answerTransactions answers with transactions in the order of their times.
func (s *Server) answerTransactions(w http.ResponseWriter, form url.Values) {
	size, problem := number(form, "limit", sizeDefault, 1, sizeMax)
	offset, other := number(form, "offset", 0, 0, offsetMax)
	since, third := number(form, "since_id", 0, 0, 1<<60)
	if problem = cmp.Or(problem, other, third); problem == "" && !slices.Contains([]string{"", "asc", "desc"}, form.Get("sort")) {
		problem = "Invalid sort parameter"
	}
	if problem != "" {
		answer(w, http.StatusBadRequest, map[string]any{"status": "error", "reason": problem})
		return
	}
	if form.Has("since_id") {
		size = sizeMax
	}
	found := slices.DeleteFunc(slices.Clone(s.rows), func(r row) bool {
		return r.id < since || s.Exclusive && r.id == since || s.Hidden[r.id]
	})
	slices.SortStableFunc(found, func(a, b row) int {
		if form.Get("sort") != "asc" {
			a, b = b, a
		}
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	page := []json.RawMessage{}
	for _, r := range found[min(offset, int64(len(found))):min(offset+size, int64(len(found)))] {
		page = append(page, r.text)
	}
	answer(w, http.StatusOK, page)
}

// number returns a parameter, or what is wrong with it.
func number(form url.Values, name string, otherwise, least, most int64) (int64, string) {
	if !form.Has(name) {
		return otherwise, ""
	}
	n, err := strconv.ParseInt(form.Get(name), 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Sprintf("Invalid %s", name)
	}
	return n, ""
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(err)
	}
}
