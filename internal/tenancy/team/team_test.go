package team_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

// world is an organization whose owner is ada@acme.example.
type world struct {
	*testing.T
	*team.Service
	people *identity.Service
	access *access.Service
	db     *db.DB
	now    *clock.Manual
	made   organization.Created

	mu    sync.Mutex
	mails []mail.Message
}

const ada, grace, good = "ada@acme.example", "grace@acme.example", "correct violin harvest 42"

var home = identity.Origin{Address: "198.51.100.7", Network: "198.51.100.7", UserAgent: "Firefox", RequestID: "req_1"}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		w := &world{T: t, now: clock.NewManual(time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC))}
		c.Clock = w.now
		w.db = dbtest.Open(t, c)
		w.made = w.found("Acme", ada)
		w.people = identity.NewService(w.db, identity.Config{Secrets: seal.Temporary(), PublicURL: "https://books.acme.example"})
		w.access, w.Service = access.NewService(w.db), team.NewService(w.db, w.people)
		w.Send = func(_ context.Context, tx *db.Tx, m mail.Message) error {
			tx.AfterCommit(func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.mails = append(w.mails, m)
			})
			return nil
		}
		test(w)
		w.verify(w.made.Organization.ID)
	})
}

func (w *world) found(name, email string) organization.Created {
	w.Helper()
	made, err := organization.NewService(w.db).Create(w.Context(), organization.CreateParams{Name: name, Email: email, Currency: "USD",
		Timezone: "UTC"})
	w.must(err)
	return made
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) want(err error, kind fault.Kind, texts ...string) {
	w.Helper()
	if fault.KindOf(err) != kind {
		w.Errorf("%v is %v, want %v", err, fault.KindOf(err), kind)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			w.Errorf("%q does not say %q", err, text)
		}
	}
}

// verify compares the audit log with what is stored.
func (w *world) verify(org string) {
	w.Helper()
	err := w.db.Read(w.Context(), org, func(ctx context.Context, tx *db.Tx) error {
		findings, err := audit.VerifySince(ctx, tx, 0, nil)
		for _, f := range findings {
			w.Error(f)
		}
		return err
	})
	w.must(err)
}

// as returns a context in which a member acts.
func (w *world) as(userID string, role actor.Role) context.Context {
	return actor.With(w.Context(), actor.Actor{OrganizationID: w.made.Organization.ID, UserID: userID, Role: role, SessionID: "ses_1",
		Scopes: actor.Scopes})
}

func (w *world) owner() context.Context { return w.as(w.made.Owner.UserID, actor.Owner) }

// member adds a member and returns a context in which they act.
func (w *world) member(email string, role actor.Role) context.Context {
	w.Helper()
	m, err := w.access.AddMember(actor.With(w.Context(), actor.Actor{OrganizationID: w.made.Organization.ID}), email, role)
	w.must(err)
	return w.as(m.UserID, role)
}

var linkText = regexp.MustCompile(`https://books\.acme\.example/invitations/(bul_[0-9A-Za-z]{43})\n`)

// link returns the link in the last message.
func (w *world) link(to string) secret.Text {
	w.Helper()
	if len(w.mails) == 0 || w.mails[len(w.mails)-1].To[0] != to {
		w.Fatalf("the messages are %v", w.mails)
	}
	found := linkText.FindStringSubmatch(w.mails[len(w.mails)-1].Text)
	if found == nil {
		w.Fatalf("no link in %s", w.mails[len(w.mails)-1].Text)
	}
	return secret.New(found[1])
}

// invite invites somebody and returns the link.
func (w *world) invite(email string, role actor.Role) (team.Invitation, secret.Text) {
	w.Helper()
	i, err := w.Invite(w.owner(), team.InviteParams{Email: email, Role: role})
	w.must(err)
	return i, w.link(i.Email)
}

func (w *world) members() map[string]access.Member {
	w.Helper()
	all, err := w.access.Members(w.owner(), page.Request{Limit: 100})
	w.must(err)
	out := map[string]access.Member{}
	for _, m := range all.Items {
		out[m.Email] = m
	}
	return out
}

