// Package campfire sends journals to Campfire, the accounting system.
package campfire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title = "Campfire"
	// currency is that of the legal entity, which Bursar requires.
	currency = "USD"
	// memoMax and lineMax are how many characters of texts are used.
	memoMax = 1000
	lineMax = 500
	// pageSize is how many records a page of a list has.
	pageSize = 100
	// pagesMax bounds lists.
	pagesMax = 50
)

// Connector sends journals to Campfire.
type Connector struct{}

// Describe says what Campfire is and what is needed to connect it.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "campfire", Title: title, Kind: provider.Accounting, URL: "https://api.meetcampfire.com", Requires: currency,
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key", Secret: true, Max: 500},
			{Name: provider.Entity, Title: "Entity", Help: "The name of the entity in Campfire, if several keep books in USD.", Open: true,
				Optional: true, Max: 200},
		},
		Advice: "In Campfire, under Settings, API Keys, create a key with the role Clerk, for Bursar alone. Journals go into one entity that " +
			"keeps its books in USD, and carry a mark such as [Bursar 01jc…-1] at the end of their memos, by which they are found again: leave it " +
			"there.",
		Rate: provider.Rate{Burst: 20, Every: 500 * time.Millisecond},
		Unverified: []string{
			"how many requests Campfire allows: it publishes no numbers, and two in a second are sent",
			"whether and for how long Campfire recognizes a repeated request by its Idempotency-Key. If it does not, a journal is still looked up " +
				"before each repeat, but could be stored twice if two synchronizations sent it in the same second",
			"how Campfire refuses a journal in a closed period, and until when periods are closed, which its API does not tell",
			"the longest memo of a journal and the longest description of a line: 1,000 and 500 characters are used",
			"whether amounts of more than 15 digits are kept exactly, because Campfire answers with JSON numbers",
			"accounts of subledgers, such as receivables: whether Campfire refuses journals with them",
			"intercompany journals between entities are not sent",
			"a journal whose date was changed in Campfire by more than 45 days, or whose mark was removed, is not found by its mark",
		},
	}
}

// call returns a request. A key makes it one that Campfire recognizes when it is repeated.
func call(s *provider.Session, method, path string, query url.Values, body []byte, key string, into any) provider.Call {
	return provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, method, path, query.Encode(), string(body))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Authorization", "Token "+s.Text(provider.APIKey))
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
	switch {
	case a.Status/100 == 2 && into == nil:
		if a.Status != http.StatusNoContent {
			return provider.Nonsense(title, fmt.Errorf("status %d", a.Status))
		}
		return nil
	case a.Status/100 == 2:
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	case !json.Valid(a.Body):
		return provider.Nonsense(title, fmt.Errorf("status %d", a.Status))
	case a.Status == http.StatusUnauthorized:
		return fault.Unauthorizedf("Campfire refuses the API key")
	case a.Status == http.StatusForbidden:
		return fault.Forbiddenf("the API key lacks a permission in Campfire: create one with the role Clerk")
	case a.Status == http.StatusNotFound:
		return fault.Missing("record in Campfire")
	}
	return fault.Conflictf("Campfire refuses the request: %s", reason(a.Body))
}

// reason returns what an error says. Campfire states it as a text, as a list, or by the fields that are wrong.
func reason(body []byte) string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, body); err != nil {
		return "it does not say why"
	}
	var said map[string]json.RawMessage
	if json.Unmarshal(body, &said) == nil {
		for _, name := range []string{"detail", "error", "message"} {
			var text string
			if json.Unmarshal(said[name], &text) == nil && text != "" {
				return provider.Clean(text)
			}
		}
	}
	return provider.Clean(compact.String())
}

// list reads all of a list, which is either an array or pages of one.
func list[T any](ctx context.Context, s *provider.Session, path string, query url.Values) (all []T, err error) {
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", strconv.Itoa(pageSize))
	for range pagesMax {
		var raw json.RawMessage
		if _, err := s.Do(ctx, call(s, http.MethodGet, path, query, nil, "", &raw)); err != nil {
			return nil, err
		}
		var page struct {
			Results *[]T    `json:"results"`
			Next    *string `json:"next"`
		}
		if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
			err = json.Unmarshal(raw, &all)
		} else if err = json.Unmarshal(raw, &page); err == nil && page.Results == nil {
			err = errors.New("there is no list")
		}
		if err != nil {
			return nil, provider.Nonsense(title, err)
		}
		if page.Results == nil {
			return all, nil
		}
		if all = append(all, *page.Results...); page.Next == nil || *page.Next == "" || len(*page.Results) == 0 {
			return all, nil
		}
		query.Set("offset", strconv.Itoa(len(all)))
	}
	return nil, fault.Conflictf("Campfire has more records under %s than can be read", path)
}

// entity is a company in Campfire.
type entity struct {
	ID          json.Number `json:"id"`
	Name        string      `json:"name"`
	Currency    string      `json:"currency"`
	Active      *bool       `json:"active"`
	Deleted     bool        `json:"is_deleted"`
	Elimination bool        `json:"is_elimination_entity"`
}

