// Package xerotest is a fake of Xero, with its pages for consent, for tests.
package xerotest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	// Tenant is the organisation.
	Tenant = "fe79f7dd-b6d4-4a92-ba7b-538af6289c58"
	// Other is an organisation that the same person has connected at another time.
	Other = "0a11e7dd-b6d4-4a92-ba7b-538af6289c77"
	event = "d99ecdfe-391d-43d2-b834-17636ba90e8d"
)

// Server is a fake of Xero with two organisations, of which one has books.
type Server struct {
	providertest.Server

	Together bool // both organisations were chosen at once

	books       ledgertest.Books
	tokens      ledgertest.Tokens
	first       map[string]string
	connections []object
}

// New returns a fake whose books have a currency, and no journals.
func New(currency string) *Server {
	category, option := ledgertest.UUID(7), ledgertest.UUID(8)
	s := &Server{
		tokens: ledgertest.Tokens{Client: provider.Client{ID: "7C4DCF1A8E", Secret: secret.New("xero-secret-a91k")}, Lifetime: 30 * time.Minute,
			Rotates: true, Grace: 30 * time.Minute, PKCE: true, Scope: "offline_access accounting.settings.read accounting.manualjournals",
			Form: func(token string) string {
				return "head." + base64.RawURLEncoding.EncodeToString([]byte(`{"authentication_event_id":"`+event+`","n":"`+token+`"}`)) + ".sign"
			}},
		books: ledgertest.Books{TextMax: 4000, LineMax: 4000, Remembers: 6 * time.Minute, Chart: provider.Chart{
			Currency: currency, Accounts: ledgertest.Standard(ledgertest.UUID(1), "it is a system account"), Dimensions: []provider.Dimension{
				{ID: category(1), Name: "Region", Values: []provider.DimensionValue{{ID: option(1), Name: "East", Active: true},
					{ID: option(2), Name: "West"}}},
				{ID: category(2), Name: "Desk", Values: []provider.DimensionValue{{ID: option(3), Name: "OTC", Active: true}}},
			},
		}},
	}
	s.connections = []object{
		{"id": "c1", "tenantId": Other, "tenantType": "ORGANISATION", "tenantName": "Other", "authEventId": "e1",
			"updatedDateUtc": "2026-11-02T09:00:00.1"},
		chosen(),
		{"id": "c3", "tenantId": "a practice", "tenantType": "PRACTICE", "authEventId": event, "updatedDateUtc": "2026-11-03T09:00:00.1"},
	}
	return s
}

// chosen returns the connection of the organisation that people choose.
func chosen() object {
	return object{"id": "c2", "tenantId": Tenant, "tenantType": "ORGANISATION", "tenantName": "Example", "authEventId": event,
		"updatedDateUtc": "2026-11-01T09:00:00.1"}
}

// Credentials returns what the organisation is accessed with.
func (s *Server) Credentials() map[string]string {
	if s.first == nil {
		s.first = s.tokens.First(s.Now())
		s.first[provider.AccountID] = Tenant
	}
	return s.first
}

// Books returns what is in the general ledger.
func (s *Server) Books() *ledgertest.Books { return &s.books }

// Tokens returns what issues tokens.
func (s *Server) Tokens() *ledgertest.Tokens { return &s.tokens }

type object = map[string]any

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	path, inside := strings.CutPrefix(r.URL.Path, "/api.xro/2.0/")
	switch {
	case r.URL.Path == "/identity/connect/authorize":
		if !s.Connected() { // it is chosen on the page
			s.connections = append(s.connections, chosen())
		}
		s.tokens.Consent(w, r, url.Values{"scope": {s.tokens.Scope}})
	case r.URL.Path == "/connect/token":
		s.tokens.Token(w, r, body, s.Now(), s.Revoked())
	case r.URL.Path == "/connect/revocation":
		s.revoke(w, r, body)
	case !s.tokens.Accepts(r, s.Now()) || s.Revoked():
		ledgertest.JSON(w, http.StatusUnauthorized, object{"Type": nil, "Title": "Unauthorized", "Status": http.StatusUnauthorized,
			"Detail": "TokenExpired: " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "Instance": "1"})
	case strings.HasPrefix(r.URL.Path, "/connections"):
		s.connect(w, r)
	case !inside || r.Header.Get("Xero-Tenant-Id") != Tenant || !s.Connected():
		ledgertest.JSON(w, http.StatusForbidden, object{"Type": nil, "Title": "Forbidden", "Status": http.StatusForbidden,
			"Detail": "AuthenticationUnsuccessful"})
	case path == "Organisation":
		s.organisation(w)
	case path == "Accounts":
		s.accounts(w)
	case path == "TrackingCategories":
		s.categories(w, r)
	case path == "ManualJournals" || strings.HasPrefix(path, "ManualJournals/"):
		s.journals(w, r, strings.TrimPrefix(strings.TrimPrefix(path, "ManualJournals"), "/"), body)
	default:
		missing(w)
	}
}

