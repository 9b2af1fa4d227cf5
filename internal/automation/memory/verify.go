package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
)

// Verify returns the violated invariants of an organization's documents and rules.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	revision, err := selectRevision(ctx, tx)
	if err != nil {
		return nil, err
	}
	items, err := selectItems(ctx, tx)
	if err != nil {
		return nil, err
	}
	count := int64(0)
	for _, i := range items {
		count += i.Count
		out = append(out, i.faults()...)
	}
	if count != revision {
		out = append(out, fmt.Sprintf("memory: there are %d versions, but the last revision is %d", count, revision))
	}
	unversioned, err := selectItemsWithoutVersion(ctx, tx)
	for _, id := range unversioned {
		out = append(out, fmt.Sprintf("memory %s: it has no version", id))
	}
	if err != nil {
		return nil, err
	}
	rows, err := selectRulesAt(ctx, tx, revision)
	if err != nil {
		return nil, err
	}
	keys, err := selectRuleKeys(ctx, tx)
	if err != nil {
		return nil, err
	}
	splits, err := selectSplits(ctx, tx)
	if err != nil {
		return nil, err
	}
	return append(out, append(verifyRules(rows, keys), verifySplits(rows, splits)...)...), nil
}

// verifySplits compares the stored accounts of splits with the versions of the rules.
func verifySplits(rows []ruleRow, stored []ruleSplitRow) (out []string) {
	of := map[string][]ruleSplitRow{}
	for _, s := range stored {
		of[s.RuleID] = append(of[s.RuleID], s)
	}
	for _, row := range rows {
		if r, err := row.rule(); err == nil && !slices.Equal(r.splitRows(), of[row.ID]) {
			out = append(out, fmt.Sprintf("rule %s: its stored splits are not those of its last version", row.ID))
		}
		delete(of, row.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("rule %s: it has splits, but does not exist", id))
	}
	return out
}

// faults returns the violated invariants of the version numbers of an item.
func (i itemRow) faults() (out []string) {
	if i.First != 1 || i.Count != i.Last {
		out = append(out, fmt.Sprintf("memory %s: it has %d versions, numbered from %d to %d", i.ID, i.Count, i.First, i.Last))
	}
	if i.Current != nil && *i.Current != i.Last {
		out = append(out, fmt.Sprintf("memory %s: it is at version %d, but its last version is %d", i.ID, *i.Current, i.Last))
	}
	if i.Document && i.Current == nil {
		out = append(out, fmt.Sprintf("memory %s: its versions belong to no document", i.ID))
	}
	if i.Document && i.Current != nil && (i.Gone != i.LastDeleted || i.Size != i.LastSize || i.Revision != i.LastRevision) {
		out = append(out, fmt.Sprintf("memory %s: the document does not match its last version", i.ID))
	}
	return out
}

// verifyRules compares the stored rules with their versions.
func verifyRules(rows []ruleRow, keys []ruleKeyRow) (out []string) {
	stored := make(map[string]ruleKeyRow, len(keys))
	for _, k := range keys {
		stored[k.ID] = k
	}
	for _, row := range rows {
		r, err := row.rule()
		k, ok := stored[row.ID]
		delete(stored, row.ID)
		switch {
		case err != nil:
			out = append(out, fmt.Sprintf("rule %s: version %d cannot be read", row.ID, row.Version))
		case !ok:
			out = append(out, fmt.Sprintf("rule %s: it was not deleted, but does not exist", row.ID))
		case db.OrEmpty(k.LedgerAccountID) != r.LedgerAccountID || db.OrEmpty(k.TagID) != r.TagID:
			out = append(out, fmt.Sprintf("rule %s: its stored account or tag is not the one of its last version", row.ID))
		}
	}
	for _, k := range keys {
		if _, left := stored[k.ID]; left {
			out = append(out, fmt.Sprintf("rule %s: it exists, but its last version is deleted or missing", k.ID))
		}
	}
	return out
}
