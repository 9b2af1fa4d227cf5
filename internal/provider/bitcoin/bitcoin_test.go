package bitcoin_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider/bitcoin"
	"github.com/bursarhq/bursar/internal/provider/bitcoin/bitcointest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// An address is no secret: nobody can enter a wrong one that is valid and that the server refuses.
func TestItConforms(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: bitcoin.Connector{}, Fake: func() providertest.Fake { return bitcointest.New() },
		Wrong: []string{}, Money: "BTC", PageSize: 25, Quiet: 1})
}
