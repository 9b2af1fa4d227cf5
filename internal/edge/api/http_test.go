package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

func TestAnInvalidBodyIsRefusedWithTheErrorBodyAndChangesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		before := n.AuditCount(t)
		for name, c := range map[string]struct {
			body, contentType string
			status            int
			says              string
		}{
			"malformed":         {`{"name":`, "", 400, "ends too early"},
			"not JSON":          {`name=x`, "", 400, "not valid JSON"},
			"something after":   {`{"name":"x"} {}`, "", 400, "the body continues after its JSON value"},
			"a list":            {`[]`, "", 400, "not valid"},
			"null":              {`null`, "", 400, "not valid"},
			"nothing":           {``, "", 400, "required"},
			"a name twice":      {`{"name":"x","name":"y"}`, "", 400, "not valid"},
			"another case":      {`{"Name":"x"}`, "", 400, "not valid"},
			"invalid UTF-8":     {"{\"name\":\"\xff\"}", "", 400, "UTF-8"},
			"a NUL":             {`{"name":"a\u0000b"}`, "", 400, "not valid"},
			"deep nesting":      {strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), "", 400, "nested"},
			"nine MiB":          {`{"name":"` + strings.Repeat("x", 9<<20) + `"}`, "", 413, "larger"},
			"form encoding":     {`name=x`, "application/x-www-form-urlencoded", 415, "JSON"},
			"plain text":        {`{"name":"x"}`, "text/plain", 415, "JSON"},
			"no content type":   {`{"name":""}`, "-", 400, "not valid"},
			"an unknown escape": {`{"name":"\q"}`, "", 400, "not valid JSON"},
		} {
			r := apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: n.Key, Body: c.body}
			switch c.contentType {
			case "":
			case "-":
				r.Header = http.Header{"Content-Type": nil}
			default:
				r.Header = http.Header{"Content-Type": {c.contentType}}
			}
			a := s.Send(t, r)
			if e := a.Error(t); a.Status != c.status || e.Code != "VALIDATION_ERROR" || !strings.Contains(e.Message, c.says) {
				t.Errorf("%s: %d %.300s", name, a.Status, a.Body)
			}
		}
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d changes were made", after-before)
		}
	})
}

func TestEveryFaultOfARequestIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		a := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization?a=1&b=2", Key: n.Key,
			Body: `{"name":null,"time_format":"x","web_address":7,"surprise":{}}`})
		for _, field := range []string{"a", "b", "name", "time_format", "web_address", "surprise"} {
			if !a.Blames(t, field) {
				t.Errorf("%s is not named in %s", field, a.Body)
			}
		}
		a = s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: n.Key, Body: `{"name":"   ","timezone":"Mars/Olympus"}`})
		if a.Status != 400 || !a.Blames(t, "name") || !a.Blames(t, "timezone") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		a = s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: n.Key, Body: `{}`})
		if a.Status != 400 || !a.Blames(t, "body") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestAnUnknownPathOrMethodHasTheErrorBody(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for _, path := range []string{"/v1", "/v2/organization", "/v1/organization/", "/v1//organization", "/v1/../v1/organization",
			"/V1/organization"} {
			if a := s.Send(t, apitest.Request{Method: "GET", Path: path}); a.Status != 404 || a.Error(t).Code != "RESOURCE_NOT_FOUND" {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
		a := s.Send(t, apitest.Request{Method: "DELETE", Path: "/v1/organization"})
		if a.Status != 405 || a.Error(t).Code != "VALIDATION_ERROR" || a.Header.Get("Allow") != "GET, PATCH" {
			t.Errorf("%d %s %s", a.Status, a.Header.Get("Allow"), a.Body)
		}
	})
}

func TestTheOrganizationHeaderMustNameTheOrganizationOfTheKey(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		mine, other := s.Found(t, "mine"), s.Found(t, "other")
		for named, status := range map[string]int{mine.Organization.ID: 200, other.Organization.ID: 404, "org_x": 404} {
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: mine.Key,
				Header: http.Header{"X-Organization-Id": {named}}})
			if a.Status != status {
				t.Errorf("%s: %d", named, a.Status)
			}
		}
	})
}

func TestALargeAnswerIsCompressedOnRequest(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		plain := s.Send(t, apitest.Request{Method: "GET", Path: "/openapi.json", Header: http.Header{"Accept-Encoding": {"identity"}}})
		packed := s.Send(t, apitest.Request{Method: "GET", Path: "/openapi.json", Header: http.Header{"Accept-Encoding": {"br, gzip;q=0.5"}}})
		refused := s.Send(t, apitest.Request{Method: "GET", Path: "/openapi.json", Header: http.Header{"Accept-Encoding": {"gzip;q=0"}}})
		z, err := gzip.NewReader(bytes.NewReader(packed.Body))
		if err != nil || packed.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%v %s", err, packed.Header)
		}
		if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, plain.Body) || !bytes.Equal(text, refused.Body) ||
			len(packed.Body) > len(text)/2 {
			t.Errorf("%d packed, %d plain, %v", len(packed.Body), len(plain.Body), err)
		}
	})
}

