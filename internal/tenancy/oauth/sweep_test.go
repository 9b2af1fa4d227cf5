package oauth_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// registerItself registers an app as the app itself does.
func (w *world) registerItself(name string) (oauth.Client, error) {
	return w.Register(w.Context(), oauth.RegisterParams{Name: name, RedirectURIs: []string{callback}}, oauth.ByItself)
}

func TestAppsThatHaveRegisteredThemselvesAndThatNobodyConnectsAreDeletedAfterAWeek(t *testing.T) {
	each(t, func(w *world) {
		const day = 24 * time.Hour
		var made []oauth.Client
		for _, name := range []string{"unused", "connected", "disconnected", "asked"} {
			c, err := w.registerItself(name)
			w.must(err)
			made = append(made, c)
		}
		organizations, err := w.RegisterForOrganization(w.as(w.ada), oauth.RegisterParams{Name: "Ours", RedirectURIs: []string{callback}})
		w.must(err)
		w.connect(w.ada, made[1], "apis.read")
		w.must(w.Revoke(w.Context(), made[2].ID, w.connect(w.ada, made[2], "apis.read").Refresh))
		w.now.Advance(7*day - time.Minute)
		young, err := w.registerItself("young")
		w.must(err)
		w.code(w.ada, made[3], "apis.read")
		w.must(w.Sweep(w.Context()))
		_, err = w.FindClient(w.Context(), made[0].ID)
		w.must(err)
		w.now.Advance(time.Minute)
		w.must(w.Sweep(w.Context()))
		if _, err := w.FindClient(w.Context(), made[0].ID); fault.KindOf(err) != fault.NotFound {
			w.Errorf("an app that nobody has connected for a week: %v", err)
		}
		for _, c := range []oauth.Client{made[1], made[2], made[3], young, organizations, w.app, w.other} {
			if _, err := w.FindClient(w.Context(), c.ID); err != nil {
				w.Errorf("%s: %v", c.Name, err)
			}
		}
		w.now.Advance(2 * day)
		w.must(w.Sweep(w.Context()))
		if _, err := w.FindClient(w.Context(), made[3].ID); fault.KindOf(err) != fault.NotFound {
			w.Errorf("an app whose code nobody has exchanged: %v", err)
		}
	})
}

func TestThereIsAMaximumOfAppsThatRegisterThemselves(t *testing.T) {
	each(t, func(w *world) {
		first, err := w.registerItself("first")
		w.must(err)
		w.must(w.db.WriteAcross(w.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) INSERT INTO oauth_clients "+
				"(oauth_client_id, name, redirect_uris, registered_by, created_at) SELECT 'oac_' || i, 'x', redirect_uris, registered_by, "+
				"created_at FROM n, oauth_clients WHERE oauth_client_id = ?", first.ID)
			return err
		}))
		_, err = w.registerItself("one too many")
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "too many apps have registered themselves") {
			w.Errorf("one too many: %v", err)
		}
		w.register("Of the operator")
		w.now.Advance(7 * 24 * time.Hour)
		w.must(w.Sweep(w.Context())) // in batches
		if n := w.count("oauth_clients"); n != 3 {
			w.Errorf("%d apps are left", n)
		}
		_, err = w.registerItself("after the sweep")
		w.must(err)
	})
}

func TestAnAuthorizationThatDoesNotEndDoesNotKeepOthersFromIt(t *testing.T) {
	each(t, func(w *world) {
		_, eve := w.organization("Zebra", "eve@zebra.example")
		w.connect(w.ada, w.app, "apis.read")
		w.connect(w.ada, w.other, "apis.read")
		w.connect(eve, w.app, "apis.read")
		w.EndKeys = func(_ context.Context, tx *db.Tx, _ string) ([]string, error) {
			if tx.Organization() == w.ada.OrganizationID {
				return nil, fault.Conflictf("the books of Acme are broken")
			}
			return nil, nil
		}
		w.now.Advance(91 * 24 * time.Hour)
		err := w.Sweep(w.Context())
		if err == nil || strings.Count(err.Error(), "the books of Acme are broken") != 2 || len(w.list(eve)) != 0 {
			w.Errorf("%v; left in the other organization: %v", err, w.list(eve))
		}
		if n := w.count("oauth_codes"); n != 0 {
			w.Errorf("%d codes are left", n)
		}
		w.EndKeys = nil
		w.must(w.Sweep(w.Context()))
		w.ended("when the books work again", "expired", "expired")
	})
}

func TestAReplayedRefreshTokenWaitsForTheOrganizationBeforeItLocksTheAuthorization(t *testing.T) {
	each(t, func(w *world) {
		tokens := w.connect(w.ada, w.app, "apis.read")
		_, err := w.refresh(w.app, tokens.Refresh)
		w.must(err)
		w.now.Advance(time.Minute)
		reached, done := make(chan bool, 1), make(chan error, 1)
		w.EndKeys = func(ctx context.Context, tx *db.Tx, authorizationID string) ([]string, error) {
			reached <- true
			return nil, access.RevokeKeysOfAuthorization(ctx, tx, authorizationID)
		}
		w.must(w.db.Write(w.Context(), w.ada.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := orgstate.Lock(ctx, tx); err != nil {
				return err
			}
			go func() {
				_, err := w.refresh(w.app, tokens.Refresh)
				done <- err
			}()
			select {
			case <-reached:
				w.Error("the authorization was locked while somebody else had the organization")
			case <-time.After(500 * time.Millisecond):
			}
			return nil
		}))
		w.refuses("the replay", <-done, oauth.InvalidGrant)
		w.ended("the replay", "token_replayed")
	})
}
