package plaid_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/plaid"
	"github.com/bursarhq/bursar/internal/provider/plaid/plaidtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: plaid.Connector{}, Fake: func() providertest.Fake { return plaidtest.New() },
		Wrong: []string{provider.AccessToken}, PageSize: 500, Quiet: 1, Busy: plaidtest.Busy, Money: "USD", Days: true,
		Client: plaidtest.Client})
}

// texts returns credentials that are texts.
func texts(pairs ...string) provider.Credentials {
	out := provider.Credentials{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = secret.New(pairs[i+1])
	}
	return out
}
