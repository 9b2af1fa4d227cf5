// Package quickbooks sends journals to QuickBooks Online.
package quickbooks

import (
	"context"
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
	title = "QuickBooks Online"
	// minorVersion is the version of the records, which Intuit counts up.
	minorVersion = "75"
	// numberMax, memoMax and lineMax are how many characters texts may have.
	numberMax = 21
	memoMax   = 4000
	lineMax   = 4000
	// pageSize is the largest one.
	pageSize = 1000
	// pagesMax bounds lists.
	pagesMax = 20
)

// Connector sends journals to QuickBooks Online.
type Connector struct{}

// Describe says what QuickBooks Online is and what is needed to connect it.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "quickbooks", Title: title, Kind: provider.Accounting, URL: "https://quickbooks.api.intuit.com",
		RegisterAt: "https://developer.intuit.com",
		Advice: "Sign in to QuickBooks as an administrator of the company, and consent. Journals carry their number and, in their memo, a mark " +
			"such as [Bursar 01jc…-1], by which they are found again: leave both there. Journals cannot have accounts of the types Accounts " +
			"receivable and Accounts payable, because QuickBooks requires a customer or a vendor on their lines.",
		Rate: provider.Rate{Burst: 40, Every: 150 * time.Millisecond}, // 500 in a minute
		Unverified: []string{
			"for how long QuickBooks recognizes a repeated request by its requestid; journals are looked up before each repeat as well",
			"which exchange rate QuickBooks applies to a journal in another currency, for which none is sent",
			"the codes of refusals in closed periods: 6200, 6210 and 5010 with the text of a closed period are taken for one",
			"taxes, which companies outside the United States may require on lines: none is sent",
			"whether amounts of more than 15 digits are kept exactly, because QuickBooks answers with JSON numbers",
			"whether Intuit accepts a form, and not only JSON, in the request that revokes tokens",
			"the address of the page that shows a journal",
			"a journal whose number and date were both changed in QuickBooks, or whose mark was removed, is not found by its mark",
		},
	}
}

// app returns the registration of the service, with the addresses of Intuit's pages. They are on other hosts than the API.
func app(s *provider.Session) oauth.App {
	out := oauth.App{Title: title, ID: s.Client().ID, Secret: s.Client().Secret, Scope: "com.intuit.quickbooks.accounting",
		Authorize: "https://appcenter.intuit.com/connect/oauth2", Token: "https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer"}
	if s.Replaced() {
		out.Authorize, out.Token = s.Base()+"/connect/oauth2", s.Base()+"/oauth2/v1/tokens/bearer"
	}
	return out
}

// Begin returns the page on which a person chooses a company and consents.
func (Connector) Begin(_ context.Context, s *provider.Session, r provider.SetupRequest) (provider.Setup, error) {
	return app(s).Begin(r)
}

// Finish returns the credentials of the company that the person has chosen, which QuickBooks states when it sends the browser back.
func (Connector) Finish(ctx context.Context, s *provider.Session, r provider.SetupRequest, query url.Values) (provider.Credentials, error) {
	realm := query.Get("realmId")
	if len(query) > 0 && query.Get("error") == "" && (realm == "" || strings.ContainsFunc(realm, func(r rune) bool {
		return r < '0' ||
			r > '9'
	})) {
		return nil, fault.Conflictf("QuickBooks sent the browser back without a company: connect the account again")
	}
	if before := s.Text(provider.AccountID); len(query) > 0 && r.Renews && before != "" && realm != "" && before != realm {
		return nil, fault.Conflictf("another company was chosen in QuickBooks than the one that is connected: choose that one, or connect the " +
			"other company anew")
	}
	out, err := app(s).Finish(ctx, s, r, query)
	if err == nil {
		out[provider.AccountID] = secret.New(realm)
	}
	return out, err
}

// Revoke ends the access to the company.
func (Connector) Revoke(ctx context.Context, s *provider.Session) error {
	address := "https://developer.api.intuit.com/v2/oauth2/tokens/revoke"
	if s.Replaced() {
		address = s.Base() + "/v2/oauth2/tokens/revoke"
	}
	return app(s).Revoke(ctx, s, address)
}

// errStale means that a record was changed since it was read.
var errStale = errors.New("the record has changed")

// do sends a request about the company and decodes the answer.
func do(ctx context.Context, s *provider.Session, method, path string, query url.Values, body []byte, into any) error {
	c, err := call(ctx, s, method, path, query, body, into)
	if err == nil {
		_, err = s.Do(ctx, c)
	}
	return err
}

