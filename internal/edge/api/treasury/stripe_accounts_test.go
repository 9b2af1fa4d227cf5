package treasury_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
)

// execute runs a statement on the data of an organization, as a migration would: without an audit record.
func execute(t *testing.T, s *apitest.Service, n *apitest.Tenant, statement string, args ...any) {
	t.Helper()
	err := s.App.DB.Write(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded()
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// forget makes a connection one that was created when its account was not asked for.
func forget(t *testing.T, s *apitest.Service, n *apitest.Tenant, id string) {
	t.Helper()
	execute(t, s, n, "UPDATE connections SET external_account_id = NULL, mode = NULL WHERE organization_id = @org AND connection_id = ?", id)
}

func TestANewKeyMustBeOfTheSameAccountAndMode(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := n.NewConnection(t, client.CreateConnection{APIKey: "sk_1"})
		for key, want := range map[string]string{"sk_2": "another account", "sk_1._live_": "another mode"} {
			_, err := n.Client.UpdateConnection(ctx, c.ID, client.UpdateConnection{APIKey: new(key)})
			apitest.WantError(t, key, err, http.StatusConflict, []string{"api_key"}, want)
		}
		if now, err := n.Client.Connection(ctx, c.ID); err != nil || now.ETag != c.ETag {
			t.Errorf("%+v %v", now, err)
		}
		if _, err := n.Client.Disconnect(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		if live := n.NewConnection(t, client.CreateConnection{APIKey: "sk_1._live_"}); live.SourceIDs[0] == c.SourceIDs[0] {
			t.Error("what is real is read into the source of test mode")
		}
	})
}

func TestAnAccountIsConnectedOnceAlsoIfItWasNotKnown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		first := n.NewConnection(t, client.CreateConnection{APIKey: "sk_1"})
		second := n.NewConnection(t, client.CreateConnection{APIKey: "sk_2"})
		forget(t, s, n, second.ID)
		a := n.PostJSON(t, "/v1/connections", map[string]any{"provider": "stripe", "name": "Stripe", "api_key": "sk_2.again",
			"legal_entity_ids": []string{n.LegalEntity.ID}}, nil)
		if a.Status != http.StatusConflict || !strings.Contains(string(a.Body), second.ID) {
			t.Errorf("the account may be that of a connection without one: %d %s", a.Status, a.Body)
		}
		_, err := n.Client.UpdateConnection(ctx, second.ID, client.UpdateConnection{APIKey: new("sk_1.again")})
		apitest.WantConflict(t, err, "connected to this account already", first.ID)
		got, err := n.Client.UpdateConnection(ctx, second.ID, client.UpdateConnection{APIKey: new("sk_2.again")})
		if err != nil || got.ExternalAccountID == nil || *got.ExternalAccountID != stripetest.AccountOf("sk_2") {
			t.Errorf("%+v %v", got, err)
		}
		a = n.PostJSON(t, "/v1/connections", map[string]any{"provider": "stripe", "name": "Stripe", "api_key": "sk_2.more",
			"legal_entity_ids": []string{n.LegalEntity.ID}}, nil)
		if a.Status != http.StatusConflict {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestANewKeyEndsASynchronizationWithTheFormerOne(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		s.Stripe.Invoice(s.Stripe.Customer("Northwind", nil), []stripetest.Object{s.Stripe.Line("a", 100, nil)}, nil)
		c := n.NewConnection(t, client.CreateConnection{APIKey: "sk_1"})
		var replaced atomic.Bool
		s.Stripe.Before(func(r *http.Request) {
			if r.URL.Path != "/v1/invoices" || replaced.Swap(true) {
				return
			}
			if _, err := n.Client.UpdateConnection(t.Context(), c.ID, client.UpdateConnection{APIKey: new("sk_1.new")}); err != nil {
				t.Error(err)
			}
			s.Stripe.Refuse("sk_1", http.StatusUnauthorized)
		})
		if err := s.App.Connections.Run(t.Context(), n.Organization.ID, c.ID); err == nil || !strings.Contains(err.Error(), "claimed") {
			t.Errorf("the synchronization with the former key: %v", err)
		}
		if now, err := n.Client.Connection(t.Context(), c.ID); err != nil || now.Status != "syncing" || now.ErrorMessage != nil {
			t.Errorf("%+v %v", now, err)
		}
		if now := sync(t, s, n, c.ID); now.Status != "active" || len(invoices(t, n)) != 1 {
			t.Errorf("%+v", now)
		}
	})
}
