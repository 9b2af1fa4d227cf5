package tenancy_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func TestAnOwnerRegistersAndRevokesAppsOfTheOrganization(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, other := s.Found(t, "mine"), s.Found(t, "other")
		const callback = "https://app.example.com/callback"
		made, err := n.Client.CreateOAuthClient(t.Context(), client.CreateOAuthClient{Name: "Ledger Tools", RedirectURIs: []string{callback}})
		if err != nil || !strings.HasPrefix(made.ID, "oac_") || made.CreatedBy == nil || *made.CreatedBy != n.Owner.UserID {
			t.Fatalf("%+v %v", made, err)
		}
		if _, err := other.Client.OAuthClient(t.Context(), made.ID); !client.IsNotFound(err) {
			t.Errorf("another organization reads it: %v", err)
		}
		_, err = n.Client.CreateOAuthClient(t.Context(), client.CreateOAuthClient{Name: " x", HomepageURL: "http://app.example.com",
			RedirectURIs: []string{callback, "http://app.example.com/"}})
		apitest.WantError(t, "faults", err, http.StatusBadRequest, []string{"name", "redirect_uris[1]", "homepage_url"}, "")
		admin := client.New(s.URL, n.Member(t, actor.Admin, actor.ScopeAll))
		if err := admin.RevokeOAuthClient(t.Context(), made.ID); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("an admin revokes it: %v", err)
		}
		for range 2 {
			if err := n.Client.RevokeOAuthClient(t.Context(), made.ID); err != nil {
				t.Error(err)
			}
		}
		if got, err := admin.OAuthClient(t.Context(), made.ID); err != nil || got.RevokedAt == nil {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestPeopleSeeAndDisconnectTheirOwnAppsAndAdminsAll(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		a, tokens := n.ConnectApp(t, actor.ScopeAll)
		viewer := client.New(s.URL, n.Member(t, actor.Viewer, actor.ScopeAll))
		hers := ""
		for m, err := range n.Client.Members(t.Context()) {
			if err == nil && m.ID != n.Owner.UserID {
				hers = m.ID
			}
		}
		own, _ := n.ConnectAppFor(t, hers, actor.ScopeRead)
		ids := func(c *client.Client) (out []string) {
			for one, err := range c.ConnectedApps(t.Context()) {
				if err != nil || one.Name != "Ledger Tools" || one.UserEmail == nil || one.UserName != nil ||
					(*one.UserEmail == n.Owner.Email) != (one.UserID == n.Owner.UserID) ||
					one.RegisteredBy != "operator" || one.LastUsedAt != nil || one.EndedAt != nil {
					t.Errorf("%+v %v", one, err)
				}
				out = append(out, one.ID)
			}
			return out
		}
		if got := strings.Join(ids(n.Client), " "); got != own.ID+" "+a.ID {
			t.Errorf("the owner sees %s", got)
		}
		if got := strings.Join(ids(viewer), " "); got != own.ID {
			t.Errorf("the viewer sees %s", got)
		}
		if err := viewer.DisconnectApp(t.Context(), a.ID); !client.IsNotFound(err) {
			t.Errorf("the viewer disconnects an app of the owner: %v", err)
		}
		faulty := s.Send(t, apitest.Request{Method: "DELETE", Path: "/v1/connected-apps/" + own.ID + "?now=1", Key: n.Key})
		if faulty.Status != http.StatusBadRequest || len(ids(viewer)) != 1 {
			t.Errorf("a request with a fault: %d %s", faulty.Status, faulty.Body)
		}
		if err := viewer.DisconnectApp(t.Context(), own.ID); err != nil || len(ids(viewer)) != 0 {
			t.Errorf("her own: %v %v", err, ids(viewer))
		}
		use := func() int {
			return s.Send(t, apitest.Request{Method: "GET", Path: "/v1/tags", Header: http.Header{"Authorization": {"Bearer " +
				tokens.Access.Reveal()}}}).Status
		}
		if got := use(); got != 200 {
			t.Errorf("the app of the owner: %d", got)
		}
		if err := n.Client.DisconnectApp(t.Context(), a.ID); err != nil {
			t.Error(err)
		}
		time.Sleep(600 * time.Millisecond) // a token is cached for half a second
		if got := use(); got != 401 {
			t.Errorf("after it was disconnected: %d", got)
		}
		var reasons []string
		for e, err := range n.Client.Events(t.Context(), map[string][]string{"types": {"oauth_authorization.*"}}) {
			var data client.ConnectedApp
			if err != nil || json.Unmarshal(e.Data, &data) != nil {
				t.Fatal(err)
			}
			reason := "granted"
			if data.EndReason != nil {
				reason = *data.EndReason
			}
			reasons = append(reasons, data.Name+" "+reason)
		}
		const want = "Ledger Tools granted, Ledger Tools granted, Ledger Tools disconnected, Ledger Tools disconnected"
		if got := strings.Join(reasons, ", "); got != want {
			t.Errorf("events: %s", got)
		}
	})
}
