package tenancy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

func role(name string) client.FirmClientRole { return client.FirmClientRole{Role: name} }

func TestAnOrganizationBecomesAFirmByItsSettings(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "ledger"), t.Context()
		if _, err := n.Client.FirmSettings(ctx); status(t, err) != 404 {
			t.Errorf("before: %v", err)
		}
		_, err := n.Client.CreateFirmClient(ctx, client.CreateFirmClient{Name: "A", Email: "a@b.example", Existing: true})
		if status(t, err) != 409 || !strings.Contains(err.Error(), "PATCH /v1/firm/settings") {
			t.Errorf("a client of no firm: %v", err)
		}
		_, err = n.Client.UpdateFirmSettings(ctx, client.UpdateFirmSettings{WebAddress: new("https://ledger.example")})
		if status(t, err) != 400 || !strings.Contains(err.Error(), "firm_name") {
			t.Errorf("without a name: %v", err)
		}
		_, err = n.Client.UpdateFirmSettings(ctx, client.UpdateFirmSettings{FirmName: new(" "), WebAddress: new("javascript:alert(1)")})
		if status(t, err) != 400 || !strings.Contains(err.Error(), "firm_name") || !strings.Contains(err.Error(), "web_address") {
			t.Errorf("two faults: %v", err)
		}
		made, err := n.Client.UpdateFirmSettings(ctx, client.UpdateFirmSettings{FirmName: new(" Ledger ")})
		if err != nil || made.FirmName != "Ledger" || made.WebAddress != nil || made.UpdatedAt != nil || !strings.HasPrefix(made.ID, "frm_") {
			t.Fatalf("%+v %v", made, err)
		}
		if _, err := n.Client.UpdateOrganization(ctx, client.UpdateOrganization{LogoURL: new("https://ledger.example/logo.png")}); err != nil {
			t.Fatal(err)
		}
		changed, err := n.Client.UpdateFirmSettings(ctx, client.UpdateFirmSettings{WebAddress: new("https://ledger.example")})
		if err != nil || *changed.WebAddress != "https://ledger.example" || changed.UpdatedAt == nil || changed.ID != made.ID ||
			changed.LogoURL == nil {
			t.Fatalf("%+v %v", changed, err)
		}
		before := n.AuditCount(t)
		same, err := n.Client.UpdateFirmSettings(ctx, client.UpdateFirmSettings{WebAddress: new("https://ledger.example")})
		if err != nil || !same.UpdatedAt.Equal(*changed.UpdatedAt) || n.AuditCount(t) != before {
			t.Errorf("without a change: %+v %v", same, err)
		}
	})
}

// work posts an entry in the books of whoever the client acts for.
func work(t *testing.T, c *client.Client) error {
	t.Helper()
	_, err := c.CreateTag(t.Context(), client.CreateTag{Name: client.NewIdempotencyKey(), Kind: "project"})
	return err
}

func TestAFirmKeepsTheBooksThatItHasCreatedForAClient(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		firm, ctx := s.Found(t, "ledger"), t.Context()
		f := firm.BecomeFirm(t)
		made, err := firm.Client.CreateFirmClient(ctx, client.CreateFirmClient{Name: " Acme ", Email: " CFO@Acme.example", BaseCurrency: "EUR",
			Timezone: "Europe/Berlin"})
		if err != nil || made.Name != "Acme" || made.Email != "cfo@acme.example" || made.Status != "active" || *made.Role != "partner" ||
			len(made.People) != 1 || made.People[0].UserID != firm.Owner.UserID || *made.People[0].Email != firm.Owner.Email {
			t.Fatalf("%+v %v", made, err)
		}
		found, err := firm.Client.FirmClient(ctx, made.ID)
		if a, b := asJSON(t, found), asJSON(t, made); err != nil || a != b {
			t.Errorf("%s differs from %s: %v", a, b, err)
		}
		acting := firm.Client.For(*made.OrganizationID)
		o, err := acting.Organization(ctx)
		if err != nil || o.Name != "Acme" || o.Timezone != "Europe/Berlin" {
			t.Fatalf("%+v %v", o, err)
		}
		if err := work(t, acting); err != nil {
			t.Fatal(err)
		}
		for a, err := range acting.AuditLog(ctx, nil) {
			if err != nil || a.FirmID == nil || *a.FirmID != f.ID || a.UserID == nil || *a.UserID != firm.Owner.UserID {
				t.Fatalf("%+v %v", a, err)
			}
		}
		if v, err := acting.VerifyAuditLog(ctx, 0); err != nil || !v.Valid {
			t.Errorf("%+v %v", v, err)
		}
		if err := firm.Client.EndFirmClient(ctx, made.ID); status(t, err) != 409 || !strings.Contains(err.Error(), "owns the books") {
			t.Errorf("books that nobody owns were left: %v", err)
		}
		if again, err := firm.Client.FirmClient(ctx, made.ID); err != nil || again.Status != "active" {
			t.Errorf("%+v %v", again, err)
		}
		assertClientFaults(t, firm)
	})
}

