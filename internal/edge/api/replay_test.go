package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// The stored answer may show what only the first caller has access to, such as the text of a new API key.
func TestSoakEveryIdempotentRouteRepeatsItsAnswerToTheFirstCallerOnly(t *testing.T) {
	eachRouteOnce(t, func(t *testing.T, s *apitest.Service, r wire.Route) {
		if !r.Idempotent {
			return
		}
		n := s.Found(t, "mine")
		req, _ := request(t, r, n)
		req.Header = http.Header{"Idempotency-Key": {"once"}}
		first := s.Send(t, req)
		if first.Status != r.Status {
			t.Fatalf("%d %s", first.Status, first.Body)
		}
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"}).ID
		keys := map[string]string{
			"another owner": n.Member(t, actor.Owner, actor.Scopes...), "no user": n.Nobody(t, actor.Scopes...),
			"the same user with fewer legal entities": n.Limited(t, other), "the same user": n.Limited(t),
			"an app of the same user": n.Token(t, actor.Scopes...),
		}
		before := n.AuditCount(t)
		for who, key := range keys {
			req.Key = key
			a := s.Send(t, req)
			if who == "the same user" {
				if a.Status != first.Status || string(a.Body) != string(first.Body) || a.Header.Get("Idempotency-Replayed") != "true" {
					t.Errorf("%s: %d %s, want %s", who, a.Status, a.Body, first.Body)
				}
				continue
			}
			mayRefuse := who != "another owner" && (a.Status == http.StatusForbidden || a.Status == http.StatusNotFound)
			if a.Status != http.StatusConflict && !mayRefuse || a.Header.Get("Idempotency-Replayed") != "" {
				t.Errorf("%s: %d %s", who, a.Status, a.Body)
			}
			if a.Status == http.StatusConflict && !strings.HasPrefix(a.Error(t).Message, "the idempotency key was used ") {
				t.Errorf("%s: %s", who, a.Body)
			}
		}
		req.Key = n.Key
		if a := s.Send(t, req); string(a.Body) != string(first.Body) || a.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("the first caller: %d %s, want %s", a.Status, a.Body, first.Body)
		}
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d changes were made by repeated requests", after-before)
		}
	})
}

func TestACallerWhoHasLostARightGetsWhatANewRequestWouldGet(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		first, second := n.LegalEntity.ID, n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Second"}).ID
		sale, sales := n.AccountByCode(t, "1010").ID, n.AccountByCode(t, "4010").ID
		entry := `{"legal_entity_id":"` + first + `","accounting_date":"2026-01-05","status":"posted","lines":[` +
			`{"ledger_account_id":"` + sale + `","credit_or_debit":"DEBIT","amount":"1","currency":"USD"},` +
			`{"ledger_account_id":"` + sales + `","credit_or_debit":"CREDIT","amount":"1","currency":"USD"}]}`
		match := `{"start_date":"2026-01-01","end_date":"2026-01-31"}`
		secret := `{"name":"x","scopes":["apis.all"],"legal_entity_ids":["` + first + `","` + second + `"]}`
		change := func(statement string, args ...any) {
			t.Helper()
			err := s.App.DB.WriteAcross(t.Context(), "a test takes a right away", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, statement, args...)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(600 * time.Millisecond) // the key is cached for half a second
		}
		for _, c := range []struct {
			what, path, body string
			take, restore    string
			value, was       string
			status           int
		}{
			{"a narrowed key and an entry of the other legal entity", "/v1/journal-entries", entry,
				"UPDATE api_keys SET legal_entity_ids = ? WHERE last_four = ?", "", second, first + " " + second, 404},
			{"a narrowed key and a request that names none", "/v1/transactions/match", match,
				"UPDATE api_keys SET legal_entity_ids = ? WHERE last_four = ?", "", second, first + " " + second, 409},
			{"a narrowed key and a new key", "/v1/api-keys", secret,
				"UPDATE api_keys SET scopes = ? WHERE last_four = ?", "", "apis.read", "apis.read apis.all write:memory write:operational-rules", 403},
			{"a revoked key", "/v1/journal-entries", entry,
				"UPDATE api_keys SET revoked_at = ? WHERE last_four = ?", "UPDATE api_keys SET revoked_at = NULL WHERE last_four = ?",
				"2026-01-01T00:00:00.000Z", "", 401},
		} {
			key := n.Limited(t, first, second)
			ending := key[len(key)-4:]
			req := apitest.Request{Method: "POST", Path: c.path, Key: key, Body: c.body, Header: http.Header{"Idempotency-Key": {c.what}}}
			made := s.Send(t, req)
			if made.Status >= 300 {
				t.Fatalf("%s: %d %s", c.what, made.Status, made.Body)
			}
			change(c.take, c.value, ending)
			if a := s.Send(t, req); a.Status != c.status || a.Header.Get("Idempotency-Replayed") != "" || strings.Contains(string(a.Body), `"data"`) {
				t.Errorf("%s: %d %s", c.what, a.Status, a.Body)
			}
			if c.restore != "" {
				change(c.restore, ending)
			} else {
				change(c.take, c.was, ending)
			}
			if a := s.Send(t, req); string(a.Body) != string(made.Body) || a.Header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%s, which has its rights back: %d %s", c.what, a.Status, a.Body)
			}
		}
	})
}
