package observation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/observation"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

func TestWhatAProviderDoesNotTellIsNotStoredAsZero(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
		wallet, err := source.NewService(d, nil, nil).Create(ctx, source.CreateParams{LegalEntityID: f.LegalEntity.ID, Type: source.Exchange,
			Name: "An exchange"})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
		for hour, c := range []struct {
			told, want string
			complete   bool
		}{
			{"BTC 2 ETH 3", "BTC 2 at 0, ETH 3 at 0", true},
			{"BTC 1", "BTC 1 at 1, ETH 3 at 0", false},
			{"", "BTC 1 at 1, ETH 3 at 0", false},
			{"BTC 1 ETH 0 SOL 0", "BTC 1 at 3, ETH 0 at 3", false},
			{"ETH 1", "BTC 0 at 4, ETH 1 at 4", true},
		} {
			var all []observation.Balance
			for fields := strings.Fields(c.told); len(fields) > 0; fields = fields[2:] {
				all = append(all, observation.Balance{AssetType: fields[0], Quantity: money.MustParse(fields[1])})
			}
			err := d.Write(ctx, f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				return observation.StoreTold(ctx, tx, wallet.ID, "", all, c.complete, start.Add(time.Duration(hour)*time.Hour))
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			err = d.Read(ctx, f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				latest, err := observation.Latest(ctx, tx, wallet.ID)
				for _, b := range latest {
					got = append(got, fmt.Sprintf("%s %s at %d", b.AssetType, b.Quantity, b.At.Hour()))
				}
				return err
			})
			if err != nil || strings.Join(got, ", ") != c.want {
				t.Errorf("after %q: %q, want %q %v", c.told, got, c.want, err)
			}
		}
	})
}
