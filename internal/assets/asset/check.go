package asset

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// checking is an organization's lots looked at from the beginning.
type checking struct {
	tx      *db.Tx
	books   *snapshot.Books
	found   *finding.List
	periods map[string]string // of the entries that made lots
	sums    *changes          // what lots and uses add up to
	loose   map[string]bool   // legal entities whose lots do not tell any more in which period they came
	carried map[string]*carried
	beyond  map[spot]bool // accounts from which more was taken than was parked there
}

// Check recomputes the lots: every pool from nothing, by what entered it and what was asked of it; each lot from what
// was taken from it; and what is kept of them by accounting period, which is what stands on the accounts.
func Check(ctx context.Context, tx *db.Tx) ([]string, error) {
	b, err := snapshot.Load(ctx, tx)
	if err != nil {
		return nil, err
	}
	c := &checking{tx: tx, books: b, found: finding.About("lots"), sums: newChanges(), carried: map[string]*carried{}, beyond: map[spot]bool{}}
	if c.periods, err = selectLotPeriods(ctx, tx); err != nil {
		return nil, err
	}
	if c.loose, err = selectLoose(ctx, tx); err != nil {
		return nil, err
	}
	for _, part := range []func(context.Context) error{c.belonging, c.pools, c.slices, c.kept, c.ledger} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return c.found.All(), nil
}

// belonging checks that everything is that of a pool and an entry that stand.
func (c *checking) belonging(ctx context.Context) error {
	for _, s := range strays {
		broken, err := db.All[string](ctx, c.tx, s.query)
		if err != nil {
			return err
		}
		for _, name := range broken {
			c.found.Addf(s.kind, s.text, name)
		}
	}
	return nil
}

