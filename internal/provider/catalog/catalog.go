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
	"github.com/bursarhq/bursar/internal/provider/evm"
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
		evm.Arbitrum,
		evm.Avalanche,
		evm.Base,
		binance.Connector{},
		bitcoin.Connector{},
		bitget.Connector{},
		bitstamp.Connector{},
		brex.Connector{},
		evm.BSC,
		campfire.Connector{},
		coinbase.Connector{},
		evm.Ethereum,
		evm.Other,
		gemini.Connector{},
		evm.Gnosis,
		kraken.Connector{},
		kucoin.Connector{},
		evm.Linea,
		netsuite.Connector{},
		okx.Connector{},
		evm.Optimism,
		plaid.Connector{},
		evm.Polygon,
		quickbooks.Connector{},
		ramp.Connector{},
		rillet.Connector{},
		evm.Scroll,
		solana.Connector{},
		xero.Connector{},
	}
}
