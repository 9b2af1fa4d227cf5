// Package krakentest is a fake of Kraken's API for tests.
package krakentest

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
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
	key = "4/SDrDBcOOPnm3nPlNfEMMJDeRcIVqPz+QhRxIodyZbI9po/aVRiHsgX"
	// secret is that of the example in Kraken's documentation.
	secret   = "kQH5HW/8p1uGOVjbgWA7FunAmGO8lsSUXNsu3eow76sz84Q18fWxnyRzBHCd3pd5nE9qa99HAZtuZuj6F1huXg=="
	pageSize = 50
)

// Server is a fake of Kraken with one account.
type Server struct {
	providertest.Server

	Permissions []string // of the keys
	IBAN        string   // by which Kraken tells the account; empty if it does not
	Keys        []string // all of them have the same secret

	nonce    int64
	entries  []entry
	balances map[string]money.Decimal
}

// entry is an entry of the ledger.
type entry struct {
	ID      string      `json:"-"`
	RefID   string      `json:"refid"`
	Time    json.Number `json:"time"`
	Type    string      `json:"type"`
	Subtype string      `json:"subtype"`
	Class   string      `json:"aclass"`
	Asset   string      `json:"asset"`
	Amount  string      `json:"amount"`
	Fee     string      `json:"fee"`
	Balance string      `json:"balance"`

	at time.Time
}

// New returns a fake with an empty account.
func New() *Server {
	return &Server{Permissions: []string{"query-funds", "query-ledger"}, IBAN: "AA88 N84G WOAK NMOI", Keys: []string{key},
		balances: map[string]money.Decimal{}}
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.APIKey: key, provider.APISecret: secret}
}

// Grant gives the key a right.
func (s *Server) Grant(g provider.Grant) bool {
	s.Permissions = append(s.Permissions, map[provider.Grant]string{provider.Trade: "modify-trades", provider.Withdraw: "withdraw-funds"}[g])
	return true
}

// Busy answers that there were too many requests.
var Busy = providertest.Status(http.StatusOK, "", "", `{"error":["EAPI:Rate limit exceeded"]}`)

// names are Kraken's own names of assets.
var names = map[string]string{"BTC": "XXBT", "ETH": "XETH", "EUR": "ZEUR", "USD": "ZUSD"}

// Add adds movements to the ledger.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		ref := fmt.Sprintf("R%05d", len(s.entries))
		amount := money.MustParse(m.Amount)
		switch m.Kind {
		case providertest.Deposit, providertest.Withdrawal:
			if m.Kind == providertest.Withdrawal {
				amount = amount.Neg()
			}
			s.add(m.At, ref, string(m.Kind), "", m.Asset, amount, m.Fee)
		case providertest.Trade:
			s.add(m.At, ref, "trade", "tradespot", m.Asset, amount.Neg(), m.Fee)
			s.add(m.At, ref, "trade", "tradespot", m.For, money.MustParse(m.Gets), "")
		case providertest.Reward:
			s.add(m.At, ref, "earn", "reward", m.Asset, amount, m.Fee)
		default:
			s.add(m.At, ref, "adjustment", string(m.Kind), m.Asset, amount, m.Fee)
		}
	}
}

