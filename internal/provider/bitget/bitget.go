// Package bitget reads accounts at Bitget. An account is a classic or a unified one, and each answers other requests. The records that
// Bitget keeps for taxes have every change of the balances, reach further back than others, and join the two sides of a trade.
package bitget

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
	title  = "Bitget"
	ledger = "records"
)

// Connector reads accounts at Bitget.
type Connector struct{}

// Describe says what Bitget is and what is needed to connect an account there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "bitget", Title: title, Kind: provider.Exchange, URL: "https://api.bitget.com",
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key", Max: 200},
			{Name: provider.APISecret, Title: "Secret key", Help: "Bitget shows it once, when the API key is created.", Secret: true, Max: 200},
			{Name: provider.Passphrase, Title: "Passphrase", Help: "The one that you chose for the API key.", Secret: true, Max: 200},
		},
		Advice: "In Bitget, under API keys, create a read-only key. If the account is a unified one, permit unified account management and " +
			"taxes; if it is a classic one, spot trading and taxes. Of a classic account, the spot account is read, and not those for futures, " +
			"margin, funding and Earn.",
		Ledgers: []string{ledger},
		Rate:    provider.Rate{Burst: 1, Every: time.Second},
		Unverified: []string{
			"whether startTime and endTime are inclusive",
			"whether records are returned in the order of their ids, so that the last one leads to the next page",
			"how soon a record is shown",
			"whether the time of registration that Bitget states is that of the account, so that there are no records more than two days before it",
			"how far back the records of a classic account reach",
			"whether a fee that is above zero is a cost, as one below zero is",
			"whether an ordinary API key may read the records of a unified account, or one for taxes is needed, as the documentation says",
			"whether deposits to and withdrawals from a unified account can be told apart from transfers",
			"whether isolated margin counts towards the balances of a unified account",
			"whether what is locked in a spot account is missing from its records",
			"the time by which the clock of a request may differ",
		},
	}
}

// sign returns the signature of a request. The path contains the query.
func sign(secret, timestamp, method, path, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + method + path + body))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// get sends a request and decodes the data of its answer.
func get(ctx context.Context, s *provider.Session, path string, query url.Values, into any) error {
	_, err := s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, http.MethodGet, path, query.Encode(), "")
			if err != nil {
				return nil, err
			}
			timestamp := strconv.FormatInt(s.Now().UnixMilli(), 10)
			r.Header.Set("ACCESS-KEY", s.Text(provider.APIKey))
			r.Header.Set("ACCESS-SIGN", sign(s.Text(provider.APISecret), timestamp, http.MethodGet, r.URL.RequestURI(), ""))
			r.Header.Set("ACCESS-PASSPHRASE", s.Text(provider.Passphrase))
			r.Header.Set("ACCESS-TIMESTAMP", timestamp)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("locale", "en-US")
			return r, nil
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
	})
	return err
}

// What Bitget says to a request for an account of the other kind.
var (
	errUnified = fault.Conflictf("the account at Bitget is a unified one, which does not answer requests for classic ones")
	errClassic = fault.Conflictf("the account at Bitget is a classic one, which does not answer requests for unified ones")
)