// missing answers as Xero does to what does not exist: with a page.
func missing(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte("<html>The resource you're looking for cannot be found</html>")) // the connector has hung up
}

// Connected reports whether the application has access to the organisation.
func (s *Server) Connected() bool {
	for _, c := range s.connections {
		if c["tenantId"] == Tenant {
			return true
		}
	}
	return false
}

// connect answers a request about the organisations that the token can reach.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	id, one := strings.CutPrefix(r.URL.Path, "/connections/")
	filter := r.URL.Query().Get("authEventId")
	out, rest := []object{}, []object{}
	for _, c := range s.connections {
		if filter == "" || c["authEventId"] == filter || s.Together {
			out = append(out, c)
		}
		if c["id"] != id {
			rest = append(rest, c)
		}
	}
	switch {
	case !one:
		ledgertest.JSON(w, http.StatusOK, out)
	case r.Method != http.MethodDelete || len(rest) == len(s.connections):
		missing(w)
	default:
		s.connections = rest
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body))
	id, secret, _ := r.BasicAuth()
	if err != nil || id != s.tokens.Client.ID || secret != s.tokens.Client.Secret.Reveal() {
		ledgertest.JSON(w, http.StatusBadRequest, object{"error": "invalid_client"})
		return
	}
	s.tokens.Revoke(form.Get("token"))
	w.WriteHeader(http.StatusOK)
}

// date returns a day as Xero states it.
func date(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(fmt.Sprint("xerotest: ", err))
	}
	return fmt.Sprintf("/Date(%d+0000)/", at.UnixMilli())
}

func (s *Server) organisation(w http.ResponseWriter) {
	out := object{"OrganisationID": ledgertest.UUID(6)(1), "Name": "Example", "BaseCurrency": s.books.Currency, "CountryCode": "DE",
		"EndOfYearLockDate": date("2020-12-31")}
	if s.books.LockedThrough != "" {
		out["PeriodLockDate"] = date(s.books.LockedThrough)
	} else {
		delete(out, "EndOfYearLockDate")
	}
	ledgertest.JSON(w, http.StatusOK, object{"Id": "1", "Status": "OK", "Organisations": []object{out}})
}

func (s *Server) accounts(w http.ResponseWriter) {
	out := []object{}
	for _, a := range s.books.Accounts {
		one := object{"AccountID": a.ID, "Code": a.Code, "Name": a.Name, "Class": strings.ToUpper(a.Type), "Type": "CURRENT", "Status": "ACTIVE",
			"TaxType": "NONE"}
		if !a.Active {
			one["Status"] = "ARCHIVED"
		}
		if a.Refuses != "" {
			one["SystemAccount"] = "DEBTORS"
		}
		out = append(out, one)
	}
	ledgertest.JSON(w, http.StatusOK, object{"Id": "1", "Status": "OK", "Accounts": out})
}

func (s *Server) categories(w http.ResponseWriter, r *http.Request) {
	out := []object{}
	for _, d := range s.books.Dimensions {
		options := []object{}
		for _, v := range d.Values {
			status := "ACTIVE"
			if !v.Active {
				status = "ARCHIVED"
			}
			if v.Active || r.URL.Query().Get("includeArchived") == "true" {
				options = append(options, object{"TrackingOptionID": v.ID, "Name": v.Name, "Status": status})
			}
		}
		out = append(out, object{"TrackingCategoryID": d.ID, "Name": d.Name, "Status": "ACTIVE", "Options": options})
	}
	ledgertest.JSON(w, http.StatusOK, object{"Id": "1", "Status": "OK", "TrackingCategories": out})
}
