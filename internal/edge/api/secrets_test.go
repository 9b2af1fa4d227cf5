package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// secrets collects what must not be found anywhere, with what each is.
type secrets map[string]string

// add adds a secret, without a prefix that all secrets of its kind have.
func (s secrets) add(what, text string) {
	if i := strings.LastIndex(text, "_"); i >= 0 && i < len(text)-20 {
		text = text[i+1:]
	}
	s[text] = what
}

// find fails the test if a text contains a secret.
func (s secrets) find(t *testing.T, where, text string) {
	t.Helper()
	for one, what := range s {
		if i := strings.Index(text, one); i >= 0 {
			t.Errorf("%s contains the %s: …%s…", where, what, text[max(0, i-100):min(len(text), i+len(one)+20)])
		}
	}
}

// Passwords, codes, links, sessions, keys and tokens are used in every way, rightly and wrongly; then everything is searched for them.
func TestNoSecretOfAPersonOrAppIsStoredOrLogged(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		var log buffer
		c.SlowStatement = 1 // every statement is logged
		c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		d := dbtest.Open(t, c)
		s := apitest.Start(t, d, api.Config{Log: c.Log})
		n, found := s.Found(t, "mine"), secrets{}
		found.add("API key", n.Key)
		useSecrets(t, n, found)
		found.find(t, "the log", log.String())
		found.find(t, "the database", dump(t, d))
		if c.Dir != "" {
			files, err := filepath.Glob(filepath.Join(c.Dir, "*"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, name := range files {
				if content, err := os.ReadFile(name); err == nil {
					found.find(t, name, string(content))
				}
			}
		}
		if len(found) < 24 {
			t.Errorf("only %d secrets were looked for", len(found))
		}
	})
}

// useSecrets uses all kinds of secrets, and collects them. No answer contains one that was given before.
func useSecrets(t *testing.T, n *apitest.Tenant, found secrets) {
	t.Helper()
	s, people, ctx := n.Service(), n.Service().App.Identity, t.Context()
	send := func(r apitest.Request) apitest.Answer {
		t.Helper()
		a := s.Send(t, r)
		found.find(t, r.Method+" "+r.Path, string(a.Body))
		if a.Status >= 500 {
			t.Errorf("%s %s: %d %s", r.Method, r.Path, a.Status, a.Body)
		}
		return a
	}
	signIn := func(password, code string) string {
		body, _ := json.Marshal(map[string]string{"email": n.Owner.Email, "password": password, "code": code})
		answer := &http.Response{Header: send(apitest.Request{Method: "POST", Path: "/v1/session", Body: string(body)}).Header}
		texts := map[string]string{}
		for _, c := range answer.Cookies() {
			texts[c.Name] = c.Value
		}
		if device := texts[browser.Device.PlainName()]; device != "" {
			found.add("device", device)
		}
		return texts[browser.Session.PlainName()]
	}
	n.SetPassword(t, n.Owner.UserID)
	found.add("password", apitest.Password)
	found.add("wrong password", "wrong-password-of-somebody")
	signIn("wrong-password-of-somebody", "")
	session := signIn(apitest.Password, "")
	found.add("session", session)
	send(apitest.Request{Method: "GET", Path: "/v1/session", Key: session})
	send(apitest.Request{Method: "GET", Path: "/v1/sessions", Key: session})
	send(apitest.Request{Method: "GET", Path: "/v1/sessions", Key: session[:len(session)-1] + "~"})

	begun, err := people.BeginTOTP(ctx, n.Owner.UserID)
	if err != nil {
		t.Fatal(err)
	}
	found.add("secret of the authenticator app", begun.Secret.Reveal())
	code, err := totp.Code(begun.Secret, totp.Step(s.App.DB.Clock().Now()))
	if err != nil {
		t.Fatal(err)
	}
	recovery, err := people.ConfirmTOTP(ctx, n.Owner.UserID, begun.Ticket, secret.New(code), identity.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range recovery {
		found.add("recovery code", one.Reveal())
	}
	signIn(apitest.Password, "")
	signIn(apitest.Password, recovery[0].Reveal())
	link, err := people.FirstPassword(ctx, n.Owner.UserID)
	if err != nil {
		t.Fatal(err)
	}
	found.add("link", link.Reveal())
	if err := people.MailReset(ctx, identity.ResetRequest{Email: n.Owner.Email}); err != nil {
		t.Fatal(err)
	}
	for _, one := range mailed(t, s) { // waits in the queue until it is sent
		found.add("mailed link", one)
	}
	useApp(t, n, found, send)
	a := send(apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: n.Key, Body: `{"name":"k","scopes":["apis.read"]}`,
		Header: http.Header{"Idempotency-Key": {"zq-idempotency-of-a-key"}}})
	var made struct{ Data struct{ Key string } }
	if err := json.Unmarshal(a.Body, &made); err != nil || made.Data.Key == "" {
		t.Fatal(string(a.Body))
	}
	found.add("new API key", made.Data.Key)
	send(apitest.Request{Method: "GET", Path: "/v1/api-keys", Key: n.Key})
	send(apitest.Request{Method: "GET", Path: "/v1/audit-log?limit=100", Key: n.Key})
	send(apitest.Request{Method: "GET", Path: "/v1/events?limit=100", Key: n.Key})
}

