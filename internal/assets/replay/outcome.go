package replay

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Outcome is the result of a replay. It does not change when something is booked later, and can be written once, in the same
// database transaction.
type Outcome struct {
	// Added are the entries that were added, by key.
	Added map[string]Added
	// Changes are the other entries that consume different lots than before.
	Changes []Change
	// Recomputed are the pools whose history changed, by key, and the time from which on.
	Recomputed map[string]time.Time
	// Refused are the errors of added entries that are refused, by key. Without Options.SkipRefused there is one at most, and
	// Run returns its error.
	Refused map[string]error

	run *run
}

// Added is the result for an entry that was added.
type Added struct {
	Entry posting.Entry
	Uses  []lots.Use
}

// Change is a stored entry that consumes different lots than before.
type Change struct {
	EntryID string
	Entry   posting.Entry // as it would be booked now
	Basis   money.Decimal // of what it consumes, new less old
	Gain    money.Decimal // new less old
	Uses    []lots.Use    // differences
	// Corrected reports whether corrections are stored for it already.
	Corrected bool
}

// outcome returns the result of the run.
func (r *run) outcome() *Outcome {
	o := &Outcome{Added: map[string]Added{}, Recomputed: map[string]time.Time{}, Refused: r.refused, run: r}
	for _, e := range r.touched {
		switch {
		case e.removed:
		case e.isNew:
			o.Added[e.key] = Added{Entry: e.result, Uses: e.uses()}
		default:
			o.Changes = append(o.Changes, e.change())
		}
	}
	for key, s := range r.sessions {
		if s.from > s.lastStored {
			continue
		}
		o.Recomputed[key] = time.Unix(0, 0).UTC() // if it begins with the pool, or with its opening balances
		if place, err := s.from.Place(); err == nil && !place.At.IsZero() {
			o.Recomputed[key] = place.At
		}
	}
	return o
}

// uses returns what an entry consumes, in the order of its consumptions.
func (e *entry) uses() (out []lots.Use) {
	for _, position := range slices.Sorted(maps.Keys(e.consumptions)) {
		out = append(out, e.consumptions[position].after...)
	}
	return out
}

func (e *entry) change() Change {
	c := Change{EntryID: e.EntryID, Entry: e.result}
	for _, position := range slices.Sorted(maps.Keys(e.consumptions)) {
		k := e.consumptions[position]
		c.Corrected = c.Corrected || slices.ContainsFunc(k.stored, func(u lots.Use) bool { return u.Correction })
		for _, d := range lots.Differences(k.before, k.after) {
			c.Basis, c.Gain = c.Basis.Add(d.Basis), c.Gain.Add(d.Gain)
			c.Uses = append(c.Uses, d)
		}
	}
	return c
}

// Write stores the outcome. refs are the entries under which changes are written, by the key of an added entry, and by the ID
// of one that was removed or changed.
func (o *Outcome) Write(ctx context.Context, refs map[string]lots.EntryRef) error {
	r, c := o.run, lots.NewChanges()
	for _, ref := range refs {
		if !ref.Correct {
			c.SetEntryDate(ref.EntryID, ref.AccountingDate)
		}
	}
	for _, e := range r.touched {
		r.collect(c, e, refs)
	}
	for _, m := range r.openings {
		if m.Before != nil {
			c.CountLot(*m.Before, m.Stored, m.Left, -1)
		}
		if m.After != nil {
			c.CountLot(*m.After, m.Entered, m.Entered, 1)
		}
		if m.Before != nil && m.After == nil {
			c.DeleteLot(m.Before.ID)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.sessions)) {
		s := r.sessions[key]
		for _, id := range slices.Sorted(maps.Keys(s.lots)) {
			var stored *lots.Lot
			if l, found := s.stored[id]; found {
				stored = &l
			}
			c.SaveLot(s.lots[id], stored, r.tx.Now())
		}
		c.SavePool(*s.Pool)
	}
	return c.Write(ctx, r.tx)
}

// collect adds the result for one entry to the changes.
func (r *run) collect(c *lots.Changes, e *entry, refs map[string]lots.EntryRef) {
	ref := refs[e.key]
	if !e.isNew && !e.removed && !ref.Correct && ref.EntryID != e.EntryID {
		c.Reassign(e.EntryID, ref.EntryID, e.keptTables()...)
	}
	for _, position := range slices.Sorted(maps.Keys(e.consumptions)) {
		k := e.consumptions[position]
		switch {
		case e.removed:
			c.RemoveConsumption(k.Consumption)
			k.after = nil
		case e.isNew:
			k.EntryID = ref.EntryID
			c.AddConsumption(k.Consumption)
		case lots.SameUses(k.before, k.after):
			continue
		}
		rows, correct := k.after, ref.Correct || !c.RemoveUses(k.Consumption, k.stored, e.EntryID)
		if correct {
			rows = lots.Differences(k.before, k.after)
		}
		for _, u := range rows {
			u.Correction, u.TransactionType = correct, cmp.Or(e.Type, u.TransactionType) // an entry that is removed has no type
			c.AddUses(u.Under(ref, r.tx))
		}
	}
	e.collectLots(c, ref, refs)
}

// keptTables returns the tables that refer to a changed entry in rows that are not written again.
func (e *entry) keptTables() []lots.Table {
	out := []lots.Table{lots.Consumptions}
	if len(e.Plan.LotRequests) > 1 {
		out = append(out, lots.Uses)
	}
	if len(e.before) > 0 {
		out = append(out, lots.Lots)
	}
	return out
}

// collectLots adds the lots of one entry to the changes.
func (e *entry) collectLots(c *lots.Changes, ref lots.EntryRef, refs map[string]lots.EntryRef) {
	left, entry := ref, ref.At()
	if e.beforeEntryID != "" {
		left = refs[e.beforeEntryID]
	}
	if ref.Correct { // the lots stay with the stored entry
		entry = ref.StoredAt()
	}
	kept := map[string]bool{}
	for _, l := range e.lots {
		kept[l.ID] = true
		if !ref.Correct {
			l.JournalEntryID = ref.EntryID
		}
		c.CountLot(*l, entry, ref.At(), 1)
	}
	for _, l := range e.before {
		c.CountLot(l, left.StoredAt(), left.At(), -1)
		if !kept[l.ID] {
			c.DeleteLot(l.ID)
		}
	}
}
