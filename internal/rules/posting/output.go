package posting

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Kind is what becomes of lots.
type Kind string

// The kinds. Created is of lots only.
const (
	Created   Kind = "create"
	Consumed  Kind = "consume"
	Moved     Kind = "move"
	Converted Kind = "convert"
	Parked    Kind = "park"
	Unparked  Kind = "unpark"
)

// Take is what the lot engine is asked for: a quantity of an asset, of which the part for the fee selects its lots first.
type LotRequest struct {
	Kind        Kind
	Asset       Asset
	Quantity    money.Decimal // all of it
	Fee         money.Decimal // the part that pays the fee
	From        Place         // Unparked: of the parked lots under its account
	AccountOnly bool          // Only lots of that account will do: it was named, or they are parked there.
	To          Place         // where they go, of those that are not consumed
	At          time.Time
	// Proceeds are what was got for what is consumed, without the part for the fee and before costs; FeeProceeds what
	// the fee part was worth. Of fee that is unparked only in part it is the rounded share.
	Proceeds, FeeProceeds money.Decimal
	// Costs are the fees of a disposal. Where the policy is to net them, they reduce its gain.
	Costs money.Decimal
}

// Answer is what the lot engine gave for a take: slices of lots, those of the fee first. Their quantity may fall
// short. What is missing then costs nothing; of what was unparked it is worth its value instead.
type Answer struct {
	Method string // as a memo names it, such as FIFO
	Slices []Slice
}

// Slice is a part of a lot. Without a lot it is what was missing.
type Slice struct {
	Lot        string
	Account    string // that carries the lot; empty where it is that of the source
	Quantity   money.Decimal
	Basis      money.Decimal // in the currency of the legal entity
	AcquiredAt time.Time
	Fee        bool // It pays the fee.
	// BasisPending and Provisional are those of its lot.
	BasisPending, Provisional bool
}

// Entry is the outcome.
type Entry struct {
	Lines []Line
	Lots  []Lot
}

// Line is one line of the entry. Its amount is positive.
type Line struct {
	Entity, Account string
	Side            book.Side
	Amount          money.Decimal
	Currency        string
	Memo            string
	// Unit and Quantity are what the line holds where that is not the currency of the books: so much of an asset, or so much foreign money.
	Unit     string
	Quantity money.Decimal
}

// Lot is one the entry makes: a new one, or what became of a slice of another.
type Lot struct {
	Kind Kind
	Place
	Asset      Asset
	Parent     string // the lot it was a slice of
	Quantity   money.Decimal
	Basis      money.Decimal
	Currency   string
	AcquiredAt time.Time
	// BasisPending says that the basis is a guess until the other leg of a transfer is known, Provisional until the type is.
	BasisPending, Provisional bool
}
