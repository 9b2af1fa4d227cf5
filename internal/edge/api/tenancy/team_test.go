package tenancy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// person is a member with a key for all scopes.
type person struct {
	access.Member
	key string
	*client.Client
}

func join(t *testing.T, n *apitest.Tenant, email string, role actor.Role) (p person) {
	t.Helper()
	err := n.Service().App.DB.Write(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		if p.Member, err = access.AddMember(ctx, tx, email, role); err != nil {
			return err
		}
		_, text, err := access.IssueKey(ctx, tx, access.CreateKeyParams{Name: email, UserID: p.UserID, Scopes: actor.Scopes})
		p.key = text.Reveal()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Client = client.New(n.Service().URL, p.key)
	return p
}

// status returns the status of an answer.
func status(t *testing.T, err error) int {
	t.Helper()
	var failed *client.Error
	switch {
	case err == nil:
		return 200
	case errors.As(err, &failed):
		return failed.Status
	}
	t.Fatal(err)
	return 0
}

func wantStatus(t *testing.T, what string, err error, want int, texts ...string) {
	t.Helper()
	if got := status(t, err); got != want {
		t.Errorf("%s: %v, want %d", what, err, want)
	}
	for _, text := range texts {
		if !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("%s: %v does not say %q", what, err, text)
		}
	}
}

// eventually waits until something is true: nodes know of changes within a second.
func eventually(t *testing.T, what func() bool) {
	t.Helper()
	for range 60 {
		if what() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("it did not happen in time")
}

// to describes a change of the role.
func to(role actor.Role) client.UpdateMember { return client.UpdateMember{Role: new(string(role))} }

func TestMembersChangeAsTheirRolesAllow(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		admin, viewer := join(t, n, "admin@example.com", actor.Admin), join(t, n, "viewer@example.com", actor.Viewer)
		second := join(t, n, "second@example.com", actor.Owner)
		update := func(c *client.Client, userID string, p client.UpdateMember) error {
			_, err := c.UpdateMember(t.Context(), userID, p)
			return err
		}
		ctx := t.Context()
		wantStatus(t, "an admin makes an owner", update(admin.Client, viewer.UserID, to(actor.Owner)), 403, "only an owner")
		wantStatus(t, "an admin makes themselves an owner", update(admin.Client, admin.UserID, to(actor.Owner)), 403, "only an owner")
		wantStatus(t, "an admin demotes an owner", update(admin.Client, second.UserID, to(actor.Viewer)), 403, "only an owner")
		wantStatus(t, "an admin limits an owner", update(admin.Client, second.UserID,
			client.UpdateMember{LegalEntityIDs: &[]string{}}), 403, "only an owner")
		wantStatus(t, "an admin removes an owner", admin.RemoveMember(ctx, second.UserID), 403, "only an owner")
		wantStatus(t, "a viewer removes somebody", viewer.RemoveMember(ctx, admin.UserID), 403, "you can remove yourself only")
		wantStatus(t, "an admin changes a viewer", update(admin.Client, viewer.UserID, to(actor.Accountant)), 200)
		wantStatus(t, "an owner demotes another", update(n.Client, second.UserID, to(actor.Admin)), 200)
		wantStatus(t, "the last owner is demoted", update(n.Client, n.Owner.UserID, to(actor.Admin)), 409, "only owner")
		wantStatus(t, "the last owner leaves", n.Client.RemoveMember(ctx, n.Owner.UserID), 409, "only owner")
		wantStatus(t, "an admin demotes the last owner", update(admin.Client, n.Owner.UserID, to(actor.Admin)), 403)
		wantStatus(t, "somebody unknown", update(n.Client, apitest.UnknownID(viewer.UserID), to(actor.Viewer)), 404)
		wantStatus(t, "an admin leaves", admin.RemoveMember(ctx, admin.UserID), 200)
		if got := works(t, s, admin.key); got != 401 {
			t.Errorf("a former member's key: %d", got)
		}
		wantStatus(t, "somebody who is gone", n.Client.RemoveMember(ctx, admin.UserID), 404)

		foreign := s.Found(t, "foreign")
		wantStatus(t, "a foreign member is changed", update(n.Client, foreign.Owner.UserID, to(actor.Viewer)), 404)
		wantStatus(t, "a foreign member is removed", n.Client.RemoveMember(ctx, foreign.Owner.UserID), 404)
		before := n.AuditCount(t)
		wantStatus(t, "nothing changes", update(n.Client, viewer.UserID, to(actor.Accountant)), 200)
		if n.AuditCount(t) != before {
			t.Error("a change that changes nothing was recorded")
		}
		a := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/team/members/" + viewer.UserID, Key: n.Key, Body: `{}`})
		if a.Status != 400 {
			t.Errorf("an empty change: %d %s", a.Status, a.Body)
		}
	})
}

