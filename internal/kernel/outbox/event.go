// Package outbox stores events in the database transaction of the change they report. After the commit a relay hands
// them to the job queue.
package outbox

import (
	"context"
	"time"

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
}

// Append inserts events in the database transaction of the changes they report and notifies the relay after the commit.
func Append(ctx context.Context, tx *db.Tx, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	for i := range events {
		events[i].ID = tx.NewID(id.Event)
	}
	relay, organizationID := notifierOf(tx.DB()), tx.Organization()
	tx.AfterCommit(func() { relay.notify(organizationID) })
	return insert(ctx, tx, events)
}
