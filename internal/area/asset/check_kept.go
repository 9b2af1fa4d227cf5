package asset

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/area/balance"
	"github.com/bursarhq/bursar/internal/base/money"
)

// carried is what one entry moves or converts, and what it makes of that.
type carried struct {
	out, in   money.Decimal
	currency  string
	missing   bool
	elsewhere bool // It arrives in another currency.
	parents   map[string]Use
	lots      []Lot
}

// slices checks that what is moved or converted arrives with its cost and its dates, and nothing else does.
func (c *checking) slices(context.Context) error {
	for _, entryID := range slices.Sorted(maps.Keys(c.carried)) {
		k := c.carried[entryID]
		for _, l := range k.lots {
			if l.Origin != Transferred {
				continue
			}
			from, there := k.parents[l.ParentID]
			if !there || !from.AcquiredAt.Equal(l.AcquiredAt) {
				c.found.Addf("lots that come from nowhere", "the lot %s is not a slice of %s with its date, which its entry %s should have moved", l.ID, l.ParentID, entryID)
			}
		}
		if len(k.parents) == 0 || k.elsewhere {
			continue
		}
		if d := k.in.Cmp(k.out); d < 0 || d > 0 && !k.missing {
			c.found.Addf("moves that do not keep their cost", "the entry %s moves lots that cost %s, and what arrives cost %s", entryID, k.out, k.in)
		}
	}
	return nil
}

func (c *checking) carriedBy(entryID string) *carried {
	k := c.carried[entryID]
	if k == nil {
		k = &carried{parents: map[string]Use{}}
		c.carried[entryID] = k
	}
	return k
}

// leave notes what a request moves out of its pool.
func (c *checking) leave(t *taken) {
	for _, u := range t.old {
		if u.Realizes() || u.Kind == string(relocate) {
			continue
		}
		k := c.carriedBy(t.entryID)
		if u.LotID == "" {
			k.missing = true
			continue
		}
		k.out, k.parents[u.LotID] = k.out.Add(u.Basis), u
		k.counts(u.Currency)
	}
}

// arrive notes what an entry makes.
func (c *checking) arrive(l Lot) {
	if l.Origin == Manual {
		return
	}
	k := c.carriedBy(l.JournalEntryID)
	k.in, k.lots = k.in.Add(l.CostBasis), append(k.lots, l)
	k.counts(l.Currency)
}

// counts notes in which currency.
func (k *carried) counts(currency string) {
	k.elsewhere = k.elsewhere || k.currency != "" && k.currency != currency
	k.currency = currency
}

// kept holds what is kept by accounting period against what lots and uses add up to.
func (c *checking) kept(ctx context.Context) error {
	positions, err := selectAllPositions(ctx, c.tx)
	if err != nil {
		return err
	}
	gains, err := selectAllGains(ctx, c.tx)
	if err != nil {
		return err
	}
	for _, of := range []func(positionKey) positionKey{
		func(k positionKey) positionKey { k.period = ""; return k },
		func(k positionKey) positionKey {
			if c.loose[k.entity] {
				k.period = ""
			}
			return k
		},
	} {
		kept, want := gather(positions, of), gather(c.sums.positions, of)
		for _, k := range slices.SortedFunc(maps.Keys(union(kept, want)), comparePositions) {
			if h, w := kept[k], want[k]; !h.equal(w) {
				c.found.Addf("positions that differ from their lots", "the position of %s at %s%s of %s in %q is kept as %s at %s in %d lots, added %s at %s, but lots and uses come to %s at %s in %d, added %s at %s",
					k.asset, k.source, k.account, k.entity, k.period, h.quantity, h.basis, h.lots, h.addedQuantity, h.addedBasis, w.quantity, w.basis, w.lots, w.addedQuantity, w.addedBasis)
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(union(gains, c.sums.gains)), compareGains) {
		if h, w := gains[k], c.sums.gains[k]; !h.equal(w) {
			c.found.Addf("gains that differ from their uses", "what %s of %s realized in %s is kept as %s less %s, but the uses come to %s less %s, or to other terms or proceeds",
				k.asset, k.entity, k.period, h.gain, h.loss, w.gain, w.loss)
		}
	}
	return nil
}

func union[K comparable, V any](a, b map[K]V) map[K]V {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func gather(all map[positionKey]position, of func(positionKey) positionKey) map[positionKey]position {
	out := map[positionKey]position{}
	for k, p := range all {
		k = of(k)
		q := out[k]
		out[k] = position{
			q.quantity.Add(p.quantity), q.basis.Add(p.basis), q.addedQuantity.Add(p.addedQuantity), q.addedBasis.Add(p.addedBasis), q.lots + p.lots,
		}
	}
	return out
}

func (p position) equal(o position) bool {
	return p.quantity.Equal(o.quantity) && p.basis.Equal(o.basis) && p.addedQuantity.Equal(o.addedQuantity) && p.addedBasis.Equal(o.addedBasis) && p.lots == o.lots
}

func (g gain) equal(o gain) bool {
	return g.quantity.Equal(o.quantity) && g.proceeds.Equal(o.proceeds) && g.fee.Equal(o.fee) && g.basis.Equal(o.basis) && g.gain.Equal(o.gain) && g.loss.Equal(o.loss) &&
		g.short.Equal(o.short) && g.long.Equal(o.long)
}

// spot is an asset on an account of a legal entity.
type spot struct{ entity, account, unit string }

// ledger checks that what stands on the accounts is what the lots cost, in every accounting period. Of what was never parked an account is
// credited the value, for which there is no lot. What other books brought on accounts that carry no lots is as it was there.
func (c *checking) ledger(ctx context.Context) error {
	positions, err := selectAllPositions(ctx, c.tx)
	if err != nil {
		return err
	}
	units, err := balance.AllUnits(ctx, c.tx)
	if err != nil {
		return err
	}
	lots, carries := map[balance.UnitKey]money.Decimal{}, map[spot]bool{}
	for k, p := range positions {
		at := balance.UnitKey{Entity: k.entity, Account: k.account, Unit: k.asset, Period: k.period}
		lots[at] = lots[at].Add(p.basis)
		carries[spot{k.entity, k.account, k.asset}] = true
	}
	stand := map[balance.UnitKey]money.Decimal{}
	for k, u := range units {
		if carries[spot{k.Entity, k.Account, k.Unit}] {
			stand[k] = u.Amount
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(union(lots, stand)), func(a, b balance.UnitKey) int {
		return cmp.Or(cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Period, b.Period))
	}) {
		if !lots[k].Equal(stand[k]) && !c.beyond[spot{k.Entity, k.Account, k.Unit}] {
			c.found.Addf("accounts that differ from their lots", "the %s on the account %s of %s moved by %s in %s, but its lots by %s", k.Unit, k.Account, k.Entity, stand[k], k.Period, lots[k])
		}
	}
	return nil
}
