// Package feed lets other systems read what happened in an organization: all events that are kept, in the order of the changes.
package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Service holds the use cases.
type Service struct {
	db    *db.DB
	types []string // all types of events there are
	only  []string // those that only owners and admins may read
}

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// WithTypes says which types of events there are, and which of them only owners and admins may read. It is called before the service is
// used.
func (s *Service) WithTypes(all, privileged []string) {
	s.types, s.only = slices.Sorted(slices.Values(all)), privileged
}

// Types returns all types of events, sorted.
func (s *Service) Types() []string { return s.types }

// Filter selects events. An empty field selects all.
type Filter struct {
	Types    []string // such as invoice.voided, or invoice.* for all that begin so
	ObjectID string   // of the record that was changed
	After    string   // the id of an event: only those that happened later
	Newest   bool     // the newest first
}

// List returns a page of events, in the order of the changes.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[outbox.Event], error) {
	position := func(e outbox.Event) []string { return []string{strconv.FormatInt(e.Sequence, 10)} }
	return page.List("events", f, p, position, func(after []string, limit int) (rows []outbox.Event, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			stored, from, err := s.resolve(ctx, tx, f)
			if err != nil {
				return err
			}
			if after != nil {
				if from, err = strconv.ParseInt(after[0], 10, 64); err != nil {
					return page.ErrCursor()
				}
			}
			rows, err = outbox.List(ctx, tx, stored, from, limit)
			return err
		})
		return rows, err
	})
}

// Get returns an event.
func (s *Service) Get(ctx context.Context, eventID string) (e outbox.Event, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		e, err = s.find(ctx, tx, eventID)
		return err
	})
	return e, err
}

// find returns an event that the actor may read.
func (s *Service) find(ctx context.Context, tx *db.Tx, eventID string) (outbox.Event, error) {
	e, err := outbox.Find(ctx, tx, eventID)
	if err == nil && slices.Contains(s.hidden(ctx), e.Type) {
		return outbox.Event{}, fault.Missing("event")
	}
	return e, err
}

// arrived is what an event about several transactions says about them.
type arrived struct {
	First string `json:"first"`
	Last  string `json:"last"`
}

// Transactions returns a page of the transactions that an event is about, in the order of their numbers, as they are now.
func (s *Service) Transactions(ctx context.Context, eventID string, p page.Request) (page.Page[transaction.Transaction], error) {
	number := func(t transaction.Transaction) []string { return []string{strconv.FormatInt(t.Number, 10)} }
	return page.List("events/transactions", eventID, p, number, func(after []string, limit int) (rows []transaction.Transaction, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			e, err := s.find(ctx, tx, eventID)
			if err != nil {
				return err
			}
			first, last, err := numbersOf(ctx, tx, e)
			if err != nil {
				return err
			}
			if after != nil {
				if first, err = strconv.ParseInt(after[0], 10, 64); err != nil {
					return page.ErrCursor()
				}
				first++
			}
			rows, err = transaction.Numbered(ctx, tx, first, last, limit)
			return err
		})
		return rows, err
	})
}

// numbersOf returns the first and the last number of the transactions that an event is about.
func numbersOf(ctx context.Context, tx *db.Tx, e outbox.Event) (first, last int64, err error) {
	if strings.HasPrefix(e.Type, "transaction.") {
		t, err := transaction.Find(ctx, tx, e.ObjectID)
		return t.Number, t.Number, err
	}
	if e.Type != transaction.ActionArrived {
		return 0, 0, fault.Conflictf("the event %s is of the type %s, which is not about transactions", e.ID, e.Type)
	}
	var a arrived
	if err := json.Unmarshal([]byte(e.Data), &a); err != nil {
		return 0, 0, fmt.Errorf("feed: the data of event %s cannot be read: %w", e.ID, err)
	}
	if first, err = transaction.ParseNumber(a.First); err == nil {
		last, err = transaction.ParseNumber(a.Last)
	}
	return first, last, err
}

