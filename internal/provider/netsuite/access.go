package netsuite

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/oauth"
)

// The names of the fields of the integration record, which are entered once for the organization.
const (
	clientID      = "client_id"
	clientSecret  = "client_secret"
	certificateID = "certificate_id"
	privateKey    = "private_key"
)

const (
	tokenPath  = "/services/rest/auth/oauth2/v1/token"
	revokePath = "/services/rest/auth/oauth2/v1/revoke"
	pagePath   = "/app/login/oauth2/authorize.nl"
	scope      = "rest_webservices"
	// stateMin is how many characters NetSuite requires of a state.
	stateMin = 24
	// assertionLife is how long a signed request for a token is valid.
	assertionLife = 5 * time.Minute
)

// accountForm matches the ids of accounts: they become a part of an address.
var accountForm = regexp.MustCompile(`^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$`)

// account returns the id of the account as addresses state it, such as 123456-sb1, and points the session to the address.
func account(s *provider.Session) (string, error) {
	id := strings.TrimSpace(s.Text(provider.Subdomain))
	if !accountForm.MatchString(id) || len(id) > 60 {
		return "", fault.Invalidf(provider.Subdomain, "is no account ID of NetSuite, such as 123456 or 123456_SB1: see Setup, Company, "+
			"Company Information")
	}
	host := strings.ToLower(strings.ReplaceAll(id, "_", "-"))
	if !s.Replaced() {
		s.UseBase("https://" + host + ".suitetalk.api.netsuite.com")
	}
	return host, nil
}

// realm returns the id of the account as NetSuite shows it to people, such as 123456_SB1.
func realm(host string) string { return strings.ToUpper(strings.ReplaceAll(host, "-", "_")) }

// pages returns the address of the pages for people.
func pages(s *provider.Session, host string) string {
	if s.Replaced() {
		return s.Base()
	}
	return "https://" + host + ".app.netsuite.com"
}

// app returns the integration of the organization. With a certificate it has no secret.
func app(s *provider.Session, host string) oauth.App {
	out := oauth.App{Title: title, ID: s.Text(clientID), Own: true, Scope: scope, PKCE: true, Authorize: pages(s, host) + pagePath,
		Token: s.Base() + tokenPath}
	if !certified(s) {
		out.Secret = secret.New(s.Text(clientSecret))
	}
	return out
}

// certified reports whether the integration signs its requests for tokens, so that nobody has to consent.
func certified(s *provider.Session) bool { return s.Text(privateKey) != "" }

// Begin returns the page on which a person chooses a role and consents. With a certificate there is none.
func (Connector) Begin(_ context.Context, s *provider.Session, r provider.SetupRequest) (provider.Setup, error) {
	host, err := account(s)
	if err != nil {
		return provider.Setup{}, err
	}
	if certified(s) {
		_, err := assertion(s, host)
		return provider.Setup{}, err
	}
	if len(r.State) < stateMin {
		return provider.Setup{}, fmt.Errorf("netsuite: the state of a setup has %d characters, and NetSuite requires %d", len(r.State), stateMin)
	}
	return app(s, host).Begin(r)
}

// Finish returns the credentials of the account.
func (Connector) Finish(ctx context.Context, s *provider.Session, r provider.SetupRequest, query url.Values) (provider.Credentials, error) {
	host, err := account(s)
	if err != nil {
		return nil, err
	}
	var out provider.Credentials
	if certified(s) {
		out, err = renew(ctx, s)
	} else {
		out, err = app(s, host).Finish(ctx, s, r, query)
	}
	if err != nil {
		return nil, err
	}
	if company := query.Get("company"); company != "" && !strings.EqualFold(company, realm(host)) {
		return nil, fault.Conflictf("the consent is for the account %s of NetSuite and not for %s: sign in to that one", provider.Clean(company),
			realm(host))
	}
	out[provider.AccountID] = secret.New(realm(host))
	return out, nil
}

// Revoke ends the access of the refresh token. With a certificate there is none: the certificate has to be revoked in NetSuite.
func (Connector) Revoke(ctx context.Context, s *provider.Session) error {
	host, err := account(s)
	if err != nil || certified(s) {
		return err
	}
	return app(s, host).Revoke(ctx, s, s.Base()+revokePath)
}

// renew returns credentials with a new access token: for a signed request if the integration has a certificate, and otherwise for the
// refresh token.
func renew(ctx context.Context, s *provider.Session) (provider.Credentials, error) {
	host, err := account(s)
	if err != nil {
		return nil, err
	}
	if !certified(s) {
		return app(s, host).Refresh(ctx, s)
	}
	signed, err := assertion(s, host)
	if err != nil {
		return nil, err
	}
	return app(s, host).Issue(ctx, s, url.Values{"grant_type": {"client_credentials"},
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {signed}})
}

// assertion returns a signed request for a token: a JWT whose algorithm follows from the key.
func assertion(s *provider.Session, host string) (string, error) {
	for field, name := range map[string]string{clientID: "client ID", certificateID: "certificate ID"} {
		if s.Text(field) == "" {
			return "", fault.Conflictf("enter the %s of the integration in NetSuite first", name)
		}
	}
	key, err := parseKey(s.Text(privateKey))
	if err != nil {
		return "", err
	}
	algorithm := "PS256"
	if _, elliptic := key.(*ecdsa.PrivateKey); elliptic {
		algorithm = "ES256"
	}
	now := s.Now()
	head, err := json.Marshal(map[string]string{"typ": "JWT", "alg": algorithm, "kid": s.Text(certificateID)})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"iss": s.Text(clientID), "scope": scope, "aud": app(s, host).Token, "iat": now.Unix(),
		"exp": now.Add(assertionLife).Unix()})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	signature, err := sign(key, sha256.Sum256([]byte(text)))
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// coordinate is how many bytes each half of a signature with P-256 has.
const coordinate = 32

// sign signs a hash by RFC 7518.
func sign(key crypto.Signer, sum [sha256.Size]byte) ([]byte, error) {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return rsa.SignPSS(rand.Reader, key, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
	case *ecdsa.PrivateKey:
		r, v, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			return nil, err
		}
		out := make([]byte, 2*coordinate)
		r.FillBytes(out[:coordinate])
		v.FillBytes(out[coordinate:])
		return out, nil
	}
	return nil, errKey
}

var errKey = fault.Invalidf(privateKey, "is no private key in the format PEM, of RSA or of the elliptic curve P-256")

// armor matches the lines around a key in the format PEM.
var armor = regexp.MustCompile(`-----[A-Z ]+-----`)

// parseKey reads a private key. Forms may have turned the ends of its lines into spaces or into \n.
func parseKey(text string) (crypto.Signer, error) {
	text = armor.ReplaceAllString(strings.ReplaceAll(text, `\n`, "\n"), "")
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, errKey
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	var found any
	if found, err = x509.ParsePKCS8PrivateKey(der); err != nil {
		if found, err = x509.ParseECPrivateKey(der); err != nil {
			return nil, errKey
		}
	}
	switch key := found.(type) {
	case *rsa.PrivateKey:
		return key, nil
	case *ecdsa.PrivateKey:
		if key.Curve.Params().BitSize == 8*coordinate {
			return key, nil
		}
	}
	return nil, errKey
}
