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

// Connector connects to accounts at one external system. What else it can do follows from the interfaces below that it implements: Reader,
// Balancer, Divided, Hosted, Exchanger, Revoker and Ledger. Its methods may be called by several goroutines, each with its own session.
//
// Errors have a kind (see package fault): Unauthorized if the system refuses the credentials, Forbidden if they lack a permission,
// Unavailable if the same request may succeed later, and Conflict if it cannot be answered at all. Invalid names a field of the credentials
// that is wrong by itself.
type Connector interface {
	// Describe says what the system is and what is needed to connect an account there.
	Describe() Description

	// Check asks whose the credentials of a session are, and what they permit.
	Check(ctx context.Context, s *Session) (Account, error)
}

// Reader is a connector that reads what moved in an account.
type Reader interface {
	Connector

	// Read returns the records of a ledger that follow a cursor, the oldest first. An empty cursor stands for the beginning. Reading again
	// from the same cursor returns the same records, and perhaps later ones.
	Read(ctx context.Context, s *Session, ledger, cursor string) (Page, error)
}

// Balancer is a connector that can say what an account holds.
type Balancer interface {
	// Balances returns what an account holds. What the system does not tell is left out.
	Balances(ctx context.Context, s *Session) (Holdings, error)
}

// Divided is a connector to a system that shows several accounts to one person, such as the accounts at a bank. Each becomes a source of
// its own, and records and balances name theirs.
type Divided interface {
	// Parts returns the accounts.
	Parts(ctx context.Context, s *Session) ([]Part, error)
}

// Part is one of several accounts of a connection.
type Part struct {
	ID       string // the system's own, as records state it
	Name     string // for people
	Kind     PartKind
	Currency string // an ISO 4217 code; empty for a wallet or an exchange account
	Chain    string // of a wallet
	Address  string // of a wallet
	Last4    string // of a bank account or a card; empty if it is not known
}

// PartKind is what a part is.
type PartKind string

// The kinds of parts.
const (
	BankAccount   PartKind = "bank"
	CardAccount   PartKind = "card"
	WalletAccount PartKind = "wallet"
)

// Kind is the kind of an external system.
type Kind string

// The kinds.
const (
	Exchange   Kind = "exchange"
	Bank       Kind = "bank"
	Card       Kind = "card"
	Processor  Kind = "processor"
	Chain      Kind = "chain"
	Accounting Kind = "accounting"
)

// Description says what a system is and what is needed to connect an account there.
type Description struct {
	Name  string // in the API, such as kraken
	Title string // for people, such as Kraken
	Kind  Kind
	URL   string // the address of its API, without a slash at the end; empty if people enter it

	Fields []Field // what people enter
	Advice string  // how to create the credentials, and with which permissions

	Ledgers []string // what is read of an account, each with a cursor of its own
	Rate    Rate     // how often requests may be sent

	// RegisterAt is where the operator of the service has to register it at the system first, to configure the id and the secret that the
	// system gives out (Session.Client); empty if that is not necessary.
	RegisterAt string

	// Requires is the currency that the books of the legal entity must have, an ISO 4217 code; empty means any.
	Requires string

	// Unverified lists, for operators, what could not be checked without the real system.
	Unverified []string
}

// The names of fields that several systems have.
const (
	APIKey     = "api_key"
	APISecret  = "api_secret"
	Passphrase = "passphrase"
	Subdomain  = "subdomain"
	Address    = "address"
	RPCURL     = "rpc_url"
	Entity     = "entity" // the company at the system, if it has several
)

// The names of credentials that connectors keep and nobody enters.
const (
	AccountID    = "account_id" // the system's id of the account
	AccessToken  = "access_token"
	RefreshToken = "refresh_token"
	TokenExpires = "token_expires" // when the access token expires, in seconds since 1970
)

// Field is something that people enter to connect an account.
type Field struct {
	Name     string // in the API
	Title    string // for people
	Help     string
	Secret   bool // forms hide what is typed
	Open     bool // it is no credential: it is shown with the connection, such as the address of a wallet
	Optional bool
	Setup    bool     // it is entered once for the organization, before the first account is connected
	Max      int      // characters
	Choices  []string // the only values; nil means any
}

// Credentials are the values of fields, by name, and what a connector keeps with them, such as tokens. They are stored encrypted.
type Credentials map[string]secret.Text

// Grant is something that credentials permit.
type Grant string

// The grants that matter to Bursar, which needs Read only.
const (
	Read     Grant = "read"
	Trade    Grant = "trade"    // trading, and other changes inside the account, such as staking and new addresses for deposits
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
	Part     string // the id of the part that it belongs to; empty if the connection is not divided
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
	// Removed are the external ids of records that the system has taken back, all parts together. Those that are not known mean nothing.
	// They are removed before the records of the page are added, so that a record of the page with such an id replaces the former one: if
	// both state the same part, time, direction, quantity and currency, the former one can stay as it is.
	Removed []string
	Gaps    []Gap

	Cursor string // the end of the page; an empty one stands for that of the request
	More   bool   // another page follows now
}

// Holdings is what a system tells about what an account holds at an instant.
type Holdings struct {
	// At is the instant, such as the time of the block after which a wallet holds this. The zero time means now.
	At       time.Time
	Balances []Balance
	// Complete says that the account holds nothing of all other assets. Otherwise nothing is known of them.
	Complete bool
}

// Balance is what an account holds of an asset.
type Balance struct {
	Currency string
	Amount   money.Decimal // zero if it holds none
	Part     string        // the id of the part that holds it; empty if the connection is not divided
}
