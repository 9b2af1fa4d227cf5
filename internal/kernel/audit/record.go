package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// Change is what an area reports of one write. Before and After are what the thing said in facts any reader
// understands; nil where it was not there.
type Change struct {
	Action       string // and, unless Silent, the type of the event that tells the world
	ResourceType string
	ResourceID   string
	Before       any
	After        any
	Silent       bool
}

// log collects changes until just before the commit, when the organization's head is locked for as short as can be.
type log struct{ changes []change }

type change struct {
	Change
	who           actor.Actor
	at            time.Time
	before, after string
}

type logKey struct{}

// Touched is that something was done to a resource.
type Touched struct {
	Sequence   int64  `db:"sequence"`
	ResourceID string `db:"resource_id"`
}

// Since gives what some actions were done to after a sequence number, in the order in which it was committed, as many
// as a limit. It is a building block for whoever follows what happens.
func Since(ctx context.Context, tx *db.Tx, after int64, limit int, actions ...string) ([]Touched, error) {
	return selectTouched(ctx, tx, actions, after, limit)
}

// Record puts a change into the audit log and its event into the outbox, when and only when the transaction commits.
func Record(ctx context.Context, tx *db.Tx, c Change) {
	l := tx.Group().State(logKey{}, func() any { return &log{} }).(*log)
	n := len(l.changes)
	if n == 0 {
		tx.Group().BeforeCommit(l.flush)
	}
	tx.Group().OnRollback(func() { l.changes = l.changes[:n] })
	l.changes = append(l.changes, change{Change: c, who: actor.From(ctx), at: tx.Now(), before: encode(c.Before), after: encode(c.After)})
	tx.Recorded()
}

func (l *log) flush(ctx context.Context, tx *db.Tx) error {
	changes := l.changes
	l.changes = nil
	if len(changes) == 0 {
		return nil
	}
	h, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return err
	}
	entries := make([]Entry, len(changes))
	var events []outbox.Event
	for i, c := range changes {
		h.AuditSequence++
		e := Entry{
			Sequence: h.AuditSequence, PreviousHash: h.AuditHash, CreatedAt: c.at,
			UserID: c.who.UserID, APIKeyID: c.who.APIKeyID, RequestID: c.who.RequestID,
			Action: c.Action, ResourceType: c.ResourceType, ResourceID: c.ResourceID, Before: c.before, After: c.after,
		}
		e.Hash = e.chained(tx.Organization())
		h.AuditHash, entries[i] = e.Hash, e
		if !c.Silent {
			h.EventSequence++
			events = append(events, outbox.Event{Sequence: h.EventSequence, AuditSequence: e.Sequence, Type: c.Action, CreatedAt: c.at})
		}
	}
	if err := insertEntries(ctx, tx, entries); err != nil {
		return err
	}
	return outbox.Append(ctx, tx, events)
}

// encode writes facts; the names of a map come in order, so that the same facts are always the same bytes.
func encode(facts any) string {
	if facts == nil {
		return ""
	}
	b, err := json.Marshal(facts)
	if err != nil {
		panic(fmt.Sprintf("audit: facts that cannot be written down: %v", err)) // a mistake of the caller's, whatever the data
	}
	return string(b)
}
