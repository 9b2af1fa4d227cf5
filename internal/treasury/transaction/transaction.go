// Package transaction holds the transactions: what happened at a source, one asset and one direction each. What the
// source reported never changes; type, status, memo, vendor, tags and links do.
package transaction

import (
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

const noun = "transaction"

// Direction is the statement view of the platform.
type Direction string

// The directions.
const (
	Credit Direction = "credit"
	Debit  Direction = "debit"
)

// IsInflow tells that value came into the source: a statement calls that a credit.
func IsInflow(d Direction) bool { return d == Credit }

// Status is what became of a transaction in the books.
type Status string

// The states.
const (
	Pending Status = "pending"
	Posted  Status = "posted"
	Spam    Status = "spam"
)

// Statuses lists every state there is.
var Statuses = []Status{Pending, Posted, Spam}

// Type is what happened economically, which is not yet how it is booked.
type Type string

// The types that the service itself speaks of.
const (
	Unknown      Type = "UNKNOWN"
	TypeSpam     Type = "SPAM"
	Deposit      Type = "DEPOSIT"
	Withdrawal   Type = "WITHDRAWAL"
	Swap         Type = "SWAP"
	Bridge       Type = "BRIDGE"
	Internal     Type = "INTERNAL TRANSFER"
	Intercompany Type = "INTERCOMPANY TRANSFER"
	Fee          Type = "FEE"
	Refund       Type = "REFUND"
	Chargeback   Type = "CHARGEBACK"
)

// Transaction is one of them.
type Transaction struct {
	ID             string
	Number         int64
	Source         source.Source
	ExternalID     string
	At             time.Time
	Description    string
	Direction      Direction
	Quantity       *money.Decimal // gross: all that moved; nil where it is not known
	Currency       string         // an ISO code or the symbol of an asset
	Value          *Value         // nil where nobody knows what it was worth
	Category       string         // of the platform
	Vendor         string
	Memo           string
	Crypto         *Crypto
	Bank           *Bank
	Card           *Card
	EventKey       string // what the platform joins the sides of one event by: the id of a trade or a transfer
	GroupID        string // joins transactions that are linked
	Type           Type
	TypeBeforeSpam Type // what it was before it became spam
	Status         Status
	Spam           *Verdict    // of the filter; nil where it had nothing to say
	Suggested      *Suggestion // what a classification run proposes; nil for what is booked
	JournalEntryID string
	TagIDs         []string
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Value is what a transaction was worth in a fiat currency. Of an inflow gross is what the payer gave up and net what landed, of an outflow
// gross is all that left and net what the counterparty got: gross is always net plus fee.
type Value struct {
	Gross, Fee money.Decimal
	Currency   string
}

// Net is gross less the fee.
func (v Value) Net() money.Decimal { return v.Gross.Sub(v.Fee) }

// Crypto is what is known of an asset that is not fiat money, and of its place on a chain.
type Crypto struct {
	Chain           string         `json:"chain,omitempty"`
	TransactionHash string         `json:"hash,omitempty"`
	BlockNumber     *int64         `json:"block,omitempty"`
	From            string         `json:"from,omitempty"`
	To              string         `json:"to,omitempty"`
	AssetType       string         `json:"asset,omitempty"`
	ContractAddress string         `json:"contract,omitempty"`
	TokenID         string         `json:"token,omitempty"`
	FeeQuantity     *money.Decimal `json:"fee,omitempty"`
	FeeAssetType    string         `json:"fee_asset,omitempty"`
}

// Bank is what is known of the bank account and of who is at the other end.
type Bank struct {
	BankName         string `json:"bank,omitempty"`
	AccountLast4     string `json:"last4,omitempty"`
	CounterpartyName string `json:"counterparty,omitempty"`
}

// Card is what is known of a payment by card.
type Card struct {
	MerchantName     string `json:"merchant,omitempty"`
	MerchantCategory string `json:"category,omitempty"`
	CardholderName   string `json:"holder,omitempty"`
	Last4            string `json:"last4,omitempty"`
}

// Verdict is what the spam filter makes of an arrival, and why.
type Verdict struct {
	Score   int      `json:"score"`
	Reasons []Reason `json:"reasons"`
}

// Reason is one thing the filter saw. Positive weights speak for spam.
type Reason struct {
	Code   string `json:"code"`
	Weight int    `json:"weight"`
	Text   string `json:"text"`
}

// SequenceNumber is how people call the transaction.
func (t Transaction) SequenceNumber() string { return SequenceNumber(t.Number) }

// SequenceNumber is how people call the transaction with a number.
func SequenceNumber(number int64) string { return "OT-" + strconv.FormatInt(number, 10) }

// Suggestion is what a rule, or what was booked before, would make of a transaction. It is never booked by itself.
type Suggestion struct {
	RunID           string   `json:"run"`
	LedgerAccountID string   `json:"account,omitempty"`
	Type            Type     `json:"type,omitempty"`
	Confidence      int64    `json:"confidence"` // percent
	Reasons         []string `json:"reasons"`
	RuleID          string   `json:"rule,omitempty"`
	RuleVersion     int64    `json:"rule_version,omitempty"`
	Examples        []string `json:"examples,omitempty"` // transactions that it rests on
}
