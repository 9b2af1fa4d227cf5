package netsuite

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// Queries in SuiteQL.
const (
	currencyQuery   = "SELECT id, symbol, isbasecurrency FROM currency ORDER BY id"
	subsidiaryQuery = "SELECT id, name, currency FROM subsidiary WHERE isinactive = 'F' AND iselimination = 'F' ORDER BY id"
	accountQuery    = "SELECT id, acctnumber, fullname, accttype, isinactive, issummary FROM account ORDER BY id"
	periodQuery     = "SELECT TO_CHAR(startdate, 'YYYY-MM-DD') AS startdate, TO_CHAR(enddate, 'YYYY-MM-DD') AS enddate, closed, alllocked " +
		"FROM accountingperiod WHERE isquarter = 'F' AND isyear = 'F' AND isadjust = 'F' ORDER BY startdate"
)

// yes is how SuiteQL states that something is true.
const yes = "T"

// learnt is what is asked for once in a session.
type learnt struct {
	provider.Company                   // the subsidiary; its id is empty if NetSuite has none
	Currencies       map[string]string `json:"currencies"` // their codes, by ids
}

// learn returns the subsidiary that journals go to, and the currencies.
func learn(ctx context.Context, s *provider.Session) (out learnt, err error) {
	if s.Learnt != "" && json.Unmarshal([]byte(s.Learnt), &out) == nil {
		return out, nil
	}
	currencies, err := ask(ctx, s, currencyQuery, "id", "symbol")
	if err != nil {
		return out, err
	}
	out.Currencies = map[string]string{}
	base := ""
	for _, c := range currencies {
		out.Currencies[c["id"]] = c["symbol"]
		if c["isbasecurrency"] == yes {
			base = c["symbol"]
		}
	}
	subsidiaries, err := ask(ctx, s, subsidiaryQuery, "id", "currency")
	if fault.KindOf(err) == fault.Conflict {
		subsidiaries, err = nil, nil // without the feature OneWorld there is no such table
	}
	if err != nil {
		return out, err
	}
	if len(subsidiaries) == 0 {
		out.Company.Currency = base
	} else {
		var all []provider.Company
		for _, one := range subsidiaries {
			all = append(all, provider.Company{ID: one["id"], Name: one["name"], Currency: out.Currencies[one["currency"]]})
		}
		if out.Company, err = provider.PickCompany(title, s.Text(provider.Entity), all); err != nil {
			return out, err
		}
	}
	if out.Company.Currency == "" {
		return out, fault.Conflictf("NetSuite does not show the currency of the books: permit the role to read currencies")
	}
	s.Learnt = provider.FormatCursor(out)
	return out, nil
}

// kinds are NetSuite's types of accounts.
var kinds = map[string]string{
	"Bank": "Asset", "AcctRec": "Asset", "OthCurrAsset": "Asset", "FixedAsset": "Asset", "OthAsset": "Asset", "DeferExpense": "Asset",
	"UnbilledRec": "Asset", "AcctPay": "Liability", "CredCard": "Liability", "OthCurrLiab": "Liability", "LongTermLiab": "Liability",
	"DeferRevenue": "Liability", "Equity": "Equity", "Income": "Revenue", "OthIncome": "Revenue", "COGS": "Expense", "Expense": "Expense",
	"OthExpense": "Expense",
}

// tables are the dimensions of lines, as records of journals name them, and the tables with their values.
var tables = []struct{ id, name, query string }{
	{"department", "Department", "SELECT id, fullname, isinactive FROM department ORDER BY id"},
	{"class", "Class", "SELECT id, fullname, isinactive FROM classification ORDER BY id"},
	{"location", "Location", "SELECT id, fullname, isinactive FROM location ORDER BY id"},
}

// Chart returns the accounts, departments, classes and locations. What else than accounts cannot be read is a warning.
func (Connector) Chart(ctx context.Context, s *provider.Session) (out provider.Chart, err error) {
	known, err := learn(ctx, s)
	if err != nil {
		return out, err
	}
	out.Currency, out.Foreign = known.Currency, len(known.Currencies) > 1
	accounts, err := ask(ctx, s, accountQuery, "id", "accttype", "isinactive")
	if err != nil {
		return out, err
	}
	for _, a := range accounts {
		one := provider.LedgerAccount{ID: a["id"], Code: a["acctnumber"], Name: a["fullname"], Type: kinds[a["accttype"]],
			Active: a["isinactive"] != yes}
		switch {
		case a["issummary"] == yes:
			one.Refuses = "it is a summary account"
		case a["accttype"] == "NonPosting", a["accttype"] == "Stat":
			one.Refuses = "it is no account of the general ledger"
		}
		out.Accounts = append(out.Accounts, one)
	}
	for _, t := range tables {
		rows, err := ask(ctx, s, t.query, "id", "isinactive")
		if refused(err) {
			out.Warnings = append(out.Warnings, "the dimension "+t.name+" cannot be read, because NetSuite or the role does not have it")
			continue
		}
		if err != nil {
			return out, err
		}
		d := provider.Dimension{ID: t.id, Name: t.name}
		for _, v := range rows {
			d.Values = append(d.Values, provider.DimensionValue{ID: v["id"], Name: v["fullname"], Active: v["isinactive"] != yes})
		}
		if len(d.Values) > 0 {
			out.Dimensions = append(out.Dimensions, d)
		}
	}
	out.LockedThrough, err = lockedThrough(ctx, s)
	if refused(err) {
		out.Warnings = append(out.Warnings, "the accounting periods cannot be read, because the role lacks the permission Manage Accounting "+
			"Periods")
		err = nil
	}
	return out, err
}

// refused reports whether an error says that NetSuite does not answer a query.
func refused(err error) bool {
	kind := fault.KindOf(err)
	return err != nil && (kind == fault.Forbidden || kind == fault.Conflict)
}

// lockedThrough returns the last day before the first period that is open.
func lockedThrough(ctx context.Context, s *provider.Session) (last string, err error) {
	periods, err := ask(ctx, s, periodQuery, "startdate", "enddate")
	if err != nil {
		return "", err
	}
	for _, p := range periods {
		if _, err := time.Parse(time.DateOnly, p["enddate"]); err != nil {
			return "", provider.Nonsense(title, err)
		}
		if p["closed"] != yes && p["alllocked"] != yes {
			break
		}
		last = p["enddate"]
	}
	return last, nil
}
