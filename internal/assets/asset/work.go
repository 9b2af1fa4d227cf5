package asset

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Work is what an entry does to lots.
type Work struct {
	EntryID       string // may be empty until it has one
	TransactionID string
	Type          string
	Label         string // how people call what stands behind it
	Block, Number int64
	Input         posting.Input
	Plan          *posting.Plan
	LotsOf        string // the transaction that brings the lots, where it is another
	Apart         string // the account that was named instead of the source's own
	Picks         []lot.Pick
}

// arrivesAt is when what is moved arrives: at the later of the two legs.
func (w *Work) arrivesAt() time.Time {
	var at time.Time
	for _, l := range []*posting.Leg{w.Input.Out, w.Input.In} {
		if l != nil && l.At.After(at) {
			at = l.At
		}
	}
	return at
}

// arrival is where an entry's lots enter, and when. An entry has one at most.
func (w *Work) arrival(b *snapshot.Books) (pool, Place, bool) {
	in := w.Input.In
	for _, t := range w.Plan.Takes {
		if t.To.Account == "" {
			continue
		}
		if w.stays(b, t) {
			return pool{}, "", false
		}
		return w.poolTo(b, t), placeOf(w.arrivesAt(), lot.Arrive, w.Block, w.Number, 0), true
	}
	if in == nil || !in.Asset.Lots {
		return pool{}, "", false
	}
	place := in.Place
	if in.Offset != "" {
		place.Account = in.Offset
	}
	return poolOf(b, place, in.Asset, w.Apart), placeOf(in.At, lot.Acquire, w.Block, w.Number, 0), true
}

// poolTo is the pool into which what is taken goes, as what it is there.
func (w *Work) poolTo(b *snapshot.Books, t posting.Take) pool {
	if w.Input.In != nil {
		return poolOf(b, t.To, w.Input.In.Asset, w.Apart)
	}
	return poolOf(b, t.To, t.Asset, w.Apart)
}

// stays tells that what is taken goes elsewhere within its pool.
func (w *Work) stays(b *snapshot.Books, t posting.Take) bool {
	return t.Kind == posting.Moved && w.poolTo(b, t).Key == poolOf(b, t.From, t.Asset, w.Apart).Key
}

// Loader gives the works of entries that are there, by their ids.
type Loader func(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]Work, error)

// work is an entry on its way through a replay.
type work struct {
	Work
	key     string
	loaded  bool // its plan is at hand
	isNew   bool
	removed bool
	changed bool
	built   bool
	taken   map[int]*taken
	result  posting.Entry
	was     []Lot  // the lots it had made
	wasOf   string // the entry that had made them, where that is another
	lots    []*Lot
}

// handled is a lot that somebody entered, changed or took away by hand.
type handled struct {
	before, after *Lot
	left, entered string // the accounting periods in which that counts
}

// makeLots gives the lots of an entry their names; one that is a slice of the same lot as before keeps it.
func (r *Replay) makeLots(w *work) {
	for _, k := range w.taken {
		if k.kind == relocate { // It stays in its pool, and what was missing there is missing still.
			return
		}
	}
	names := map[string][]string{}
	for _, l := range w.was {
		names[l.ParentID] = append(names[l.ParentID], l.ID)
	}
	for _, m := range w.result.Lots {
		p := poolOf(r.books, m.Place, m.Asset, w.Apart)
		l := &Lot{
			Pool: p.Key, LegalEntityID: m.Entity, SourceID: m.Source, LedgerAccountID: m.Account, AssetType: m.Asset.Symbol,
			Chain: m.Asset.Chain, TokenID: m.Asset.Token,
			AcquiredAt: m.AcquiredAt, Quantity: m.Quantity, CostBasis: m.Basis, Currency: m.Currency, Origin: Acquired, ParentID: m.Parent,
			TransactionID:  w.TransactionID,
			JournalEntryID: w.EntryID, BasisPending: m.BasisPending, Provisional: m.Provisional, CreatedAt: r.tx.Now(),
		}
		if w.LotsOf != "" {
			l.TransactionID = w.LotsOf
		}
		if m.Parent != "" {
			l.Origin = Transferred
		}
		if before := names[m.Parent]; len(before) > 0 {
			l.ID, names[m.Parent] = before[0], before[1:]
		} else {
			l.ID = r.tx.NewID(id.Asset)
		}
		w.lots = append(w.lots, l)
	}
}

// Late gives the pools in which something happened again, and from what time on.
func (r *Replay) Late() map[string]time.Time {
	out := map[string]time.Time{}
	for key, s := range r.sessions {
		if s.from <= s.before {
			at, _, _, _, _ := s.from.parts()
			out[key] = at
		}
	}
	return out
}

// PoolsOf gives the pools that a work asks for lots.
func PoolsOf(b *snapshot.Books, w Work) (out []string) {
	for _, t := range w.Plan.Takes {
		out = append(out, poolOf(b, t.From, t.Asset, w.Apart).Key)
	}
	return out
}

// Changed is an entry that takes other lots than it did.
type Changed struct {
	EntryID string
	Entry   posting.Entry // as it would be booked now
	Basis   money.Decimal // new less old, of what it takes
	Gain    money.Decimal
	Uses    []Use // differences
	// Corrected says that differences were written down for it before.
	Corrected bool
}

// Changes lists the entries, besides those added and removed, that are no longer what they were.
func (r *Replay) Changes() (out []Changed) {
	for _, w := range r.touched {
		if w.isNew || w.removed {
			continue
		}
		c := Changed{EntryID: w.EntryID, Entry: w.result}
		for _, position := range slices.Sorted(maps.Keys(w.taken)) {
			k := w.taken[position]
			c.Corrected = c.Corrected || slices.ContainsFunc(k.rows, func(u Use) bool { return u.Correction })
			for _, d := range differences(k.old, k.new) {
				c.Basis, c.Gain = c.Basis.Add(d.Basis), c.Gain.Add(d.Gain)
				c.Uses = append(c.Uses, d)
			}
		}
		out = append(out, c)
	}
	return out
}

// Tolerate lets Run go on where an added entry is refused that asks for one thing only, as if it had not been added,
// and find out what else is. What is there after that is good for nothing else.
func (r *Replay) Tolerate() { r.tolerant = true }

// Refused are the entries that Run went on without, by their keys.
func (r *Replay) Refused() map[string]error { return r.refused }

// skip leaves out an added entry that was refused, if that leaves nothing behind.
func (r *Replay) skip(e *event, why error) error {
	if !r.tolerant || !e.work.isNew || len(e.work.taken) > 1 || len(e.take.events()) > 1 || fault.KindOf(why) != fault.Conflict {
		return why
	}
	r.refused[e.work.key], r.culprit = why, ""
	e.work.removed, e.take.done = true, true
	return nil
}
