// Package connection keeps connections to accounts at other systems, such as payment processors. It stores their credentials encrypted,
// and keeps how far the data of each was read and which events its provider has sent. What a provider understands is in the package of the
// provider, which is passed in.
package connection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
)

// noun names a connection in messages and in the audit log.
const noun = "connection"

// nameMax is the maximum length of a name in characters.
const nameMax = 500

// EventCreated and EventRequested announce that the data of a connection is to be read: of a new one, and because somebody asked for it.
const (
	EventCreated   = "connection.created"
	EventRequested = "connection.sync_requested"
	eventUpdated   = "connection.updated"
)

// Status is the state of a connection.
type Status string

// The states. Syncing is not stored: an active connection is syncing while its data is read.
const (
	Active       Status = "active"
	Syncing      Status = "syncing"
	Failed       Status = "error"                 // the data could not be read
	Unauthorized Status = "needs_reauthorization" // the provider refuses the credentials
	Disconnected Status = "disconnected"
)

// Events lists the types of events about connections: a change of the state is named after the new one.
var Events = []string{EventCreated, eventUpdated, EventRequested, eventOf(Active), eventOf(Failed), eventOf(Unauthorized),
	eventOf(Disconnected)}

func eventOf(s Status) string { return "connection." + string(s) }

// stored lists the states that are stored.
var stored = []Status{Active, Failed, Unauthorized, Disconnected}

// byAPIKey is how connections authenticate themselves.
const byAPIKey = "api_key"

// Connection is an account at another system.
type Connection struct {
	ID                string
	Provider          string
	AuthMethod        string
	Name              string
	Status            Status
	ExternalAccountID string // the provider's id of the account; empty if the connection was created when it was not required
	Mode              Mode   // empty if the connection was created when it was not asked for
	LegalEntityID     string
	SourceID          string // the source that its transactions belong to
	TakesWebhooks     bool   // it has a secret by which events of the provider are verified
	ErrorMessage      string
	CreatedAt         time.Time
	UpdatedAt         *time.Time

	Progress Progress // not stored with the connection, filled in on reading

	credentials string // encrypted; empty once it is disconnected
	revision    int64
}

// Progress is how far the data of a connection was read.
type Progress struct {
	Running    bool // it is being read, or about to be
	FinishedAt *time.Time
	Omitted    int64  // how many records could not be understood and were left out
	Omissions  string // the first of them, and why
}

// Credentials are what a provider is accessed with.
type Credentials struct {
	APIKey        secret.Text
	WebhookSecret secret.Text
}

// Connector accesses a provider.
type Connector interface {
	// Check asks the provider for the account of credentials. It returns an error of kind Invalid that names the field if the provider
	// refuses them or does not tell the account, and one of kind Unavailable if the provider does not answer.
	Check(ctx context.Context, c Credentials) (Account, error)
}

// Capabilities returns what a connection is for.
func (c Connection) Capabilities() []string {
	return []string{"import_transactions", "import_invoices", "mark_invoices_paid"}
}

// Retained lists what stays after a connection was disconnected.
func (c Connection) Retained() []string {
	if c.Status != Disconnected {
		return []string{}
	}
	return []string{"transactions", "invoices", "customers", "source"}
}

// Shown returns the state as users see it.
func (c Connection) Shown() Status {
	if c.Status == Active && c.Progress.Running {
		return Syncing
	}
	return c.Status
}

// ETag identifies the version of the connection.
func (c Connection) ETag() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", c.ID, c.revision))
	return hex.EncodeToString(sum[:8])
}

// requireVersion returns an error of kind Conflict unless the caller has seen this version. An empty etag agrees with every version.
func (c Connection) requireVersion(etag string) error {
	if etag = strings.Trim(etag, `"`); etag == "" || etag == "*" || etag == c.ETag() {
		return nil
	}
	return fault.ConflictAt([]fault.Field{{Name: "If-Match", Message: "is not the etag of the connection"}},
		"the connection %s has changed: its etag is %s now. Read it again", c.ID, c.ETag())
}

// requireConnected returns an error of kind Conflict if the connection is disconnected.
func (c Connection) requireConnected() error {
	if c.Status == Disconnected {
		return fault.Conflictf("the connection %s is disconnected, which is final: create another one", c.ID)
	}
	return nil
}

// facts describes a connection in the audit log and in events, without its credentials.
func (c Connection) facts() map[string]any {
	return map[string]any{
		"id": c.ID, "provider": c.Provider, "auth_method": c.AuthMethod, "name": c.Name, "status": c.Status,
		"external_account_id": db.OrNull(c.ExternalAccountID), "mode": db.OrNull(string(c.Mode)), "legal_entity_id": c.LegalEntityID,
		"source_id": c.SourceID, "takes_webhooks": c.TakesWebhooks, "error_message": db.OrNull(c.ErrorMessage),
	}
}

// Guidance lists the actions that are allowed on a connection now, and explains why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// Guide returns the guidance of a connection.
func (c Connection) Guide() Guidance {
	g := Guidance{Allowed: []string{}, Warnings: []string{}, Version: clock.Format(c.CreatedAt)}
	if c.UpdatedAt != nil {
		g.Version = clock.Format(*c.UpdatedAt)
	}
	switch c.Status {
	case Disconnected:
		g.Warnings = append(g.Warnings, "the connection is disconnected, which is final: create another one to the same account to continue "+
			"with its source")
		return g
	case Unauthorized:
		g.Allowed = append(g.Allowed, "edit", "disconnect")
		g.Warnings = append(g.Warnings, c.Provider+" refuses the credentials: send a new api_key with PATCH")
		return g
	case Failed:
		g.Warnings = append(g.Warnings, "the latest synchronization failed and is tried again: "+c.ErrorMessage)
	}
	g.Allowed = append(g.Allowed, "edit", "sync", "disconnect")
	if n := c.Progress.Omitted; n > 0 {
		g.Warnings = append(g.Warnings, fmt.Sprintf("records at %s that could not be understood and were left out: %d, among them %s; to have "+
			"them read again, disconnect and connect the account again", c.Provider, n, c.Progress.Omissions))
	}
	if !c.TakesWebhooks {
		g.Warnings = append(g.Warnings, "without a webhook_secret, changes at "+c.Provider+" arrive with the next synchronization only")
	}
	return g
}

// valid reports whether a state may be stored.
func (s Status) valid() bool { return slices.Contains(stored, s) }