func TestAKeyThatAsksTooOftenIsToldHowLongToWait(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := apitest.Start(t, d, api.Config{RateLimit: 5})
		n, other := s.Found(t, "mine"), s.Found(t, "other")
		refused := 0
		for range 40 {
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: n.Key})
			if a.Status == 200 {
				continue
			}
			refused++
			wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
			if a.Status != 429 || a.Error(t).Code != "RATE_LIMITED" || err != nil || wait < 1 ||
				!strings.Contains(a.Error(t).Message, "this API key sent more than 10 requests within 2 seconds") {
				t.Fatalf("%d %s %s", a.Status, a.Header.Get("Retry-After"), a.Body)
			}
		}
		if refused < 20 || refused > 30 {
			t.Errorf("%d of 40 were refused; ten at once and five a second are allowed", refused)
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: other.Key}); a.Status != 200 {
			t.Errorf("another key was refused too: %d", a.Status)
		}
	})
}

func TestEveryAnswerSaysWhatIsLeftOfTheQuotas(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		c.Clock = clock.NewManual(time.Now()) // within one window
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{RateLimit: 20})
		n := s.Found(t, "mine")
		second := n.Member(t, actor.Owner, actor.ScopeAll)
		left := regexp.MustCompile(`^"key";r=(\d+);t=[12](, "organization";r=(\d+);t=[12])?$`)
		for i, key := range []string{n.Key, n.Key, second, second, second} {
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: key})
			if got := a.Header.Get("RateLimit-Policy"); a.Status != 200 || got != `"key";q=40;w=2, "organization";q=160;w=2` {
				t.Errorf("%d: the policy is %s", a.Status, got)
			}
			parts := left.FindStringSubmatch(a.Header.Get("RateLimit"))
			if parts == nil {
				t.Fatalf("RateLimit is %s", a.Header.Get("RateLimit"))
			}
			wantKey := map[int]int{0: 39, 1: 38, 2: 39, 3: 38, 4: 37}[i]
			key, _ := strconv.Atoi(parts[1])
			organization, _ := strconv.Atoi(parts[3])
			// On PostgreSQL what other nodes have taken is known to a block.
			if key < wantKey-4 || key > wantKey+2 || organization < 159-i-16 || organization > 159-i+8 {
				t.Errorf("request %d has %d and %d left", i, key, organization)
			}
		}
		refused := 0
		for range 250 {
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: n.Key})
			if a.Status == 429 {
				refused++
				if parts := left.FindStringSubmatch(a.Header.Get("RateLimit")); parts == nil || parts[1] != "0" {
					t.Fatalf("%s", a.Header.Get("RateLimit"))
				}
			}
		}
		if refused < 250-45 {
			t.Errorf("%d of 250 were refused", refused)
		}
	})
}

func TestTheKeysOfAnOrganizationShareItsQuota(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		c.Clock = clock.NewManual(time.Now())
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{RateLimit: 5}) // 10 for a key, 40 for the organization
		n, other := s.Found(t, "mine"), s.Found(t, "other")
		allowed := 0
		for range 8 {
			key := n.Member(t, actor.Owner, actor.ScopeAll)
			for range 10 {
				a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: key})
				if a.Status == 200 {
					allowed++
				} else if !strings.Contains(a.Error(t).Message, "of this organization together sent more than 40 requests") {
					t.Errorf("%s", a.Body)
				}
			}
		}
		if allowed < 40 || allowed > 44 {
			t.Errorf("%d requests of eight keys were allowed", allowed)
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: other.Key}); a.Status != 200 {
			t.Errorf("another organization: %d %s", a.Status, a.Body)
		}
	})
}

func TestAnAddressMayTryFewUnknownKeys(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Now())
		c.Clock = now
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{RateLimit: 50}) // 10 unknown keys in a window
		n := s.Found(t, "mine")
		stranger := n.Member(t, actor.Owner, actor.ScopeAll) // it is valid, but the node has not seen it yet
		get := func(key string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: key})
		}
		if a := get(n.Key); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		statuses := map[int]int{}
		for i := range 30 {
			a := get(fmt.Sprintf("bur_%043d", i))
			left := fmt.Sprintf(`"address";r=%d;t=`, max(0, 9-i))
			if a.Header.Get("RateLimit-Policy") != `"address";q=10;w=2` || !strings.HasPrefix(a.Header.Get("RateLimit"), left) {
				t.Errorf("%d: %s of %s, want %s", a.Status, a.Header.Get("RateLimit"), a.Header.Get("RateLimit-Policy"), left)
			}
			if statuses[a.Status]++; a.Status == 429 && (a.Header.Get("Retry-After") == "" || a.Error(t).Code != "RATE_LIMITED") {
				t.Fatalf("%s", a.Body)
			}
		}
		if statuses[401] != 10 || statuses[429] != 20 {
			t.Errorf("%v", statuses)
		}
		if a := get(stranger); a.Status != 200 {
			t.Errorf("a valid key from the same address: %d %s", a.Status, a.Body)
		}
		if a := get(n.Key); a.Status != 200 {
			t.Errorf("a known key from the same address: %d %s", a.Status, a.Body)
		}
		now.Advance(2 * time.Second)
		if a := get(fmt.Sprintf("bur_%043d", 1)); a.Status != 401 {
			t.Errorf("later: %d %s", a.Status, a.Body)
		}
	})
}

