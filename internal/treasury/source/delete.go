package source

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// Delete takes a source away and gives its own id. One that was made by hand goes if nothing uses it. An aggregator's account goes with its
// transactions unless entries were made from them, and the last one of an item only after the aggregator has forgotten the item. Whatever
// fails on the way, doing it again finishes it. It must not run inside a transaction, because the aggregator is asked in between.
func (s *Service) Delete(ctx context.Context, sourceID string) (string, error) {
	for {
		gone, first, err := s.deleteUnlessLast(ctx, sourceID)
		if err != nil || first == nil {
			return gone, err
		}
		if err := s.removeItem(ctx, *first); err != nil {
			return "", err
		}
	}
}

// deleteUnlessLast takes a source away in one transaction, or changes nothing and gives the item that must be removed first.
func (s *Service) deleteUnlessLast(ctx context.Context, sourceID string) (gone string, first *Item, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		gone, first = "", nil
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		going, err := Find(ctx, tx, sourceID)
		if err != nil {
			return err
		}
		if err := requireDeletable(ctx, tx, going); err != nil {
			return err
		}
		if going.ItemID != "" {
			if first, err = lastItem(ctx, tx, going); err != nil || first != nil {
				return err
			}
			if err := s.deleteTransactions(ctx, tx, going.ID); err != nil {
				return err
			}
			err = markDeleted(ctx, tx, going.ID)
		} else {
			err = remove(ctx, tx, going.ID)
		}
		if err != nil {
			return err
		}
		gone = going.ID
		audit.Record(ctx, tx, audit.Change{Action: "source.deleted", ResourceType: noun, ResourceID: going.ID, Before: going.facts()})
		return nil
	})
	return gone, first, err
}

// lastItem gives the item of a source that is its last one, unless the item is removed already.
func lastItem(ctx context.Context, tx *db.Tx, s Source) (*Item, error) {
	standings, err := selectStandings(ctx, tx, []string{s.ID})
	if err != nil || standings[s.ID].Beside > 0 {
		return nil, err
	}
	item, err := findItem(ctx, tx, s.ItemID)
	if err != nil || item.RemovedAt != nil {
		return nil, err
	}
	return &item, nil
}

// requireDeletable refuses to delete a source that must stay, and says what to do.
func requireDeletable(ctx context.Context, tx *db.Tx, s Source) error {
	switch {
	case s.ItemID != "":
		u, err := selectEntryUse(ctx, tx, s.ID)
		if err != nil || u.Count == 0 {
			return err
		}
		return fault.Conflictf("the source %s cannot be deleted, because %s were made from its transactions: unpost and "+
			"delete those first", s.Name, u)
	case !s.Manual:
		return fault.Conflictf("the source %s was created by a connection: disconnect the connection instead", s.Name)
	}
	uses, err := reference.To(ctx, tx, table, s.ID)
	if err != nil || len(uses) == 0 {
		return err
	}
	return fault.Conflictf("the source %s is in use by %s: its records are kept, so keep the source, and rename it if it is "+
		"no longer used", s.Name, uses)
}

// use is how many journal entries were made from transactions of a source, and the number of the first.
type use struct {
	Count int64  `db:"count"`
	First *int64 `db:"first"`
}

// String says it: 12 journal entries, for example JE-5.
func (u use) String() string {
	text := fmt.Sprintf("%d journal entries", u.Count)
	switch u.Count {
	case 1:
		text = "1 journal entry"
	case countMax:
		text = "at least " + text
	}
	if u.First != nil {
		text += fmt.Sprintf(", for example JE-%d", *u.First)
	}
	return text
}
