package transfers

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// linkPairs links those pairs that still can be: since they were read, one of their sides may have been linked, posted
// or deleted.
func linkPairs(ctx context.Context, tx *db.Tx, pairs []transfer.Pair) ([]transfer.Pair, error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range pairs {
		ids = append(ids, p.Out, p.In)
	}
	found, err := transaction.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]transaction.Transaction, len(found))
	for _, t := range found {
		if t.Status == transaction.Pending && t.GroupID == "" {
			byID[t.ID] = t
		}
	}
	var groups []Group
	var written []transfer.Pair
	for _, p := range pairs {
		out, outOK := byID[p.Out]
		in, inOK := byID[p.In]
		if !outOK || !inOK {
			continue
		}
		g := Group{Kind: p.Kind, By: p.Evidence, Out: out, In: in}
		if p.Kind != transfer.Swap {
			g.Shortfall = &p.Shortfall
		}
		groups, written = append(groups, g), append(written, p)
	}
	_, err = createGroups(ctx, tx, groups)
	return written, err
}

// createGroups links the transactions of groups and returns the groups with the updated transactions. The caller has
// read the transactions while holding the lock on the organization state.
func createGroups(ctx context.Context, tx *db.Tx, groups []Group) ([]Group, error) {
	var links []Link
	var edits []transaction.Edit
	var ids []string
	for i := range groups {
		g := &groups[i]
		g.ID = tx.NewID(id.TransactionGroup)
		for _, side := range []Side{Out, In} {
			before := g.Out
			if side == In {
				before = g.In
			}
			e := transaction.Edit{Before: before, After: asMember(before, g.ID, g.Kind)}
			l := Link{TransactionID: before.ID, GroupID: g.ID, Side: side, Kind: g.Kind, By: g.By, Shortfall: g.Shortfall,
				CreatedBy: actor.From(ctx).UserID, CreatedAt: tx.Now()}
			if e.After.Type != before.Type {
				l.TypeBefore = before.Type
			}
			links, edits, ids = append(links, l), append(edits, e), append(ids, before.ID)
		}
	}
	if len(groups) == 0 {
		return nil, nil
	}
	if _, err := transaction.Save(ctx, tx, edits); err != nil {
		return nil, err
	}
	for i := range groups {
		groups[i].Out, groups[i].In = edits[2*i].After, edits[2*i+1].After
	}
	if err := insertLinks(ctx, tx, links); err != nil {
		return nil, err
	}
	return groups, removeAmbiguities(ctx, tx, ids)
}

// dissolveGroups deletes groups and returns their updated members. A posted transaction keeps its type, because its
// entry was booked by it.
func dissolveGroups(ctx context.Context, tx *db.Tx, links []Link, members []transaction.Transaction) ([]transaction.Transaction, error) {
	byID := make(map[string]Link, len(links))
	var groups []string
	for _, l := range links {
		byID[l.TransactionID] = l
		if !slices.Contains(groups, l.GroupID) {
			groups = append(groups, l.GroupID)
		}
	}
	edits := make([]transaction.Edit, len(members))
	for i, t := range members {
		edits[i] = transaction.Edit{Before: t, After: byID[t.ID].withoutGroup(t)}
	}
	if _, err := transaction.Save(ctx, tx, edits); err != nil {
		return nil, err
	}
	for i := range members {
		members[i] = edits[i].After
	}
	return members, removeLinks(ctx, tx, groups)
}

// DeleteTransactionsOfSource deletes every transaction of a deleted source and unlinks them; the transactions that they
// were linked to stay. It is a building block.
func DeleteTransactionsOfSource(ctx context.Context, tx *db.Tx, sourceID string) error {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return err
	}
	groups, err := transaction.GroupsOfSource(ctx, tx, sourceID)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(groups, linkBatch) {
		links, err := selectGroups(ctx, tx, batch)
		if err != nil {
			return err
		}
		members, err := transaction.FindSomeUnchecked(ctx, tx, idsOf(links))
		if err != nil {
			return err
		}
		if _, err := dissolveGroups(ctx, tx, links, members); err != nil {
			return err
		}
	}
	return transaction.DeleteOfSource(ctx, tx, sourceID)
}

// Withdraw deletes transactions that their source says did not happen, and ends the links to others. Those that are booked stay: it returns
// their ids, and how many were deleted. It is a building block.
func Withdraw(ctx context.Context, tx *db.Tx, sourceIDs, externalIDs []string) (removed int, booked []string, err error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return 0, nil, err
	}
	found, err := transaction.OfExternalIDsUnchecked(ctx, tx, sourceIDs, externalIDs)
	if err != nil {
		return 0, nil, err
	}
	var free, groups []string
	for _, t := range found {
		switch {
		case t.JournalEntryID != "":
			booked = append(booked, t.ID)
			continue
		case t.GroupID != "" && !slices.Contains(groups, t.GroupID):
			groups = append(groups, t.GroupID)
		}
		free = append(free, t.ID)
	}
	if len(groups) > 0 {
		links, err := selectGroups(ctx, tx, groups)
		if err != nil {
			return 0, nil, err
		}
		members, err := transaction.FindSomeUnchecked(ctx, tx, idsOf(links))
		if err != nil {
			return 0, nil, err
		}
		if _, err := dissolveGroups(ctx, tx, links, members); err != nil {
			return 0, nil, err
		}
	}
	if len(free) == 0 {
		return 0, booked, nil
	}
	unlinked, err := transaction.FindSomeUnchecked(ctx, tx, free)
	if err != nil {
		return 0, nil, err
	}
	return len(unlinked), booked, transaction.Withdraw(ctx, tx, unlinked)
}

func idsOf(links []Link) []string {
	ids := make([]string, len(links))
	for i, l := range links {
		ids[i] = l.TransactionID
	}
	return ids
}
