// Package exchange is an exchange with one fictitious account, for the demo company. It speaks the wire format of Kraken, and the account
// has something new about every minute.
package exchange

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
)

// Provider is the provider in whose place the exchange is used.
const Provider = "kraken"

// Key and Secret are the credentials of the account. They protect nothing.
const (
	Key    = "bursar-demo-key"
	Secret = "YnVyc2FyLWRlbW8tc2VjcmV0LXdoaWNoLXByb3RlY3RzLW5vdGhpbmc=" // in base64, as those of Kraken are
)

const (
	pageSize = 50
	bodyMax  = 64 << 10
	// before is for how long the account existed before the demo began, and every how often something happened there.
	before, every = 30 * 24 * time.Hour, 6 * time.Hour
	// meanwhile is how often something happens while the demo runs.
	meanwhile = time.Minute
	// euro is Kraken's name of the currency.
	euro = "ZEUR"
	// entriesMax ends what happens, after about a week of running.
	entriesMax = 20_000
)

// Exchange answers requests. What has happened in the account by a time is the same in each run.
type Exchange struct {
	clock clock.Clock
	began time.Time

	mu       sync.Mutex
	next     time.Time // of the next event
	events   int
	entries  []entry
	balances map[string]money.Decimal
}

// New returns an exchange whose account has a history before now.
func New(c clock.Clock) *Exchange {
	began := c.Now().Truncate(time.Second)
	return &Exchange{clock: c, began: began, next: began.Add(-before), balances: map[string]money.Decimal{}}
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

// catchUp adds what has happened until now.
func (x *Exchange) catchUp() {
	for now := x.clock.Now(); !x.next.After(now) && len(x.entries) < entriesMax; x.events++ {
		x.happen(x.events, x.next)
		if x.next.Before(x.began) {
			x.next = x.next.Add(every)
		} else {
			x.next = x.next.Add(meanwhile)
		}
	}
}

// assets are the coins that the account trades, by the names of Kraken, with a price in EUR that is never asked for, and how many decimal
// places they have.
var assets = []struct {
	name   string
	price  string
	places int32
}{{"XXBT", "58000", 8}, {"XETH", "2300", 8}, {"SOL", "140", 6}}

// vary returns a number that looks random, and is the same in each run.
func vary(n int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "demo %d", n))
	return binary.BigEndian.Uint64(sum[:8])
}

// happen adds an event: money that arrives, a coin that is bought or sold, a reward or a withdrawal.
func (x *Exchange) happen(n int, at time.Time) {
	random := vary(n)
	coin := assets[random%uint64(len(assets))]
	cents := money.FromInt(int64(random%40_000) + 10_000)
	euros := cents.Quo(money.FromInt(100), 2) // 100.00 to 499.99
	amount := euros.Quo(money.MustParse(coin.price), coin.places)
	ref, fee := fmt.Sprintf("DEMO-%06d", n), euros.Mul(money.MustParse("0.0026")).Round(2)
	none := money.Decimal{}
	switch kind := n % 6; {
	case kind == 0:
		x.add(ref, at, "deposit", "", euro, euros.Mul(money.FromInt(4)), none)
	case kind == 3:
		x.add(ref, at, "earn", "reward", coin.name, amount.Quo(money.FromInt(1000), coin.places), none)
	case kind == 4 && x.balances[coin.name].Cmp(amount) >= 0:
		x.add(ref, at, "trade", "tradespot", coin.name, amount.Neg(), none)
		x.add(ref, at, "trade", "tradespot", euro, euros, fee)
	case kind == 5 && x.balances[euro].Cmp(money.FromInt(1001)) >= 0:
		x.add(ref, at, "withdrawal", "", euro, money.FromInt(-1000), money.FromInt(1))
	case x.balances[euro].Cmp(euros.Add(fee)) >= 0:
		x.add(ref, at, "trade", "tradespot", euro, euros.Neg(), fee)
		x.add(ref, at, "trade", "tradespot", coin.name, amount, none)
	}
}

func (x *Exchange) add(ref string, at time.Time, kind, subtype, asset string, amount, fee money.Decimal) {
	x.balances[asset] = x.balances[asset].Add(amount).Sub(fee)
	x.entries = append(x.entries, entry{ID: fmt.Sprintf("LDEMO-%06d", len(x.entries)), RefID: ref,
		Time: json.Number(fmt.Sprintf("%d.0", at.Unix())), Type: kind, Subtype: subtype, Class: "currency", Asset: asset,
		Amount: amount.String(), Fee: fee.String(), Balance: x.balances[asset].String(), at: at})
}

// ServeHTTP answers a request.
func (x *Exchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
	form, malformed := url.ParseQuery(string(body))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.catchUp()
	switch {
	case err != nil || malformed != nil || r.Method != http.MethodPost:
		answer(w, nil, "EGeneral:Unknown method")
	case r.Header.Get("API-Key") != Key:
		answer(w, nil, "EAPI:Invalid key")
	case !signed(r, body, form.Get("nonce")):
		answer(w, nil, "EAPI:Invalid signature")
	case r.URL.Path == "/0/private/GetApiKeyInfo":
		answer(w, map[string]any{"permissions": []string{"query-funds", "query-ledger"}, "iban": "DEMO ACCO UNT0 0001", "validUntil": "0",
			"queryFrom": "0", "queryTo": "0"}, "")
	case r.URL.Path == "/0/private/Balance":
		held := map[string]string{}
		for asset, amount := range x.balances {
			held[asset] = amount.String()
		}
		answer(w, held, "")
	case r.URL.Path == "/0/private/Ledgers":
		x.answerLedgers(w, form)
	default:
		answer(w, nil, "EGeneral:Unknown method")
	}
}

// signed reports whether a request is signed with the secret of the account.
func signed(r *http.Request, body []byte, nonce string) bool {
	key, err := base64.StdEncoding.DecodeString(Secret)
	if err != nil {
		return false
	}
	inner := sha256.Sum256(append([]byte(nonce), body...))
	mac := hmac.New(sha512.New, key)
	mac.Write([]byte(r.URL.Path))
	mac.Write(inner[:])
	given, err := base64.StdEncoding.DecodeString(r.Header.Get("API-Sign"))
	return err == nil && hmac.Equal(given, mac.Sum(nil))
}

// answerLedgers answers with a page of the entries of a range, the newest first.
func (x *Exchange) answerLedgers(w http.ResponseWriter, form url.Values) {
	start, _ := strconv.ParseInt(form.Get("start"), 10, 64) // 0 if there is none, or if it is none
	end, err := strconv.ParseInt(form.Get("end"), 10, 64)
	if err != nil {
		end = x.clock.Now().Unix()
	}
	offset, _ := strconv.Atoi(form.Get("ofs"))
	var found []entry
	for _, e := range slices.Backward(x.entries) {
		if at := e.at.Unix(); at > start && at <= end {
			found = append(found, e)
		}
	}
	from := min(max(offset, 0), len(found))
	page := map[string]entry{}
	for _, e := range found[from:min(from+pageSize, len(found))] {
		page[e.ID] = e
	}
	answer(w, map[string]any{"ledger": page, "count": len(found)}, "")
}

// answer writes an answer as Kraken does: with the status 200, also for an error.
func answer(w http.ResponseWriter, result any, failure string) {
	out := map[string]any{"error": []string{}}
	if failure != "" {
		out["error"] = []string{failure}
	} else {
		out["result"] = result
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // the reader may have gone
}
