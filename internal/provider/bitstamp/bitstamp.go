// Package bitstamp reads accounts at Bitstamp. The user transactions have every change of every balance, so that nothing else is read.
package bitstamp

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title  = "Bitstamp"
	ledger = "transactions"
)

// Connector reads accounts at Bitstamp.
type Connector struct{}

// Describe says what Bitstamp is and what is needed to connect an account there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "bitstamp", Title: title, Kind: provider.Exchange, URL: "https://www.bitstamp.net",
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key", Max: 200},
			{Name: provider.APISecret, Title: "Secret", Help: "Bitstamp shows it once, when the API key is activated.", Secret: true, Max: 200},
		},
		Advice: "In Bitstamp, under Settings, API access, create a key with the permissions Account balance and User transactions, and no " +
			"other, and activate it. A key belongs to one account: create one for the main account and one for each sub account, and connect " +
			"each.",
		Ledgers: []string{ledger},
		Rate:    provider.Rate{Burst: 100, Every: 60 * time.Millisecond}, // 10,000 requests in 10 minutes
		Unverified: []string{
			"whether the amount of a withdrawal or deposit is stated before its fee, as that of a trade is",
			"whether the first transaction that is returned has the id that was asked for, or the next one",
			"how a trade between two orders of the same account is stated",
			"how trades and settlements of derivatives are stated",
			"whether times are in UTC",
			"the status of the answer to too many requests",
			"what an API key permits, which Bitstamp does not tell",
		},
	}
}

// request is what a signature covers.
type request struct {
	key, method, host, path, query string
	contentType, nonce, timestamp  string
	body                           string
}

// sign returns the signature of a request.
func sign(secret string, r request) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("BITSTAMP " + r.key + r.method + r.host + r.path + r.query + r.contentType + r.nonce + r.timestamp + "v2" + r.body))
	return hex.EncodeToString(mac.Sum(nil))
}

// nonce returns a random UUID.
func nonce() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // version 4 of the usual variant
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// post sends a private request and decodes the list that it returns.
func post(ctx context.Context, s *provider.Session, method string, form url.Values, into any) error {
	path := "/api/v2/" + method + "/"
	_, err := s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			body := form.Encode()
			r, err := s.Request(ctx, http.MethodPost, path, "", body)
			if err != nil {
				return nil, err
			}
			once, err := nonce()
			if err != nil {
				return nil, err
			}
			signed := request{key: s.Text(provider.APIKey), method: http.MethodPost, host: r.URL.Host, path: path, nonce: once,
				timestamp: strconv.FormatInt(s.Now().UnixMilli(), 10), body: body}
			if body != "" { // Bitstamp refuses the header if there is no body
				signed.contentType = "application/x-www-form-urlencoded"
				r.Header.Set("Content-Type", signed.contentType)
			}
			r.Header.Set("X-Auth", "BITSTAMP "+signed.key)
			r.Header.Set("X-Auth-Signature", sign(s.Text(provider.APISecret), signed))
			r.Header.Set("X-Auth-Nonce", signed.nonce)
			r.Header.Set("X-Auth-Timestamp", signed.timestamp)
			r.Header.Set("X-Auth-Version", "v2")
			return r, nil
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
	})
	return err
}

// refusal is an answer that states an error, in one of two ways.
type refusal struct {
	Reason      json.RawMessage `json:"reason"` // a text, or texts by field
	Code        string          `json:"code"`
	Number      string          `json:"response_code"`
	Explanation string          `json:"response_explanation"`
}

// explain returns the error that an answer states, and otherwise decodes its list.
func explain(a provider.Answer, into any) error {
	if a.Status == http.StatusOK && len(a.Body) > 0 && a.Body[0] == '[' {
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	}
	var said refusal
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return provider.Nonsense(title, fmt.Errorf("status %d: %w", a.Status, err))
	}
	reason := said.text()
	switch said.Code {
	case "API0001", "API0005", "API0008", "API0011":
		return fault.Unauthorizedf("Bitstamp refuses the API key or its secret")
	case "API0002":
		return fault.Forbiddenf("the API key may not be used from the address of this service: remove the list of IP addresses from the key " +
			"at Bitstamp, or add the address")
	case "API0003":
		return fault.Forbiddenf("the API key lacks a permission at Bitstamp: Account balance and User transactions are needed")
	case "API0004":
		return provider.Temporary(title, "%s %s", said.Code, reason)
	case "API0017":
		return provider.ErrClock
	}
	switch {
	case said.Number == "400.002":
		return provider.Busy(0, title)
	case strings.HasPrefix(said.Number, "500."):
		return provider.Temporary(title, "%s %s", said.Number, reason)
	case reason == "":
		return provider.Nonsense(title, fmt.Errorf("status %d without a list and without a reason", a.Status))
	}
	return fault.Conflictf("Bitstamp refuses the request: %s", provider.Clean(reason))
}

// text returns why a request was refused, and an empty text if that is not stated.
func (r refusal) text() string {
	var plain string
	if json.Unmarshal(r.Reason, &plain) == nil && plain != "" {
		return plain
	}
	if r.Explanation == "" && string(r.Reason) != "null" {
		return string(r.Reason)
	}
	return r.Explanation
}

// Check asks for a transaction and for the balances. Bitstamp does not tell whose an API key is, and what it permits.
func (c Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	var some []json.RawMessage
	if err := post(ctx, s, "user_transactions", url.Values{"limit": {"1"}}, &some); err != nil {
		return out, err
	}
	_, err = c.Balances(ctx, s)
	return out, err
}

// Balances returns what the account holds, with what is reserved for orders.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	var held []struct {
		Currency string           `json:"currency"`
		Total    provider.Decimal `json:"total"`
	}
	if err := post(ctx, s, "account_balances", nil, &held); err != nil {
		return provider.Holdings{}, err
	}
	sums := map[string]money.Decimal{}
	for _, h := range held {
		currency := strings.ToUpper(h.Currency)
		sums[currency] = sums[currency].Add(h.Total.Decimal)
	}
	return provider.Complete(sums), nil
}
