package site_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/team"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

const lanterns = "seven lanterns drift"

// resend sends a request again and returns the path of its link.
func (s *asking) resend(id, to string) string {
	s.Helper()
	sent, err := s.app.FirmRequests.PrepareResend(s.asFirm(), id)
	s.must(err)
	_, err = s.app.FirmRequests.Resend(s.asFirm(), id, sent)
	s.must(err)
	return s.linkTo(to)
}

func TestNobodyBecomesTheOwnerByARequestThatHasEnded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *asking, c firm.Client, r firmrequest.Request){
		"cancelled": func(s *asking, _ firm.Client, r firmrequest.Request) {
			_, err := s.app.FirmRequests.Cancel(s.asFirm(), r.ID)
			s.must(err)
		},
		"expired": func(s *asking, _ firm.Client, _ firmrequest.Request) { s.now.Advance(firmrequest.Lifetime) },
		"sent to another address": func(s *asking, c firm.Client, r firmrequest.Request) {
			_, err := s.app.Firms.UpdateClient(s.asFirm(), c, c.ID, firm.UpdateClientParams{Email: new("cfo@northwind.example")})
			s.must(err)
			s.resend(r.ID, "cfo@northwind.example")
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachAsking(t, func(s *asking) {
				c := s.newClient(false)
				r, path := s.ask(c, "kraken")
				form := s.visitor().get(path+"/own").wants("the form", 200, path+"/own", finance)
				end(s, c, r)
				form.submit("", "name", "Mallory", "password", lanterns, "again", lanterns).wants("too late", 404, "", dead)
				if members := s.members(c.OrganizationID); len(members) != 0 {
					s.Errorf("%+v", members)
				}
			})
		})
	}
}

// endsMeanwhile runs a function that waits for the books of a client while a request ends.
func (s *asking) endsMeanwhile(organizationID, requestID string, run func() error) error {
	s.Helper()
	done := make(chan error, 1)
	s.must(s.app.DB.Write(s.Context(), organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		go func() { done <- run() }()
		time.Sleep(500 * time.Millisecond) // it has found the link, and waits
		return identity.DeleteInvitationLinks(ctx, tx, requestID)
	}))
	return <-done
}

func TestWhatARequestAllowsIsNotStoredIfItEndsMeanwhile(t *testing.T) {
	eachAsking(t, func(s *asking) {
		link := func(path string) secret.Text { return secret.New(strings.TrimPrefix(path, "/requests/")) }
		c := s.newClient(false)
		r, path := s.ask(c, "file")
		err := s.endsMeanwhile(c.OrganizationID, r.ID, func() error {
			_, _, err := s.app.FirmRequests.BecomeOwner(s.Context(), link(path), team.AcceptParams{Name: "Mallory", Password: secret.New(lanterns)})
			return err
		})
		if members := s.members(c.OrganizationID); fault.KindOf(err) != fault.NotFound || len(members) != 0 {
			s.Errorf("%v %+v", err, members)
		}
		r, path = s.ask(c, "file")
		err = s.endsMeanwhile(c.OrganizationID, r.ID, func() error {
			_, _, err := s.app.FirmRequests.Upload(s.Context(), firmrequest.UploadParams{Visitor: firmrequest.Visitor{Link: link(path)},
				SourceName: "Bank", SourceType: source.Bank, FileName: "x.csv", File: strings.NewReader(statement)})
			return err
		})
		if left := s.sources(c.OrganizationID); fault.KindOf(err) != fault.NotFound || len(left) != 0 {
			s.Errorf("%v %+v", err, left)
		}
		existing := s.newClient(true)
		r, path = s.ask(existing)
		err = s.endsMeanwhile(s.made.Organization.ID, r.ID, func() error {
			_, err := s.app.FirmRequests.Grant(s.Context(), firmrequest.Visitor{Link: link(path)}, actor.From(s.asOwner()))
			return err
		})
		list := s.access()
		if fault.KindOf(err) != fault.NotFound || len(list) != 0 {
			s.Errorf("%v %+v", err, list)
		}
	})
}

func TestOnePageOfTwoBeginsASetup(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, path := s.ask(c, "plaid")
		p := firmrequest.ConnectParams{Visitor: firmrequest.Visitor{Link: secret.New(strings.TrimPrefix(path, "/requests/"))}}
		done := make(chan error, 2)
		begin := func() {
			_, _, err := s.app.FirmRequests.Connect(s.Context(), p)
			done <- err
		}
		s.must(s.app.DB.Write(s.Context(), c.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := orgstate.Lock(ctx, tx); err != nil {
				return err
			}
			go begin()
			go begin()
			time.Sleep(500 * time.Millisecond) // both have found that nothing was begun, and wait
			return nil
		}))
		first, second := <-done, <-done
		if first == nil {
			first, second = second, first
		}
		if fault.KindOf(first) != fault.Conflict || !strings.Contains(first.Error(), "another page") || second != nil {
			s.Errorf("%v, %v", first, second)
		}
		kept := 0
		for _, made := range s.connections(c.OrganizationID) {
			if made.Status == connection.PendingSetup {
				kept++
				if got := s.request(r.ID).Integrations[0]; got.ConnectionID != made.ID {
					s.Errorf("%+v", got)
				}
			}
		}
		if kept != 1 {
			s.Errorf("%d setups", kept)
		}
	})
}

