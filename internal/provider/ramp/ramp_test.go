package ramp_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/ramp"
	"github.com/bursarhq/bursar/internal/provider/ramp/ramptest"
)

func TestItConformsWithAnAppOfTheCustomer(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: ramp.Connector{}, Fake: func() providertest.Fake { return ramptest.New() },
		PageSize: 100, Quiet: 3, Money: "USD"})
}

func TestItConformsWithConsent(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: ramp.Connector{}, Fake: func() providertest.Fake { return ramptest.NewConsented() },
		Wrong: []string{provider.RefreshToken}, PageSize: 100, Quiet: 3, Money: "USD", Client: ramptest.Client})
}
