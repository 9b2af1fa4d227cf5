package oauth_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// stored counts what is stored of apps and keys.
var stored = map[string]string{
	"used codes":           "SELECT count(*) FROM oauth_codes WHERE used_at IS NOT NULL",
	"authorizations":       "SELECT count(*) FROM oauth_authorizations",
	"ended authorizations": "SELECT count(*) FROM oauth_authorizations WHERE ended_at IS NOT NULL",
	"tokens":               "SELECT count(*) FROM oauth_tokens",
	"replaced tokens":      "SELECT count(*) FROM oauth_tokens WHERE replaced_at IS NOT NULL",
	"keys":                 "SELECT count(*) FROM api_keys",
	"replaced keys":        "SELECT count(*) FROM api_keys WHERE successor_api_key_id IS NOT NULL",
	"revoked keys":         "SELECT count(*) FROM api_keys WHERE revoked_at IS NOT NULL",
	"records":              "SELECT count(*) FROM audit_log WHERE action LIKE 'oauth_%' OR action LIKE 'api_key.%'",
}

func eachFailure(t *testing.T, prepare func(w *world) func(ctx context.Context, w *world) error) {
	t.Helper()
	t.Parallel()
	dbtest.EachFailure(t, func(t *testing.T, d *db.DB) dbtest.Operation {
		w := &world{T: t, now: clock.NewManual(d.Clock().Now())}
		at := func(d *db.DB) *world {
			one := *w
			one.db, one.Service, one.access = d, oauth.NewService(d), access.NewService(d)
			return &one
		}
		w = at(d)
		w.made, w.ada = w.organization("Acme", "ada@acme.example")
		w.app = w.register("Ledger Tools")
		return dbtest.Operation{
			Counts: stored,
			Refuses: func(err error) bool {
				var e *oauth.Error
				return errors.As(err, &e)
			},
			Prepare: func(d *db.DB) func(context.Context, *db.DB) error {
				run := prepare(at(d))
				return func(ctx context.Context, d *db.DB) error { return run(ctx, at(d)) }
			},
		}
	})
}

func TestACodeIsRedeemedDespiteAnyFailureOfTheDatabase(t *testing.T) {
	eachFailure(t, func(w *world) func(context.Context, *world) error {
		w.app = w.register("Another")
		app, code := w.app, w.code(w.ada, w.app, "apis.read")
		return func(ctx context.Context, w *world) error {
			_, err := w.Exchange(ctx, redeem(app, code))
			return err
		}
	})
}

func TestTokensAreRefreshedDespiteAnyFailureOfTheDatabase(t *testing.T) {
	eachFailure(t, func(w *world) func(context.Context, *world) error {
		app := w.register("Another")
		tokens := w.connect(w.ada, app, "apis.read")
		return func(ctx context.Context, w *world) error {
			_, err := w.Refresh(ctx, oauth.RefreshParams{ClientID: app.ID, Token: tokens.Refresh})
			return err
		}
	})
}

func TestAConnectionEndsDespiteAnyFailureOfTheDatabase(t *testing.T) {
	eachFailure(t, func(w *world) func(context.Context, *world) error {
		app := w.register("Another")
		tokens := w.connect(w.ada, app, "apis.read")
		return func(ctx context.Context, w *world) error { return w.Revoke(ctx, app.ID, tokens.Refresh) }
	})
}

func (w *world) newKey() access.Key {
	w.Helper()
	k, text, err := w.access.CreateKey(w.as(w.ada), access.CreateKeyParams{Name: "k", Scopes: []actor.Scope{actor.ScopeAll}})
	w.must(err)
	who, err := w.access.Authenticate(w.Context(), text)
	w.must(err)
	_, _, err = w.access.CreateKey(w.as(who), access.CreateKeyParams{Name: "below", Scopes: []actor.Scope{actor.ScopeRead}})
	w.must(err)
	return k
}

func TestAKeyIsRotatedDespiteAnyFailureOfTheDatabase(t *testing.T) {
	eachFailure(t, func(w *world) func(context.Context, *world) error {
		k := w.newKey()
		return func(ctx context.Context, w *world) error {
			_, _, err := w.access.RotateKey(actor.With(ctx, w.ada), k.ID, access.RotateKeyParams{Overlap: access.OverlapDefault})
			return err
		}
	})
}

func TestAKeyIsRevokedWithThoseBelowItDespiteAnyFailureOfTheDatabase(t *testing.T) {
	eachFailure(t, func(w *world) func(context.Context, *world) error {
		k := w.newKey()
		return func(ctx context.Context, w *world) error {
			_, err := w.access.RevokeKey(actor.With(ctx, w.ada), k.ID)
			return err
		}
	})
}
