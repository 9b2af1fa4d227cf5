package tenancy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// accessOf returns the access of firms to an organization, the latest first.
func accessOf(ctx context.Context, n *apitest.Tenant) (out []client.FirmAccess, err error) {
	for a, err := range n.Client.FirmAccess(ctx) {
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// Organizations that answer the same record of a client at once: the firm works for one of them, and the others have ended its access.
func TestOfSeveralOrganizationsThatAnswerOneQuestionOneBecomesTheClient(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, ctx := s.Found(t, "ledger"), t.Context()
		f.BecomeFirm(t)
		for round := range 3 {
			c, err := f.Client.CreateFirmClient(ctx, client.CreateFirmClient{Name: "Acme", Email: "a@b.example", Existing: true})
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			var own []*apitest.Tenant
			for i := range 4 {
				own = append(own, s.Found(t, fmt.Sprintf("acme-%d-%d", round, i)))
			}
			for _, n := range own {
				wg.Go(func() {
					owner := actor.With(ctx, actor.Actor{OrganizationID: n.Organization.ID, UserID: n.Owner.UserID, Role: actor.Owner})
					_, err := s.App.Firms.Accept(owner, firm.AcceptParams{FirmOrganizationID: f.Organization.ID, ClientID: c.ID})
					if err != nil && fault.KindOf(err) != fault.Conflict {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for _, n := range own { // as the jobs do
				err := s.App.Firms.Follow(ctx, firm.Follow{FirmOrganizationID: f.Organization.ID, ClientID: c.ID, OrganizationID: n.Organization.ID})
				if err != nil {
					t.Error(err)
				}
			}
			if c, err = f.Client.FirmClient(ctx, c.ID); err != nil || c.Status != "active" {
				t.Fatalf("%+v %v", c, err)
			}
			for _, n := range own {
				works := work(t, f.Client.For(n.Organization.ID)) == nil
				if works != (n.Organization.ID == *c.OrganizationID) {
					t.Errorf("the firm can work for %s: %v, and its client is %s", n.Organization.ID, works, *c.OrganizationID)
				}
				if !works { // to end it again concerns nobody else
					if err := n.Client.EndFirmAccess(ctx, c.ID); err != nil && status(t, err) != 404 {
						t.Error(err)
					}
				}
			}
			if err := work(t, f.Client.For(*c.OrganizationID)); err != nil {
				t.Errorf("the end of another organization has ended the client: %v", err)
			}
			if err := f.Client.EndFirmClient(ctx, c.ID); err != nil {
				t.Fatal(err)
			}
			if err := work(t, f.Client.For(*c.OrganizationID)); status(t, err) != 404 {
				t.Errorf("after the end: %v", err)
			}
		}
	})
}

// A role belongs to a membership in the firm: who leaves and comes back has none, also if nobody has cleaned up in between.
func TestWhoComesBackToAFirmHasNoRole(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, own, ctx := s.Found(t, "ledger"), s.Found(t, "acme"), t.Context()
		c := own.Hire(t, f)
		lin := join(t, f, "lin@ledger.example", actor.Accountant)
		if _, err := f.Client.SetFirmClientRole(ctx, c.ID, lin.UserID, role("partner")); err != nil {
			t.Fatal(err)
		}
		acts := func() error {
			_, err := s.App.Firms.Act(ctx, actor.Actor{UserID: lin.UserID, OrganizationID: f.Organization.ID}, own.Organization.ID)
			return err
		}
		if err := acts(); err != nil {
			t.Fatal(err)
		}
		if err := f.Client.RemoveMember(ctx, lin.UserID); err != nil { // there are no workers that would take the role away
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond) // the clock counts milliseconds
		if err := s.App.DB.Write(ctx, f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			_, err := access.AddMember(ctx, tx, "lin@ledger.example", actor.Admin)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		s.App.Firms.ForgetMember(lin.UserID)
		if err := acts(); fault.KindOf(err) != fault.NotFound {
			t.Errorf("the role of the former membership: %v", err)
		}
		as := actor.With(ctx, actor.Actor{UserID: lin.UserID, Role: actor.Accountant, OrganizationID: f.Organization.ID})
		if found, err := s.App.Firms.WorksFor(as, actor.From(as), nil); err != nil || len(found) > 0 {
			t.Errorf("%+v %v", found, err)
		}
		if err := s.App.Firms.MemberLeft(ctx, firm.MemberLeft{FirmOrganizationID: f.Organization.ID, UserID: lin.UserID}); err != nil {
			t.Fatal(err)
		}
		seen, err := accessOf(ctx, own)
		if err != nil || slices.ContainsFunc(seen[0].People, func(p client.FirmPerson) bool { return p.UserID == lin.UserID }) {
			t.Errorf("%+v %v", seen, err)
		}
		if _, err := f.Client.SetFirmClientRole(ctx, c.ID, lin.UserID, role("preparer")); err != nil {
			t.Fatal(err)
		}
		if err := acts(); err != nil {
			t.Errorf("with a new role: %v", err)
		}
	})
}

// A session whose chosen client has ended does not fall back to the books of the firm.
func TestASessionForAClientThatHasEndedWritesNowhereElse(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, own, ctx := s.Found(t, "ledger"), s.Found(t, "acme"), t.Context()
		c := own.Hire(t, f)
		session := own.SessionOf(t, f.Owner.UserID)
		send := func(method, path, body string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: method, Path: path, Key: session, Body: body})
		}
		if a := send("PATCH", "/v1/session", fmt.Sprintf(`{"organization_id":%q}`, own.Organization.ID)); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if a := send("POST", "/v1/tags", `{"name":"A","kind":"project"}`); a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if err := own.Client.EndFirmAccess(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		before := f.AuditCount(t)
		for _, r := range [][3]string{{"POST", "/v1/tags", `{"name":"B","kind":"project"}`}, {"GET", "/v1/organization", ""}} {
			if a := send(r[0], r[1], r[2]); a.Status != 404 || !strings.Contains(string(a.Body), "choose another") {
				t.Errorf("%s %s: %d %s", r[0], r[1], a.Status, a.Body)
			}
		}
		if f.AuditCount(t) != before {
			t.Error("something was written in the books of the firm")
		}
		if a := send("GET", "/v1/session", ""); a.Status != 200 || !strings.Contains(string(a.Body), `"organization":null`) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if a := send("PATCH", "/v1/session", fmt.Sprintf(`{"organization_id":%q}`, f.Organization.ID)); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if a := send("GET", "/v1/organization", ""); a.Status != 200 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestTheAccessOfFirmsIsListedPageByPage(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		own := s.Found(t, "acme")
		var want []string
		for i := range 3 {
			want = append([]string{own.Hire(t, s.Found(t, fmt.Sprintf("firm-%d", i))).ID}, want...)
		}
		var got []string
		for path := "/v1/firm-access?limit=1"; path != ""; {
			a := s.Send(t, apitest.Request{Method: "GET", Path: path, Key: own.Key})
			var p struct {
				Data       []client.FirmAccess `json:"data"`
				NextCursor *string             `json:"next_cursor"`
			}
			if err := json.Unmarshal(a.Body, &p); err != nil {
				t.Fatal(err)
			}
			if len(p.Data) != 1 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			got = append(got, p.Data[0].ID)
			if path = ""; p.NextCursor != nil {
				path = "/v1/firm-access?limit=1&cursor=" + *p.NextCursor
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// An organization can be a firm and the client of another one, whose people learn nothing of its own clients.
func TestAFirmThatIsAClientShowsItsAccountantNoneOfItsClients(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		above, f, own := s.Found(t, "above"), s.Found(t, "ledger"), s.Found(t, "secret")
		c := own.Hire(t, f)
		f.Hire(t, above)
		for _, path := range []string{"/v1/audit-log?limit=100", "/v1/events?limit=100"} {
			mine := s.Send(t, apitest.Request{Method: "GET", Path: path, Key: f.Key})
			theirs := s.Send(t, apitest.Request{Method: "GET", Path: path, Key: above.Key,
				Header: map[string][]string{"X-Organization-Id": {f.Organization.ID}}})
			if mine.Status != 200 || !strings.Contains(string(mine.Body), c.ID) {
				t.Errorf("%s of the firm itself: %d %s", path, mine.Status, mine.Body)
			}
			for _, secret := range []string{c.ID, own.Organization.ID, "firm_client."} {
				if theirs.Status != 200 || strings.Contains(string(theirs.Body), secret) {
					t.Errorf("%s of its accountant has %s: %d %s", path, secret, theirs.Status, theirs.Body)
				}
			}
		}
		for _, path := range []string{"/v1/audit-log?resource_id=" + c.ID, "/v1/events?object_id=" + c.ID} {
			a := s.Send(t, apitest.Request{Method: "GET", Path: path, Key: above.Key,
				Header: map[string][]string{"X-Organization-Id": {f.Organization.ID}}})
			if a.Status != 404 && a.Status != 400 {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	})
}

// A header without a value, or sent twice, acts on no books.
func TestAnEmptyOrRepeatedOrganizationHeaderIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, own := s.Found(t, "ledger"), s.Found(t, "acme")
		own.Hire(t, f)
		before := f.AuditCount(t)
		for _, values := range [][]string{{""}, {own.Organization.ID, f.Organization.ID}, {own.Organization.ID, own.Organization.ID}} {
			a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/tags", Key: f.Key, Body: `{"name":"A","kind":"project"}`,
				Header: map[string][]string{"X-Organization-Id": values}})
			if a.Status != 400 || !strings.Contains(string(a.Body), "X-Organization-Id") {
				t.Errorf("%q: %d %s", values, a.Status, a.Body)
			}
		}
		if f.AuditCount(t) != before {
			t.Error("something was written")
		}
	})
}

// What a firm does for a client ends with its access: no request that begins later writes anything, on any node.
func TestAFirmWritesNothingAfterTheEndOfItsAccess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		here, there := apitest.StartOn(t, d), apitest.StartOn(t, d)
		f, own := here.Found(t, "ledger"), here.Found(t, "acme")
		c := own.Hire(t, f)
		elsewhere := f.At(there).Client.For(own.Organization.ID)
		if _, err := elsewhere.CreateTag(t.Context(), client.CreateTag{Name: "Before", Kind: "project"}); err != nil {
			t.Fatal(err)
		}
		if err := own.Client.EndFirmAccess(t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := elsewhere.CreateTag(t.Context(), client.CreateTag{Name: "After", Kind: "project"}); status(t, err) != 404 {
			t.Errorf("another node, which still remembers the role: %v", err)
		}
	})
}

