package identity_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// world is a service with an organization whose owner is ada@acme.example.
type world struct {
	*testing.T
	*identity.Service
	db    *db.DB
	now   *clock.Manual
	made  organization.Created
	mails []mail.Message
}

const ada, good = "ada@acme.example", "correct violin harvest 42"

var home = identity.Origin{Address: "198.51.100.7", Network: "198.51.100.7", UserAgent: "Firefox", RequestID: "req_1"}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		w := &world{T: t, now: clock.NewManual(time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC))}
		c.Clock = w.now
		w.db = dbtest.Open(t, c)
		var err error
		w.made, err = organization.NewService(w.db).Create(t.Context(), organization.CreateParams{Name: "Acme", Email: ada, Currency: "USD",
			Timezone: "UTC"})
		w.must(err)
		w.Service = identity.NewService(w.db, identity.Config{Secrets: seal.Temporary(), PublicURL: "https://books.acme.example"})
		w.Send = func(_ context.Context, tx *db.Tx, m mail.Message) error {
			tx.AfterCommit(func() { w.mails = append(w.mails, m) })
			return nil
		}
		test(w)
	})
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// signIn signs in with a password.
func (w *world) signIn(password string) (identity.SignedIn, error) {
	return w.SignIn(w.Context(), identity.SignInParams{Email: ada, Password: secret.New(password), Origin: home})
}

// withPassword gives ada a password.
func (w *world) withPassword() *world {
	w.Helper()
	w.must(w.SetPassword(w.Context(), w.made.Owner.UserID, secret.New(good), home))
	return w
}

func (w *world) wants(what string, err error, kind fault.Kind, says string) {
	w.Helper()
	if fault.KindOf(err) != kind || err == nil || !strings.Contains(err.Error(), says) {
		w.Errorf("%s: %v (%v), want %q (%v)", what, err, fault.KindOf(err), says, kind)
	}
}

// actions returns what the audit log says about sign-ins, the latest last.
func (w *world) actions() (out []string) {
	w.Helper()
	records, err := audit.NewService(w.db).List(actor.With(w.Context(), actor.Actor{OrganizationID: w.made.Organization.ID}),
		audit.Filter{}, page.Request{Limit: 100})
	w.must(err)
	for _, r := range records.Items {
		if !strings.HasPrefix(r.Action, "ledger_account.") {
			out = append([]string{r.Action}, out...)
		}
	}
	return out
}

// linkIn returns the link in the last message to an address.
func (w *world) linkIn(to, path string) secret.Text {
	w.Helper()
	for i := len(w.mails) - 1; i >= 0; i-- {
		if w.mails[i].To[0] == to {
			if _, rest, ok := strings.Cut(w.mails[i].Text, "https://books.acme.example"+path); ok {
				link, _, _ := strings.Cut(rest, "\n")
				return secret.New(link)
			}
		}
	}
	w.Fatalf("no mail to %s with a link to %s in %v", to, path, w.mails)
	return secret.Text{}
}

func TestAPersonSignsInWithThePasswordAndOut(t *testing.T) {
	each(t, func(w *world) {
		_, err := w.signIn(good)
		w.wants("before there is a password", err, fault.Unauthorized, "the email address or the password is wrong")
		w.withPassword()
		_, err = w.signIn(good + "!")
		w.wants("a wrong one", err, fault.Unauthorized, "the email address or the password is wrong")
		in, err := w.signIn(good)
		w.must(err)
		one, members, err := w.Authenticate(w.Context(), in.Text)
		w.must(err)
		who, err := identity.ActorOf(one, members, "")
		w.must(err)
		if who.UserID != w.made.Owner.UserID || who.Role != actor.Owner || who.OrganizationID != w.made.Organization.ID ||
			!one.Fresh(w.now.Now()) {
			w.Errorf("%+v", who)
		}
		person, err := w.Find(w.Context(), who.UserID)
		w.must(err)
		w.must(w.SignOut(w.Context(), person, home, one.ID))
		if _, _, err := w.Authenticate(w.Context(), in.Text); fault.KindOf(err) != fault.Unauthorized {
			w.Errorf("the session goes on: %v", err)
		}
	})
}

func TestSessionsEndWhenTheyAreNotUsedAndAfterAMonth(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		unused, err := w.signIn(good)
		w.must(err)
		used, err := w.signIn(good)
		w.must(err)
		for day := range 31 {
			w.now.Advance(24 * time.Hour)
			_, _, err := w.Authenticate(w.Context(), used.Text)
			if ended := err != nil; ended != (day >= 29) {
				w.Errorf("day %d: %v", day+1, err)
			}
		}
		if _, _, err := w.Authenticate(w.Context(), unused.Text); err == nil {
			w.Error("a session that was not used for a month goes on")
		}
	})
}

