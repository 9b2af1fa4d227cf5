package coinbase_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/coinbase"
	"github.com/bursarhq/bursar/internal/provider/coinbase/coinbasetest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	// A quiet synchronization takes a request for the list of the wallets and one for each of the six. A letter in the middle of the private
	// key belongs to the public key in it, which nobody needs, so that the key with another letter is right.
	providertest.Conforms(t, providertest.Suite{Connector: coinbase.Connector{}, Fake: func() providertest.Fake { return coinbasetest.New() },
		PageSize: 100, Quiet: 7, Timed: true, Wrong: []string{provider.APIKey}})
}

func TestItConformsWithKeysForEd25519(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: coinbase.Connector{},
		Fake: func() providertest.Fake { return coinbasetest.NewEdwards() }, PageSize: 100, Quiet: 7, Timed: true})
}
