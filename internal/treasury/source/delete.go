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

// Delete deletes a source and returns its id. A manual source can be deleted if nothing refers to it. An aggregator's
// account is deleted with its transactions unless journal entries were made from them; for the last account of an item,
// the item is removed at the aggregator first. After a failure, calling Delete again completes the deletion. It must not
// run inside a database transaction, because it calls the aggregator.
func (s *Service) Delete(ctx context.Context, sourceID string) (string, error) {
	for {
		deletedID, item, err := s.deleteUnlessLast(ctx, sourceID)
		if err != nil || item == nil {
			return deletedID, err
		}
		if err := s.removeItem(ctx, *item); err != nil {
			return "", err
		}
	}
}

// deleteUnlessLast deletes a source in one database transaction, or changes nothing and returns the item that must be
// removed first.
func (s *Service) deleteUnlessLast(ctx context.Context, sourceID string) (deletedID string, remove *Item, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		deletedID, remove = "", nil
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		found, err := Find(ctx, tx, sourceID)
		if err != nil {
			return err
		}
		if err := requireDeletable(ctx, tx, found); err != nil {
			return err
		}
		if found.ItemID != "" {
			if remove, err = lastItem(ctx, tx, found); err != nil || remove != nil {
				return err
			}
			if err := s.deleteTransactions(ctx, tx, found.ID); err != nil {
				return err
			}
			err = markDeleted(ctx, tx, found.ID)
		} else {
			err = deleteRow(ctx, tx, found.ID)
		}
		if err != nil {
			return err
		}
		if err := requireHolders(ctx, tx, found.LedgerAccountID); err != nil {
			return err
		}
		deletedID = found.ID
		audit.Record(ctx, tx, audit.Change{Action: "source.deleted", ResourceType: noun, ResourceID: found.ID, Before: found.facts()})
		return nil
	})
	return deletedID, remove, err
}

// lastItem returns the item of a source if the source is its last account and the item is not removed yet, and nil
// otherwise.
func lastItem(ctx context.Context, tx *db.Tx, s Source) (*Item, error) {
	standings, err := selectUsages(ctx, tx, []string{s.ID})
	if err != nil || standings[s.ID].Siblings > 0 {
		return nil, err
	}
	item, err := findItem(ctx, tx, s.ItemID)
	if err != nil || item.RemovedAt != nil {
		return nil, err
	}
	return &item, nil
}

// requireDeletable returns a conflict that says what to do if a source cannot be deleted.
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
		"no longer used. Assets move to a source of another legal entity by an INTERCOMPANY TRANSFER", s.Name, uses)
}

// String returns, for example, "12 journal entries, for example JE-5".
func (u entryUse) String() string {
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