func TestEverybodyCanLeaveTheOrganization(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		ctx := t.Context()
		for _, role := range actor.Roles {
			p := join(t, n, string(role)+"@example.com", role)
			if role == actor.Admin || role == actor.Viewer { // who sees some legal entities only can leave, and remove nobody else
				_, err := n.Client.UpdateMember(ctx, p.UserID, client.UpdateMember{LegalEntityIDs: &[]string{n.LegalEntity.ID}})
				wantStatus(t, "limited", err, 200)
				eventually(t, func() bool { return p.RemoveMember(ctx, apitest.UnknownID(p.UserID)) != nil })
			}
			if role == actor.Admin {
				other := join(t, n, "other@example.com", actor.Viewer)
				eventually(t, func() bool {
					return status(t, p.RemoveMember(ctx, apitest.UnknownID(p.UserID))) == 403 // once the node knows of the limit
				})
				wantStatus(t, "a limited admin removes somebody", p.RemoveMember(ctx, other.UserID), 403, "whole organization")
			}
			wantStatus(t, string(role)+" leaves", p.RemoveMember(ctx, p.UserID), 200)
			eventually(t, func() bool { return works(t, s, p.key) == 401 })
		}
		wantStatus(t, "the only owner leaves", n.Client.RemoveMember(ctx, n.Owner.UserID), 409, "only owner")
	})
}

func TestNamesWithLineBreaksOrControlCharactersAreRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for _, r := range []apitest.Request{
			{Method: "PATCH", Path: "/v1/organization", Body: `{"name":"Acme\r\nBcc: x@example.com"}`},
			{Method: "POST", Path: "/v1/api-keys", Body: `{"name":"a\u001b[31m","scopes":["apis.read"]}`},
			{Method: "POST", Path: "/v1/oauth-clients", Body: `{"name":"a\nb","redirect_uris":["https://app.example.com/callback"]}`},
		} {
			r.Key = n.Key
			a := s.Send(t, r)
			if a.Status != 400 || !slices.ContainsFunc(a.Error(t).Fields, func(f wire.ErrorField) bool { return f.Field == "name" }) {
				t.Errorf("%s %s: %d %s", r.Method, r.Path, a.Status, a.Body)
			}
		}
	})
}

func TestAnInvitationIsMailedThreeTimesAnHourAtMost(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		i, err := n.Client.CreateInvitation(t.Context(), client.CreateInvitation{Email: "lin@example.com", Role: "viewer"})
		if err != nil {
			t.Fatal(err)
		}
		for attempt, want := range []int{200, 200, 429} {
			a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/team/invitations/" + i.ID + "/resend", Key: n.Key})
			if seconds, _ := strconv.Atoi(a.Header.Get("Retry-After")); a.Status != want || (want == 429) != (seconds > 3000 && seconds <= 3600) {
				t.Errorf("attempt %d: %d %s, try again after %d", attempt, a.Status, a.Body, seconds)
			}
		}
	})
}

