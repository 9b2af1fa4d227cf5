package posting

import (
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Input is everything an entry is computed from. A single transaction is one leg, Out or In by its direction; a matched
// pair sets both.
type Input struct {
	Type    Type
	Out, In *Leg
	// Fees are outflows in other assets that paid for this one, such as the gas of a transfer of tokens. Only their gross value is used.
	Fees []Leg
	// Target is the account the request names. It is ignored for a pair, where the other leg is the target.
	Target Target
	Policy Policy
	Books  Books
	// Units is set since loans, receivables, payables and intercompany balances have units. What was booked before is computed
	// again as it was.
	Units bool `json:",omitempty"`
	// Outstanding are the unit balances that the entry settles, as they stand before it.
	Outstanding []UnitBalance `json:",omitempty"`
}

// Leg is one transaction: one asset and one direction.
type Leg struct {
	Place
	// Offset replaces the account of the source where the request names another. Lots are then consumed from that account only.
	Offset string
	Asset  Asset
	// Quantity is the whole quantity that moved, including the fee. FeeQuantity is the part that the fee took, zero if the
	// fee is known by its value only: such a fee is booked, but takes nothing from the quantity. The difference is what
	// lands of an inflow.
	Quantity, FeeQuantity money.Decimal
	Value                 *Value // nil if there is no price
	// FeeRole is the role of the account that the fee is booked to, if it differs from the one that follows from the type.
	FeeRole string
	At      time.Time
}

// Place is where an asset is held. Parked lots have an account and no source.
type Place struct{ Source, Account, Entity string }

// Asset is the asset or currency that moves.
type Asset struct {
	Symbol, Chain string
	Token         string // identifies an NFT
	Lots          bool   // Its cost is tracked by lots. False for money.
	Own           bool   // Issued by the legal entity itself, for which it is not an asset.
}

// Value is the value of a leg. Gross is what the sender gave up, and gross less fee is what the recipient got, for
// inflows and outflows alike.
type Value struct {
	Gross, Fee money.Decimal
	Currency   string
}

// Target is the account on the other side of the entry.
type Target struct {
	Account  string
	Clearing bool
	Lots     bool // It carries lots, so its balance must equal their basis.
	// Source and Entity are set if it is the account of another source.
	Source, Entity string
	// Grows is the side on which an account with unit balances grows: an asset or a liability that is neither a clearing
	// account nor the account of a source. Its lines carry the units that moved. It is empty for any other account.
	Grows book.Side `json:",omitempty"`
	// OwedInKind reports whether such an account has receivables or obligations: a loan, a receivable, a payable. What is booked
	// to it in a digital asset is owed in that asset. Cash, which also grows, is paid for the asset instead.
	OwedInKind bool `json:"Owed,omitempty"`
	// Parked and Valued report how the account holds the asset that moves: as lots, or as units that were booked at their
	// value. It cannot hold both, because only the balance of lots must equal their basis.
	Parked  bool    `json:",omitempty"`
	Valued  bool    `json:",omitempty"`
	Holding Holding `json:",omitempty"` // what the sources of the account can hold; empty if it has none
	// Currency is the currency in which the sources of the account are kept, empty if there are none or they differ. What is paid for an
	// asset is stated in it, because no quantity follows from a value in another one.
	Currency string `json:",omitempty"`
	// Splits replace the account: the amount is divided among several.
	Splits []Split `json:",omitempty"`
}

// Holding is what a source can hold.
type Holding string

// The holdings.
const (
	HoldsMoney  Holding = "money"  // ISO 4217 money only: a bank account, a card, a processor
	HoldsAssets Holding = "assets" // no money: a wallet
	HoldsBoth   Holding = "both"   // an exchange account
)

// holds reports whether the sources of the target can hold an asset.
func (t Target) holds(a Asset) bool {
	return t.Holding != HoldsMoney && a.Lots || t.Holding != HoldsAssets && !a.Lots
}

// Split is a part of the amount of the target, which is booked to an account of its own: an amount in the currency of the
// line, a percentage, or a quantity of what moved.
type Split struct {
	Account    string
	Amount     *money.Decimal `json:",omitempty"`
	Percent    *money.Decimal `json:",omitempty"`
	Quantity   *money.Decimal `json:",omitempty"`
	Memo       string         `json:",omitempty"`
	TagIDs     []string       `json:",omitempty"`
	Grows      book.Side      `json:",omitempty"`     // as that of a target
	OwedInKind bool           `json:"Owed,omitempty"` // as that of a target
	// Applied marks a part of a payment of a customer that is applied to invoices: Quantity is in the currency of the payment, which for a
	// digital asset is that of its value, and a negative one is on the other side. In a foreign currency, lines on accounts that grow
	// carry it always.
	Applied bool `json:",omitempty"`

	Holding  Holding `json:",omitempty"` // as that of a target; a source that can hold what moves has no split
	Currency string  `json:",omitempty"` // as that of a target
}

// Policy holds the accounting choices of a legal entity. The zero value is the default: fees are expenses, intercompany
// transfers keep their basis, and assets that are lent leave the books.
type Policy struct {
	NetFees    bool // Fees reduce the proceeds of a disposal, or add to the basis of a purchase with money.
	Capitalize bool // Fees add to the basis of what is acquired by swap, mint or purchase of an NFT.
	FairValue  bool // Intercompany transfers are disposals at fair value.
	ParkLoans  bool // Assets that are lent keep their basis.
}

// Books holds the accounts, currencies and rates that lines are written with.
type Books struct {
	Accounts   map[string]string // ledger account by role
	Currencies map[string]string // by legal entity
	Rates      map[Rate]money.Decimal
}

// Rate names an exchange rate: the amount of To that one unit of From is worth.
type Rate struct{ From, To string }

// MarshalText writes a rate as USD>EUR, so that it can be the key of a JSON object.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.From + ">" + r.To), nil }

// UnmarshalText reads what MarshalText writes.
func (r *Rate) UnmarshalText(text []byte) error {
	from, to, found := strings.Cut(string(text), ">")
	if !found {
		return fmt.Errorf("posting: %q is not a rate such as USD>EUR", text)
	}
	*r = Rate{from, to}
	return nil
}

// The roles of the accounts that lines are booked to.
const (
	FeesNetwork      = "fees_network"
	FeesBank         = "fees_bank"
	FeesTrading      = "fees_trading"
	RealizedGain     = "realized_gain"
	RealizedLoss     = "realized_loss"
	FXGain           = "fx_gain"
	FXLoss           = "fx_loss"
	UnrealizedGain   = "unrealized_gain"
	UnrealizedLoss   = "unrealized_loss"
	InterestIncome   = "interest_income"
	InterestExpense  = "interest_expense"
	Suspense         = "suspense"
	SwapClearing     = "swap_clearing"
	TransferClearing = "transfer_clearing"
	dueFrom          = "due_from:"
	dueTo            = "due_to:"
)

// account returns the ledger account of the leg.
func (l *Leg) account() string {
	if l.Offset != "" {
		return l.Offset
	}
	return l.Account
}

// netQuantity returns the quantity without the fee: what lands of an inflow.
func (l *Leg) netQuantity() money.Decimal { return l.Quantity.Sub(l.FeeQuantity) }