// actions returns the actions in the audit log, the newest first.
func (w *world) actions() []string {
	w.Helper()
	all, err := audit.NewService(w.db).List(w.owner(), audit.Filter{}, page.Request{Limit: 100})
	w.must(err)
	var out []string
	for _, r := range all.Items {
		out = append(out, r.Action)
	}
	return out
}

func TestSomebodyNewAcceptsAnInvitationWithAPassword(t *testing.T) {
	each(t, func(w *world) {
		i, err := w.Invite(w.owner(), team.InviteParams{Email: " Grace@Acme.example", Role: actor.Accountant,
			LegalEntityIDs: []string{w.made.LegalEntity.ID}})
		w.must(err)
		link := w.link(grace)
		if text := w.mails[0].Text; !strings.Contains(text, ada) || !strings.Contains(text, "Acme") || !strings.Contains(text, "accountant") {
			w.Errorf("the message is %s", text)
		}
		f, err := w.Find(w.Context(), link)
		w.must(err)
		if f.ID != i.ID || f.OrganizationName != "Acme" || f.Inviter != ada || f.HasAccount || f.Role != actor.Accountant {
			w.Errorf("found %+v", f)
		}
		for name, p := range map[string]team.AcceptParams{
			"short":    {Password: secret.New("short")},
			"the name": {Name: "Grace Hopper Murray", Password: secret.New("grace hopper murray")},
			"too long": {Name: strings.Repeat("é", 101), Password: secret.New(good)},
			"lines":    {Name: "Grace\nHopper", Password: secret.New(good)},
		} {
			p.Link, p.Origin = link, home
			if _, err := w.Accept(w.Context(), p); fault.KindOf(err) != fault.Invalid {
				w.Errorf("%s: %v", name, err)
			}
		}
		in, err := w.Accept(w.Context(), team.AcceptParams{Link: link, Name: " Grace Hopper ", Password: secret.New(good), Origin: home})
		w.must(err)
		one, orgs, err := w.people.Authenticate(w.Context(), in.Text)
		w.must(err)
		if one.UserID != in.Person.UserID || len(orgs) != 1 || orgs[0].Role != actor.Accountant || len(orgs[0].LegalEntityIDs) != 1 {
			w.Errorf("the session is %+v in %+v", one, orgs)
		}
		if m := w.members()[grace]; m.Name != "Grace Hopper" || m.Role != actor.Accountant || m.LegalEntityIDs[0] != w.made.LegalEntity.ID {
			w.Errorf("the member is %+v", m)
		}
		if _, err := w.people.SignIn(w.Context(), identity.SignInParams{Email: grace, Password: secret.New(good), Origin: home}); err != nil {
			w.Error(err)
		}
		_, err = w.Find(w.Context(), link)
		w.want(err, fault.NotFound)
		_, err = w.Accept(w.Context(), team.AcceptParams{Link: link, Password: secret.New(good), Origin: home})
		w.want(err, fault.NotFound)
		listed, err := w.List(w.owner(), page.Request{Limit: 10})
		w.must(err)
		if len(listed.Items) != 1 || listed.Items[0].Status != team.Accepted || listed.Items[0].InvitedBy != w.made.Owner.UserID {
			w.Errorf("the list is %+v", listed.Items)
		}
		if got := strings.Join(w.actions(), " "); !strings.Contains(got, "invitation.accepted member.added invitation.created") {
			w.Errorf("the log has %s", got)
		}
	})
}

func TestSomebodyWhoWasAddedWithoutANameHasTheOneTheyEnterWhenTheyJoin(t *testing.T) {
	each(t, func(w *world) {
		_, err := w.Invite(w.owner(), team.InviteParams{Email: grace, Role: actor.Viewer})
		w.must(err)
		link := w.link(grace)
		w.must(w.db.WriteAcross(w.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
			_, err := access.EnsureUser(ctx, tx, grace, "")
			return err
		}))
		_, err = w.Accept(w.Context(), team.AcceptParams{Link: link, Name: "Grace Hopper", Password: secret.New(good), Origin: home})
		w.must(err)
		if m := w.members()[grace]; m.Name != "Grace Hopper" {
			w.Errorf("the member is %+v", m)
		}
	})
}

