// Package catalog lists the connectors to all systems.
package catalog

import (
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/binance"
	"github.com/bursarhq/bursar/internal/provider/bitcoin"
	"github.com/bursarhq/bursar/internal/provider/bitget"
	"github.com/bursarhq/bursar/internal/provider/bitstamp"
	"github.com/bursarhq/bursar/internal/provider/brex"
	"github.com/bursarhq/bursar/internal/provider/campfire"
	"github.com/bursarhq/bursar/internal/provider/coinbase"
	"github.com/bursarhq/bursar/internal/provider/gemini"
	"github.com/bursarhq/bursar/internal/provider/kraken"
	"github.com/bursarhq/bursar/internal/provider/kucoin"
	"github.com/bursarhq/bursar/internal/provider/netsuite"
	"github.com/bursarhq/bursar/internal/provider/okx"
	"github.com/bursarhq/bursar/internal/provider/plaid"
	"github.com/bursarhq/bursar/internal/provider/quickbooks"
	"github.com/bursarhq/bursar/internal/provider/ramp"
	"github.com/bursarhq/bursar/internal/provider/rillet"
	"github.com/bursarhq/bursar/internal/provider/solana"
	"github.com/bursarhq/bursar/internal/provider/xero"
)

// All returns the connectors, by the names of their systems.
func All() []provider.Connector {
	return []provider.Connector{
		binance.Connector{},
		bitcoin.Connector{},
		bitget.Connector{},
		bitstamp.Connector{},
		brex.Connector{},
		campfire.Connector{},
		coinbase.Connector{},
		gemini.Connector{},
		kraken.Connector{},
		kucoin.Connector{},
		netsuite.Connector{},
		okx.Connector{},
		plaid.Connector{},
		quickbooks.Connector{},
		ramp.Connector{},
		rillet.Connector{},
		solana.Connector{},
		xero.Connector{},
	}
}
