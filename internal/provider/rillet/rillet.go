// Package rillet sends journals to Rillet.
package rillet

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
	title = "Rillet"
	// version of the API. Without it, Rillet answers as the newest one.
	version = "4"
	// nameMax is how many characters of the name of a journal entry are used.
	nameMax = 500
	// lineMax is how many characters of the description of an item are used.
	lineMax = 1000
	// pageSize is the largest one.
	pageSize = 100
	// pagesMax bounds the search for a journal.
	pagesMax = 50
)

// Connector sends journals to Rillet.
type Connector struct{}

// Describe says what Rillet is and what is needed to connect it.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "rillet", Title: title, Kind: provider.Accounting, URL: "https://api.rillet.com",
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key", Secret: true, Max: 500},
			{Name: provider.Entity, Title: "Subsidiary", Help: "The name of the subsidiary, if Rillet has several.", Open: true, Optional: true,
				Max: 200},
		},
		Advice: "In Rillet, under Organization Settings, create an API key for Bursar alone; if there is no such page, ask Rillet to enable " +
			"the API. Journals go into one subsidiary, and carry a mark such as [Bursar 01jc…-1] at the end of their names, by which they are " +
			"found again: leave it there.",
		Rate: provider.Rate{Burst: 20, Every: 1500 * time.Millisecond}, // 60 in 60 seconds
		Unverified: []string{
			"the longest name of a journal entry and the longest description of an item: 500 and 1,000 characters are used",
			"how Rillet refuses a journal entry in a closed period: the last closed period is looked up before a journal is sent",
			"whether lists show an entry at once after it was created",
			"which rate Rillet applies to an entry in another currency than that of the subsidiary, for which none is sent",
			"fields that Rillet requires on lines: they are sent only if the line has such a dimension",
			"a journal whose date was moved by more than 45 days in Rillet, or whose mark was removed, is not found by its mark",
		},
	}
}

// do sends a request and decodes the answer. A key makes the request one that Rillet recognizes for 24 hours.
func do(ctx context.Context, s *provider.Session, method, path string, query url.Values, body []byte, key string, into any) error {
	_, err := s.Do(ctx, call(s, method, path, query, body, key, into))
	return err
}

// call returns a request.
func call(s *provider.Session, method, path string, query url.Values, body []byte, key string, into any) provider.Call {
	return provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, method, path, query.Encode(), string(body))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Authorization", "Bearer "+s.Text(provider.APIKey))
			r.Header.Set("X-Rillet-API-Version", version)
			r.Header.Set("Accept", "application/json")
			if body != nil {
				r.Header.Set("Content-Type", "application/json")
			}
			if key != "" {
				r.Header.Set("Idempotency-Key", key)
			}
			return r, nil
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
	}
}

// explain returns the error that an answer states, and otherwise decodes it.
func explain(a provider.Answer, into any) error {
	if a.Status/100 == 2 {
		if into == nil {
			if a.Status != http.StatusNoContent {
				return provider.Nonsense(title, fmt.Errorf("status %d", a.Status))
			}
			return nil
		}
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	}
	var problem struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(a.Body, &problem); err != nil {
		return provider.Nonsense(title, fmt.Errorf("status %d: %w", a.Status, err))
	}
	switch a.Status {
	case http.StatusUnauthorized:
		return fault.Unauthorizedf("Rillet refuses the API key")
	case http.StatusForbidden:
		return fault.Forbiddenf("the API key lacks a permission in Rillet: %s", provider.Clean(problem.Title))
	case http.StatusNotFound:
		return fault.Missing("record in Rillet")
	}
	return fault.Conflictf("Rillet refuses the request: %s", provider.Clean(problem.Title+": "+problem.Detail))
}

// subsidiary is a company in Rillet.
type subsidiary struct {
	ID       string `json:"id"`
	Name     string `json:"trade_name"`
	Currency string `json:"currency"`
}

// learnt is what is asked for once in a session.
type learnt struct {
	provider.Company
	Codes  map[string]string `json:"codes"`  // of accounts, by their ids; nil if they were not asked for
	Locked string            `json:"locked"` // as it was when the accounts were asked for
}

