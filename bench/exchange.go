package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// exchange answers as Bitstamp does: every API key has an account, and all accounts have the same deposits of bitcoin.
type exchange struct {
	*httptest.Server
	requests atomic.Int64

	mu   sync.Mutex
	rows []string // transactions as JSON; the id of the first is 1
}

// newExchange returns an exchange with some deposits.
func newExchange(deposits int) *exchange {
	x := &exchange{}
	for n := range deposits {
		x.rows = append(x.rows, fmt.Sprintf(`{"id":%d,"type":"0","datetime":"%s","btc":"%s","usd":0,"eur":0,"fee":"0.00"}`, n+1,
			exchangeTime(n).Format("2006-01-02 15:04:05.000000"), exchangeAmount(n)))
	}
	x.Server = httptest.NewServer(http.HandlerFunc(x.answer))
	return x
}

// exchangeTime is when a deposit arrived.
func exchangeTime(n int) time.Time { return benchStart.Add(time.Duration(n) * 7 * time.Minute) }

// exchangeAmount is the amount of a deposit.
func exchangeAmount(n int) string { return fmt.Sprintf("0.%08d", 1+n*7919%99999999) }

func (x *exchange) answer(w http.ResponseWriter, r *http.Request) {
	x.requests.Add(1)
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path != "/api/v2/user_transactions/" {
		_ = json.NewEncoder(w).Encode([]any{})
		return
	}
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	since, _ := strconv.Atoi(r.FormValue("since_id"))
	x.mu.Lock()
	defer x.mu.Unlock()
	from := sort.Search(len(x.rows), func(n int) bool { return n+1 >= since })
	separator := "["
	for _, row := range x.rows[from:min(len(x.rows), from+limit)] {
		_, _ = fmt.Fprint(w, separator, row)
		separator = ","
	}
	if separator == "[" {
		_, _ = fmt.Fprint(w, "[")
	}
	_, _ = fmt.Fprint(w, "]")
}
