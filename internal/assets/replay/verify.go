package replay

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// verification compares the stored lots of an organization with what they follow from.
type verification struct {
	tx        *db.Tx
	books     *snapshot.Books
	found     *finding.List
	periods   map[string]string // accounting periods of the entries that created lots
	totals    lots.Totals       // what lots and uses add up to
	late      map[string]bool   // legal entities whose lots do not tell in which period they are counted
	transfers map[string]*transfer
	overdrawn map[holding]bool // accounts from which more was taken than was parked there
}

// Verify recomputes the lots of an organization and returns what is wrong: every pool from nothing, by what entered it
// and what was asked of it; each lot from its uses; and the totals by accounting period, which must be the balances of
// the ledger accounts. It is a building block.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	c := &verification{tx: tx, books: b, found: finding.About("lots"), totals: lots.NewTotals(), transfers: map[string]*transfer{},
		overdrawn: map[holding]bool{}}
	if c.periods, err = lots.EntryPeriods(ctx, tx); err != nil {
		return nil, err
	}
	if c.late, err = lots.LateEntities(ctx, tx); err != nil {
		return nil, err
	}
	if err := lots.FindOrphans(ctx, tx, c.found); err != nil {
		return nil, err
	}
	for _, part := range []func(context.Context) error{c.verifyPools, c.verifyTransfers, c.verifyTotals, c.verifyAccounts} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return c.found.All(), nil
}

