package treasury_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/evm/evmtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// held returns what a source was observed to hold, by asset.
func held(t *testing.T, n *apitest.Tenant, sourceID string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for b, err := range n.Client.SourceBalances(t.Context(), sourceID) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Observed != nil {
			out[b.AssetType] = *b.Observed
		}
	}
	return out
}

func TestAWalletOnAChainIsRead(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		node := evmtest.New()
		providertest.Start(t, node, time.Now)
		mine := func(tx evmtest.Tx) {
			node.Mu.Lock()
			defer node.Mu.Unlock()
			node.Mine(time.Now().Add(-time.Hour), nil, tx)
		}
		fake := evmtest.Address("a fake")
		node.Token(fake, "USDC", 6)
		mine(evmtest.Tx{From: evmtest.Stranger, To: evmtest.Wallet, Value: evmtest.Wei("10"), Logs: []evmtest.Log{
			node.Transfer(evmtest.USDC, evmtest.Stranger, evmtest.Wallet, 25_000_000),
			node.Transfer(fake, evmtest.Stranger, evmtest.Wallet, 7_000_000)}})
		mine(evmtest.Tx{From: evmtest.Wallet, To: evmtest.Stranger, Value: evmtest.Wei("1")})
		fields := node.Credentials()
		c, err := n.Client.CreateConnection(ctx, client.CreateConnection{Provider: "ethereum", Address: fields["address"],
			RPCURL: fields["rpc_url"]})
		if err != nil {
			t.Fatal(err)
		}
		source, err := n.Client.Source(ctx, c.SourceIDs[0])
		if err != nil || source.SourceType != "wallet" || *source.Chain != "ethereum" || *source.Address != evmtest.Wallet {
			t.Errorf("%+v %v", source, err)
		}
		n.Sync(t, c.ID)
		if r, _ := latestRun(t, n, c.ID); r.Status != "completed" || r.Created != 4 || r.Omitted != 0 {
			t.Errorf("%+v", r)
		}
		want := map[string]string{"ETH": "8.999979", "USDC": "25", fake: "7"}
		if got := held(t, n, source.ID); !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		for tx, err := range n.Client.Transactions(ctx, url.Values{"source_id": {source.ID}}) {
			if err != nil || tx.Crypto == nil || *tx.Crypto.Chain != "ethereum" || tx.Crypto.TransactionHash == nil {
				t.Errorf("%+v %v", tx, err)
			}
		}
		before := node.Requests()
		if due, err := s.App.Connections.Poll(ctx); err != nil || due != 0 || node.Requests() != before {
			t.Errorf("%d %v", due, err)
		}

		node.Mu.Lock()
		node.Drop(1) // the payment is gone
		node.Mine(time.Now(), nil)
		node.Mine(time.Now(), nil)
		node.Mu.Unlock()
		if _, err := n.Client.SyncConnection(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		n.Sync(t, c.ID)
		want["ETH"] = "10"
		if got := held(t, n, source.ID); !maps.Equal(got, want) || count(t, n, source.ID) != 3 {
			t.Errorf("%v, want %v, and %d transactions", got, want, count(t, n, source.ID))
		}
	})
}

func TestWhatAWalletOnAChainNeeds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		node := evmtest.New()
		providertest.Start(t, node, time.Now)
		good := map[string]any{"provider": "ethereum", "address": evmtest.Wallet, "rpc_url": node.Credentials()["rpc_url"]}
		for name, change := range map[string]struct {
			field string
			value any
		}{
			"no node":         {"rpc_url", nil},
			"no address":      {"address", nil},
			"another address": {"address", "0x12"},
			"no number":       {"first_block", "latest"},
			"a coin":          {"native_symbol", "ETH"},
			"a wrong key":     {"address", "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"},
			"no such port":    {"rpc_url", "https://rpc.example.com:99999/key"},
			"a password":      {"rpc_url", "https://user:secret@rpc.example.com/key"},
			"metadata":        {"rpc_url", "http://169.254.169.254/key"},
			"a refused key":   {"rpc_url", node.URL + "/another-key"},
		} {
			body := maps.Clone(good)
			if body[change.field] = change.value; change.value == nil {
				delete(body, change.field)
			}
			a := n.PostJSON(t, "/v1/connections", body, nil)
			shown := strings.Contains(string(a.Body), "/key") || strings.Contains(string(a.Body), "secret")
			if a.Status != http.StatusBadRequest || !a.Blames(t, change.field) || shown {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
		}
	})
}