func assertClientFaults(t *testing.T, firm *apitest.Tenant) {
	t.Helper()
	for _, one := range []struct {
		create client.CreateFirmClient
		blamed []string
	}{
		{client.CreateFirmClient{Name: "A", Email: "a@b.example"}, []string{"base_currency", "timezone"}},
		{client.CreateFirmClient{Name: " ", Email: "nobody", BaseCurrency: "ETH", Timezone: "Mars"},
			[]string{"name", "email", "base_currency", "timezone"}},
		{client.CreateFirmClient{Name: "A", Email: "a@b.example", Existing: true, BaseCurrency: "USD", Timezone: "UTC"},
			[]string{"base_currency", "timezone"}},
	} {
		before := firm.AuditCount(t)
		_, err := firm.Client.CreateFirmClient(t.Context(), one.create)
		for _, field := range one.blamed {
			if status(t, err) != 400 || !strings.Contains(err.Error(), "; "+field+" ") {
				t.Errorf("%+v: %s is not blamed: %v", one.create, field, err)
			}
		}
		if firm.AuditCount(t) != before {
			t.Error("something was stored")
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAClientSeesWhoWorksForItAndEndsThat(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		firm, own, ctx := s.Found(t, "ledger"), s.Found(t, "acme"), t.Context()
		c := own.Hire(t, firm)
		lin := join(t, firm, "lin@ledger.example", actor.Accountant)
		if err := work(t, lin.For(own.Organization.ID)); status(t, err) != 404 {
			t.Errorf("without a role: %v", err)
		}
		if _, err := lin.FirmClient(ctx, c.ID); status(t, err) != 404 {
			t.Errorf("a client without a role: %v", err)
		}
		given, err := firm.Client.SetFirmClientRole(ctx, c.ID, lin.UserID, role("preparer"))
		if err != nil || len(given.People) != 2 || given.Status != "active" || *given.OrganizationID != own.Organization.ID {
			t.Fatalf("%+v %v", given, err)
		}
		if err := work(t, lin.For(own.Organization.ID)); err != nil {
			t.Errorf("with a role: %v", err)
		}
		mine, err := lin.FirmClient(ctx, c.ID)
		if err != nil || *mine.Role != "preparer" {
			t.Errorf("%+v %v", mine, err)
		}
		seen, err := accessOf(ctx, own)
		if err != nil || len(seen) != 1 || seen[0].Status != "active" || *seen[0].FirmName != "Ledger & Partners" || len(seen[0].People) != 2 ||
			*seen[0].GrantedBy != own.Owner.UserID {
			t.Fatalf("%+v %v", seen, err)
		}
		if err := lin.For(own.Organization.ID).EndFirmAccess(ctx, c.ID); status(t, err) != 403 {
			t.Errorf("people of the firm end its access: %v", err)
		}
		for range 2 {
			if err := own.Client.EndFirmAccess(ctx, c.ID); err != nil {
				t.Fatal(err)
			}
		}
		if err := work(t, lin.For(own.Organization.ID)); status(t, err) != 404 {
			t.Errorf("after the end: %v", err)
		}
		if seen, err = accessOf(ctx, own); err != nil || seen[0].Status != "ended" || *seen[0].EndedBy != own.Owner.UserID ||
			len(seen[0].People) != 0 {
			t.Errorf("%+v %v", seen, err)
		}
		ended, err := firm.Client.FirmClient(ctx, c.ID)
		if err != nil || ended.Status != "ended" || ended.Role != nil || len(ended.People) != 0 || ended.EndedAt == nil {
			t.Errorf("%+v %v", ended, err)
		}
		if _, err := firm.Client.SetFirmClientRole(ctx, c.ID, lin.UserID, role("partner")); status(t, err) != 409 {
			t.Errorf("a role for a client that has ended: %v", err)
		}
		if err := own.Client.EndFirmAccess(ctx, apitest.UnknownID(c.ID)); status(t, err) != 404 {
			t.Errorf("access that there never was: %v", err)
		}
		if o, err := own.Client.Organization(ctx); err != nil || o.Name != "acme" {
			t.Errorf("the books are gone: %+v %v", o, err)
		}
	})
}

func TestAClientMovesToAnotherFirmAndTheFormerOneIsOut(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		first, second, own, ctx := s.Found(t, "first"), s.Found(t, "second"), s.Found(t, "acme"), t.Context()
		before := own.Hire(t, first)
		if err := work(t, first.Client.For(own.Organization.ID)); err != nil {
			t.Fatal(err)
		}
		after := own.Hire(t, second)
		if err := work(t, first.Client.For(own.Organization.ID)); status(t, err) != 404 {
			t.Errorf("the former firm: %v", err)
		}
		if err := work(t, second.Client.For(own.Organization.ID)); err != nil {
			t.Errorf("the new firm: %v", err)
		}
		seen, err := accessOf(ctx, own)
		if err != nil || len(seen) != 2 || seen[0].ID != after.ID || seen[0].Status != "active" || seen[1].ID != before.ID ||
			seen[1].Status != "ended" {
			t.Errorf("%+v %v", seen, err)
		}
		if c, err := first.Client.FirmClient(ctx, before.ID); err != nil || c.Status != "ended" {
			t.Errorf("%+v %v", c, err)
		}
	})
}

