// Package glsync sends posted journal entries to general ledgers, each exactly once. It keeps a copy of their accounts and dimensions,
// which ledger account and which tag is mapped to which of them, and what stands there for each entry. A run is a background task: it plans
// what has to change, stores what it is about to send before each request, and stores the answers in batches. After a lost answer or a
// crash, the same key leads to the same journal. What a general ledger understands is in the package of its provider, which is passed in.
package glsync

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// Provider is a general ledger that entries can be sent to.
type Provider struct {
	Name string
	// Together is how many requests are sent at the same time: more would only wait for each other.
	Together int
	// Open returns sessions at the general ledger of a connection, each for one goroutine.
	Open func(o connection.Opened) func() Ledger
}

// Ledger is a session at a general ledger. Its errors are those of package provider: an error of kind Unavailable means that nobody knows
// what happened, and one of kind Conflict that the request was refused, and why. Push may have sent an earlier request whose answer was
// lost, so that the journal may be there all the same: Find tells.
type Ledger interface {
	Chart(ctx context.Context) (Chart, error)
	// Push stores a journal. If one with the same key is there already, it returns that one.
	Push(ctx context.Context, j Journal) (Posted, error)
	// Find returns the journal with the key of another one, or an error of kind NotFound.
	Find(ctx context.Context, j Journal) (Posted, error)
	// Get returns a journal as it stands now, or an error of kind NotFound.
	Get(ctx context.Context, id string) (Posted, error)
	// Remove takes a journal out of the general ledger. One that is gone is no error.
	Remove(ctx context.Context, p Posted) error
}

// Chart is what journals can be made of in a general ledger.
type Chart struct {
	Accounts      []ExternalAccount
	Values        []ExternalValue
	Currency      string // of the books
	Foreign       bool   // journals may have another currency
	LockedThrough string // the last day of locked periods, YYYY-MM-DD; empty if nothing is locked, or the system does not tell
	Warnings      []string
}

// ExternalAccount is an account of a general ledger as its provider tells.
type ExternalAccount struct {
	ID, Code, Name, Type, Currency string
	Active                         bool
	Refuses                        string // why no journal can have the account
}

// ExternalValue is a value of a dimension, such as a department.
type ExternalValue struct {
	Dimension, DimensionName, ID, Name string
	Active                             bool
}

// Journal is what is stored in a general ledger for an entry.
type Journal struct {
	Key      string        `json:"key"` // at most 40 ASCII characters
	Number   string        `json:"number"`
	Date     string        `json:"date"`
	Memo     string        `json:"memo"`
	Currency string        `json:"currency"`
	Lines    []JournalLine `json:"lines"`
	// LegalEntityIDs are those of the lines of the entry.
	LegalEntityIDs []string `json:"legal_entity_ids,omitempty"`
}

// JournalLine is a line of a journal.
type JournalLine struct {
	Account string        `json:"account"` // the general ledger's id
	Debit   bool          `json:"debit"`
	Amount  money.Decimal `json:"amount"`
	Memo    string        `json:"memo"`
	// Dimensions has values by dimensions, both as the general ledger's ids.
	Dimensions map[string]string `json:"dimensions,omitempty"`
}

// Posted is a journal in a general ledger.
type Posted struct {
	ID, Number, Version, URL string
	Journal                  Journal // of Get, as far as the system tells
}
