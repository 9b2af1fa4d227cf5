package binance

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// tradesMax is how many trades an answer has at most.
	tradesMax = 1000
	// marketsMax is for how many markets at a time their assets are asked for.
	marketsMax = 100
	// tradeLate is how long after its time a trade may appear.
	tradeLate = 15 * time.Minute
)

// usual are assets that others are traded for. An account may have held one in between, without a rest.
var usual = []string{"BNB", "BTC", "BUSD", "ETH", "EUR", "FDUSD", "USDC", "USDT"}

// market is a market for one asset in units of another.
type market struct {
	Symbol string `json:"symbol"`
	Base   asset  `json:"baseAsset"`
	Quote  asset  `json:"quoteAsset"`
}

// readTrades reads a page of the trades of a market, and reports whether all markets were read.
func (r *reader) readTrades() (done bool, err error) {
	at := r.at
	if !at.Listed {
		if at.Markets, err = r.markets(); err != nil {
			return false, err
		}
		at.Listed = true
	}
	if len(at.Markets) == 0 {
		return true, nil
	}
	m := at.Markets[0]
	from := max(at.Next, at.Trades[m.Symbol])
	q := url.Values{"symbol": {m.Symbol}, "fromId": {strconv.FormatInt(from, 10)}, "limit": {strconv.Itoa(tradesMax)}}
	var rows []json.RawMessage
	err = get(r.ctx, r.session, request{path: "/api/v3/myTrades", query: q.Encode(), signed: true, cost: tradesCost}, &rows)
	if err != nil && !errors.Is(err, errMarket) { // Binance lists markets that it has removed, but does not show their trades
		return false, err
	}
	ids, times := make([]int64, 0, len(rows)), make([]time.Time, 0, len(rows))
	for _, row := range rows {
		id, when, records, err := m.trade(row)
		r.add("trades:"+m.Symbol, row, records, err)
		if err == nil || errors.Is(err, errIdle) {
			ids, times = append(ids, id), append(times, when)
		}
	}
	last := from
	if len(ids) > 0 {
		last = slices.Max(ids) + 1
	}
	if len(rows) >= tradesMax {
		if last <= from {
			return false, provider.Nonsense(title, errors.New("a page of trades has no ids that follow the page before"))
		}
		at.Next = last
		return false, nil
	}
	if resume := resumeAt(ids, times, at.Next); resume > 0 {
		at.Trades[m.Symbol] = resume
	}
	at.Markets, at.Next = at.Markets[1:], 0
	return len(at.Markets) == 0, nil
}

// resumeAt returns the trade from which on to read a market the next time: the first one of the last page that is not much older than the
// newest one. Without any trade, it is the one at which the page began.
func resumeAt(ids []int64, times []time.Time, begin int64) int64 {
	if len(ids) == 0 {
		return begin
	}
	newest := slices.MaxFunc(times, time.Time.Compare)
	resume := slices.Max(ids)
	for i, id := range ids {
		if newest.Sub(times[i]) <= tradeLate {
			resume = min(resume, id)
		}
	}
	return resume
}

// markets returns the markets in which the account may have traded: those of two assets that it holds or that were in any list, or that
// others are usually traded for.
func (r *reader) markets() ([]market, error) {
	held, err := Connector{}.Balances(r.ctx, r.session)
	if err != nil {
		return nil, err
	}
	assets := slices.Concat(usual, r.at.Assets)
	for _, b := range held.Balances {
		assets = append(assets, b.Currency)
	}
	slices.Sort(assets)
	assets = slices.Compact(assets)

	var prices []struct {
		Symbol string `json:"symbol"`
	}
	if err := get(r.ctx, r.session, request{path: "/api/v3/ticker/price", cost: pricesCost}, &prices); err != nil {
		return nil, err
	}
	exists := map[string]bool{}
	for _, p := range prices {
		exists[p.Symbol] = true
	}
	var symbols []string
	for _, base := range assets {
		for _, quote := range assets {
			if exists[base+quote] {
				symbols = append(symbols, base+quote)
			}
		}
	}
	var out []market
	for part := range slices.Chunk(symbols, marketsMax) {
		found, err := describe(r.ctx, r.session, part)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	// Two assets may together have the name of a market of two others, such as AR and BETH that of ARB and ETH.
	seen := func(a asset) bool { return a != "" && slices.Contains(assets, string(a)) }
	return slices.DeleteFunc(out, func(m market) bool { return m.Symbol == "" || !seen(m.Base) || !seen(m.Quote) }), nil
}

// describe returns the assets of markets. Binance refuses to answer for all of them if it does not know one.
func describe(ctx context.Context, s *provider.Session, symbols []string) ([]market, error) {
	names, err := json.Marshal(symbols)
	if err != nil {
		return nil, err
	}
	q := url.Values{"symbols": {string(names)}, "showPermissionSets": {"false"}}
	var answer struct {
		Symbols []market `json:"symbols"`
	}
	err = get(ctx, s, request{path: "/api/v3/exchangeInfo", query: q.Encode(), cost: marketsCost}, &answer)
	if !errors.Is(err, errMarket) {
		return answer.Symbols, err
	}
	if len(symbols) == 1 {
		return nil, nil
	}
	first, err := describe(ctx, s, symbols[:len(symbols)/2])
	if err != nil {
		return nil, err
	}
	second, err := describe(ctx, s, symbols[len(symbols)/2:])
	return append(first, second...), err
}