func TestWhoLeavesAFirmWorksForNoneOfItsClients(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		s.Work(t)
		firm, own, ctx := s.Found(t, "ledger"), s.Found(t, "acme"), t.Context()
		c := own.Hire(t, firm)
		lin := join(t, firm, "lin@ledger.example", actor.Accountant)
		if _, err := firm.Client.SetFirmClientRole(ctx, c.ID, lin.UserID, role("partner")); err != nil {
			t.Fatal(err)
		}
		session := own.SessionOf(t, lin.UserID)
		read := func() int {
			return s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: session,
				Header: map[string][]string{"X-Organization-Id": {own.Organization.ID}}}).Status
		}
		if got := read(); got != 200 {
			t.Fatalf("a partner in a browser: %d", got)
		}
		if err := firm.Client.RemoveMember(ctx, lin.UserID); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != 403 { // they belong to no organization any more
			t.Errorf("after leaving: %d", got)
		}
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			seen, err := accessOf(ctx, own)
			if err == nil && !slices.ContainsFunc(seen[0].People, func(p client.FirmPerson) bool { return p.UserID == lin.UserID }) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the role stays: %+v %v", seen, err)
			}
		}
	})
}

// Two nodes of a service know of the end of access within a second, and each has kept what it read of the role.
func TestAccessEndsOnEveryNode(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		here, there := apitest.StartOn(t, d), apitest.StartOn(t, d)
		firm, own := here.Found(t, "ledger"), here.Found(t, "acme")
		c := own.Hire(t, firm)
		elsewhere := firm.At(there).Client.For(own.Organization.ID)
		if err := work(t, elsewhere); err != nil {
			t.Fatal(err)
		}
		if err := own.Client.EndFirmAccess(t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
		if err := work(t, firm.Client.For(own.Organization.ID)); status(t, err) != 404 {
			t.Errorf("on the same node: %v", err)
		}
		time.Sleep(time.Second)
		if err := work(t, elsewhere); status(t, err) != 404 {
			t.Errorf("on another node after a second: %v", err)
		}
	})
}

// Firms that are hired at once: one of them works for the client in the end, and each knows whether it does.
func TestOfSeveralFirmsThatAreHiredAtOnceOneWorksForTheClient(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		own, ctx := s.Found(t, "acme"), t.Context()
		type hired struct {
			firm *apitest.Tenant
			id   string
		}
		var firms []hired
		for i := range 4 {
			f := s.Found(t, fmt.Sprintf("firm-%d", i))
			f.BecomeFirm(t)
			c, err := f.Client.CreateFirmClient(ctx, client.CreateFirmClient{Name: "Acme", Email: "a@b.example", Existing: true})
			if err != nil {
				t.Fatal(err)
			}
			firms = append(firms, hired{f, c.ID})
		}
		owner := actor.With(ctx, actor.Actor{OrganizationID: own.Organization.ID, UserID: own.Owner.UserID, Role: actor.Owner})
		var wg sync.WaitGroup
		for _, f := range firms {
			wg.Go(func() {
				_, err := s.App.Firms.Accept(owner, firm.AcceptParams{FirmOrganizationID: f.firm.Organization.ID, ClientID: f.id})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		active := 0
		for _, f := range firms {
			err := work(t, f.firm.Client.For(own.Organization.ID))
			c, failed := f.firm.Client.FirmClient(ctx, f.id)
			if failed != nil {
				t.Fatal(failed)
			}
			if works := err == nil; works != (c.Status == "active") {
				t.Errorf("the client is %s, and the firm can work for it: %v", c.Status, err)
			}
			if err == nil {
				active++
			}
		}
		if active != 1 {
			t.Errorf("%d firms work for the client", active)
		}
	})
}

// Adding a client twice with the same idempotency key makes one client with one organization.
func TestAClientIsAddedOnceByRepeatedRequests(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "ledger")
		n.BecomeFirm(t)
		send := func() apitest.Answer {
			return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/firm/clients", Key: n.Key, Header: map[string][]string{
				"Idempotency-Key": {"once"}}, Body: `{"name":"A","email":"a@b.example","base_currency":"USD","timezone":"UTC"}`})
		}
		answers := make([]apitest.Answer, 4)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = send() })
		}
		wg.Wait()
		for _, a := range answers {
			if a.Status != 201 || string(a.Body) != string(answers[0].Body) {
				t.Errorf("%d %s, %s", a.Status, a.Body, answers[0].Body)
			}
		}
		organizations, err := s.App.Org.IDs(t.Context())
		if err != nil || len(organizations) != 2 {
			t.Errorf("%d organizations: %v", len(organizations), err)
		}
	})
}
