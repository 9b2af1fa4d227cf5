package tenancy_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// keyFrom creates a key with another one.
func keyFrom(t *testing.T, s *apitest.Service, key string, p client.CreateAPIKey) client.APIKey {
	t.Helper()
	if p.Name == "" {
		p.Name = "k"
	}
	if p.Scopes == nil {
		p.Scopes = []string{"apis.all"}
	}
	made, err := client.New(s.URL, key).CreateAPIKey(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// robotOf creates a key without a user.
func robotOf(t *testing.T, s *apitest.Service, key string) string {
	t.Helper()
	a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: key, Body: `{"name":"robot","scopes":["apis.all"],"user_id":null}`})
	var made struct{ Data client.APIKey }
	if err := json.Unmarshal(a.Body, &made); err != nil || made.Data.Key == "" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return made.Data.Key
}

// works returns the status of a read with a key.
func works(t *testing.T, s *apitest.Service, key string) int {
	t.Helper()
	return s.Send(t, apitest.Request{Method: "GET", Path: "/v1/tags", Key: key}).Status
}

func listed(t *testing.T, s *apitest.Service, key string) map[string]client.APIKey {
	t.Helper()
	out := map[string]client.APIKey{}
	for k, err := range client.New(s.URL, key).APIKeys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out[k.ID] = k
	}
	return out
}

func TestAKeyCannotCreateOneThatOutlivesOrOutranksIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		own, other := n.LegalEntity.ID, n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"}).ID
		end := time.Now().UTC().Add(time.Hour).Truncate(time.Second)
		at := func(after time.Duration) string { return `"` + end.Add(after).Format(time.RFC3339) + `"` }
		parent := keyFrom(t, s, n.Key, client.CreateAPIKey{Scopes: []string{"apis.all", "write:memory"}, LegalEntityIDs: []string{own},
			ExpiresAt: &end})
		admin := memberID(t, n)
		before := n.AuditCount(t)
		for _, c := range []struct {
			what, scopes, entities, expires string
			user                            string
			status                          int
			says                            string
		}{
			{"the same", `"apis.all","write:memory"`, own, at(0), "", 201, ""},
			{"less", `"apis.read"`, own, at(-time.Minute), "", 201, ""},
			{"for no user", `"apis.all"`, own, at(0), "null", 201, ""},
			{"a later end", `"apis.read"`, own, at(time.Second), "", 403, "cannot create a key that expires later or never"},
			{"no end", `"apis.read"`, own, "null", "", 403, "cannot create a key that expires later or never"},
			{"another scope", `"write:operational-rules"`, own, at(0), "", 403, "write:operational-rules"},
			{"all legal entities", `"apis.read"`, "", at(0), "", 403, "cannot create a key for all of them"},
			{"another legal entity", `"apis.read"`, other, at(0), "", 404, other},
			{"another user", `"apis.read"`, own, at(0), `"` + admin + `"`, 403, "not for another user"},
		} {
			body := `{"name":"k","scopes":[` + c.scopes + `],"expires_at":` + c.expires
			if c.entities != "" {
				body += `,"legal_entity_ids":["` + c.entities + `"]`
			}
			if c.user != "" {
				body += `,"user_id":` + c.user
			}
			a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: parent.Key, Body: body + "}"})
			if a.Status != c.status || !strings.Contains(string(a.Body), c.says) {
				t.Errorf("%s: %d %s", c.what, a.Status, a.Body)
			}
			if a.Status == 201 && !strings.Contains(string(a.Body), `"parent_api_key_id":"`+parent.ID+`"`) {
				t.Errorf("%s: %s does not name its parent", c.what, a.Body)
			}
		}
		if after := n.AuditCount(t); after != before+3 {
			t.Errorf("%d changes", after-before)
		}
	})
}

// memberID adds an admin and returns its user id.
func memberID(t *testing.T, n *apitest.Tenant) string {
	t.Helper()
	for m, err := range n.Client.Members(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if m.ID != n.Owner.UserID {
			return m.ID
		}
	}
	n.Member(t, actor.Admin, actor.ScopeRead)
	return memberID(t, n)
}