func TestWhoGuessesIsSlowedDownAndTheOwnerOfTheAccountIsNotKeptOut(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		refused := 0
		for range 12 {
			if _, err := w.signIn("guess guess guess"); fault.KindOf(err) == fault.RateLimited {
				refused++
			}
		}
		if refused != 7 {
			w.Errorf("%d of 12 guesses were refused, want all after the fifth", refused)
		}
		_, err := w.signIn(good)
		w.wants("the right one from there", err, fault.RateLimited, "there were too many attempts: wait ")
		if _, err := w.SignIn(w.Context(), identity.SignInParams{Email: ada, Password: secret.New(good),
			Origin: identity.Origin{Address: "203.0.113.9", Network: "203.0.113.9", UserAgent: "Safari"}}); err != nil {
			w.Errorf("from another address: %v", err)
		}
		w.now.Advance(15 * time.Minute)
		if _, err := w.signIn(good); err != nil {
			w.Errorf("a quarter of an hour later: %v", err)
		}
	})
}

func TestStrangersDoNotMakeAPersonWaitOnADeviceThatIsKnown(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		in, err := w.signIn(good)
		w.must(err)
		try := func(email, plain string, o identity.Origin) error {
			_, err := w.SignIn(w.Context(), identity.SignInParams{Email: email, Password: secret.New(plain), Origin: o})
			return err
		}
		known := home
		known.Device = in.Device
		for n := range 40 { // from as many addresses, and the address of the person is among them
			network := fmt.Sprintf("203.0.113.%d", n)
			if n == 0 {
				network = home.Network
			}
			_ = try(ada, "guess guess guess", identity.Origin{Network: network})
		}
		w.wants("on another device", try(ada, good, identity.Origin{Network: "192.0.2.1"}), fault.RateLimited, "wait")
		w.must(try(ada, good, known))
		w.must(w.Confirm(w.Context(), in.Session, secret.New(good), secret.Text{}, known))
		for range 5 {
			w.wants("a guess there", try(ada, "guess guess guess", known), fault.Unauthorized, "wrong")
		}
		w.wants("a sixth", try(ada, good, known), fault.RateLimited, "wait")

		for what, o := range map[string]identity.Origin{
			"of another person":    {Network: "192.0.2.2", Device: in.Device},
			"what is no device":    {Network: "192.0.2.2", Device: secret.New("planted")},
			"the text of a ticket": {Network: "192.0.2.2", Device: in.Text},
		} {
			var err error
			for range 6 {
				err = try("bob@acme.example", good, o)
			}
			w.wants(what, err, fault.RateLimited, "wait")
			w.now.Advance(24 * time.Hour)
		}
		w.now.Advance(identity.DeviceMax)
		for range 40 {
			_ = try(ada, "guess guess guess", identity.Origin{Network: w.now.Now().String()})
			w.now.Advance(time.Second)
		}
		w.wants("a year later", try(ada, good, known), fault.RateLimited, "wait")
	})
}

func TestAFloodOfPasswordsKeepsNobodyWaitingWhomWeKnow(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		in, err := w.signIn(good)
		w.must(err)
		known := home
		known.Device = in.Device
		strangers, cancel := context.WithCancel(w.Context())
		var flood sync.WaitGroup
		refused := make(chan struct{}, 100)
		for n := range cap(refused) {
			flood.Go(func() {
				_, err := w.SignIn(strangers, identity.SignInParams{Email: fmt.Sprintf("%d@acme.example", n),
					Password: secret.New("guess guess guess"), Origin: identity.Origin{Network: fmt.Sprint(n)}})
				if fault.KindOf(err) == fault.Unavailable {
					refused <- struct{}{}
				}
			})
		}
		<-refused
		for range 3 {
			_, err := w.SignIn(w.Context(), identity.SignInParams{Email: ada, Password: secret.New(good), Origin: known})
			w.must(err)
		}
		cancel()
		flood.Wait()
	})
}

func TestASignInWithAFormerPasswordNeverOutlivesTheNewOne(t *testing.T) {
	each(t, func(w *world) {
		in := w.signedIn()
		known := home
		known.Device = in.Device
		for _, change := range []func(former, next string) error{
			func(former, next string) error {
				return w.ChangePassword(w.Context(), in.Session, secret.New(former), secret.New(next), known)
			},
			func(_, next string) error {
				return w.SetPassword(w.Context(), in.Person.UserID, secret.New(next), home)
			},
		} {
			former, next := good, good+" new"
			var sessions sync.Map
			var all sync.WaitGroup
			for range 4 { // with the change, no more than may be tried at a time
				all.Go(func() {
					got, err := w.SignIn(w.Context(), identity.SignInParams{Email: ada, Password: secret.New(former), Origin: known})
					if err == nil {
						sessions.Store(got.Session.ID, got.Text)
					}
				})
			}
			w.must(change(former, next))
			all.Wait()
			w.now.Advance(token.CachedFor)
			sessions.Range(func(id, text any) bool {
				if _, _, err := w.Authenticate(w.Context(), text.(secret.Text)); err == nil {
					w.Errorf("the session %s of the former password goes on", id)
				}
				return true
			})
			w.must(w.SetPassword(w.Context(), in.Person.UserID, secret.New(good), home))
			w.now.Advance(time.Hour)
			again, err := w.signIn(good)
			w.must(err)
			in.Session = again.Session
		}
	})
}

