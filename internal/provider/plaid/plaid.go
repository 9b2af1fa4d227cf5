// Package plaid reads accounts at banks and cards through Plaid. A sign-in at a bank is an item of Plaid; it has several accounts.
package plaid

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title  = "Plaid"
	ledger = "transactions"

	// publicToken is the field with the token that Plaid's own dialog returns. It can be used once, within 30 minutes.
	publicToken = "public_token"
)

// Connector reads accounts at banks through Plaid.
type Connector struct{}

// Describe says what Plaid is and what is needed to connect a bank through it.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "plaid", Title: title, Kind: provider.Bank, URL: "https://production.plaid.com", RegisterAt: "https://dashboard.plaid.com",
		Fields: []provider.Field{{Name: publicToken, Title: "Public token", Secret: true, Optional: true, Max: 200,
			Help: "Only if you have a public token of Plaid Link already. It can be used once, within 30 minutes. Otherwise leave it empty: " +
				"Plaid opens a page on which you sign in at your bank."}},
		Advice: "Plaid opens a page on which you sign in at your bank and choose the accounts to share. Share checking and savings accounts " +
			"and credit cards. Plaid shows transactions of the last two years, or less if the bank does: import a file for what was before.",
		Ledgers: []string{ledger},
		Rate:    provider.Rate{Burst: 20, Every: 1200 * time.Millisecond}, // 50 requests per minute for the transactions of an item
		Unverified: []string{
			"loan, investment and other accounts are not read: Plaid has no balance or transactions for most that a bank account could have",
			"transactions are read once they are posted; whether the balance of a card contains pending ones",
			"a transaction has the day on which the bank posted it, at midnight UTC: Plaid states a time for few banks",
			"an account that the bank renames may get another id at Plaid: it then appears as a new account, with its transactions",
			"whether amounts never have more digits than their currency",
			"banks in the United States and Canada only, because Plaid enables other countries for each customer separately",
			"whether the address that the browser is sent back to may have a query",
			"whether a public token can be exchanged again if the first answer was lost",
			"if more than 100,000 transactions are read at once and Plaid changes some meanwhile, one that it withdraws just then may stay",
			"balances are those of the last update, about once a day",
		},
	}
}

// call sends a request with the registration of the service, and decodes the answer.
func call(ctx context.Context, s *provider.Session, path string, fields map[string]any, into any) error {
	client := s.Client()
	if client.ID == "" || client.Secret.IsZero() {
		return errRegistration("this service has no client id and secret of Plaid")
	}
	body := maps.Clone(fields)
	body["client_id"], body["secret"] = client.ID, client.Secret.Reveal()
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, http.MethodPost, path, "", string(text))
			if err == nil {
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Plaid-Version", "2020-09-14")
			}
			return r, err
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
	})
	return err
}

// callItem sends a request about the item of the session.
func callItem(ctx context.Context, s *provider.Session, path string, fields map[string]any, into any) error {
	token := s.Text(provider.AccessToken)
	if token == "" {
		return fault.Unauthorizedf("there is no access to the bank yet: sign in at the bank on Plaid's page")
	}
	body := map[string]any{"access_token": token}
	maps.Copy(body, fields)
	return call(ctx, s, path, body, into)
}

// Exchange returns the lasting credentials for a public token.
func (Connector) Exchange(ctx context.Context, s *provider.Session) (provider.Credentials, error) {
	if s.Text(publicToken) == "" {
		return nil, fault.Invalidf(publicToken, "must not be empty, unless you sign in at your bank on Plaid's page")
	}
	return exchange(ctx, s, s.Text(publicToken))
}

func exchange(ctx context.Context, s *provider.Session, token string) (provider.Credentials, error) {
	var out struct {
		AccessToken string `json:"access_token"`
		ItemID      string `json:"item_id"`
	}
	if err := call(ctx, s, "/item/public_token/exchange", map[string]any{"public_token": token}, &out); err != nil {
		return nil, err
	}
	if out.AccessToken == "" || out.ItemID == "" {
		return nil, provider.Nonsense(title, errors.New("the answer to the exchange of a public token has no access token or no item"))
	}
	return provider.Credentials{provider.AccessToken: secret.New(out.AccessToken), provider.AccountID: secret.New(out.ItemID)}, nil
}

// item is what Plaid says about a sign-in at a bank.
type item struct {
	ID          string     `json:"item_id"`
	Institution string     `json:"institution_name"`
	Error       *refusal   `json:"error"`
	ConsentEnds *time.Time `json:"consent_expiration_time"`
}

// getItem returns the item of a session, and the error that keeps Plaid from updating it.
func getItem(ctx context.Context, s *provider.Session) (item, error) {
	var out struct {
		Item *item `json:"item"`
	}
	if err := callItem(ctx, s, "/item/get", nil, &out); err != nil {
		return item{}, err
	}
	if out.Item == nil || out.Item.ID == "" {
		return item{}, provider.Nonsense(title, errors.New("the answer has no item"))
	}
	if e := out.Item.Error; e != nil && e.Code != "" {
		return *out.Item, e.explain()
	}
	return *out.Item, nil
}

// Check asks for the item of an access token and its accounts.
func (c Connector) Check(ctx context.Context, s *provider.Session) (provider.Account, error) {
	found, err := getItem(ctx, s)
	if err != nil {
		return provider.Account{}, err
	}
	out := provider.Account{ID: found.ID, Name: provider.Clean(found.Institution)}
	if found.ConsentEnds != nil {
		out.Warnings = append(out.Warnings, "the consent to share the accounts ends on "+found.ConsentEnds.UTC().Format(time.DateOnly))
	}
	parts, err := c.Parts(ctx, s)
	if err == nil && len(parts) == 0 {
		out.Warnings = append(out.Warnings, "neither a bank account nor a card is shared")
	}
	return out, err
}

// Revoke ends the access of Plaid to the bank, and with it the charge for it.
func (Connector) Revoke(ctx context.Context, s *provider.Session) error {
	var out struct{}
	err := callItem(ctx, s, "/item/remove", nil, &out)
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}