// pools looks at each pool.
func (c *checking) pools(ctx context.Context) error {
	all, err := selectPools(ctx, c.tx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if _, known := c.books.Entities[p.LegalEntityID]; !known {
			c.found.Addf("pools of nobody", "the pool %s is of a legal entity that is not there", p.Key)
			continue
		}
		if err := c.pool(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// pool looks at one pool by itself.
func (c *checking) pool(ctx context.Context, p pool) error {
	rows, err := selectPoolLots(ctx, c.tx, p.Key)
	if err != nil {
		return err
	}
	takes, err := selectTakesSince(ctx, c.tx, p.Key, "")
	if err != nil {
		return err
	}
	uses, err := selectUsesSince(ctx, c.tx, p.Key, "")
	if err != nil {
		return err
	}
	s := &session{pool: &p, config: p.config(c.books, true), lots: map[string]*Lot{}, last: p.LastPlace}
	averaged := false
	for _, m := range s.methodsBetween("", p.LastPlace) {
		averaged = averaged || m == lot.WeightedAverage && !s.config.Identified
	}
	lots, possible := lotsOf(rows), true
	for i, r := range rows {
		possible = c.lot(&p, r, lots[i], int64(i+1)) && possible
		c.arrive(lots[i])
		c.sums.enter(lots[i], cmp.Or(lots[i].OpenedIn, c.periods[lots[i].JournalEntryID]), 1)
	}
	given := map[string]Use{}
	for _, u := range uses {
		c.sums.use(u, 1)
		c.use(&p, u)
		given[u.LotID] = given[u.LotID].plus(u, 1)
	}
	c.remaining(&p, lots, given, averaged)
	if len(takes) > 0 || len(lots) > 0 {
		if last := lastOf(lots, takes); p.LastPlace < last {
			c.found.Addf("pools that end too early", "the pool %s says that it ends at %q, but something happened at %q", p.Key, p.LastPlace, last)
		}
	}
	if possible {
		c.again(s, lots, takes, uses, averaged)
	}
	return nil
}

func lastOf(lots []Lot, takes []take) (last Place) {
	for _, l := range lots {
		last = max(last, l.Place)
	}
	for _, t := range takes {
		last = max(last, t.place)
	}
	return last
}

// lot looks at one lot by itself, and tells whether it is possible at all.
func (c *checking) lot(p *pool, r lotRow, l Lot, seq int64) bool {
	if l.RemainingQuantity.Sign() < 0 || l.RemainingQuantity.Cmp(l.Quantity) > 0 || l.Quantity.Sign() <= 0 {
		c.found.Addf("lots of impossible quantities", "of %s %s of the lot %s %s are left", l.Quantity, l.AssetType, l.ID, l.RemainingQuantity)
		return false
	}
	if l.CostBasis.Sign() < 0 || l.RemainingBasis.Sign() < 0 || l.RemainingQuantity.IsZero() && !l.RemainingBasis.IsZero() {
		c.found.Addf("lots of impossible costs", "%s of the cost %s of the lot %s is left with %s %s", l.RemainingBasis, l.CostBasis,
			l.ID, l.RemainingQuantity, l.AssetType)
		return false
	}
	if want := toRow(l); r.Open != want.Open || r.UnitKey != want.UnitKey {
		c.found.Addf("lots that are not found by what is left of them",
			"the lot %s does not repeat in is_open and unit_key what is left of it", l.ID)
	}
	if l.Seq != seq {
		c.found.Addf("lots out of order", "the lot %s is number %d of its pool, but came as number %d", l.ID, l.Seq, seq)
	}
	wrong := l.LegalEntityID != p.LegalEntityID || l.AssetType != p.AssetType || l.TokenID != p.TokenID || l.Currency != p.Currency
	if !p.wide() {
		wrong = wrong || l.SourceID != p.SourceID
	}
	if wrong {
		c.found.Addf("lots in a pool of others", "the lot %s is not one of its pool %s", l.ID, p.Key)
	}
	return true
}

// use looks at what was taken by itself: what is moved or converted realizes nothing.
func (c *checking) use(p *pool, u Use) {
	if !u.Realizes() && (!u.Gain.IsZero() || !u.Proceeds.IsZero() || !u.Fee.IsZero()) {
		c.found.Addf("moves that realize something", "%s of the lot %s are only moved, but realized %s", u.Quantity, u.LotID, u.Gain)
	}
	if u.LegalEntityID != p.LegalEntityID || u.AssetType != p.AssetType || u.TokenID != p.TokenID || u.Currency != p.Currency {
		c.found.Addf("uses in a pool of others", "the use %s is not one of its pool %s", u.ID, p.Key)
	}
	if u.LotID == "" && u.Kind != string(relocate) && p.parked() {
		c.beyond[spot{u.LegalEntityID, u.LedgerAccountID, u.AssetType}] = true
	}
}

// remaining checks that what came, less what was taken, is what is left: of each lot, and of all of them. Under a
// weighted average the cost of what is left is that of the pool alone.
func (c *checking) remaining(p *pool, lots []Lot, given map[string]Use, averaged bool) {
	var quantity, basis money.Decimal
	for _, l := range lots {
		u := given[l.ID]
		if left := l.Quantity.Sub(u.Quantity); !left.Equal(l.RemainingQuantity) {
			c.found.Addf("lots whose quantity does not add up", "%s %s are left of the lot %s, but what was taken leaves %s",
				l.RemainingQuantity, l.AssetType, l.ID, left)
		}
		if left := l.CostBasis.Sub(u.Basis); !averaged && !left.Equal(l.RemainingBasis) {
			c.found.Addf("lots whose cost does not add up", "%s of the cost of the lot %s is left, but what was taken leaves %s",
				l.RemainingBasis, l.ID, left)
		}
		quantity, basis = quantity.Add(l.RemainingQuantity), basis.Add(l.RemainingBasis)
	}
	if !quantity.Equal(p.Quantity) || !averaged && !basis.Equal(p.Basis) || int64(len(lots)) != p.Seq {
		c.found.Addf("pools that are not the sum of their lots",
			"the pool %s is kept as %s at %s in %d lots, but %s at %s are left in %d", p.Key, p.Quantity, p.Basis, p.Seq, quantity, basis, len(lots))
	}
}

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
				c.found.Addf("lots that come from nowhere",
					"the lot %s is not a slice of %s with its date, which its entry %s should have moved", l.ID, l.ParentID, entryID)
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
				c.found.Addf("positions that differ from their lots",
					"the position of %s at %s%s of %s in %q is kept as %s at %s in %d lots, added %s at %s, but lots and uses come to %s at %s "+
						"in %d, added %s at %s",
					k.asset, k.source, k.account, k.entity, k.period, h.quantity, h.basis, h.lots, h.addedQuantity, h.addedBasis, w.quantity,
					w.basis, w.lots, w.addedQuantity, w.addedBasis)
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(union(gains, c.sums.gains)), compareGains) {
		if h, w := gains[k], c.sums.gains[k]; !h.equal(w) {
			c.found.Addf("gains that differ from their uses",
				"what %s of %s realized in %s is kept as %s less %s, but the uses come to %s less %s, or to other terms or proceeds",
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
			quantity: q.quantity.Add(p.quantity), basis: q.basis.Add(p.basis), addedQuantity: q.addedQuantity.Add(
				p.addedQuantity), addedBasis: q.addedBasis.Add(p.addedBasis), lots: q.lots + p.lots,
		}
	}
	return out
}

func (p position) equal(o position) bool {
	return p.quantity.Equal(o.quantity) && p.basis.Equal(o.basis) && p.addedQuantity.Equal(o.addedQuantity) &&
		p.addedBasis.Equal(o.addedBasis) && p.lots == o.lots
}

func (g gain) equal(o gain) bool {
	return g.quantity.Equal(o.quantity) && g.proceeds.Equal(o.proceeds) && g.fee.Equal(o.fee) && g.basis.Equal(o.basis) &&
		g.gain.Equal(o.gain) && g.loss.Equal(o.loss) &&
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
		return cmp.Or(cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Unit, b.Unit),
			cmp.Compare(a.Period, b.Period))
	}) {
		if !lots[k].Equal(stand[k]) && !c.beyond[spot{k.Entity, k.Account, k.Unit}] {
			c.found.Addf("accounts that differ from their lots", "the %s on the account %s of %s moved by %s in %s, but its lots by %s",
				k.Unit, k.Account, k.Entity, stand[k], k.Period, lots[k])
		}
	}
	return nil
}
