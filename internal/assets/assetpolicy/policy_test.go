package assetpolicy_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func found(t *testing.T, d *db.DB) context.Context {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner,
		Scopes: actor.Scopes})
}

func TestEveryAssetHasAPolicy(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, elsewhere := found(t, d), found(t, d)
		s := assetpolicy.NewService(d)
		for symbol, c := range map[string]context.Context{"MINE": ctx, "ETH": elsewhere} {
			if _, err := s.Put(c, assetpolicy.PutParams{AssetType: symbol, InScope: new(false), OwnToken: new(true)}); err != nil {
				t.Fatal(err)
			}
		}
		err := d.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			got, err := assetpolicy.ForAssets(ctx, tx, []string{"ETH", "MINE", "stETH", "ETH"})
			if err != nil {
				return err
			}
			if p := got["MINE"]; len(got) != 3 || p.InScope || !p.OwnToken || p.IsDefault {
				t.Errorf("%+v", got)
			}
			if p := got["ETH"]; !p.InScope || p.OwnToken || !p.IsDefault {
				t.Errorf("%+v", p)
			}
			if p := got["stETH"]; p.InScope || p.OwnToken || !p.IsDefault || p.AssetType != "stETH" {
				t.Errorf("%+v", p)
			}
			none, err := assetpolicy.ForAssets(ctx, tx, nil)
			if len(none) != 0 {
				t.Errorf("%v", none)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestASymbolMustBeOneThatATransactionCanHave(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := found(t, d)
		s := assetpolicy.NewService(d)
		for symbol, good := range map[string]bool{"": false, strings.Repeat("é", 100): true, strings.Repeat("é", 101): false,
			"a\x00": false, "a\xff": false, "$WIF": true} {
			_, put := s.Put(ctx, assetpolicy.PutParams{AssetType: symbol})
			_, get := s.Get(ctx, symbol)
			for _, err := range []error{put, get, s.Delete(ctx, symbol)} {
				if good && err != nil || !good && fault.KindOf(err) != fault.Invalid {
					t.Errorf("%q: %v", symbol, err)
				}
			}
		}
	})
}

func TestVerifyFindsAnInvalidSymbol(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := found(t, d)
		if _, err := assetpolicy.NewService(d).Put(ctx, assetpolicy.PutParams{AssetType: "X"}); err != nil {
			t.Fatal(err)
		}
		err := d.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			said := dbtest.Damage(ctx, t, tx, assetpolicy.Verify, "UPDATE asset_policies SET asset_type = ? WHERE organization_id = @org", "")
			if !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, "asset_type") }) {
				t.Errorf("%q", said)
			}
			return dbtest.ErrUndo
		})
		if !errors.Is(err, dbtest.ErrUndo) {
			t.Error("the damage was kept")
		}
	})
}
