package replay

import (
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
)

// standing is how much of the basis of a pool stands on each ledger account. A pool of a legal entity has lots of several
// sources: what is disposed of at one of them may consume lots of another one, and then leaves the account of those. It is nil
// for other pools, whose lots say where they stand.
type standing map[string]money.Decimal

// on returns what stands on an account, at least zero.
func (s standing) on(accountID string) money.Decimal {
	if s[accountID].Sign() < 0 {
		return money.Decimal{}
	}
	return s[accountID]
}

// most returns a basis, or what stands on an account if that is less.
func (s standing) most(accountID string, basis money.Decimal) money.Decimal {
	if on := s.on(accountID); on.Cmp(basis) < 0 {
		return on
	}
	return basis
}

// add adds to what stands on an account.
func (s standing) add(accountID string, basis money.Decimal) {
	if s != nil {
		s[accountID] = s[accountID].Add(basis)
	}
}

// subtract removes what uses took from their accounts.
func (s standing) subtract(uses ...lots.Use) {
	for _, u := range uses {
		s.add(u.LedgerAccountID, u.Basis.Neg())
	}
}

// covers reports whether everything that uses take stands on their accounts. Verification, which has no standing, accepts any
// accounts: those of uses that were booked by earlier versions are overdrawn.
func (s standing) covers(uses []lots.Use) bool {
	if s == nil {
		return true
	}
	wanted := map[string]money.Decimal{}
	for _, u := range uses {
		wanted[u.LedgerAccountID] = wanted[u.LedgerAccountID].Add(u.Basis)
	}
	for account, basis := range wanted {
		if basis.Sign() > 0 && s.on(account).Cmp(basis) < 0 {
			return false
		}
	}
	return true
}

// credit takes the basis of a use from the accounts on which it stands: that of the lot first, then that of the source, then
// others. A transfer moves basis at the average of the pool, so that less than the whole may stand on the account of the lot:
// the use is then split. Uses that are booked already keep their accounts as long as the basis stands there. If the request
// named an account, that is credited.
func (s standing) credit(c *consumption, use lots.Use, lotAccountID string, places int32) []lots.Use {
	parts := c.booked(use)
	switch {
	case c.named:
		parts = []lots.Use{use}
	case len(parts) == 0 || !s.covers(parts):
		parts = split(use, s.shares(use.Basis, lotAccountID, use.LedgerAccountID), places, c.NetFees)
	}
	s.subtract(parts...)
	return parts
}

// booked returns the stored uses of the same lot if they add up to a use.
func (c *consumption) booked(use lots.Use) (parts []lots.Use) {
	var sum lots.Use
	for _, u := range c.before {
		if u.LotID != use.LotID || u.Kind != use.Kind {
			continue
		}
		sum = sum.Plus(u, 1)
		again := use
		again.LedgerAccountID, again.Quantity, again.Basis = u.LedgerAccountID, u.Quantity, u.Basis
		again.Proceeds, again.Fee, again.Gain, again.LotCount = u.Proceeds, u.Fee, u.Gain, u.LotCount
		parts = append(parts, again)
	}
	if !sum.Quantity.Equal(use.Quantity) || !sum.Basis.Equal(use.Basis) || !sum.Proceeds.Equal(use.Proceeds) ||
		!sum.Fee.Equal(use.Fee) || !sum.Gain.Equal(use.Gain) || sum.LotCount != use.LotCount {
		return nil
	}
	return parts
}

// share is the part of a basis that stands on an account.
type share struct {
	accountID string
	basis     money.Decimal
}

// shares returns where a basis is taken from.
func (s standing) shares(basis money.Decimal, first, second string) (out []share) {
	accounts := append([]string{first, second}, slices.Sorted(maps.Keys(s))...)
	for i, account := range accounts {
		if slices.Contains(accounts[:i], account) {
			continue
		}
		if part := s.most(account, basis); part.Sign() > 0 {
			out, basis = append(out, share{account, part}), basis.Sub(part)
		}
	}
	if len(out) == 0 {
		return []share{{first, basis}}
	}
	out[0].basis = out[0].basis.Add(basis) // nothing is left unless the accounts do not add up to the pool
	return out
}

// quantityPlaces is the number of digits after the point to which the quantity of a use is split.
const quantityPlaces = 18

// split divides a use among accounts. The parts add up to the use.
func split(use lots.Use, by []share, places int32, netFees bool) (out []lots.Use) {
	rest, basis := use, use.Basis
	for i, part := range by {
		u := rest
		u.LedgerAccountID, u.Basis = part.accountID, part.basis
		if i < len(by)-1 {
			u.Quantity = rest.Quantity.Mul(part.basis).Quo(basis, quantityPlaces)
			u.Proceeds, u.Fee = rest.Proceeds.Mul(part.basis).Quo(basis, places), rest.Fee.Mul(part.basis).Quo(basis, places)
			u.Gain, u.LotCount = money.Decimal{}, 0
			if u.Realizes() {
				u.Gain = u.Proceeds.Sub(u.Basis)
			}
			if u.Realizes() && netFees {
				u.Gain = u.Gain.Sub(u.Fee)
			}
		}
		rest, basis = rest.Plus(u, -1), basis.Sub(part.basis)
		out = append(out, u)
	}
	return out
}
