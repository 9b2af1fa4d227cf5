package identity_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

func TestAWrongPasswordTakesAsLongForEverybodyAndForNobody(t *testing.T) {
	each(t, func(w *world) {
		w.withPassword()
		w.withApp()
		const plain, without = "bob@acme.example", "carol@acme.example"
		for _, email := range []string{plain, without} {
			var m access.Member
			w.must(w.db.Write(w.Context(), w.made.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
				m, err = access.AddMember(ctx, tx, email, actor.Viewer)
				return err
			}))
			if email == plain {
				w.must(w.SetPassword(w.Context(), m.UserID, secret.New(good), home))
			}
		}
		attempt := func(email string) func() {
			return func() {
				w.now.Advance(24 * time.Hour) // so that attempts are not slowed down
				_, err := w.SignIn(w.Context(), identity.SignInParams{Email: email, Password: secret.New("wrong " + good), Origin: home})
				w.wants(email, err, fault.Unauthorized, "the email address or the password is wrong")
			}
		}
		dbtest.SameTime(w.T, map[string]func(){
			"nobody": attempt("nobody@acme.example"), "a person": attempt(plain), "a person with an authenticator app": attempt(ada),
			"a person without a password": attempt(without),
		})
	})
}
