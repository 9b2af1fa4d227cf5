package team_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

func (w *world) lastMail() mail.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mails[len(w.mails)-1]
}

func TestTheMessageOfAnInvitationReadsNaturally(t *testing.T) {
	each(t, func(w *world) {
		i, _ := w.invite(grace, actor.Viewer)
		m := w.lastMail()
		if want := ada + " invited you to the books of Acme as viewer, at https://books.acme.example\n"; !strings.HasPrefix(m.Text, want) ||
			m.Subject != ada+" invited you to the books of Acme" || !m.ExpiresAt.Equal(i.ExpiresAt) {
			w.Errorf("%q %s: %s", m.Subject, m.ExpiresAt, m.Text)
		}
		w.must(w.people.ChangeName(w.Context(), w.made.Owner.UserID, " Ada Lovelace ", home))
		w.invite("lin@acme.example", actor.Accountant)
		m = w.lastMail()
		if want := "Ada Lovelace (" + ada + ") invited you to the books of Acme as accountant"; !strings.HasPrefix(m.Text, want) ||
			m.Subject != "Ada Lovelace invited you to the books of Acme" {
			w.Errorf("%q: %s", m.Subject, m.Text)
		}
	})
}

func TestAnInvitationIsNotMailedMoreOftenThanThreeTimesAnHour(t *testing.T) {
	each(t, func(w *world) {
		i, _ := w.invite(grace, actor.Viewer)
		w.now.Advance(20 * time.Minute)
		var sent, refused atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				switch _, err := w.Resend(w.owner(), i.ID); fault.KindOf(err) {
				case fault.RateLimited:
					refused.Add(1)
				default:
					sent.Add(1)
					w.must(err)
				}
			})
		}
		all.Wait()
		if sent.Load() != team.MailsPerHour-1 || refused.Load() != 18 || len(w.mails) != team.MailsPerHour {
			w.Errorf("%d were sent again, %d refused, and there are %d messages", sent.Load(), refused.Load(), len(w.mails))
		}
		_, err := w.Resend(w.owner(), i.ID)
		w.want(err, fault.RateLimited, "sent 3 times within an hour", "wait 40 minutes")
		w.now.Advance(40 * time.Minute)
		_, err = w.Resend(w.owner(), i.ID)
		w.must(err)
		former := w.link(grace)
		_, err = w.Resend(w.owner(), i.ID)
		w.must(err)
		if _, err := w.Find(w.Context(), w.link(grace)); err != nil {
			w.Errorf("the last link must work: %v", err)
		}
		if _, err := w.Find(w.Context(), former); err == nil {
			w.Error("the link before it works")
		}
	})
}

func TestAnAddressGetsTwentyInvitationsADayAtMostFromAllOrganizations(t *testing.T) {
	each(t, func(w *world) {
		for n := range team.MailsPerDay {
			made := w.found(fmt.Sprint("Other ", n), fmt.Sprintf("owner%d@other.example", n))
			who := actor.Actor{OrganizationID: made.Organization.ID, UserID: made.Owner.UserID, Role: actor.Owner, SessionID: "ses_1"}
			_, err := w.Invite(actor.With(w.Context(), who), team.InviteParams{Email: strings.ToUpper(grace), Role: actor.Viewer})
			w.must(err)
		}
		invite := func(email string) error {
			_, err := w.Invite(w.owner(), team.InviteParams{Email: email, Role: actor.Viewer})
			return err
		}
		w.want(invite(grace), fault.RateLimited, "20 invitations were sent to "+grace+" within a day", "wait 24 hours")
		w.must(invite("lin@acme.example"))
		w.now.Advance(24 * time.Hour)
		w.must(invite(grace))
	})
}

func TestThePersonWhoAcceptsChoosesANameInOneLine(t *testing.T) {
	each(t, func(w *world) {
		_, link := w.invite(grace, actor.Viewer)
		for _, name := range []string{"Grace\nHopper", "\x1b[31mGrace", strings.Repeat("x", 101)} {
			_, err := w.Accept(w.Context(), team.AcceptParams{Link: link, Name: name, Password: secret.New(good), Origin: home})
			w.want(err, fault.Invalid, "name must ")
			w.want(w.people.ChangeName(w.Context(), w.made.Owner.UserID, name, home), fault.Invalid, "name must ")
		}
		_, err := w.Accept(w.Context(), team.AcceptParams{Link: link, Name: "Grace Hopper", Password: secret.New(good), Origin: home})
		w.must(err)
	})
}

func TestAChangedNameIsThatOfTheMember(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.people.ChangeName(w.Context(), w.made.Owner.UserID, "Ada", home))
		w.must(w.people.ChangeName(w.Context(), w.made.Owner.UserID, "Ada", home)) // changes nothing
		if got := w.members()[ada].Name; got != "Ada" {
			w.Errorf("the name is %q", got)
		}
		if got := strings.Join(w.actions()[:2], " "); got != "member.updated user.name_changed" {
			w.Errorf("recorded: %s", got)
		}
		w.must(w.people.ChangeName(w.Context(), w.made.Owner.UserID, "", home))
		if got := w.members()[ada].Name; got != "" {
			w.Errorf("the name is %q", got)
		}
	})
}