func TestASlowClientDelaysNobodyAndGetsATimeout(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := apitest.Start(t, d, api.Config{BodyTimeout: 500 * time.Millisecond})
		n := s.Found(t, "mine")
		u, _ := url.Parse(s.URL)
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "PATCH /v1/organization HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: "+
			"application/json\r\nContent-Length: 20\r\n\r\n{\"name\":", n.Key)
		name := "meanwhile"
		if _, err := n.Client.UpdateOrganization(t.Context(), client.UpdateOrganization{Name: &name}); err != nil {
			t.Errorf("another request was held up: %v", err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		if a := (apitest.Answer{Status: res.StatusCode, Header: res.Header, Body: body}); a.Status != 408 ||
			a.Error(t).Code != "VALIDATION_ERROR" {
			t.Errorf("%d %s", a.Status, body)
		}
	})
}

func TestARequestWithoutABodyMayWaitLongerThanABodyMay(t *testing.T) {
	t.Parallel()
	c := dbtest.Postgres(t) // only there one can make authentication wait
	d := dbtest.Open(t, c)
	s := apitest.Start(t, d, api.Config{BodyTimeout: 200 * time.Millisecond})
	n := s.Found(t, "mine")
	key, err := n.Client.CreateAPIKey(t.Context(), client.CreateAPIKey{Name: "not in the cache", Scopes: []string{"apis.read"}})
	if err != nil {
		t.Fatal(err)
	}
	locked, done := make(chan struct{}), make(chan error)
	go func() {
		done <- dbtest.Open(t, c).WriteAcross(context.Background(), "a test locks a table", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
			close(locked)
			time.Sleep(time.Second)
			return err
		})
	}()
	<-locked
	began := time.Now()
	a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: key.Key})
	if waited := time.Since(began); a.Status != 200 || waited < 500*time.Millisecond {
		t.Errorf("%d after %s: %s", a.Status, waited, a.Body)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestARevokedKeyStopsWorkingOnEveryNodeWithinASecond(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		one, two := apitest.Start(t, dbtest.Open(t, c), api.Config{}), apitest.Start(t, dbtest.Open(t, c), api.Config{})
		n := one.Found(t, "mine")
		key, err := n.Client.CreateAPIKey(t.Context(), client.CreateAPIKey{Name: "k", Scopes: []string{"apis.read"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range []*apitest.Service{one, two} { // both have the key in their cache
			if _, err := client.New(node.URL, key.Key).Organization(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.Client.RevokeAPIKey(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		if a := one.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: key.Key}); a.Status != 401 {
			t.Errorf("the node that revoked it still takes it: %d", a.Status)
		}
		deadline := time.Now().Add(time.Second)
		for time.Now().Before(deadline) {
			if two.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: key.Key}).Status == 401 {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Error("another node takes the key a second after it was revoked")
	})
}

func TestAPersonWhoIsNoLongerAMemberHasNoKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		key := n.Member(t, actor.Admin, actor.ScopeAll)
		err := s.App.DB.Write(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			id, err := db.One[string](ctx, tx, "member", "SELECT user_id FROM members WHERE organization_id = @org AND role = 'admin'")
			if err != nil {
				return err
			}
			audit.Record(ctx, tx, audit.Change{Action: "member.removed", ResourceType: "member", ResourceID: id})
			_, err = tx.Exec(ctx, "DELETE FROM members WHERE organization_id = @org AND role = 'admin'")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: key}); a.Status != 401 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestAKeyCannotCreateAKeyWithMorePermissionsThanItsOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		weak := n.Member(t, actor.Admin, actor.ScopeAll)
		send := func(key, body string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: key, Body: body})
		}
		for body, status := range map[string]int{
			`{"name":"k","scopes":["apis.read"]}`:                                                               201,
			`{"name":"k","scopes":["apis.all"]}`:                                                                201,
			`{"name":"k","scopes":["write:memory"]}`:                                                            403,
			`{"name":"k","scopes":["apis.read"],"user_id":null}`:                                                201,
			`{"name":"k","scopes":["apis.read"],"user_id":"` + n.Owner.UserID + `"}`:                            403,
			`{"name":"k","scopes":["apis.read"],"expires_at":"2001-01-01T00:00:00Z"}`:                           400,
			`{"name":"k","scopes":["apis.read"],"expires_at":"2101-01-01T00:00:00+02:00"}`:                      201,
			`{"name":"k","scopes":["apis.read"],"expires_at":"tomorrow"}`:                                       400,
			`{"name":"k","scopes":["apis.read","apis.read"]}`:                                                   400,
			`{"name":"k","scopes":["apis.all"],"legal_entity_ids":["` + n.LegalEntity.ID + `"],"user_id":null}`: 201,
		} {
			if a := send(weak, body); a.Status != status {
				t.Errorf("%s: %d %s", body, a.Status, a.Body)
			}
		}
	})
}
