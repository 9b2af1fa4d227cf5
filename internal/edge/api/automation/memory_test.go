package automation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// putFile sends a file as it is; version is JSON.
func putFile(t *testing.T, n *apitest.Tenant, path, content, rationale, version string) apitest.Answer {
	t.Helper()
	c, _ := json.Marshal(content)
	r, _ := json.Marshal(rationale)
	return n.Service().Send(t, apitest.Request{Method: "PUT", Path: "/v1/memory/file?path=" + url.QueryEscape(path), Key: n.Key,
		Body: fmt.Sprintf(`{"content":%s,"rationale":%s,"expected_version":%s}`, c, r, version)})
}

func getFile(t *testing.T, n *apitest.Tenant, query string) string {
	t.Helper()
	a := n.Service().Send(t, apitest.Request{Method: "GET", Path: "/v1/memory/file?" + query, Key: n.Key})
	if a.Status != http.StatusOK {
		t.Errorf("%s: %d %s", query, a.Status, a.Body)
	}
	return strings.TrimSpace(string(a.Body))
}

func TestADocumentIsAnsweredAsTheContractSays(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		if got := getFile(t, n, "path=profile.md"); got != `{"success":true,"documents":[],"truncated":false,"missing":true,"next_cursor":null}` {
			t.Error(got)
		}
		if got := getFile(t, n, ""); got != `{"success":true,"documents":[],"truncated":false,"next_cursor":null}` {
			t.Error(got)
		}
		if a := putFile(t, n, "profile.md", "---\nkind: profile\n---\n# Us\n", "why", "null"); a.Status != 200 ||
			strings.TrimSpace(string(a.Body)) != `{"success":true,"path":"profile.md","layer":"org","rationale":"why"}` {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if got := getFile(t, n,
			"kind=document&path=profile.md"); got != `{"success":true,"documents":[{"path":"profile.md","layer":"org","version":"1","content":"---\nkind: profile\n---\n# Us\n","frontmatter":{"kind":"profile"},"suppressed":false}],"truncated":false,"next_cursor":null}` {
			t.Error(got)
		}
		for _, c := range []struct {
			version string
			status  int
			says    string
		}{{"null", 409, "version 1"}, {`"2"`, 409, "version 1"}, {`""`, 409, "version 1"}, {"1", 400, "expected_version"},
			{`"1"`, 200, ""}, {`"1"`, 409, "version 2"}} {
			if a := putFile(t, n, "profile.md", "", "why", c.version); a.Status != c.status || !strings.Contains(string(a.Body), c.says) {
				t.Errorf("expected_version %s: %d %s", c.version, a.Status, a.Body)
			}
		}
		if got := getFile(t, n, "path=profile.md"); !strings.Contains(got, `"version":"2","content":"","frontmatter":null`) {
			t.Error(got)
		}
		remove := func(query string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: "DELETE", Path: "/v1/memory/file?" + query, Key: n.Key})
		}
		if a := remove("path=profile.md&expected_version=1"); a.Status != 409 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if a := remove("path=profile.md&expected_version=2&rationale=old"); a.Status != 200 ||
			strings.TrimSpace(string(a.Body)) != `{"success":true,"path":"profile.md","deleted":true}` {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if a := remove("path=profile.md&expected_version=3"); a.Status != 404 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if got := getFile(t, n, "path=profile.md"); !strings.Contains(got, `"missing":true`) {
			t.Error(got)
		}
		if a := putFile(t, n, "profile.md", "new", "why", "null"); a.Status != 200 || !strings.Contains(getFile(t, n, "path=profile.md"),
			`"version":"4"`) {
			t.Errorf("%d %s: a version must never mean two contents", a.Status, a.Body)
		}
		actions := 0
		for e, err := range n.Client.AuditLog(t.Context(), url.Values{"resource_id": {"profile.md"}}) {
			if actions++; err != nil || e.Action != "memory.updated" || e.ResourceType != "memory" {
				t.Errorf("%+v %v", e, err)
			}
		}
		if actions != 4 {
			t.Errorf("%d entries of four changes", actions)
		}
	})
}

func TestLimitsOfADocumentAreCountedInCharacters(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for i, c := range []struct {
			path, content, rationale string
			blames                   string
		}{
			{"a.md", strings.Repeat("€", 200_000), strings.Repeat("é", 2000), ""}, {"a.md", strings.Repeat("€", 200_001), "x",
				"content"}, {"a.md", "", strings.Repeat("é", 2001), "rationale"},
			{"a.md", "", " \t\n", "rationale"}, {"a.md", "", "", "rationale"}, {"a.md", "---\na: [\n---\n", "x", "content"}, {"a.yaml",
				"a: b: c\n", "x", "content"}, {strings.Repeat("é", 505) + ".md", "", "x", ""},
			{strings.Repeat("é", 510) + ".md", "", "x", "path"}, {"refs/a.md", "", "x", "path"}, {"a.json", "{}", "x", "path"}, {"../a.md",
				"", "x", "path"}, {"a\xff.md", "", "x", "path"}, {"a\x00.md", "", "x", "path"},
		} {
			path := c.path
			if c.blames == "" {
				path = fmt.Sprint(i) + path
			}
			a := putFile(t, n, path, c.content, c.rationale, "null")
			if c.blames == "" && a.Status != 200 || c.blames != "" && (a.Status != 400 || !a.Blames(t, c.blames)) {
				t.Errorf("%.20q %.20q %.20q: %d %.200s", path, c.content, c.rationale, a.Status, a.Body)
			}
		}
	})
}

