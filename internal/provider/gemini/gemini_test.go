package gemini_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider/gemini"
	"github.com/bursarhq/bursar/internal/provider/gemini/geminitest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: gemini.Connector{}, Fake: func() providertest.Fake { return geminitest.New() },
		PageSize: 50, Together: 49, Quiet: 3, Timed: true})
}

func TestItConformsWithNoncesThatOnlyIncrease(t *testing.T) {
	t.Parallel()
	// The fourth request of a quiet synchronization finds out about the nonces.
	providertest.Conforms(t, providertest.Suite{Connector: gemini.Connector{},
		Fake: func() providertest.Fake { return geminitest.NewCounting() }, PageSize: 50, Together: 49, Quiet: 4})
}
