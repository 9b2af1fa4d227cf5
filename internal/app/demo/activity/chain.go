package activity

import (
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// hop is a movement of a wallet.
type hop struct {
	source      int
	direction   Direction
	asset       string
	contract    string
	quantity    money.Decimal
	gas         money.Decimal // of the chain's coin when that is what is sent, taken from the quantity
	other       string        // the address it came from or goes to
	description string
	category    string
	vendor      string
	group       string
	hash        string
	name        string // of the token
	tokenID     string
	unpriced    bool
	spam        bool
}

func usdcOn(source int) string {
	if source == arbitrum {
		return usdcArbitrum
	}
	return usdcMainnet
}

// month returns the number of the month of an instant.
func (m *maker) month(at time.Time) int {
	return min(Months-1, (at.Year()-m.first.Year)*12+int(at.Month())-int(m.first.Month))
}

// valued returns the value of a quantity and of its fee.
func (m *maker) valued(at time.Time, asset string, quantity, fee money.Decimal) *Value {
	p := price(asset, m.month(at))
	return worth(quantity.Mul(p).Round(2), fee.Mul(p).Round(2), "USD")
}

// chainStart and blockTime give blocks realistic numbers.
const (
	chainStart = 1438269973
	blockTime  = 12
)

// hop records a movement of a wallet and returns its hash.
func (m *maker) hop(at time.Time, h hop) string {
	s := m.sources[h.source]
	if h.hash == "" {
		h.hash = m.hash()
	}
	from, to := h.other, s.Address
	if h.direction == Debit {
		from, to = to, from
	}
	t := Transaction{Source: h.source, At: at, ExternalID: fmt.Sprintf("%s-%d", h.hash, m.number(h.hash)), Description: h.description,
		Direction: h.direction, Quantity: h.quantity, Currency: h.asset,
		Category: h.category, Vendor: h.vendor, Truth: Truth{Spam: h.spam, TransferGroup: h.group},
		Crypto: &Crypto{Chain: s.Chain, Hash: h.hash, From: from, To: to, Block: (at.Unix() - chainStart) / blockTime, Asset: h.asset,
			Contract: h.contract, TokenName: h.name, TokenID: h.tokenID}}
	if h.gas.Sign() > 0 {
		t.Crypto.FeeQuantity, t.Crypto.FeeAsset = h.gas, "ETH"
	}
	if !h.unpriced {
		t.Value = m.valued(at, h.asset, h.quantity, h.gas)
	}
	m.add(t)
	return h.hash
}

func (m *maker) hash() string { return "0x" + roll("hash", m.number("hash")).hex(64) }

// gasOn returns the network fee of a transaction on a chain.
func (m *maker) gasOn(source int) money.Decimal {
	d := roll("gas", m.number("gas"))
	units := d.between(6_000, 31_000)
	if source == arbitrum {
		units = d.between(40, 210)
	}
	return money.FromInt(int64(units)).Quo(money.FromInt(10_000_000), 7)
}

// sendToken sends a token from a wallet. The network fee, in the coin of the chain, is a transaction of its own.
func (m *maker) sendToken(at time.Time, h hop) string {
	h.direction = Debit
	hash := m.hop(at, h)
	m.hop(at, hop{source: h.source, direction: Debit, asset: "ETH", quantity: m.gasOn(h.source), hash: hash,
		description: "Network fee", category: "network_fee"})
	return hash
}

// usdc returns an amount in whole cents, limited to a share of what a source holds.
func (m *maker) usdc(source, cent, thousandths int) money.Decimal {
	amount, most := cents(cent), part(m.has(source, "USDC"), thousandths, 2)
	if amount.Cmp(most) > 0 {
		return most
	}
	return amount
}

// invoicesInUSDC are payments of invoices on chain: by large customers on mainnet, by small ones on the layer 2 chain.
func (m *maker) invoicesInUSDC(n int) {
	d := roll("usdc", n)
	receive := func(at time.Time, source int, who party, quantity money.Decimal, what string) {
		m.hop(at, hop{source: source, direction: Credit, asset: "USDC", contract: usdcOn(source), name: "USD Coin", quantity: quantity,
			other: who.address, description: what, category: "receive", vendor: who.name})
	}
	for i, day := range []int{8, 10, 12, 16, 23, 27} {
		m.at(m.on(n, day, 10+i, d.between(0, 59)), func(at time.Time) {
			receive(at, mainnet, m.people.customers[(n+i)%len(m.people.customers)], cents(d.between(200_000, 450_000)),
				fmt.Sprintf("Invoice INV-%05d", 1000+m.number("invoice")))
		})
	}
	for i, day := range []int{5, 15, 24} {
		m.at(m.on(n, day, 18, d.between(0, 59)), func(at time.Time) {
			receive(at, arbitrum, m.people.small[(n+i)%len(m.people.small)], cents(d.between(15_000, 90_000)),
				"Subscription "+at.Format("January 2006"))
		})
	}
	if n == 1 { // a test payment of a new customer
		m.at(m.on(n, 25, 19, 0), func(at time.Time) {
			receive(at, mainnet, party{"Marlow Pay", "0x" + roll("marlow", 0).hex(40)}, money.FromInt(1), "Test payment")
		})
	}
}

// staking adds rewards twice a week, one claimed token, and a collectible from a conference.
func (m *maker) staking(n int) {
	d := roll("staking", n)
	for i, day := range []int{6, 9, 12, 15, 18, 21, 24, 27} {
		m.at(m.on(n, day, 3, 7*i), func(at time.Time) {
			q := money.FromInt(int64(d.between(9_000_000, 19_999_999))).Quo(money.FromInt(1_000_000_000), 9)
			m.hop(at, hop{source: mainnet, direction: Credit, asset: "ETH", quantity: q, other: m.people.staking,
				description: "Staking reward", category: "staking_reward"})
		})
	}
	switch n {
	case 3:
		m.at(m.on(n, 14, 12, 0), func(at time.Time) {
			hash := m.hop(at, hop{source: arbitrum, direction: Credit, asset: "ARB", contract: arbContract, name: "Arbitrum",
				quantity: money.FromInt(850), other: m.people.distributor, description: "Claimed from the distributor", category: "claim_reward"})
			m.hop(at, hop{source: arbitrum, direction: Debit, asset: "ETH", quantity: m.gasOn(arbitrum), hash: hash,
				description: "Network fee", category: "network_fee"})
		})
	case 5:
		m.at(m.on(n, 20, 16, 0), func(at time.Time) {
			m.hop(at, hop{source: mainnet, direction: Credit, asset: "DEVMEET", contract: "0x" + roll("keepsake", 0).hex(40),
				name: "Developer meetup, Lisbon", tokenID: "218", quantity: money.FromInt(1), other: m.people.conference,
				description: "Keepsake of a conference", category: "nft", unpriced: true})
		})
	}
}

// grants pays grants and contractors in USDC from both wallets.
func (m *maker) grants(n int) {
	d := roll("grants", n)
	pay := func(source, day, hour, low, high int, what, category string) {
		m.at(m.on(n, day, hour, d.between(0, 59)), func(at time.Time) {
			who := pick(d, m.people.grantees)
			m.sendToken(at, hop{source: source, asset: "USDC", contract: usdcOn(source), name: "USD Coin",
				quantity: m.usdc(source, d.between(low, high), 300), other: who.address, description: what + ": " + who.name,
				category: category, vendor: who.name})
		})
	}
	for i, day := range []int{13, 14, 17, 28} {
		pay(mainnet, day, 15+i, 120_000, 350_000, "Grant", "grant")
	}
	for _, day := range []int{11, 25} {
		pay(mainnet, day, 9, 100_000, 190_000, "Contractor", "contractor")
	}
	for i, day := range []int{12, 18, 22, 26} {
		pay(arbitrum, day, 14+i, 100_000, 180_000, "Grant", "grant")
	}
}

// bridges moves USDC to the layer 2 chain every month, some of it back twice a year, and sometimes coins for network fees.
func (m *maker) bridges(n int) {
	d := roll("bridges", n)
	usdc := func(from, to, day, amount int) {
		m.at(m.on(n, day, 17, d.between(0, 59)), func(at time.Time) {
			group, q := m.group("bridge"), m.usdc(from, amount, 450)
			m.sendToken(at, hop{source: from, asset: "USDC", contract: usdcOn(from), name: "USD Coin", quantity: q, other: m.people.bridgeIn,
				description: "Bridge deposit", category: "bridge", group: group})
			m.at(at.Add(time.Duration(d.between(12, 35))*time.Minute), func(at time.Time) {
				m.hop(at, hop{source: to, direction: Credit, asset: "USDC", contract: usdcOn(to), name: "USD Coin",
					quantity: part(q, 1000-d.between(1, 3), 6), other: m.people.bridgeOut, description: "Bridge withdrawal", category: "bridge",
					group: group})
			})
		})
	}
	usdc(mainnet, arbitrum, 9, d.between(450_000, 650_000))
	if n%6 == 5 {
		usdc(arbitrum, mainnet, 20, d.between(100_000, 180_000))
	}
	if n%4 == 0 {
		m.at(m.on(n, 8, 7, 30), func(at time.Time) {
			group, q, gas := m.group("bridge"), cents(d.between(40, 80)), m.gasOn(mainnet)
			m.hop(at, hop{source: mainnet, direction: Debit, asset: "ETH", quantity: q.Add(gas), gas: gas, other: m.people.bridgeIn,
				description: "Bridge deposit", category: "bridge", group: group})
			m.at(at.Add(11*time.Minute), func(at time.Time) {
				m.hop(at, hop{source: arbitrum, direction: Credit, asset: "ETH", quantity: part(q, 998, 8), other: m.people.bridgeOut,
					description: "Bridge withdrawal", category: "bridge", group: group})
			})
		})
	}
}
