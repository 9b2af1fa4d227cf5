package xero

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
)

// parseDate returns the day of a date as Xero states it, such as /Date(1546214400000+0000)/ or 2018-12-31T00:00:00.
func parseDate(text string) (string, error) {
	inner, found := strings.CutPrefix(text, "/Date(")
	if !found {
		day, err := time.Parse(time.DateOnly, strings.SplitN(text, "T", 2)[0])
		return day.Format(time.DateOnly), err
	}
	inner, _, _ = strings.Cut(inner, ")")
	inner, _, _ = strings.Cut(inner, "+")
	milliseconds, err := strconv.ParseInt(inner, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%q is no date", provider.Clean(text))
	}
	return time.UnixMilli(milliseconds).UTC().Format(time.DateOnly), nil
}

// kinds are Xero's classes of accounts.
var kinds = map[string]string{"ASSET": "Asset", "LIABILITY": "Liability", "EQUITY": "Equity", "REVENUE": "Revenue", "EXPENSE": "Expense"}

// Chart returns the accounts and the tracking categories of the organisation. If the latter cannot be read that is a warning.
func (Connector) Chart(ctx context.Context, s *provider.Session) (out provider.Chart, err error) {
	o, locked, err := readOrganisation(ctx, s)
	if err != nil {
		return out, err
	}
	out.Currency, out.LockedThrough = o.Currency, locked
	if out.Accounts, err = accounts(ctx, s, o.Currency); err != nil {
		return out, err
	}
	out.Dimensions, err = dimensions(ctx, s)
	if kind := fault.KindOf(err); err != nil && (kind == fault.Forbidden || kind == fault.Conflict) {
		out.Warnings = append(out.Warnings, "the tracking categories of Xero cannot be read, so that lines have none: "+
			provider.Clean(err.Error()))
		err = nil
	}
	return out, err
}

// accounts returns the chart of accounts.
func accounts(ctx context.Context, s *provider.Session, base string) (out []provider.LedgerAccount, err error) {
	var got struct {
		Accounts []struct {
			ID       string `json:"AccountID"`
			Code     string
			Name     string
			Type     string
			Class    string
			Status   string
			System   string `json:"SystemAccount"`
			Currency string `json:"CurrencyCode"`
		}
	}
	if err := do(ctx, s, request{method: http.MethodGet, path: api + "/Accounts"}, &got); err != nil {
		return nil, err
	}
	for _, a := range got.Accounts {
		if a.ID == "" {
			return nil, provider.Nonsense(title, errors.New("an account without an id"))
		}
		one := provider.LedgerAccount{ID: a.ID, Code: a.Code, Name: a.Name, Type: kinds[a.Class], Active: a.Status == "ACTIVE"}
		if a.Currency != base {
			one.Currency = a.Currency
		}
		switch {
		case a.Type == "BANK":
			one.Refuses = "manual journals in Xero cannot have bank accounts"
		case a.System == "DEBTORS", a.System == "CREDITORS":
			one.Refuses = "manual journals in Xero cannot have receivables and payables"
		case a.Code == "":
			one.Refuses = "it has no code in Xero"
		}
		out = append(out, one)
	}
	return out, nil
}

// dimensions returns the tracking categories.
func dimensions(ctx context.Context, s *provider.Session) (out []provider.Dimension, err error) {
	var got struct {
		TrackingCategories []struct {
			ID      string `json:"TrackingCategoryID"`
			Name    string
			Status  string
			Options []struct {
				ID     string `json:"TrackingOptionID"`
				Name   string
				Status string
			}
		}
	}
	query := url.Values{"includeArchived": {"true"}}
	if err := do(ctx, s, request{method: http.MethodGet, path: api + "/TrackingCategories", query: query}, &got); err != nil {
		return nil, err
	}
	for _, c := range got.TrackingCategories {
		d := provider.Dimension{ID: c.ID, Name: c.Name}
		for _, o := range c.Options {
			d.Values = append(d.Values, provider.DimensionValue{ID: o.ID, Name: o.Name, Active: o.Status == "ACTIVE" && c.Status == "ACTIVE"})
		}
		out = append(out, d)
	}
	return out, nil
}

// learnt is what journals are made of, as it was at some time of the session.
type learnt struct {
	Currency string              `json:"currency"`
	Codes    map[string]string   `json:"codes"`    // of accounts, by their ids
	Tracking map[string]tracking `json:"tracking"` // by the ids of options
}

// knows reports whether all that a journal refers to is known.
func (l learnt) knows(j provider.Journal) bool {
	for _, line := range j.Lines {
		if l.Codes[line.Account] == "" {
			return false
		}
		for _, value := range line.Dimensions {
			if _, known := l.Tracking[value]; !known {
				return false
			}
		}
	}
	return l.Currency != ""
}

// learn returns what a journal is made of. It is read again if something is missing.
func (c Connector) learn(ctx context.Context, s *provider.Session, j provider.Journal) (out learnt, err error) {
	if s.Learnt != "" && json.Unmarshal([]byte(s.Learnt), &out) == nil && out.knows(j) {
		return out, nil
	}
	chart, err := c.Chart(ctx, s)
	if err != nil {
		return out, err
	}
	if err := chart.Blame(title, j); err != nil {
		return out, err
	}
	out = learnt{Currency: chart.Currency, Codes: map[string]string{}, Tracking: map[string]tracking{}}
	for _, a := range chart.Accounts {
		out.Codes[a.ID] = a.Code
	}
	for _, d := range chart.Dimensions {
		for _, v := range d.Values {
			out.Tracking[v.ID] = tracking{Name: d.Name, Option: v.Name}
		}
	}
	if !out.knows(j) {
		return out, fault.Conflictf("a line has a tracking option that does not exist in Xero: map the tag to another one")
	}
	s.Learnt = provider.FormatCursor(out)
	return out, nil
}
