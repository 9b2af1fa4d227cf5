// Package netsuitetest is a fake of NetSuite's REST web services, SuiteQL and pages for consent, for tests.
package netsuitetest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const certificate = "cert-Kx02mQ"

// Server is a fake of NetSuite with one account.
type Server struct {
	providertest.Server

	Single   bool   // the feature OneWorld is off: there are no subsidiaries
	Approves string // what the page for consent calls the account

	books  ledgertest.Books
	tokens ledgertest.Tokens
	first  map[string]string
	public crypto.PublicKey
}

// New returns a fake whose books have a currency, and no journals. People consent on a page.
func New(currency string) *Server {
	number := func(n int) string { return strconv.Itoa(100 + n) }
	return &Server{
		Approves: "123456_SB1",
		tokens: ledgertest.Tokens{Client: provider.Client{ID: "6794a3086e4f61a1", Secret: secret.New("ns-secret-77fa0c")}, Lifetime: time.Hour,
			PKCE: true, Text: true, Scope: "rest_webservices"},
		books: ledgertest.Books{TextMax: 999, LineMax: 999, Chart: provider.Chart{Currency: currency, Foreign: true,
			Accounts: ledgertest.Standard(number, "it sums up others"), Dimensions: []provider.Dimension{
				{ID: "department", Name: "Department", Values: []provider.DimensionValue{{ID: "1", Name: "Treasury", Active: true}, {ID: "2",
					Name: "Old"}}},
				{ID: "class", Name: "Class", Values: []provider.DimensionValue{{ID: "11", Name: "Spot", Active: true}}},
			}}},
	}
}

// NewCertified returns a fake whose integration has a certificate, with a key of RSA or of an elliptic curve.
func NewCertified(currency string, key crypto.Signer) *Server {
	s := New(currency)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(fmt.Sprint("netsuitetest: ", err))
	}
	s.public = key.Public()
	s.first = map[string]string{provider.Subdomain: "123456_SB1", "client_id": s.tokens.Client.ID, "certificate_id": certificate,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))}
	return s
}

// NewKey returns a key of an elliptic curve.
func NewKey() crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(fmt.Sprint("netsuitetest: ", err))
	}
	return key
}

// Credentials returns what the account is accessed with.
func (s *Server) Credentials() map[string]string {
	if s.first == nil {
		s.first = s.tokens.First(s.Now())
		s.first[provider.AccountID], s.first[provider.Subdomain] = "123456_SB1", "123456-sb1"
		s.first["client_id"], s.first["client_secret"] = s.tokens.Client.ID, s.tokens.Client.Secret.Reveal()
	}
	return s.first
}

// Books returns what is in the general ledger.
func (s *Server) Books() *ledgertest.Books { return &s.books }

// Tokens returns what issues tokens.
func (s *Server) Tokens() *ledgertest.Tokens { return &s.tokens }

type object = map[string]any

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, code, detail string) {
	ledgertest.JSON(w, status, object{"type": "https://www.w3.org/Protocols/rfc2616/rfc2616-sec10.html", "title": http.StatusText(status),
		"status": status, "o:errorDetails": []object{{"detail": detail, "o:errorCode": code}}})
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	id, one := strings.CutPrefix(r.URL.Path, "/services/rest/record/v1/journalEntry/")
	switch {
	case r.URL.Path == "/app/login/oauth2/authorize.nl":
		if len(r.URL.Query().Get("state")) < 24 {
			http.Error(w, "the state is too short", http.StatusBadRequest)
			return
		}
		s.tokens.Consent(w, r, url.Values{"role": {"1005"}, "entity": {"12"}, "company": {s.Approves}})
	case r.URL.Path == "/services/rest/auth/oauth2/v1/token":
		s.token(w, r, body)
	case r.URL.Path == "/services/rest/auth/oauth2/v1/revoke":
		s.revoke(w, r, body)
	case !s.tokens.Accepts(r, s.Now()) || s.Revoked():
		refuse(w, http.StatusUnauthorized, "INVALID_LOGIN", "Invalid login attempt with "+strings.TrimPrefix(r.Header.Get("Authorization"),
			"Bearer "))
	case r.URL.Path == "/services/rest/query/v1/suiteql" && r.Method == http.MethodPost && r.Header.Get("Prefer") == "transient":
		s.query(w, r, body)
	case one:
		s.record(w, r, id)
	case r.URL.Path == "/services/rest/record/v1/journalEntry" && r.Method == http.MethodPost:
		s.create(w, body)
	default:
		refuse(w, http.StatusNotFound, "NONEXISTENT", r.Method+" "+r.URL.Path)
	}
}

// token answers a request for tokens, of which those that are signed are verified here.
func (s *Server) token(w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body))
	if s.public == nil || err != nil {
		s.tokens.Token(w, r, body, s.Now(), s.Revoked())
		return
	}
	if form.Get("grant_type") != "client_credentials" ||
		form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" ||
		s.Revoked() {
		s.tokens.Refused++
		ledgertest.JSON(w, http.StatusBadRequest, object{"error": "invalid_grant"})
		return
	}
	if wrong := s.verify(form.Get("client_assertion")); wrong != "" {
		ledgertest.JSON(w, http.StatusUnauthorized, object{"error": "invalid_client", "error_description": wrong})
		return
	}
	ledgertest.JSON(w, http.StatusOK, s.tokens.Add(s.Now()))
}

