package identity_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// told requires that the last message is a notice to an address with some texts, which says when it happened, from where, and what to do.
func (w *world) told(to, subject string, says ...string) {
	w.Helper()
	if len(w.mails) == 0 {
		w.Fatalf("no mail about %s", subject)
	}
	m := w.mails[len(w.mails)-1]
	for _, want := range append(says, "When: "+w.now.Now().UTC().Format(time.RFC1123), "From: 198.51.100.7, Firefox on Linux",
		"Service: https://books.acme.example", "If that was not you, ") {
		if !strings.Contains(m.Text, want) {
			w.Errorf("%s lacks %q", m.Text, want)
		}
	}
	if m.Subject != subject || !slices.Equal(m.To, []string{to}) {
		w.Errorf("%q to %v, want %q to %s", m.Subject, m.To, subject, to)
	}
}

func TestPeopleAreToldOfChangesOfHowTheySignIn(t *testing.T) {
	each(t, func(w *world) {
		user, here := w.made.Owner.UserID, home
		here.UserAgent = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"
		const newPassword = "at https://books.acme.example/forgot-password\n"
		w.must(w.SetPassword(w.Context(), user, secret.New(good), here))
		w.told(ada, "A password was set", newPassword)
		w.must(w.SetPassword(w.Context(), user, secret.New(good), here))
		w.told(ada, "Your password was changed", newPassword)
		e, err := w.BeginTOTP(w.Context(), user)
		w.must(err)
		code, err := totp.Code(e.Secret, totp.Step(w.now.Now()))
		w.must(err)
		recovery, err := w.ConfirmTOTP(w.Context(), user, e.Ticket, secret.New(code), here)
		w.must(err)
		w.told(ada, "An authenticator app was set up", "ask the operator of the service at once to remove the app")
		with := func(code secret.Text) {
			w.Helper()
			_, err := w.SignIn(w.Context(), identity.SignInParams{Email: ada, Password: secret.New(good), Code: code, Origin: here})
			w.must(err)
		}
		for n, code := range recovery {
			with(code)
			left := []string{"It was the last one. Make new ones at https://books.acme.example/account/authenticator", "left: 1. Make new ones",
				"left: 2. Make new ones", "left: 3. Make new ones", "left: 4.\n", "left: 5.\n", "left: 6.\n", "left: 7.\n", "left: 8.\n", "left: 9.\n"}
			w.told(ada, "A recovery code was used", left[9-n], newPassword)
		}
		before := len(w.mails)
		w.now.Advance(time.Minute)
		code, err = totp.Code(e.Secret, totp.Step(w.now.Now()))
		w.must(err)
		with(secret.New(code))
		if len(w.mails) != before {
			w.Errorf("a code of the app is not worth a mail: %+v", w.mails[before:])
		}
		_, err = w.ReplaceRecoveryCodes(w.Context(), user, here)
		w.must(err)
		w.told(ada, "Your recovery codes were replaced", newPassword)
		w.must(w.RemoveTOTP(w.Context(), user, here))
		w.told(ada, "The authenticator app was removed", newPassword)
		w.must(w.RequestEmailChange(w.Context(), user, "ada@new.example", here))
		link := w.linkIn("ada@new.example", "/confirm-email/")
		w.mails = w.mails[:len(w.mails)-1]
		w.told(ada, "Your email address is about to change", "to ada@new.example", newPassword)
		_, err = w.ConfirmEmailChange(w.Context(), user, link, here)
		w.must(err)
		w.told(ada, "Your email address was changed", "is ada@new.example now", "tell an owner of your organization")
	})
}

func TestMessagesSayWhenTheirLinksExpire(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		w.must(w.MailReset(w.Context(), identity.ResetRequest{Email: ada}))
		w.must(w.RequestEmailChange(w.Context(), w.made.Owner.UserID, "ada@new.example", home))
		for _, m := range w.mails {
			want := map[string]time.Duration{"Set a new password": time.Hour, "Confirm your email address": 24 * time.Hour}[m.Subject]
			if want > 0 != !m.ExpiresAt.IsZero() || want > 0 && !m.ExpiresAt.Equal(w.now.Now().Add(want)) {
				w.Errorf("%q expires at %s", m.Subject, m.ExpiresAt)
			}
		}
	})
}

func TestLinksThatAreAskedForAtTheSameTimeAreAllCounted(t *testing.T) {
	each(t, func(w *world) {
		var mu sync.Mutex
		sent := 0
		w.Send = func(_ context.Context, tx *db.Tx, _ mail.Message) error {
			tx.AfterCommit(func() {
				mu.Lock()
				defer mu.Unlock()
				sent++
			})
			return nil
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := w.MailReset(w.Context(), identity.ResetRequest{Email: ada}); err != nil {
					w.Error(err)
				}
			})
		}
		all.Wait()
		if sent != 3 {
			w.Errorf("%d links were mailed, want 3", sent)
		}
	})
}

func TestSessionsThatANewPasswordEndsAreRecorded(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		if slices.Contains(w.actions(), "session.ended") {
			w.Errorf("nothing has ended: %v", w.actions())
		}
		here, err := w.signIn(good)
		w.must(err)
		_, err = w.signIn(good)
		w.must(err)
		w.must(w.ChangePassword(w.Context(), here.Session, secret.New(good), secret.New("seven lanterns drift"), home))
		want := []string{"session.created", "session.created", "session.ended", "user.password_changed"}
		if got := w.actions(); !slices.Equal(got[len(got)-4:], want) {
			w.Errorf("%v, want %v", got, want)
		}
		w.must(w.MailReset(w.Context(), identity.ResetRequest{Email: ada}))
		_, err = w.SetPasswordByLink(w.Context(), w.linkIn(ada, "/set-password/"), secret.New("another good password"), home)
		w.must(err)
		want = []string{"session.ended", "user.password_changed", "session.created"}
		if got := w.actions(); !slices.Equal(got[len(got)-3:], want) {
			w.Errorf("%v, want %v", got, want)
		}
	})
}

// Codes of the version before had 50 bits. They are stored in the same way.
func TestRecoveryCodesOfTheVersionBeforeStillWork(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		w.withApp()
		w.must(w.db.WriteAcross(w.Context(), "a test plants a code", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE user_credentials SET recovery_codes = ? WHERE user_id = ?", token.Hash("abcde23456"), w.made.Owner.UserID)
			return err
		}))
		in, err := w.SignIn(w.Context(), identity.SignInParams{Email: ada, Password: secret.New(good), Code: secret.New("abcde-23456"),
			Origin: home})
		if err != nil || in.Session.Method != identity.ByRecovery {
			w.Errorf("%v %v", in.Session.Method, err)
		}
	})
}

func TestANewAuthenticatorAppIsConfirmedByWhoBeganItAndInTime(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		e, err := w.BeginTOTP(w.Context(), w.made.Owner.UserID)
		w.must(err)
		_, err = w.OpenEnrollment(identity.Person{UserID: "usr_other"}, e.Ticket)
		w.wants("another person", err, fault.Conflict, "begin again")
		w.now.Advance(time.Hour)
		code, err := totp.Code(e.Secret, totp.Step(w.now.Now()))
		w.must(err)
		_, err = w.ConfirmTOTP(w.Context(), w.made.Owner.UserID, e.Ticket, secret.New(code), home)
		w.wants("too late", err, fault.Conflict, "begin again")
	})
}
