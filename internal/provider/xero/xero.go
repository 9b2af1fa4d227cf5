// Package xero sends journals to Xero, as manual journals.
package xero

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/oauth"
)

const (
	title = "Xero"
	api   = "/api.xro/2.0"
	// narrationMax and lineMax are how many characters of texts are used.
	narrationMax = 4000
	lineMax      = 4000
	// pageSize is how many journals a page has.
	pageSize = 100
	// pagesMax bounds the search for a journal.
	pagesMax = 50
)

// Connector sends journals to Xero.
type Connector struct{}

// Describe says what Xero is and what is needed to connect it.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "xero", Title: title, Kind: provider.Accounting, URL: "https://api.xero.com", RegisterAt: "https://developer.xero.com/app/manage",
		Advice: "Sign in to Xero as a user of the role Standard or Adviser, choose one organisation, and consent. Journals become manual " +
			"journals, which have the base currency of the organisation, no tax, and no bank accounts, receivables or payables. Each carries a " +
			"mark such as [Bursar 01jc…-1] at the end of its narration, by which it is found again: leave it there.",
		Rate: provider.Rate{Burst: 20, Every: 1500 * time.Millisecond}, // 60 in a minute
		Unverified: []string{
			"for how long Xero recognizes a repeated request by its Idempotency-Key; journals are looked up before each repeat as well",
			"which system accounts other than receivables and payables Xero refuses in manual journals",
			"the longest narration and the longest description of a line: 4,000 characters are used",
			"whether a web application may use PKCE, as assumed",
			"that access tokens state the consent they come from as authentication_event_id. If they do not and several organisations are " +
				"connected, the one that was connected last is used",
			"the scope accounting.manualjournals of applications that were registered before March 2026",
			"whether a lock date for all users except advisers also holds for journals that come through the API, as assumed",
			"whether amounts of more than 15 digits are kept exactly, because Xero answers with JSON numbers",
			"the filters Date==DateTime(…) and Narration.Contains(…) of the list of manual journals, and whether lines may state tracking by names",
			"the address at which tokens are revoked",
			"the address of the page that shows a manual journal",
		},
	}
}

// app returns the registration of the service, with the addresses of Xero's pages. They are on other hosts than the API.
func app(s *provider.Session) oauth.App {
	out := oauth.App{Title: title, ID: s.Client().ID, Secret: s.Client().Secret, PKCE: true,
		Scope:     "offline_access accounting.settings.read accounting.manualjournals",
		Authorize: "https://login.xero.com/identity/connect/authorize", Token: "https://identity.xero.com/connect/token"}
	if s.Replaced() {
		out.Authorize, out.Token = s.Base()+"/identity/connect/authorize", s.Base()+"/connect/token"
	}
	return out
}

// Begin returns the page on which a person chooses an organisation and consents.
func (Connector) Begin(_ context.Context, s *provider.Session, r provider.SetupRequest) (provider.Setup, error) {
	return app(s).Begin(r)
}

// Finish returns the credentials of the organisation that was chosen. A token can reach all organisations that the person has ever
// connected, so that the one of this consent is used. If the person has chosen several at once, it is the one that was connected before, if
// the connection is renewed, and otherwise the one that Xero connected last.
func (Connector) Finish(ctx context.Context, s *provider.Session, r provider.SetupRequest, query url.Values) (provider.Credentials, error) {
	out, err := app(s).Finish(ctx, s, r, query)
	if err != nil {
		return nil, err
	}
	before := s.Text(provider.AccountID)
	s.Credentials = out
	filter := url.Values{}
	if event := consent(out[provider.AccessToken].Reveal()); event != "" {
		filter.Set("authEventId", event)
	}
	all, err := tenants(ctx, s, filter)
	if err == nil && len(all) == 0 && len(filter) > 0 {
		all, err = tenants(ctx, s, nil)
	}
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fault.Conflictf("no organisation was chosen in Xero: connect the account again, and choose one")
	}
	chosen := all[0]
	for _, one := range all {
		if chosen.ID != before && (one.ID == before || one.Updated > chosen.Updated) {
			chosen = one
		}
	}
	if r.Renews && before != "" && chosen.ID != before {
		return nil, fault.Conflictf("another organisation was chosen in Xero than the one that is connected: choose that one, or connect the " +
			"other organisation anew")
	}
	out[provider.AccountID] = secret.New(chosen.ID)
	return out, nil
}

// consent returns the id of the consent that an access token comes from, and an empty text if the token does not state it.
func consent(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	var claims struct {
		Event string `json:"authentication_event_id"`
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &claims) != nil {
		return ""
	}
	return claims.Event
}

// tenant is an organisation that the application is connected to.
type tenant struct {
	Connection string `json:"id"`
	ID         string `json:"tenantId"`
	Type       string `json:"tenantType"`
	Updated    string `json:"updatedDateUtc"`
}

// tenants returns the organisations that the token can reach.
func tenants(ctx context.Context, s *provider.Session, filter url.Values) (out []tenant, err error) {
	var all []tenant
	if err := do(ctx, s, request{method: http.MethodGet, path: "/connections", query: filter}, &all); err != nil {
		return nil, err
	}
	for _, one := range all {
		if one.Type == "ORGANISATION" && one.ID != "" {
			out = append(out, one)
		}
	}
	return out, nil
}

