package apitest

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// ConnectApp has the owner connect a new app with some scopes. It returns what the app may do, and its tokens.
func (n *Tenant) ConnectApp(t *testing.T, scopes ...actor.Scope) (oauth.Authorization, oauth.Tokens) {
	t.Helper()
	return n.ConnectAppFor(t, n.Owner.UserID, scopes...)
}

// ConnectAppFor is ConnectApp for any member.
func (n *Tenant) ConnectAppFor(t *testing.T, userID string, scopes ...actor.Scope) (oauth.Authorization, oauth.Tokens) {
	t.Helper()
	const callback = "https://app.example.com/callback"
	apps, verifier := n.service.App.OAuth, strings.Repeat("v", 43)
	c, err := apps.Register(t.Context(), oauth.RegisterParams{Name: "Ledger Tools", RedirectURIs: []string{callback}}, oauth.ByOperator)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(verifier))
	r := oauth.ParseAuthorizationRequest(url.Values{"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {callback},
		"scope": {actor.JoinScopes(scopes)}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}})
	who := actor.Actor{OrganizationID: n.Organization.ID, UserID: userID, SessionID: "ses_1"}
	code, err := apps.Approve(t.Context(), who, c, r, scopes)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := apps.Exchange(t.Context(), oauth.ExchangeParams{ClientID: c.ID, Code: code, RedirectURI: callback,
		Verifier: secret.New(verifier)})
	if err != nil {
		t.Fatal(err)
	}
	app, err := apps.Authenticate(t.Context(), tokens.Access)
	if err != nil {
		t.Fatal(err)
	}
	who.Role = actor.Owner
	a, err := apps.Authorization(actor.With(t.Context(), who), app.AuthorizationID)
	if err != nil {
		t.Fatal(err)
	}
	return a, tokens
}
