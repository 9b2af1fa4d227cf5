package audit

import (
	"context"
	"sync/atomic"

	"github.com/bursarhq/bursar/internal/db"
)

// Subject is what an event is about.
type Subject struct {
	EventID      string
	ResourceType string
	ResourceID   string
	Object       any    // the resource as its package returns it; nil if it is to be read
	Facts        string // what the audit log states about the resource after the change, as JSON; empty if it was deleted
	Several      bool   // the change concerns more resources than the one it names
}

func (c change) subject(eventID string) Subject {
	return Subject{EventID: eventID, ResourceType: c.ResourceType, ResourceID: c.ResourceID, Object: c.Object, Facts: c.after,
		Several: c.Several}
}

// Describe returns the data of events as JSON, in the order of their subjects. It runs in the database transaction of the changes, just
// before the commit.
type Describe func(context.Context, *db.Tx, []Subject) ([]string, error)

// describer holds the function that describes the subjects of events. There is one for each database handle.
type describer struct{ fn atomic.Pointer[Describe] }

type describerKey struct{}

func describerOf(d *db.DB) *describer {
	return d.Value(describerKey{}, func() any { return new(describer) }).(*describer)
}

// DescribeWith sets the function that returns the data of events. The package with the views of the API calls it; without it, the data of
// events are what the audit log states.
func DescribeWith(d *db.DB, fn Describe) { describerOf(d).fn.Store(&fn) }

func (d *describer) describe(ctx context.Context, tx *db.Tx, subjects []Subject) ([]string, error) {
	if fn := d.fn.Load(); fn != nil && len(subjects) > 0 {
		return (*fn)(ctx, tx, subjects)
	}
	out := make([]string, len(subjects))
	for i, s := range subjects {
		out[i] = s.StatedFacts()
	}
	return out, nil
}

// StatedFacts returns what the audit log states about the resource, as JSON.
func (s Subject) StatedFacts() string {
	if s.Facts == "" {
		return encode(map[string]any{"id": s.ResourceID, "deleted": true})
	}
	return s.Facts
}
