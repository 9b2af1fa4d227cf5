package source

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Holds reports whether a type of source can hold an asset or currency: bank accounts, cards and payment processors hold
// ISO 4217 money only, wallets hold none, and exchange accounts hold both.
func (t Type) Holds(symbol string) bool {
	if money.IsFiat(symbol) {
		return t.HoldsMoney()
	}
	return t.HoldsAssets()
}

// HoldsMoney reports whether a type of source can hold ISO 4217 money.
func (t Type) HoldsMoney() bool { return t != Wallet }

// HoldsAssets reports whether a type of source can hold digital assets.
func (t Type) HoldsAssets() bool { return t == Wallet || t == Exchange }

// RequireHolds returns why the source cannot hold an asset or currency, and what to do; an empty text if it can.
func (s Source) RequireHolds(symbol string) string {
	switch {
	case s.Type.Holds(symbol):
		return ""
	case s.Type == Wallet:
		return fmt.Sprintf("the source %s is a wallet, which cannot hold %s: use a bank or exchange account, or, for a token that is called "+
			"like a currency, its contract address as the symbol", s.Name, symbol)
	}
	what := map[Type]string{Bank: "bank account", Card: "card", Other: "payment processor"}[s.Type]
	return fmt.Sprintf("the source %s is a %s, which holds ISO 4217 currencies only, not %s: use a wallet or an exchange account",
		s.Name, what, symbol)
}

// requireHolders returns a conflict if one of some ledger accounts has something that none of its sources can hold. It is called after a
// source was added to the accounts or removed from them. An account without sources may have anything.
func requireHolders(ctx context.Context, tx *db.Tx, ledgerAccountIDs ...string) error {
	for _, id := range ledgerAccountIDs {
		sources, err := selectOfLedgerAccount(ctx, tx, id)
		if err != nil {
			return err
		}
		if len(sources) == 0 {
			continue
		}
		quantities, err := balance.QuantitiesOn(ctx, tx, id)
		if err != nil {
			return err
		}
		for _, unit := range slices.Sorted(maps.Keys(quantities)) {
			if quantities[unit].IsZero() || slices.ContainsFunc(sources, func(s Source) bool { return s.Type.Holds(unit) }) {
				continue
			}
			a, err := account.Get(ctx, tx, id)
			if err != nil {
				return err
			}
			message := describeUnheld(actor.From(ctx), a, quantities[unit], unit, sources)
			return fault.ConflictAt([]fault.Field{{Name: "ledger_account_id", Message: message}}, "%s", message)
		}
	}
	return nil
}

// describeUnheld says that an account has something that none of its sources can hold. The quantity is that of all legal entities, and so
// are the sources: a limited key is not told the quantity, and a source only if it belongs to one of its legal entities.
func describeUnheld(who actor.Actor, a account.Account, quantity money.Decimal, unit string, sources []Source) string {
	has := quantity.String() + " " + unit
	if who.Limited() {
		has = unit
	}
	for _, s := range sources {
		if who.Sees(s.LegalEntityID) {
			return fmt.Sprintf("the ledger account %s has %s, but %s", a, has, s.RequireHolds(unit))
		}
	}
	return fmt.Sprintf("the ledger account %s has %s, which none of its sources can hold: choose another account", a, has)
}