func TestRevokingAKeyRevokesTheKeysThatWereCreatedWithIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		child := keyFrom(t, s, n.Key, client.CreateAPIKey{})
		grandchild := keyFrom(t, s, child.Key, client.CreateAPIKey{})
		last := keyFrom(t, s, grandchild.Key, client.CreateAPIKey{})
		sibling := keyFrom(t, s, n.Key, client.CreateAPIKey{})
		for _, k := range []client.APIKey{child, grandchild, last, sibling} {
			if got := works(t, s, k.Key); got != 200 {
				t.Fatalf("a new key: %d", got)
			}
		}
		before := n.AuditCount(t)
		if err := n.Client.RevokeAPIKey(t.Context(), child.ID); err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct {
			key    client.APIKey
			status int
		}{"child": {child, 401}, "grandchild": {grandchild, 401}, "last": {last, 401}, "sibling": {sibling, 200}} {
			got, revoked := works(t, s, c.key.Key), listed(t, s, n.Key)[c.key.ID].RevokedAt != nil
			if got != c.status || revoked != (c.status == 401) {
				t.Errorf("%s: %d, revoked %v", what, got, revoked)
			}
		}
		if err := n.Client.RevokeAPIKey(t.Context(), child.ID); err != nil || n.AuditCount(t) != before+3 {
			t.Errorf("revoked again: %v, %d changes, want 3", err, n.AuditCount(t)-before)
		}
		var deep error
		key := sibling.Key
		for range 10 {
			var made client.APIKey
			made, deep = client.New(s.URL, key).CreateAPIKey(t.Context(), client.CreateAPIKey{Name: "k", Scopes: []string{"apis.all"}})
			if deep != nil {
				break
			}
			key = made.Key
		}
		if deep == nil || !strings.Contains(deep.Error(), "403") || !strings.Contains(deep.Error(), "8 times") {
			t.Errorf("a long line of keys: %v", deep)
		}
		if err := n.Client.RevokeAPIKey(t.Context(), sibling.ID); err != nil || works(t, s, key) != 401 {
			t.Errorf("the last of a long line of keys: %v, %d", err, works(t, s, key))
		}
	})
}

func TestNoKeyIsCreatedWithOneThatIsBeingRevoked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for round := range 5 {
			parent := keyFrom(t, s, n.Key, client.CreateAPIKey{Name: strconv.Itoa(round)})
			var mu sync.Mutex
			var made []client.APIKey
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					k, err := client.New(s.URL, parent.Key).CreateAPIKey(t.Context(), client.CreateAPIKey{Name: "k", Scopes: []string{"apis.read"}})
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						made = append(made, k)
					} else if !strings.Contains(err.Error(), "401") {
						t.Error(err)
					}
				})
			}
			wg.Go(func() {
				if err := n.Client.RevokeAPIKey(t.Context(), parent.ID); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			keys := listed(t, s, n.Key)
			for _, k := range made {
				if keys[k.ID].RevokedAt == nil || works(t, s, k.Key) != 401 {
					t.Errorf("a key outlived the one it was created with: %+v", keys[k.ID])
				}
			}
		}
	})
}

func TestOnlyAnOwnerRevokesTheKeyOfAnOwner(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		admin, owner := n.Member(t, actor.Admin, actor.Scopes...), n.Member(t, actor.Owner, actor.Scopes...)
		nobodysOfOwner := robotOf(t, s, owner)
		nobodysOfAdmin := robotOf(t, s, admin)
		owners, admins, nobodys := n.Member(t, actor.Owner, actor.ScopeRead), n.Member(t, actor.Admin, actor.ScopeRead),
			n.Nobody(t, actor.ScopeRead)
		keys := listed(t, s, n.Key)
		idOf := func(text string) string {
			for id, k := range keys {
				if strings.HasSuffix(text, k.LastFour) {
					return id
				}
			}
			t.Fatal("no such key")
			return ""
		}
		revoke := func(key, id string) int {
			return s.Send(t, apitest.Request{Method: "DELETE", Path: "/v1/api-keys/" + id, Key: key}).Status
		}
		for _, c := range []struct {
			what, by, key string
			status        int
		}{
			{"an admin the key of an owner", admin, owners, 403},
			{"an admin the key of an admin", admin, admins, 200},
			{"an admin the key of nobody", admin, nobodys, 200},
			{"an admin the key of nobody that an owner created", admin, nobodysOfOwner, 403},
			{"an admin the key of nobody that an admin created", admin, nobodysOfAdmin, 200},
			{"an owner the key of nobody that an owner created", owner, nobodysOfOwner, 200},
			{"an owner the key of another owner", owner, owners, 200},
		} {
			if got := revoke(c.by, idOf(c.key)); got != c.status {
				t.Errorf("%s: %d, want %d", c.what, got, c.status)
			}
			if got := works(t, s, c.key); (got == 401) != (c.status == 200) {
				t.Errorf("%s: the key then answers %d", c.what, got)
			}
		}
		if got := revoke(admin, idOf(n.Key)); got != 403 || works(t, s, n.Key) != 200 {
			t.Errorf("the first key: %d", got)
		}
	})
}