func TestAnOrganizationKeepsAnOwnerHoweverManyGoAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for _, remove := range []bool{true, false} {
			n := s.Found(t, fmt.Sprint("mine", remove))
			other := join(t, n, fmt.Sprintf("other%t@example.com", remove), actor.Owner)
			act := func(c *client.Client, userID string) error {
				if remove {
					return c.RemoveMember(t.Context(), userID)
				}
				_, err := c.UpdateMember(t.Context(), userID, to(actor.Viewer))
				return err
			}
			var wg sync.WaitGroup
			var errs [2]error
			wg.Go(func() { errs[0] = act(n.Client, other.UserID) })
			wg.Go(func() { errs[1] = act(other.Client, n.Owner.UserID) })
			wg.Wait()
			got := []int{status(t, errs[0]), status(t, errs[1])}
			slices.Sort(got)
			// Whoever is later is no longer an owner, or not even a member, and the other one is the last owner.
			if got[0] != 200 || got[1] != 409 && got[1] != 403 && got[1] != 401 {
				t.Errorf("removing %t: %v, %v", remove, errs[0], errs[1])
			}
		}
	})
}

func TestAMemberIsLimitedToLegalEntitiesWithAllThatActsForThem(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		ctx := t.Context()
		us, de := n.LegalEntity.ID, n.NewLegalEntity(t, client.CreateLegalEntity{Name: "DE"}).ID
		foreign := s.Found(t, "foreign")
		p := join(t, n, "ada@example.com", actor.Admin)
		limit := func(userID string, ids ...string) error {
			ids = append([]string{}, ids...) // none is an empty list and not null
			_, err := n.Client.UpdateMember(ctx, userID, client.UpdateMember{LegalEntityIDs: &ids})
			return err
		}
		wantStatus(t, "a foreign legal entity", limit(p.UserID, us, foreign.LegalEntity.ID), 404, "legal_entity_ids[1]")
		wantStatus(t, "the same twice", limit(p.UserID, us, us), 400, "legal_entity_ids")
		wantStatus(t, "an owner", limit(n.Owner.UserID, us), 400, "legal_entity_ids")
		german := keyFrom(t, s, p.key, client.CreateAPIKey{LegalEntityIDs: []string{de}})
		both := keyFrom(t, s, p.key, client.CreateAPIKey{LegalEntityIDs: []string{de, us}})
		robot := robotOf(t, s, p.key)
		session := n.SessionOf(t, p.UserID)
		wantStatus(t, "a legal entity", limit(p.UserID, us), 200)
		eventually(t, func() bool { return works(t, s, german.Key) == 401 })
		sees := func(key string) string {
			t.Helper()
			var out []string
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/legal-entities", Key: key})
			var list struct{ Data []client.LegalEntity }
			if err := json.Unmarshal(a.Body, &list); err != nil || a.Status != 200 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			for _, e := range list.Data {
				out = append(out, e.ID)
			}
			return strings.Join(out, " ")
		}
		for what, key := range map[string]string{"own": p.key, "for both": both.Key, "without a user": robot, "session": session} {
			eventually(t, func() bool { return sees(key) == us })
			if a := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: key, Body: `{"name":"x"}`}); a.Status != 403 {
				t.Errorf("%s: the organization was changed: %d %s", what, a.Status, a.Body)
			}
		}
		for _, key := range []string{p.key, session} {
			for body, want := range map[string]int{
				`{"name":"k","scopes":["apis.read"]}`:                                          403,
				fmt.Sprintf(`{"name":"k","scopes":["apis.read"],"legal_entity_ids":[%q]}`, de): 404,
				fmt.Sprintf(`{"name":"k","scopes":["apis.read"],"legal_entity_ids":[%q]}`, us): 201,
			} {
				if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: key, Body: body}); a.Status != want {
					t.Errorf("%s: %d %s, want %d", body, a.Status, a.Body, want)
				}
			}
		}
		wantStatus(t, "a legal entity that a member is limited to", n.Client.DeleteLegalEntity(ctx, us), 409)
		wantStatus(t, "an owner who is limited", func() error {
			_, err := n.Client.UpdateMember(ctx, p.UserID, to(actor.Owner))
			return err
		}(), 400, "role")
		shown := func(key string) (out client.Member) {
			t.Helper()
			for m, err := range client.New(s.URL, key).Members(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				if m.ID == p.UserID {
					out = m
				}
			}
			return out
		}
		if m := shown(n.Key); !m.IsLimited || !slices.Equal(m.LegalEntityIDs, []string{us}) {
			t.Errorf("the member is %+v", m)
		}
		if m := shown(n.Limited(t, de)); !m.IsLimited || len(m.LegalEntityIDs) != 0 {
			t.Errorf("a key for another legal entity sees %+v", m)
		}
		wantStatus(t, "all legal entities", limit(p.UserID), 200)
		eventually(t, func() bool { return works(t, s, german.Key) == 200 })
		m, err := n.Client.UpdateMember(ctx, p.UserID, client.UpdateMember{Role: new("owner"), LegalEntityIDs: &[]string{}})
		if err != nil || m.Role != "owner" || m.IsLimited {
			t.Errorf("%+v %v", m, err)
		}
	})
}

