package provider

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Ledger is a connector to a general ledger that journal entries are sent to.
type Ledger interface {
	Connector

	// Chart returns the accounts and dimensions of the general ledger, and until when it is locked.
	Chart(ctx context.Context, s *Session) (Chart, error)

	// Push stores a journal and returns what the system calls it. If a journal with the same key is there already, also because the answer to
	// an earlier request was lost, it stores nothing and returns that one. All of a journal is stored, or nothing of it. An error of kind
	// Unavailable means that nobody knows whether it was stored. One of kind Conflict says why the system refuses it: it was not stored,
	// unless the answer to an earlier request of this call was lost and looking for the journal was refused. The caller then looks with Find.
	Push(ctx context.Context, s *Session, j Journal) (Posted, error)

	// Find returns the journal with the key of another one, or an error of kind NotFound.
	Find(ctx context.Context, s *Session, j Journal) (Posted, error)

	// Get returns a journal as it stands in the general ledger now, or an error of kind NotFound if it is gone or void.
	Get(ctx context.Context, s *Session, id string) (Posted, error)

	// Remove takes a journal out of the general ledger: it deletes it, voids it or posts its reversal, as the system permits. A journal
	// that is gone is no error. An error of kind Conflict means that it stays, such as in a locked period.
	Remove(ctx context.Context, s *Session, p Posted) error
}

// Chart is what journals can be made of in a general ledger.
type Chart struct {
	Accounts      []LedgerAccount
	Dimensions    []Dimension
	Currency      string   // the currency of the books, an ISO 4217 code
	Foreign       bool     // journals may have another currency
	LockedThrough string   // the last day of locked periods, YYYY-MM-DD; empty if nothing is locked, or the system does not tell
	Warnings      []string // texts for people, such as that a part could not be read
}

// LedgerAccount is an account of a general ledger.
type LedgerAccount struct {
	ID       string
	Code     string // the number for people; empty if there is none
	Name     string
	Type     string // Asset, Liability, Equity, Revenue or Expense; empty if the system has another
	Currency string // of an account with only one; empty otherwise
	Active   bool
	Refuses  string // why no journal can have the account; empty if it can
}

// Dimension is something by which lines are told apart, such as departments.
type Dimension struct {
	ID     string
	Name   string
	Values []DimensionValue
}

// DimensionValue is a value of a dimension.
type DimensionValue struct {
	ID     string
	Name   string
	Active bool
}

// Journal is what is stored in a general ledger for a journal entry. Its debits equal its credits.
type Journal struct {
	Key      string // identifies it for ever; at most 40 ASCII letters, digits and characters _ and -
	Number   string // for people, such as JE-12
	Date     string // YYYY-MM-DD
	Memo     string
	Currency string // of all lines, an ISO 4217 code
	Lines    []JournalLine
}

// JournalLine is a line of a journal.
type JournalLine struct {
	Account    string // the id of the account
	Debit      bool   // otherwise it is a credit
	Amount     money.Decimal
	Memo       string
	Dimensions map[string]string // values by dimensions, both as ids
}

// Posted is a journal in a general ledger.
type Posted struct {
	ID      string // the system's own
	Number  string // the number or name that the system shows; empty if there is none
	Version string // what the system needs to change it, or tells apart what was changed; empty if there is none
	URL     string // the page of the system that shows it; empty if it is not known

	// Journal is what the system has stored, as far as it tells. Get fills it in, the others need not.
	Journal Journal
}
