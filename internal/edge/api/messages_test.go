package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func TestAnUnknownCallerLearnsHowToSendAKeyAndNothingOfOtherKeys(t *testing.T) {
	t.Parallel()
	const (
		unknown = "the API key that ends in %s is not valid: it is unknown, expired or revoked; ask an owner or admin of the " +
			"organization for a new one"
		malformed = "the API key is not valid: a key is bur_ and 43 letters and digits, but what was sent %s; check that it was copied " +
			"as a whole"
	)
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		revoked, expired := n.Member(t, actor.Owner, actor.Scopes...), n.Expired(t)
		for k, err := range n.Client.APIKeys(t.Context()) {
			if err == nil && strings.HasSuffix(revoked, k.LastFour) {
				if err := n.Client.RevokeAPIKey(t.Context(), k.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		for key, want := range map[string]string{
			"": "the request has no API key; send one in the header X-API-Key, or an access token of an app in the " +
				"header Authorization",
			"hello":                          fmt.Sprintf(malformed, "does not begin with bur_"),
			"bur_hello":                      fmt.Sprintf(malformed, "has 9 characters"),
			"bur_" + strings.Repeat("A", 43): fmt.Sprintf(unknown, "AAAA"),
			expired:                          fmt.Sprintf(unknown, expired[len(expired)-4:]),
			revoked:                          fmt.Sprintf(unknown, revoked[len(revoked)-4:]),
		} {
			if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/tags", Key: key}); a.Error(t).Message != want {
				t.Errorf("%q: %s", key, a.Body)
			}
		}
	})
}

func TestWhatIsNotFoundIsNamed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for _, c := range []struct{ method, path, body, want string }{
			{"GET", "/v1/tags/tag_1", "", "tag not found: tag_1"},
			{"GET", "/v1/tags/a%20b", "", `tag not found: "a b"`},
			{"GET", "/v1/journal-entries?ledger_account_id=la_1", "", "ledger account not found: la_1"},
			{"GET", "/v1/journal-entries?legal_entity_ids=le_1,le_2", "", "legal entity not found: one of le_1, le_2"},
			{"GET", "/v1/memory/history?path=none.md", "", "document not found: none.md"},
			{"POST", "/v1/transactions/link", `{"transaction_ids":["txn_1","txn_2"]}`, "transaction not found: txn_1, and 1 more in fields"},
			{"GET", "/v1/journal-entries?legal_entity_ids=le_1,le_2,le_3,le_4,le_5,le_6,le_7", "",
				"legal entity not found: one of le_1, le_2, le_3, le_4, le_5 and 2 more"},
			{"POST", "/v1/ledger-accounts", `{"code":"1","name":"x","type":"Asset","parent_account_id":"lac_1"}`, "ledger account not found: lac_1"},
			{"GET", "/v1/reports/trial-balance?accounting_period_id=ap_1&accounting_period_ids=ap_2", "",
				"accounting period not found: one of ap_1, ap_2"},
			{"GET", "/v1/nothing", "", "path not found: /v1/nothing; the API reference at /docs lists all paths"},
		} {
			a := s.Send(t, apitest.Request{Method: c.method, Path: c.path, Body: c.body, Key: n.Key})
			if a.Status != 404 || a.Error(t).Message != c.want {
				t.Errorf("%s %s: %d %s, want %s", c.method, c.path, a.Status, a.Body, c.want)
			}
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/tags", Key: n.Key,
			Header: http.Header{"X-Organization-Id": {"org_1"}}}); a.Status != 404 ||
			!strings.HasPrefix(a.Error(t).Message, "organization not found: org_1 in the header X-Organization-Id") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/tags?cursor=x", Key: n.Key})
		if f := a.Error(t).Fields; len(f) != 1 ||
			f[0].Message != "is not a cursor of this list; use next_cursor of the page before, or start again without a cursor" {
			t.Errorf("%s", a.Body)
		}
	})
}

func TestATypeIsBlamedUnderTheNameThatWasSent(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		x := n.NewTransaction(t)
		for name, other := range map[string]string{"classification": "transaction_type", "transaction_type": "classification"} {
			one := `{"transaction_id":"` + x.ID + `","` + name + `":"%s","ledger_account_id":"` + n.AccountByCode(t, "1310").ID + `","auto_post":true}`
			for _, c := range []struct {
				path, body, field string
				status            int
			}{
				{"/v1/journal-entries", fmt.Sprintf(one, "SURPRISE"), name, 400},
				{"/v1/journal-entries", fmt.Sprintf(one, "UNKNOWN"), name, 409},
				{"/v1/journal-entries/batch", `{"journal_entries":[` + fmt.Sprintf(one, "UNKNOWN") + `]}`, "journal_entries[0]." + name, 409},
			} {
				a := s.Send(t, apitest.Request{Method: "POST", Path: c.path, Body: c.body, Key: n.Key})
				if a.Status != c.status || !a.Blames(t, c.field) || a.Blames(t, other) {
					t.Errorf("%s: %d %s", c.body, a.Status, a.Body)
				}
			}
		}
	})
}
