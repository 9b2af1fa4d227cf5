package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// Change describes one change. Before and After are the resource as facts that a reader of the log understands; Before
// is nil for a resource that was created, After for one that was deleted.
type Change struct {
	Action       string // also the type of the event, unless NoEvent
	ResourceType string
	ResourceID   string
	Before       any
	After        any
	NoEvent      bool // no event is written to the outbox

	// Object is the resource after the change as its package returns it, for the data of the event. If it is nil, the resource is read before
	// the commit, which is slower.
	Object any
	// Several means that the change concerns more resources than the one it names. The data of the event are then the facts.
	Several bool

	// State is what is stored of the resource after the change, from a Digest or RangeState. If it is empty, what is stored is read
	// before the commit.
	State string

	// Parts are further resources that the change concerns. PartsOnly means that nothing is stored of the resource itself.
	Parts     []Part
	PartsOnly bool

	// Dependents means that what is stored of the resources of db.StatedWith, which have the same id, is stated too.
	Dependents bool
}

// log collects the changes of a database transaction. They are written just before the commit, so that the
// organization state is locked for a short time only.
type log struct {
	changes []change
	known   map[resource]states // what StoresRow was told
}

type change struct {
	Change
	who           actor.Actor
	at            time.Time
	before, after string
}

type logKey struct{}

// Touched names a resource that was changed, and the audit record of the change.
type Touched struct {
	Sequence   int64  `db:"sequence"`
	ResourceID string `db:"resource_id"`
}

// Since returns the resources that some actions changed after a sequence number, in the order of the log, up to a limit.
// It is a building block for packages that follow changes.
func Since(ctx context.Context, tx *db.Tx, after int64, limit int, actions ...string) ([]Touched, error) {
	return selectTouched(ctx, tx, actions, after, limit)
}

// Changed reports whether resources of some types were changed after a sequence number. It is a building block for packages that keep what
// they have read.
func Changed(ctx context.Context, tx *db.Tx, after int64, resourceTypes ...string) (bool, error) {
	return hasChanges(ctx, tx, resourceTypes, after)
}

// Record adds a change to the audit log and its event to the outbox. Both are committed with the database transaction.
func Record(ctx context.Context, tx *db.Tx, c Change) {
	l := logOf(tx)
	n := len(l.changes)
	if n == 0 {
		tx.Group().BeforeCommit(l.flush)
	}
	tx.Group().OnRollback(func() { l.changes = l.changes[:n] })
	if c.Dependents {
		for _, kind := range db.StatedWith(c.ResourceType) {
			c.Parts = append(c.Parts, Part{Type: kind, ID: c.ResourceID})
		}
	}
	l.changes = append(l.changes, change{Change: c, who: actor.From(ctx), at: tx.Now(), before: encode(c.Before), after: encode(c.After)})
	tx.Recorded()
}

func logOf(tx *db.Tx) *log {
	return tx.Group().State(logKey{}, func() any { return &log{known: map[resource]states{}} }).(*log)
}

// StoresRow says that a row is about to be stored, and that it is all that is stored of a resource. Records of this transaction that state
// the resource as a part then do not read it before the commit.
func StoresRow[T any](tx *db.Tx, kind, id, table string, row T) {
	l, r, t := logOf(tx), resource{kind, id}, statedTable(kind, table)
	d := NewDigest(kind)
	AddRows(d, table, row)
	if !t.Digest || len(db.StatedTablesOf(kind)) > 1 {
		panic(fmt.Sprintf("audit: %s has more than the digest of a row", kind))
	}
	l.known[r] = states{table: {Count: 1, Digest: d.Sum()}}
	tx.Group().OnRollback(func() { delete(l.known, r) })
}

// StoresOther says that what StoresRow was told about a resource may not be true any more, so that it is read before the commit.
func StoresOther(tx *db.Tx, kind, id string) { delete(logOf(tx).known, resource{kind, id}) }

