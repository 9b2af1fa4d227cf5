package oauthapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

// call sends a request to the API with a header, and returns the record that it answers with.
func (w *world) call(method, path, header, value, body string, status int) map[string]any {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.URL+path, strings.NewReader(body))
	w.must(err)
	r.Header.Set(header, value)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	got, err := http.DefaultClient.Do(r)
	w.must(err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	w.must(err)
	if got.StatusCode != status {
		w.Fatalf("%s %s: %d %s", method, path, got.StatusCode, text)
	}
	var out struct {
		Data map[string]any `json:"data"`
	}
	_ = json.Unmarshal(text, &out) // a list has no record
	return out.Data
}

// creations are what an app has created, and one of each kind that its person has.
type creations struct {
	keys        []string // texts
	invitations []string
	endpoints   []string
	clients     []oauth.Client
	tokens      reply // of an app that the app has registered, which ada has connected
	nested      string
	kept        []string // paths of what must stay
	keptKey     string
}

// create has an app with an access token create things: itself, with a key, and with a key that was created with that.
func (w *world) create(token string) (c creations) {
	w.Helper()
	const key, bearer = "X-API-Key", "Authorization"
	credentials := [][2]string{{bearer, "Bearer " + token}}
	for i := range 2 {
		by := credentials[i]
		made := w.call("POST", "/v1/api-keys", by[0], by[1], `{"name":"k","scopes":["apis.all"],"user_id":"`+w.ada.UserID+`"}`, 201)
		c.keys = append(c.keys, made["key"].(string))
		credentials = append(credentials, [2]string{key, made["key"].(string)})
	}
	for i, by := range credentials {
		email := string(rune('a'+i)) + "@invited.example"
		invited := w.call("POST", "/v1/team/invitations", by[0], by[1], `{"email":"`+email+`","role":"owner"}`, 201)
		c.invitations = append(c.invitations, invited["id"].(string))
		registered := w.call("POST", "/v1/oauth-clients", by[0], by[1], `{"name":"Own","redirect_uris":["`+callback+`"]}`, 201)
		c.clients = append(c.clients, oauth.Client{ID: registered["id"].(string), RedirectURIs: []string{callback}})
		endpoint := w.call("POST", "/v1/webhook-endpoints", by[0], by[1], `{"url":"https://app.example.com/events"}`, 201)
		c.endpoints = append(c.endpoints, endpoint["id"].(string))
	}
	c.tokens = w.connect(c.clients[0], "apis.all")
	c.nested = w.call("POST", "/v1/api-keys", bearer, "Bearer "+c.tokens.body.AccessToken, `{"name":"k","scopes":["apis.read"]}`,
		201)["key"].(string)
	c.keptKey = w.call("POST", "/v1/api-keys", key, w.tenant.Key, `{"name":"k","scopes":["apis.read"]}`, 201)["key"].(string)
	invited := w.call("POST", "/v1/team/invitations", key, w.tenant.Key, `{"email":"kept@invited.example","role":"viewer"}`, 201)
	registered := w.call("POST", "/v1/oauth-clients", key, w.tenant.Key, `{"name":"Kept","redirect_uris":["`+callback+`"]}`, 201)
	endpoint := w.call("POST", "/v1/webhook-endpoints", key, w.tenant.Key, `{"url":"https://kept.example.com/events"}`, 201)
	c.kept = []string{invited["id"].(string), registered["id"].(string), endpoint["id"].(string)}
	return c
}

// statuses returns what has become of the invitations, the apps and the webhook endpoints of the organization, by id.
func (w *world) statuses() map[string]string {
	w.Helper()
	out := map[string]string{}
	for i, err := range w.tenant.Client.Invitations(w.Context()) {
		w.must(err)
		out[i.ID] = i.Status
	}
	for c, err := range w.tenant.Client.OAuthClients(w.Context()) {
		w.must(err)
		out[c.ID] = map[bool]string{true: "revoked", false: "pending"}[c.RevokedAt != nil]
	}
	for e, err := range w.tenant.Client.WebhookEndpoints(w.Context()) {
		w.must(err)
		out[e.ID] = map[string]string{"disabled": "revoked", "enabled": "pending"}[e.Status]
	}
	return out
}

