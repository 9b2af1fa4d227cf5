package connection

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
)

// Kind is the kind of a provider. It decides what a connection needs.
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

// How a connection authenticates itself.
const (
	byAPIKey  = "api_key"
	byOAuth   = "oauth"
	byAddress = "address" // nothing is secret: what is read is public
)

// The names of fields that the package itself knows.
const (
	apiKey        = "api_key"
	webhookSecret = "webhook_secret"
	address       = "address"
	chain         = "chain"
	subdomain     = "subdomain"
)

// Provider is a system that accounts can be connected at. Functions that it has not are nil.
type Provider struct {
	Name, Title string
	Kind        Kind
	Advice      string
	Fields      []Field
	// Capabilities is what a connection is used for.
	Capabilities []string
	// Currency is the only base currency that a legal entity may have whose books are sent to the provider; empty means any.
	Currency string
	// Unavailable says why no account can be connected at present, such as that the operator has to register the service first.
	Unavailable string

	// Enter turns what a person has entered into credentials that last, if the two differ. It is called once.
	Enter func(ctx context.Context, c Credentials) (Credentials, error)
	// Check asks for the account of credentials. It returns an error of kind Invalid that names the field if the provider refuses them or
	// does not tell the account, and one of kind Unavailable if the provider does not answer. Credentials may be renewed by the keeper.
	Check func(ctx context.Context, c Credentials, k Keeper) (Account, error)
	// Read reads what the account has; nil if nothing is read from the provider.
	Read Reader
	// Poll reports whether there may be something that Read would store. It writes nothing.
	Poll func(ctx context.Context, p Position) (bool, error)
	// Begin starts a setup on a page of the provider; nil if there is none.
	Begin func(ctx context.Context, c Credentials, r SetupRequest) (Setup, error)
	// Finish returns the credentials after the browser came back with a query, or ErrUnfinished.
	Finish func(ctx context.Context, c Credentials, r SetupRequest, query url.Values) (Credentials, error)
	// Revoke ends the access of credentials at the provider; nil if it has no such function.
	Revoke func(ctx context.Context, c Credentials, k Keeper) error
}

// Field is something that people enter to connect an account.
type Field struct {
	Name, Title, Help string
	Secret            bool // forms hide what is typed
	Open              bool // it is no credential, and is shown with the connection
	Optional          bool
	Setup             bool // it is entered once for the organization, before the first account is connected
	Fixed             bool // it cannot change, because it says which account it is
	Max               int  // characters
	Choices           []string
}

// Credentials are the values of fields, by name, and what a connector keeps with them.
type Credentials map[string]secret.Text

// clone returns a copy that can be changed.
func (c Credentials) clone() Credentials {
	if c == nil {
		return Credentials{}
	}
	return maps.Clone(c)
}

// Keeper keeps credentials that a provider replaces from time to time; see package provider.
type Keeper interface {
	Renew(ctx context.Context, stale Credentials, renew func(ctx context.Context, stored Credentials) (Credentials, error)) (Credentials,
		error)
}

// Position is how far a connection was read, for Poll.
type Position struct {
	Connection
	Credentials
	Keeper  Keeper
	Cursors map[string]Cursor // by ledger
	// Known returns those of some external ids that a source of the connection has, or that were left out.
	Known func(ctx context.Context, externalIDs []string) (map[string]bool, error)
}

// SetupRequest says how a page of a provider leads back to the service.
type SetupRequest struct {
	State    string
	ReturnTo string
	Renews   bool
}

// Setup is a page that a person has to open to connect an account.
type Setup struct {
	URL       string
	Keep      Credentials
	ExpiresAt time.Time
}

// field returns a field by its name.
func (p Provider) field(name string) (Field, bool) {
	at := slices.IndexFunc(p.Fields, func(f Field) bool { return f.Name == name })
	if at < 0 {
		return Field{}, false
	}
	return p.Fields[at], true
}

// authMethod returns how connections authenticate themselves that were made with some credentials.
func (p Provider) authMethod(c Credentials) string {
	secretFields := slices.ContainsFunc(p.Fields, func(f Field) bool { return !f.Open && !f.Optional })
	switch {
	case p.Begin != nil && c[apiKey].IsZero():
		return byOAuth
	case p.Kind == Chain && !secretFields:
		return byAddress
	}
	return byAPIKey
}

// fillsSources reports whether transactions are read from the provider.
func (p Provider) fillsSources() bool { return p.Kind != Accounting }
