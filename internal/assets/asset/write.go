package asset

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Ref is the entry under which something is written down.
type Ref struct {
	EntryID        string
	AccountingDate time.Time
	PeriodID       string
	// Correct says that what was written stays, because its period is over, and that the difference is written under this entry.
	Correct bool
}

// Write writes down what a replay found. The refs are by the key of an added entry, and the id of one that was there.
func (r *Replay) Write(ctx context.Context, refs map[string]Ref) error {
	c := newChanges()
	for _, ref := range refs {
		if !ref.Correct {
			c.came[ref.EntryID] = &ref.AccountingDate
		}
	}
	for _, w := range r.touched {
		r.note(c, w, refs)
	}
	for _, h := range r.byHand {
		if h.before != nil {
			c.enter(*h.before, h.left, -1)
		}
		if h.after != nil {
			c.enter(*h.after, h.entered, 1)
		}
		if h.before != nil && h.after == nil {
			c.deleted = append(c.deleted, h.before.ID)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.sessions)) {
		c.session(r.sessions[key], r.tx.Now())
	}
	return c.write(ctx, r.tx)
}

// note collects what became of one entry.
func (r *Replay) note(c *changes, w *work, refs map[string]Ref) {
	ref := refs[w.key]
	renamed := !w.isNew && !w.removed && !ref.Correct && ref.EntryID != w.EntryID
	if renamed {
		c.renamed = append(c.renamed, rename{w.EntryID, ref.EntryID, w.tables()})
	}
	for _, position := range slices.Sorted(maps.Keys(w.taken)) {
		k := w.taken[position]
		switch {
		case w.removed:
			c.gone = append(c.gone, k.take)
			k.new = nil
		case w.isNew:
			k.entryID = ref.EntryID
			c.takes = append(c.takes, k.take)
		case sameUses(k.old, k.new):
			continue
		}
		rows, correct := k.new, ref.Correct || !c.erase(k, w.EntryID)
		if correct {
			rows = differences(k.old, k.new)
		}
		for _, u := range rows {
			u.Correction, u.TransactionType = correct, w.Type
			c.put(u.under(ref, r.tx))
		}
	}
	c.makes(w, ref, refs)
}

// erase lets what an entry took be written anew. What others wrote there stays, where the entry was booked before and
// taken back in a later period; where it is not taken back, all of it stays, and only differences can be written.
func (c *changes) erase(k *taken, entryID string) bool {
	var own, others []Use
	for _, u := range k.rows {
		if u.JournalEntryID == entryID && !u.Correction {
			own = append(own, u)
		} else {
			others = append(others, u)
		}
	}
	if len(effective(others)) > 0 {
		return false
	}
	for _, u := range own {
		c.use(u, -1)
		c.voided = append(c.voided, u.ID)
	}
	if len(others) == 0 {
		if len(own) > 0 {
			c.emptied = append(c.emptied, k.take)
		}
		return true
	}
	for _, u := range own {
		c.erased = append(c.erased, u.ID)
	}
	return true
}

// makes collects what became of the lots of an entry.
func (c *changes) makes(w *work, ref Ref, refs map[string]Ref) {
	left := ref.PeriodID
	if w.wasOf != "" {
		left = refs[w.wasOf].PeriodID
	}
	stay := map[string]bool{}
	for _, l := range w.lots {
		stay[l.ID] = true
		if !ref.Correct {
			l.JournalEntryID = ref.EntryID
		}
		c.enter(*l, ref.PeriodID, 1)
	}
	for _, l := range w.was {
		c.enter(l, left, -1)
		if !stay[l.ID] {
			c.deleted = append(c.deleted, l.ID)
		}
	}
}

// changes are the rows to be written.
type changes struct {
	renamed   []rename
	gone      []take // requests that are no more
	emptied   []take // requests whose uses are written anew
	erased    []string
	takes     []take
	uses      []Use
	deleted   []string
	lots      []Lot
	settled   []string              // lots that are empty, or were
	voided    []string              // uses that are written anew, or are no more
	came      map[string]*time.Time // by entries that may not be written yet
	pools     []pool
	positions map[positionKey]position
	gains     map[gainKey]gain
}

func newChanges() *changes {
	return &changes{positions: map[positionKey]position{}, gains: map[gainKey]gain{}, voided: []string{}, came: map[string]*time.Time{}}
}

// rename lets what an entry did be that of another one.
type rename struct {
	from, to string
	tables   []string
}

