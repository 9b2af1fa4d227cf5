// Package connection keeps connections to accounts at other systems: exchanges, banks, cards, payment processors, blockchains and general
// ledgers. It stores their credentials encrypted, keeps how far the data of each was read and which events its provider has sent, and lets
// background tasks read it by a schedule. What a provider understands is in the package of the provider, which is passed in.
package connection

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// noun names a connection in messages and in the audit log.
const noun = "connection"

// nameMax is the maximum length of a name in characters.
const nameMax = 500

// EventCreated and EventRequested announce that the data of a connection is to be read: of a new one, and because somebody asked for it.
// EventSynced announces that it was read, EventActive that it can be.
const (
	EventCreated   = "connection.created"
	EventRequested = "connection.sync_requested"
	EventSynced    = "source.synced"
	EventActive    = "connection.active"
	eventUpdated   = "connection.updated"
	eventSetup     = "connection.setup_begun"
)

// Status is the state of a connection.
type Status string

// The states. Syncing is not stored: an active connection is syncing while its data is read.
const (
	PendingSetup Status = "pending_setup" // a person has to finish the setup on a page of the provider
	Active       Status = "active"
	Syncing      Status = "syncing"
	Failed       Status = "error"                 // the data could not be read
	Unauthorized Status = "needs_reauthorization" // the provider refuses the credentials
	Disconnected Status = "disconnected"
)

// Statuses lists the states as users see them.
var Statuses = []Status{PendingSetup, Active, Syncing, Unauthorized, Failed, Disconnected}

// Events lists the types of events about connections: a change of the state is named after the new one.
var Events = []string{EventCreated, eventUpdated, EventRequested, eventSetup, eventOf(Active), eventOf(Failed),
	eventOf(Unauthorized), eventOf(Disconnected)}

func eventOf(s Status) string { return "connection." + string(s) }

// stored lists the states that are stored.
var stored = []Status{PendingSetup, Active, Failed, Unauthorized, Disconnected}

// Connection is an account at another system.
type Connection struct {
	ID                string
	Provider          string
	AuthMethod        string
	Name              string
	Status            Status
	ExternalAccountID string // the provider's id of the account; empty if it is not known
	Mode              Mode   // empty if the provider has no modes, or if it is not known
	LegalEntityID     string // empty if it is for all of the organization
	SourceID          string // the source that its transactions belong to; empty if it has none or several
	ItemID            string // the sign-in whose accounts are its sources; empty if it has one source or none
	Settings          map[string]string
	TakesWebhooks     bool // it has a secret by which events of the provider are verified
	Classify          Classify
	SyncMinutes       int // how often the schedule looks for something new; 0 means never
	Warnings          []string
	ErrorMessage      string
	RevocationError   string
	CreatedAt         time.Time
	UpdatedAt         *time.Time

	Progress Progress // not stored with the connection, filled in on reading
	Attempt  *Attempt // the latest setup on a page of the provider, filled in on reading
	Sources  []string // the ids of all sources, filled in on reading

	newSource    bool   // it is new, and its account is none of those of other connections
	title        string // of the provider, for messages
	capabilities []string
	credentials  string // encrypted; empty if there are none
	revision     int64
}

// Classify says what happens to new transactions of a connection.
type Classify string

// What may happen to new transactions. By default nothing.
const (
	Suggest Classify = "suggest"
	Draft   Classify = "draft"
	Post    Classify = "post"
)

// Classifications lists what may happen to new transactions.
var Classifications = []Classify{Suggest, Draft, Post}

// Progress is how far the data of a connection was read.
type Progress struct {
	Running    bool // it is being read, or about to be
	FinishedAt *time.Time
	DueAt      *time.Time // when the schedule looks for something new
	Omitted    int64      // how many records could not be understood and were left out
	Omissions  string     // the first of them, and why
	Gaps       []Gap      // what the provider does not tell
	Withdrawn  []string   // numbers of transactions that the provider has taken back after they were booked
}

// Capabilities returns what a connection is for.
func (c Connection) Capabilities() []string { return c.capabilities }

// Retained lists what stays after a connection was disconnected.
func (c Connection) Retained() []string {
	switch {
	case c.Status != Disconnected:
		return []string{}
	case slices.Contains(c.capabilities, "import_invoices"):
		return []string{"transactions", "invoices", "customers", "source"}
	case slices.Contains(c.capabilities, "import_transactions") && len(c.Sources) > 0:
		return []string{"transactions", "source"}
	}
	return []string{}
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

// requireReadable returns an error of kind Conflict unless the data of the connection can be read.
func (c Connection) requireReadable() error {
	switch {
	case c.Status == Disconnected:
		return c.requireConnected()
	case c.Status == PendingSetup:
		return fault.Conflictf("the setup of the connection %s is not finished: open its setup_url, or reauthorize it for a new one", c.ID)
	case c.Status == Unauthorized:
		return fault.Conflictf("%s refuses the credentials of the connection %s: %s first", c.title, c.ID, c.remedy())
	}
	return nil
}

// remedy says what to do if the provider refuses the credentials.
func (c Connection) remedy() string {
	if c.AuthMethod == byOAuth {
		return "reauthorize it"
	}
	return "send a new api_key with PATCH"
}

// facts describes a connection in the audit log and in events, without its credentials.
func (c Connection) facts() map[string]any {
	return map[string]any{
		"id": c.ID, "provider": c.Provider, "auth_method": c.AuthMethod, "name": c.Name, "status": c.Status,
		"external_account_id": db.OrNull(c.ExternalAccountID), "mode": db.OrNull(string(c.Mode)),
		"legal_entity_id": db.OrNull(c.LegalEntityID), "source_id": db.OrNull(c.SourceID), "item_id": db.OrNull(c.ItemID),
		"takes_webhooks": c.TakesWebhooks, "classify": db.OrNull(string(c.Classify)), "sync_minutes": c.SyncMinutes,
		"settings": encodeSettings(c.Settings), "warnings": encodeTexts(c.Warnings),
		"error_message": db.OrNull(c.ErrorMessage), "revocation_error": db.OrNull(c.RevocationError),
	}
}

// valid reports whether a state may be stored.
func (s Status) valid() bool { return slices.Contains(stored, s) }

// readAs fills in what is not stored: what the provider of the connection says.
func (c Connection) readAs(p Provider) Connection {
	c.title, c.capabilities = p.Title, p.Capabilities
	if c.title == "" {
		c.title = c.Provider
	}
	if c.capabilities == nil {
		c.capabilities = []string{}
	}
	return c
}