// company returns the entity that journals go to, which is asked for once in a session.
func company(ctx context.Context, s *provider.Session) (c provider.Company, err error) {
	if s.Learnt != "" && json.Unmarshal([]byte(s.Learnt), &c) == nil {
		return c, nil
	}
	got, err := list[entity](ctx, s, "/coa/api/entity", nil)
	if err != nil {
		return c, err
	}
	var all []provider.Company
	others := 0
	for _, e := range got {
		switch {
		case e.ID == "":
			return c, provider.Nonsense(title, errors.New("an entity without an id"))
		case e.Deleted, e.Elimination, e.Active != nil && !*e.Active:
		case e.Currency != currency:
			others++
		default:
			all = append(all, provider.Company{ID: e.ID.String(), Name: e.Name, Currency: e.Currency})
		}
	}
	if len(all) == 0 && others > 0 {
		return c, fault.Conflictf("no entity in Campfire keeps its books in USD, which the connection requires")
	}
	if c, err = provider.PickCompany(title, s.Text(provider.Entity), all); err != nil {
		return c, err
	}
	s.Learnt = provider.FormatCursor(c)
	return c, nil
}

// Check asks whose the API key is.
func (Connector) Check(ctx context.Context, s *provider.Session) (provider.Account, error) {
	c, err := company(ctx, s)
	return provider.Account{ID: c.ID, Name: provider.Clean(c.Name)}, err
}

// kinds are Campfire's types of accounts.
var kinds = map[string]string{"ASSET": "Asset", "LIABILITY": "Liability", "EQUITY": "Equity", "REVENUE": "Revenue",
	"OTHER_INCOME": "Revenue",
	"COGS":         "Expense", "OPERATING_EXPENSES": "Expense", "OTHER_EXPENSE": "Expense"}

// Chart returns the accounts, the departments and the custom dimensions of Campfire. What else than accounts cannot be read is a warning.
func (Connector) Chart(ctx context.Context, s *provider.Session) (out provider.Chart, err error) {
	c, err := company(ctx, s)
	if err != nil {
		return out, err
	}
	out.Currency, out.Foreign = c.Currency, true
	accounts, err := list[struct {
		ID      json.Number `json:"id"`
		Number  string      `json:"number"`
		Name    string      `json:"name"`
		Type    string      `json:"account_type"`
		Status  string      `json:"status"`
		Deleted bool        `json:"is_deleted"`
	}](ctx, s, "/coa/api/account", url.Values{"include_inactive": {"true"}})
	if err != nil {
		return out, err
	}
	for _, a := range accounts {
		if a.ID == "" {
			return out, provider.Nonsense(title, errors.New("an account without an id"))
		}
		if !a.Deleted {
			out.Accounts = append(out.Accounts, provider.LedgerAccount{ID: a.ID.String(), Code: a.Number, Name: a.Name, Type: kinds[a.Type],
				Active: a.Status == "ACTIVE"})
		}
	}
	for _, part := range []func(context.Context, *provider.Session, *provider.Chart) error{departments, tags} {
		if err := part(ctx, s, &out); fault.KindOf(err) == fault.Forbidden || fault.KindOf(err) == fault.NotFound {
			out.Warnings = append(out.Warnings, "a part of the dimensions in Campfire cannot be read with this API key: "+
				provider.Clean(err.Error()))
		} else if err != nil {
			return out, err
		}
	}
	return out, nil
}

const (
	// department is the id of the dimension of departments.
	department = "department"
	// group begins the ids of the other dimensions, which are groups of tags.
	group = "tag_group_"
)

// departments adds the departments to a chart.
func departments(ctx context.Context, s *provider.Session, out *provider.Chart) error {
	got, err := list[struct {
		ID     json.Number `json:"id"`
		Name   string      `json:"name"`
		Active *bool       `json:"active"`
	}](ctx, s, "/coa/api/department", url.Values{"include_inactive": {"true"}})
	d := provider.Dimension{ID: department, Name: "Department"}
	for _, v := range got {
		d.Values = append(d.Values, provider.DimensionValue{ID: v.ID.String(), Name: v.Name, Active: v.Active == nil || *v.Active})
	}
	if len(d.Values) > 0 {
		out.Dimensions = append(out.Dimensions, d)
	}
	return err
}

// tags adds the groups of tags to a chart.
func tags(ctx context.Context, s *provider.Session, out *provider.Chart) error {
	got, err := list[struct {
		ID        json.Number `json:"id"`
		Name      string      `json:"name"`
		Group     json.Number `json:"group"`
		GroupName string      `json:"group_name"`
		Active    *bool       `json:"is_active"`
		Deleted   bool        `json:"is_deleted"`
	}](ctx, s, "/coa/api/tag", url.Values{"include_inactive": {"true"}})
	places := map[string]int{}
	for _, v := range got {
		id := group + v.Group.String()
		if v.Group == "" || v.Deleted {
			continue // a tag without a group is not a dimension
		}
		if _, known := places[id]; !known {
			places[id] = len(out.Dimensions)
			out.Dimensions = append(out.Dimensions, provider.Dimension{ID: id, Name: v.GroupName})
		}
		d := &out.Dimensions[places[id]]
		d.Values = append(d.Values, provider.DimensionValue{ID: v.ID.String(), Name: v.Name, Active: v.Active == nil || *v.Active})
	}
	return err
}
