package binance_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider/binance"
	"github.com/bursarhq/bursar/internal/provider/binance/binancetest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: binance.Connector{}, Fake: func() providertest.Fake { return binancetest.New() },
		PageSize: 500, Quiet: 27, Busy: binancetest.Busy, Timed: true})
}
