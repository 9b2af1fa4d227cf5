// Package kucoin reads accounts at KuCoin. An account there consists of several, which have three ledgers: one for the funding account, the
// spot account and the older margin accounts, one for high-frequency trading and one for margin trading. The futures account is at another
// address and is not read.
package kucoin

import (
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
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title = "KuCoin"
	// The costs are the weights that KuCoin documents.
	keyCost      = 20
	ledgerCost   = 2
	accountsCost = 5
	marginCost   = 15
)

// Connector reads accounts at KuCoin.
type Connector struct{}

// Describe says what KuCoin is and what is needed to connect an account there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "kucoin", Title: title, Kind: provider.Exchange, URL: "https://api.kucoin.com",
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key", Max: 200},
			{Name: provider.APISecret, Title: "API secret", Help: "KuCoin shows it once, together with the API key.", Secret: true, Max: 200},
			{Name: provider.Passphrase, Title: "API passphrase", Help: "It was chosen when the API key was created.", Secret: true, Max: 200},
		},
		Advice: "In KuCoin, under API Management, create an API key with the permission General, and no other. KuCoin shows the last year, and " +
			"high-frequency trading for about a week only: download what is older there, and import the files.",
		Ledgers: []string{highFrequency, margin, account},
		Rate:    provider.Rate{Burst: 500, Every: 15 * time.Millisecond}, // 2000 units in 30 seconds
		Unverified: []string{
			"what KuCoin shows of high-frequency and margin trading if no range of time is stated: each request states one of 23 hours",
			"for how long high-frequency and margin trading is shown (three days by KuCoin's documentation of 2022, a week by others in 2026)",
			"whether the amount of an inflow is after its fee in the ledger of the account (it is in that of high-frequency trading)",
			"whether the end of a range of time is inclusive (both work)",
			"what KuCoin answers for accounts that have never traded on margin",
			"tax that KuCoin withholds in some countries: it is taken to be part of the amount",
			"what Earn products hold, and the futures account: moves to and from them are read, and what they hold is in no balance",
		},
	}
}

// sign returns the HMAC-SHA-256 of a text.
func sign(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// get sends a request and decodes its result.
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
			at, secret := strconv.FormatInt(s.Now().UnixMilli(), 10), s.Text(provider.APISecret)
			r.Header.Set("KC-API-KEY", s.Text(provider.APIKey))
			r.Header.Set("KC-API-SIGN", sign(secret, at+http.MethodGet+signed))
			r.Header.Set("KC-API-TIMESTAMP", at)
			r.Header.Set("KC-API-PASSPHRASE", sign(secret, s.Text(provider.Passphrase)))
			r.Header.Set("KC-API-KEY-VERSION", "3")
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
	case "200000":
		if len(answer.Data) == 0 || string(answer.Data) == "null" {
			return provider.Nonsense(title, fmt.Errorf("status %d without data and without an error", a.Status))
		}
		if err := json.Unmarshal(answer.Data, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	case "":
		return provider.Nonsense(title, fmt.Errorf("status %d without a code", a.Status))
	case "400002":
		return provider.ErrClock
	case "400001", "400003", "400004", "400005":
		return fault.Unauthorizedf("KuCoin refuses the API key, its secret or the passphrase")
	case "400006":
		return fault.Forbiddenf("KuCoin does not accept the API key from the address of this server: %s", provider.Clean(answer.Message))
	case "400007":
		return fault.Forbiddenf("the API key lacks a permission at KuCoin: General is needed")
	case "200002", "429000", "1015":
		return provider.Busy(0, title)
	case "500000":
		return provider.Temporary(title, "%s %s", answer.Code, provider.Clean(answer.Message))
	}
	return fault.Conflictf("KuCoin refuses the request: %s (%s)", provider.Clean(answer.Message), provider.Clean(answer.Code))
}

// grants are what the permissions of a key allow. Those to transfer include moves to other accounts at KuCoin.
var grants = map[string]provider.Grant{
	"general": provider.Read, "spot": provider.Trade, "margin": provider.Trade, "futures": provider.Trade, "earn": provider.Trade,
	"trade": provider.Trade, "transfer": provider.Withdraw, "innertransfer": provider.Withdraw, "flextransfers": provider.Withdraw,
}

// Check asks for the permissions of an API key, and for a page of each ledger.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	var info struct {
		ID          json.Number `json:"uid"`
		Permissions string      `json:"permission"`
		SubAccount  string      `json:"subName"`
	}
	if err := get(ctx, s, "/api/v1/user/api-key", keyCost, nil, &info); err != nil {
		return out, err
	}
	out = provider.Account{ID: info.ID.String(), Name: provider.Clean(info.SubAccount)}
	for permission := range strings.SplitSeq(info.Permissions, ",") {
		if grant, known := grants[strings.ToLower(strings.TrimSpace(permission))]; known && !slices.Contains(out.Grants, grant) {
			out.Grants = append(out.Grants, grant)
		}
	}
	if out.ID == "" || len(out.Grants) == 0 {
		return out, provider.Nonsense(title, fmt.Errorf("the account %q with the permissions %q", out.ID, provider.Clean(info.Permissions)))
	}
	slices.Sort(out.Grants)
	now := s.Now()
	for _, b := range books {
		if _, err := b.page(ctx, s, b.query(bounds{from: now.Add(-time.Hour).UnixMilli(), until: now.UnixMilli()}, 1, "")); err != nil {
			return out, err
		}
	}
	return out, nil
}

// holding is what margin accounts hold of an asset, borrowed amounts included.
type holding struct {
	Currency string           `json:"currency"`
	Total    provider.Decimal `json:"total"`
}

// Balances returns what the accounts hold together, without the futures account.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	var held []struct {
		Currency string           `json:"currency"`
		Type     string           `json:"type"`
		Balance  provider.Decimal `json:"balance"`
	}
	if err := get(ctx, s, "/api/v1/accounts", accountsCost, nil, &held); err != nil {
		return provider.Holdings{}, err
	}
	var cross struct {
		Accounts []holding `json:"accounts"`
	}
	all := url.Values{"queryType": {"ALL"}}
	if err := get(ctx, s, "/api/v3/margin/accounts", marginCost, all, &cross); err != nil {
		return provider.Holdings{}, err
	}
	var isolated struct {
		Assets []struct {
			Base  holding `json:"baseAsset"`
			Quote holding `json:"quoteAsset"`
		} `json:"assets"`
	}
	if err := get(ctx, s, "/api/v3/isolated/accounts", marginCost, all, &isolated); err != nil {
		return provider.Holdings{}, err
	}
	if cross.Accounts == nil || isolated.Assets == nil {
		return provider.Holdings{}, provider.Nonsense(title, errors.New("the margin accounts are missing"))
	}
	sums := map[string]money.Decimal{}
	add := func(currency string, amount money.Decimal) {
		currency = symbol(currency)
		sums[currency] = sums[currency].Add(amount)
	}
	for _, h := range held {
		if h.Type != "margin" && h.Type != "isolated" { // which the other two answers state
			add(h.Currency, h.Balance.Decimal)
		}
	}
	for _, h := range cross.Accounts {
		add(h.Currency, h.Total.Decimal)
	}
	for _, pair := range isolated.Assets {
		add(pair.Base.Currency, pair.Base.Total.Decimal)
		add(pair.Quote.Currency, pair.Quote.Total.Decimal)
	}
	return provider.Complete(sums), nil
}
