package rillet_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/rillet"
	"github.com/bursarhq/bursar/internal/provider/rillet/rillettest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	ledgertest.Conforms(t, ledgertest.Suite{Connector: rillet.Connector{}, Fake: func() ledgertest.Fake { return rillettest.New("USD") }})
}

func TestItConformsWithBooksInYen(t *testing.T) {
	t.Parallel()
	ledgertest.Conforms(t, ledgertest.Suite{Connector: rillet.Connector{}, Fake: func() ledgertest.Fake { return rillettest.New("JPY") }})
}

func TestItConformsIfRilletStatesNoMoreThanItHasTo(t *testing.T) {
	t.Parallel()
	fake := func() ledgertest.Fake { return rillettest.NewSparse("USD") }
	ledgertest.Conforms(t, ledgertest.Suite{Connector: rillet.Connector{}, Fake: fake})
}
