// Package coinbase reads accounts at Coinbase. Each wallet has a list of its movements; the lists are read side by side, so that the parts
// of a trade, which are in two of them, arrive together.
package coinbase

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title  = "Coinbase"
	ledger = "transactions"
	// host is part of what is signed, also if the address of the API is another in a test.
	host = "api.coinbase.com"
	// nonceSize is how many bytes of a nonce are random.
	nonceSize = 16
	// accountPagesMax bounds the list of wallets.
	accountPagesMax = 100
)

// Connector reads accounts at Coinbase.
type Connector struct{}

// Describe says what Coinbase is and what is needed to connect an account there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "coinbase", Title: title, Kind: provider.Exchange, URL: "https://" + host,
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key name", Max: 300,
				Help: "It looks like organizations/.../apiKeys/..., or is an id for a key with Ed25519."},
			{Name: provider.APISecret, Title: "Private key", Secret: true, Max: 2000, Help: "The whole text from -----BEGIN EC PRIVATE KEY----- " +
				"on or, for a key with Ed25519, one line that ends in =. Coinbase shows it once."},
		},
		Advice: "In the Coinbase Developer Platform, under API keys, create a secret API key with the permission View, and no other. Take away " +
			"Trade and Transfer under API restrictions. Choose the signature algorithm ECDSA, with which Coinbase tells the permissions of the " +
			"key; one with Ed25519 is accepted, too.",
		Ledgers: []string{ledger},
		Rate:    provider.Rate{Burst: 50, Every: 400 * time.Millisecond}, // 10,000 an hour
		Unverified: []string{
			"whether every part of the API accepts keys for Ed25519: its documentation asks for ECDSA (2026), and Coinbase's own library signs " +
				"with both since June 2026. If the part that tells permissions does not, the connection says so in a warning",
			"that the commission of a trade is charged to the quote currency in addition to what the wallets show, and is stated with the base " +
				"currency; amounts of fiat money are rounded to cents, so that their sum may differ from the balance",
			"whether a network fee in another currency than that of a sent amount has an entry of its own",
			"whether the history is complete for accounts with a Coinbase Card",
			"whether movements of one second keep their order, and by how much they may appear late",
			"whether wallets of other portfolios than that of the key are shown, and whether balances contain holds",
			"whether the identifiers are those of the CSV report",
			"what a lacking permission is answered with, other than the status 403",
		},
	}
}

// get sends a request and decodes its answer.
func get(ctx context.Context, s *provider.Session, path string, query url.Values, into any) error {
	private, err := parseKey(s.Text(provider.APISecret))
	if err != nil {
		return fault.Invalidf(provider.APISecret, "%v. Copy the private key of the API key with its first and its last line", err)
	}
	var made time.Time
	_, err = s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			made = s.Now()
			r, err := s.Request(ctx, http.MethodGet, path, query.Encode(), "")
			if err != nil {
				return nil, err
			}
			nonce := make([]byte, nonceSize)
			if _, err := rand.Read(nonce); err != nil {
				return nil, err
			}
			bearer, err := token(private, s.Text(provider.APIKey), "GET "+host+path, hex.EncodeToString(nonce), made)
			r.Header.Set("Authorization", "Bearer "+bearer)
			return r, err
		},
		Explain: func(a provider.Answer) error { return explain(a, made, into) },
	})
	return err
}

// gone is the error for a request that names something that does not exist.
type gone struct{ error }

func (g gone) Unwrap() error { return g.error }