// An owner who has the links of two firms open, and gives access to both and to one of them again at once, gets an answer each time.
func TestAccessIsGrantedToTwoFirmsAndOneOfThemAgainAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		ctx := t.Context()
		for round := range 6 {
			own := s.Found(t, fmt.Sprintf("acme-%d", round))
			owner := actor.With(ctx, actor.Actor{OrganizationID: own.Organization.ID, UserID: own.Owner.UserID, Role: actor.Owner})
			var asked []firm.AcceptParams
			for i := range 2 {
				f := s.Found(t, fmt.Sprintf("firm-%d-%d", round, i))
				f.BecomeFirm(t)
				c, err := f.Client.CreateFirmClient(ctx, client.CreateFirmClient{Name: "Acme", Email: "a@b.example", Existing: true})
				if err != nil {
					t.Fatal(err)
				}
				asked = append(asked, firm.AcceptParams{FirmOrganizationID: f.Organization.ID, ClientID: c.ID})
			}
			var wg sync.WaitGroup
			for _, p := range []firm.AcceptParams{asked[0], asked[1], asked[0], asked[1]} {
				wg.Go(func() {
					if _, err := s.App.Firms.Accept(owner, p); err != nil && fault.KindOf(err) != fault.Conflict {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			seen, err := accessOf(ctx, own)
			active := 0
			for _, a := range seen {
				if a.Status == "active" {
					active++
				}
			}
			if err != nil || active != 1 {
				t.Errorf("%+v %v", seen, err)
			}
		}
	})
}
