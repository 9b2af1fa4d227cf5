package treasury_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
)

// sync reads the data of a connection to its end.
func sync(t *testing.T, s *apitest.Service, n *apitest.Tenant, id string) client.Connection {
	t.Helper()
	if err := s.App.Connections.Run(t.Context(), n.Organization.ID, id); err != nil {
		t.Fatal(err)
	}
	c, err := n.Client.Connection(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAConnectionIsCreatedReadUpdatedAndDisconnected(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := n.NewConnection(t, client.CreateConnection{Name: " Shop ", APIKey: "rk_test_1"})
		if c.Status != "syncing" || c.Name != "Shop" || c.ExternalAccountID == nil || *c.ExternalAccountID != stripetest.AccountOf("rk_test_1") ||
			c.TakesWebhooks || c.AuthMethod != "api_key" || len(c.SourceIDs) != 1 || len(c.RetainedResources) != 0 {
			t.Errorf("%+v", c)
		}
		source, err := n.Client.Source(ctx, c.SourceIDs[0])
		if err != nil || source.SourceType != "other" || source.Provider != "stripe" || source.IsManual || *source.Currency != "USD" {
			t.Errorf("%+v %v", source, err)
		}
		apitest.WantConflict(t, n.Client.DeleteSource(ctx, source.ID), "disconnect the connection")
		if c = sync(t, s, n, c.ID); c.Status != "active" || c.LastSyncedAt == nil || !slices.Contains(c.Guidance.AllowedActions, "sync") {
			t.Errorf("%+v", c)
		}
		stale := c.ETag
		c, err = n.Client.IfMatch(stale).UpdateConnection(ctx, c.ID, client.UpdateConnection{Name: new("Store"), APIKey: new("rk_test_1.new"),
			WebhookSecret: client.Set("whsec_1")})
		if err != nil || c.Name != "Store" || !c.TakesWebhooks || c.ETag == stale || c.Status != "syncing" {
			t.Errorf("%+v %v", c, err)
		}
		_, err = n.Client.IfMatch(stale).UpdateConnection(ctx, c.ID, client.UpdateConnection{Name: new("x")})
		apitest.WantConflict(t, err)
		_, err = n.Client.IfMatch(stale).Disconnect(ctx, c.ID)
		apitest.WantConflict(t, err)
		if c, err = n.Client.Disconnect(ctx, c.ID); err != nil || c.Status != "disconnected" || !slices.Contains(c.RetainedResources,
			"transactions") || len(c.Guidance.AllowedActions) != 0 {
			t.Errorf("%+v %v", c, err)
		}
		if again, err := n.Client.Disconnect(ctx, c.ID); err != nil || again.ETag != c.ETag {
			t.Errorf("%+v %v", again, err)
		}
		_, err = n.Client.SyncConnection(ctx, c.ID)
		apitest.WantConflict(t, err)
		_, err = n.Client.UpdateConnection(ctx, c.ID, client.UpdateConnection{Name: new("x")})
		apitest.WantConflict(t, err)
		if again := n.NewConnection(t, client.CreateConnection{APIKey: "rk_test_1"}); again.SourceIDs[0] != source.ID {
			t.Errorf("the source of the earlier connection is %s, and not used: %+v", source.ID, again)
		}
	})
}

func TestCredentialsNeverAppearInAnswersOrInTheDatabase(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		c := n.NewConnection(t, client.CreateConnection{APIKey: "rk_test_hidden", WebhookSecret: "whsec_hidden"})
		sync(t, s, n, c.ID)
		for _, path := range []string{"/v1/connections", "/v1/connections/" + c.ID, "/v1/audit-log"} {
			a := s.Send(t, apitest.Request{Method: http.MethodGet, Path: path, Key: n.Key})
			if a.Status != http.StatusOK || strings.Contains(string(a.Body), "hidden") {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
		for _, query := range []string{"SELECT sealed FROM connection_credentials", "SELECT name FROM connections"} {
			var rows []string
			err := s.App.DB.ReadAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) (err error) {
				rows, err = db.All[string](ctx, tx, query)
				return err
			})
			if text := strings.Join(rows, "\n"); err != nil || text == "" || strings.Contains(text, "hidden") {
				t.Errorf("%s: %s %v", query, text, err)
			}
		}
	})
}

