package site_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

func TestMailAndPageOfARequestSayTheSame(t *testing.T) {
	eachAsking(t, func(s *asking) {
		made, existing := s.newClient(false), s.newClient(true)
		for _, one := range []struct {
			what      string
			client    firm.Client
			providers []string
			subject   string
			sentence  string
			list      string
		}{
			{what: "access", client: existing, subject: " asks for access to your books", sentence: " asks for access to the books of Acme at "},
			{what: "access and accounts", client: existing, providers: []string{"kraken"}, subject: " asks for access to your books",
				sentence: " asks for access to the books of Acme at ", list: "Then it asks you to connect:\n- Kraken\n"},
			{what: "owner", client: made, subject: " asks you to become the owner of your books",
				sentence: " asks you to become the owner of the books of Northwind at "},
			{what: "accounts", client: made, providers: []string{"kraken", "file"}, subject: " asks you to connect your accounts",
				sentence: " asks you to connect accounts to the books of Northwind at ", list: "It asks for:\n- Kraken\n- Files to upload: Files\n"},
		} {
			_, path := s.ask(one.client, one.providers...)
			m := s.mails[len(s.mails)-1]
			if m.Subject != "Ledger & Partners"+one.subject || !strings.HasPrefix(m.Text, "pat@ledger.example of Ledger & Partners"+one.sentence) ||
				!strings.Contains(m.Text, one.list) || !strings.Contains(m.Text, "> Hello") ||
				one.list == "" && strings.Contains(m.Text, "connect:") ||
				strings.Count(m.Text, "access to") > strings.Count(one.sentence, "access to") {
				s.Errorf("%s: %s\n%s", one.what, m.Subject, m.Text)
			}
			s.visitor().get(path).wants(one.what, 200, path, "Ledger & Partners"+one.subject, "pat@ledger.example")
		}
	})
}

func TestARequestIsSentAgainToTheAddressOfTheClientInTheNameOfWhoHasAsked(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, former := s.ask(c, "kraken")
		ben, err := s.app.Access.AddMember(s.asFirm(), "ben@ledger.example", actor.Admin)
		s.must(err)
		_, err = s.app.Firms.UpdateClient(s.asFirm(), c, c.ID, firm.UpdateClientParams{Email: new("cfo@northwind.example")})
		s.must(err)
		asBen := actor.With(s.Context(), actor.Actor{OrganizationID: s.firm.Organization.ID, UserID: ben.UserID, Role: actor.Admin})
		sent, err := s.app.FirmRequests.PrepareResend(asBen, r.ID)
		s.must(err)
		again, err := s.app.FirmRequests.Resend(asBen, r.ID, sent)
		s.must(err)
		m := s.mails[len(s.mails)-1]
		if again.Email != "cfo@northwind.example" || !slices.Equal(m.To, []string{"cfo@northwind.example"}) ||
			!strings.HasPrefix(m.Text, "pat@ledger.example of Ledger & Partners asks") || strings.Contains(m.Text, "ben@") {
			s.Errorf("%+v\n%+v", again, m)
		}
		s.visitor().get(s.linkTo("cfo@northwind.example")).wants("the page", 200, "", "pat@ledger.example")
		s.visitor().get(former).wants("the former link", 404, "", dead)
	})
}

// wantsWait checks that somebody has to wait, and for how long.
func (s *asking) wantsWait(what string, err error, want time.Duration, texts ...string) {
	s.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.RateLimited || f.RetryAfter != want {
		s.Errorf("%s: %v %+v", what, err, f)
		return
	}
	for _, text := range texts {
		if !strings.Contains(f.Message, text) {
			s.Errorf("%s: %v lacks %s", what, err, text)
		}
	}
}

func TestRequestsToAClientAreLimited(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		ask := firmrequest.CreateParams{ClientID: c.ID, Integrations: []firmrequest.AskParams{{Provider: "file"}}}
		_, err := s.app.FirmRequests.Prepare(s.asFirm(), firmrequest.CreateParams{ClientID: c.ID,
			Integrations: slices.Repeat(ask.Integrations, 21)})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || !slices.ContainsFunc(f.Fields, func(one fault.Field) bool {
			return one.Name == "integrations" && strings.Contains(one.Message, "at most 20")
		}) {
			s.Errorf("%v", err)
		}
		r, _ := s.ask(c, "file")
		for range firmrequest.MailsPerHour - 1 {
			s.resend(r.ID, finance)
		}
		_, err = s.app.FirmRequests.PrepareResend(s.asFirm(), r.ID)
		s.wantsWait("a request within an hour", err, time.Hour, r.ID, "3 times within an hour", "wait ")
		s.now.Advance(time.Hour)
		s.resend(r.ID, finance)
		for range firmrequest.MailsPerDay - firmrequest.MailsPerHour - 1 {
			r, _ = s.ask(c, "file")
		}
		_, err = s.app.FirmRequests.Prepare(s.asFirm(), ask)
		s.wantsWait("an address within a day", err, 23*time.Hour, "you have sent 20 requests to "+finance)

		// Another firm may ask the same address, until there is too much of it.
		other, err := s.app.Firms.UpdateSettings(s.asOwner(), firm.UpdateSettingsParams{FirmName: new("Abacus")})
		s.must(err)
		theirs, err := s.app.Firms.CreateClient(s.asOwner(), firm.CreateClientParams{Name: "Northwind", Email: finance, Existing: true})
		s.must(err)
		_, err = s.app.FirmRequests.Prepare(s.asOwner(), firmrequest.CreateParams{ClientID: theirs.ID})
		if err != nil {
			s.Errorf("%s: %v", other.FirmName, err)
		}
		s.must(s.app.DB.WriteAcross(s.Context(), "a test sends mail", func(ctx context.Context, tx *db.Tx) error {
			for {
				wait, err := identity.Allowance{Subject: "asked\n" + finance, Most: 100, Within: 24 * time.Hour}.Use(ctx, tx)
				if err != nil || wait > 0 {
					return err
				}
			}
		}))
		_, err = s.app.FirmRequests.Prepare(s.asOwner(), firmrequest.CreateParams{ClientID: theirs.ID})
		s.wantsWait("an address of all firms", err, 23*time.Hour, "no request can be sent to "+finance+" at present")
		for _, told := range []string{"100", "Ledger", "other"} {
			if err != nil && strings.Contains(err.Error(), told) {
				s.Errorf("%v tells %s", err, told)
			}
		}

		s.now.Advance(23 * time.Hour)
		for pending := firmrequest.MailsPerDay - firmrequest.MailsPerHour; pending < 20; pending++ {
			r, _ = s.ask(c, "file")
		}
		_, err = s.app.FirmRequests.Prepare(s.asFirm(), ask)
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "20 requests that are pending") {
			s.Errorf("%v", err)
		}
		_, err = s.app.FirmRequests.Cancel(s.asFirm(), r.ID)
		s.must(err)
		s.ask(c, "file")
	})
}

