// Package provider defines what a connector to an external system does, and what all connectors share: how requests are sent, repeated and
// paced, and how refusals are told apart. The packages below it each speak the wire format of one system. They turn its answers into
// records and know nothing of the database.
package provider

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// Connector reads accounts at one external system. Its methods may be called by several goroutines, each with a session of its own.
//
// Errors have a kind (see package fault): Unauthorized if the system refuses the credentials, Forbidden if they lack a permission,
// Unavailable if the same request may succeed later, and Conflict if it cannot be answered at all.
type Connector interface {
	// Describe says what the system is and what is needed to connect an account there.
	Describe() Description

	// Check asks whose the credentials of a session are, and what they permit.
	Check(ctx context.Context, s *Session) (Account, error)

	// Read returns the records of a ledger that follow a cursor, the oldest first. An empty cursor stands for the beginning. Reading again
	// from the same cursor returns the same records, and perhaps later ones.
	Read(ctx context.Context, s *Session, ledger, cursor string) (Page, error)
}

// Balancer is a connector that can say what an account holds.
type Balancer interface {
	// Balances returns what an account holds now, without assets of which it holds none.
	Balances(ctx context.Context, s *Session) ([]Balance, error)
}

// Kind is the kind of an external system.
type Kind string

// The kinds.
const (
	Exchange Kind = "exchange"
)

// Description says what a system is and what is needed to connect an account there.
type Description struct {
	Name  string // in the API, such as kraken
	Title string // for people, such as Kraken
	Kind  Kind
	URL   string // the address of its API, without a slash at the end

	Fields []Field // what people enter
	Advice string  // how to create the credentials, and with which permissions

	Ledgers []string // what is read of an account, each with a cursor of its own
	Rate    Rate     // how often requests may be sent

	// Unverified lists, for operators, what could not be checked without the real system.
	Unverified []string
}

// The names of fields that several systems have.
const (
	APIKey     = "api_key"
	APISecret  = "api_secret"
	Passphrase = "passphrase"
)

// Field is something that people enter to connect an account.
type Field struct {
	Name   string // in the API
	Title  string // for people
	Help   string
	Secret bool // it is stored encrypted and never returned
	Max    int  // characters
}

// Credentials are the values of fields, by name.
type Credentials map[string]secret.Text

// Grant is something that credentials permit.
type Grant string

// The grants that matter to Bursar, which needs Read only.
const (
	Read     Grant = "read"
	Trade    Grant = "trade"
	Withdraw Grant = "withdraw" // moving money out of the account, also to another account at the same system
)

// Account is what a system says about the account of credentials.
type Account struct {
	ID     string  // the system's own id, empty if it does not tell
	Name   string  // for people, empty if there is none
	Grants []Grant // nil if the system does not tell

	// Warnings are texts for people about these credentials, such as that they expire soon.
	Warnings []string
}

// Record is a movement with the text that the system has sent about it.
type Record struct {
	intake.Record
	Original json.RawMessage
}

// Omission is something that a system has sent and that could not be understood.
type Omission struct {
	ID       string
	Reason   string
	Original json.RawMessage
}

// Gap is a range of time for which a system does not tell what happened.
type Gap struct {
	From, Through time.Time
	Reason        string
}

// Page is what follows a cursor in a ledger.
type Page struct {
	Records []Record // the oldest first
	Omitted []Omission
	Removed []string // external ids of records that the system has taken back
	Gaps    []Gap

	Cursor string // the end of the page; an empty one stands for that of the request
	More   bool   // another page follows now
}

// Balance is what an account holds of an asset.
type Balance struct {
	Currency string
	Amount   money.Decimal
}