func TestAConnectionThatStripeRefusesIsNotCreated(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		s.Stripe.Refuse("sk_wrong", http.StatusUnauthorized)
		s.Stripe.Refuse("rk_weak", http.StatusForbidden)
		s.Stripe.Forbid("rk_no_account", "/v1/account")
		s.Stripe.Forbid("rk_no_balance", "/v1/balance_transactions")
		good := map[string]any{"provider": "stripe", "name": "Stripe", "legal_entity_ids": []string{n.LegalEntity.ID}, "api_key": "sk_1"}
		bank := n.NewSource(t, client.CreateSource{}).ID
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"}).ID
		for name, change := range map[string]struct {
			field string
			body  map[string]any
		}{
			"unknown key":      {"api_key", map[string]any{"api_key": "sk_wrong"}},
			"weak key":         {"api_key", map[string]any{"api_key": "rk_weak"}},
			"no account":       {"api_key", map[string]any{"api_key": "rk_no_account"}},
			"no transactions":  {"api_key", map[string]any{"api_key": "rk_no_balance"}},
			"spaces":           {"api_key", map[string]any{"api_key": "sk 1"}},
			"planned":          {"provider", map[string]any{"provider": "file"}},
			"unknown provider": {"provider", map[string]any{"provider": "paypal"}},
			"no entity":        {"legal_entity_ids", map[string]any{"legal_entity_ids": []string{}}},
			"two entities":     {"legal_entity_ids", map[string]any{"legal_entity_ids": []string{n.LegalEntity.ID, other}}},
			"no name":          {"name", map[string]any{"name": "  "}},
			"a bank":           {"source_id", map[string]any{"source_id": bank}},
			"other's source": {"source_id", map[string]any{"source_id": n.NewSource(t, client.CreateSource{SourceType: "other",
				LegalEntityID: other}).ID}},
		} {
			body := map[string]any{}
			for key, value := range good {
				body[key] = value
			}
			for key, value := range change.body {
				body[key] = value
			}
			a := n.PostJSON(t, "/v1/connections", body, nil)
			if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), `"field":"`+change.field) ||
				strings.Contains(string(a.Body), "sk_wrong") || strings.Contains(string(a.Body), "rk_") && name != "unknown key" {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
			if name == "planned" && !strings.Contains(string(a.Body), "not available yet, available: ") {
				t.Errorf("%s", a.Body)
			}
			if name == "no account" && !strings.Contains(string(a.Body), "permission Accounts (Read)") {
				t.Errorf("%s", a.Body)
			}
		}
		s.Stripe.Fail(stripetest.Failure{Path: "/v1/", Status: http.StatusInternalServerError, Times: 1})
		a := n.PostJSON(t, "/v1/connections", good, nil)
		if a.Status != http.StatusServiceUnavailable || !strings.Contains(string(a.Body), "PROVIDER_ERROR") ||
			a.Header.Get("Retry-After") == "" {
			t.Errorf("%d %s %v", a.Status, a.Body, a.Header)
		}
		for c, err := range n.Client.Connections(t.Context(), nil) {
			t.Errorf("%+v %v", c, err)
		}
		c := n.NewConnection(t, client.CreateConnection{APIKey: "sk_1"})
		if a := n.PostJSON(t, "/v1/connections", good, nil); a.Status != http.StatusConflict {
			t.Errorf("the same account twice: %d %s", a.Status, a.Body)
		}
		good["api_key"], good["source_id"] = "sk_2", c.SourceIDs[0]
		if a := n.PostJSON(t, "/v1/connections", good, nil); a.Status != http.StatusConflict {
			t.Errorf("the same source twice: %d %s", a.Status, a.Body)
		}
	})
}