func (c *verification) verifyPools(ctx context.Context) error {
	all, err := lots.Pools(ctx, c.tx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if _, known := c.books.Entities[p.LegalEntityID]; !known {
			c.found.Addf("pools of nobody", "the pool %s is of a legal entity that is not there", p.Key)
			continue
		}
		if err := c.verifyPool(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// verifyPool checks one pool by itself.
func (c *verification) verifyPool(ctx context.Context, p lots.Pool) error {
	all, inconsistent, err := lots.OfPool(ctx, c.tx, p.Key)
	if err != nil {
		return err
	}
	consumptions, err := lots.ConsumptionsSince(ctx, c.tx, p.Key, "")
	if err != nil {
		return err
	}
	uses, err := lots.UsesSince(ctx, c.tx, p.Key, "")
	if err != nil {
		return err
	}
	s := &session{Pool: &p, config: poolConfig(c.books, &p, false), lots: map[string]*lots.Lot{}, last: p.LastKey}
	averaged, possible := !s.config.Identified && slices.Contains(s.methodsBetween("", p.LastKey), lot.WeightedAverage), true
	for i, l := range all {
		possible = c.verifyLot(&p, &l, inconsistent[l.ID], int64(i+1)) && possible
		c.noteArriving(l)
		c.totals.CountLot(l, cmp.Or(l.OpenedIn, c.periods[l.JournalEntryID]), 1)
	}
	consumed := map[string]lots.Use{}
	for _, u := range uses {
		c.totals.CountUse(u, 1)
		c.verifyUse(&p, u)
		consumed[u.LotID] = consumed[u.LotID].Plus(u, 1)
	}
	c.verifyRemaining(&p, all, consumed, averaged)
	if last := lastKey(all, consumptions); p.LastKey < last {
		c.found.Addf("pools that end too early", "the pool %s says that it ends at %q, but something happened at %q", p.Key, p.LastKey, last)
	}
	if possible {
		c.recompute(s, all, consumptions, uses, averaged)
	}
	return nil
}

// lastKey returns the order key of the last event, empty if there is none.
func lastKey(all []lots.Lot, consumptions []lots.Consumption) (last lot.OrderKey) {
	for _, l := range all {
		last = max(last, l.OrderKey)
	}
	for _, k := range consumptions {
		last = max(last, k.OrderKey)
	}
	return last
}

// verifyLot checks one lot by itself, and reports whether the engine would accept it.
func (c *verification) verifyLot(p *lots.Pool, l *lots.Lot, inconsistent bool, seq int64) bool {
	if l.RemainingQuantity.Sign() < 0 || l.RemainingQuantity.Cmp(l.Quantity) > 0 || l.Quantity.Sign() <= 0 {
		c.found.Addf("lots of impossible quantities", "of %s %s of the lot %s %s are left", l.Quantity, l.AssetType, l.ID, l.RemainingQuantity)
		return false
	}
	if l.CostBasis.Sign() < 0 || l.RemainingBasis.Sign() < 0 || l.RemainingQuantity.IsZero() && !l.RemainingBasis.IsZero() {
		c.found.Addf("lots of impossible costs", "%s of the cost %s of the lot %s is left with %s %s", l.RemainingBasis, l.CostBasis,
			l.ID, l.RemainingQuantity, l.AssetType)
		return false
	}
	if inconsistent {
		c.found.Addf("lots that are not found by what is left of them",
			"the lot %s does not repeat in is_open and unit_key what is left of it", l.ID)
	}
	if l.Seq != seq {
		c.found.Addf("lots out of order", "the lot %s is number %d of its pool, but came as number %d", l.ID, l.Seq, seq)
	}
	wrong := l.LegalEntityID != p.LegalEntityID || l.AssetType != p.AssetType || l.TokenID != p.TokenID || l.Currency != p.Currency
	if !p.Wide() {
		wrong = wrong || l.SourceID != p.SourceID
	}
	if wrong {
		c.found.Addf("lots in a pool of others", "the lot %s is not one of its pool %s", l.ID, p.Key)
	}
	return true
}

// verifyUse checks one use by itself: moves and conversions realize nothing.
func (c *verification) verifyUse(p *lots.Pool, u lots.Use) {
	if !u.Realizes() && (!u.Gain.IsZero() || !u.Proceeds.IsZero() || !u.Fee.IsZero()) {
		c.found.Addf("moves that realize something", "%s of the lot %s are only moved, but realized %s", u.Quantity, u.LotID, u.Gain)
	}
	if u.LegalEntityID != p.LegalEntityID || u.AssetType != p.AssetType || u.TokenID != p.TokenID || u.Currency != p.Currency {
		c.found.Addf("uses in a pool of others", "the use %s is not one of its pool %s", u.ID, p.Key)
	}
	if u.LotID == "" && u.Kind != lots.Relocated && p.Parked() {
		c.overdrawn[holding{u.LegalEntityID, u.LedgerAccountID, u.AssetType}] = true
	}
}

// verifyRemaining checks that what entered, less what was consumed, is what is left: of each lot, and of the pool. Under a
// weighted average only the pool has a basis.
func (c *verification) verifyRemaining(p *lots.Pool, all []lots.Lot, consumed map[string]lots.Use, averaged bool) {
	var quantity, basis money.Decimal
	for _, l := range all {
		u := consumed[l.ID]
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
	if !quantity.Equal(p.Quantity) || !averaged && !basis.Equal(p.Basis) || int64(len(all)) != p.Seq {
		c.found.Addf("pools that are not the sum of their lots",
			"the pool %s is kept as %s at %s in %d lots, but %s at %s are left in %d", p.Key, p.Quantity, p.Basis, p.Seq, quantity, basis, len(all))
	}
}

// transfer is what one entry moves or converts, and the lots it creates from that.
type transfer struct {
	out, in    money.Decimal
	currency   string
	missing    bool
	currencies bool // there is more than one
	parents    map[string]lots.Use
	lots       []lots.Lot
}

// verifyTransfers checks that what is moved or converted arrives with its basis and dates, and that nothing else does.
func (c *verification) verifyTransfers(context.Context) error {
	for _, entryID := range slices.Sorted(maps.Keys(c.transfers)) {
		k := c.transfers[entryID]
		for _, l := range k.lots {
			if l.Origin != lots.Transferred {
				continue
			}
			from, there := k.parents[l.ParentID]
			if !there || !from.AcquiredAt.Equal(l.AcquiredAt) {
				c.found.Addf("lots that come from nowhere",
					"the lot %s is not a slice of %s with its date, which its entry %s should have moved", l.ID, l.ParentID, entryID)
			}
		}
		if len(k.parents) == 0 || k.currencies {
			continue
		}
		if d := k.in.Cmp(k.out); d < 0 || d > 0 && !k.missing {
			c.found.Addf("moves that do not keep their cost", "the entry %s moves lots that cost %s, and what arrives cost %s", entryID, k.out, k.in)
		}
	}
	return nil
}

func (c *verification) transferOf(entryID string) *transfer {
	k := c.transfers[entryID]
	if k == nil {
		k = &transfer{parents: map[string]lots.Use{}}
		c.transfers[entryID] = k
	}
	return k
}

// noteLeaving notes what a consumption moves out of its pool.
func (c *verification) noteLeaving(t *consumption) {
	for _, u := range t.before {
		if u.Realizes() || u.Kind == lots.Relocated {
			continue
		}
		k := c.transferOf(t.EntryID)
		if u.LotID == "" {
			k.missing = true
			continue
		}
		k.out, k.parents[u.LotID] = k.out.Add(u.Basis), u
		k.noteCurrency(u.Currency)
	}
}

// noteArriving notes a lot that an entry creates.
func (c *verification) noteArriving(l lots.Lot) {
	if l.Origin == lots.Manual {
		return
	}
	k := c.transferOf(l.JournalEntryID)
	k.in, k.lots = k.in.Add(l.CostBasis), append(k.lots, l)
	k.noteCurrency(l.Currency)
}

// noteCurrency notes that amounts are in a currency.
func (k *transfer) noteCurrency(currency string) {
	k.currencies = k.currencies || k.currency != "" && k.currency != currency
	k.currency = currency
}
