package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// A job records the change of a name in each organization of the person. Until it has, a backup or a crash must not look like tampering.
func TestAChangeThatAJobHasNotRecordedYetIsNoViolation(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		d := dbtest.Open(t, c)
		a := app.NewWith(d, nil, app.Config{Secrets: seal.Temporary()})
		var userID string
		for _, name := range []string{"Acme", "Globex"} {
			f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: name, Email: "ada@example.com", Currency: "USD", Timezone: "UTC"})
			if err != nil {
				t.Fatal(err)
			}
			userID = f.Owner.UserID
		}
		verify := func(when string, want int) {
			t.Helper()
			found, err := a.Verify(t.Context(), nil)
			if err != nil || len(found) != want {
				t.Errorf("%s: %v %v", when, found, err)
			}
		}
		waiting := func() (out map[string]bool) {
			t.Helper()
			err := d.ReadAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) (err error) {
				out, err = job.Waiting(ctx, tx, "identity_event", "user_id")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		if err := a.Identity.ChangeName(t.Context(), userID, "Ada", identity.Origin{}); err != nil {
			t.Fatal(err)
		}
		if !waiting()[userID] {
			t.Fatal("no job waits")
		}
		verify("before it is recorded", 0)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- a.Work(ctx) }()
		for deadline := time.Now().Add(30 * time.Second); waiting()[userID] && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		verify("when it is recorded", 0)
		dbtest.ExecUnchecked(t, c, "UPDATE users SET name = 'Eve' WHERE user_id = '"+userID+"'")
		verify("after tampering", 2)
	})
}