func (s *Server) add(at time.Time, ref, kind, subtype, asset string, amount money.Decimal, fee string) {
	asset = cmp.Or(names[asset], asset)
	charged := money.MustParse(cmp.Or(fee, "0"))
	s.balances[asset] = s.balances[asset].Add(amount).Sub(charged)
	e := entry{ID: fmt.Sprintf("L%04d-%05d", len(s.entries)/1000, len(s.entries)), RefID: ref, Type: kind, Subtype: subtype, Class: "currency",
		Asset: asset, Amount: amount.String(), Fee: charged.String(), Balance: s.balances[asset].String(), at: at,
		Time: json.Number(fmt.Sprintf("%d.%04d", at.Unix(), at.Nanosecond()/100_000))}
	s.entries = append(s.entries, e)
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body))
	method, private := strings.CutPrefix(r.URL.Path, "/0/private/")
	switch {
	case err != nil || r.Method != http.MethodPost || !private:
		answer(w, nil, "EGeneral:Unknown method")
	case s.refuses(r, string(body), form) != "":
		answer(w, nil, s.refuses(r, string(body), form))
	case !s.accepts(form):
		answer(w, nil, "EAPI:Invalid nonce")
	case method == "GetApiKeyInfo":
		answer(w, map[string]any{"apiKeyName": "books", "apiKey": r.Header.Get("API-Key"), "nonce": "1", "nonceWindow": 0,
			"permissions": s.Permissions, "iban": s.IBAN, "validUntil": "0", "queryFrom": "0", "queryTo": "0", "createdTime": "1772542900",
			"modifiedTime": "1772543095", "ipAllowlist": []string{}, "lastUsed": "1772627061"}, "")
	case method == "Balance" && !slices.Contains(s.Permissions, "query-funds"),
		method == "Ledgers" && !slices.Contains(s.Permissions, "query-ledger"):
		answer(w, nil, "EGeneral:Permission denied")
	case method == "Balance":
		held := map[string]string{}
		for asset, amount := range s.balances {
			held[asset] = amount.String()
		}
		answer(w, held, "")
	case method == "Ledgers":
		s.answerLedgers(w, form)
	default:
		answer(w, nil, "EGeneral:Unknown method")
	}
}

// refuses returns the error for a request that is not signed as Kraken demands.
func (s *Server) refuses(r *http.Request, body string, form url.Values) string {
	if s.Revoked() || !slices.Contains(s.Keys, r.Header.Get("API-Key")) {
		return "EAPI:Invalid key"
	}
	decoded, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		panic(err)
	}
	digest := sha256.New()
	digest.Write([]byte(form.Get("nonce")))
	digest.Write([]byte(body))
	mac := hmac.New(sha512.New, decoded)
	mac.Write(append([]byte(r.URL.Path), digest.Sum(nil)...))
	if r.Header.Get("API-Sign") != base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
		return "EAPI:Invalid signature"
	}
	return ""
}

// accepts reports whether a nonce is greater than the one before.
func (s *Server) accepts(form url.Values) bool {
	nonce, err := strconv.ParseInt(form.Get("nonce"), 10, 64)
	ok := err == nil && nonce > s.nonce
	if ok {
		s.nonce = nonce
	}
	return ok
}

// answerLedgers answers with the newest entries of a range, without its start and with its end.
func (s *Server) answerLedgers(w http.ResponseWriter, form url.Values) {
	start, _ := strconv.ParseInt(form.Get("start"), 10, 64)
	end, _ := strconv.ParseInt(form.Get("end"), 10, 64)
	offset, _ := strconv.Atoi(form.Get("ofs"))
	if form.Get("type") != "all" || offset < 0 {
		answer(w, nil, "EGeneral:Invalid arguments")
		return
	}
	var found []entry
	for _, e := range s.entries {
		if e.at.After(time.Unix(start, 0)) && !e.at.After(time.Unix(end, 0)) {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b entry) int { return b.at.Compare(a.at) })
	page := map[string]entry{}
	for _, e := range found[min(offset, len(found)):min(offset+pageSize, len(found))] {
		page[e.ID] = e
	}
	answer(w, map[string]any{"ledger": page, "count": len(found)}, "")
}

// answer writes an answer as Kraken does: with the status 200, also for an error.
func answer(w http.ResponseWriter, result any, failure string) {
	w.Header().Set("Content-Type", "application/json")
	out := map[string]any{"error": []string{}}
	if failure != "" {
		out["error"] = []string{failure}
	} else {
		out["result"] = result
	}
	if err := json.NewEncoder(w).Encode(out); err != nil {
		panic(err)
	}
}