// hidden returns the types of events that the actor may not read.
func (s *Service) hidden(ctx context.Context) []string {
	who := actor.From(ctx)
	var types []string
	if who.Authorize(actor.Need{Class: actor.Privileged, Scope: actor.ScopeAll}) != nil {
		types = slices.Clone(s.only)
	}
	for _, resource := range audit.Hidden(who) {
		for _, t := range s.types {
			if strings.HasPrefix(t, resource+".") && !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	return types
}

// resolve returns a filter as it is stored, and the position at which the list begins.
func (s *Service) resolve(ctx context.Context, tx *db.Tx, f Filter) (outbox.Filter, int64, error) {
	var faults fault.List
	stored := outbox.Filter{Types: s.Expand(&faults, "types", f.Types), Without: s.hidden(ctx), ObjectID: f.ObjectID, Newest: f.Newest}
	if f.After != "" && f.Newest {
		faults.Addf("after", "cannot be combined with order=desc: the newest events come first")
	}
	if err := requireObject(ctx, tx, &faults, f.ObjectID); err != nil {
		return stored, 0, err
	}
	position := int64(0)
	if f.After != "" {
		e, err := outbox.Find(ctx, tx, f.After)
		if err := faults.MergeMissing(err, "after"); err != nil {
			return stored, 0, err
		}
		position = e.Sequence
	}
	if f.Newest {
		position = math.MaxInt64
	}
	return stored, position, faults.Err()
}

// requireObject adds a fault if no record has an id. The audit log records every change, except that it records the arrival of several
// transactions, and the chart of accounts of a new organization, once.
func requireObject(ctx context.Context, tx *db.Tx, faults *fault.List, objectID string) error {
	if objectID == "" {
		return nil
	}
	found, err := audit.Concerns(ctx, tx, objectID)
	if err != nil || found {
		return err
	}
	if _, err = transaction.Find(ctx, tx, objectID); fault.KindOf(err) == fault.NotFound {
		_, err = account.Get(ctx, tx, objectID)
	}
	if fault.KindOf(err) == fault.NotFound {
		return faults.Merge(fault.MissingAt("record", "object_id"))
	}
	return err
}

// Expand returns the types that a filter selects. It adds a fault for a type that does not exist.
func (s *Service) Expand(faults *fault.List, field string, types []string) (out []string) {
	for _, wanted := range types {
		before := len(out)
		for _, one := range s.types {
			if outbox.Matches(wanted, one) {
				out = append(out, one)
			}
		}
		if len(out) == before {
			faults.Addf(field, "%q is no type of event; /docs/events#types lists all types; use a form such as invoice.* for all of a kind",
				wanted)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// followEvery is how often Follow looks for events of other processes.
const followEvery = time.Second

// followPage is how many events Follow passes on at a time.
const followPage = 100

// Follow calls a function with the events after one, or with those that happen from now on, as they happen, until the context ends or the
// function returns an error. With no events for a while it calls the function with none.
func (s *Service) Follow(ctx context.Context, f Filter, each func([]outbox.Event) error) error {
	organizationID := actor.From(ctx).OrganizationID
	committed, stop := outbox.Watch(s.db, organizationID)
	defer stop()
	var stored outbox.Filter
	var position, seen int64 // the last event that was passed on, and the last of any type there was when no more were found
	err := s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		if stored, position, err = s.resolve(ctx, tx, f); err != nil || f.After != "" {
			return err
		}
		state, err := orgstate.Read(ctx, tx)
		position = state.EventSequence
		return err
	})
	for err == nil {
		var found []outbox.Event
		err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			state, err := orgstate.Read(ctx, tx)
			if err != nil || state.EventSequence == seen {
				return err
			}
			if found, err = outbox.List(ctx, tx, stored, position, followPage); len(found) == 0 {
				seen = state.EventSequence
			}
			return err
		})
		if err == nil {
			err = each(found)
		}
		if err != nil {
			return err
		}
		if len(found) > 0 {
			position = found[len(found)-1].Sequence
			continue
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-committed:
		case <-time.After(followEvery):
		}
	}
	return err
}

// Retention returns for how many days the organization keeps events.
func (s *Service) Retention(ctx context.Context) (days int, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		days, err = outbox.Retention(ctx, tx)
		return err
	})
	return days, err
}

// SetRetention sets for how many days the organization keeps events. It writes nothing if nothing changes.
func (s *Service) SetRetention(ctx context.Context, days int) error {
	if days < outbox.RetentionMin || days > outbox.RetentionMax {
		return fault.Invalidf("event_retention_days", "must be %d to %d", outbox.RetentionMin, outbox.RetentionMax)
	}
	organizationID := actor.From(ctx).OrganizationID
	return s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := outbox.Retention(ctx, tx)
		if err != nil || before == days {
			return err
		}
		if err := outbox.SetRetention(ctx, tx, days); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "settings.updated", ResourceType: "settings", ResourceID: organizationID,
			Before: map[string]any{"event_retention_days": before}, After: map[string]any{"event_retention_days": days}})
		return nil
	})
}