func TestWhatHappensToTheTeamAndItsKeysAreEvents(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		ctx := t.Context()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		p := join(t, n, "ada@example.com", actor.Viewer)
		_, err := n.Client.UpdateMember(ctx, p.UserID, to(actor.Accountant))
		must(err)
		i, err := n.Client.CreateInvitation(ctx, client.CreateInvitation{Email: "grace@example.com", Role: "viewer"})
		must(err)
		_, err = n.Client.ResendInvitation(ctx, i.ID)
		must(err)
		must(n.Client.RevokeInvitation(ctx, i.ID))
		made := keyFrom(t, s, n.Key, client.CreateAPIKey{})
		_, err = n.Client.RotateAPIKey(ctx, made.ID, client.RotateAPIKey{OverlapHours: new(int64(1))})
		must(err)
		must(n.Client.RemoveMember(ctx, p.UserID))
		var types []string
		for e, err := range n.Client.Events(ctx, nil) {
			must(err)
			types = append(types, e.Type)
			if strings.HasPrefix(e.Type, "api_key.") && strings.Contains(string(e.Data), "last_used") {
				t.Errorf("an event says when a key was used: %s", e.Data)
			}
		}
		want := "member.updated invitation.created invitation.revoked api_key.created api_key.created api_key.rotated api_key.revoked " +
			"member.removed"
		if got := strings.Join(types, " "); !strings.HasSuffix(got, want) {
			t.Errorf("the events are %s", got)
		}
	})
}

func TestAPersonIsInvitedByMail(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		i, err := n.Client.CreateInvitation(t.Context(), client.CreateInvitation{Email: "Grace@example.com", Role: "viewer",
			LegalEntityIDs: []string{n.LegalEntity.ID}})
		if err != nil || i.Status != "pending" || i.Email != "grace@example.com" || *i.InvitedBy != n.Owner.UserID {
			t.Fatalf("%+v %v", i, err)
		}
		wantStatus(t, "twice", func() error {
			_, err := n.Client.CreateInvitation(t.Context(), client.CreateInvitation{Email: "grace@example.com", Role: "viewer"})
			return err
		}(), 409)
		queued, err := s.App.DB.Jobs().QueryContext(t.Context(), "SELECT args FROM river_job WHERE kind = 'sealed_mail'")
		if err != nil {
			t.Fatal(err)
		}
		defer queued.Close()
		count := 0
		for queued.Next() {
			var args string
			if err := queued.Scan(&args); err != nil {
				t.Fatal(err)
			}
			if count++; strings.Contains(args, "bul_") || strings.Contains(args, "grace") {
				t.Errorf("the queue shows the message: %s", args)
			}
		}
		if err := queued.Err(); err != nil || count != 1 {
			t.Errorf("%d messages, %v", count, err)
		}
		for _, body := range []string{`{"email":"x","role":"viewer"}`, `{"email":"x@y.example","role":"boss"}`, `{"role":"viewer"}`,
			`{"email":"x@y.example","role":"viewer","legal_entity_ids":null}`, `{"email":"` + strings.Repeat("x", 260) + `@y.example","role":"viewer"}`,
			`{"email":"x@y.example","role":"viewer","organization_id":"` + n.Organization.ID + `"}`} {
			if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/team/invitations", Key: n.Key, Body: body}); a.Status != 400 {
				t.Errorf("%s: %d %s", body, a.Status, a.Body)
			}
		}
	})
}