// tables are those in which a changed entry is named by rows that are not written anew.
func (w *work) tables() []string {
	out := []string{"lot_takes"}
	if len(w.Plan.Takes) > 1 {
		out = append(out, "lot_uses")
	}
	if len(w.was) > 0 {
		out = append(out, "lots")
	}
	return out
}

type positionKey struct{ entity, source, account, asset, chain, token, period string }

type position struct {
	quantity, basis, addedQuantity, addedBasis money.Decimal
	lots                                       int64
}

type gainKey struct{ entity, asset, source, period string }

type gain struct{ quantity, proceeds, fee, basis, gain, loss, short, long money.Decimal }

func comparePositions(a, b positionKey) int {
	return cmp.Or(cmp.Compare(a.entity, b.entity), cmp.Compare(a.source, b.source), cmp.Compare(a.account, b.account),
		cmp.Compare(a.asset, b.asset),
		cmp.Compare(a.chain, b.chain), cmp.Compare(a.token, b.token), cmp.Compare(a.period, b.period))
}

func compareGains(a, b gainKey) int {
	return cmp.Or(cmp.Compare(a.entity, b.entity), cmp.Compare(a.asset, b.asset), cmp.Compare(a.source, b.source),
		cmp.Compare(a.period, b.period))
}

// session collects the lots of a pool that are no longer what they were.
func (c *changes) session(s *session, now time.Time) {
	gone := map[string]bool{}
	for _, id := range c.deleted {
		gone[id] = true
	}
	for _, key := range slices.Sorted(maps.Keys(s.lots)) {
		l := s.lots[key]
		was, there := s.stored[l.ID]
		if gone[l.ID] || there && l.same(was) {
			continue
		}
		if there {
			l.CreatedAt, l.emptiedAt, l.life, l.cameAt, l.usedBy = was.CreatedAt, was.emptiedAt, was.life, was.cameAt, was.usedBy
			l.UpdatedAt = &now
		}
		if !there || l.JournalEntryID != was.JournalEntryID {
			l.cameAt = c.came[l.JournalEntryID]
		}
		if !there { // nothing was taken of it yet
			l.usedBy = l.cameAt
		}
		c.lots = append(c.lots, *l)
		if l.RemainingQuantity.IsZero() || there && was.RemainingQuantity.IsZero() {
			c.settled = append(c.settled, l.ID)
		}
	}
	c.pools = append(c.pools, *s.pool)
}

func (l *Lot) same(o Lot) bool {
	return l.Pool == o.Pool && l.Place == o.Place && l.Seq == o.Seq && l.LedgerAccountID == o.LedgerAccountID &&
		l.AcquiredAt.Equal(o.AcquiredAt) &&
		l.Quantity.Equal(o.Quantity) && l.RemainingQuantity.Equal(o.RemainingQuantity) && l.CostBasis.Equal(o.CostBasis) &&
		l.RemainingBasis.Equal(o.RemainingBasis) &&
		l.JournalEntryID == o.JournalEntryID && l.OpenedIn == o.OpenedIn && l.ParentID == o.ParentID &&
		l.BasisPending == o.BasisPending && l.Provisional == o.Provisional && l.SourceID == o.SourceID &&
		l.LegalEntityID == o.LegalEntityID
}

// enter counts a lot that was made, or is no more.
func (c *changes) enter(l Lot, periodID string, sign int64) {
	n := money.FromInt(sign)
	k := positionKey{entity: l.LegalEntityID, source: l.SourceID, account: l.LedgerAccountID, asset: l.AssetType, chain: l.Chain,
		token: l.TokenID, period: periodID}
	p := c.positions[k]
	p.quantity, p.basis, p.lots = p.quantity.Add(l.Quantity.Mul(n)), p.basis.Add(l.CostBasis.Mul(n)), p.lots+sign
	if l.Origin != Transferred {
		p.addedQuantity, p.addedBasis = p.addedQuantity.Add(l.Quantity.Mul(n)), p.addedBasis.Add(l.CostBasis.Mul(n))
	}
	c.positions[k] = p
}

