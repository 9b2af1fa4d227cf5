package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// office is an accounting firm, and organizations that are or were its clients, or have nothing to do with it.
type office struct {
	firm *apitest.Tenant
	keys map[actor.FirmRole]string // of members of the firm, by their role for the client

	idle    string // key of a member of the firm who works for no client
	limited string // key of the partner that is limited to a legal entity of the firm
	nobody  string // key of the firm that belongs to no person
	token   string // of an app that acts for the partner

	client *apitest.Tenant            // has given the firm access
	closed map[string]*apitest.Tenant // have not, by what they are
}

// openOffice creates the organizations around a client.
func openOffice(t *testing.T, client *apitest.Tenant) *office {
	t.Helper()
	s := client.Service()
	o := &office{firm: s.Found(t, "firm"), keys: map[actor.FirmRole]string{}, client: client, closed: map[string]*apitest.Tenant{}}
	c := client.Hire(t, o.firm)
	for _, role := range actor.FirmRoles {
		userID, key := o.join(t)
		o.keys[role] = key
		if _, err := o.firm.Client.SetFirmClientRole(t.Context(), c.ID, userID, clientRole(role)); err != nil {
			t.Fatal(err)
		}
		if role == actor.Partner {
			o.limited = o.issue(t, access.CreateKeyParams{Name: "limited", UserID: userID, Scopes: actor.Scopes,
				LegalEntityIDs: []string{o.firm.LegalEntity.ID}})
			o.token = o.firm.TokenOf(t, access.Member{UserID: userID, Role: actor.Admin}, actor.Scopes...)
		}
	}
	_, o.idle = o.join(t)
	o.nobody = o.firm.Nobody(t, actor.Scopes...)
	for _, name := range []string{"never a client", "a client of another firm", "ended by itself", "ended by the firm"} {
		o.closed[name] = s.Found(t, strings.ReplaceAll(name, " ", "-"))
	}
	o.closed["a client of another firm"].Hire(t, s.Found(t, "other-firm"))
	own := o.closed["ended by itself"].Hire(t, o.firm)
	if err := o.closed["ended by itself"].Client.EndFirmAccess(t.Context(), own.ID); err != nil {
		t.Fatal(err)
	}
	theirs := o.closed["ended by the firm"].Hire(t, o.firm)
	if err := o.firm.Client.EndFirmClient(t.Context(), theirs.ID); err != nil {
		t.Fatal(err)
	}
	return o
}

func clientRole(r actor.FirmRole) client.FirmClientRole {
	return client.FirmClientRole{Role: string(r)}
}

