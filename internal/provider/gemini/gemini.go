// Package gemini reads accounts at Gemini. There is no list of all movements: trades, transfers and rewards for staking are read one after
// the other.
package gemini

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title = "Gemini"
	// transfersCost is what a request for transfers takes of the limit: one is allowed every five seconds.
	transfersCost = 25
)

// Connector reads accounts at Gemini.
type Connector struct{}

// Describe says what Gemini is and what is needed to connect an account there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "gemini", Title: title, Kind: provider.Exchange, URL: "https://api.gemini.com",
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key", Help: "It begins with account-", Max: 200},
			{Name: provider.APISecret, Title: "API secret", Help: "Gemini shows it once, together with the API key.", Secret: true, Max: 200},
		},
		Advice: "In Gemini, under Settings, API, create a key with the scope of one account, not of the master group, and with the role " +
			"Auditor, which excludes all others. Time based nonces are recommended. Use the key for Bursar only.",
		Ledgers: []string{ledgerTrades, ledgerTransfers, ledgerStaking},
		Rate:    provider.Rate{Burst: transfersCost, Every: 200 * time.Millisecond}, // five a second are recommended
		Unverified: []string{
			"that trades are listed without a symbol, and that a list from a time on begins with the oldest transfers, as it does with trades",
			"whether the time from which transfers are listed is inclusive, and whether the answer of the staking history is limited in all or " +
				"for each provider",
			"how the amount in the quote currency of a trade is rounded",
			"what becomes of a deposit that is credited in advance: it is read once it is complete, or after 30 days",
			"whether a deposit fee is deducted from the amount, and that a withdrawal fee is charged in addition to it",
			"whether staking rewards are among the transfers, too, and how they are shown to accounts that cannot stake",
			"perpetual contracts, clearing, custody fees, Gemini Earn, margin interest and prediction markets, which are not read",
			"how a wrong API key is refused, other than one with a wrong secret, and whether several requests may have the same time based nonce",
		},
	}
}

// sign returns the signature of a payload in Base64.
func sign(secret, payload string) string {
	mac := hmac.New(sha512.New384, []byte(secret))
	mac.Write([]byte(payload))
	return hex.EncodeToString(mac.Sum(nil))
}

// counting is what a session has learnt about a key whose nonces only have to increase. Those of other keys are the time in seconds.
const counting = "nonces increase"

var (
	// errNonce means that the nonces of a key are of the other kind.
	errNonce = errors.New("the nonce is of the other kind")
	errMaybe = errors.New("a higher nonce has been received")
)

// post sends a request and decodes its answer.
func post(ctx context.Context, s *provider.Session, path string, cost int, params map[string]any, into any) error {
	send := func() error {
		_, err := s.Do(ctx, provider.Call{
			Cost: cost,
			Build: func(ctx context.Context) (*http.Request, error) {
				body := map[string]any{"request": path, "nonce": s.Now().Unix()}
				if s.Learnt == counting {
					body["nonce"] = s.Nonce()
				}
				maps.Copy(body, params)
				text, err := json.Marshal(body)
				if err != nil {
					return nil, err
				}
				r, err := s.Request(ctx, http.MethodPost, path, "", "")
				if err != nil {
					return nil, err
				}
				payload := base64.StdEncoding.EncodeToString(text)
				r.Header.Set("Content-Type", "text/plain")
				r.Header.Set("Cache-Control", "no-cache")
				r.Header.Set("X-GEMINI-APIKEY", s.Text(provider.APIKey))
				r.Header.Set("X-GEMINI-PAYLOAD", payload)
				r.Header.Set("X-GEMINI-SIGNATURE", sign(s.Text(provider.APISecret), payload))
				return r, nil
			},
			Explain: func(a provider.Answer) error { return explain(a, s.Learnt == counting, into) },
		})
		return err
	}
	err := send()
	if !errors.Is(err, errNonce) {
		return err
	}
	if s.Learnt == counting {
		s.Learnt = ""
	} else {
		s.Learnt = counting
	}
	if err = send(); errors.Is(err, errNonce) {
		err = provider.Temporary(title, "the key accepts no nonce of either kind")
	}
	return err
}

