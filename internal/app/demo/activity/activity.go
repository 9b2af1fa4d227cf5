// Package activity generates what the sources of the demo company would report in the two years of its books: bank accounts,
// cards, a processor, exchanges and wallets, including spam. Each transaction also has its truth, which a real source does not
// report: whether it is spam, late, or part of a transfer.
//
// Nothing is random or read from anywhere: the same first month always gives the same transactions.
package activity

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Months is the length of the activity and of the demo company's books.
const Months = 24

// Count is how many transactions there are.
const Count = 5000

// The legal entities that sources belong to.
const (
	US = iota // Demo Company, Inc., in dollars
	DE        // Demo Company GmbH, in euros
)

// Source is where transactions come from.
type Source struct {
	Type     string // wallet, exchange, bank, card, other
	Name     string
	Provider string
	Entity   int    // US or DE
	Chain    string // of a wallet
	Address  string // of a wallet
	Currency string // of values
}

// Class is the source class of a source's transactions.
func (s Source) Class() string {
	switch s.Type {
	case "wallet":
		return "crypto"
	case "bank":
		return "fiat"
	}
	return s.Type
}

// Direction is that of a bank statement: a credit is an inflow.
type Direction string

// The directions.
const (
	Credit Direction = "credit"
	Debit  Direction = "debit"
)

// Transaction is what a source reports. The quantity is the change of its balance, including fees.
type Transaction struct {
	Source      int
	ExternalID  string // unique per source
	At          time.Time
	Description string
	Direction   Direction
	Quantity    money.Decimal
	Currency    string // or asset
	Value       *Value // nil without a known price
	Crypto      *Crypto
	Bank        *Bank
	Card        *Card
	Category    string // of the provider
	Vendor      string
	TradeID     string // of an exchange, shared by both sides of a trade

	Truth Truth
}

// Value is what a transaction is worth: gross = net + fee, to the cent.
type Value struct {
	Gross, Fee, Net money.Decimal
	Currency        string
}

// Crypto is what a chain or an exchange adds.
type Crypto struct {
	Chain, Hash, From, To string
	Block                 int64
	Asset, Contract       string
	TokenName, TokenID    string
	FeeQuantity           money.Decimal // taken from the quantity; a fee in another asset is a transaction of its own
	FeeAsset              string
}

// Bank is what a bank adds.
type Bank struct{ Name, Last4, Counterparty string }

// Card is what a card issuer adds.
type Card struct{ Merchant, Category, Holder, Last4 string }

// Truth is what no source reports.
type Truth struct {
	Spam          bool
	Late          bool   // reported after its period was closed
	TransferGroup string // shared by the legs of one transfer, bridge or swap
}

// Activity is everything that happens, in chronological order.
type Activity struct {
	Sources      []Source
	Transactions []Transaction
}

// Price returns the price of a traded asset in dollars in the n-th month.
func Price(asset string, n int) money.Decimal { return price(asset, n) }

// Make generates two years, starting with a month.
func Make(first calendar.Month) Activity {
	// Purchases by employees make up the number of transactions. How many others there are depends on the weekdays of these
	// months, and is counted by a run without purchases.
	without := newMaker(first, 0)
	without.run()
	m := newMaker(first, Count-len(without.out))
	m.run()
	return Activity{m.sources, m.out}
}