// useApp connects an app and uses its tokens.
func useApp(t *testing.T, n *apitest.Tenant, found secrets, send func(apitest.Request) apitest.Answer) {
	t.Helper()
	apps, ctx := n.Service().App.OAuth, t.Context()
	const redirect = "https://app.example.com/callback"
	c, err := apps.Register(ctx, oauth.RegisterParams{Name: "App", RedirectURIs: []string{redirect}}, oauth.ByOperator)
	if err != nil {
		t.Fatal(err)
	}
	verifier := oauth2.GenerateVerifier()
	found.add("code verifier", verifier)
	who := actor.Actor{OrganizationID: n.Organization.ID, UserID: n.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes}
	code, err := apps.Approve(ctx, who, c, oauth.AuthorizationRequest{ResponseType: "code", ClientID: c.ID, RedirectURI: redirect,
		Scope: "apis.read", CodeChallenge: oauth2.S256ChallengeFromVerifier(verifier), CodeChallengeMethod: "S256"},
		[]actor.Scope{actor.ScopeRead})
	if err != nil {
		t.Fatal(err)
	}
	found.add("code", code.Reveal()[30:])
	first, err := apps.Exchange(ctx, oauth.ExchangeParams{ClientID: c.ID, Code: code, RedirectURI: redirect, Verifier: secret.New(verifier)})
	if err != nil {
		t.Fatal(err)
	}
	second, err := apps.Refresh(ctx, oauth.RefreshParams{ClientID: c.ID, Token: first.Refresh})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []secret.Text{first.Access, first.Refresh, second.Access, second.Refresh} {
		found.add("token", one.Reveal()[30:])
	}
	send(apitest.Request{Method: "GET", Path: "/v1/organization", Key: second.Access.Reveal()})
	send(apitest.Request{Method: "GET", Path: "/v1/organization", Key: second.Access.Reveal()[:60]})
}

// mailed runs the jobs that wait until a message was written, and returns the links in it.
func mailed(t *testing.T, s *apitest.Service) (links []string) {
	t.Helper()
	s.Work(t)
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(s.MailFolder, "*.eml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for word := range strings.FieldsSeq(string(content)) {
				if strings.Contains(word, "bul_") {
					links = append(links, word)
				}
			}
		}
		if len(links) > 0 {
			return links
		}
	}
	t.Fatal("no message was written")
	return nil
}

// dump returns all that is stored in a database, as text.
func dump(t *testing.T, d *db.DB) string {
	t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table'"
	if d.Engine() == db.Postgres {
		query = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'"
	}
	var out strings.Builder
	err := d.ReadAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
		tables, err := db.All[string](ctx, tx, query)
		if err != nil {
			return err
		}
		for _, table := range tables {
			rows, err := db.Texts(ctx, tx, "SELECT * FROM "+table)
			if err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
			for _, row := range rows {
				for column, v := range row {
					if v.Value != nil {
						out.WriteString(table + "." + column + "=" + *v.Value + "\n")
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