func TestTwentyPeopleWhoAcceptAnInvitationAtOnceBecomeOneMember(t *testing.T) {
	each(t, func(w *world) {
		_, link := w.invite(grace, actor.Viewer)
		var wg sync.WaitGroup
		errs := make([]error, 20)
		for n := range errs {
			wg.Go(func() {
				_, errs[n] = w.Accept(w.Context(), team.AcceptParams{Link: link, Password: secret.New(fmt.Sprint(good, n)), Origin: home})
			})
		}
		wg.Wait()
		var joined []int
		for n, err := range errs {
			switch fault.KindOf(err) {
			case fault.NotFound, fault.Unavailable: // the link was used, or too many passwords were being hashed
			default:
				if joined = append(joined, n); err != nil {
					w.Errorf("%v", err)
				}
			}
		}
		if len(joined) != 1 {
			w.Fatalf("%d accepted", len(joined))
		}
		_, err := w.people.SignIn(w.Context(), identity.SignInParams{Email: grace, Password: secret.New(fmt.Sprint(good, joined[0])),
			Origin: home})
		w.must(err)
		if len(w.members()) != 2 {
			w.Errorf("the members are %v", w.members())
		}
	})
}

func TestSomebodyWithAnAccountMustBeSignedInWithTheAddressThatWasInvited(t *testing.T) {
	each(t, func(w *world) {
		other := w.found("Other", grace)
		w.must(w.people.SetPassword(w.Context(), other.Owner.UserID, secret.New(good), home))
		_, link := w.invite(grace, actor.Admin)
		f, err := w.Find(w.Context(), link)
		w.must(err)
		if !f.HasAccount {
			w.Error("the account was not found")
		}
		_, err = w.Accept(w.Context(), team.AcceptParams{Link: link, Password: secret.New("another violin 4242"), Origin: home})
		w.want(err, fault.Forbidden, grace)
		w.must(w.people.SetPassword(w.Context(), w.made.Owner.UserID, secret.New(good), home))
		signedIn := func(email string) *identity.Session {
			in, err := w.people.SignIn(w.Context(), identity.SignInParams{Email: email, Password: secret.New(good), Origin: home})
			w.must(err)
			return &in.Session
		}
		_, err = w.Accept(w.Context(), team.AcceptParams{Link: link, Session: signedIn(ada), Origin: home})
		w.want(err, fault.Forbidden, grace, ada)
		one := signedIn(grace)
		in, err := w.Accept(w.Context(), team.AcceptParams{Link: link, Session: one, Origin: home})
		w.must(err)
		if in.Session.OrganizationID != w.made.Organization.ID || in.Session.ID != one.ID || !in.Text.IsZero() {
			w.Errorf("the session is %+v", in.Session)
		}
		if m := w.members()[grace]; m.UserID != other.Owner.UserID || m.Role != actor.Admin {
			w.Errorf("the member is %+v", m)
		}
		w.verify(other.Organization.ID)
	})
}

func TestALinkOfAnInvitationThatWasRevokedExpiredOrSentAgainDoesNotWork(t *testing.T) {
	each(t, func(w *world) {
		fails := func(link secret.Text) {
			w.Helper()
			_, err := w.Find(w.Context(), link)
			w.want(err, fault.NotFound)
			_, err = w.Accept(w.Context(), team.AcceptParams{Link: link, Password: secret.New(good), Origin: home})
			w.want(err, fault.NotFound)
		}
		i, former := w.invite(grace, actor.Viewer)
		w.now.Advance(time.Hour)
		again, err := w.Resend(w.owner(), i.ID)
		w.must(err)
		if !again.ExpiresAt.Equal(w.now.Now().Add(team.Lifetime)) {
			w.Errorf("it expires at %s", again.ExpiresAt)
		}
		fails(former)
		link := w.link(grace)
		w.now.Advance(team.Lifetime)
		fails(link)
		listed, err := w.List(w.owner(), page.Request{Limit: 10})
		w.must(err)
		if listed.Items[0].Status != team.Expired {
			w.Errorf("it is %s", listed.Items[0].Status)
		}
		_, err = w.Resend(w.owner(), i.ID) // an invitation that has expired can be sent again
		w.must(err)
		link = w.link(grace)
		_, err = w.Revoke(w.owner(), i.ID)
		w.must(err)
		fails(link)
		before := len(w.actions())
		_, err = w.Revoke(w.owner(), i.ID) // revoking twice changes nothing
		w.must(err)
		if len(w.actions()) != before {
			w.Error("revoking twice was recorded twice")
		}
		_, err = w.Resend(w.owner(), i.ID)
		w.want(err, fault.Conflict, "revoked")
		fails(secret.New("bul_" + strings.Repeat("0", 43)))
		fails(secret.New(""))
	})
}