// Revoke ends the access to the organisation. The token is revoked if it can reach no other one, which may be connected as well.
func (Connector) Revoke(ctx context.Context, s *provider.Session) error {
	all, err := tenants(ctx, s, nil)
	if fault.KindOf(err) == fault.Unauthorized {
		return nil
	}
	if err != nil {
		return err
	}
	others := 0
	for _, one := range all {
		if one.ID != s.Text(provider.AccountID) {
			others++
			continue
		}
		err := do(ctx, s, request{method: http.MethodDelete, path: "/connections/" + url.PathEscape(one.Connection)}, nil)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	if others > 0 {
		return nil
	}
	address := "https://identity.xero.com/connect/revocation"
	if s.Replaced() {
		address = s.Base() + "/connect/revocation"
	}
	return app(s).Revoke(ctx, s, address)
}

// request is what is asked for.
type request struct {
	method, path string
	query        url.Values
	body         []byte
	key          string // by which Xero recognizes a repeated request
}

// do sends a request and decodes the answer.
func do(ctx context.Context, s *provider.Session, r request, into any) error {
	c, err := call(ctx, s, r, into)
	if err == nil {
		_, err = s.Do(ctx, c)
	}
	return err
}

// call returns a request with a token that is valid for a while.
func call(ctx context.Context, s *provider.Session, q request, into any) (provider.Call, error) {
	renew := func(ctx context.Context, s *provider.Session) (provider.Credentials, error) {
		return app(s).Refresh(ctx, s)
	}
	if err := oauth.Fresh(ctx, s, renew); err != nil {
		return provider.Call{}, err
	}
	return provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, q.method, q.path, q.query.Encode(), string(q.body))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Authorization", "Bearer "+s.Text(provider.AccessToken))
			r.Header.Set("Accept", "application/json")
			if strings.HasPrefix(q.path, api) {
				r.Header.Set("Xero-Tenant-Id", s.Text(provider.AccountID))
			}
			if q.body != nil {
				r.Header.Set("Content-Type", "application/json")
			}
			if q.key != "" {
				r.Header.Set("Idempotency-Key", q.key)
			}
			return r, nil
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
		Renew:   renew,
	}, nil
}

// explain returns the error that an answer states, and otherwise decodes it.
func explain(a provider.Answer, into any) error {
	var said struct {
		Message  string
		Detail   string
		Elements []struct {
			ValidationErrors []struct{ Message string }
		}
	}
	switch {
	case a.Status == http.StatusNoContent && into == nil:
		return nil
	case a.Status/100 == 2 && into != nil:
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	case a.Status == http.StatusUnauthorized:
		return provider.ErrExpired
	case a.Status == http.StatusNotFound:
		return fault.Missing("record in Xero") // the body is a page of HTML
	case json.Unmarshal(a.Body, &said) != nil || a.Status/100 == 2:
		return provider.Nonsense(title, fmt.Errorf("status %d", a.Status))
	case a.Status == http.StatusForbidden && said.Detail == "AuthenticationUnsuccessful":
		return fault.Unauthorizedf("the access to the organisation was withdrawn in Xero: connect it again")
	case a.Status == http.StatusForbidden:
		return fault.Forbiddenf("the consent in Xero does not include what is needed: connect the organisation again")
	}
	texts := []string{said.Message}
	for _, e := range said.Elements {
		for _, v := range e.ValidationErrors {
			texts = append(texts, v.Message)
		}
	}
	return fault.Conflictf("Xero refuses the request: %s", provider.Clean(strings.Join(append(texts[1:], texts[0]), "; ")))
}

// organisation is what Xero states about an organisation.
type organisation struct {
	ID       string `json:"OrganisationID"`
	Name     string
	Currency string `json:"BaseCurrency"`
	Period   string `json:"PeriodLockDate"`
	Year     string `json:"EndOfYearLockDate"`
}

// readOrganisation returns the organisation, and until when it is locked.
func readOrganisation(ctx context.Context, s *provider.Session) (out organisation, locked string, err error) {
	var got struct{ Organisations []organisation }
	if err := do(ctx, s, request{method: http.MethodGet, path: api + "/Organisation"}, &got); err != nil {
		return out, "", err
	}
	if len(got.Organisations) != 1 || got.Organisations[0].Currency == "" {
		return out, "", provider.Nonsense(title, errors.New("there is no organisation with a base currency"))
	}
	out = got.Organisations[0]
	for _, text := range []string{out.Period, out.Year} {
		if text == "" {
			continue
		}
		date, err := parseDate(text)
		if err != nil {
			return out, "", provider.Nonsense(title, err)
		}
		locked = max(locked, date)
	}
	return out, locked, nil
}

// Check asks which organisation the credentials are for.
func (Connector) Check(ctx context.Context, s *provider.Session) (provider.Account, error) {
	got, _, err := readOrganisation(ctx, s)
	if err != nil {
		return provider.Account{}, err
	}
	return provider.Account{ID: s.Text(provider.AccountID), Name: provider.Clean(got.Name)}, nil
}
