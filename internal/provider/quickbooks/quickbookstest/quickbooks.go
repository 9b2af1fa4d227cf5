// Package quickbookstest is a fake of QuickBooks Online, with Intuit's pages for consent, for tests.
package quickbookstest

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const realm = "9130357012345678"

// Server is a fake of QuickBooks Online with one company.
type Server struct {
	providertest.Server

	books  ledgertest.Books
	tokens ledgertest.Tokens
	first  map[string]string
}

// New returns a fake whose books have a currency, and others if multiple is true. It has no journals.
func New(currency string, multiple bool) *Server {
	return &Server{
		tokens: ledgertest.Tokens{Client: provider.Client{ID: "ABqbo0client", Secret: secret.New("qbo-secret-51hx")}, Lifetime: time.Hour,
			Rotates: true, Grace: 24 * time.Hour, Scope: "com.intuit.quickbooks.accounting"},
		books: ledgertest.Books{TextMax: 4000, LineMax: 4000, Remembers: 24 * time.Hour, Chart: provider.Chart{
			Currency: currency, Foreign: multiple, Accounts: ledgertest.Standard(strconv.Itoa, "it needs a customer"),
			Dimensions: []provider.Dimension{
				{ID: "class", Name: "Class", Values: []provider.DimensionValue{{ID: "5000", Name: "Treasury", Active: true}, {ID: "5001",
					Name: "Old"}}},
				{ID: "department", Name: "Location", Values: []provider.DimensionValue{{ID: "1", Name: "Berlin", Active: true}}},
			},
		}},
	}
}

// Credentials returns what the company is accessed with.
func (s *Server) Credentials() map[string]string {
	if s.first == nil {
		s.first = s.tokens.First(s.Now())
		s.first[provider.AccountID] = realm
	}
	return s.first
}

// Books returns what is in the general ledger.
func (s *Server) Books() *ledgertest.Books { return &s.books }

// Tokens returns what issues tokens.
func (s *Server) Tokens() *ledgertest.Tokens { return &s.tokens }

type object = map[string]any

// refuse answers with a fault.
func refuse(w http.ResponseWriter, status int, kind, code, message, detail string) {
	ledgertest.JSON(w, status, object{"Fault": object{"Error": []object{{"Message": message, "Detail": detail, "code": code, "element": ""}},
		"type": kind}, "time": "2026-11-02T01:30:00.000-08:00"})
}

const validation = "ValidationFault"

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	path, company := strings.CutPrefix(r.URL.Path, "/v3/company/"+realm)
	id, one := strings.CutPrefix(path, "/journalentry/")
	switch {
	case r.URL.Path == "/connect/oauth2":
		s.tokens.Consent(w, r, url.Values{"realmId": {realm}})
	case r.URL.Path == "/oauth2/v1/tokens/bearer":
		s.tokens.Token(w, r, body, s.Now(), s.Revoked())
	case r.URL.Path == "/v2/oauth2/tokens/revoke":
		s.revoke(w, r, body)
	case !s.tokens.Accepts(r, s.Now()) || s.Revoked():
		ledgertest.JSON(w, http.StatusUnauthorized, object{"warnings": nil, "fault": object{"error": []object{{
			"message": "message=AuthenticationFailed; errorCode=003200; statusCode=401",
			"detail":  "Token expired: " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "code": "3200", "element": nil,
		}}, "type": "AUTHENTICATION"}})
	case !company:
		ledgertest.JSON(w, http.StatusForbidden, object{"fault": object{"error": []object{{
			"message": "message=ApplicationAuthorizationFailed; errorCode=003100; statusCode=403", "code": "3100"}}, "type": "AUTHORIZATION"}})
	case r.URL.Query().Get("minorversion") == "":
		refuse(w, http.StatusBadRequest, validation, "2010", "Request has invalid or unsupported property", "minorversion")
	case path == "/companyinfo/"+realm:
		ledgertest.JSON(w, http.StatusOK, object{"CompanyInfo": object{"CompanyName": "Example Company", "Id": "1"}})
	case path == "/query":
		s.query(w, r.URL.Query().Get("query"))
	case one:
		s.get(w, id)
	case path == "/journalentry" && r.Method == http.MethodPost && r.URL.Query().Get("operation") == "delete":
		s.remove(w, body)
	case path == "/journalentry" && r.Method == http.MethodPost:
		s.create(w, r.URL.Query().Get("requestid"), body)
	default:
		refuse(w, http.StatusBadRequest, validation, "500", "Unsupported Operation", path)
	}
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body))
	id, secret, _ := r.BasicAuth()
	if err != nil || id != s.tokens.Client.ID || secret != s.tokens.Client.Secret.Reveal() {
		ledgertest.JSON(w, http.StatusUnauthorized, object{"error": "invalid_client"})
		return
	}
	if !s.tokens.Revoke(form.Get("token")) {
		ledgertest.JSON(w, http.StatusBadRequest, object{"error": "invalid_token"})
		return
	}
	w.WriteHeader(http.StatusOK)
}

