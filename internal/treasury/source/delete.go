package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
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
		return fault.Conflictf("the source %s cannot be deleted: journal entries exist for its transactions; %s: unpost and "+
			"delete those first", s.Name, u.text("journal entries", "JE"))
	case !s.Manual:
		return fault.Conflictf("the source %s was created by a connection: disconnect the connection instead", s.Name)
	}
	var uses []string
	for _, by := range users {
		u, err := selectUse(ctx, tx, by, s.ID)
		if err != nil {
			return err
		}
		if u.Count > 0 {
			uses = append(uses, u.text(by.label, by.letters))
		}
	}
	if len(uses) == 0 {
		return nil
	}
	return fault.Conflictf("the source %s is in use; %s: its records are kept, so keep the source, and rename it if it is "+
		"no longer used", s.Name, strings.Join(uses, "; "))
}

// use is how often something refers to a source, and the number of the first that does.
type use struct {
	Count int64  `db:"count"`
	First *int64 `db:"first"`
}

// text says it: transactions: 12 (such as OT-5).
func (u use) text(label, letters string) string {
	text := fmt.Sprintf("%s: %d", label, u.Count)
	if u.Count == countMax {
		text += " or more"
	}
	if u.First != nil {
		text += fmt.Sprintf(" (such as %s-%d)", letters, *u.First)
	}
	return text
}