// call returns a request about the company, with a token that is valid for a while.
func call(ctx context.Context, s *provider.Session, method, path string, query url.Values, body []byte, into any) (provider.Call, error) {
	renew := func(ctx context.Context, s *provider.Session) (provider.Credentials, error) {
		return app(s).Refresh(ctx, s)
	}
	if err := oauth.Fresh(ctx, s, renew); err != nil {
		return provider.Call{}, err
	}
	if query == nil {
		query = url.Values{}
	}
	query.Set("minorversion", minorVersion)
	return provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, method, "/v3/company/"+url.PathEscape(s.Text(provider.AccountID))+path, query.Encode(), string(body))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Authorization", "Bearer "+s.Text(provider.AccessToken))
			r.Header.Set("Accept", "application/json")
			if body != nil {
				r.Header.Set("Content-Type", "application/json")
			}
			return r, nil
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
		Renew:   renew,
	}, nil
}

// failure is what QuickBooks states about a request that it refuses.
type failure struct {
	Fault *struct {
		Errors []struct {
			Message string
			Detail  string
			Code    string
		} `json:"Error"`
		Type string
	}
}

// explain returns the error that an answer states, also one with the status 200, and otherwise decodes it.
func explain(a provider.Answer, into any) error {
	var failed failure
	err := json.Unmarshal(a.Body, &failed)
	switch {
	case a.Status == http.StatusUnauthorized:
		return provider.ErrExpired
	case err != nil:
		return provider.Nonsense(title, err)
	case failed.Fault != nil:
		return failed.explain(a.Status)
	case a.Status/100 != 2:
		return provider.Nonsense(title, fmt.Errorf("status %d without a fault", a.Status))
	}
	if err := json.Unmarshal(a.Body, into); err != nil {
		return provider.Nonsense(title, err)
	}
	return nil
}

// explain returns the error that follows from a fault.
func (f failure) explain(status int) error {
	if len(f.Fault.Errors) == 0 {
		return provider.Nonsense(title, fmt.Errorf("status %d with an empty fault", status))
	}
	said := f.Fault.Errors[0]
	text := provider.Clean(said.Message + ": " + said.Detail)
	switch {
	case said.Code == "3200":
		return provider.ErrExpired
	case said.Code == "3100", said.Code == "120", status == http.StatusForbidden:
		return fault.Forbiddenf("the person who consented may no longer use this company in QuickBooks: let an administrator connect it again")
	case said.Code == "6190":
		return fault.Forbiddenf("the subscription of the company at QuickBooks has ended")
	case said.Code == "610":
		return fault.Missing("record in QuickBooks")
	case said.Code == "600", said.Code == "3001":
		return provider.Temporary(title, "%s", text)
	case said.Code == "5010" && !strings.Contains(strings.ToLower(text), "period"):
		return errStale
	case said.Code == "6140":
		return fault.Conflictf("the number of the journal is in use in QuickBooks for another journal: change it there")
	}
	return fault.Conflictf("QuickBooks refuses the request: %s", text)
}

// quote returns a text as a query states it.
func quote(text string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "'", `\'`) + "'"
}

// list reads all records of a kind.
func list[T any](ctx context.Context, s *provider.Session, kind, where string) (all []T, err error) {
	for range pagesMax {
		var got struct {
			Response map[string]json.RawMessage `json:"QueryResponse"`
		}
		text := fmt.Sprintf("select * from %s%s startposition %d maxresults %d", kind, where, len(all)+1, pageSize)
		if err := do(ctx, s, http.MethodGet, "/query", url.Values{"query": {text}}, nil, &got); err != nil {
			return nil, err
		}
		if got.Response == nil {
			return nil, provider.Nonsense(title, errors.New("there is no answer to the query"))
		}
		var page []T
		if raw := got.Response[kind]; len(raw) > 0 {
			if err := json.Unmarshal(raw, &page); err != nil {
				return nil, provider.Nonsense(title, err)
			}
		}
		if all = append(all, page...); len(page) < pageSize {
			return all, nil
		}
	}
	return nil, fault.Conflictf("QuickBooks has more records of the kind %s than can be read", kind)
}

// Check asks which company the credentials are for.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	var got struct {
		Company struct {
			Name string `json:"CompanyName"`
		} `json:"CompanyInfo"`
	}
	realm := s.Text(provider.AccountID)
	if err := do(ctx, s, http.MethodGet, "/companyinfo/"+url.PathEscape(realm), nil, nil, &got); err != nil {
		return out, err
	}
	return provider.Account{ID: realm, Name: provider.Clean(got.Company.Name)}, nil
}
