package binance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	accountPath = "/api/v3/account"
	// positionsSize is how many positions in Simple Earn an answer has at most.
	positionsSize = 100
	// positionsPagesMax bounds how many answers are read.
	positionsPagesMax = 100
)

// holding is what a wallet holds of an asset.
type holding struct {
	Asset       asset  `json:"asset"`
	Free        amount `json:"free"`
	Locked      amount `json:"locked"`
	Frozen      amount `json:"freeze"`
	Withdrawing amount `json:"withdrawing"`
}

// product is a position in a product of Simple Earn.
type product struct {
	Asset asset  `json:"asset"`
	Total amount `json:"totalAmount"` // of a flexible one
	Held  amount `json:"amount"`      // of a locked one
}

// Balances returns what the account holds in the spot and the funding wallet and in Simple Earn.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	sums, flexible := map[string]money.Decimal{}, map[string]bool{}
	for _, kind := range []string{"flexible", "locked"} {
		all, err := products(ctx, s, kind)
		if err != nil {
			return provider.Holdings{}, err
		}
		for _, p := range all {
			name := string(p.Asset)
			flexible[name] = flexible[name] || kind == "flexible"
			sums[name] = sums[name].Add(p.Total.Decimal).Add(p.Held.Decimal)
		}
	}
	var account struct {
		Balances []holding `json:"balances"`
	}
	if err := get(ctx, s, request{path: accountPath, query: "omitZeroBalances=true", signed: true, cost: accountCost}, &account); err != nil {
		return provider.Holdings{}, err
	}
	var funding []holding
	if err := get(ctx, s, request{method: http.MethodPost, path: "/sapi/v1/asset/get-funding-asset", signed: true}, &funding); err != nil {
		return provider.Holdings{}, err
	}
	if account.Balances == nil || funding == nil {
		return provider.Holdings{}, provider.Nonsense(title, errors.New("the balances are missing"))
	}
	for _, h := range append(account.Balances, funding...) {
		name := string(h.Asset)
		// The spot wallet has a receipt for a position in a flexible product, such as LDBTC for one in BTC. LDO is an asset.
		if rest, receipt := strings.CutPrefix(name, "LD"); receipt && flexible[rest] {
			continue
		}
		sums[name] = sums[name].Add(h.Free.Decimal).Add(h.Locked.Decimal).Add(h.Frozen.Decimal).Add(h.Withdrawing.Decimal)
	}
	return provider.Complete(sums), nil
}

// products returns the positions in flexible or in locked products of Simple Earn.
func products(ctx context.Context, s *provider.Session, kind string) (all []product, err error) {
	for page := 1; page <= positionsPagesMax; page++ {
		q := url.Values{"current": {strconv.Itoa(page)}, "size": {strconv.Itoa(positionsSize)}}
		var answer struct {
			Rows []json.RawMessage `json:"rows"`
		}
		path := "/sapi/v1/simple-earn/" + kind + "/position"
		if err := get(ctx, s, request{path: path, query: q.Encode(), signed: true, cost: earnCost}, &answer); err != nil {
			return nil, err
		}
		if answer.Rows == nil {
			return nil, provider.Nonsense(title, errors.New("the positions are missing"))
		}
		for _, row := range answer.Rows {
			p := product{}
			if err := json.Unmarshal(row, &p); err != nil {
				return nil, provider.Nonsense(title, err)
			}
			all = append(all, p)
		}
		if len(answer.Rows) < positionsSize {
			return all, nil
		}
	}
	return all, nil
}