func TestPreferencesBelongToAUserInAnOrganization(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		ctx := t.Context()
		viewer := join(t, n, "viewer@example.com", actor.Viewer)
		for name, value := range map[string]any{"columns": []any{"a", 1, nil}, "a.b-c_d": "text", "0": nil, strings.Repeat("x", 64): true} {
			if _, err := viewer.SetPreference(ctx, name, value); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := viewer.SetPreference(ctx, "columns", map[string]any{"b": "é"}); err != nil {
			t.Error(err)
		}
		got, err := viewer.Preferences(ctx)
		if err != nil || len(got) != 4 || string(got["columns"]) != `{"b":"é"}` || string(got["0"]) != "null" {
			t.Errorf("%s %v", got, err)
		}
		for what, c := range map[string]*client.Client{"another user": n.Client, "another organization": s.Found(t, "foreign").Client} {
			if got, err := c.Preferences(ctx); err != nil || len(got) != 0 {
				t.Errorf("%s sees %v %v", what, got, err)
			}
			wantStatus(t, what, c.DeletePreference(ctx, "columns"), 404)
		}
		nobody := client.New(s.URL, n.Nobody(t, actor.Scopes...))
		_, err = nobody.Preferences(ctx)
		wantStatus(t, "nobody reads", err, 403)
		_, err = nobody.SetPreference(ctx, "x", 1)
		wantStatus(t, "nobody writes", err, 403)
		before := n.AuditCount(t)
		for _, c := range []struct {
			name, body string
			status     int
		}{
			{"Columns", `{"value":1}`, 400}, {"-x", `{"value":1}`, 400}, {strings.Repeat("x", 65), `{"value":1}`, 400}, {"a%2Fb", `{"value":1}`, 400},
			{"x", `{}`, 400}, {"x", `{"value":1,"more":1}`, 400}, {"x", `{"value":"` + strings.Repeat("x", 16<<10) + `"}`, 400}, {"x", `[1]`, 400},
			{"x", `{"value":"` + strings.Repeat("x", 16<<10-2) + `"}`, 200}, {"x", `{"value":"\u0000"}`, 400}, {"x", `{"value":`, 400},
		} {
			a := s.Send(t, apitest.Request{Method: "PUT", Path: "/v1/preferences/" + c.name, Key: viewer.key, Body: c.body})
			if a.Status != c.status {
				t.Errorf("%.70s %.40s: %d %.300s, want %d", c.name, c.body, a.Status, a.Body, c.status)
			}
		}
		if n.AuditCount(t) != before {
			t.Error("preferences are in the audit log")
		}
		wantStatus(t, "deleting", viewer.DeletePreference(ctx, "columns"), 200)
		wantStatus(t, "deleting twice", viewer.DeletePreference(ctx, "columns"), 404)
	})
}

func TestAUserHasTwoHundredPreferencesAtMost(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: n.Organization.ID, UserID: n.Owner.UserID, Role: actor.Owner})
		for i := range access.PreferencesMax - 1 {
			if err := s.App.Access.SetPreference(ctx, fmt.Sprint("p", i), json.RawMessage("1")); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		statuses := make([]int, 6)
		for i := range statuses {
			wg.Go(func() {
				statuses[i] = s.Send(t, apitest.Request{Method: "PUT", Path: fmt.Sprint("/v1/preferences/q", i), Key: n.Key, Body: `{"value":1}`}).Status
			})
		}
		wg.Wait()
		slices.Sort(statuses)
		if !slices.Equal(statuses, []int{200, 409, 409, 409, 409, 409}) {
			t.Errorf("%v", statuses)
		}
		if _, err := n.Client.SetPreference(t.Context(), "p0", 2); err != nil {
			t.Errorf("one that exists: %v", err)
		}
	})
}