// use counts what was taken, or was not.
func (c *changes) use(u Use, sign int64) {
	n := money.FromInt(sign)
	if u.LotID != "" || u.Kind == string(relocate) {
		k := positionKey{entity: u.LegalEntityID, source: u.SourceID, account: u.LedgerAccountID, asset: u.AssetType, chain: u.Chain,
			token: u.TokenID, period: u.PeriodID}
		p := c.positions[k]
		p.quantity, p.basis, p.lots = p.quantity.Sub(u.Quantity.Mul(n)), p.basis.Sub(u.Basis.Mul(n)), p.lots+sign*u.Lots
		c.positions[k] = p
	}
	if !u.Realizes() {
		return
	}
	k := gainKey{u.LegalEntityID, u.AssetType, u.SourceID, u.PeriodID}
	g := c.gains[k]
	amount := u.Gain.Mul(n)
	g.quantity, g.proceeds = g.quantity.Add(u.Quantity.Mul(n)), g.proceeds.Add(u.Proceeds.Mul(n))
	g.fee, g.basis = g.fee.Add(u.Fee.Mul(n)), g.basis.Add(u.Basis.Mul(n))
	if u.Gain.Sign() >= 0 {
		g.gain = g.gain.Add(amount)
	} else {
		g.loss = g.loss.Sub(amount)
	}
	if u.Term == "long" {
		g.long = g.long.Add(amount)
	} else {
		g.short = g.short.Add(amount)
	}
	c.gains[k] = g
}

// OfEntry gives the lots that an entry made. It is a building block.
func OfEntry(ctx context.Context, tx *db.Tx, entryID string) ([]Lot, error) {
	return selectLotsOf(ctx, tx, entryID)
}

// UsesOf gives what an entry took. It is a building block.
func UsesOf(ctx context.Context, tx *db.Tx, entryID string) ([]Use, error) {
	return selectUsesOf(ctx, tx, entryID)
}

// Carries tells that an account has lots of a legal entity. It is a building block.
func Carries(ctx context.Context, tx *db.Tx, legalEntityID, ledgerAccountID string) (bool, error) {
	return selectCarries(ctx, tx, legalEntityID, ledgerAccountID)
}

// Renamed lets what an entry took and made be that of another one, which says the same after a reversal. Where the
// reversal is in a later period, because its own was over, what was written stays and is taken back there. It is a
// building block.
func Renamed(ctx context.Context, tx *db.Tx, was, reversal, to Ref) error {
	uses, err := selectUsesOf(ctx, tx, was.EntryID)
	if err != nil {
		return err
	}
	lots, err := selectLotsOf(ctx, tx, was.EntryID)
	if err != nil {
		return err
	}
	takes, err := selectTakesOf(ctx, tx, was.EntryID) // it may have taken nothing
	if err != nil || len(uses)+len(lots)+len(takes) == 0 {
		return err
	}
	c, over := newChanges(), reversal.PeriodID != was.PeriodID
	c.came[to.EntryID] = &to.AccountingDate
	c.renamed = []rename{{was.EntryID, to.EntryID, []string{"lot_takes", "lots"}}}
	for _, u := range uses {
		c.settled = append(c.settled, u.LotID)
		switch {
		case u.Correction: // it stays where it is booked
		case over:
			c.put(u.negative().under(reversal, tx), u.under(to, tx))
		default:
			c.use(u, -1)
			u.PeriodID = to.PeriodID
			c.use(u, 1)
		}
	}
	if !over {
		if err := moveUses(ctx, tx, was.EntryID, to); err != nil {
			return err
		}
		c.renamed[0].tables = append(c.renamed[0].tables, "lot_uses")
	}
	for _, l := range lots {
		c.settled = append(c.settled, l.ID)
		c.enter(l, reversal.PeriodID, -1)
		c.enter(l, to.PeriodID, 1)
	}
	return c.write(ctx, tx)
}

// negative is the correction that takes a use back.
func (u Use) negative() Use {
	out := differences([]Use{u}, nil)[0]
	out.Correction = true
	return out
}

// under is a use written down anew for an entry.
func (u Use) under(ref Ref, tx *db.Tx) Use {
	u.ID, u.JournalEntryID, u.AccountingDate, u.PeriodID = tx.NewID(id.LotUse), ref.EntryID, ref.AccountingDate, ref.PeriodID
	return u
}

// put collects uses that are new.
func (c *changes) put(uses ...Use) {
	for _, u := range uses {
		c.uses = append(c.uses, u)
		c.use(u, 1)
	}
}

// Open gives every lot of which something is left. It is a building block.
func Open(ctx context.Context, tx *db.Tx) ([]Lot, error) { return selectAllOpen(ctx, tx) }
