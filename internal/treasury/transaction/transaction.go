// Package transaction stores transactions: one movement of one asset in one direction at a source. The data that the
// source reported never changes; type, status, memo, vendor, tags and links do. Which index a list is read by is decided
// here and not by the databases: see plan_sql.go.
package transaction

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/rules/spam"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

const noun = "transaction"

// Direction is the direction as an account statement states it.
type Direction string

// The directions.
const (
	Credit Direction = "credit"
	Debit  Direction = "debit"
)

// IsInflow reports whether value came into the source, which a statement calls a credit.
func IsInflow(d Direction) bool { return d == Credit }

// Status is the state of a transaction in the books.
type Status string

// The statuses.
const (
	Pending Status = "pending"
	Posted  Status = "posted"
	Spam    Status = "spam"
)

// statuses lists every status.
var statuses = []Status{Pending, Posted, Spam}

// Type is the economic nature of a transaction. Booking it takes more: a ledger account.
type Type string

// The types that the code itself refers to; Types lists all.
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

// Transaction is a movement of one asset in one direction at a source.
type Transaction struct {
	ID             string
	Number         int64
	Source         source.Source
	ExternalID     string
	At             time.Time
	Description    string
	Direction      Direction
	Quantity       *money.Decimal // gross, before fees; nil if unknown
	Currency       string         // an ISO code or the symbol of an asset
	Value          *Value         // nil if unknown
	Category       string         // as the platform calls it
	Vendor         string
	Memo           string
	Crypto         *Crypto
	Bank           *Bank
	Card           *Card
	EventKey       string // the platform's id of a trade or transfer, shared by its sides
	GroupID        string // shared by transactions that are linked
	Type           Type
	TypeBeforeSpam Type // the type before it was marked as spam
	Status         Status
	Spam           *SpamScore  // of the spam filter; nil if it found nothing
	Suggested      *Suggestion // by a classification run; nil once there is a journal entry
	JournalEntryID string
	TagIDs         []string
	CreatedAt      time.Time
	UpdatedAt      time.Time

	// details and spam are the texts of columns as they were read. They never change, and an earlier version may have written them
	// otherwise than this one would.
	details, spam *string
}

// Value is the worth of a transaction in a fiat currency. For an inflow, gross is what the payer paid and net what
// arrived; for an outflow, gross is all that left and net what the counterparty received. Gross is always net plus fee.
type Value struct {
	Gross, Fee money.Decimal
	Currency   string
}

// Net returns gross less the fee.
func (v Value) Net() money.Decimal { return v.Gross.Sub(v.Fee) }

// Crypto holds the details of a crypto asset and of the movement on its chain.
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

// Bank holds the details of a movement on a bank account.
type Bank struct {
	BankName         string `json:"bank,omitempty"`
	AccountLast4     string `json:"last4,omitempty"`
	CounterpartyName string `json:"counterparty,omitempty"`
}

// Card holds the details of a card payment.
type Card struct {
	MerchantName     string `json:"merchant,omitempty"`
	MerchantCategory string `json:"category,omitempty"`
	CardholderName   string `json:"holder,omitempty"`
	Last4            string `json:"last4,omitempty"`
}

// SpamScore is the result of the spam filter for one arrival, with its reasons.
type SpamScore struct {
	Score          int      `json:"score"`
	Reasons        []Reason `json:"reasons"`
	LegalEntityIDs []string `json:"entities,omitempty"` // those whose history it follows from; empty means all
}

// historyCodes are the reasons that follow from other transactions than the one that was judged.
var historyCodes = []spam.Code{spam.KnownToken, spam.UnknownToken, spam.Counterparty, spam.LookalikeAddress, spam.MassAirdrop}

// For returns the reasons as an actor may see them. Those that may follow from transactions of legal entities that the actor's key has no
// access to keep their code and weight, without the text.
func (s SpamScore) For(who actor.Actor) []Reason {
	if !who.Limited() || isWithin(s.LegalEntityIDs, who) {
		return s.Reasons
	}
	out := slices.Clone(s.Reasons)
	for i, r := range out {
		if slices.Contains(historyCodes, spam.Code(r.Code)) {
			out[i].Text = "Based on earlier transactions of the organization."
		}
	}
	return out
}

// isWithin reports whether an actor sees all of the legal entities that something follows from; none means all of the organization.
func isWithin(legalEntityIDs []string, who actor.Actor) bool {
	return len(legalEntityIDs) > 0 && !slices.ContainsFunc(legalEntityIDs, func(id string) bool { return !who.Sees(id) })
}

// Reason is one observation of the spam filter. A positive weight indicates spam.
type Reason struct {
	Code   string `json:"code"`
	Weight int    `json:"weight"`
	Text   string `json:"text"`
}

// SequenceNumber returns the number that people refer to the transaction by, such as OT-17.
func (t Transaction) SequenceNumber() string { return SequenceNumber(t.Number) }

// ParseNumber returns the number in a sequence number such as OT-17.
func ParseNumber(sequenceNumber string) (int64, error) {
	return strconv.ParseInt(strings.TrimPrefix(sequenceNumber, "OT-"), 10, 64)
}

// SequenceNumber formats the number of a transaction, such as OT-17.
func SequenceNumber(number int64) string { return "OT-" + strconv.FormatInt(number, 10) }

// Suggestion is a classification proposed by a rule or by precedents. Nothing is booked from it without a request.
type Suggestion struct {
	RunID           string           `json:"run"`
	LedgerAccountID string           `json:"account,omitempty"`
	Splits          []classify.Split `json:"splits,omitempty"` // instead of LedgerAccountID
	Type            Type             `json:"type,omitempty"`
	Confidence      int64            `json:"confidence"` // percent
	Reasons         []string         `json:"reasons"`
	RuleID          string           `json:"rule,omitempty"`
	RuleVersion     int64            `json:"rule_version,omitempty"`
	Examples        []string         `json:"examples,omitempty"` // ids of the transactions that it is based on
	LegalEntityIDs  []string         `json:"entities,omitempty"` // those that the run was limited to; empty means all
}

// For returns the suggestion as an actor may see it. A suggestion from precedents may follow from bookings of legal entities that the
// actor's key has no access to: then its examples and reasons are left out. A suggestion of a foreign account, to which the actor cannot
// book, is not shown at all.
func (s *Suggestion) For(who actor.Actor, foreign map[string]bool) *Suggestion {
	if s == nil || slices.ContainsFunc(s.Accounts(), func(id string) bool { return foreign[id] }) {
		return nil
	}
	out := *s
	if who.Limited() && !isWithin(s.LegalEntityIDs, who) && len(s.Examples) > 0 {
		out.Examples, out.Reasons = nil, []string{"Based on earlier bookings of the organization."}
	}
	return &out
}

// Accounts returns the ids of the ledger accounts that are suggested.
func (s *Suggestion) Accounts() (out []string) {
	if s == nil {
		return nil
	}
	if s.LedgerAccountID != "" {
		out = append(out, s.LedgerAccountID)
	}
	for _, p := range s.Splits {
		out = append(out, p.LedgerAccountID)
	}
	return out
}
