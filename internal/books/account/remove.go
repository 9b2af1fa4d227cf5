package account

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// Archive archives an account, so that it gets no new lines. It runs in the caller's transaction.
func Archive(ctx context.Context, tx *db.Tx, accountID string) (Account, error) {
	return archive(ctx, tx, accountID)
}

func archive(ctx context.Context, tx *db.Tx, accountID string) (Account, error) {
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return Account{}, err
	}
	before, err := find(ctx, tx, accountID)
	if err != nil || before.Archived() {
		return before, err
	}
	if before.Role != "" {
		return Account{}, fault.Conflictf("the system account %s cannot be archived: the service itself uses it as %s", before, before.Role)
	}
	standing, err := archiveObstacles(ctx, tx, before)
	if err != nil {
		return Account{}, err
	}
	if len(standing) > 0 {
		return Account{}, fault.Conflictf("the account %s cannot be archived: %s", before, strings.Join(standing, "; "))
	}
	after, now := before, tx.Now()
	after.ArchivedAt = &now
	return store(ctx, tx, "ledger_account.archived", before, after)
}

// archiveObstacles describes everything that prevents archiving an account, so that a user can resolve it all at once.
func archiveObstacles(ctx context.Context, tx *db.Tx, a Account) (out []string, err error) {
	children, err := selectChildren(ctx, tx, a.ID)
	if err != nil {
		return nil, err
	}
	var open []Account
	for _, c := range children {
		if !c.Archived() {
			open = append(open, c)
		}
	}
	if len(open) > 0 {
		out = append(out, fmt.Sprintf("%s not archived, for example %s",
			plural(len(open), "account below it is", "accounts below it are"), open[0]))
	}
	var balances []balanceRow
	if a.Type != Revenue && a.Type != Expense { // their balances end in earnings and need not be zero
		if balances, err = selectBalances(ctx, tx, a.ID); err != nil {
			return nil, err
		}
	}
	for _, b := range balances {
		switch held := b.Debits.Sub(b.Credits); {
		case held.IsZero():
		case actor.From(ctx).Sees(b.EntityID):
			out = append(out, fmt.Sprintf("it has a balance of %s %s in %s", held.Fixed(b.Currency), b.Currency, b.Name))
		default:
			out = append(out, "it has a balance in a legal entity that this API key has no access to")
		}
	}
	drafts, example, err := openDrafts(ctx, tx, a.ID)
	if drafts > 0 {
		out = append(out, fmt.Sprintf("%s on it, for example %s", plural(int(drafts), "draft has lines", "drafts have lines"), example))
	}
	if err != nil {
		return nil, err
	}
	used, err := activeUses(ctx, tx, a)
	return append(out, used...), err
}

// activeUses describes what posts to an account, which therefore must stay postable and unarchived.
func activeUses(ctx context.Context, tx *db.Tx, a Account) ([]string, error) {
	uses, err := reference.ToActive(ctx, tx, table, a.ID)
	if err != nil || len(uses) == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("it is used by %s; choose another ledger account there first", uses)}, nil
}

func unarchive(ctx context.Context, tx *db.Tx, accountID string) (Account, error) {
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return Account{}, err
	}
	before, err := find(ctx, tx, accountID)
	if err != nil || !before.Archived() {
		return before, err
	}
	if before.ParentID != "" {
		above, err := find(ctx, tx, before.ParentID)
		if err != nil {
			return Account{}, err
		}
		if above.Archived() {
			return Account{}, fault.Conflictf("the parent account %s is archived; unarchive it first", above)
		}
	}
	after := before
	after.ArchivedAt = nil
	return store(ctx, tx, "ledger_account.unarchived", before, after)
}

func deleteTree(ctx context.Context, tx *db.Tx, accountID string) error {
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return err
	}
	if _, err := find(ctx, tx, accountID); err != nil {
		return err
	}
	chart, err := selectAll(ctx, tx)
	if err != nil {
		return err
	}
	tree := subtree(chart, accountID)
	var system uses
	for _, a := range tree {
		if a.Role != "" {
			system = append(system, use{a, "is a system account the service itself uses as " + a.Role})
		}
	}
	return deleteUnused(ctx, tx, tree, system)
}

// DeleteIntercompany deletes the intercompany accounts of a legal entity that is being deleted. It runs in the caller's transaction.
func DeleteIntercompany(ctx context.Context, tx *db.Tx, legalEntityID string) error {
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return err
	}
	chart, err := selectAll(ctx, tx)
	if err != nil {
		return err
	}
	for _, a := range chart {
		if entity, ok := a.entityOf(); ok && entity == legalEntityID {
			if err := deleteUnused(ctx, tx, subtree(chart, a.ID), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteUnused deletes accounts, children before their parents. It returns a conflict if one of them is in use or found is not empty.
func deleteUnused(ctx context.Context, tx *db.Tx, tree []Account, found uses) error {
	for _, a := range tree {
		more, err := usesOf(ctx, tx, a)
		if err != nil {
			return err
		}
		found = append(found, more...)
	}
	if len(found) > 0 {
		return fault.Conflictf("the account %s cannot be deleted: %s", tree[0], found)
	}
	for i := len(tree) - 1; i >= 0; i-- {
		if err := remove(ctx, tx, tree[i].ID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: actionDeleted, ResourceType: "ledger_account", ResourceID: tree[i].ID,
			Before: tree[i].facts()})
	}
	return nil
}

// use is something that prevents an account from being deleted.
type use struct {
	account Account
	what    string
}

type uses []use

// usesShownMax is how many uses a message lists.
const usesShownMax = 5

// actionDeleted is the action of the audit record of a deleted account.
const actionDeleted = "ledger_account.deleted"

// String says which account is used by what.
func (u uses) String() string {
	told := make([]string, 0, usesShownMax+1)
	for _, one := range u[:min(len(u), usesShownMax)] {
		told = append(told, one.account.String()+" "+one.what)
	}
	if rest := len(u) - usesShownMax; rest > 0 {
		told = append(told, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(told, "; ")
}

// usesOf returns what refers to an account.
func usesOf(ctx context.Context, tx *db.Tx, a Account) (out uses, err error) {
	found, err := reference.To(ctx, tx, table, a.ID)
	for _, u := range found {
		out = append(out, use{a, "is used by " + u.String()})
	}
	return out, err
}

// plural returns a count with the singular or plural text.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