// verify returns what is wrong with a signed request for a token.
func (s *Server) verify(assertion string) string {
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		return "three parts are needed"
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return err.Error()
		}
	}
	var head struct{ Typ, Alg, Kid string }
	var claims struct {
		Iss, Scope, Aud string
		Iat, Exp        int64
	}
	if json.Unmarshal(raw[0], &head) != nil || json.Unmarshal(raw[1], &claims) != nil {
		return "the parts are no JSON"
	}
	now := s.Now().Unix()
	if head.Typ != "JWT" || head.Kid != certificate || claims.Iss != s.tokens.Client.ID || claims.Scope != "rest_webservices" ||
		claims.Aud != s.URL+"/services/rest/auth/oauth2/v1/token" || claims.Iat > now || claims.Exp <= now || claims.Exp-claims.Iat >= 3600 {
		return "a claim is wrong"
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	switch key := s.public.(type) {
	case *ecdsa.PublicKey:
		if head.Alg == "ES256" && len(raw[2]) == 64 &&
			ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(raw[2][:32]), new(big.Int).SetBytes(raw[2][32:])) {
			return ""
		}
	case *rsa.PublicKey:
		if head.Alg == "PS256" && rsa.VerifyPSS(key, crypto.SHA256, sum[:], raw[2],
			&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil {
			return ""
		}
	}
	return "the signature is wrong"
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body))
	id, secret, _ := r.BasicAuth()
	if err != nil || id != s.tokens.Client.ID || secret != s.tokens.Client.Secret.Reveal() {
		ledgertest.JSON(w, http.StatusUnauthorized, object{"error": "invalid_client"})
		return
	}
	if !s.tokens.Revoke(form.Get("token")) {
		ledgertest.JSON(w, http.StatusBadRequest, object{"error": "invalid_grant"})
		return
	}
	w.WriteHeader(http.StatusOK)
}

// flag returns a truth as SuiteQL states it.
func flag(yes bool) string {
	if yes {
		return "T"
	}
	return "F"
}

// query answers a query by the table that it selects from.
func (s *Server) query(w http.ResponseWriter, r *http.Request, body []byte) {
	var in struct{ Q string }
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	offset, wrong := strconv.Atoi(r.URL.Query().Get("offset"))
	if json.Unmarshal(body, &in) != nil || err != nil || wrong != nil || limit > 1000 {
		refuse(w, http.StatusBadRequest, "INVALID_PARAMETER", "Invalid search query.")
		return
	}
	_, rest, _ := strings.Cut(in.Q, " FROM ")
	table, _, _ := strings.Cut(rest, " ")
	all, known := s.rows(table)
	if !known {
		refuse(w, http.StatusBadRequest, "INVALID_PARAMETER", "Invalid search query. Detailed unprocessed description follows. Record '"+table+
			"' was not found.")
		return
	}
	shown := all[min(offset, len(all)):min(offset+limit, len(all))]
	ledgertest.JSON(w, http.StatusOK, object{"links": []object{}, "count": len(shown), "hasMore": offset+limit < len(all), "items": shown,
		"offset": offset, "totalResults": len(all)})
}

// rows returns the rows of a table.
func (s *Server) rows(table string) (out []object, known bool) {
	switch table {
	case "currency":
		for id, symbol := range []string{"USD", "EUR", "JPY", "CHF"} {
			out = append(out, object{"links": []object{}, "id": strconv.Itoa(id + 1), "symbol": symbol,
				"isbasecurrency": flag(symbol == s.books.Currency)})
		}
	case "subsidiary":
		if s.Single {
			return nil, false
		}
		out = append(out, object{"id": "1", "name": "Parent Company", "currency": s.currency(s.books.Currency)})
	case "account":
		types := map[string]string{"Asset": "OthCurrAsset", "Liability": "OthCurrLiab", "Equity": "Equity", "Revenue": "Income",
			"Expense": "Expense"}
		for _, a := range s.books.Accounts {
			out = append(out, object{"id": a.ID, "acctnumber": a.Code, "fullname": a.Name, "accttype": types[a.Type], "isinactive": flag(!a.Active),
				"issummary": flag(a.Refuses != "")})
		}
	case "department", "classification":
		at := map[string]int{"department": 0, "classification": 1}[table]
		for _, v := range s.books.Dimensions[at].Values {
			out = append(out, object{"id": v.ID, "fullname": v.Name, "isinactive": flag(!v.Active)})
		}
	case "accountingperiod":
		if s.books.LockedThrough != "" {
			out = append(out, object{"startdate": "2026-01-01", "enddate": s.books.LockedThrough, "closed": "T", "alllocked": "T"})
		}
		out = append(out, object{"startdate": "2026-11-02", "enddate": "2026-12-31", "closed": "F", "alllocked": "F"})
	default:
		return nil, false
	}
	return out, true
}

// currency returns the id of a currency.
func (s *Server) currency(symbol string) string {
	rows, _ := s.rows("currency")
	for _, r := range rows {
		if r["symbol"] == symbol {
			return r["id"].(string)
		}
	}
	return ""
}
