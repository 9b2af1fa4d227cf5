package activity

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// alike returns an address that looks the same when shortened, as in address poisoning.
func alike(d *dice, address string) string { return address[:6] + d.hex(32) + address[38:] }

// junk adds spam: one every month, four of each kind.
func (m *maker) junk(n int) {
	d := roll("junk", n)
	stranger, contract := "0x"+d.hex(40), "0x"+d.hex(40)
	customer := m.people.customers[n%len(m.people.customers)].address
	small := m.people.small[n%len(m.people.small)].address
	h := hop{source: mainnet, direction: Credit, other: stranger, contract: contract, description: "Token transfer",
		category: "receive", spam: true}
	switch n % 6 {
	case 0: // a phishing token
		h.asset, h.name, h.quantity, h.unpriced = "GIFT", "Visit usdc-bonus.xyz to claim", money.FromInt(1250), true
	case 1: // USDC with a Cyrillic letter
		h.asset, h.name, h.quantity, h.unpriced = "UЅDC", "USD Coin", money.FromInt(5000), true
	case 2: // a transfer of zero from a look-alike of a customer
		h.asset, h.name, h.contract, h.other = "USDC", "USD Coin", usdcMainnet, alike(d, customer)
	case 3: // dust with a price
		h.source, h.asset, h.name, h.quantity = arbitrum, "MOONX", "Moon Express", cents(1)
	case 4: // a tiny amount from a look-alike of a customer
		h.source, h.asset, h.name, h.contract = arbitrum, "USDC", "USD Coin", usdcArbitrum
		h.quantity, h.other = money.MustParse("0.000031"), alike(d, small)
	case 5: // USDC of another contract
		h.source, h.asset, h.name, h.quantity, h.unpriced = arbitrum, "USDC", "USD Coin", cents(d.between(400_000, 700_000)), true
	}
	m.at(m.on(n, d.between(8, 28), d.between(0, 23), d.between(0, 59)), func(at time.Time) { m.hop(at, h) })
	if n%6 == 4 { // a transfer of zero that seems to be ours, to a look-alike of a payee
		planted := hop{source: mainnet, direction: Debit, asset: "USDC", contract: usdcMainnet, name: "USD Coin",
			other: alike(d, pick(d, m.people.grantees).address), description: "Token transfer", category: "send", spam: true}
		m.at(m.on(n, 29, 2, 17), func(at time.Time) { m.hop(at, planted) })
	}
}
