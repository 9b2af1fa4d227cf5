package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestWhoRunsTheServiceCanAskHowItIs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		if _, err := n.Client.Organization(t.Context()); err != nil {
			t.Fatal(err)
		}
		for path, says := range map[string]string{
			"/healthz":      `"status":"ok"`,
			"/readyz":       `"status":"ready"`,
			"/metrics":      `bursar_http_requests_total{method="GET",path="/v1/organization",status="200"} 1`,
			"/openapi.json": `"openapi":"3.1.0"`,
			"/docs":         "/v1/organization",
		} {
			if a := s.Send(t, apitest.Request{Method: "GET", Path: path}); a.Status != 200 || !strings.Contains(string(a.Body), says) {
				t.Errorf("%s: %d %.200s", path, a.Status, a.Body)
			}
		}
	})
}

func TestAServiceWhoseDatabaseDoesNotAnswerIsAliveButNotReady(t *testing.T) {
	t.Parallel()
	a := described(t)
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 503, "/v1/organization": 503, "/openapi.json": 200} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("X-API-Key", "bur_"+strings.Repeat("A", 43))
		a.ServeHTTP(w, r)
		if w.Code != status || status == 503 && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(),
			"SERVICE_UNAVAILABLE")) {
			t.Errorf("%s: %d %s %s", path, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
}

// buffer collects a log that several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestAPanicIsAnsweredAndLoggedAndTheConnectionStaysOpen(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var log buffer
		s := apitest.Start(t, d, api.Config{Log: slog.New(slog.NewJSONHandler(&log, nil))})
		n := s.Found(t, "mine")
		s.API.Break("GET /v1/organization/members")
		a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization/members", Key: n.Key})
		if e := a.Error(t); a.Status != 500 || e.Code != "INTERNAL_ERROR" || strings.Contains(e.Message, "deliberate") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		var found bool
		for line := range strings.SplitSeq(log.String(), "\n") {
			var entry struct{ Msg, Panic, Stack, RequestID string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "panic" && entry.Panic == "deliberate" &&
				strings.Contains(entry.Stack, "goroutine") {
				found = strings.Contains(line, a.Error(t).RequestID)
			}
		}
		if !found {
			t.Errorf("the log does not have it: %s", log.String())
		}
		// A write that panics leaves nothing behind, and the next one succeeds.
		before := n.AuditCount(t)
		s.API.Break("PATCH /v1/organization")
		if a := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: n.Key, Body: `{"name":"x"}`}); a.Status != 500 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: n.Key,
			Body: `{"name":"x","scopes":["apis.read"]}`}); a.Status != 201 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if got := n.AuditCount(t) - before; got != 1 {
			t.Errorf("%d changes, want the one that succeeded", got)
		}
	})
}

func TestNoSecretOfARequestReachesTheLog(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var log buffer
		s := apitest.Start(t, d, api.Config{Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		n := s.Found(t, "mine")
		a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: n.Key, Body: `{"name":"x","scopes":["apis.read"]}`,
			Header: http.Header{"Idempotency-Key": {"idem-secret"}}})
		var out struct{ Data struct{ Key string } }
		if err := json.Unmarshal(a.Body, &out); err != nil || out.Data.Key == "" {
			t.Fatal(err, string(a.Body))
		}
		if log.String() == "" {
			t.Error("nothing was logged, so nothing was tested")
		}
		for _, secret := range []string{n.Key, out.Data.Key, "idem-secret"} {
			if strings.Contains(log.String(), secret) {
				t.Errorf("%s is in the log", secret)
			}
		}
	})
}

func TestTheLogLineOfAnInternalErrorNamesRequestRouteOrganizationAndStatement(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var log buffer
		s := apitest.Start(t, d, api.Config{Log: slog.New(slog.NewJSONHandler(&log, nil))})
		n := s.Found(t, "mine")
		err := d.WriteAcross(t.Context(), "a test takes a table away", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "ALTER TABLE tags RENAME TO tags_elsewhere")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/tags", Key: n.Key})
		if a.Status != 500 || strings.Contains(string(a.Body), "SELECT") {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		line := log.String()
		for _, want := range []string{`"msg":"request failed"`, a.Error(t).RequestID, `"route":"GET /v1/tags"`,
			`"organization_id":"` + n.Organization.ID + `"`, "[statement: SELECT", "FROM tags"} {
			if !strings.Contains(line, want) {
				t.Errorf("%s is not in %s", want, line)
			}
		}
		err = d.WriteAcross(t.Context(), "and gives it back", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "ALTER TABLE tags_elsewhere RENAME TO tags")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestAServerWhoseAddressSomebodyEnteredAndThatDoesNotAnswerIsNoErrorOfTheService(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var log buffer
		s := apitest.Start(t, d, api.Config{Log: slog.New(slog.NewJSONHandler(&log, nil))})
		n := s.Found(t, "mine")
		connect := func(body string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/connections", Key: n.Key, Body: body})
		}
		a := connect(`{"provider":"ethereum","address":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed","rpc_url":"http://127.0.0.1:1/hidden"}`)
		if e := a.Error(t); a.Status != 503 || e.Code != "PROVIDER_ERROR" || !a.Blames(t, "rpc_url") || !strings.Contains(e.Message, "reached") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if text := log.String(); strings.Contains(text, `"level":"ERROR"`) || strings.Contains(text, `"level":"WARN"`) ||
			!strings.Contains(text, a.Error(t).RequestID) || strings.Contains(text, "hidden") {
			t.Errorf("%s", text)
		}
		s.Kraken.FailAt(1, providertest.Status(http.StatusBadGateway, "", "", "down"))
		a = connect(`{"provider":"kraken","name":"K","legal_entity_ids":["` + n.LegalEntity.ID + `"],"api_key":"k","api_secret":"c2VjcmV0"}`)
		if a.Status != 503 || len(a.Error(t).Fields) != 0 || !strings.Contains(log.String(), `"level":"ERROR"`) {
			t.Errorf("an outage of a provider: %d %s %s", a.Status, a.Body, log.String())
		}
	})
}