// join adds an admin to the firm and returns a key of theirs.
func (o *office) join(t *testing.T) (userID, key string) {
	t.Helper()
	var m access.Member
	err := o.firm.Service().App.DB.Write(t.Context(), o.firm.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		m, err = access.AddMember(ctx, tx, newAddress(), actor.Admin)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m.UserID, o.issue(t, access.CreateKeyParams{Name: "key", UserID: m.UserID, Scopes: actor.Scopes})
}

func (o *office) issue(t *testing.T, p access.CreateKeyParams) (key string) {
	t.Helper()
	err := o.firm.Service().App.DB.Write(t.Context(), o.firm.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		_, text, err := access.IssueKey(ctx, tx, p)
		key = text.Reveal()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Whoever of a firm names an organization that they do not work for learns nothing, not even that it exists.
func TestSoakEveryOrganizationThatAFirmDoesNotWorkForIsAsUnknownAsOneThatDoesNotExist(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		o, s := openOffice(t, n), n.Service()
		return func(t *testing.T, r wire.Route) {
			if r.Access != wire.ForOrganization {
				return
			}
			_, own := request(t, r, o.firm)
			refused := func(who, key, what, organizationID string) {
				unknown := apitest.UnknownID(organizationID)
				a, b := as(key, organizationID)(t, s, r, own), as(key, unknown)(t, s, r, own)
				if a.Status != http.StatusNotFound || strip(t, a, organizationID) != strip(t, b, unknown) {
					t.Errorf("%s for an organization that is %s: %d %s, for an unknown one %d %s", who, what, a.Status, a.Body, b.Status, b.Body)
				}
			}
			for what, other := range o.closed {
				before := other.AuditCount(t)
				refused("a partner", o.keys[actor.Partner], what, other.Organization.ID)
				refused("the owner of the firm", o.firm.Key, what, other.Organization.ID)
				if after := other.AuditCount(t); after != before {
					t.Errorf("%d changes were made in an organization that is %s", after-before, what)
				}
			}
			before := o.client.AuditCount(t)
			for who, key := range map[string]string{"somebody without a role": o.idle, "a limited key": o.limited, "a key of nobody": o.nobody,
				"an app": o.token} {
				refused(who, key, "a client", o.client.Organization.ID)
			}
			if after := o.client.AuditCount(t); after != before {
				t.Errorf("%d changes were made by those who have no role", after-before)
			}
		}
	})
}

// closedToFirms lists the routes that people of an accounting firm may not use for a client. It is independent of the code it tests.
var closedToFirms = []string{"/v1/team/", "/v1/api-keys", "/v1/oauth-clients", "/v1/connected-apps", "/v1/webhook-", "/v1/firm/",
	"/v1/preferences", "POST /v1/events/{event_id}/redeliver", "DELETE /v1/firm-access/"}

// forReviewers lists the routes that need the role of a reviewer, and forPartners those for which an admin of the client would not do.
var (
	forReviewers = []string{"POST /v1/accounting-periods/{accounting_period_id}/close",
		"POST /v1/accounting-periods/{accounting_period_id}/reopen", "GET /v1/audit-log", "GET /v1/audit-log/verify"}
	forPartners = []string{"PUT /v1/memory/file?kind=rule", "DELETE /v1/memory/file?kind=rule"}
)

func TestSoakEveryRoleForAClientMayDoWhatItIsFor(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		o, s := openOffice(t, n), n.Service()
		return func(t *testing.T, r wire.Route) {
			if r.Access != wire.ForOrganization {
				return
			}
			closed := slices.ContainsFunc(closedToFirms, func(prefix string) bool {
				return strings.HasPrefix(r.String(), prefix) || strings.HasPrefix(r.Path, prefix)
			})
			for i, role := range actor.FirmRoles {
				allowed := !closed && (i >= 2 || r.Need.Class != actor.Privileged || i >= 1 && slices.Contains(forReviewers, r.String()))
				if i < 1 && slices.Contains(forReviewers, r.String()) || i < 2 && slices.Contains(forPartners, r.String()) {
					allowed = false
				}
				_, own := request(t, r, n)
				a := as(o.keys[role], n.Organization.ID)(t, s, r, own)
				if allowed && a.Status != r.Status || !allowed && a.Status != http.StatusForbidden {
					t.Errorf("%s: %d %s, allowed: %v", role, a.Status, a.Body, allowed)
				}
			}
		}
	})
}

// Working for one client opens no record of another, nor of the firm.
func TestSoakEveryIDOfAnotherOrganizationIsUnknownToWhoeverActsForAClient(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		o := openOffice(t, n)
		return func(t *testing.T, r wire.Route) {
			if r.Access != wire.ForOrganization || r.Need.MembersOnly {
				return
			}
			comparesForeignIDs(t, n, o.firm, r, as(o.keys[actor.Partner], n.Organization.ID))
		}
	})
}

// hidden is in the name of a client that the reader has no role for.
const hidden = "Quillfeather"

func TestSoakNoListOfAFirmShowsAClientToSomebodyWithoutARole(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s := n.Service()
		n.BecomeFirm(t)
		secret, err := n.Client.CreateFirmClient(t.Context(), client.CreateFirmClient{Name: hidden, Email: hidden + "@client.example",
			BaseCurrency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		keys := map[string]string{"nobody": n.Nobody(t, actor.Scopes...)}
		for _, role := range []actor.Role{actor.Accountant, actor.Viewer} {
			keys[string(role)] = n.Member(t, role, actor.Scopes...)
		}
		return func(t *testing.T, r wire.Route) {
			if r.Method != http.MethodGet || r.Access != wire.ForOrganization {
				return
			}
			_, own := request(t, r, n)
			own.query = "" // as much as there is
			for who, key := range keys {
				a := s.Send(t, own.request(r, key))
				for _, mark := range []string{hidden, secret.ID, *secret.OrganizationID} {
					if strings.Contains(string(a.Body), mark) {
						t.Errorf("%s reads %s: %s", who, mark, a.Body)
					}
				}
			}
			if a := s.Send(t, own.request(r, n.Key)); r.Path == "/v1/firm/clients" && !strings.Contains(string(a.Body), hidden) {
				t.Errorf("the owner does not see it: %s", a.Body)
			}
		}
	})
}
