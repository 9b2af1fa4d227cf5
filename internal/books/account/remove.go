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

// Archive puts an account away. It is a building block.
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

// archiveObstacles says what stands against archiving an account: all of it, so that it can be cleared away in one go.
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
		out = append(out, fmt.Sprintf("%s, for example %s, not archived below it", plural(len(open), "account is", "accounts are"), open[0]))
	}
	var balances []balanceRow
	if a.Type != Revenue && a.Type != Expense { // those end in earnings, and an old one is put away with what it earned or cost
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
			out = append(out, "it has a balance in a legal entity this key is not for")
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

// activeUses says what uses an account, which then must go on taking lines.
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

// DeleteIntercompany removes the accounts of a legal entity that is going. It is a building block.
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

// deleteUnused removes accounts, each before what it stands below, unless one is used or something was found already.
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
		audit.Record(ctx, tx, audit.Change{Action: "ledger_account.deleted", ResourceType: "ledger_account", ResourceID: tree[i].ID,
			Before: tree[i].facts()})
	}
	return nil
}

// use is one thing that keeps an account where it is.
type use struct {
	account Account
	what    string
}

type uses []use

// usesShownMax bounds a message; whoever clears those away is told of the next.
const usesShownMax = 5

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

// usesOf finds what refers to an account.
func usesOf(ctx context.Context, tx *db.Tx, a Account) (out uses, err error) {
	found, err := reference.To(ctx, tx, table, a.ID)
	for _, u := range found {
		out = append(out, use{a, "is used by " + u.String()})
	}
	return out, err
}

// plural puts a number before what is counted.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