func TestAKeyForSomeLegalEntitiesListsNoKeysForOthersAndRevokesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		own, other := n.LegalEntity.ID, n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"}).ID
		limited := keyFrom(t, s, n.Key, client.CreateAPIKey{LegalEntityIDs: []string{own}})
		child := keyFrom(t, s, limited.Key, client.CreateAPIKey{LegalEntityIDs: []string{own}})
		sibling := keyFrom(t, s, n.Key, client.CreateAPIKey{LegalEntityIDs: []string{own}})
		hidden := keyFrom(t, s, n.Key, client.CreateAPIKey{LegalEntityIDs: []string{other}})
		both := keyFrom(t, s, n.Key, client.CreateAPIKey{LegalEntityIDs: []string{own, other}})
		seen := listed(t, s, limited.Key)
		for id, want := range map[string]bool{limited.ID: true, child.ID: true, sibling.ID: true, n.Created.Key.ID: false, hidden.ID: false,
			both.ID: false} {
			if _, there := seen[id]; there != want {
				t.Errorf("%s is listed: %v", id, there)
			}
		}
		var paged []string
		path := "/v1/api-keys?limit=1"
		for path != "" {
			var page client.Page[client.APIKey]
			if err := client.New(s.URL, limited.Key).Do(t.Context(), client.Call{Method: "GET", Path: path}, &page); err != nil {
				t.Fatal(err)
			}
			for _, k := range page.Data {
				paged = append(paged, k.ID)
			}
			if path = ""; page.NextCursor != nil {
				path = "/v1/api-keys?limit=1&cursor=" + *page.NextCursor
			}
		}
		if !slices.Equal(paged, []string{sibling.ID, child.ID, limited.ID}) {
			t.Errorf("page by page: %v", paged)
		}
		for _, c := range []struct {
			id     string
			status int
		}{{hidden.ID, 404}, {both.ID, 404}, {sibling.ID, 403}, {n.Created.Key.ID, 404}, {child.ID, 200}, {limited.ID, 200}} {
			if a := s.Send(t, apitest.Request{Method: "DELETE", Path: "/v1/api-keys/" + c.id, Key: limited.Key}); a.Status != c.status {
				t.Errorf("%s: %d %s, want %d", c.id, a.Status, a.Body, c.status)
			}
		}
		for key, status := range map[string]int{n.Key: 200, sibling.Key: 200, hidden.Key: 200, both.Key: 200, child.Key: 401, limited.Key: 401} {
			if got := works(t, s, key); got != status {
				t.Errorf("%d, want %d", got, status)
			}
		}
	})
}