func TestOfManyWhoReplaceOneVersionOneSucceeds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		rule := n.NewRule(t)
		for version, expected := range []string{"null", `"1"`, `"2"`} {
			var mu sync.Mutex
			statuses := map[string]int{}
			var wg sync.WaitGroup
			for i := range 12 {
				wg.Go(func() {
					a := putFile(t, n, "a.md", fmt.Sprint(i), "x", expected)
					b := s.Send(t, apitest.Request{Method: "PUT", Path: "/v1/memory/file?kind=rule&rule_id=" + rule.RuleID, Key: n.Key,
						Body: fmt.Sprintf(`{"rule_type":"classification","memo_contains":"m%d","ledger_account_id":%q,"expected_version":"%d"}`, i,
							*rule.LedgerAccountID, version+1)})
					mu.Lock()
					defer mu.Unlock()
					statuses[fmt.Sprint("document ", a.Status)]++
					statuses[fmt.Sprint("rule ", b.Status)]++
				})
			}
			wg.Wait()
			if fmt.Sprint(statuses) != "map[document 200:1 document 409:11 rule 200:1 rule 409:11]" {
				t.Errorf("expecting %s: %v", expected, statuses)
			}
		}
	})
}

func TestTheKindOfMemoryChoosesTheOperation(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		all := n.Member(t, actor.Owner, actor.ScopeAll)
		body := `{"rule_type":"cash_application","name":"n","statement":"s","matcher":"m","action":"require_human_review"}`
		for _, c := range []struct {
			method, query, key, body string
			status                   int
			blames                   string
		}{
			{"GET", "kind=banana", n.Key, "", 400, "kind"}, {"GET", "kind=rule&kind=rule", n.Key, "", 400, "kind"}, {"GET",
				"kind=rule&path=a.md", n.Key, "", 400, "path"},
			{"GET", "rule_id=rul_x", n.Key, "", 400, "rule_id"}, {"GET", "kind=rule&rule_id=rul_x", n.Key, "", 404, ""}, {"GET",
				"kind=rule&rule_id=" + strings.Repeat("x", 129), n.Key, "", 400, "rule_id"},
			{"GET", "kind=rule&rule_id=", n.Key, "", 400, "rule_id"}, {"GET", "cursor=" + strings.Repeat("x", 257), n.Key, "", 400,
				"cursor"}, {"GET", "path=", n.Key, "", 400, "path"}, {"GET", "cursor=x", n.Key, "", 400, "cursor"},
			{"PUT", "kind=rule", n.Key, body, 200, ""}, {"PUT", "kind=rule", all, body, 403, ""}, {"PUT", "kind=rule",
				n.Member(t, actor.Owner, actor.ScopeMemory), body, 403, ""},
			{"PUT", "kind=rule", n.Member(t, actor.Admin, actor.Scopes...), body, 403, ""}, {"PUT", "path=a.md", all, `{}`, 403, ""}, {"PUT",
				"", n.Key, `{}`, 400, "path"},
			{"PUT", "path=a.md", n.Key, `{"content":"","rationale":"x"}`, 400, "expected_version"}, {"PUT", "kind=rule", n.Key,
				strings.Replace(body, "{", `{"expected_version":"1",`, 1), 400, "expected_version"},
			{"PUT", "kind=rule&rule_id=rul_x", n.Key, body, 400, "expected_version"}, {"PUT", "kind=rule&rule_id=rul_x", n.Key,
				strings.Replace(body, "{", `{"expected_version":"1",`, 1), 404, ""},
			{"PUT", "kind=rule", n.Key, strings.Replace(body, "{", `{"memo_contains":"x",`, 1), 400, "memo_contains"}, {"PUT", "kind=rule",
				n.Key, strings.Replace(body, "{", `{"memo_contains":null,`, 1), 200, ""},
			{"DELETE", "kind=rule&rule_id=rul_x&expected_version=1", n.Key, "", 404, ""}, {"DELETE", "path=a.md", n.Key, "", 400,
				"expected_version"},
		} {
			a := s.Send(t, apitest.Request{Method: c.method, Path: "/v1/memory/file?" + c.query, Key: c.key, Body: c.body})
			if a.Status != c.status || c.blames != "" && !a.Blames(t, c.blames) {
				t.Errorf("%s %.60s %s: %d %s", c.method, c.query, c.body, a.Status, a.Body)
			}
		}
	})
}

