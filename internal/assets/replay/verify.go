package replay

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// verification compares the stored lots of an organization with what they follow from.
type verification struct {
	tx        *db.Tx
	books     *snapshot.Books
	found     *finding.List
	periods   map[string]string // accounting periods of the entries that created lots
	totals    lots.Totals       // what lots and uses add up to
	transfers map[string]*transfer
	overdrawn map[holding]bool // accounts from which more was consumed than was parked there
	zones     []*time.Location // in which days are or were counted, the current one first
}

// Verify recomputes the lots of an organization and returns a text for every difference to what is stored. It recomputes
// every pool from nothing, from the lots that entered it and its consumptions; each lot from its uses; and the totals by
// accounting period, which must equal the balances of the ledger accounts. It is a building block.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	c := &verification{tx: tx, books: b, found: finding.New("lots"), totals: lots.NewTotals(), transfers: map[string]*transfer{},
		overdrawn: map[holding]bool{}}
	if c.periods, err = lots.EntryPeriods(ctx, tx); err != nil {
		return nil, err
	}
	if c.zones, err = zonesOf(ctx, tx, b); err != nil {
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
	return c.found.Messages(), nil
}

// zonesOf returns the time zone of the organization, and those that it had before.
func zonesOf(ctx context.Context, tx *db.Tx, b *snapshot.Books) ([]*time.Location, error) {
	zones := []*time.Location{b.Zone}
	names, err := audit.PastValues(ctx, tx, "organization", tx.Organization(), "timezone")
	for _, name := range names {
		if zone, err := time.LoadLocation(name); err == nil {
			zones = append(zones, zone)
		}
	}
	return zones, err
}