func TestWhatAnAppHasCreatedEndsAtOnceWithItsAccess(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(w *world, tokens reply, id string){
		"the app gives it up": func(w *world, tokens reply, _ string) {
			w.post("/oauth/revoke", url.Values{"client_id": {w.app.ID}, "token": {tokens.body.RefreshToken}})
		},
		"the person disconnects it": func(w *world, _ reply, id string) {
			w.call("DELETE", "/v1/connected-apps/"+id, "X-API-Key", w.tenant.Key, "", 200)
		},
		"the person connects it again": func(w *world, _ reply, _ string) { w.connect(w.app, "apis.read") },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
				w := start(t, c, api.Config{}) // no job runs
				tokens := w.connect(w.app, "apis.all")
				who, err := w.App.OAuth.Authenticate(t.Context(), secret.New(tokens.body.AccessToken))
				w.must(err)
				made := w.create(tokens.body.AccessToken)
				for _, key := range append(made.keys, made.nested, made.keptKey) {
					w.call("GET", "/v1/tags", "X-API-Key", key, "", 200)
				}
				end(w, tokens, who.AuthorizationID)
				w.allEnded(made)
			})
		})
	}
}

// allEnded expects that nothing that an app has created is left, and all that its person has.
func (w *world) allEnded(made creations) {
	w.Helper()
	for _, key := range append(made.keys, made.nested) {
		w.call("GET", "/v1/tags", "X-API-Key", key, "", 401)
	}
	w.call("GET", "/v1/tags", "X-API-Key", made.keptKey, "", 200)
	w.works("the token of an app that the app has registered", made.tokens.body.AccessToken, false)
	w.refuses("its refresh token", w.post("/oauth/token", refresh(made.clients[0], made.tokens.body.RefreshToken)), 400, oauth.InvalidClient)
	found := w.statuses()
	for _, id := range made.invitations {
		if found[id] != "revoked" {
			w.Errorf("the invitation %s is %s", id, found[id])
		}
	}
	for _, c := range made.clients {
		if found[c.ID] != "revoked" {
			w.Errorf("the app %s is %s", c.ID, found[c.ID])
		}
	}
	for _, id := range made.endpoints {
		if found[id] != "revoked" {
			w.Errorf("the webhook endpoint %s is %s", id, found[id])
		}
	}
	for _, id := range made.kept {
		if found[id] != "pending" {
			w.Errorf("%s, which the person has created, is %s", id, found[id])
		}
	}
}

func TestTheKeysOfAnAppThatIsRevokedEndBeforeAnyJobRan(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		w := start(t, c, api.Config{})
		tokens := w.connect(w.app, "apis.all")
		made := w.create(tokens.body.AccessToken)
		keys := append(made.keys, made.nested)
		nodes := []*app.App{w.App}
		if w.App.DB.Engine() == db.Postgres { // two nodes do not share a SQLite file
			c.Clock = w.now
			nodes = append(nodes, app.New(dbtest.Open(t, c), nil))
		}
		for _, node := range nodes { // so that it remembers them
			for _, key := range keys {
				_, err := node.Access.Authenticate(t.Context(), secret.New(key))
				w.must(err)
			}
		}
		_, err := w.App.OAuth.RevokeAnyClient(t.Context(), w.app.ID)
		w.must(err)
		for i, node := range nodes {
			if i > 0 {
				w.now.Advance(time.Second)
			}
			for n, key := range made.keys {
				if who, err := node.Access.Authenticate(t.Context(), secret.New(key)); fault.KindOf(err) != fault.Unauthorized {
					t.Errorf("key %d on node %d: %+v %v", n, i, who, err)
				}
			}
		}
		w.must(w.App.OAuth.EndOfClient(t.Context(), oauth.EndAuthorizations{ClientID: w.app.ID}))
		w.allEnded(made)
	})
}

func TestARequestThatAnAppHasBegunCreatesNothingAfterItsAccessHasEnded(t *testing.T) {
	each(t, func(w *world) {
		tokens := w.connect(w.app, "apis.all")
		stale, err := w.App.OAuth.Authenticate(t.Context(), secret.New(tokens.body.AccessToken))
		w.must(err)
		made := w.create(tokens.body.AccessToken)
		staleKey, err := w.App.Access.Authenticate(t.Context(), secret.New(made.keys[1]))
		w.must(err)
		w.post("/oauth/revoke", url.Values{"client_id": {w.app.ID}, "token": {tokens.body.RefreshToken}})
		for what, who := range map[string]actor.Actor{"the app": stale, "its key": staleKey} {
			_, err := w.App.OAuth.RegisterForOrganization(actor.With(t.Context(), who), oauth.RegisterParams{Name: "Late",
				RedirectURIs: []string{callback}})
			if fault.KindOf(err) != fault.Unauthorized {
				t.Errorf("%s registers an app: %v", what, err)
			}
			_, err = w.App.Team.Invite(actor.With(t.Context(), who), team.InviteParams{Email: "late@invited.example", Role: actor.Viewer})
			if fault.KindOf(err) != fault.Unauthorized {
				t.Errorf("%s invites somebody: %v", what, err)
			}
		}
	})
}
