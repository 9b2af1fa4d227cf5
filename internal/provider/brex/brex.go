// Package brex reads cards and cash accounts at Brex.
package brex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title = "Brex"

	// The ledgers.
	cardLedger = "card"
	cashLedger = "cash"
)

// Connector reads cards and cash accounts at Brex.
type Connector struct{}

// Describe says what Brex is and what is needed to connect a company there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "brex", Title: title, Kind: provider.Card, URL: "https://api.brex.com",
		Fields: []provider.Field{{Name: provider.APIKey, Title: "User token", Secret: true, Max: 500,
			Help: "Brex shows it once. It begins with bxt_."}},
		Advice: "In Brex, as an account admin, under Developer, Settings, create a token with read access to card accounts, card transactions, " +
			"cash accounts and cash transactions, and no other. A token of a person without that role shows only what this person has bought.",
		Ledgers: []string{cardLedger, cashLedger},
		Rate:    provider.Rate{Burst: 100, Every: 60 * time.Millisecond}, // 1,000 requests in 60 seconds
		Unverified: []string{
			"the sign of refunds, chargebacks and credits on a card: as of a payment of the card, below zero is taken to be money that comes back",
			"the sign of cash transactions: above zero is taken to be money that arrives",
			"whether the balance of a card is stated above zero if money is owed, as assumed, and whether it contains pending transactions",
			"in which order transactions are returned, how many at a time at most, and for how long the position between two pages is valid",
			"how late a transaction is shown: those posted in the last four days are read again each time",
			"the form of the time from which transactions are asked for: that of the example of the documentation is sent, without a time zone",
			"a transaction has the day on which it was posted, at midnight UTC: Brex states no times",
			"all card accounts of a company are one account here, because their transactions do not say to which one they belong",
			"the names of cardholders are not read",
			"the form of error messages; that a token ends after 30 days without use",
			"what a token permits, which Brex does not tell",
		},
	}
}

// get sends a request and decodes the answer.
func get(ctx context.Context, s *provider.Session, path string, query url.Values, into any) error {
	_, err := s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, http.MethodGet, path, query.Encode(), "")
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+s.Text(provider.APIKey))
				r.Header.Set("Accept", "application/json")
			}
			return r, err
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
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
		return fault.Unauthorizedf("Brex refuses the user token: it was revoked, or was not used for a long time. Create a new one")
	case http.StatusForbidden:
		return fault.Forbiddenf("the user token lacks a permission at Brex: read access to card accounts, card transactions, cash accounts and " +
			"cash transactions is needed")
	}
	if !json.Valid(a.Body) {
		return provider.Nonsense(title, fmt.Errorf("status %d", a.Status))
	}
	return errRefused
}

// refused returns the error for a request that Brex refuses for a reason that nobody here can change.
func refused(err error) error {
	if errors.Is(err, errRefused) {
		return fault.Conflictf("Brex refuses to answer the request for accounts or transactions")
	}
	return err
}

// Check asks for the accounts and for a transaction of the cards.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	cards, err := cardAccounts(ctx, s)
	if err != nil {
		return out, err
	}
	cash, err := cashAccounts(ctx, s)
	if err != nil {
		return out, err
	}
	for _, c := range cards {
		if c.ID != "" && (out.ID == "" || c.ID < out.ID) {
			out.ID = c.ID
		}
	}
	for _, c := range cash {
		if out.ID == "" && c.Primary {
			out.ID = c.ID
		}
	}
	var some page
	return out, refused(get(ctx, s, cardPath, url.Values{"limit": {"1"}}, &some))
}