// explain returns the error that an answer states, and otherwise decodes it. made is the time of the token.
func explain(a provider.Answer, made time.Time, into any) error {
	if a.Status == http.StatusOK {
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	}
	if bytes.HasPrefix(a.Body, []byte("<")) {
		return provider.Nonsense(title, fmt.Errorf("status %d with a page of HTML", a.Status))
	}
	said := message(a)
	switch a.Status {
	case http.StatusUnauthorized:
		// Coinbase does not say whether it refuses the key or the time.
		if at, err := http.ParseTime(a.Header.Get("Date")); err == nil && (at.Before(made.Add(-lead)) || at.After(made.Add(lifetime-lead))) {
			return provider.ErrClock
		}
		return fault.Unauthorizedf("Coinbase refuses the API key or its private key")
	case http.StatusForbidden:
		return fault.Forbiddenf("the API key lacks a permission at Coinbase: View is needed. If the key is limited to IP addresses, that of " +
			"this service must be among them")
	case http.StatusNotFound, http.StatusBadRequest:
		return gone{fault.Conflictf("Coinbase refuses the request: %s", said)}
	}
	return fault.Conflictf("Coinbase refuses the request: %s", said)
}

// message returns the text of an error. The two generations of the API have different formats.
func message(a provider.Answer) string {
	var answer struct {
		Errors []struct {
			ID      string `json:"id"`
			Message string `json:"message"`
		} `json:"errors"`
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(a.Body, &answer) // an error may also be plain text
	if len(answer.Errors) > 0 {
		return provider.Clean(cmp.Or(answer.Errors[0].Message, answer.Errors[0].ID))
	}
	return provider.Clean(cmp.Or(answer.Message, answer.Error, http.StatusText(a.Status)))
}

// amount is an amount of money.
type amount struct {
	Amount   provider.Decimal `json:"amount"`
	Currency string           `json:"currency"`
}

// account is a wallet, as the list of all has it.
type account struct {
	ID      string `json:"id"`
	Balance amount `json:"balance"`
}

// accounts returns all wallets.
func accounts(ctx context.Context, s *provider.Session) ([]account, error) {
	var all []account
	after := ""
	for range accountPagesMax {
		p, err := list(ctx, s, "/v2/accounts", after)
		if err != nil {
			return nil, err
		}
		for _, original := range p.rows {
			one := account{}
			if err := json.Unmarshal(original, &one); err != nil || one.ID == "" {
				return nil, provider.Nonsense(title, fmt.Errorf("a wallet cannot be read: %w", cmp.Or(err, errNoID)))
			}
			all = append(all, one)
		}
		if p.next == "" {
			return all, nil
		}
		after = p.next
	}
	return nil, provider.Nonsense(title, errors.New("the list of wallets has no end"))
}

var errNoID = errors.New("it has no id")

// Check reads what Read needs, and asks for the permissions of an API key.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	wallets, err := accounts(ctx, s)
	if err != nil {
		return out, err
	}
	if len(wallets) > 0 {
		if _, err := list(ctx, s, walletPath(wallets[0].ID), ""); err != nil {
			return out, err
		}
	}
	var info struct {
		View      bool   `json:"can_view"`
		Trade     bool   `json:"can_trade"`
		Transfer  bool   `json:"can_transfer"`
		Portfolio string `json:"portfolio_uuid"`
	}
	err = get(ctx, s, "/api/v3/brokerage/key_permissions", nil, &info)
	if fault.KindOf(err) == fault.Unauthorized { // this part of the API may not accept keys for Ed25519
		out.Warnings = []string{"Coinbase does not tell the permissions of this API key. Make sure that it has the permission View and no " +
			"other, or create one with the signature algorithm ECDSA"}
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out = provider.Account{ID: info.Portfolio, Grants: []provider.Grant{provider.Read}}
	if info.Trade {
		out.Grants = append(out.Grants, provider.Trade)
	}
	if info.Transfer {
		out.Grants = append(out.Grants, provider.Withdraw)
	}
	return out, nil
}

// Balances returns what all wallets hold together.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	wallets, err := accounts(ctx, s)
	if err != nil {
		return provider.Holdings{}, err
	}
	sums := map[string]money.Decimal{}
	for _, w := range wallets {
		currency := provider.Symbol(w.Balance.Currency)
		sums[currency] = sums[currency].Add(w.Balance.Amount.Decimal)
	}
	return provider.Complete(sums), nil
}
