package activity

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// ventures are the one-off events of the treasury wallet: it wraps coins, borrows and repays, buys and sells an NFT, and sells
// coins to a dealer who pays to the bank account.
func (m *maker) ventures(n int) {
	switch n {
	case 4:
		m.at(m.on(n, 19, 14, 5), func(at time.Time) {
			m.swapCoins(at, "2", "Wrapped ether", "wrap", hop{asset: "WETH", contract: wethMainnet, name: "Wrapped Ether",
				quantity: money.FromInt(2), other: wethMainnet})
		})
	case 7:
		m.at(m.on(n, 18, 15, 40), func(at time.Time) {
			m.swapCoins(at, "0.42", "Picture bought", "nft", m.picture())
		})
	case 8:
		m.at(m.on(n, 4, 12, 0), func(at time.Time) {
			m.hop(at, hop{source: mainnet, direction: Credit, asset: "USDC", contract: usdcMainnet, name: "USD Coin",
				quantity: money.FromInt(6000), other: m.people.lender, description: "Loan drawn", category: "loan", vendor: "Tidewater Lending"})
		})
	case 10:
		m.at(m.on(n, 24, 12, 0), func(at time.Time) {
			m.sendToken(at, hop{source: mainnet, asset: "USDC", contract: usdcMainnet, name: "USD Coin",
				quantity: money.FromInt(6000 + LoanInterest), other: m.people.lender, description: "Loan repaid", category: "loan",
				vendor: "Tidewater Lending"})
		})
	case 16:
		m.at(m.on(n, 13, 20, 15), func(at time.Time) {
			sold, hash, group := m.picture(), m.hash(), m.group("sale")
			sold.direction, sold.hash, sold.description, sold.category, sold.group = Debit, hash, "Picture sold", "nft", group
			m.hop(at, sold)
			m.hop(at, hop{source: mainnet, direction: Credit, asset: "ETH", quantity: money.MustParse("0.61"), other: m.people.market,
				hash: hash, description: "Picture sold", category: "nft", group: group})
			m.hop(at, hop{source: mainnet, direction: Debit, asset: "ETH", quantity: m.gasOn(mainnet), hash: hash,
				description: "Network fee", category: "network_fee"})
		})
	case 18:
		m.at(m.on(n, 17, 14, 30), func(at time.Time) {
			m.hop(at, hop{source: mainnet, direction: Debit, asset: "ETH", quantity: money.MustParse("1.5012"), gas: money.MustParse("0.0012"),
				other: "0x" + roll("dealer", 0).hex(40), hash: "0x" + roll("dealer", 1).hex(64), category: "sale", vendor: "Anchor OTC Desk",
				description: "Sold, proceeds to the operating account"})
		})
	}
}

// LoanAsset is the asset that is borrowed.
const LoanAsset = "USDC"

// LoanInterest is the interest on the loan, in units of the asset and in dollars.
const LoanInterest = 60

func (m *maker) picture() hop {
	return hop{source: mainnet, asset: "TIDEPOOL", contract: "0x" + roll("tidepool", 0).hex(40), name: "Tide Pools", tokenID: "77",
		quantity: money.FromInt(1), other: m.people.market, unpriced: true}
}

// swapCoins swaps coins of the treasury for another asset in one transaction of the chain.
func (m *maker) swapCoins(at time.Time, coins, description, category string, got hop) {
	hash, group, gas := m.hash(), m.group(category), m.gasOn(mainnet)
	m.hop(at, hop{source: mainnet, direction: Debit, asset: "ETH", quantity: money.MustParse(coins).Add(gas), gas: gas,
		other: got.other, hash: hash, description: description, category: category, group: group})
	got.source, got.direction, got.hash, got.description, got.category, got.group = mainnet, Credit, hash, description, category, group
	m.hop(at, got)
}
