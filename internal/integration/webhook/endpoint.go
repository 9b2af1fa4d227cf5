// Package webhook sends events to the endpoints that an organization has registered, as the Standard Webhooks specification says.
//
// An endpoint has a cursor into the events of its organization: nothing is stored for an event before it is sent. A worker claims the
// endpoint, reads what is due, sends it outside of any database transaction, and stores the results together with the cursor. An event is
// sent again if a worker dies in between, and no event is skipped. What fails is tried for three days, less and less often. Events are not
// sent that the organization does not keep any more, or that happen while the endpoint is disabled.
package webhook

import (
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
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// noun names an endpoint in messages, and resourceType in the audit log.
const (
	noun         = "webhook endpoint"
	resourceType = "webhook_endpoint"
)

// The types of events about endpoints. All of them begin with eventPrefix.
const (
	eventPrefix = "webhook_endpoint."

	EventPaused    = eventPrefix + "paused"
	EventDisabled  = eventPrefix + "disabled"
	EventRedeliver = eventPrefix + "redelivery_requested" // events are to be sent once more

	// EventTest is not in the feed.
	EventTest = eventPrefix + "test"

	eventCreated = eventPrefix + "created"
	eventUpdated = eventPrefix + "updated"
	eventRotated = eventPrefix + "secret_rotated"
	eventEnabled = eventPrefix + "enabled"
	eventDeleted = eventPrefix + "deleted"
)

// Events lists the types of events about endpoints that are in the feed.
var Events = []string{eventCreated, eventUpdated, eventRotated, eventEnabled, EventDisabled, EventPaused, EventRedeliver, eventDeleted}

// Status is the state of an endpoint.
type Status string

// The states. Events wait for an endpoint that is paused, and are not sent to one that is disabled.
const (
	Enabled  Status = "enabled"
	Disabled Status = "disabled"
	Paused   Status = "paused" // no delivery succeeded for three days
)

// Endpoint is an address of another system that events are sent to.
type Endpoint struct {
	ID           string
	URL          string
	Description  string
	Types        []string // of the events that are sent; empty means all
	Ordered      bool     // an event is sent only after those before it have arrived
	Status       Status
	StatusReason string // why it is paused or disabled

	PreviousSecretExpiresAt *time.Time // until when a former secret signs too
	FailingSince            *time.Time // since when no delivery has succeeded, if the last one failed
	CreatedAt               time.Time
	UpdatedAt               *time.Time

	secret, previousSecret string // encrypted
	revision               int64
}

// ETag identifies the version of the endpoint.
func (e Endpoint) ETag() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", e.ID, e.revision))
	return hex.EncodeToString(sum[:8])
}

// requireVersion returns an error of kind Conflict unless the caller has seen this version. An empty etag agrees with every version.
func (e Endpoint) requireVersion(etag string) error {
	if etag = strings.Trim(etag, `"`); etag == "" || etag == "*" || etag == e.ETag() {
		return nil
	}
	return fault.ConflictAt([]fault.Field{{Name: "If-Match", Message: "is not the etag of the webhook endpoint"}},
		"the webhook endpoint %s has changed: its etag is %s now. Read it again", e.ID, e.ETag())
}

// Takes reports whether events of a type are sent to the endpoint.
func (e Endpoint) Takes(eventType string) bool { return takes(e.Types, eventType) }

func takes(types []string, eventType string) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return outbox.Matches(t, eventType) })
}

// exactTypes returns the types of the endpoint if all of them are exact, and nil if the events must be filtered after they were read.
func (e Endpoint) exactTypes() []string {
	if slices.ContainsFunc(e.Types, func(t string) bool { return strings.HasSuffix(t, outbox.Group) }) {
		return nil
	}
	return e.Types
}

// facts describes an endpoint in the audit log and in events, without its secrets.
func (e Endpoint) facts() map[string]any {
	var expires *string
	if e.PreviousSecretExpiresAt != nil {
		expires = new(clock.Format(*e.PreviousSecretExpiresAt))
	}
	types := e.Types
	if types == nil {
		types = []string{}
	}
	return map[string]any{
		"id": e.ID, "url": e.URL, "description": db.OrNull(e.Description), "types": types, "ordered": e.Ordered, "status": e.Status,
		"status_reason": db.OrNull(e.StatusReason), "previous_secret_expires_at": expires,
	}
}

// same reports whether two versions of an endpoint differ in nothing that is stored.
func (e Endpoint) same(other Endpoint) bool {
	return e.URL == other.URL && e.Description == other.Description && slices.Equal(e.Types, other.Types) && e.Ordered == other.Ordered &&
		e.Status == other.Status && e.StatusReason == other.StatusReason && e.secret == other.secret && e.previousSecret == other.previousSecret
}

// WithSecret is an endpoint with the secret that signs what is sent to it, which is shown only when it is new.
type WithSecret struct {
	Endpoint
	Secret secret.Text
}