func TestWhoeverHasALinkTriesNoMoreThanSomeTimesAnHour(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		_, path := s.ask(c, "file", "kraken")
		p := firmrequest.UploadParams{Visitor: firmrequest.Visitor{Link: secret.New(strings.TrimPrefix(path, "/requests/"))},
			SourceName: "Bank", SourceType: source.Bank, FileName: "x.png"}
		for n := range 60 {
			p.File = strings.NewReader("\x89PNG\r\n\x1a\n\x00\x00")
			if _, _, err := s.app.FirmRequests.Upload(s.Context(), p); fault.KindOf(err) != fault.Invalid {
				s.Fatalf("%d: %v", n, err)
			}
		}
		v := s.visitor()
		a := v.uploads(path+"/0/file", "x.csv", statement, "source_name", "Bank", "source_type", "bank").wants("a file", 429, "", "60 times")
		if a.header.Get("Retry-After") != "3600" {
			s.Errorf("%v", a.header)
		}
		v.get(path+"/1").submit(path+"/1", "field_api_key", "x", "field_api_secret", "c2VjcmV0").wants("a key", 429, "", "60 times")
		s.now.Advance(time.Hour)
		v.uploads(path+"/0/file", "x.csv", statement, "source_name", "Bank", "source_type", "bank").wants("later", 200, path, "Uploaded")
	})
}

func TestRequestsAreFoundByStatusAndClient(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c, existing := s.newClient(false), s.newClient(true)
		old, _ := s.ask(c, "file")
		cancelled, _ := s.ask(c, "file")
		_, err := s.app.FirmRequests.Cancel(s.asFirm(), cancelled.ID)
		s.must(err)
		s.now.Advance(firmrequest.Lifetime)
		completed, path := s.ask(c, "file")
		s.visitor().get(path).submit(path+"/done").wants("done", 200, "", "Thank you")
		pending, _ := s.ask(c, "file")
		elsewhere, _ := s.ask(existing)
		check := func(what string, as context.Context, f firmrequest.Filter, want ...string) {
			s.Helper()
			got := []string{}
			for request := (page.Request{Limit: 1}); ; {
				found, err := s.app.FirmRequests.List(as, f, request)
				s.must(err)
				for _, r := range found.Items {
					got = append(got, r.ID)
				}
				if !found.HasMore {
					break
				}
				request.Cursor = found.NextCursor
			}
			if !slices.Equal(got, want) {
				s.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		f := func(status firmrequest.Status) firmrequest.Filter { return firmrequest.Filter{Status: status} }
		check("pending", s.asFirm(), f(firmrequest.Pending), elsewhere.ID, pending.ID)
		check("expired, as it is stored", s.asFirm(), f(firmrequest.Expired), old.ID)
		s.must(s.app.FirmRequests.Sweep(s.Context()))
		check("expired", s.asFirm(), f(firmrequest.Expired), old.ID)
		check("cancelled", s.asFirm(), f(firmrequest.Cancelled), cancelled.ID)
		check("completed", s.asFirm(), f(firmrequest.Completed), completed.ID)
		check("of a client", s.asFirm(), firmrequest.Filter{ClientID: existing.ID}, elsewhere.ID)
		check("of a client and pending", s.asFirm(), firmrequest.Filter{ClientID: c.ID, Status: firmrequest.Pending}, pending.ID)

		ben, err := s.app.Access.AddMember(s.asFirm(), "ben@ledger.example", actor.Accountant)
		s.must(err)
		asBen := actor.With(s.Context(), actor.Actor{OrganizationID: s.firm.Organization.ID, UserID: ben.UserID, Role: actor.Accountant})
		check("without a role", asBen, firmrequest.Filter{})
		_, err = s.app.Firms.SetRole(s.asFirm(), c.ID, ben.UserID, actor.Preparer)
		s.must(err)
		check("with a role", asBen, firmrequest.Filter{}, pending.ID, completed.ID, cancelled.ID, old.ID)

		count := func() (n int64) {
			s.must(s.app.DB.ReadAcross(s.Context(), "a test counts", func(ctx context.Context, tx *db.Tx) error {
				found, err := firmrequest.CountPending(ctx, tx, s.firm.Organization.ID, []string{c.ID})
				n = found[c.ID]
				return err
			}))
			return n
		}
		if n := count(); n != 1 {
			s.Errorf("%d pending requests", n)
		}
		s.now.Advance(firmrequest.Lifetime)
		if n := count(); n != 0 {
			s.Errorf("%d pending requests after they have expired", n)
		}
	})
}
