// Package asset keeps the lots: what was acquired at one time and cost, what was taken from it since, and where it is held. Which lots leave is
// decided by rules/lot; this package gives it the part of a pool it needs, and writes down what it says, so that the lots are always what they would
// be had everything happened in order. When something happens late, what came after it is taken back and happens again.
package asset

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Origin is where a lot comes from.
type Origin string

// The origins.
const (
	Manual      Origin = "manual"      // somebody entered it: an opening balance
	Acquired    Origin = "transaction" // a transaction brought it
	Transferred Origin = "move"        // it is a slice of another lot, with its cost and date
)

// Lot is what was acquired at one time and cost, and what is left of it. The contract calls it an asset.
type Lot struct {
	ID                string
	Pool              string
	Place             Place
	Seq               int64
	LegalEntityID     string
	SourceID          string // empty where it is parked
	LedgerAccountID   string
	AssetType         string
	Chain             string
	TokenID           string
	AcquiredAt        time.Time
	Quantity          money.Decimal
	RemainingQuantity money.Decimal
	CostBasis         money.Decimal // of Quantity
	RemainingBasis    money.Decimal // of RemainingQuantity
	Currency          string
	Origin            Origin
	ParentID          string
	TransactionID     string
	JournalEntryID    string
	OpenedIn          string // the accounting period, where no entry says it
	BasisPending      bool   // until the other half of a transfer is found
	Provisional       bool   // until its transaction is classified
	CreatedAt         time.Time
	UpdatedAt         *time.Time
}

// Use is what one request took from one lot.
type Use struct {
	ID              string
	Pool            string
	Place           Place // of the request
	Position        int64
	LotID           string // empty for what was not there
	Kind            string // as rules/lot names it
	Correction      bool   // what changed about a use whose period was closed: amounts are differences
	JournalEntryID  string
	TransactionID   string
	TransactionType string
	LegalEntityID   string
	SourceID        string // where it was held
	LedgerAccountID string // that it left
	AssetType       string
	Chain           string
	TokenID         string
	AccountingDate  time.Time
	PeriodID        string
	Quantity        money.Decimal
	Basis           money.Decimal
	Proceeds        money.Decimal // before the fee
	Fee             money.Decimal
	Gain            money.Decimal
	Currency        string
	AcquiredAt      time.Time
	DisposedAt      time.Time
	Days            int64
	Term            string
	Method          string
	Lots            int64 // -1 where the lot was emptied

	pending, provisional bool // those of the lot, while they are at hand
}

// Realizes tells that a gain or a loss was realized: a move or a conversion realizes none.
func (u Use) Realizes() bool { return u.Kind == "dispose" || u.Kind == "fee" }
