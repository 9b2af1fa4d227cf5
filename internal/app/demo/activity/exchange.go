package activity

import (
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// places returns how many decimal places an exchange uses for an asset.
func places(asset string) int32 {
	switch asset {
	case "USD":
		return 2
	case "USDC":
		return 6
	}
	return 8
}

// trade swaps a share of one asset of an exchange account for another. The fee is deducted from the asset given.
func (m *maker) trade(at time.Time, source int, give, take string, thousandths, feeThousandths int) {
	given := part(m.has(source, give), thousandths, places(give))
	value := m.valued(at, give, given, money.Decimal{})
	value = worth(value.Gross, part(value.Gross, feeThousandths, 2), "USD")
	taken := value.Net.Quo(price(take, m.month(at)), places(take))
	id := fmt.Sprintf("%s-T%05d", m.sources[source].Provider, m.number("trade"))
	leg := func(side string, direction Direction, asset string, quantity money.Decimal, v *Value) {
		m.add(Transaction{Source: source, At: at, ExternalID: id + "-" + side, Description: "Trade " + give + " for " + take,
			Direction: direction, Quantity: quantity, Currency: asset, Value: v,
			Category: "trade", TradeID: id, Truth: Truth{TransferGroup: id}})
	}
	leg("out", Debit, give, given, value)
	leg("in", Credit, take, taken, worth(value.Net, money.Decimal{}, "USD"))
}

// trades swaps dollars for USDC and coins, and back, on both exchanges.
func (m *maker) trades(n int) {
	for _, t := range []struct {
		source, day, hour int
		give, take        string
		share             int
	}{
		{coinbase, 6, 15, "USD", "USDC", 400}, {coinbase, 6, 16, "USD", "ETH", 500}, {coinbase, 6, 17, "USD", "BTC", 300},
		{coinbase, 26, 11, "USDC", "USD", 900},
		{kraken, 11, 14, "USD", "ETH", 400}, {kraken, 19, 13, "ETH", "BTC", 300}, {kraken, 26, 18, "BTC", "USD", 200},
	} {
		m.at(m.on(n, t.day, t.hour, 10+n), func(at time.Time) { m.trade(at, t.source, t.give, t.take, t.share, 4) })
	}
}

// treasury moves money between the bank, the exchanges and the treasury wallet.
func (m *maker) treasury(n int) {
	d := roll("treasury", n)
	switch {
	case n == 0:
		m.at(m.workday(0, 3, 14, 20), func(at time.Time) { m.send(at, bank, coinbase, 12_030_000, 4*time.Hour, "Wire out") })
	case n%3 == 0:
		m.at(m.workday(n, 2, 14, 20), func(at time.Time) {
			m.send(at, bank, coinbase, d.between(1_800_000, 2_600_000), 5*time.Hour, "Wire out")
		})
	}
	if n%2 == 0 {
		m.at(m.workday(n, 4, 16, 40), func(at time.Time) { m.send(at, bank, kraken, d.between(700_000, 900_000), 7*time.Hour, "Wire out") })
	}
	m.at(m.on(n, 7, 13, 5), func(at time.Time) { m.withdraw(at, coinbase, "USDC", 800, m.people.coinbaseHot, true) })
	m.at(m.on(n, 7, 13, 40), func(at time.Time) { m.withdraw(at, coinbase, "ETH", 500, m.people.coinbaseHot, false) })
	if n%3 == 1 {
		m.at(m.on(n, 21, 10, 0), func(at time.Time) { m.withdraw(at, kraken, "ETH", 500, m.people.krakenHot, false) })
	}
	m.bonus(n)
	m.at(m.on(n, 25, 18, 30), func(at time.Time) { m.deposit(at, 250) })
	m.at(m.workday(n, 27, 12, 0), func(at time.Time) {
		m.send(at, coinbase, bank, whole(part(m.has(coinbase, "USD"), 600, 2).Mul(money.FromInt(100))), 6*time.Hour, "Withdrawal")
	})
}

// withdraw sends a share of an asset from an exchange to the treasury wallet. All exchanges report the address, some the hash.
func (m *maker) withdraw(at time.Time, source int, asset string, thousandths int, hot string, tellsHash bool) {
	all, group, hash := part(m.has(source, asset), thousandths, 6), m.group("withdrawal"), m.hash()
	fee := part(all, 1, 6)
	contract := ""
	if asset == "USDC" {
		contract = usdcMainnet
	}
	c := Crypto{Chain: "ethereum", To: m.people.treasury, Asset: asset, Contract: contract, FeeQuantity: fee, FeeAsset: asset}
	if tellsHash {
		c.Hash = hash
	}
	m.add(Transaction{Source: source, At: at, ExternalID: fmt.Sprintf("%s-W%05d", m.sources[source].Provider, m.number("withdrawal")),
		Description: "Withdrawal of " + asset, Direction: Debit,
		Quantity: all, Currency: asset, Value: m.valued(at, asset, all, fee), Crypto: &c, Category: "withdrawal",
		Truth: Truth{TransferGroup: group}})
	m.at(at.Add(4*time.Minute), func(at time.Time) {
		m.hop(at, hop{source: mainnet, direction: Credit, asset: asset, contract: contract, quantity: all.Sub(fee), other: hot,
			hash: hash, description: "Received " + asset, category: "receive", group: group})
	})
}

// LateMonth is the month of the transaction that an exchange reports late.
const LateMonth = 21

// bonus is a referral bonus, which the exchange reports late.
func (m *maker) bonus(n int) {
	if n != LateMonth {
		return
	}
	m.at(m.on(n, 24, 9, 30), func(at time.Time) {
		q := money.MustParse("0.004")
		m.add(Transaction{Source: kraken, At: at, ExternalID: "kraken-R00001", Description: "Referral bonus", Direction: Credit,
			Quantity: q, Currency: "BTC", Value: m.valued(at, "BTC", q, money.Decimal{}),
			Category: "bonus", Truth: Truth{Late: true}})
	})
}

// deposit sends a share of the treasury's USDC to an exchange, to be sold.
func (m *maker) deposit(at time.Time, thousandths int) {
	all, group := part(m.has(mainnet, "USDC"), thousandths, 2), m.group("deposit")
	hash := m.sendToken(at, hop{source: mainnet, asset: "USDC", contract: usdcMainnet, name: "USD Coin", quantity: all,
		other: m.people.coinbaseDeposit, description: "Sent to Coinbase", category: "send", group: group})
	m.at(at.Add(15*time.Minute), func(at time.Time) {
		m.add(Transaction{Source: coinbase, At: at, ExternalID: fmt.Sprintf("coinbase-D%05d", m.number("deposit")),
			Description: "Deposit of USDC", Direction: Credit, Quantity: all, Currency: "USDC",
			Value: m.valued(at, "USDC", all, money.Decimal{}), Crypto: &Crypto{Chain: "ethereum", Hash: hash, From: m.people.treasury,
				To: m.people.coinbaseDeposit, Asset: "USDC", Contract: usdcMainnet}, Category: "deposit", Truth: Truth{TransferGroup: group}})
	})
}