// explain returns the error that an answer states, and otherwise decodes its data.
func explain(a provider.Answer, into any) error {
	var answer struct {
		Code string          `json:"code"`
		Said string          `json:"msg"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil {
		return provider.Nonsense(title, fmt.Errorf("status %d: %w", a.Status, err))
	}
	switch answer.Code {
	case "00000":
		if len(answer.Data) == 0 || string(answer.Data) == "null" {
			return provider.Nonsense(title, fmt.Errorf("status %d without data", a.Status))
		}
		if err := json.Unmarshal(answer.Data, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	case "":
		return provider.Nonsense(title, fmt.Errorf("status %d without a code", a.Status))
	case "40001", "40002", "40003", "40006", "40009", "40011", "40012", "40037":
		return fault.Unauthorizedf("Bitget refuses the API key, its secret key or its passphrase")
	case "40004", "40005", "40008":
		return provider.ErrClock
	case "40014":
		return fault.Forbiddenf("the API key lacks a permission at Bitget. Reading taxes is needed, and unified account management for a "+
			"unified account, or spot trading for a classic one. Bitget says: %s", provider.Clean(answer.Said))
	case "40018":
		return fault.Forbiddenf("the API key may not be used from the address of this service: remove the list of IP addresses from the key " +
			"at Bitget, or add the address")
	case "40084":
		return errClassic
	case "40085":
		return errUnified
	case "429":
		return provider.Busy(0, title)
	case "40010", "40015", "40725", "45001":
		return provider.Temporary(title, "%s %s", answer.Code, answer.Said)
	}
	return fault.Conflictf("Bitget refuses the request: %s (code %s)", provider.Clean(answer.Said), provider.Clean(answer.Code))
}

// holding is what a unified account holds of a coin.
type holding struct {
	Coin    string           `json:"coin"`
	Balance provider.Decimal `json:"balance"`
}

// unifiedAssets returns what a unified account holds. For a classic one, the error is errClassic.
func unifiedAssets(ctx context.Context, s *provider.Session) ([]holding, error) {
	var held struct {
		Assets []holding `json:"assets"`
	}
	err := get(ctx, s, "/api/v3/account/assets", nil, &held)
	if err == nil && held.Assets == nil {
		err = provider.Nonsense(title, errors.New("the balances are missing"))
	}
	return held.Assets, err
}

// spotHolding is what the spot account of a classic account holds of a coin.
type spotHolding struct {
	Coin      string           `json:"coin"`
	Available provider.Decimal `json:"available"`
	Frozen    provider.Decimal `json:"frozen"`
	Locked    provider.Decimal `json:"locked"`
}

// spotAssets returns what the spot account of a classic account holds.
func spotAssets(ctx context.Context, s *provider.Session) (out []spotHolding, err error) {
	return out, get(ctx, s, "/api/v2/spot/account/assets", nil, &out)
}

// isUnified reports whether an account is a unified one.
func isUnified(ctx context.Context, s *provider.Session) (bool, error) {
	_, err := unifiedAssets(ctx, s)
	if errors.Is(err, errClassic) {
		return false, nil
	}
	return true, err
}

// information is what Bitget says about an account and an API key, in the words for both kinds of accounts.
type information struct {
	UID         string   `json:"uid"`
	UserID      string   `json:"userId"`
	Registered  string   `json:"regisTime"`
	Access      string   `json:"permType"`
	Permissions []string `json:"permissions"`
	Authorities []string `json:"authorities"`
}

// inform asks for the information about an account.
func inform(ctx context.Context, s *provider.Session, unified bool) (out information, err error) {
	path := "/api/v2/spot/account/info"
	if unified {
		path = "/api/v3/account/info"
	}
	return out, get(ctx, s, path, nil, &out)
}

// trading and moving are the authorities of the keys of classic accounts that permit more than to read.
var (
	trading = []string{"trade", "stow", "smow", "coow", "cpow", "ttow", "pllw", "p2p", "p2pw"}
	moving  = []string{"withdraw", "transfer", "wwow", "wtow"}
)

// grants returns what an API key permits, and nil if Bitget does not tell.
func (i information) grants() []provider.Grant {
	if i.Access == "" && i.Authorities == nil {
		return nil
	}
	writes := i.Access != "" && i.Access != "read-only"
	has := func(some []string) bool {
		return slices.ContainsFunc(i.Authorities, func(a string) bool { return slices.Contains(some, a) })
	}
	out := []provider.Grant{provider.Read}
	if writes || has(trading) {
		out = append(out, provider.Trade)
	}
	if writes && (slices.Contains(i.Permissions, "withdraw") || slices.Contains(i.Permissions, "transfer")) || has(moving) {
		out = append(out, provider.Withdraw)
	}
	return out
}

// Check asks whose an API key is and what it permits, and for records.
func (c Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	unified, err := isUnified(ctx, s)
	if err != nil {
		return out, err
	}
	info, err := inform(ctx, s, unified)
	if err != nil {
		return out, err
	}
	out = provider.Account{ID: info.UserID, Grants: info.grants()}
	if unified {
		out.ID = info.UID
	} else {
		out.Warnings = []string{"only the spot account is read. What is in the accounts for futures, margin, funding and Earn is not"}
	}
	b, now := bookOf(unified), s.Now().UnixMilli()
	if _, _, err = b.records(ctx, s, b.sections[0], now-time.Hour.Milliseconds(), now, 1); err != nil || unified {
		return out, err
	}
	_, err = spotAssets(ctx, s) // needs another permission than the records
	return out, err
}

// Balances returns what the account holds: a unified one in all, a classic one in its spot account.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	sums := map[string]money.Decimal{}
	held, err := unifiedAssets(ctx, s)
	for _, h := range held {
		currency := strings.ToUpper(h.Coin)
		sums[currency] = sums[currency].Add(h.Balance.Decimal)
	}
	if !errors.Is(err, errClassic) {
		return provider.Complete(sums), err
	}
	spot, err := spotAssets(ctx, s)
	for _, h := range spot {
		currency := strings.ToUpper(h.Coin)
		sums[currency] = sums[currency].Add(h.Available.Decimal).Add(h.Frozen.Decimal).Add(h.Locked.Decimal)
	}
	return provider.Complete(sums), err
}
