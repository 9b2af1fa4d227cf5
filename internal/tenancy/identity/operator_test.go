package identity_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

func TestTheOperatorLetsSomebodyInWhoHasLostTheSecondFactor(t *testing.T) {
	each(t, func(w *world) {
		in := w.signedIn()
		_, err := w.ResetSecondFactor(w.Context(), w.made.Owner.UserID)
		w.wants("without a second factor", err, fault.Conflict, "neither an authenticator app nor a passkey")
		d := w.device()
		d.add(in)
		w.withApp()
		r, err := w.ResetSecondFactor(w.Context(), w.made.Owner.UserID)
		w.must(err)
		if !r.TOTP || r.Passkeys != 1 || r.Sessions != 1 || r.Person.HasSecondFactor() {
			w.Errorf("%+v", r)
		}
		if _, _, err := w.Authenticate(w.Context(), in.Text); fault.KindOf(err) != fault.Unauthorized {
			w.Errorf("the session goes on: %v", err)
		}
		if _, err := d.enter(); fault.KindOf(err) != fault.Unauthorized {
			w.Errorf("the passkey still works: %v", err)
		}
		if _, err := w.signIn(good); err != nil {
			w.Errorf("the password alone: %v", err)
		}
		if last := w.mails[len(w.mails)-1]; last.To[0] != ada || last.Subject != "Your second factor was removed" {
			w.Errorf("the message is %+v", last)
		}
		records, err := audit.NewService(w.db).List(actor.With(w.Context(), actor.Actor{OrganizationID: w.made.Organization.ID}),
			audit.Filter{Action: "user.second_factor_removed"}, page.Request{Limit: 10})
		w.must(err)
		if len(records.Items) != 1 || records.Items[0].UserID != "" {
			w.Errorf("the audit log has %+v, want one record without a user", records.Items)
		}
		_, err = w.ResetSecondFactor(w.Context(), "usr_x")
		w.wants("nobody", err, fault.NotFound, "user")
	})
}
