package ramptest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// wanted are the scopes that are asked for, and no others.
var wanted = []string{"business:read", "cashbacks:read", "transactions:read", "transfers:read"}

// app returns which app a request is signed with: own, registered, or an empty text.
func (s *Server) app(r *http.Request) string {
	text, basic := strings.CutPrefix(r.Header.Get("Authorization"), "Basic ")
	decoded, err := base64.StdEncoding.DecodeString(text)
	switch {
	case !basic || err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded":
	case string(decoded) == ownID+":"+ownSecret && !s.Revoked():
		return "own"
	case string(decoded) == clientID+":"+clientSecret:
		return "registered"
	}
	return ""
}

// refreshes reports whether a refresh token counts.
func (s *Server) refreshes(token string) bool {
	return token != "" && (token == s.refresh || token == s.former) && !s.Revoked()
}

// answerToken answers with tokens. A refresh token can be used until what followed it is used: the answer has the next one.
func (s *Server) answerToken(w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body))
	asked := strings.Fields(form.Get("scope"))
	slices.Sort(asked)
	app, failure := s.app(r), ""
	switch kind := form.Get("grant_type"); {
	case err != nil || app == "":
		write(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	case kind == "client_credentials" && app != "own":
		failure = "unauthorized_client"
	case kind == "client_credentials" && (!slices.Equal(asked, wanted) || slices.Contains(asked, s.Lacks)):
		failure = "invalid_scope"
	case kind == "client_credentials":
	case kind == "refresh_token" && !s.refreshes(form.Get("refresh_token")):
		failure = "invalid_grant"
	case kind == "authorization_code" && (form.Get("code") != s.code || s.code == "" || form.Get("redirect_uri") != s.ReturnedTo):
		failure = "invalid_grant"
	case kind != "refresh_token" && kind != "authorization_code":
		failure = "unsupported_grant_type"
	}
	if failure != "" {
		write(w, http.StatusBadRequest, map[string]any{"error": failure})
		return
	}
	s.tokens++
	token := fmt.Sprintf("ramp_tok_access%d", s.tokens)
	s.access[token] = true
	out := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 864000, "scope": strings.Join(wanted, " ")}
	if form.Get("grant_type") != "client_credentials" {
		s.former = form.Get("refresh_token")
		s.code, s.refresh = "", fmt.Sprintf("ramp_tok_refresh%d", s.tokens)
		out["refresh_token"] = s.refresh
	}
	write(w, http.StatusOK, out)
}

// answerRevoke ends the access of a token.
func (s *Server) answerRevoke(w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body))
	if err != nil || s.app(r) == "" {
		write(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	token := form.Get("token")
	delete(s.access, token)
	if token == s.refresh {
		s.refresh, s.former = "", ""
	}
	w.WriteHeader(http.StatusOK)
}
