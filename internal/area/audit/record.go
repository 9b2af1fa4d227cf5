package audit

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/event"
	"github.com/bursarhq/bursar/internal/db"
)

// Change is what an area reports of one write. Before and After are what the thing said in facts any reader understands; nil where it was not there.
type Change struct {
	Action       string // and, unless Silent, the type of the event that tells the world
	ResourceType string
	ResourceID   string
	Before       map[string]any
	After        map[string]any
	Silent       bool
}

// pending collects a transaction's changes until just before its commit, when the organization's head is locked for as short as can be.
type pending struct{ changes []Change }

type pendingKey struct{}

// Record puts a change into the audit log and its event into the outbox, when and only when the transaction commits.
func Record(tx *db.Tx, c Change) {
	p := tx.Local(pendingKey{}, func() any {
		p := &pending{}
		tx.BeforeCommit(func(ctx context.Context) error { return p.flush(ctx, tx) })
		return p
	}).(*pending)
	p.changes = append(p.changes, c)
}

// Begin starts the chain of a new organization.
func Begin(ctx context.Context, tx *db.Tx) error { return insertHead(ctx, tx) }

func (p *pending) flush(ctx context.Context, tx *db.Tx) error {
	h, err := lockHead(ctx, tx)
	if err != nil {
		return err
	}
	who := actor.From(ctx)
	previous := Entry{Sequence: h.AuditSequence, Hash: h.AuditHash}
	var events []event.Event
	for _, c := range p.changes {
		e := Entry{
			Sequence: previous.Sequence + 1, PreviousHash: previous.Hash, CreatedAt: tx.Now(),
			UserID: who.UserID, APIKeyID: who.APIKeyID, RequestID: who.RequestID,
			Action: c.Action, ResourceType: c.ResourceType, ResourceID: c.ResourceID,
		}
		if e.Before, err = encode(c.Before); err != nil {
			return err
		}
		if e.After, err = encode(c.After); err != nil {
			return err
		}
		e.Hash = e.chained(tx.Organization())
		if err := insertEntry(ctx, tx, e); err != nil {
			return err
		}
		previous = e
		if !c.Silent {
			h.EventSequence++
			// A deletion is told by what was there.
			events = append(events, event.Event{Sequence: h.EventSequence, AuditSequence: e.Sequence, Type: c.Action, Data: cmp.Or(e.After, e.Before)})
		}
	}
	if err := event.Append(ctx, tx, events); err != nil {
		return err
	}
	h.AuditSequence, h.AuditHash = previous.Sequence, previous.Hash
	if err := updateHead(ctx, tx, h); err != nil {
		return err
	}
	tx.Recorded()
	return nil
}

// encode writes facts with their names in order, so that the same facts are always the same bytes.
func encode(facts map[string]any) (string, error) {
	if facts == nil {
		return "", nil
	}
	b, err := json.Marshal(facts)
	return string(b), err
}
