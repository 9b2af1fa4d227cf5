// Package netsuite sends journals to NetSuite, by SuiteTalk REST web services and SuiteQL.
package netsuite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/oauth"
)

const (
	title = "NetSuite"
	// memoMax is how many characters of a memo are used.
	memoMax = 999
	// pageSize is the largest one of SuiteQL.
	pageSize = 1000
	// pagesMax bounds lists.
	pagesMax = 20
)

// Connector sends journals to NetSuite.
type Connector struct{}

// Describe says what NetSuite is and what is needed to connect it.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "netsuite", Title: title, Kind: provider.Accounting, URL: "https://suitetalk.api.netsuite.com",
		Fields: []provider.Field{
			{Name: provider.Subdomain, Title: "Account ID", Help: "Such as 123456 or 123456_SB1, under Setup, Company, Company Information.",
				Open: true,
				Max:  60},
			{Name: clientID, Title: "Client ID", Help: "Of the integration record.", Setup: true, Max: 200},
			{Name: clientSecret, Title: "Client secret", Help: "If people consent in NetSuite.", Secret: true, Optional: true, Setup: true,
				Max: 200},
			{Name: certificateID, Title: "Certificate ID", Help: "If the integration has a certificate.", Optional: true, Setup: true, Max: 200},
			{Name: privateKey, Title: "Private key", Help: "That of the certificate, in the format PEM.", Secret: true, Optional: true, Setup: true,
				Max: 10_000},
			{Name: provider.Entity, Title: "Subsidiary", Help: "The name of the subsidiary, if NetSuite has several.", Open: true, Optional: true,
				Max: 200},
		},
		Advice: "In NetSuite, enable REST Web Services and OAuth 2.0 under Setup, Company, Enable Features, SuiteCloud. Create an integration " +
			"under Setup, Integration, Manage Integrations, with the scope REST Web Services, and either with the client credentials grant and a " +
			"certificate of its own, which is preferable because the access does not end, or with the authorization code grant and the redirect " +
			"address of this service, whose consent has to be renewed after some days without use. The role needs the permissions REST Web " +
			"Services, Log in using OAuth 2.0 Access Tokens, Make Journal Entry, SuiteAnalytics Workbook, Accounts, Currency, Subsidiaries, " +
			"Departments, Classes, Locations and Manage Accounting Periods. Journals have the external ID of the entry, by which they are found.",
		Rate: provider.Rate{Burst: 10, Every: 200 * time.Millisecond},
		Unverified: []string{
			"the columns of the SuiteQL tables account, currency, subsidiary, department, classification, location and accountingperiod, and " +
				"which permissions they need",
			"how NetSuite words that an external ID is taken: after any refusal the journal is looked up by its external ID",
			"how NetSuite refuses journals in a closed period",
			"the longest memo: 999 characters are used",
			"journals that wait for approval, because the account or the role requires it: they are not in the general ledger until then",
			"voided journals: one whose lines are all zero is taken for void",
			"custom segments, and fields that a form of the account makes mandatory",
			"whether an account with one currency has the table currency, which the currency of the books is read from",
			"whether amounts of more than 15 digits are kept exactly, because NetSuite answers with JSON numbers",
			"which exchange rate NetSuite applies to a journal in another currency, for which none is sent",
		},
	}
}

// request is what is asked for.
type request struct {
	method, path string
	query        url.Values
	body         []byte
}

// do sends a request and decodes the answer. It returns the id of a record that was created.
func do(ctx context.Context, s *provider.Session, q request, into any) (created string, err error) {
	if _, err := account(s); err != nil {
		return "", err
	}
	if err := oauth.Fresh(ctx, s, renew); err != nil {
		return "", err
	}
	_, err = s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, q.method, "/services/rest"+q.path, q.query.Encode(), string(q.body))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Authorization", "Bearer "+s.Text(provider.AccessToken))
			r.Header.Set("Accept", "application/json")
			if q.body != nil {
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Prefer", "transient")
			}
			return r, nil
		},
		Explain: func(a provider.Answer) error {
			created = a.Header.Get("Location")
			return explain(a, into)
		},
		Renew: renew,
	})
	return created[strings.LastIndexByte(created, '/')+1:], err
}

// explain returns the error that an answer states, and otherwise decodes it.
func explain(a provider.Answer, into any) error {
	switch {
	case a.Status == http.StatusNoContent && into == nil:
		return nil
	case a.Status == http.StatusOK && into != nil:
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	case a.Status == http.StatusUnauthorized:
		return provider.ErrExpired
	}
	var said struct {
		Title   string `json:"title"`
		Details []struct {
			Text string `json:"detail"`
			Code string `json:"o:errorCode"`
			Path string `json:"o:errorPath"`
		} `json:"o:errorDetails"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || a.Status/100 == 2 {
		return provider.Nonsense(title, fmt.Errorf("status %d", a.Status))
	}
	var texts []string
	for _, d := range said.Details {
		if strings.Contains(d.Code, "LIMIT_EXCEEDED") || d.Code == "WS_REQUEST_BLOCKED" {
			return provider.Busy(0, title)
		}
		texts = append(texts, strings.TrimSpace(d.Text+" "+d.Path))
	}
	text := provider.Clean(strings.Join(append(texts, said.Title), "; "))
	switch a.Status {
	case http.StatusForbidden:
		return fault.Forbiddenf("the role in NetSuite lacks a permission: %s", text)
	case http.StatusNotFound:
		return fault.Missing("record in NetSuite")
	}
	return fault.Conflictf("NetSuite refuses the request: %s", text)
}

// row is a row of an answer to a query. All values are texts, and those that are null are left out.
type row map[string]string

// UnmarshalJSON reads a row, without the links in it.
func (r *row) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*r = row{}
	for name, raw := range all {
		var text *string
		if name == "links" {
			continue
		}
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		if text != nil {
			(*r)[name] = *text
		}
	}
	return nil
}

// ask returns the rows of a query in SuiteQL. Each must have certain columns.
func ask(ctx context.Context, s *provider.Session, query string, required ...string) (all []row, err error) {
	body, err := json.Marshal(map[string]string{"q": query})
	if err != nil {
		return nil, err
	}
	for range pagesMax {
		var page struct {
			Items *[]row `json:"items"`
			More  bool   `json:"hasMore"`
		}
		_, err := do(ctx, s, request{http.MethodPost, "/query/v1/suiteql",
			url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(len(all))}}, body}, &page)
		if err != nil {
			return nil, err
		}
		if page.Items == nil {
			return nil, provider.Nonsense(title, errors.New("there are no rows"))
		}
		for _, r := range *page.Items {
			for _, name := range required {
				if r[name] == "" {
					return nil, provider.Nonsense(title, fmt.Errorf("a row without the column %s", name))
				}
			}
		}
		if all = append(all, *page.Items...); !page.More || len(*page.Items) == 0 {
			return all, nil
		}
	}
	return nil, fault.Conflictf("NetSuite has more records than can be read")
}

// Check asks whose the credentials are.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	host, err := account(s)
	if err != nil {
		return out, err
	}
	known, err := learn(ctx, s)
	if err != nil {
		return out, err
	}
	if out.Name = provider.Clean(known.Name); out.Name == "" {
		out.Name = title + " " + realm(host)
	}
	out.ID = realm(host)
	return out, nil
}
