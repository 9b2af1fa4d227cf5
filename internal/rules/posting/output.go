package posting

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Kind is what an entry does with lots.
type Kind string

// The kinds. Created is never the kind of a lot request.
const (
	Created   Kind = "create"
	Consumed  Kind = "consume"
	Moved     Kind = "move"
	Converted Kind = "convert"
	Parked    Kind = "park"
	Unparked  Kind = "unpark"
)

// LotRequest asks the lot engine for a quantity of an asset. The fee part selects its lots first.
type LotRequest struct {
	Kind        Kind
	Asset       Asset
	Quantity    money.Decimal // including the fee
	Fee         money.Decimal // the part that pays the fee
	From        Place         // Unparked: the account under which the lots are parked
	AccountOnly bool          // Only lots of that account qualify: the request named it, or they are parked there.
	To          Place         // the destination, unless they are consumed
	At          time.Time
	// Proceeds is what the consumed quantity brought, without the fee part and before costs. FeeProceeds is the value of
	// the fee part; if the fee is unparked only in part, it is the rounded share.
	Proceeds, FeeProceeds money.Decimal
	// Costs are the fees of a disposal. Under the NetFees policy they reduce its gain.
	Costs money.Decimal
}

// Answer is the answer of the lot engine to a lot request: slices of lots, those of the fee first. Their quantity may fall
// short. A missing quantity has no cost, except that a quantity to be unparked is booked at its value instead.
type Answer struct {
	Method string // as memos show it, such as FIFO
	Slices []Slice
}

// Slice is a part of a lot. A slice without a lot stands for a missing quantity.
type Slice struct {
	Lot        string
	Account    string // the account that carries the lot; empty for the account of the source
	Quantity   money.Decimal
	Basis      money.Decimal // in the base currency of the legal entity
	AcquiredAt time.Time
	Fee        bool // It pays the fee.
	// BasisPending and Provisional are copied from its lot.
	BasisPending, Provisional bool
}

// Entry is the computed journal entry and the lots it creates.
type Entry struct {
	Lines []Line
	Lots  []Lot

	atValue []orderedLine // the lines before unit balances are settled
}

// Line is one line of the entry. Its amount is positive.
type Line struct {
	Entity, Account string
	Side            book.Side
	Amount          money.Decimal
	Currency        string
	Memo            string
	// Unit and Quantity are set for a line in an asset or a foreign currency: its symbol and the quantity booked.
	Unit     string
	Quantity money.Decimal
	// Effect is set for a line that opens or settles a unit balance.
	Effect BalanceEffect
	TagIDs []string // of its split; those of the entry apply to every line
}

// Lot is a lot that the entry creates: a new one, or one that continues a slice of another.
type Lot struct {
	Kind Kind
	Place
	Asset      Asset
	Parent     string // the lot that it continues
	Quantity   money.Decimal
	Basis      money.Decimal
	Currency   string
	AcquiredAt time.Time
	// BasisPending marks a basis that is an estimate until the other leg of a transfer, or the value, is known; Provisional one
	// that is an estimate until the type of the transaction is known.
	BasisPending, Provisional bool
}