// learn returns what the session knows, at least the company that journals go to.
func learn(ctx context.Context, s *provider.Session) (out learnt, err error) {
	if s.Learnt != "" && json.Unmarshal([]byte(s.Learnt), &out) == nil {
		return out, nil
	}
	var got struct {
		Subsidiaries []subsidiary `json:"subsidiaries"`
	}
	if err := do(ctx, s, http.MethodGet, "/subsidiaries", nil, nil, "", &got); err != nil {
		return out, err
	}
	var all []provider.Company
	for _, one := range got.Subsidiaries {
		if one.ID == "" || one.Currency == "" {
			return out, provider.Nonsense(title, errors.New("a subsidiary without an id or a currency"))
		}
		all = append(all, provider.Company{ID: one.ID, Name: one.Name, Currency: one.Currency})
	}
	if out.Company, err = provider.PickCompany(title, s.Text(provider.Entity), all); err != nil {
		return out, err
	}
	s.Learnt = provider.FormatCursor(out)
	return out, nil
}

// Check asks whose the API key is.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	c, err := learn(ctx, s)
	return provider.Account{ID: c.ID, Name: provider.Clean(c.Name)}, err
}

// Chart returns the accounts and the fields of Rillet.
func (Connector) Chart(ctx context.Context, s *provider.Session) (out provider.Chart, err error) {
	c, err := learn(ctx, s)
	if err != nil {
		return out, err
	}
	out.Currency, out.Foreign = c.Currency, true
	if out.Accounts, err = accounts(ctx, s); err != nil {
		return out, err
	}
	out.Dimensions, err = dimensions(ctx, s)
	if fault.KindOf(err) == fault.Forbidden {
		out.Warnings = append(out.Warnings, "the fields of Rillet cannot be read with this API key, so that lines have no dimensions")
	} else if err != nil {
		return out, err
	}
	out.LockedThrough, err = lockedThrough(ctx, s)
	return out, err
}

// kinds are Rillet's types of accounts.
var kinds = map[string]string{"ASSET": "Asset", "LIABILITY": "Liability", "EQUITY": "Equity", "INCOME": "Revenue", "EXPENSE": "Expense"}

// accounts returns the chart of accounts.
func accounts(ctx context.Context, s *provider.Session) (out []provider.LedgerAccount, err error) {
	var got struct {
		Accounts []struct {
			ID     string `json:"id"`
			Code   string `json:"code"`
			Name   string `json:"name"`
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"accounts"`
	}
	if err := do(ctx, s, http.MethodGet, "/accounts", nil, nil, "", &got); err != nil {
		return nil, err
	}
	for _, a := range got.Accounts {
		if a.ID == "" {
			return nil, provider.Nonsense(title, errors.New("an account without an id"))
		}
		one := provider.LedgerAccount{ID: a.ID, Code: a.Code, Name: a.Name, Type: kinds[a.Type], Active: a.Status == "ACTIVE"}
		if a.Code == "" {
			one.Refuses = "it has no code, by which journals name accounts at Rillet"
		}
		out = append(out, one)
	}
	return out, nil
}

// dimensions returns the fields with their values.
func dimensions(ctx context.Context, s *provider.Session) (out []provider.Dimension, err error) {
	var got struct {
		Fields []struct {
			ID     string `json:"id"`
			Name   string `json:"name"`
			Values []struct {
				ID          string `json:"id"`
				Name        string `json:"name"`
				Deactivated bool   `json:"deactivated"`
			} `json:"values"`
		} `json:"fields"`
	}
	if err := do(ctx, s, http.MethodGet, "/fields", nil, nil, "", &got); err != nil {
		return nil, err
	}
	for _, f := range got.Fields {
		d := provider.Dimension{ID: f.ID, Name: f.Name}
		for _, v := range f.Values {
			d.Values = append(d.Values, provider.DimensionValue{ID: v.ID, Name: v.Name, Active: !v.Deactivated})
		}
		out = append(out, d)
	}
	return out, nil
}

// lockedThrough returns the last day of the last period that was closed.
func lockedThrough(ctx context.Context, s *provider.Session) (string, error) {
	var book struct {
		End string `json:"end"`
	}
	err := do(ctx, s, http.MethodGet, "/books/periods/last-closed", nil, nil, "", &book)
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return "", nil // no period was ever closed
	}
	if err != nil {
		return "", err
	}
	if _, err := time.Parse(time.DateOnly, book.End); err != nil {
		return "", provider.Nonsense(title, err)
	}
	return book.End, nil
}
