package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// world is a service with an organization whose owner is ada, and two apps.
type world struct {
	*testing.T
	*oauth.Service
	db     *db.DB
	now    *clock.Manual
	access *access.Service
	made   organization.Created
	ada    actor.Actor
	app    oauth.Client
	other  oauth.Client
}

const (
	callback = "https://app.example.com/callback"
	verifier = "a-verifier-that-has-at-least-forty-three-characters"
	issuer   = "https://books.acme.example"
)

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		w := &world{T: t, now: clock.NewManual(time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC))}
		c.Clock = w.now
		w.db = dbtest.Open(t, c)
		w.Service, w.access = oauth.NewService(w.db), access.NewService(w.db)
		w.made, w.ada = w.organization("Acme", "ada@acme.example")
		w.app, w.other = w.register("Ledger Tools"), w.register("Other")
		test(w)
	})
}

func (w *world) organization(name, email string) (organization.Created, actor.Actor) {
	w.Helper()
	made, err := organization.NewService(w.db).Create(w.Context(), organization.CreateParams{Name: name, Email: email, Currency: "USD",
		Timezone: "UTC"})
	w.must(err)
	return made, actor.Actor{OrganizationID: made.Organization.ID, UserID: made.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes,
		SessionID: "ses_1"}
}

// member adds a person to Acme.
func (w *world) member(email string, role actor.Role) actor.Actor {
	w.Helper()
	m, err := w.access.AddMember(actor.With(w.Context(), w.ada), email, role)
	w.must(err)
	return actor.Actor{OrganizationID: w.ada.OrganizationID, UserID: m.UserID, Role: role, Scopes: actor.Scopes, SessionID: "ses_2"}
}

func (w *world) register(name string, redirectURIs ...string) oauth.Client {
	w.Helper()
	if redirectURIs == nil {
		redirectURIs = []string{callback}
	}
	c, err := w.Register(w.Context(), oauth.RegisterParams{Name: name, RedirectURIs: redirectURIs}, oauth.ByOperator)
	w.must(err)
	return c
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// as returns a context in which somebody acts.
func (w *world) as(who actor.Actor) context.Context { return actor.With(w.Context(), who) }

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// requestOf returns what an app sends a person to the consent page with.
func requestOf(c oauth.Client, scope string) oauth.AuthorizationRequest {
	return oauth.ParseAuthorizationRequest(url.Values{"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {c.RedirectURIs[0]},
		"scope": {scope}, "state": {"xyz"}, "code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"}})
}

// code has somebody approve a request of an app.
func (w *world) code(who actor.Actor, c oauth.Client, scope string) secret.Text {
	w.Helper()
	r := requestOf(c, scope)
	scopes, wrong := r.Check(issuer)
	if wrong != nil {
		w.Fatal(wrong)
	}
	text, err := w.Approve(w.Context(), who, c, r, scopes)
	w.must(err)
	return text
}

// redeem is how an app exchanges a code.
func redeem(c oauth.Client, code secret.Text) oauth.ExchangeParams {
	return oauth.ExchangeParams{ClientID: c.ID, Code: code, RedirectURI: c.RedirectURIs[0], Verifier: secret.New(verifier)}
}

// connect has somebody connect an app.
func (w *world) connect(who actor.Actor, c oauth.Client, scope string) oauth.Tokens {
	w.Helper()
	out, err := w.Exchange(w.Context(), redeem(c, w.code(who, c, scope)))
	w.must(err)
	return out
}

func (w *world) refresh(c oauth.Client, t secret.Text) (oauth.Tokens, error) {
	return w.Refresh(w.Context(), oauth.RefreshParams{ClientID: c.ID, Token: t})
}

// refuses expects an error of the protocol.
func (w *world) refuses(what string, err error, code string) {
	w.Helper()
	var e *oauth.Error
	if !errors.As(err, &e) || e.Code != code || e.Description == "" {
		w.Errorf("%s: %v, want %s", what, err, code)
	}
}

// accepts expects that an access token works.
func (w *world) accepts(what string, text secret.Text) actor.Actor {
	w.Helper()
	who, err := w.Authenticate(w.Context(), text)
	if err != nil {
		w.Errorf("%s: %v", what, err)
	}
	return who
}

// rejects expects that an access token does not work.
func (w *world) rejects(what string, text secret.Text) {
	w.Helper()
	if who, err := w.Authenticate(w.Context(), text); fault.KindOf(err) != fault.Unauthorized {
		w.Errorf("%s: %+v %v", what, who, err)
	}
}

// list returns the connected apps that somebody sees.
func (w *world) list(who actor.Actor) []oauth.Authorization {
	w.Helper()
	found, err := w.Authorizations(w.as(who), page.Request{Limit: 100})
	w.must(err)
	return found.Items
}

// ends returns why authorizations have ended, according to the audit log, the latest last.
func (w *world) ends() (out []string) {
	w.Helper()
	found, err := audit.NewService(w.db).List(w.as(w.ada), audit.Filter{Action: "oauth_authorization.ended"}, page.Request{Limit: 100})
	w.must(err)
	for _, r := range found.Items {
		_, rest, _ := strings.Cut(r.After, `"end_reason":"`)
		why, _, _ := strings.Cut(rest, `"`)
		out = append([]string{why}, out...)
	}
	return out
}

// ended expects that authorizations have ended, for these reasons.
func (w *world) ended(what string, reasons ...string) {
	w.Helper()
	if got := w.ends(); strings.Join(got, " ") != strings.Join(reasons, " ") {
		w.Errorf("%s: ended %v, want %v", what, got, reasons)
	}
}

// count counts rows of a table.
func (w *world) count(table string) (n int64) {
	w.Helper()
	w.must(w.db.ReadAcross(w.Context(), "a test", func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.One[int64](ctx, tx, "count", "SELECT count(*) FROM "+table)
		return err
	}))
	return n
}
