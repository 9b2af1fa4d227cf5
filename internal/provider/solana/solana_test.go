package solana_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/solana"
	"github.com/bursarhq/bursar/internal/provider/solana/solanatest"
)

// An address is no secret: nobody can enter a wrong one that is valid and that the server refuses. Two requests ask for token accounts, and
// one for transactions.
func TestItConforms(t *testing.T) {
	t.Parallel()
	fake := func() providertest.Fake {
		s := solanatest.New()
		s.PageSize = 15
		return s
	}
	providertest.Conforms(t, providertest.Suite{Connector: solana.Connector{}, Fake: fake, Wrong: []string{}, Money: "SOL",
		PageSize: 15, Quiet: 3, Busy: providertest.Status(200, "", "",
			`{"jsonrpc":"2.0","error":{"code":429,"message":"Too many requests for a specific RPC call"},"id":1}`)})
}
