package plaid

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// linkToken is the credential by which Finish finds the page that Begin has made.
	linkToken = "link_token"
	// pageLifetime is for how long the page can be used.
	pageLifetime = 4 * time.Hour
	// daysRequested is how much history is asked for, the most that Plaid has. It cannot be changed later.
	daysRequested = 730
)

// Begin makes a page on which a person signs in at a bank, or signs in again if the connection is to be renewed.
func (Connector) Begin(ctx context.Context, s *provider.Session, r provider.SetupRequest) (provider.Setup, error) {
	back, err := url.Parse(r.ReturnTo)
	if err != nil {
		return provider.Setup{}, err
	}
	query := back.Query()
	query.Set("state", r.State)
	back.RawQuery = query.Encode()
	fields := map[string]any{
		"client_name": "Bursar", "language": "en", "country_codes": []string{"US", "CA"},
		"user":        map[string]any{"client_user_id": cmp.Or(s.Text(provider.AccountID), r.State)},
		"hosted_link": map[string]any{"completion_redirect_uri": back.String(), "url_lifetime_seconds": int(pageLifetime.Seconds())},
	}
	keep := provider.Credentials{}
	if r.Renews {
		keep[provider.AccessToken], keep[provider.AccountID] = s.Credentials[provider.AccessToken], s.Credentials[provider.AccountID]
		fields["access_token"] = s.Text(provider.AccessToken)
	} else {
		fields["products"] = []string{ledger}
		fields["transactions"] = map[string]any{"days_requested": daysRequested}
	}
	var out struct {
		Token   string `json:"link_token"`
		URL     string `json:"hosted_link_url"`
		Expires string `json:"expiration"`
	}
	if err := call(ctx, s, "/link/token/create", fields, &out); err != nil {
		return provider.Setup{}, err
	}
	if out.Token == "" || !strings.HasPrefix(out.URL, "https://") {
		return provider.Setup{}, provider.Nonsense(title, errors.New("the answer has no link token or no address of a page"))
	}
	keep[linkToken] = secret.New(out.Token)
	setup := provider.Setup{URL: out.URL, Keep: keep}
	if at, err := time.Parse(time.RFC3339, out.Expires); err == nil {
		setup.ExpiresAt = at.UTC()
	}
	return setup, nil
}

// session is how a person has used the page once.
type session struct {
	Finished string `json:"finished_at"`
	Results  struct {
		Added []success `json:"item_add_results"`
	} `json:"results"`
	Success *success `json:"on_success"` // for registrations of earlier years
	Events  []struct {
		Name string `json:"event_name"`
	} `json:"events"`
}

type success struct {
	PublicToken string `json:"public_token"`
}

// token returns the public token of a session that succeeded, and whether it did. A renewal has no token that is needed.
func (s session) token() (token string, succeeded bool) {
	if s.Success != nil {
		token, succeeded = s.Success.PublicToken, true
	}
	for _, added := range s.Results.Added {
		token, succeeded = cmp.Or(token, added.PublicToken), true
	}
	for _, e := range s.Events {
		succeeded = succeeded || e.Name == "HANDOFF" && s.Finished != ""
	}
	return token, succeeded
}

// Finish returns the credentials once a person has signed in. The browser brings back nothing that is needed for that.
func (Connector) Finish(ctx context.Context, s *provider.Session, r provider.SetupRequest, _ url.Values) (provider.Credentials, error) {
	var out struct {
		Sessions []session `json:"link_sessions"`
	}
	if err := call(ctx, s, "/link/token/get", map[string]any{"link_token": s.Text(linkToken)}, &out); err != nil {
		return nil, err
	}
	for _, one := range out.Sessions {
		token, succeeded := one.token()
		switch {
		case !succeeded:
		case r.Renews:
			if _, err := getItem(ctx, s); err != nil {
				return nil, err
			}
			return provider.Credentials{provider.AccessToken: s.Credentials[provider.AccessToken],
				provider.AccountID: s.Credentials[provider.AccountID]}, nil
		case token != "":
			return exchange(ctx, s, token)
		}
	}
	return nil, provider.ErrUnfinished
}
