package connect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/connect"
	"github.com/bursarhq/bursar/internal/provider/evm"
	"github.com/bursarhq/bursar/internal/provider/evm/evmtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/observation"
)

// A wallet held what its node says at the time of the block, and what the node does not say stays as it was.
func TestBalancesAreStoredAsTheProviderTellsThem(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
		node := evmtest.New()
		providertest.Start(t, node, time.Now)
		blocks := d.Clock().Now().UTC().Truncate(time.Hour).Add(-48 * time.Hour)
		token := evmtest.Address("a token")
		node.Token(token, "TKN", 6)
		mine := func(after time.Duration, tx evmtest.Tx) {
			node.Mu.Lock()
			defer node.Mu.Unlock()
			node.Mine(blocks.Add(after), nil, tx)
		}
		mine(0, evmtest.Tx{From: evmtest.Stranger, To: evmtest.Wallet, Value: evmtest.Wei("10"),
			Logs: []evmtest.Log{node.Transfer(token, evmtest.Stranger, evmtest.Wallet, 7_000_000)}})

		s := connection.NewService(d, seal.Temporary(), connection.Pages{}, nil).WithProvider(connect.New(d, evm.Ethereum, connect.Config{
			Config: provider.Config{AllowPrivate: true, Clock: d.Clock()}}))
		fields := connection.Credentials{}
		for name, text := range node.Credentials() {
			fields[name] = secret.New(text)
		}
		params := connection.CreateParams{Provider: "ethereum", LegalEntityIDs: []string{f.LegalEntity.ID}, Fields: fields}
		found, err := s.Inspect(ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Create(ctx, params, found)
		if err != nil {
			t.Fatal(err)
		}
		observed := func() string {
			if err := s.Run(ctx, f.Organization.ID, c.ID); err != nil {
				t.Fatal(err)
			}
			var out []string
			err := d.Read(ctx, f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				latest, err := observation.Latest(ctx, tx, c.SourceID)
				for _, b := range latest {
					out = append(out, fmt.Sprintf("%s %s after %s", b.Quantity, strings.Replace(b.AssetType, token, "TKN", 1), b.At.Sub(blocks)))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(out, ", ")
		}
		if got, want := observed(), "7 TKN after 0s, 10 ETH after 0s"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		mine(time.Hour, evmtest.Tx{From: evmtest.Stranger, To: evmtest.Wallet, Value: evmtest.Wei("1")})
		node.Tokens[token] = nil // the contract is gone
		if _, err := s.RequestSync(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		if got, want := observed(), "7 TKN after 0s, 11 ETH after 1h0m0s"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