// flush writes the collected changes.
func (l *log) flush(ctx context.Context, tx *db.Tx) error {
	changes, known := l.changes, l.known
	l.changes, l.known = nil, map[resource]states{}
	if len(changes) == 0 {
		return nil
	}
	state, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return err
	}
	states, err := statesOf(ctx, tx, changes, known)
	if err != nil {
		return err
	}
	records := make([]LogRecord, len(changes))
	var events []outbox.Event
	var subjects []Subject
	for i, c := range changes {
		state.AuditSequence++
		r := LogRecord{
			Sequence: state.AuditSequence, PreviousHash: state.AuditHash, CreatedAt: c.at,
			UserID: c.who.UserID, APIKeyID: c.who.APIKeyID, AppID: c.who.AuthorizationID, FirmID: c.who.FirmID,
			RequestID: c.who.RequestID,
			Action:    c.Action, ResourceType: c.ResourceType, ResourceID: c.ResourceID, Before: c.before, After: c.after,
			State: states[i],
		}
		r.Hash = r.chainHash(tx.Organization())
		state.AuditHash, records[i] = r.Hash, r
		if !c.NoEvent {
			state.EventSequence++
			e := outbox.Event{ID: outbox.NewID(tx), Sequence: state.EventSequence, AuditSequence: r.Sequence, Type: c.Action, CreatedAt: c.at}
			if !c.Several {
				e.ObjectID = c.ResourceID
			}
			events, subjects = append(events, e), append(subjects, c.subject(e.ID))
		}
	}
	if err := insertRecords(ctx, tx, records); err != nil {
		return err
	}
	data, err := describerOf(tx.DB()).describe(ctx, tx, subjects)
	if err != nil {
		return err
	}
	for i := range events {
		events[i].Data = data[i]
	}
	return outbox.Append(ctx, tx, events)
}

// statesOf returns the state of each change. It reads what is not known, with one query for each table.
func statesOf(ctx context.Context, tx *db.Tx, changes []change, known map[resource]states) ([]string, error) {
	wanted := map[string][]string{}
	for _, c := range changes {
		if c.State == "" && !c.PartsOnly {
			wanted[c.ResourceType] = append(wanted[c.ResourceType], c.ResourceID)
		}
		for _, p := range c.Parts {
			if p.Row == nil && known[resource{p.Type, p.ID}] == nil {
				wanted[p.Type] = append(wanted[p.Type], p.ID)
			}
		}
	}
	found := make(map[string]map[string]stored, len(wanted))
	for kind, ids := range wanted {
		slices.Sort(ids)
		var err error
		if found[kind], err = readStored(ctx, tx, kind, slices.Compact(ids)); err != nil {
			return nil, err
		}
	}
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.state(found, known)
	}
	return out, nil
}

// state returns the state of a change, given what was read and what is known.
func (c change) state(found map[string]map[string]stored, known map[resource]states) string {
	own := resource{c.ResourceType, c.ResourceID}
	if c.State == "" && isDigested(own.kind) {
		c.State = found[own.kind][own.id].digest(own.kind)
	}
	stated := c.State == "" && !c.PartsOnly && len(db.StatedTablesOf(own.kind)) > 0
	if len(c.Parts) == 0 && !stated {
		return c.State
	}
	d := document{Digest: c.State}
	if stated {
		d.put(own, found[own.kind][own.id].states(own.kind))
	}
	for _, p := range c.Parts {
		r := resource{p.Type, p.ID}
		switch {
		case p.Row != nil:
			d.put(r, stored{p.Table: {db.TextsOf(p.Row)}}.states(r.kind))
		case known[r] != nil:
			d.put(r, known[r])
		default:
			d.put(r, found[r.kind][r.id].states(r.kind))
		}
	}
	return encode(d)
}

// encode returns facts as JSON. Keys of maps are sorted, so that the same facts always result in the same bytes.
func encode(facts any) string {
	if facts == nil {
		return ""
	}
	b, err := json.Marshal(facts)
	if err != nil {
		panic(fmt.Sprintf("audit: the facts of a change cannot be encoded as JSON: %v", err)) // a programming error, whatever the data
	}
	return string(b)
}
