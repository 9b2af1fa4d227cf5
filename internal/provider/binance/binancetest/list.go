package binancetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

const day = 24 * time.Hour

// row is a row of a list.
type row struct {
	at   time.Time
	kind string // what a parameter selects rows by
	body map[string]any
}

// list is how Binance answers requests for a list of rows in a range of time.
type list struct {
	others      []string // other parameters that are read
	from, until string
	longest     time.Duration // of a range
	code        int           // of the error for a longer one
	shown       time.Duration // how far back rows are shown; zero means without a limit
	kind        string        // the parameter by which rows are selected
	kinds       []string      // its values
	limit       string
	limitMax    int
	paged       string
	field       string // where the rows are in the answer; empty if the answer is the list itself
}

func earnList(kind string, kinds ...string) list {
	return list{from: "startTime", until: "endTime", longest: 30 * day, code: -6021, kind: kind, kinds: kinds, limit: "size", limitMax: 100,
		paged: "current", field: "rows"}
}

const (
	deposits     = "/sapi/v1/capital/deposit/hisrec"
	withdrawals  = "/sapi/v1/capital/withdraw/history"
	fiatOrders   = "/sapi/v1/fiat/orders"
	fiatPayments = "/sapi/v1/fiat/payments"
	conversions  = "/sapi/v1/convert/tradeFlow"
	dribblets    = "/sapi/v1/asset/dribblet"
	dividends    = "/sapi/v1/asset/assetDividend"
	moves        = "/sapi/v1/asset/transfer"
	products     = "/sapi/v1/simple-earn/"
)

var lists = map[string]list{
	deposits: {others: []string{"includeSource"}, from: "startTime", until: "endTime", longest: 90*day - 1, code: -1127, limit: "limit",
		limitMax: 1000, paged: "offset"},
	withdrawals: {from: "startTime", until: "endTime", longest: 90*day - 1, code: -1127, limit: "limit", limitMax: 1000, paged: "offset"},
	fiatOrders: {from: "beginTime", until: "endTime", longest: 2000 * day, code: -1127, kind: "transactionType", kinds: []string{"0", "1"},
		limit: "rows", limitMax: 500, paged: "page", field: "data"},
	fiatPayments: {from: "beginTime", until: "endTime", kind: "transactionType", kinds: []string{"0", "1"}, limit: "rows", limitMax: 500,
		paged: "page", field: "data"},
	conversions: {from: "startTime", until: "endTime", longest: 30 * day, code: -1127, limit: "limit", limitMax: 1000, field: "list"},
	dribblets:   {from: "startTime", until: "endTime", limitMax: 100, field: "userAssetDribblets"},
	dividends:   {from: "startTime", until: "endTime", longest: 180 * day, code: -1127, limit: "limit", limitMax: 500, field: "rows"},
	moves: {from: "startTime", until: "endTime", shown: 181 * day, kind: "type", kinds: []string{"MAIN_MARGIN", "MARGIN_MAIN",
		"MAIN_UMFUTURE", "UMFUTURE_MAIN", "MAIN_CMFUTURE", "CMFUTURE_MAIN", "MAIN_OPTION", "OPTION_MAIN", "FUNDING_MARGIN", "MARGIN_FUNDING",
		"FUNDING_UMFUTURE", "UMFUTURE_FUNDING", "FUNDING_CMFUTURE", "CMFUTURE_FUNDING", "FUNDING_OPTION", "OPTION_FUNDING",
		"MAIN_PORTFOLIO_MARGIN", "PORTFOLIO_MARGIN_MAIN", "MAIN_FUNDING", "FUNDING_MAIN"}, limit: "size", limitMax: 100, paged: "current",
		field: "rows"},
	products + "flexible/history/subscriptionRecord": earnList(""),
	products + "flexible/history/redemptionRecord":   earnList(""),
	products + "flexible/history/rewardsRecord":      earnList("type", "BONUS", "REALTIME", "REWARDS"),
	products + "locked/history/subscriptionRecord":   earnList(""),
	products + "locked/history/redemptionRecord":     earnList(""),
}

// answerList answers with rows of a list, the newest first.
func (s *Server) answerList(w http.ResponseWriter, r *http.Request, q url.Values) {
	l, known := lists[r.URL.Path]
	if !known || r.Method != http.MethodGet {
		refuse(w, http.StatusNotFound, -1, "Not found")
		return
	}
	allowed := append([]string{l.from, l.until, l.kind, l.limit, l.paged}, l.others...)
	for name := range q {
		if !slices.Contains(allowed, name) || name == "" {
			refuse(w, http.StatusBadRequest, -1104, "Not all sent parameters were read.")
			return
		}
	}
	if l.kind != "" && !slices.Contains(l.kinds, q.Get(l.kind)) {
		refuse(w, http.StatusBadRequest, -1102, fmt.Sprintf("Mandatory parameter '%s' was not sent, was empty/null, or malformed.", l.kind))
		return
	}
	from, until := s.Now().Add(-30*day), s.Now()
	if l.limit == "" {
		from = time.Time{}
	}
	size := number(q, l.limit, l.limitMax)
	if at := number(q, l.from, 0); at > 0 {
		from = time.UnixMilli(int64(at))
	}
	if at := number(q, l.until, 0); at > 0 {
		until = time.UnixMilli(int64(at))
	}
	switch {
	case l.longest > 0 && until.Sub(from) > l.longest:
		refuse(w, http.StatusBadRequest, l.code, "Lookup interval is too big.")
		return
	case size < 1 || size > l.limitMax || until.Before(from):
		refuse(w, http.StatusBadRequest, -1130, "Data sent for a parameter is not valid.")
		return
	}
	var found []row
	for _, one := range s.lists[r.URL.Path] {
		if !one.at.Before(from) && !one.at.After(until) && one.kind == q.Get(l.kind) && (l.shown == 0 || s.Now().Sub(one.at) <= l.shown) {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b row) int { return b.at.Compare(a.at) })
	skip := 0
	switch l.paged {
	case "offset":
		skip = number(q, l.paged, 0)
	case "page", "current":
		skip = (number(q, l.paged, 1) - 1) * size
	}
	s.writeList(w, l, found, skip, size)
}

// writeList writes a page of rows.
func (s *Server) writeList(w http.ResponseWriter, l list, found []row, skip, size int) {
	page := []map[string]any{}
	for _, one := range found[min(skip, len(found)):min(skip+size, len(found))] {
		page = append(page, one.body)
	}
	if l.field == "" {
		write(w, page)
		return
	}
	out := map[string]any{l.field: page, "total": len(found)}
	switch l.field {
	case "list":
		out["moreData"] = len(page) < len(found)
	case "data":
		out["code"], out["message"], out["success"] = "000000", "success", true
		if len(page) == 0 {
			delete(out, l.field) // as the real one does
		}
	}
	write(w, out)
}

// number returns a parameter, or a default if it was not sent.
func number(q url.Values, name string, otherwise int) int {
	n, err := strconv.Atoi(q.Get(name))
	if err != nil {
		return otherwise
	}
	return n
}
