// Package kraken reads accounts at Kraken. The ledger has every change of every balance, so that nothing else is read.
package kraken

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
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
	"github.com/bursarhq/bursar/internal/rules/intake"
)

const (
	title  = "Kraken"
	ledger = "ledger"
	// ledgerCost is what a page of the ledger takes of the limit; other requests take 1.
	ledgerCost = 2
)

// Connector reads accounts at Kraken.
type Connector struct{}

// Describe says what Kraken is and what is needed to connect an account there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "kraken", Title: title, Kind: provider.Exchange, URL: "https://api.kraken.com",
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key", Max: 200},
			{Name: provider.APISecret, Title: "Private key", Help: "Kraken shows it once, together with the API key.", Secret: true, Max: 200},
		},
		Advice: "In Kraken, under Settings, Connections & API, create a key with the permissions Query (funds) and Query ledger entries, and " +
			"no other. Leave the query start and end dates empty, so that all of the history can be read.",
		Ledgers:    []string{ledger},
		Rate:       provider.Rate{Burst: 14, Every: 2 * time.Second}, // the limits of the tier Intermediate
		Unverified: []string{"whether start and end of the ledger are inclusive", "limits of each tier", "a second factor on the key"},
	}
}

// sign returns the signature of a request to a path with a nonce and a body.
func sign(secret []byte, path, nonce, body string) string {
	inner := sha256.Sum256([]byte(nonce + body))
	mac := hmac.New(sha512.New, secret)
	mac.Write([]byte(path))
	mac.Write(inner[:])
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// post sends a private request and decodes its result.
func post(ctx context.Context, s *provider.Session, method string, cost int, form url.Values, into any) error {
	key, err := base64.StdEncoding.DecodeString(s.Text(provider.APISecret))
	if err != nil {
		return fault.Invalidf(provider.APISecret, "is not a private key of Kraken, which consists of letters, digits, +, / and =")
	}
	path := "/0/private/" + method
	_, err = s.Do(ctx, provider.Call{
		Cost: cost,
		Build: func(ctx context.Context) (*http.Request, error) {
			nonce := strconv.FormatInt(s.Nonce(), 10)
			body := "nonce=" + nonce
			if len(form) > 0 {
				body += "&" + form.Encode()
			}
			r, err := s.Request(ctx, http.MethodPost, path, "", body)
			if err != nil {
				return nil, err
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("API-Key", s.Text(provider.APIKey))
			r.Header.Set("API-Sign", sign(key, path, nonce, body))
			return r, nil
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
	})
	return err
}

// explain returns the error that an answer states, and otherwise decodes its result.
func explain(a provider.Answer, into any) error {
	var answer struct {
		Error  []string        `json:"error"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil {
		return provider.Nonsense(title, err)
	}
	if len(answer.Error) == 0 {
		if len(answer.Result) == 0 {
			return provider.Nonsense(title, fmt.Errorf("status %d without a result and without an error", a.Status))
		}
		if err := json.Unmarshal(answer.Result, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	}
	said := answer.Error[0]
	switch {
	case said == "EAPI:Invalid key", said == "EAPI:Invalid signature":
		return fault.Unauthorizedf("Kraken refuses the API key or its private key")
	case said == "EAPI:Invalid nonce":
		return fault.UnavailableBecause(errors.New(said), "Kraken has received a higher nonce with this API key. If that lasts, another program "+
			"uses the key: create one for Bursar alone")
	case strings.HasPrefix(said, "EGeneral:Permission denied"):
		return fault.Forbiddenf("the API key lacks a permission at Kraken: Query (funds) and Query ledger entries are needed")
	case strings.HasPrefix(said, "EAPI:Rate limit"), strings.HasPrefix(said, "EGeneral:Temporary lockout"):
		return provider.Busy(0, title)
	case strings.HasPrefix(said, "EService:Throttled:"):
		return provider.Busy(throttled(said, a.Header), title)
	case strings.HasPrefix(said, "EService:"), strings.HasPrefix(said, "EGeneral:Internal"):
		return provider.Temporary(title, "%s", said)
	}
	return fault.Conflictf("Kraken refuses the request: %s", provider.Clean(said))
}

// throttled returns how long to wait by an error that ends in the time at which requests are allowed again.
func throttled(said string, h http.Header) time.Duration {
	until, err := strconv.ParseInt(said[strings.LastIndexByte(said, ':')+1:], 10, 64)
	now, failed := http.ParseTime(h.Get("Date"))
	if err != nil || failed != nil {
		return 0
	}
	return time.Unix(until, 0).Sub(now)
}

// needed are the permissions that an API key must have, with what Kraken calls them where keys are created.
var needed = []struct{ permission, title string }{{"query-funds", "Query (funds)"}, {"query-ledger", "Query ledger entries"}}

// lacks returns an error that names the needed permissions that an API key does not have.
func lacks(permissions []string) error {
	var missing []string
	for _, n := range needed {
		if !slices.Contains(permissions, n.permission) {
			missing = append(missing, n.title)
		}
	}
	switch {
	case len(permissions) == 0:
		return fault.Forbiddenf("the API key permits nothing at Kraken: %s are needed", strings.Join(missing, " and "))
	case len(missing) == 1:
		return fault.Forbiddenf("the API key lacks a permission at Kraken: %s is needed", missing[0])
	case len(missing) > 1:
		return fault.Forbiddenf("the API key lacks permissions at Kraken: %s are needed", strings.Join(missing, " and "))
	}
	return nil
}

// grantOf returns what a permission allows. Who can change the addresses to which money is withdrawn can have it sent elsewhere. What is
// unknown may allow more than to read.
func grantOf(permission string) provider.Grant {
	switch permission {
	case "withdraw-funds", "add-withdraw-address", "update-withdraw-address", "internal-transfer":
		return provider.Withdraw
	case "query-funds", "query-ledger", "query-open-trades", "query-closed-trades", "export-data", "create-ws-token":
		return provider.Read
	}
	return provider.Trade // modify-trades, close-trades, add-funds, earn-funds and so on
}

// Check asks for the permissions of an API key, and for a page of the ledger.
func (c Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	var info struct {
		Permissions []string `json:"permissions"`
		IBAN        string   `json:"iban"`
		ValidUntil  string   `json:"validUntil"`
		QueryFrom   string   `json:"queryFrom"`
		QueryTo     string   `json:"queryTo"`
	}
	if err := post(ctx, s, "GetApiKeyInfo", 1, nil, &info); err != nil {
		return out, err
	}
	if err := lacks(info.Permissions); err != nil {
		return out, err
	}
	out = provider.Account{ID: strings.ReplaceAll(info.IBAN, " ", ""), Grants: []provider.Grant{provider.Read}}
	for _, permission := range info.Permissions {
		if grant := grantOf(permission); !slices.Contains(out.Grants, grant) {
			out.Grants = append(out.Grants, grant)
		}
	}
	slices.Sort(out.Grants)
	if at := instant(info.ValidUntil); !at.IsZero() {
		out.Warnings = append(out.Warnings, "the API key expires on "+at.Format(time.DateOnly))
	}
	if from, to := instant(info.QueryFrom), instant(info.QueryTo); !from.IsZero() || !to.IsZero() {
		out.Warnings = append(out.Warnings, "the API key shows only a part of the history, because it has a query start or end date")
	}
	_, err = readPage(ctx, s, span{Until: s.Now().Unix()}, 0)
	return out, err
}

// instant returns a time in seconds, and the zero time for 0 and for what is none.
func instant(seconds string) time.Time {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// Balances returns what the account holds, wallets for staking and rewards included.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	var held map[string]provider.Decimal
	if err := post(ctx, s, "Balance", 1, nil, &held); err != nil {
		return provider.Holdings{}, err
	}
	if held == nil {
		return provider.Holdings{}, provider.Nonsense(title, errors.New("the balances are missing"))
	}
	sums := map[string]money.Decimal{}
	for name, amount := range held {
		if name == feeCredits {
			continue
		}
		currency := intake.KrakenAsset(name)
		sums[currency] = sums[currency].Add(amount.Decimal)
	}
	return provider.Complete(sums), nil
}

// feeCredits is what Kraken calls credits that fees are paid with. They are no asset.
const feeCredits = "KFEE"
