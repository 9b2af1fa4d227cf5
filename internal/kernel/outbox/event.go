// Package outbox stores events in the database transaction of the change they report. After the commit a relay hands
// them to the job queue.
package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
)

// Event reports a change in an organization; its audit record has the details. Sequence has no gaps, so that a reader
// can tell that nothing was missed.
type Event struct {
	ID            string
	Sequence      int64
	AuditSequence int64
	Type          string
	CreatedAt     time.Time

	// ObjectID is the record that was changed; empty if the event is about several.
	ObjectID string
	// Data is the record as the API returns it at that moment, as JSON.
	Data string
}

// Append inserts events in the database transaction of the changes they report and notifies the relay after the commit. The id of each was
// returned by NewID.
func Append(ctx context.Context, tx *db.Tx, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	relay, organizationID := notifierOf(tx.DB()), tx.Organization()
	tx.AfterCommit(func() { relay.notify(organizationID) })
	return insert(ctx, tx, events)
}

// NewID returns the id of a new event.
func NewID(tx *db.Tx) string { return tx.NewID(id.Event) }

// Group ends a text that stands for all types of events about one type of resource, such as invoice.*.
const Group = ".*"

// Matches reports whether a text stands for a type of event: it is the type itself, or that of its group.
func Matches(text, eventType string) bool {
	group, _, _ := strings.Cut(eventType, ".")
	return text == eventType || text == group+Group
}

// Filter selects events. An empty field selects all.
type Filter struct {
	Types    []string
	Without  []string // types that are left out
	ObjectID string
	Newest   bool // the newest first, before a sequence number
}

// List returns events after a sequence number, in the order of the changes, up to a limit. It is a building block for packages that pass
// events on.
func List(ctx context.Context, tx *db.Tx, f Filter, after int64, limit int) ([]Event, error) {
	rows, err := selectPage(ctx, tx, f, after, limit)
	out := make([]Event, len(rows))
	for i, r := range rows {
		out[i] = r.event()
	}
	return out, err
}

// Find returns an event. It returns a NotFound fault when there is none with this id, or it was deleted because it is too old.
func Find(ctx context.Context, tx *db.Tx, eventID string) (Event, error) {
	r, err := selectEvent(ctx, tx, eventID)
	return r.event(), err
}

// Envelope returns an event in the form in which it leaves the service, in the feed and to webhook endpoints.
func (e Event) Envelope(organizationID string) []byte {
	// Data is JSON already. The other parts are encoded as well, although nothing in them needs escaping today.
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // as everywhere in the API
	err := encoder.Encode(struct {
		ID             string          `json:"id"`
		Type           string          `json:"type"`
		CreatedAt      string          `json:"created_at"`
		OrganizationID string          `json:"organization_id"`
		Data           json.RawMessage `json:"data"`
	}{e.ID, e.Type, clock.Format(e.CreatedAt), organizationID, json.RawMessage(e.Data)})
	if err != nil {
		panic(fmt.Sprintf("outbox: the data of event %s are not JSON: %v", e.ID, err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
