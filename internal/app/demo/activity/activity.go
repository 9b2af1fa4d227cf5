// Package activity makes up what the sources of the demo company would report in the two years of its books: bank,
// cards, processor, exchanges and wallets, with their spam, and with the truth about each transaction that a real
// source does not tell.
//
// Nothing in it is random or read from anywhere: the same first month always gives the same transactions.
package activity

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Months is how long the activity goes on, as long as the demo's books.
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
	Address  string // likewise
	Currency string // in which values are told
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

// Direction is the statement view: a credit comes into the source.
type Direction string

// The directions.
const (
	Credit Direction = "credit"
	Debit  Direction = "debit"
)

// Transaction is what a source reports. The quantity is what its balance changes by: what landed, or everything that left.
type Transaction struct {
	Source      int
	ExternalID  string // unique per source
	At          time.Time
	Description string
	Direction   Direction
	Quantity    money.Decimal
	Currency    string // or asset
	Value       *Value // nil where nobody knows a price
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

// Crypto is what a chain or an exchange knows beside.
type Crypto struct {
	Chain, Hash, From, To string
	Block                 int64
	Asset, Contract       string
	TokenName, TokenID    string
	FeeQuantity           money.Decimal // taken from the quantity; a fee in another asset is a transaction of its own
	FeeAsset              string
}

// Bank is what a bank knows beside.
type Bank struct{ Name, Last4, Counterparty string }

// Card is what a card issuer knows beside.
type Card struct{ Merchant, Category, Holder, Last4 string }

// Truth is what only the author knows.
type Truth struct {
	Spam          bool
	Late          bool   // told after its month was closed
	TransferGroup string // shared by the legs of one transfer, bridge or swap
}

// Activity is all of it, in order of time.
type Activity struct {
	Sources      []Source
	Transactions []Transaction
}

// Price is what one unit of an asset is worth in dollars in the n-th month, of those that trade.
func Price(asset string, n int) money.Decimal { return price(asset, n) }

// Make makes up two years that begin with a month.
func Make(first calendar.Month) Activity {
	// Employees' purchases fill up what everything else leaves. How many other transactions there are depends on the
	// weekdays of these months, and is found by leaving the purchases out.
	without := newMaker(first, 0)
	without.run()
	m := newMaker(first, Count-len(without.out))
	m.run()
	return Activity{m.sources, m.out}
}
