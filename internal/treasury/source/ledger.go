package source

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// ForeignAccounts returns those of some ledger accounts that belong to sources of legal entities outside the actor's key, and to none of
// its own. The actor cannot book to them. It is a building block.
func ForeignAccounts(ctx context.Context, tx *db.Tx, accountIDs []string) (map[string]bool, error) {
	who := actor.From(ctx)
	if !who.Limited() || len(accountIDs) == 0 {
		return nil, nil
	}
	all, err := snapshot.Accounts(ctx, tx)
	if err != nil {
		return nil, err
	}
	asked, foreign := make(map[string]bool, len(accountIDs)), map[string]bool{}
	for _, id := range accountIDs {
		asked[id] = true
	}
	for _, a := range all { // the account keeps the name of a source that was deleted
		if asked[a.ID] && a.NamedAfter != "" {
			foreign[a.ID] = !who.Sees(a.NamedAfter)
		}
	}
	owners, err := selectOwners(ctx, tx, accountIDs)
	for id, entities := range owners {
		foreign[id] = !slices.ContainsFunc(entities, who.Sees)
	}
	return foreign, err
}

// groups are the codes of the account groups in a new chart of accounts, by type of source.
var groups = map[Type]string{Wallet: "1200", Exchange: "1100", Bank: "1000", Card: "2000", Other: "1000"}

// IsGroup reports whether a code is that of a group in which sources have their ledger accounts in a new chart of accounts.
func IsGroup(code string) bool {
	return code != "" && slices.Contains(slices.Collect(maps.Values(groups)), code)
}

// accountType returns the type of the ledger account of a source. A card is a liability.
func (t Type) accountType() account.Type {
	if t == Card {
		return account.Liability
	}
	return account.Asset
}

// createAccount creates a ledger account for a source: with the same parent as the account of the latest source of its
// type, else in the group that a new chart has for it, else at the top level.
func createAccount(ctx context.Context, tx *db.Tx, s Source) (string, error) {
	parent, err := parentAccount(ctx, tx, s.Type)
	if err != nil {
		return "", err
	}
	a, err := account.Create(ctx, tx, account.CreateParams{Name: s.Name, Type: s.Type.accountType(), ParentID: parent,
		NamedAfter: s.LegalEntityID})
	return a.ID, err
}

func parentAccount(ctx context.Context, tx *db.Tx, t Type) (string, error) {
	if last, err := findLast(ctx, tx, t); err == nil {
		sibling, err := account.Get(ctx, tx, last.LedgerAccountID)
		if err != nil {
			return "", err
		}
		if sibling.Type == t.accountType() {
			return sibling.ParentID, nil // an account in use is not archived, and neither are its parents
		}
	} else if fault.KindOf(err) != fault.NotFound {
		return "", err
	}
	group, err := account.ByCode(ctx, tx, groups[t])
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return "", nil
	case err != nil:
		return "", err
	case group.Postable || group.Archived() || group.Type != t.accountType():
		return "", nil
	}
	return group.ID, nil
}