func TestARuleIsStoredReplacedAndDeletedAndProtectsWhatItRefersTo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		account, tag := n.NewExpenseAccount(t, "Hosting"), n.NewTag(t)
		made, err := n.Client.PutMemoryRule(t.Context(), "", client.PutMemoryRule{RuleType: "classification",
			MemoContains: new(" HETZNER "), Address: new("0xABC"), LedgerAccountID: &account.ID, TagID: &tag.ID, Rationale: new("first")})
		if err != nil || *made.MemoContains != "hetzner" || *made.Address != "0xabc" || *made.Direction != "ANY" || *made.Priority != 0 ||
			!*made.Enabled || made.Name != nil || made.Version != "1" {
			t.Fatalf("%+v %v", made, err)
		}
		if got, err := n.Client.MemoryRule(t.Context(), made.RuleID); err != nil || *got.MemoContains != "hetzner" || got.Version != "1" {
			t.Errorf("%+v %v", got, err)
		}
		for what, err := range map[string]error{"ledger account": n.Client.DeleteLedgerAccount(t.Context(), account.ID),
			"tag": n.Client.DeleteTag(t.Context(), tag.ID)} {
			var e *client.Error
			if !errors.As(err, &e) || e.Status != 409 || !strings.Contains(e.Message, made.RuleID) {
				t.Errorf("%s: %v", what, err)
			}
		}
		changed, err := n.Client.PutMemoryRule(t.Context(), made.RuleID, client.PutMemoryRule{RuleType: "classification",
			Merchant: new("Hetzner"), LedgerAccountID: &account.ID, Enabled: new(false), ExpectedVersion: new("1")})
		if err != nil || changed.Version != "2" || changed.MemoContains != nil || changed.TagID != nil || *changed.Enabled {
			t.Errorf("%+v %v", changed, err)
		}
		if err := n.Client.DeleteTag(t.Context(), tag.ID); err != nil {
			t.Errorf("a tag that only an old version names: %v", err)
		}
		if err := n.Client.DeleteMemoryRule(t.Context(), made.RuleID, "2"); err != nil {
			t.Error(err)
		}
		if err := n.Client.DeleteLedgerAccount(t.Context(), account.ID); err != nil {
			t.Errorf("an account of a rule that is gone: %v", err)
		}
		var diffs []string
		for v, err := range n.Client.MemoryRuleHistory(t.Context(), made.RuleID) {
			if err != nil {
				t.Fatal(err)
			}
			diffs = append(diffs, v.Version+" "+v.Diff)
		}
		if len(diffs) != 3 || !strings.Contains(diffs[1], "-  \"memo_contains\": \"hetzner\",\n") ||
			!strings.Contains(diffs[1], "+  \"merchant\": \"Hetzner\",\n") || !strings.Contains(diffs[0], "+++ /dev/null") {
			t.Errorf("%q", diffs)
		}
		actions := 0
		for e, err := range n.Client.AuditLog(t.Context(), url.Values{"resource_id": {made.RuleID}}) {
			if actions++; err != nil || e.Action != "rule.updated" {
				t.Errorf("%+v %v", e, err)
			}
		}
		if actions != 3 {
			t.Errorf("%d entries of three changes", actions)
		}
		for i := range 51 {
			newRuleAbout(t, n, fmt.Sprint(i), n.NewExpenseAccount(t, fmt.Sprint("a", i)).ID)
		}
		count, last := 0, ""
		for r, err := range n.Client.MemoryRules(t.Context()) {
			if count++; err != nil || r.RuleID <= last {
				t.Fatal(r, err)
			}
			last = r.RuleID
		}
		if count != 51 {
			t.Errorf("%d rules of 51", count)
		}
	})
}

func newRuleAbout(t *testing.T, n *apitest.Tenant, memo, account string) {
	t.Helper()
	if _, err := n.Client.PutMemoryRule(t.Context(), "", client.PutMemoryRule{RuleType: "classification", MemoContains: &memo,
		LedgerAccountID: &account}); err != nil {
		t.Fatal(err)
	}
}

func TestAMemoryWhoseDatabaseDoesNotAnswerIsAProviderError(t *testing.T) {
	t.Parallel()
	d, err := db.Open(db.Config{URL: "postgres://nobody@127.0.0.1:1/none"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	server := httptest.NewServer(api.New(app.New(d, nil), api.Config{}))
	t.Cleanup(server.Close)
	s := &apitest.Service{URL: server.URL}
	for path, code := range map[string]string{"/v1/memory/file": "PROVIDER_ERROR", "/v1/memory/file?kind=rule": "PROVIDER_ERROR",
		"/v1/memory/history?path=a.md": "PROVIDER_ERROR", "/v1/organization": "SERVICE_UNAVAILABLE"} {
		a := s.Send(t, apitest.Request{Method: "GET", Path: path, Key: "bur_" + strings.Repeat("A", 43)})
		if a.Status != http.StatusServiceUnavailable || a.Error(t).Code != code || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
