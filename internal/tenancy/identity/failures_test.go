package identity_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// stored counts what is stored of people, sign-ins and their credentials.
var stored = map[string]string{
	"sessions": "SELECT count(*) FROM sessions",
	"links":    "SELECT count(*) FROM mailed_links WHERE used_at IS NULL",
	"apps":     "SELECT count(*) FROM user_credentials WHERE totp_confirmed_at IS NOT NULL",
	"codes":    "SELECT count(*) FROM user_credentials WHERE recovery_codes <> ''",
	"passkeys": "SELECT count(*) FROM passkeys",
	"answers":  "SELECT count(*) FROM used_challenges",
	"jobs":     "SELECT count(*) FROM river_job",
}

// failing is a world whose database fails.
type failing struct {
	*world
	secrets *seal.Key
}

// at returns the world on another handle of the database.
func (f *failing) at(d *db.DB) *world {
	w := *f.world
	w.db = d
	w.Service = identity.NewService(d, identity.Config{Secrets: f.secrets, PublicURL: "https://books.acme.example"})
	queue, err := job.NewInserter(d)
	f.must(err)
	w.Queue = func(ctx context.Context, tx *db.Tx, h identity.Happened) error { return queue.Insert(ctx, tx, h) }
	return &w
}

func eachFailure(t *testing.T, between []string, prepare func(f *failing, w *world) func(context.Context, *world) error) {
	t.Helper()
	t.Parallel()
	dbtest.EachFailure(t, func(t *testing.T, d *db.DB) dbtest.Operation {
		f := &failing{world: &world{T: t, db: d, now: clock.NewManual(d.Clock().Now())}, secrets: seal.Temporary()}
		var err error
		f.made, err = organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "Acme", Email: ada, Currency: "USD",
			Timezone: "UTC"})
		f.must(err)
		f.at(d).withPassword()
		return dbtest.Operation{Counts: stored, Between: between, Prepare: func(d *db.DB) func(context.Context, *db.DB) error {
			run := prepare(f, f.at(d))
			return func(ctx context.Context, d *db.DB) error { return run(ctx, f.at(d)) }
		}}
	})
}

func TestASignInSurvivesAnyFailureOfTheDatabase(t *testing.T) {
	eachFailure(t, nil, func(*failing, *world) func(context.Context, *world) error {
		return func(ctx context.Context, w *world) error {
			in, err := w.SignIn(ctx, identity.SignInParams{Email: ada, Password: secret.New(good), Origin: home})
			if err == nil {
				_, _, err = w.Authenticate(context.Background(), in.Text)
			}
			return err
		}
	})
}

func TestANewPasswordByALinkSurvivesAnyFailureOfTheDatabase(t *testing.T) {
	// The password is set and the link used up, but there is no session: the person signs in with the new password.
	eachFailure(t, []string{"jobs +1, links -1"}, func(f *failing, w *world) func(context.Context, *world) error {
		_, err := w.SignOutOthers(w.Context(), identity.Person{UserID: f.made.Owner.UserID}, home, "")
		w.must(err)
		link, err := w.FirstPassword(w.Context(), f.made.Owner.UserID)
		w.must(err)
		return func(ctx context.Context, w *world) error {
			_, text, _ := strings.Cut(link.Reveal(), "bul_")
			_, err := w.SetPasswordByLink(ctx, secret.New("bul_"+text), secret.New(good+" new"), home)
			return err
		}
	})
}

func TestAnAuthenticatorAppIsSetUpDespiteAnyFailureOfTheDatabase(t *testing.T) {
	eachFailure(t, nil, func(f *failing, w *world) func(context.Context, *world) error {
		userID := f.made.Owner.UserID
		if p, err := w.Find(w.Context(), userID); err != nil || p.HasSecondFactor() {
			w.must(errors.Join(err, w.RemoveTOTP(w.Context(), userID, home)))
		}
		e, err := w.BeginTOTP(w.Context(), userID)
		w.must(err)
		return func(ctx context.Context, w *world) error {
			code, err := totp.Code(e.Secret, totp.Step(w.db.Clock().Now()))
			w.must(err)
			_, err = w.ConfirmTOTP(ctx, userID, e.Ticket, secret.New(code), home)
			return err
		}
	})
}

func TestAPasskeyIsAddedDespiteAnyFailureOfTheDatabase(t *testing.T) {
	eachFailure(t, nil, func(_ *failing, w *world) func(context.Context, *world) error {
		in, err := w.signIn(good)
		w.must(err)
		if left, err := w.Passkeys(w.Context(), in.Session.UserID); err != nil || len(left) > 0 {
			w.must(errors.Join(err, w.RemovePasskey(w.Context(), in.Person, left[0].ID, home)))
		}
		d := w.device()
		c, err := w.BeginPasskey(w.Context(), in.Session)
		w.must(err)
		answer := d.register(c)
		return func(ctx context.Context, w *world) error {
			_, err := w.AddPasskey(ctx, in.Session, identity.AddPasskeyParams{Ticket: c.Ticket, Name: "Laptop", Answer: answer, Origin: home})
			return err
		}
	})
}
