package kucoin_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider/kucoin"
	"github.com/bursarhq/bursar/internal/provider/kucoin/kucointest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: kucoin.Connector{}, Fake: func() providertest.Fake { return kucointest.New() },
		PageSize: 500, Quiet: 3, Busy: kucointest.Busy, Timed: true, Forward: true})
}
