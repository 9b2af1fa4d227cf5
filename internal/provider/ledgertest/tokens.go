package ledgertest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
)

// Tokens issue and verify tokens by OAuth 2.0, for a fake. They are guarded by its server.
type Tokens struct {
	Client   provider.Client
	Lifetime time.Duration // of an access token
	Rotates  bool          // a refresh token is replaced when it is used, and accepted again for Grace
	Grace    time.Duration
	PKCE     bool
	Scope    string
	Text     bool // lifetimes are stated as texts
	// Form gives access tokens another form, from one that tells them apart; nil means none.
	Form func(token string) string

	Issued  int // how many access tokens were issued
	Refused int // how many requests for an access token were refused because the access was withdrawn
	Revoked int // how many refresh tokens were revoked while they were valid

	number  int
	codes   map[string]code
	access  map[string]time.Time // until when
	refresh map[string]time.Time // until when; the zero time means for ever
}

// code is a code that a page has given out.
type code struct{ returnTo, challenge string }

// First returns the tokens of an account that was connected, for which no request was made.
func (t *Tokens) First(now time.Time) map[string]string {
	pair := t.pair(now)
	return map[string]string{provider.AccessToken: pair["access_token"].(string), provider.RefreshToken: pair["refresh_token"].(string),
		provider.TokenExpires: strconv.FormatInt(now.Add(t.Lifetime).Unix(), 10)}
}

func (t *Tokens) pair(now time.Time) map[string]any {
	if t.access == nil {
		t.access, t.refresh, t.codes = map[string]time.Time{}, map[string]time.Time{}, map[string]code{}
	}
	t.number++
	access, refresh := fmt.Sprintf("access-%06d-kf83hs", t.number), fmt.Sprintf("refresh-%06d-p02ms7", t.number)
	if t.Form != nil {
		access = t.Form(access)
	}
	t.access[access], t.refresh[refresh] = now.Add(t.Lifetime), time.Time{}
	seconds := any(int(t.Lifetime / time.Second))
	if t.Text {
		seconds = fmt.Sprint(seconds)
	}
	return map[string]any{"access_token": access, "refresh_token": refresh, "expires_in": seconds, "token_type": "bearer"}
}

// Consent answers as the page on which a person consents at once, and sends the browser back.
func (t *Tokens) Consent(w http.ResponseWriter, r *http.Request, extra url.Values) {
	q := r.URL.Query()
	if q.Get("response_type") != "code" || q.Get("client_id") != t.Client.ID || q.Get("scope") != t.Scope || q.Get("state") == "" ||
		t.PKCE != (q.Get("code_challenge_method") == "S256") {
		http.Error(w, "the parameters of the page are wrong: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	t.pair(time.Time{})
	name := fmt.Sprintf("code-%06d", t.number)
	t.codes[name] = code{q.Get("redirect_uri"), q.Get("code_challenge")}
	extra.Set("code", name)
	extra.Set("state", q.Get("state"))
	w.Header().Set("Location", q.Get("redirect_uri")+"?"+extra.Encode())
	w.WriteHeader(http.StatusFound)
}

// Token answers a request for tokens with those, or with an error of OAuth.
func (t *Tokens) Token(w http.ResponseWriter, r *http.Request, body []byte, now time.Time, revoked bool) {
	form, err := url.ParseQuery(string(body))
	id, secret, _ := r.BasicAuth()
	switch {
	case err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded":
		JSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_request"})
	case id != t.Client.ID || secret != t.Client.Secret.Reveal():
		JSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	case revoked || !t.grants(form, now):
		t.Refused++
		JSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "Token " + form.Get("refresh_token") +
			" invalid"})
	default:
		t.Issued++
		pair := t.pair(now)
		if form.Get("grant_type") == "refresh_token" && !t.Rotates {
			delete(t.refresh, pair["refresh_token"].(string))
			pair["refresh_token"] = form.Get("refresh_token")
		}
		JSON(w, http.StatusOK, pair)
	}
}

// grants reports whether a form states a code or a refresh token that is valid.
func (t *Tokens) grants(form url.Values, now time.Time) bool {
	switch form.Get("grant_type") {
	case "authorization_code":
		c, found := t.codes[form.Get("code")]
		delete(t.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		return found && c.returnTo == form.Get("redirect_uri") &&
			(!t.PKCE || c.challenge == base64.RawURLEncoding.EncodeToString(sum[:]))
	case "refresh_token":
		token := form.Get("refresh_token")
		until, found := t.refresh[token]
		if found && t.Rotates && until.IsZero() {
			t.refresh[token] = now.Add(t.Grace)
		}
		return found && (until.IsZero() || now.Before(until))
	}
	return false
}

// Accepts reports whether a request has an access token that is valid.
func (t *Tokens) Accepts(r *http.Request, now time.Time) bool {
	const bearer = "Bearer "
	header := r.Header.Get("Authorization")
	if len(header) < len(bearer) || header[:len(bearer)] != bearer {
		return false
	}
	until, found := t.access[header[len(bearer):]]
	return found && now.Before(until)
}

// Add makes an access token that was issued in another way valid.
func (t *Tokens) Add(now time.Time) map[string]any {
	t.Issued++
	pair := t.pair(now)
	delete(t.refresh, pair["refresh_token"].(string))
	delete(pair, "refresh_token")
	return pair
}

// Expire ends all access tokens, before their time.
func (t *Tokens) Expire() { clear(t.access) }

// Revoke ends the access of a refresh token, and reports whether it was valid.
func (t *Tokens) Revoke(token string) bool {
	_, found := t.refresh[token]
	if found {
		t.Revoked++
	}
	clear(t.access)
	delete(t.refresh, token)
	return found
}