// refusal is how Gemini states an error.
type refusal struct {
	Result  string `json:"result"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// gone is the error for a part of the API that does not exist.
type gone struct{ error }

func (g gone) Unwrap() error { return g.error }

// explain returns the error that an answer states, and otherwise decodes it. counted says that the nonce was no time.
func explain(a provider.Answer, counted bool, into any) error {
	if a.Status == http.StatusOK {
		if bytes.Equal(a.Body, []byte("null")) {
			return provider.Nonsense(title, errors.New("the answer is null"))
		}
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	}
	var said refusal
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return provider.Nonsense(title, err)
	}
	switch said.Reason {
	case "InvalidNonce":
		return explainNonce(said.Message, counted)
	case "InvalidSignature", "InvalidApiKey", "MissingApikeyHeader":
		return fault.Unauthorizedf("Gemini refuses the API key or its secret")
	case "MissingRole":
		return fault.Forbiddenf("the API key lacks a role at Gemini: Auditor is needed")
	case "RemoteAddressForbidden", "ApiKeyIpFilteringFailure":
		return fault.Forbiddenf("the API key is limited to IP addresses at Gemini: that of this service must be among them")
	case "MissingAccounts", "MissingAccountName", "NotGroupApiCompatible":
		return fault.Conflictf("the API key is one of a master group at Gemini: create one with the scope of a single account")
	case "RateLimit":
		return provider.Busy(0, title)
	case "Maintenance", "System":
		return provider.Temporary(title, "%s", said.Message)
	}
	switch {
	case a.Status == http.StatusUnauthorized || strings.Contains(said.Message, "Invalid API key"):
		return fault.Unauthorizedf("Gemini refuses the API key or its secret")
	case a.Status == http.StatusForbidden:
		return fault.Forbiddenf("the API key lacks a role at Gemini: Auditor is needed. Gemini says: %s", provider.Clean(said.Message))
	}
	err := fault.Conflictf("Gemini refuses the request: %s", provider.Clean(cmp.Or(said.Message, said.Reason, http.StatusText(a.Status))))
	if a.Status == http.StatusNotFound {
		return gone{err}
	}
	return err
}

// explainNonce returns the error for a nonce that is refused. Whether those of a key have to be the time is its owner's choice; the message
// tells the two kinds apart.
func explainNonce(message string, counted bool) error {
	switch timed := strings.Contains(message, "within"); {
	case timed == counted:
		return errNonce
	case timed:
		return provider.ErrClock
	}
	return fault.UnavailableBecause(errMaybe, "Gemini has received a higher nonce with this API key. If that lasts, another program uses the "+
		"key: create one for Bursar alone")
}

// Check asks for the roles of an API key and whose it is, and reads a trade and a transfer.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	var roles struct {
		Trader      bool `json:"isTrader"`
		FundManager bool `json:"isFundManager"`
		Admin       bool `json:"isAccountAdmin"`
	}
	if err := post(ctx, s, "/v1/roles", 1, nil, &roles); err != nil {
		return out, err
	}
	var owner struct {
		Account struct {
			Name string `json:"accountName"`
		} `json:"account"`
		Reference string `json:"memo_reference_code"`
	}
	if err := post(ctx, s, "/v1/account", 1, nil, &owner); err != nil {
		return out, err
	}
	for _, name := range []string{ledgerTrades, ledgerTransfers} {
		if _, err := feeds[name].read(ctx, s, 0, 1); err != nil {
			return out, err
		}
	}
	out = provider.Account{ID: owner.Reference, Name: owner.Account.Name, Grants: []provider.Grant{provider.Read}}
	if roles.Trader {
		out.Grants = append(out.Grants, provider.Trade)
	}
	if roles.FundManager || roles.Admin {
		out.Grants = append(out.Grants, provider.Withdraw)
	}
	return out, nil
}

// holding is what the account holds of an asset, for trading or in staking.
type holding struct {
	Currency string `json:"currency"`
	Amount   scalar `json:"amount"`
	Balance  scalar `json:"balance"`
}

// Balances returns what the account holds, with what is staked.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	var trading, staked []holding
	if err := post(ctx, s, "/v1/balances", 1, nil, &trading); err != nil {
		return provider.Holdings{}, err
	}
	if err := post(ctx, s, "/v1/balances/staking", 1, nil, &staked); err != nil && !errors.As(err, &gone{}) {
		return provider.Holdings{}, err
	}
	sums := map[string]money.Decimal{}
	for _, h := range append(trading, staked...) {
		amount, err := cmp.Or(h.Amount, h.Balance).decimal()
		if err != nil {
			return provider.Holdings{}, provider.Nonsense(title, err)
		}
		currency := provider.Symbol(h.Currency)
		sums[currency] = sums[currency].Add(amount)
	}
	return provider.Complete(sums), nil
}
