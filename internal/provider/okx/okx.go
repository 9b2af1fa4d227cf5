// Package okx reads accounts at OKX. An account there consists of a funding account, through which deposits and withdrawals go, and a
// trading account. Each has a ledger of its own, whose entries OKX calls bills.
package okx

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title = "OKX"
	// configCost, tradingCost and fundingCost are what requests take of the limit, of which one unit is a fifth of a second. OKX limits each
	// path by itself: to 5 requests in 2 seconds and, for the funding account, to 1 in a second.
	configCost  = 2
	tradingCost = 2
	fundingCost = 5
)

// Connector reads accounts at OKX.
type Connector struct{}

// Describe says what OKX is and what is needed to connect an account there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "okx", Title: title, Kind: provider.Exchange, URL: "https://www.okx.com",
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key", Max: 200},
			{Name: provider.APISecret, Title: "Secret key", Help: "OKX shows it together with the API key.", Secret: true, Max: 200},
			{Name: provider.Passphrase, Title: "Passphrase", Help: "It was chosen when the API key was created.", Secret: true, Max: 200},
		},
		Advice: "In OKX, under API, create an API key with the permission Read, and no other. OKX shows the trading account for the last three " +
			"months only: download what is older there, and import the files.",
		Ledgers: []string{funding, trading},
		Rate:    provider.Rate{Burst: 5, Every: time.Second / 5},
		Unverified: []string{
			"by how much the clock may differ (30 seconds, by what others say)",
			"whether begin and end of the bills of the trading account are inclusive (both work)",
			"whether a page with fewer than 100 bills is always the last",
			"whether the bill of a withdrawal contains its fee (the record shows the whole change of the balance)",
			"what isolated margin positions hold: only the balance of the account is read",
			"what Earn products and trading bots hold: moves to and from them are read, and what they hold is in no balance",
			"accounts of OKX in Europe (eea.okx.com) and in the United States (us.okx.com), which have other addresses of the API",
		},
	}
}

// sign returns the signature of a request at a time. The path includes the query.
func sign(secret, at, method, path, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + method + path + body))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// timeFormat is that of the time of a request.
const timeFormat = "2006-01-02T15:04:05.000Z"

// get sends a request and decodes its result, which is always a list.
func get(ctx context.Context, s *provider.Session, path string, cost int, form url.Values, into any) error {
	_, err := s.Do(ctx, provider.Call{
		Cost: cost,
		Build: func(ctx context.Context) (*http.Request, error) {
			query := form.Encode()
			r, err := s.Request(ctx, http.MethodGet, path, query, "")
			if err != nil {
				return nil, err
			}
			signed := path
			if query != "" {
				signed += "?" + query
			}
			at := s.Now().UTC().Format(timeFormat)
			r.Header.Set("OK-ACCESS-KEY", s.Text(provider.APIKey))
			r.Header.Set("OK-ACCESS-SIGN", sign(s.Text(provider.APISecret), at, http.MethodGet, signed, ""))
			r.Header.Set("OK-ACCESS-TIMESTAMP", at)
			r.Header.Set("OK-ACCESS-PASSPHRASE", s.Text(provider.Passphrase))
			return r, nil
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
	})
	return err
}

// explain returns the error that an answer states, and otherwise decodes its result.
func explain(a provider.Answer, into any) error {
	var answer struct {
		Code    string          `json:"code"`
		Message string          `json:"msg"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil {
		return provider.Nonsense(title, err)
	}
	switch answer.Code {
	case "0":
		// Anything but a list must not pass for an empty one, which is the end of the bills.
		if !bytes.HasPrefix(answer.Data, []byte("[")) {
			return provider.Nonsense(title, fmt.Errorf("status %d without a list and without an error", a.Status))
		}
		if err := json.Unmarshal(answer.Data, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	case "":
		return provider.Nonsense(title, fmt.Errorf("status %d without a code", a.Status))
	case "50102", "50112":
		return provider.ErrClock
	case "50103", "50104", "50105", "50106", "50111", "50113", "50114":
		return fault.Unauthorizedf("OKX refuses the API key, its secret key or the passphrase")
	case "50119":
		return fault.Unauthorizedf("OKX knows no such API key at this address. Accounts of OKX in Europe and in the United States have other " +
			"addresses, with keys of their own")
	case "50100":
		return fault.Unauthorizedf("OKX has frozen the API key: ask its customer service, or create another key")
	case "50101":
		return fault.Unauthorizedf("the API key is one for demo trading at OKX: create one for the account itself")
	case "50110", "50035", "50121":
		return fault.Forbiddenf("OKX does not accept the API key from the address of this server: %s", provider.Clean(answer.Message))
	case "50030", "50120":
		return fault.Forbiddenf("the API key lacks a permission at OKX: Read is needed")
	case "50011", "50013", "50040":
		return provider.Busy(0, title)
	case "50001", "50004", "50026":
		return provider.Temporary(title, "%s %s", answer.Code, provider.Clean(answer.Message))
	}
	return fault.Conflictf("OKX refuses the request: %s (%s)", provider.Clean(answer.Message), provider.Clean(answer.Code))
}

// Check asks for the permissions of an API key, and for one bill of each account.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	var all []struct {
		ID          string `json:"uid"`
		Permissions string `json:"perm"`
	}
	if err := get(ctx, s, "/api/v5/account/config", configCost, nil, &all); err != nil {
		return out, err
	}
	if len(all) != 1 || all[0].ID == "" || all[0].Permissions == "" {
		return out, provider.Nonsense(title, fmt.Errorf("%d accounts for one API key, or one without an id", len(all)))
	}
	out.ID = provider.Clean(all[0].ID)
	grants := map[string]provider.Grant{"read_only": provider.Read, "trade": provider.Trade, "withdraw": provider.Withdraw}
	for permission := range strings.SplitSeq(all[0].Permissions, ",") {
		if grant, known := grants[strings.TrimSpace(permission)]; known {
			out.Grants = append(out.Grants, grant)
		}
	}
	if len(out.Grants) == 0 {
		return out, provider.Nonsense(title, fmt.Errorf("unknown permissions %q", provider.Clean(all[0].Permissions)))
	}
	slices.Sort(out.Grants)
	for _, b := range books {
		var some []json.RawMessage
		if err := get(ctx, s, b.path, b.cost, url.Values{"limit": {"1"}}, &some); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Balances returns what the funding account and the trading account hold together.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	type held struct {
		Currency string           `json:"ccy"`
		Funding  provider.Decimal `json:"bal"`
		Trading  provider.Decimal `json:"cashBal"`
	}
	var inFunding []held
	var inTrading []struct {
		Details []held `json:"details"`
	}
	if err := get(ctx, s, "/api/v5/asset/balances", 1, nil, &inFunding); err != nil {
		return provider.Holdings{}, err
	}
	if err := get(ctx, s, "/api/v5/account/balance", configCost, nil, &inTrading); err != nil {
		return provider.Holdings{}, err
	}
	sums := map[string]money.Decimal{}
	for _, account := range inTrading {
		if account.Details == nil {
			return provider.Holdings{}, provider.Nonsense(title, errors.New("the balances are missing"))
		}
		inFunding = append(inFunding, account.Details...)
	}
	for _, h := range inFunding {
		currency := symbol(h.Currency)
		sums[currency] = sums[currency].Add(h.Funding.Decimal).Add(h.Trading.Decimal)
	}
	return provider.Complete(sums), nil
}