func TestAnAddressThatTriesManyAccountsIsSlowedDown(t *testing.T) {
	each(t, func(w *world) {
		var err error
		for n := range 31 {
			_, err = w.SignIn(w.Context(), identity.SignInParams{Email: strings.Repeat("x", n+1) + "@acme.example",
				Password: secret.New("Password123456"), Origin: home})
		}
		w.wants("the 31st account", err, fault.RateLimited, "wait")
	})
}

func TestAnAuthenticatorAppIsNeededTooAndEachCodeCountsOnce(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		user := w.made.Owner.UserID
		e, err := w.BeginTOTP(w.Context(), user)
		w.must(err)
		if _, err := w.signIn(good); err != nil {
			w.Errorf("before the app is confirmed: %v", err)
		}
		code := func() secret.Text {
			text, err := totp.Code(e.Secret, totp.Step(w.now.Now()))
			w.must(err)
			return secret.New(text)
		}
		_, err = w.ConfirmTOTP(w.Context(), user, e.Ticket, secret.New("000000"), home)
		w.wants("a wrong code", err, fault.Invalid, "code is wrong")
		recovery, err := w.ConfirmTOTP(w.Context(), user, e.Ticket, code(), home)
		w.must(err)
		if len(recovery) != 10 || len(recovery[0].Reveal()) != 17 {
			w.Fatalf("%d codes, the first has %d characters", len(recovery), len(recovery[0].Reveal()))
		}
		needed := func() secret.Text {
			_, err := w.signIn(good)
			var need *identity.SecondFactorNeeded
			if !errors.As(err, &need) || fault.KindOf(err) != fault.Unauthorized {
				w.Fatalf("%v", err)
			}
			return need.Ticket
		}
		_, err = w.SignInWithCode(w.Context(), needed(), code(), home)
		w.wants("the code that has confirmed the app", err, fault.Unauthorized, "was used before")
		w.now.Advance(time.Minute)
		if in, err := w.SignInWithCode(w.Context(), needed(), code(), home); err != nil || in.Session.Method != identity.ByTOTP {
			w.Errorf("%v %v", in.Session.Method, err)
		}
		_, err = w.SignInWithCode(w.Context(), needed(), code(), home)
		w.wants("the same code again", err, fault.Unauthorized, "was used before")
		spelled := secret.New(strings.ToUpper(strings.ReplaceAll(recovery[3].Reveal(), "-", " ")))
		if in, err := w.SignInWithCode(w.Context(), needed(), spelled, home); err != nil || in.Session.Method != identity.ByRecovery {
			w.Errorf("a recovery code: %v", err)
		}
		_, err = w.SignInWithCode(w.Context(), needed(), recovery[3], home)
		w.wants("the recovery code again", err, fault.Unauthorized, "was used before")
		late := needed()
		w.now.Advance(11 * time.Minute)
		_, err = w.SignInWithCode(w.Context(), late, code(), home)
		w.wants("too late", err, fault.Unauthorized, "too late")
	})
}

func TestAForgottenPasswordIsSetByALinkThatWorksOnceAndEndsOtherSessions(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		stolen, err := w.signIn(good)
		w.must(err)
		w.must(w.MailReset(w.Context(), identity.ResetRequest{Email: "nobody@acme.example"}))
		before := len(w.mails)
		for range 5 {
			w.must(w.MailReset(w.Context(), identity.ResetRequest{Email: " Ada@Acme.example "}))
		}
		if n := len(w.mails) - before; n != 3 {
			w.Errorf("%d mails, want no more than three", n)
		}
		link := w.linkIn(ada, "/set-password/")
		_, err = w.SetPasswordByLink(w.Context(), link, secret.New("Acme1234567890"), home)
		w.wants("one that is easy to guess", err, fault.Invalid, "easy to guess")
		in, err := w.SetPasswordByLink(w.Context(), link, secret.New("seven lanterns drift"), home)
		w.must(err)
		if _, _, err := w.Authenticate(w.Context(), in.Text); err != nil {
			w.Error(err)
		}
		if _, _, err := w.Authenticate(w.Context(), stolen.Text); err == nil {
			w.Error("a session from before goes on")
		}
		_, err = w.SetPasswordByLink(w.Context(), link, secret.New("another good password"), home)
		w.wants("the link again", err, fault.NotFound, "link not found")
		_, err = w.signIn(good)
		w.wants("the former password", err, fault.Unauthorized, "wrong")
	})
}