func TestAKeyWithoutAUserDoesNoMoreThanWhoCreatedIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		admin := n.Member(t, actor.Admin, actor.Scopes...)
		robot := robotOf(t, s, admin)
		write := func() int {
			return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/tags", Key: robot,
				Body: `{"name":"` + client.NewIdempotencyKey() + `","kind":"project"}`}).Status
		}
		change := func(statement string) {
			t.Helper()
			err := s.App.DB.WriteAcross(t.Context(), "a test changes a role", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, statement, n.Organization.ID)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(600 * time.Millisecond) // the key is cached for half a second
		}
		if got := write(); got != 201 {
			t.Fatalf("as an admin's: %d", got)
		}
		change("UPDATE members SET role = 'viewer' WHERE organization_id = ? AND role = 'admin'")
		if got := write(); got != 403 || works(t, s, robot) != 200 {
			t.Errorf("as a viewer's: %d", got)
		}
		change("UPDATE members SET role = 'admin' WHERE organization_id = ? AND role = 'viewer'")
		if got := write(); got != 201 {
			t.Errorf("as an admin's again: %d", got)
		}
	})
}

func TestTheAnswerToARevocationListsTheKeysThatALeakedOneHasReplacedItselfBy(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		end := time.Now().UTC().AddDate(0, 1, 0).Truncate(time.Second)
		leaked := keyFrom(t, s, n.Key, client.CreateAPIKey{ExpiresAt: &end})
		next, err := client.New(s.URL, leaked.Key).RotateAPIKey(t.Context(), leaked.ID, client.RotateAPIKey{})
		if err != nil {
			t.Fatal(err)
		}
		if next.RotatedWithAPIKeyID == nil || *next.RotatedWithAPIKeyID != leaked.ID || !next.ExpiresAt.Equal(end) {
			t.Errorf("the successor is %+v", next)
		}
		later := end.AddDate(1, 0, 0)
		_, err = client.New(s.URL, next.Key).RotateAPIKey(t.Context(), next.ID, client.RotateAPIKey{ExpiresAt: &later})
		if err == nil || !strings.Contains(err.Error(), "403") || !strings.Contains(err.Error(), "signed in") {
			t.Errorf("a key that prolongs itself: %v", err)
		}
		app := n.Token(t, actor.Scopes...)
		for _, r := range []apitest.Request{{Method: "POST", Path: "/v1/api-keys/" + next.ID + "/rotate", Body: `{"overlap_hours":0}`},
			{Method: "DELETE", Path: "/v1/api-keys/" + next.ID}} {
			r.Key = app
			if a := s.Send(t, r); a.Status != 403 || !strings.Contains(string(a.Body), "only the keys that it has created") {
				t.Errorf("an app: %s %d %s", r.Method, a.Status, a.Body)
			}
		}
		var answer struct {
			Data struct {
				ID      string   `json:"id"`
				Revoked []string `json:"revoked_api_key_ids"`
			} `json:"data"`
		}
		for _, want := range [][]string{{leaked.ID, next.ID}, {}} { // the second time, nothing is left to revoke
			a := s.Send(t, apitest.Request{Method: "DELETE", Path: "/v1/api-keys/" + leaked.ID, Key: n.Key})
			if err := json.Unmarshal(a.Body, &answer); err != nil || a.Status != 200 || answer.Data.ID != leaked.ID ||
				!slices.Equal(answer.Data.Revoked, want) {
				t.Errorf("%d %s, want %v", a.Status, a.Body, want)
			}
		}
		if got := works(t, s, next.Key); got != 401 {
			t.Errorf("the successor of the leaked key answers %d", got)
		}
	})
}

func TestAPersonWhoIsSignedInChoosesWhenANewKeyExpires(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		session := n.Session(t)
		end := time.Now().UTC().AddDate(0, 1, 0).Truncate(time.Second)
		for body, want := range map[string]*time.Time{`{"expires_at":null}`: nil, `{"expires_at":"2099-01-31T00:00:00Z"}`: new(time.Date(2099, 1,
			31, 0, 0, 0, 0, time.UTC))} {
			k := keyFrom(t, s, n.Key, client.CreateAPIKey{ExpiresAt: &end})
			a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/api-keys/" + k.ID + "/rotate", Key: session, Body: body})
			var made struct{ Data client.APIKey }
			if err := json.Unmarshal(a.Body, &made); err != nil || a.Status != 201 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			if got := made.Data; (got.ExpiresAt == nil) != (want == nil) || want != nil && !got.ExpiresAt.Equal(*want) ||
				got.RotatedWithAPIKeyID != nil {
				t.Errorf("%s: %+v", body, got)
			}
		}
	})
}
