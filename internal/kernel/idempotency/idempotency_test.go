package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func keyed(t *testing.T, body string) idempotency.Request {
	t.Helper()
	r, err := idempotency.NewRequest("the caller's key", actor.Actor{APIKeyID: "key_1"}, "POST", "/v1/things", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// answer runs a request that is answered with a text if it is new, and returns the stored answer if it is not.
func answer(d *db.DB, organizationID string, r idempotency.Request, text string) (got *idempotency.Answer, err error) {
	err = d.Write(context.Background(), organizationID, func(ctx context.Context, tx *db.Tx) error {
		if got, err = r.Claim(ctx, tx); err != nil || got != nil {
			return err
		}
		return r.Store(ctx, tx, idempotency.Answer{Status: 201, Body: []byte(text)})
	})
	return got, err
}

func TestAnAnswerIsStoredForADayAtLeastAndThenDeleted(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		c.Clock = now
		d := dbtest.Open(t, c)
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		mine := f.Organization.ID
		if first, err := answer(d, mine, keyed(t, "x"), "first"); err != nil || first != nil {
			t.Fatal(first, err)
		}
		now.Advance(24*time.Hour + time.Minute)
		if err := idempotency.DeleteExpired(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if again, err := answer(d, mine, keyed(t, "x"), "second"); err != nil || again == nil || string(again.Body) != "first" ||
			again.Status != 201 {
			t.Errorf("after a day: %+v %v", again, err)
		}
		if recalled, err := keyed(t, "x").Recall(t.Context(), d, mine); err != nil || string(recalled.Body) != "first" {
			t.Errorf("%+v %v", recalled, err)
		}
		if _, err := answer(d, mine, keyed(t, "y"), "other"); fault.KindOf(err) != fault.Conflict {
			t.Errorf("another body: %v", err)
		}
		now.Advance(idempotency.Kept)
		if err := idempotency.DeleteExpired(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if again, err := answer(d, mine, keyed(t, "y"), "anew"); err != nil || again != nil {
			t.Errorf("after it was deleted: %+v %v", again, err)
		}
	})
}

func TestAnEffectThatFailsLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		err = d.Write(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := keyed(t, "x").Claim(ctx, tx); err != nil {
				return err
			}
			return fault.Conflictf("no")
		})
		if fault.KindOf(err) != fault.Conflict {
			t.Fatal(err)
		}
		if none, err := keyed(t, "x").Recall(t.Context(), d, f.Organization.ID); err != nil || none != nil {
			t.Errorf("recalled %+v %v", none, err)
		}
		if got, err := answer(d, f.Organization.ID, keyed(t, "other body"), "done"); err != nil || got != nil {
			t.Errorf("%+v %v", got, err)
		}
		if other, err := keyed(t, "x").Recall(t.Context(), d, f.Organization.ID); fault.KindOf(err) != fault.Conflict || other != nil {
			t.Errorf("recalled another's %+v %v", other, err)
		}
	})
}

func TestAStoredAnswerCannotBeReadWithoutTheCallersKey(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := answer(d, f.Organization.ID, keyed(t, "x"), "bur_secret"); err != nil {
			t.Fatal(err)
		}
		err = d.ReadAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
			rows, err := db.All[struct {
				Key    string `db:"key_hash"`
				Answer []byte `db:"answer"`
			}](ctx, tx, "SELECT key_hash, answer FROM idempotency_keys")
			if len(rows) != 1 || bytes.Contains(rows[0].Answer, []byte("secret")) || rows[0].Key == "the caller's key" {
				t.Errorf("%+v", rows)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestAnAnswerIsForItsCallerWithTheSameRights(t *testing.T) {
	t.Parallel()
	first := actor.Actor{UserID: "usr_1", APIKeyID: "key_1", Scopes: []actor.Scope{actor.ScopeRead, actor.ScopeAll},
		LegalEntityIDs: []string{"le_1", "le_2"}}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		send := func(who actor.Actor) (*idempotency.Answer, error) {
			r, err := idempotency.NewRequest("the caller's key", who, "POST", "/v1/things", []byte("x"))
			if err != nil {
				t.Fatal(err)
			}
			return answer(d, f.Organization.ID, r, "first")
		}
		if got, err := send(first); err != nil || got != nil {
			t.Fatal(got, err)
		}
		for _, c := range []struct {
			what   string
			change func(who *actor.Actor)
			want   string // the answer, "lost" or "other"
		}{
			{"the same", func(*actor.Actor) {}, "first"},
			{"another key of the user", func(who *actor.Actor) { who.APIKeyID = "key_2" }, "first"},
			{"in another order", func(who *actor.Actor) { who.LegalEntityIDs = []string{"le_2", "le_1"} }, "first"},
			{"more legal entities", func(who *actor.Actor) { who.LegalEntityIDs = []string{"le_1", "le_2", "le_3"} }, "first"},
			{"all legal entities", func(who *actor.Actor) { who.LegalEntityIDs = nil }, "first"},
			{"more scopes", func(who *actor.Actor) { who.Scopes = actor.Scopes }, "first"},
			{"fewer legal entities", func(who *actor.Actor) { who.LegalEntityIDs = []string{"le_1"} }, "lost"},
			{"other legal entities", func(who *actor.Actor) { who.LegalEntityIDs = []string{"le_1", "le_3"} }, "lost"},
			{"fewer scopes", func(who *actor.Actor) { who.Scopes = []actor.Scope{actor.ScopeAll} }, "lost"},
			{"another user", func(who *actor.Actor) { who.UserID = "usr_2" }, "other"},
			{"no user", func(who *actor.Actor) { who.UserID = "" }, "other"},
		} {
			who := first
			c.change(&who)
			got, err := send(who)
			is := "other"
			switch {
			case errors.Is(err, idempotency.ErrRightsLost):
				is = "lost"
			case got != nil:
				is = string(got.Body)
			}
			if is != c.want || c.want != "first" && fault.KindOf(err) != fault.Conflict {
				t.Errorf("%s: %s, %v, want %s", c.what, is, err, c.want)
			}
		}
	})
}

func TestACallerForAllLegalEntitiesHasLostRightsWhenLimited(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	for i, who := range []actor.Actor{{APIKeyID: "key_1"}, {APIKeyID: "key_1", LegalEntityIDs: []string{"le_1"}}} {
		r, err := idempotency.NewRequest("k", who, "POST", "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := answer(d, f.Organization.ID, r, "first"); errors.Is(err, idempotency.ErrRightsLost) != (i == 1) {
			t.Errorf("%+v: %v", who, err)
		}
	}
}
