package tenancy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func TestAnOrganizationIsReadAndChangedAsTheContractSays(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		patch := func(body string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: n.Key, Body: body})
		}
		long, address := strings.Repeat("é", 100), "https://"+strings.Repeat("x", 2040)
		for _, c := range []struct {
			body   string
			status int
			field  string
			want   string
		}{
			{`{"name":"` + long + `"}`, 200, "name", `"` + long + `"`},
			{`{"name":"` + long + `é"}`, 400, "", ""},
			{`{"name":""}`, 400, "", ""},
			{`{"timezone":"America/Argentina/Buenos_Aires"}`, 200, "timezone", `"America/Argentina/Buenos_Aires"`},
			{`{"timezone":"UTC"}`, 200, "timezone", `"UTC"`},
			{`{"timezone":"Local"}`, 400, "", ""},
			{`{"timezone":""}`, 400, "", ""},
			{`{"timezone":"../../etc/passwd"}`, 400, "", ""},
			{`{"timezone":"america/new_york"}`, 400, "", ""},
			{`{"time_format":"hr12"}`, 200, "time_format", `"hr12"`},
			{`{"time_format":"hr13"}`, 400, "", ""},
			{`{"web_address":"` + address + `"}`, 200, "web_address", `"` + address + `"`},
			{`{"web_address":"` + address + `x"}`, 400, "", ""},
			{`{"web_address":null}`, 400, "", ""},
			{`{"web_address":""}`, 200, "web_address", `null`},
			{`{"logo_url":"` + address + `"}`, 200, "logo_url", `"` + address + `"`},
			{`{"logo_url":null}`, 200, "logo_url", `null`},
			{`{"logo_url":"https://example.com/a.png"}`, 200, "logo_url", `"https://example.com/a.png"`},
			{`{"logo_url":""}`, 200, "logo_url", `null`},
			{`{"logo_url":"` + address + `x"}`, 400, "", ""},
			{`{"web_address":"HTTP://example.com:8080/a?b=c#d"}`, 200, "web_address", `"HTTP://example.com:8080/a?b=c#d"`},
			{`{"web_address":"javascript:alert(1)"}`, 400, "", ""},
			{`{"web_address":"java\nscript:alert(1)"}`, 400, "", ""},
			{`{"web_address":" https://example.com"}`, 400, "", ""},
			{`{"web_address":"https://example.com/\u0001"}`, 400, "", ""},
			{`{"web_address":"example.com"}`, 400, "", ""},
			{`{"web_address":"//example.com"}`, 400, "", ""},
			{`{"web_address":"https://"}`, 400, "", ""},
			{`{"web_address":"https://:443"}`, 400, "", ""},
			{`{"web_address":"https://bank.example@evil.example"}`, 400, "", ""},
			{`{"logo_url":"data:image/svg+xml,<svg onload=alert(1)>"}`, 400, "", ""},
			{`{"logo_url":"file:///etc/passwd"}`, 400, "", ""},
			{`{"logo_url":"ftp://example.com/a.png"}`, 400, "", ""},
			{`{"logo_url":"vbscript:x"}`, 400, "", ""},
			{`{"onboarding_status":"done"}`, 400, "", ""},
			{`{"id":"org_x"}`, 400, "", ""},
			{`{"web_address":""}`, 200, "web_address", `null`},
		} {
			a := patch(c.body)
			if a.Status != c.status {
				t.Errorf("%.60s: %d %s", c.body, a.Status, a.Body)
				continue
			}
			var out struct{ Data map[string]json.RawMessage }
			if err := json.Unmarshal(a.Body, &out); err != nil {
				t.Fatal(err)
			}
			if c.status == 200 && string(out.Data[c.field]) != c.want {
				t.Errorf("%.60s: %s is %s", c.body, c.field, out.Data[c.field])
			}
		}
		got, err := n.Client.Organization(t.Context())
		if err != nil || got.Name != long || got.TimeFormat != "hr12" || got.LogoURL != nil || got.ID != n.Organization.ID ||
			got.UpdatedAt == nil || time.Since(*got.UpdatedAt) > time.Minute {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestAChangeIsInTheAuditLogWithWhoAndWhatAndOneThatChangesNothingIsNot(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		before := n.AuditCount(t)
		a := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: n.Key, Body: `{"name":"After"}`})
		again := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: n.Key, Body: `{"name":"After"}`})
		if a.Status != 200 || string(a.Body) != string(again.Body) || n.AuditCount(t) != before+1 {
			t.Fatalf("%s, then %s; %d changes", a.Body, again.Body, n.AuditCount(t)-before)
		}
		for e, err := range n.Client.AuditLog(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Action != "organization.updated" || *e.UserID != n.Owner.UserID || *e.APIKeyID != n.Created.Key.ID ||
				*e.RequestID != a.Header.Get("X-Request-Id") ||
				!strings.Contains(string(e.Before), `"name":"mine"`) || !strings.Contains(string(e.After), `"name":"After"`) {
				t.Errorf("%+v %s %s", e, e.Before, e.After)
			}
			break
		}
	})
}