func TestAnEmailAddressChangesWhenTheNewOneIsConfirmed(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		w.must(w.RequestEmailChange(w.Context(), w.made.Owner.UserID, "ada@new.example", home))
		if _, err := w.signIn(good); err != nil {
			w.Errorf("before it is confirmed: %v", err)
		}
		if told := w.mails[len(w.mails)-2]; told.To[0] != ada || !strings.Contains(told.Text, "ada@new.example") {
			w.Errorf("the former address was not told: %+v", told)
		}
		p, err := w.ConfirmEmailChange(w.Context(), w.made.Owner.UserID, w.linkIn("ada@new.example", "/confirm-email/"), home)
		w.must(err)
		if p.Email != "ada@new.example" {
			w.Errorf("%+v", p)
		}
		_, err = w.signIn(good)
		w.wants("the former address", err, fault.Unauthorized, "wrong")
	})
}

func TestANewPasswordAndANewAddressMakeLinksWorthlessThatWereMailedBefore(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		user := w.made.Owner.UserID
		w.must(w.RequestEmailChange(w.Context(), user, "thief@evil.example", home))
		thiefs := w.linkIn("thief@evil.example", "/confirm-email/")
		w.must(w.MailReset(w.Context(), identity.ResetRequest{Email: ada}))
		_, err := w.SetPasswordByLink(w.Context(), w.linkIn(ada, "/set-password/"), secret.New("seven lanterns drift"), home)
		w.must(err)
		_, err = w.ConfirmEmailChange(w.Context(), w.made.Owner.UserID, thiefs, home)
		w.wants("a change of address from before the new password", err, fault.NotFound, "link not found")
		w.must(w.MailReset(w.Context(), identity.ResetRequest{Email: ada}))
		former := w.linkIn(ada, "/set-password/")
		w.must(w.RequestEmailChange(w.Context(), user, "ada@new.example", home))
		_, err = w.ConfirmEmailChange(w.Context(), w.made.Owner.UserID, w.linkIn("ada@new.example", "/confirm-email/"), home)
		w.must(err)
		_, err = w.SetPasswordByLink(w.Context(), former, secret.New("another good password"), home)
		w.wants("a link to the former address", err, fault.NotFound, "link not found")
	})
}

func TestGuessesAtTheSameTimeAreAllCounted(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		results := make(chan error, 20) // no more than may wait
		for range cap(results) {
			go func() {
				_, err := w.signIn("something else 7")
				results <- err
			}()
		}
		checked := 0
		for range cap(results) {
			switch err := <-results; fault.KindOf(err) {
			case fault.Unauthorized:
				checked++
			case fault.RateLimited:
			default:
				w.Error(err)
			}
		}
		if checked != 5 {
			w.Errorf("%d guesses were checked, want 5", checked)
		}
	})
}

func TestWhoLeavesBeforeTheAnswerIsCountedAllTheSame(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		for range 5 {
			ctx, cancel := context.WithCancel(w.Context())
			cancel()
			_, _ = w.SignIn(ctx, identity.SignInParams{Email: ada, Password: secret.New("something else 7"), Origin: home})
		}
		_, err := w.signIn(good)
		w.wants("the right one after five guesses", err, fault.RateLimited, "too many attempts")
	})
}

func TestAPersonWithoutAPasswordSetsOneOnlyAfterARecentProof(t *testing.T) {
	each(t, func(w *world) {
		one := identity.Session{UserID: w.made.Owner.UserID, AuthenticatedAt: w.now.Now().Add(-time.Hour)}
		err := w.ChangePassword(w.Context(), one, secret.Text{}, secret.New(good), home)
		w.wants("an old session", err, fault.Forbidden, "confirm first")
		one.AuthenticatedAt = w.now.Now()
		w.must(w.ChangePassword(w.Context(), one, secret.Text{}, secret.New(good), home))
	})
}

func TestWhatHappensIsInTheAuditLog(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		_, err := w.signIn("something else 7")
		w.wants("wrong", err, fault.Unauthorized, "wrong")
		in, err := w.signIn(good)
		w.must(err)
		w.must(w.SignOut(w.Context(), in.Person, home, in.Session.ID))
		got := strings.Join(w.actions(), " ")
		if !strings.HasSuffix(got, "user.password_changed sign_in.failed session.created session.ended") {
			w.Errorf("%s", got)
		}
		w.withApp()
		_, err = w.signIn(good)
		w.wants("without a code", err, fault.Unauthorized, "code")
		if got := w.actions(); got[len(got)-1] != "sign_in.code_requested" {
			w.Errorf("%v", got)
		}
	})
}
