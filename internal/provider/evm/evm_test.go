package evm_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/evm"
	"github.com/bursarhq/bursar/internal/provider/evm/evmtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// An address is no secret: nobody can enter a wrong one that is valid and that the node refuses. The key in the address of the node is one.
func TestItConforms(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *evmtest.Server){
		"trace_filter":             func(*evmtest.Server) {},
		"traces of blocks":         func(s *evmtest.Server) { s.Filters = false },
		"traces and no old states": func(s *evmtest.Server) { s.Filters, s.Archive = false, false },
		"one call at a time":       func(s *evmtest.Server) { s.Filters, s.Together = false, 1 },
		"few calls at a time":      func(s *evmtest.Server) { s.Filters, s.Together = false, 6 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := func() providertest.Fake {
				s := evmtest.New()
				s.Range = 15
				change(s)
				return s
			}
			quiet := 1
			if name == "one call at a time" {
				quiet = 0
			}
			providertest.Conforms(t, providertest.Suite{Connector: evm.Ethereum, Fake: fake, Wrong: []string{provider.RPCURL}, Money: "ETH",
				PageSize: 15, Quiet: quiet, Busy: providertest.Status(200, "", "",
					`{"jsonrpc":"2.0","error":{"code":-32005,"message":"daily request count exceeded, request rate limited"},"id":1}`)})
		})
	}
}
