package posting

import (
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Input is everything an entry follows from. A transaction is one leg, Out or In by its direction; a matched pair is both.
type Input struct {
	Type    Type
	Out, In *Leg
	// Fees are outflows in other assets that paid for this one, such as the gas of a transfer of tokens. Only their gross counts.
	Fees []Leg
	// Target is the account the request names. Of a pair it is not looked at: the other leg is the target.
	Target Target
	Policy Policy
	Books  Books
}

// Leg is one transaction: one asset and one direction.
type Leg struct {
	Place
	// Offset replaces the account of the source where the request names another. Lots are then taken from that account.
	Offset string
	Asset  Asset
	// Quantity is all that moved, the fee included, and FeeQuantity the part of it that the fee took, zero where that is
	// not known. So what lands of an inflow is the difference.
	Quantity, FeeQuantity money.Decimal
	Value                 *Value // nil where there is no price
	// FeeRole is the role of the account the fee goes to, where the type does not say it well enough.
	FeeRole string
	At      time.Time
}

// Place is where an asset is held. What is parked has an account and no source.
type Place struct{ Source, Account, Entity string }

// Asset is what moves.
type Asset struct {
	Symbol, Chain string
	Token         string // identifies one that is not fungible
	Lots          bool   // Its cost is kept by lots. Money is not.
	Own           bool   // Issued by the legal entity itself, to which it is no asset.
}

// Value is what a leg is worth. Of an inflow gross is what the payer gave up and net what landed; of an outflow gross
// is all that left and net what the other side got.
type Value struct {
	Gross, Fee money.Decimal
	Currency   string
}

// Target is the account on the other side, and what is known of it.
type Target struct {
	Account  string
	Clearing bool
	Lots     bool // It carries lots, so that its balance is theirs.
	// Source and Entity are set where it is the account of one other source.
	Source, Entity string
}

// Policy is what a legal entity chose. The zero value is the default: fees are expenses, intercompany transfers keep
// their basis, and what is lent leaves the books.
type Policy struct {
	NetFees    bool // Fees reduce the proceeds of a disposal, or add to the basis of a purchase with money.
	Capitalize bool // Fees add to the basis of what is acquired by swap, mint or purchase of an NFT.
	FairValue  bool // Intercompany transfers are disposals at fair value.
	ParkLoans  bool // What is lent keeps its basis.
}

// Books is what lines are written with.
type Books struct {
	Accounts   map[string]string // ledger account by role
	Currencies map[string]string // by legal entity
	Rates      map[Rate]money.Decimal
}

// Rate names a rate: how much of To one of From is.
type Rate struct{ From, To string }

// MarshalText writes a rate's name, so that it can be a key.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.From + ">" + r.To), nil }

// UnmarshalText reads it.
func (r *Rate) UnmarshalText(text []byte) error {
	from, to, found := strings.Cut(string(text), ">")
	if !found {
		return fmt.Errorf("posting: %q names no rate", text)
	}
	*r = Rate{from, to}
	return nil
}

// The roles of accounts that lines go to.
const (
	FeesNetwork      = "fees_network"
	FeesBank         = "fees_bank"
	FeesTrading      = "fees_trading"
	RealizedGain     = "realized_gain"
	RealizedLoss     = "realized_loss"
	FXGain           = "fx_gain"
	FXLoss           = "fx_loss"
	Suspense         = "suspense"
	SwapClearing     = "swap_clearing"
	TransferClearing = "transfer_clearing"
	dueFrom          = "due_from:"
	dueTo            = "due_to:"
)

// account is where the leg stands in the books.
func (l *Leg) account() string {
	if l.Offset != "" {
		return l.Offset
	}
	return l.Account
}

// landed is what arrives of an inflow.
func (l *Leg) netQuantity() money.Decimal { return l.Quantity.Sub(l.FeeQuantity) }

// arrived is what arrives of an inflow in the books: of money whose platform does not say what the fee took, its share of the value.
func (l *Leg) bookedQuantity() money.Decimal {
	if l.Asset.Lots {
		return l.netQuantity()
	}
	return l.Quantity.Sub(l.feeQuantity())
}
