package quickbooks

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// preferences are the settings of a company.
type preferences struct {
	Accounting struct {
		Close     string `json:"BookCloseDate"`
		PerTxn    bool   `json:"ClassTrackingPerTxn"`
		PerLine   bool   `json:"ClassTrackingPerTxnLine"`
		Locations bool   `json:"TrackDepartments"`
	} `json:"AccountingInfoPrefs"`
	Currency struct {
		Home     reference `json:"HomeCurrency"`
		Multiple bool      `json:"MultiCurrencyEnabled"`
	} `json:"CurrencyPrefs"`
}

// reference is a reference to another record.
type reference struct {
	Value string `json:"value"`
}

// readPreferences returns the settings of the company.
func readPreferences(ctx context.Context, s *provider.Session) (preferences, error) {
	all, err := list[preferences](ctx, s, "Preferences", "")
	if err != nil {
		return preferences{}, err
	}
	if len(all) != 1 || all[0].Currency.Home.Value == "" {
		return preferences{}, provider.Nonsense(title, errors.New("the preferences do not state the home currency"))
	}
	if date := all[0].Accounting.Close; date != "" {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			return preferences{}, provider.Nonsense(title, err)
		}
	}
	return all[0], nil
}

// learn returns the settings of the company as they were at the beginning of the session.
func learn(ctx context.Context, s *provider.Session) (p preferences, err error) {
	if s.Learnt != "" && json.Unmarshal([]byte(s.Learnt), &p) == nil {
		return p, nil
	}
	if p, err = readPreferences(ctx, s); err == nil {
		s.Learnt = provider.FormatCursor(p)
	}
	return p, err
}

const (
	// class and department are the ids of the dimensions.
	class      = "class"
	department = "department"
	// everything selects records that are inactive, too.
	everything = " where Active in (true, false)"
	// gone follows the name of an account that was made inactive.
	gone = " (deleted)"
)

// listed is a record of a list.
type listed struct {
	ID             string    `json:"Id"`
	Name           string    `json:"FullyQualifiedName"`
	Number         string    `json:"AcctNum"`
	Classification string    `json:"Classification"`
	Type           string    `json:"AccountType"`
	Active         bool      `json:"Active"`
	Currency       reference `json:"CurrencyRef"`
}

// Chart returns the accounts, classes and locations of the company. What else than accounts cannot be read is a warning.
func (Connector) Chart(ctx context.Context, s *provider.Session) (out provider.Chart, err error) {
	p, err := readPreferences(ctx, s)
	if err != nil {
		return out, err
	}
	out.Currency, out.Foreign, out.LockedThrough = p.Currency.Home.Value, p.Currency.Multiple, p.Accounting.Close
	accounts, err := list[listed](ctx, s, "Account", everything)
	if err != nil {
		return out, err
	}
	for _, a := range accounts {
		if a.ID == "" {
			return out, provider.Nonsense(title, errors.New("an account without an id"))
		}
		out.Accounts = append(out.Accounts, a.account(out.Currency))
	}
	for _, d := range []struct {
		used           bool
		id, name, kind string
	}{{p.Accounting.PerTxn || p.Accounting.PerLine, class, "Class", "Class"}, {p.Accounting.Locations, department, "Location", "Department"}} {
		if !d.used {
			continue
		}
		values, err := list[listed](ctx, s, d.kind, everything)
		if kind := fault.KindOf(err); err != nil && (kind == fault.Forbidden || kind == fault.Conflict) {
			out.Warnings = append(out.Warnings, "the dimension "+d.name+" cannot be read: "+provider.Clean(err.Error()))
			continue
		}
		if err != nil {
			return out, err
		}
		one := provider.Dimension{ID: d.id, Name: d.name}
		for _, v := range values {
			one.Values = append(one.Values, provider.DimensionValue{ID: v.ID, Name: strings.TrimSuffix(v.Name, gone), Active: v.Active})
		}
		out.Dimensions = append(out.Dimensions, one)
	}
	return out, nil
}

// account returns an account in our terms. That of an account with the home currency is not stated, because journals in any may have it.
func (a listed) account(home string) provider.LedgerAccount {
	out := provider.LedgerAccount{ID: a.ID, Code: a.Number, Name: strings.TrimSuffix(a.Name, gone), Active: a.Active}
	switch a.Classification {
	case "Asset", "Liability", "Equity", "Revenue", "Expense":
		out.Type = a.Classification
	}
	if a.Currency.Value != home {
		out.Currency = a.Currency.Value
	}
	if a.Type == "Accounts Receivable" || a.Type == "Accounts Payable" {
		out.Refuses = "QuickBooks requires a customer or a vendor on its lines"
	}
	return out
}