// selection matches the queries that QuickBooks understands, as far as they are used.
var selection = regexp.MustCompile(`^select \* from (\w+)(?: where (\w+) (=|in) (.+?))? startposition (\d+) maxresults (\d+)$`)

// query answers a query.
func (s *Server) query(w http.ResponseWriter, text string) {
	m := selection.FindStringSubmatch(text)
	if m == nil {
		refuse(w, http.StatusBadRequest, validation, "4000", "Error parsing query", text)
		return
	}
	start, _ := strconv.Atoi(m[5]) // the expression matches digits
	limit, _ := strconv.Atoi(m[6])
	value := strings.ReplaceAll(strings.ReplaceAll(strings.Trim(m[4], "'"), `\'`, "'"), `\\`, `\`)
	var all []object
	switch m[1] {
	case "Preferences":
		all = s.preferences()
	case "Account":
		all = s.accounts(m[4] == "(true, false)")
	case "Class":
		all = values(s.books.Dimensions[0], m[4] == "(true, false)")
	case "Department":
		all = values(s.books.Dimensions[1], m[4] == "(true, false)")
	case "JournalEntry":
		for _, e := range s.books.Entries {
			if !e.Gone && (m[2] == "TxnDate" && e.Date == value || m[2] == "DocNumber" && e.Number == value) {
				all = append(all, s.show(e))
			}
		}
	}
	all = all[min(start-1, len(all)):min(start-1+limit, len(all))]
	out := object{}
	if len(all) > 0 {
		out = object{m[1]: all, "startPosition": start, "maxResults": len(all)}
	}
	ledgertest.JSON(w, http.StatusOK, object{"QueryResponse": out, "time": "2026-11-02T01:30:00.000-08:00"})
}

func (s *Server) preferences() []object {
	accounting := object{"ClassTrackingPerTxn": false, "ClassTrackingPerTxnLine": true, "TrackDepartments": true, "UseAccountNumbers": true}
	if s.books.LockedThrough != "" {
		accounting["BookCloseDate"] = s.books.LockedThrough
	}
	return []object{{"AccountingInfoPrefs": accounting,
		"CurrencyPrefs": object{"HomeCurrency": object{"value": s.books.Currency}, "MultiCurrencyEnabled": s.books.Foreign}}}
}

func (s *Server) accounts(inactive bool) (out []object) {
	for _, a := range s.books.Accounts {
		kind, name := "Other Current Asset", a.Name
		if a.Refuses != "" {
			kind = "Accounts Receivable"
		}
		if !a.Active {
			name += " (deleted)"
		}
		if a.Active || inactive {
			out = append(out, object{"Id": a.ID, "Name": name, "FullyQualifiedName": name, "AcctNum": a.Code, "Classification": a.Type,
				"AccountType": kind, "Active": a.Active, "CurrencyRef": object{"value": s.books.Currency}, "SyncToken": "0"})
		}
	}
	return out
}

func values(d provider.Dimension, inactive bool) (out []object) {
	for _, v := range d.Values {
		if v.Active || inactive {
			out = append(out, object{"Id": v.ID, "Name": v.Name, "FullyQualifiedName": v.Name, "Active": v.Active})
		}
	}
	return out
}

// name returns an id for new journal entries.
func name(n int) string { return fmt.Sprint(140 + n) }
