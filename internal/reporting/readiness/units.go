package readiness

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// accountUnits is what an account holds or owes, all as debits less credits.
type accountUnits struct {
	account.Account
	sources []source.Type // that have the account
	units   []balance.ClosingUnits
	rest    money.Decimal // of the balance: what entries without units have booked
	isLoan  bool          // loans were booked to it
}

// inspectUnits requires units and amounts to agree: the account of a wallet has no amounts without an asset, and a loan or another
// claim or obligation that is owed in units is settled in these units. Otherwise the balance would be measured by units that are gone.
// More must not be repaid of a loan in the base currency than was borrowed. Foreign currency is only warned about, because its
// difference can be a gain or loss that is yet to be booked.
func inspectUnits(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (period.CheckResult, error) {
	found, err := readUnits(ctx, tx, p, e)
	if err != nil {
		return period.CheckResult{}, err
	}
	var ids, texts []string
	onlyMoney := true
	for _, a := range found {
		text, unit := a.contradiction(e.BaseCurrency)
		if text != "" {
			ids, texts = append(ids, a.ID), append(texts, text)
			onlyMoney = onlyMoney && unit != "" && money.IsFiat(unit)
		}
	}
	v := period.NewCheckResult(e, CodeUnitsDiffer, int64(len(ids)), ids[:min(samplesMax, len(ids))],
		"what is owed and held in units was booked in these units",
		"amounts contradict units: "+sample(texts, len(texts))+". Look at the entries of these accounts "+
			"(GET /v1/journal-entries?ledger_account_id=…, with the ids in sample_ids) and correct those at fault: book what was paid in the "+
			"unit that is owed, and wallets by their transactions")
	if onlyMoney && v.Status == period.Fail {
		v.Status = period.Warn
	}
	return v, nil
}

// contradiction describes how the amounts of an account contradict its units, and returns the unit that is concerned, if any.
func (a accountUnits) contradiction(currency string) (text, unit string) {
	if a.isWallet() {
		if a.rest.IsZero() {
			return "", ""
		}
		return fmt.Sprintf("%s has %s without an asset", a.Account, a.rest.Fixed(currency)), ""
	}
	if !a.isOwed() {
		return "", ""
	}
	settled := a.natural(a.rest).Sign() < 0
	for _, u := range a.units {
		outstanding := a.natural(u.Quantity)
		switch {
		case outstanding.Sign() < 0 && !money.IsFiat(u.Unit):
			return fmt.Sprintf("more was settled on %s than was owed, by %s %s", a.Account, outstanding.Neg(), u.Unit), u.Unit
		case outstanding.Sign() > 0 && settled:
			return fmt.Sprintf("on %s, %s %s are outstanding, but %s was settled without units", a.Account, outstanding, u.Unit,
				a.natural(a.rest).Neg().Fixed(currency)), u.Unit
		}
	}
	if a.isLoan && settled {
		return fmt.Sprintf("more was settled on %s than was owed, by %s %s", a.Account, a.natural(a.rest).Neg().Fixed(currency), currency), ""
	}
	return "", ""
}

// isWallet reports whether only wallets have the account.
func (a accountUnits) isWallet() bool {
	return len(a.sources) > 0 && !slices.ContainsFunc(a.sources, func(t source.Type) bool { return t != source.Wallet })
}

// isOwed reports whether the account is a claim or an obligation: monetary, and not one through which transfers pass.
func (a accountUnits) isOwed() bool {
	if a.Role == account.RoleSuspense || a.Role == account.RoleUnappliedCash || account.IsIntercompany(a.Role) {
		return false
	}
	return a.Monetary && !a.Clearing && len(a.sources) == 0 && a.NormalBalance == a.Type.NormalBalance() &&
		(a.Type == account.Asset || a.Type == account.Liability)
}

// natural returns a balance with the sign of the side on which the account grows.
func (a accountUnits) natural(debits money.Decimal) money.Decimal {
	if a.NormalBalance == account.Credit {
		return debits.Neg()
	}
	return debits
}

// readUnits returns the accounts of a legal entity that hold or owe something in units at the end of a period, those of loans and those
// of sources.
func readUnits(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) ([]accountUnits, error) {
	units, err := balance.UnitsThrough(ctx, tx, e.ID, p.Key)
	if err != nil {
		return nil, err
	}
	sources, err := source.TypesByAccount(ctx, tx)
	if err != nil {
		return nil, err
	}
	loans, err := booking.LoanAccounts(ctx, tx)
	if err != nil {
		return nil, err
	}
	wanted := append(slices.Collect(maps.Keys(sources)), loans...)
	byAccount := map[string][]balance.ClosingUnits{}
	for _, u := range units {
		byAccount[u.AccountID] = append(byAccount[u.AccountID], u)
	}
	wanted = append(wanted, slices.Collect(maps.Keys(byAccount))...)
	slices.Sort(wanted)
	balances, err := balance.Through(ctx, tx, e.ID, p.Key, slices.Compact(wanted))
	if err != nil {
		return nil, err
	}
	accounts, err := snapshot.Accounts(ctx, tx)
	var out []accountUnits
	for _, a := range accounts {
		rest, there := balances[a.ID]
		if !there {
			continue
		}
		for _, u := range byAccount[a.ID] {
			rest = rest.Sub(u.Amount)
		}
		out = append(out, accountUnits{Account: a, sources: sources[a.ID], units: byAccount[a.ID], rest: rest,
			isLoan: slices.Contains(loans, a.ID)})
	}
	return out, err
}
