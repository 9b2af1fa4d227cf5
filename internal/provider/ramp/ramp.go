// Package ramp reads the card account of a company at Ramp: card transactions, the payments of their statements, and cashback.
package ramp

import (
	"context"
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
	title = "Ramp"
	// prefix begins the path of every request.
	prefix = "/developer/v1"
	// part is the id of the card account.
	part = "card"
	// currency is that of the balance, which Ramp states without one.
	currency = "USD"
)

// Connector reads card accounts at Ramp.
type Connector struct{}

// Describe says what Ramp is and what is needed to connect a company there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "ramp", Title: title, Kind: provider.Card, URL: "https://api.ramp.com", RegisterAt: "https://app.ramp.com",
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "Client ID", Optional: true, Max: 200,
				Help: "Only if you have created an app of your own at Ramp. Otherwise leave it empty: Ramp opens a page on which you consent."},
			{Name: provider.APISecret, Title: "Client secret", Help: "That of the same app.", Secret: true, Optional: true, Max: 200},
		},
		Advice: "Either consent on the page that Ramp opens, as an admin or the owner of the business. Or create an app in Ramp, under " +
			"Company, Developer, with the grant type client credentials and the scopes transactions:read, transfers:read, cashbacks:read and " +
			"business:read, and no other, and enter its client ID and secret. Bills and reimbursements that Ramp pays out of a bank account " +
			"are not read, because that bank account shows them.",
		Ledgers: []string{transactions.name, transfers.name, cashbacks.name},
		Rate:    provider.Rate{Burst: 20, Every: 100 * time.Millisecond}, // 200 requests in 10 seconds, with some reserve
		Unverified: []string{
			"the sign of transactions: above zero is taken to be a purchase, and below zero money that a merchant gives back",
			"the sign of transfers: above zero is taken to be a payment of the card account",
			"whether a transaction can still change after it has the state CLEARED, and what the state COMPLETION means: it is not read",
			"whether transfers with the status ACH_CONFIRMED are settled, as assumed",
			"transfers and cashback have the time at which they were created, because Ramp states no other",
			"whether the card account is in US dollars, and how accounts in several currencies are told apart: they are one here",
			"whether the card balance without pending transactions changes at once when a transaction is cleared, or a payment arrives",
			"bills and reimbursements that are paid through Ramp, money in a Ramp business account, and Ramp Flex are not read",
			"a transaction is missing that is shown for the first time more than 14 days after it was made, or that is pending for more than 90",
			"whether Ramp replaces the refresh token when it is used; the new one is kept if there is one",
			"what a token permits beyond what was asked for",
		},
	}
}

// get sends a request and decodes the answer.
func get(ctx context.Context, s *provider.Session, path string, query url.Values, into any) error {
	if err := ensureToken(ctx, s); err != nil {
		return err
	}
	_, err := s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, http.MethodGet, prefix+path, query.Encode(), "")
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+s.Text(provider.AccessToken))
				r.Header.Set("Accept", "application/json")
			}
			return r, err
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
		Renew:   renew,
	})
	return err
}

// errRefused is why an answer refuses a request for another reason than its token. A position between two pages that is not valid any more
// is one.
var errRefused = errors.New("the request is refused")

// explain returns the error that an answer states, and otherwise decodes it.
func explain(a provider.Answer, into any) error {
	switch a.Status {
	case http.StatusOK:
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	case http.StatusUnauthorized:
		return provider.ErrExpired
	case http.StatusForbidden:
		return errScopes()
	}
	var said struct {
		V2 struct {
			Code    string `json:"error_code"`
			Message string `json:"message"`
		} `json:"error_v2"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return provider.Nonsense(title, fmt.Errorf("status %d: %w", a.Status, err))
	}
	return fmt.Errorf("%w: %s", errRefused, provider.Clean(said.V2.Code+" "+said.V2.Message))
}

func errScopes() error {
	return fault.Forbiddenf("the access lacks a permission at Ramp: the scopes transactions:read, transfers:read, cashbacks:read and " +
		"business:read are needed")
}

// refused returns the error for a request that Ramp refuses for a reason that nobody here can change.
func refused(err error) error {
	if errors.Is(err, errRefused) {
		return fault.Conflictf("Ramp does not answer: %v", err)
	}
	return err
}

// Check asks for the business, its balance and a page of each ledger.
func (c Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	var business struct {
		ID   string `json:"id"`
		Name string `json:"business_name_legal"`
	}
	if err := get(ctx, s, "/business", nil, &business); err != nil {
		return out, refused(err)
	}
	if _, err := c.Balances(ctx, s); err != nil {
		return out, err
	}
	for _, l := range ledgers {
		var some page
		if err := get(ctx, s, l.path, url.Values{"page_size": {"2"}}, &some); err != nil {
			return out, refused(err)
		}
	}
	return provider.Account{ID: business.ID, Name: provider.Clean(business.Name)}, nil
}

// Parts returns the card account.
func (Connector) Parts(context.Context, *provider.Session) ([]provider.Part, error) {
	return []provider.Part{{ID: part, Name: "Ramp cards", Kind: provider.CardAccount, Currency: currency}}, nil
}

// decimal is an amount that Ramp writes as a number.
type decimal struct{ money.Decimal }

// UnmarshalJSON accepts a number without an exponent.
func (d *decimal) UnmarshalJSON(data []byte) (err error) {
	d.Decimal, err = money.Parse(string(data))
	return err
}

// Balances returns what is owed on the cards, below zero.
func (Connector) Balances(ctx context.Context, s *provider.Session) (held provider.Holdings, err error) {
	var out struct {
		Owed *decimal `json:"card_balance_excluding_pending"`
	}
	if err := get(ctx, s, "/business/balance", nil, &out); err != nil {
		return held, refused(err)
	}
	if out.Owed != nil {
		held.Balances = []provider.Balance{{Currency: currency, Amount: out.Owed.Neg(), Part: part}}
	}
	return held, nil
}
