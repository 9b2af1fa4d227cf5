package okx_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider/okx"
	"github.com/bursarhq/bursar/internal/provider/okx/okxtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	providertest.Conforms(t, providertest.Suite{Connector: okx.Connector{}, Fake: func() providertest.Fake { return okxtest.New() },
		PageSize: 100, Quiet: 2, Busy: okxtest.Busy, Timed: true})
}