func TestARequestIsDoneWithoutAnAccountAndWithoutASetupThatIsNotFinished(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, path := s.ask(c, "quickbooks")
		p := s.visitor()
		p.get(path+"/0").submit(path+"/0").wants("begun", 200, path+"/0", "Go on at QuickBooks Online")
		p.get(path).submit(path+"/done").wants("done", 200, "", "Thank you, that is all")
		if got := s.request(r.ID); got.Status != firmrequest.Completed || got.EndedBy != firmrequest.ByClient {
			s.Errorf("%+v", got)
		}
		if made := s.connections(c.OrganizationID); len(made) != 1 || made[0].Status != connection.Disconnected {
			s.Errorf("%+v", made)
		}
		_, path = s.ask(c)
		p.send("POST", path+"/done", nil).wants("no owner", 409, path, "Nobody owns the books yet")
	})
}

func TestARequestForAccessOrAnOwnerOnlyIsCompletedHoweverThatCame(t *testing.T) {
	eachAsking(t, func(s *asking) {
		existing := s.newClient(true)
		access, _ := s.ask(existing)
		_, err := s.app.Firms.Accept(s.asOwner(), firm.AcceptParams{FirmOrganizationID: s.firm.Organization.ID, ClientID: existing.ID})
		s.must(err)
		if got := s.request(access.ID); got.Status != firmrequest.Completed || got.EndedBy != firmrequest.ByClient {
			s.Errorf("%+v", got)
		}
		c := s.newClient(false)
		owner, _ := s.ask(c)
		_, err = s.app.Access.AddMember(s.asClient(c.OrganizationID), finance, actor.Owner)
		s.must(err)
		other, err := s.app.Firms.CreateClient(s.asFirm(), firm.CreateClientParams{Name: "Globex", Email: finance, BaseCurrency: "USD",
			Timezone: "UTC"})
		s.must(err)
		none, _ := s.ask(other)
		s.now.Advance(firmrequest.Lifetime)
		s.must(s.app.FirmRequests.Sweep(s.Context()))
		if got := s.request(owner.ID); got.Status != firmrequest.Completed || got.EndedBy != firmrequest.ByClient {
			s.Errorf("%+v", got)
		}
		if got := s.request(none.ID); got.Status != firmrequest.Expired || got.EndedAt == nil {
			s.Errorf("%+v", got)
		}
	})
}

func TestOneOfTwoLinksOfTheSameMillisecondWorks(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		for _, reversed := range []bool{false, true} {
			r, _ := s.ask(c, "kraken")
			first, err := s.app.FirmRequests.PrepareResend(s.asFirm(), r.ID)
			s.must(err)
			paths := []string{s.linkTo(finance)}
			second, err := s.app.FirmRequests.PrepareResend(s.asFirm(), r.ID)
			s.must(err)
			paths = append(paths, s.linkTo(finance))
			if reversed {
				first, second = second, first
			}
			for _, sent := range []*firmrequest.Sent{first, second} {
				_, err := s.app.FirmRequests.Resend(s.asFirm(), r.ID, sent)
				s.must(err)
			}
			working := 0
			for _, path := range paths {
				if s.visitor().get(path).status == 200 {
					working++
				}
			}
			if working != 1 {
				s.Errorf("%d links work", working)
			}
		}
	})
}

func TestARequestThatCannotBeReadKeepsNoOtherFromExpiring(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		broken, _ := s.ask(c, "kraken")
		r, _ := s.ask(c, "kraken")
		s.must(s.app.DB.WriteAcross(s.Context(), "a test damages a request", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE firm_requests SET integrations = 'x' WHERE firm_request_id = ?", broken.ID)
			return err
		}))
		s.now.Advance(firmrequest.Lifetime)
		if err := s.app.FirmRequests.Sweep(s.Context()); err == nil || !strings.Contains(err.Error(), broken.ID) {
			s.Errorf("%v", err)
		}
		if got := s.request(r.ID); got.Status != firmrequest.Expired || got.EndedAt == nil {
			s.Errorf("%+v", got)
		}
	})
}

func TestTheAuditLogOfAClientSaysWhoHasUsedALink(t *testing.T) {
	eachAsking(t, func(s *asking) {
		s.must(s.app.Identity.SetPassword(s.Context(), s.firm.Owner.UserID, secret.New(good), identity.Origin{}))
		f, err := s.app.Firms.GetSettings(s.asFirm())
		s.must(err)
		c := s.newClient(false)
		_, path := s.ask(c, "file", "file", "file")
		ofFirm, ofClient, nobody := s.visitor(), s.visitor(), s.visitor()
		ofFirm.signIn(path, "pat@ledger.example", good)
		ofClient.get(path+"/own").submit("", "name", "Nora", "password", lanterns, "again", lanterns).wants("joined", 200, path, "Files")
		userID := s.members(c.OrganizationID)[0].UserID
		for position, one := range []struct {
			who          *person
			user, firmID string
		}{{nobody, "", ""}, {ofClient, userID, ""}, {ofFirm, s.firm.Owner.UserID, f.ID}} {
			name := "Bank " + string(rune('A'+position))
			one.who.uploads(path+"/"+string(rune('0'+position))+"/file", "x.csv", statement, "source_name", name, "source_type", "bank").
				wants(name, 200, "", "Ledger")
			for _, made := range s.sources(c.OrganizationID) {
				if made.Name != name {
					continue
				}
				log, err := s.app.Audit.List(s.asClient(c.OrganizationID), audit.Filter{ResourceID: made.ID}, page.Request{Limit: 10})
				s.must(err)
				for _, l := range log.Items {
					if l.UserID != one.user || l.FirmID != one.firmID {
						s.Errorf("%s: %+v", name, l)
					}
				}
				if len(log.Items) < 2 {
					s.Errorf("%s: %+v", name, log.Items)
				}
			}
		}
	})
}