func TestAnInvitationThatHasExpiredGivesWayToANewOne(t *testing.T) {
	each(t, func(w *world) {
		old, former := w.invite(grace, actor.Viewer)
		w.now.Advance(team.Lifetime)
		_, link := w.invite(grace, actor.Accountant)
		_, err := w.Find(w.Context(), former)
		w.want(err, fault.NotFound)
		_, err = w.Resend(w.owner(), old.ID)
		w.want(err, fault.Conflict, "expired")
		_, err = w.Accept(w.Context(), team.AcceptParams{Link: link, Password: secret.New(good), Origin: home})
		w.must(err)
	})
}

func TestNobodyIsInvitedTwiceOrAsAMember(t *testing.T) {
	each(t, func(w *world) {
		i, _ := w.invite(grace, actor.Viewer)
		_, err := w.Invite(w.owner(), team.InviteParams{Email: "GRACE@acme.example", Role: actor.Admin})
		w.want(err, fault.Conflict, grace, i.ID)
		_, err = w.Invite(w.owner(), team.InviteParams{Email: ada, Role: actor.Admin})
		w.want(err, fault.Conflict, "member already")
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for n := range errs {
			wg.Go(func() {
				_, errs[n] = w.Invite(w.owner(), team.InviteParams{Email: "mary@acme.example", Role: actor.Viewer})
			})
		}
		wg.Wait()
		invited := 0
		for _, err := range errs {
			if err == nil {
				invited++
			} else {
				w.want(err, fault.Conflict)
			}
		}
		if invited != 1 {
			w.Errorf("%d invitations were made", invited)
		}
	})
}

func TestOnlyAnOwnerInvitesAnOwner(t *testing.T) {
	each(t, func(w *world) {
		admin, viewer := w.member("admin@acme.example", actor.Admin), w.member("viewer@acme.example", actor.Viewer)
		_, err := w.Invite(admin, team.InviteParams{Email: grace, Role: actor.Owner})
		w.want(err, fault.Forbidden, "only an owner")
		_, err = w.Invite(viewer, team.InviteParams{Email: grace, Role: actor.Viewer})
		w.want(err, fault.Forbidden)
		i, _ := w.invite(grace, actor.Owner)
		_, err = w.Resend(admin, i.ID)
		w.want(err, fault.Forbidden)
		_, err = w.Revoke(admin, i.ID)
		w.want(err, fault.Forbidden)
		_, err = w.Invite(admin, team.InviteParams{Email: "mary@acme.example", Role: actor.Admin})
		w.must(err)
		// Somebody who was removed since the request was authenticated invites nobody.
		_, _, err = w.access.RemoveMember(w.owner(), actor.From(admin).UserID)
		w.must(err)
		_, err = w.Invite(admin, team.InviteParams{Email: "jean@acme.example", Role: actor.Viewer})
		w.want(err, fault.Forbidden, "no longer a member")
		_, link, err := w.InviteWithLink(actor.With(w.Context(), actor.Actor{OrganizationID: w.made.Organization.ID}),
			team.InviteParams{Email: "jean@acme.example", Role: actor.Owner}) // the operator
		w.must(err)
		if !strings.HasPrefix(link.Reveal(), "https://books.acme.example/invitations/bul_") {
			w.Errorf("the link is %s", link.Reveal())
		}
	})
}

