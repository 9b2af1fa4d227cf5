package kraken_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider/kraken"
	"github.com/bursarhq/bursar/internal/provider/kraken/krakentest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: kraken.Connector{}, Fake: func() providertest.Fake { return krakentest.New() },
		PageSize: 50, Quiet: 1, Busy: krakentest.Busy})
}
