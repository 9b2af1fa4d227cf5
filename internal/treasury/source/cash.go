package source

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
)

// UnsourcedCash returns the ledger accounts that hold cash although they have no source, such as 1010 Bank accounts in books that are
// kept by hand: monetary asset accounts that are, or are below, a group in which sources that hold money have their accounts in a new
// chart of accounts. Clearing accounts, contra accounts and accounts that the service uses itself are not cash. It is a building block.
func UnsourcedCash(ctx context.Context, tx *db.Tx) (map[string]bool, error) {
	chart, err := snapshot.Accounts(ctx, tx)
	if err != nil {
		return nil, err
	}
	sources, err := AllUnchecked(ctx, tx)
	if err != nil {
		return nil, err
	}
	hasSource, byID := map[string]bool{}, make(map[string]account.Account, len(chart))
	for _, s := range sources {
		hasSource[s.LedgerAccountID] = true
	}
	for _, a := range chart {
		byID[a.ID] = a
	}
	out := map[string]bool{}
	for _, a := range chart {
		if isMoney := a.Monetary && !a.Clearing && a.Role == "" && a.NormalBalance == account.Debit; isMoney && !hasSource[a.ID] &&
			inCashGroup(byID, a) {
			out[a.ID] = true
		}
	}
	return out, nil
}

// inCashGroup reports whether an account is, or is below, a group of assets in which sources that hold money have their accounts.
func inCashGroup(byID map[string]account.Account, a account.Account) bool {
	for there := true; there; a, there = byID[a.ParentID] {
		for t, code := range groups {
			if t.HoldsMoney() && a.Type == account.Asset && a.Code == code {
				return true
			}
		}
	}
	return false
}