func (c *verification) verifyPools(ctx context.Context) error {
	all, err := lots.Pools(ctx, c.tx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if _, known := c.books.Entities[p.LegalEntityID]; !known {
			c.found.Addf("pools without a legal entity", "the legal entity of the pool %s does not exist", p.Key)
			continue
		}
		if err := c.verifyPool(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// verifyPool verifies one pool.
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
	if last := lastKey(all, consumptions); p.LastKey != last {
		c.found.Addf("pools that end elsewhere", "the last event of the pool %s is stored as %q, but %q follows from its lots and consumptions",
			p.Key, p.LastKey, last)
	}
	if of := p.Recomputed(c.books); len(all)+len(consumptions) > 0 && (of.Key != p.Key || of.Chain != p.Chain || of.Currency != p.Currency) {
		c.found.Addf("pools with a wrong key", "the pool %s has the columns of the pool %s of %q in %s", p.Key, of.Key, of.Chain, of.Currency)
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

// verifyLot verifies one lot, and reports whether the engine would accept it.
func (c *verification) verifyLot(p *lots.Pool, l *lots.Lot, inconsistent bool, seq int64) bool {
	if l.RemainingQuantity.Sign() < 0 || l.RemainingQuantity.Cmp(l.Quantity) > 0 || l.Quantity.Sign() <= 0 {
		c.found.Addf("lots of impossible quantities", "the lot %s of %s %s has a remaining quantity of %s", l.ID, l.Quantity, l.AssetType,
			l.RemainingQuantity)
		return false
	}
	if l.CostBasis.Sign() < 0 || l.RemainingBasis.Sign() < 0 || l.RemainingQuantity.IsZero() && !l.RemainingBasis.IsZero() {
		c.found.Addf("lots of impossible costs", "the lot %s has a remaining basis of %s of %s, with %s %s remaining", l.ID,
			l.RemainingBasis, l.CostBasis, l.RemainingQuantity, l.AssetType)
		return false
	}
	if inconsistent {
		c.found.Addf("lots whose indexed columns are wrong",
			"the columns is_open and unit_key of the lot %s do not match what remains of it", l.ID)
	}
	if l.Origin == lots.Manual {
		if want := l.AsOpening(c.books); len(l.Differing(&want)) > 0 {
			c.found.Addf("opening balances with wrong columns", "the opening balance %s has another %s than follows from its date and its source",
				l.ID, strings.Join(l.Differing(&want), ", "))
		}
	}
	if at, ok := id.Time(l.ID); !ok || !isSameOrNextDay(l.CreatedAt, at) {
		c.found.Addf("lots created at another time", "the lot %s is stored as created at %s, but its id is of %s", l.ID,
			clock.Format(l.CreatedAt), clock.Format(at))
	}
	if l.Seq != seq {
		c.found.Addf("lots out of order", "the lot %s is numbered %d in its pool, but entered it as number %d", l.ID, l.Seq, seq)
	}
	wrong := l.LegalEntityID != p.LegalEntityID || l.AssetType != p.AssetType || l.TokenID != p.TokenID || l.Currency != p.Currency
	if !p.Wide() {
		wrong = wrong || l.SourceID != p.SourceID
	}
	if wrong {
		c.found.Addf("lots in a wrong pool", "the lot %s does not belong to its pool %s", l.ID, p.Key)
	}
	return true
}

// isSameOrNextDay reports whether a time is on the day of an earlier time, or on the next. An id is created after its database
// transaction began, whose time is stored, and a long one may run over midnight.
func isSameOrNextDay(earlier, t time.Time) bool {
	day := earlier.UTC().Truncate(24 * time.Hour)
	return !t.Before(day) && t.Before(day.AddDate(0, 0, 2))
}

// verifyUse verifies one use. Moves and conversions must not realize a gain.
func (c *verification) verifyUse(p *lots.Pool, u lots.Use) {
	if days, ok := c.hasRightHoldingPeriod(u); !ok {
		c.found.Addf("uses with a wrong holding period", "%s was held for %d days when the entry %s consumed it, but %d are stored, %s",
			consumedFrom(u), days, u.JournalEntryID, u.Days, cmp.Or(u.Term, "without a term"))
	}
	if !u.Realizes() && (!u.Gain.IsZero() || !u.Proceeds.IsZero() || !u.Fee.IsZero()) {
		c.found.Addf("moves that realize something",
			"%s of the lot %s are moved or converted, but with a gain of %s, proceeds of %s and a fee of %s",
			u.Quantity, u.LotID, u.Gain, u.Proceeds, u.Fee)
	}
	if u.LegalEntityID != p.LegalEntityID || u.AssetType != p.AssetType || u.TokenID != p.TokenID || u.Currency != p.Currency {
		c.found.Addf("uses in a wrong pool", "the use %s does not belong to its pool %s", u.ID, p.Key)
	}
	if u.LotID == "" && u.Kind != lots.Relocated && p.Parked() {
		c.overdrawn[holding{u.LegalEntityID, u.LedgerAccountID, u.AssetType}] = true
	}
}

// consumedFrom names the lot of a use.
func consumedFrom(u lots.Use) string {
	if u.LotID == "" {
		return "a quantity that is in no lot"
	}
	return "the lot " + u.LotID
}

// hasRightHoldingPeriod reports whether the holding period of a use is right in the time zone of the organization, or in one that it had
// before, and returns the days in the current one. A move has no holding period.
func (c *verification) hasRightHoldingPeriod(u lots.Use) (days int, ok bool) {
	if !u.Realizes() {
		return 0, u.Days == 0 && u.Term == ""
	}
	for i, zone := range c.zones {
		n, term := lot.HoldingPeriod(u.AcquiredAt, u.DisposedAt, zone)
		if i == 0 {
			days = n
		}
		if int64(n) == u.Days && string(term) == u.Term {
			return days, true
		}
	}
	return days, false
}

// verifyRemaining verifies, for each lot and for the pool, that what entered less what was consumed is what remains. Under
// a weighted average only the pool has a basis.
func (c *verification) verifyRemaining(p *lots.Pool, all []lots.Lot, consumed map[string]lots.Use, averaged bool) {
	var quantity, basis money.Decimal
	for _, l := range all {
		u := consumed[l.ID]
		if left := l.Quantity.Sub(u.Quantity); !left.Equal(l.RemainingQuantity) {
			c.found.Addf("lots whose quantity does not add up", "%s %s remain of the lot %s, but its uses leave %s",
				l.RemainingQuantity, l.AssetType, l.ID, left)
		}
		if left := l.CostBasis.Sub(u.Basis); !averaged && !left.Equal(l.RemainingBasis) {
			c.found.Addf("lots whose basis does not add up", "%s of the basis of the lot %s remains, but its uses leave %s",
				l.RemainingBasis, l.ID, left)
		}
		quantity, basis = quantity.Add(l.RemainingQuantity), basis.Add(l.RemainingBasis)
	}
	if !quantity.Equal(p.Quantity) || !averaged && !basis.Equal(p.Basis) || int64(len(all)) != p.Seq {
		c.found.Addf("pools that are not the sum of their lots",
			"the pool %s is stored as %s at %s in %d lots, but its lots add up to %s at %s in %d", p.Key, p.Quantity, p.Basis, p.Seq,
			quantity, basis, len(all))
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

// verifyTransfers verifies that what an entry moves or converts arrives with its basis and dates, and that nothing else does.
func (c *verification) verifyTransfers(context.Context) error {
	for _, entryID := range slices.Sorted(maps.Keys(c.transfers)) {
		k := c.transfers[entryID]
		for _, l := range k.lots {
			if l.Origin != lots.Transferred {
				continue
			}
			from, there := k.parents[l.ParentID]
			if !there || !from.AcquiredAt.Equal(l.AcquiredAt) {
				c.found.Addf("lots without an origin",
					"the lot %s is not a slice, with the same date, of the lot %s that its entry %s moves", l.ID, l.ParentID, entryID)
			}
		}
		if len(k.parents) == 0 || k.currencies {
			continue
		}
		if d := k.in.Cmp(k.out); d < 0 || d > 0 && !k.missing {
			c.found.Addf("moves that change the basis", "the entry %s moves lots with a basis of %s, but the lots it creates have a basis of %s",
				entryID, k.out, k.in)
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

// noteLeaving adds what a consumption moves out of its pool to the transfer of its entry.
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

// noteArriving adds a created lot to the transfer of its entry.
func (c *verification) noteArriving(l lots.Lot) {
	if l.Origin == lots.Manual {
		return
	}
	k := c.transferOf(l.JournalEntryID)
	k.in, k.lots = k.in.Add(l.CostBasis), append(k.lots, l)
	k.noteCurrency(l.Currency)
}

// noteCurrency records the currency of an amount of the transfer.
func (k *transfer) noteCurrency(currency string) {
	k.currencies = k.currencies || k.currency != "" && k.currency != currency
	k.currency = currency
}
