package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// ofOthers are the operations that an app may not do with what it has not created itself, as the samples are.
var ofOthers = []string{"DELETE /v1/api-keys/{api_key_id}", "POST /v1/api-keys/{api_key_id}/rotate"}

// notForApps are the operations that an app may not do, because it works for no clients of a firm.
var notForApps = []string{"POST /v1/firm/jobs"}

// An app with the scopes and the role of a key may do what the key may do, on every route.
func TestSoakEveryRouteTakesATokenAndASessionAsItTakesAKey(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s := n.Service()
		token, session := n.Token(t, actor.Scopes...), n.Session(t)
		readKey, readToken := n.Member(t, actor.Owner, actor.ScopeRead), n.Token(t, actor.ScopeRead)
		return func(t *testing.T, r wire.Route) {
			if r.Access == wire.ForPerson || r.Access == wire.ForAnyone || slices.Contains(disturbing, r.String()) {
				return
			}
			for what, key := range map[string]string{"token": token, "session": session} {
				_, own := request(t, r, n)
				want := r.Status
				if what == "token" && slices.Contains(append(ofOthers, notForApps...), r.String()) {
					want = http.StatusForbidden
				}
				if a := s.Send(t, own.request(r, key)); a.Status != want {
					t.Errorf("a %s: %d %s", what, a.Status, a.Body)
				}
			}
			_, own := request(t, r, n)
			a, b := s.Send(t, own.request(r, readKey)), s.Send(t, own.request(r, readToken))
			if a.Status != b.Status {
				t.Errorf("with the scope to read: a key %d %s, a token %d %s", a.Status, a.Body, b.Status, b.Body)
			}
		}
	})
}

// Browsers send cookies with requests that other sites make, so that each route must refuse those that change something.
func TestSoakEveryRouteRefusesAChangeThatAnotherSiteMakesABrowserSend(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s, session := n.Service(), n.Session(t)
		return func(t *testing.T, r wire.Route) {
			if r.Method == http.MethodGet {
				return
			}
			_, own := request(t, r, n)
			if own.session != "" {
				session = own.session
			}
			before := n.AuditCount(t)
			for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
				req := own.request(r, session)
				req.Header = req.Header.Clone()
				if req.Header == nil {
					req.Header = http.Header{}
				}
				req.Header.Set(name, value)
				a := s.Send(t, req)
				if a.Status != http.StatusForbidden || !strings.Contains(a.Error(t).Message, "another site") {
					t.Errorf("%s: %d %s", name, a.Status, a.Body)
				}
			}
			if after := n.AuditCount(t); after != before {
				t.Errorf("%d changes were made", after-before)
			}
		}
	})
}