func TestListsAreWalkedPageByPageWithoutLossOrRepeat(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for range 6 {
			n.Member(t, actor.Viewer, actor.ScopeRead)
		}
		for _, path := range []string{"/v1/organization/members", "/v1/api-keys", "/v1/audit-log"} {
			var whole client.Page[json.RawMessage]
			if err := n.Client.Do(t.Context(), client.Call{Method: "GET", Path: path}, &whole); err != nil || whole.HasMore ||
				whole.NextCursor != nil || len(whole.Data) < 7 {
				t.Fatalf("%s: %d records, more %v, %v", path, len(whole.Data), whole.HasMore, err)
			}
			var walked []json.RawMessage
			query := map[string][]string{"limit": {"3"}}
			for {
				var page client.Page[json.RawMessage]
				if err := n.Client.Do(t.Context(), client.Call{Method: "GET", Path: path, Query: query}, &page); err != nil {
					t.Fatal(err)
				}
				walked = append(walked, page.Data...)
				if page.HasMore != (page.NextCursor != nil) || page.HasMore && len(page.Data) != 3 {
					t.Errorf("%s: %d records, more %v, cursor %v", path, len(page.Data), page.HasMore, page.NextCursor)
				}
				if !page.HasMore {
					break
				}
				query["cursor"] = []string{*page.NextCursor}
			}
			if a, b := apitest.JSON(t, walked), apitest.JSON(t, whole.Data); a != b {
				t.Errorf("%s: walked %s, whole %s", path, a, b)
			}
		}
	})
}

func TestACursorServesOnlyTheListAndFiltersItCameFrom(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		var page client.Page[json.RawMessage]
		if err := n.Client.Do(t.Context(), client.Call{Method: "GET", Path: "/v1/audit-log", Query: map[string][]string{"limit": {"1"}}},
			&page); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{
			"/v1/audit-log?action=organization.created&cursor=" + *page.NextCursor,
			"/v1/organization/members?cursor=" + *page.NextCursor,
			"/v1/audit-log?cursor=x" + *page.NextCursor,
			"/v1/audit-log?cursor=nonsense",
		} {
			if a := s.Send(t, apitest.Request{Method: "GET", Path: path, Key: n.Key}); a.Status != 400 || !a.Blames(t, "cursor") {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	})
}

func TestTheAuditLogIsFilteredByWhatWhoAndWhen(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		name := "After"
		if _, err := n.Client.UpdateOrganization(t.Context(), client.UpdateOrganization{Name: &name}); err != nil {
			t.Fatal(err)
		}
		today := time.Now().UTC()
		for query, want := range map[string]int{
			"action=organization.updated":                                                 1,
			"action=nothing":                                                              0,
			"resource_id=" + n.Organization.ID:                                            3,
			"user_id=" + n.Owner.UserID:                                                   1,
			"start_date=" + today.AddDate(0, 0, -1).Format(time.DateOnly):                 8,
			"end_date=" + today.AddDate(0, 0, -2).Format(time.DateOnly):                   0,
			"end_date=" + today.AddDate(0, 0, 1).Format(time.DateOnly):                    8,
			"start_date=" + today.Add(time.Hour).Format("2006-01-02T15:04:05Z"):           0,
			"resource_id=" + n.Organization.ID + "&action=organization.created&limit=100": 1,
		} {
			var page client.Page[client.AuditEntry]
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/audit-log?" + query, Key: n.Key})
			if err := json.Unmarshal(a.Body, &page); err != nil || len(page.Data) != want {
				t.Errorf("%s: %d entries, want %d: %s", query, len(page.Data), want, a.Body)
			}
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/audit-log?start_date=x&end_date=2026-02-30",
			Key: n.Key}); a.Status != 400 || !a.Blames(t, "start_date") || !a.Blames(t, "end_date") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

// Earlier versions stored any address. A page that shows the profile would link to it.
func TestAnAddressThatIsNoLinkIsNotShown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		store := func(address *string) {
			t.Helper()
			err := s.App.DB.WriteAcross(t.Context(), "a test stores what earlier versions did", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, "UPDATE organizations SET web_address = ?, logo_url = ?", address, address)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for address, shown := range map[string]bool{"javascript:alert(1)": false, "data:image/svg+xml,x": false, "//evil.example": false,
			"https://a@evil.example": false, "https://example.com": true} {
			store(&address)
			got, err := n.Client.Organization(t.Context())
			if err != nil || (got.WebAddress != nil) != shown || (got.LogoURL != nil) != shown {
				t.Errorf("%s: %+v %v", address, got, err)
			}
		}
		store(nil) // as the audit log says
	})
}