func TestAnInvitationIsWorthAsMuchAsTheRightsOfWhoHasMadeIt(t *testing.T) {
	each(t, func(w *world) {
		demoted, removed := w.member("demoted@acme.example", actor.Owner), w.member("removed@acme.example", actor.Admin)
		limited := w.member("limited@acme.example", actor.Admin)
		_, byLimited, err := w.InviteWithLink(limited, team.InviteParams{Email: "rob@acme.example", Role: actor.Admin})
		w.must(err)
		_, err = w.access.UpdateMember(w.owner(), actor.From(limited).UserID, access.UpdateMemberParams{
			LegalEntityIDs: &[]string{w.made.LegalEntity.ID}})
		w.must(err)
		_, byDemoted, err := w.InviteWithLink(demoted, team.InviteParams{Email: grace, Role: actor.Owner})
		w.must(err)
		_, byRemoved, err := w.InviteWithLink(removed, team.InviteParams{Email: "mary@acme.example", Role: actor.Viewer})
		w.must(err)
		_, err = w.access.UpdateMember(w.owner(), actor.From(demoted).UserID, access.UpdateMemberParams{Role: new(actor.Admin)})
		w.must(err)
		_, _, err = w.access.RemoveMember(w.owner(), actor.From(removed).UserID)
		w.must(err)
		for _, link := range []secret.Text{byDemoted, byRemoved, byLimited} {
			_, err := w.Find(w.Context(), secret.New(link.Reveal()[strings.LastIndex(link.Reveal(), "/")+1:]))
			w.want(err, fault.NotFound)
		}
	})
}

func TestWhatIsWrongWithAnInvitationIsNamed(t *testing.T) {
	each(t, func(w *world) {
		for name, c := range map[string]struct {
			p     team.InviteParams
			kind  fault.Kind
			texts []string
		}{
			"all at once": {team.InviteParams{Email: "nobody", Role: "boss", LegalEntityIDs: []string{"le_x"}}, fault.Invalid,
				[]string{"email", "role"}},
			"an owner who is limited": {team.InviteParams{Email: grace, Role: actor.Owner, LegalEntityIDs: []string{w.made.LegalEntity.ID}},
				fault.Invalid, []string{"legal_entity_ids"}},
			"an unknown legal entity": {team.InviteParams{Email: grace, Role: actor.Viewer, LegalEntityIDs: []string{"le_x"}}, fault.NotFound, nil},
			"a list of addresses":     {team.InviteParams{Email: grace + ", x@y.example", Role: actor.Viewer}, fault.Invalid, []string{"email"}},
			"a header":                {team.InviteParams{Email: grace + "\r\nBcc: x@y.example", Role: actor.Viewer}, fault.Invalid, []string{"email"}},
		} {
			_, err := w.Invite(w.owner(), c.p)
			if fault.KindOf(err) != c.kind {
				w.Errorf("%s: %v", name, err)
				continue
			}
			w.want(err, c.kind, c.texts...)
		}
		if len(w.mails) != 0 {
			w.Errorf("messages were sent: %v", w.mails)
		}
	})
}

func TestAnInvitationOfAnotherOrganizationIsUnknown(t *testing.T) {
	each(t, func(w *world) {
		i, _ := w.invite(grace, actor.Viewer)
		other := w.found("Other", "eve@other.example")
		eve := actor.With(w.Context(), actor.Actor{OrganizationID: other.Organization.ID, UserID: other.Owner.UserID, Role: actor.Owner,
			SessionID: "ses_2", Scopes: actor.Scopes})
		_, err := w.Revoke(eve, i.ID)
		w.want(err, fault.NotFound)
		_, err = w.Resend(eve, i.ID)
		w.want(err, fault.NotFound)
		listed, err := w.List(eve, page.Request{Limit: 10})
		w.must(err)
		if len(listed.Items) != 0 {
			w.Errorf("she sees %v", listed.Items)
		}
	})
}

func TestThereAreAHundredInvitationsAtMost(t *testing.T) {
	each(t, func(w *world) {
		var first team.Invitation
		for n := range team.PendingMax {
			i, err := w.Invite(w.owner(), team.InviteParams{Email: fmt.Sprintf("p%d@acme.example", n), Role: actor.Viewer})
			w.must(err)
			if n == 0 {
				first = i
			}
		}
		_, err := w.Invite(w.owner(), team.InviteParams{Email: grace, Role: actor.Viewer})
		w.want(err, fault.Conflict, "maximum")
		_, err = w.Revoke(w.owner(), first.ID)
		w.must(err)
		w.invite(grace, actor.Viewer)
		_, err = w.Invite(w.owner(), team.InviteParams{Email: "mary@acme.example", Role: actor.Viewer})
		w.want(err, fault.Conflict, "maximum")
		w.now.Advance(team.Lifetime) // those that have expired do not count
		w.invite("mary@acme.example", actor.Viewer)
	})
}
