package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// compute applies the changes, with all pools opened that are known to be affected.
func (r *run) compute(ctx context.Context, known map[string]staleRange) error {
	for _, request := range r.requests {
		if err := request(ctx, r); err != nil {
			return err
		}
	}
	for _, s := range known {
		r.markStale(s.pool, s.from)
	}
	for _, key := range slices.Sorted(maps.Keys(r.stale)) {
		if _, err := r.open(ctx, r.stale[key].pool, r.stale[key].from); err != nil {
			return err
		}
	}
	for s := r.nextSession(); s != nil; s = r.nextSession() {
		if err := r.step(ctx, s); err != nil {
			return err
		}
	}
	for _, e := range r.touched {
		if err := r.build(ctx, e); err != nil {
			return err
		}
	}
	for _, s := range r.sessions {
		s.finish()
	}
	return nil
}

// nextSession returns the session whose next event comes first, nil if no events are left.
func (r *run) nextSession() (first *session) {
	for _, s := range r.sessions {
		if s.next == len(s.events) {
			continue
		}
		if first == nil || cmp.Or(cmp.Compare(s.events[s.next].key, first.events[first.next].key), cmp.Compare(s.Key, first.Key)) < 0 {
			first = s
		}
	}
	return first
}

// step applies the next event of a session.
func (r *run) step(ctx context.Context, s *session) error {
	if s.busy {
		return r.findCycle(s)
	}
	s.busy, r.stack = true, append(r.stack, s)
	defer func() { s.busy, r.stack = false, r.stack[:len(r.stack)-1] }()
	e := s.events[s.next]
	if e.consumption != nil {
		if err := r.consume(ctx, s, e); err != nil {
			return err
		}
	} else if err := r.enter(ctx, s, e); err != nil {
		return err
	}
	s.next++
	return nil
}

// consume applies a consumption.
func (r *run) consume(ctx context.Context, s *session, e *event) error {
	c := e.consumption
	if c.Kind == lots.Relocated && !c.findDestination() {
		if err := r.loadEffect(ctx, s, e.entry); err != nil {
			return err
		}
		c.setDestination(&e.entry.Effect)
	}
	if s.Wide() && !e.entry.isNew { // it may leave other accounts than before, unless the request named one
		if err := r.loadEffect(ctx, s, e.entry); err != nil {
			return err
		}
		c.named = e.entry.Plan.LotRequests[c.Position].AccountOnly
	}
	if err := s.consume(c); err != nil {
		return r.refuse(e, r.explain(ctx, s, e, err))
	}
	if s.precedesReturn(r) && lacksLots(c.after) && !(r.lenient && lacksLots(c.before)) {
		r.short = e.entry.key // what is missing may be what returns, so that the order is not possible
		return errCycle()
	}
	c.done, s.last = true, max(s.last, e.key)
	if e.entry.isNew || lots.SameUses(c.before, c.after) && !s.remarked(c.after) {
		return nil
	}
	return r.markChanged(ctx, s, e.entry)
}

// markChanged records that a stored entry consumes other lots than it did. If it creates lots, the pool they enter is opened.
func (r *run) markChanged(ctx context.Context, s *session, e *entry) error {
	if e.built {
		return errTooLate
	}
	if e.changed {
		return nil
	}
	e.changed = true
	r.touched = append(r.touched, e)
	if err := r.loadEffect(ctx, s, e); err != nil {
		return err
	}
	p, key, enters := r.arrival(e)
	if !enters {
		return nil
	}
	to := r.sessions[p.Key]
	if to == nil || !to.begun() {
		_, err := r.open(ctx, p, key)
		return err
	}
	if to.passed(key) {
		r.markStale(p, key)
		return errTooLate
	}
	return nil
}

// prefetchMax bounds how many effects are loaded at once.
const prefetchMax = 500

// loadEffect loads the effect of a stored entry, and those of some entries after it in the pool: if one consumes other lots,
// the next ones mostly do too. Each time twice as many are loaded.
func (r *run) loadEffect(ctx context.Context, s *session, e *entry) error {
	if e.loaded {
		return nil
	}
	s.prefetch = min(max(1, 2*s.prefetch), prefetchMax)
	batch := map[string]*entry{e.EntryID: e}
	for i := s.next; i < len(s.events) && len(batch) < s.prefetch; i++ {
		if next := s.events[i]; next.consumption != nil && !next.entry.loaded && !next.entry.isNew {
			batch[next.entry.EntryID] = next.entry
		}
	}
	ids := slices.Sorted(maps.Keys(batch))
	effects, err := r.load(ctx, r.tx, ids)
	if err != nil {
		return err
	}
	created, err := lots.OfEntries(ctx, r.tx, ids...)
	if err != nil {
		return err
	}
	for id, one := range batch {
		effect, found := effects[id]
		if !found {
			return fmt.Errorf("replay: no booking is stored for the journal entry %s", id)
		}
		one.Effect, one.loaded = effect, true
	}
	for _, l := range created {
		batch[l.JournalEntryID].before = append(batch[l.JournalEntryID].before, l)
	}
	return nil
}

// enter adds the lots of an entry to a pool, after the entry has consumed what they are made of.
func (r *run) enter(ctx context.Context, s *session, ev *event) error {
	e := ev.entry
	if len(ev.enter) > 0 && ev.enter[0].Origin == lots.Manual {
		return s.accept(ev, ev.enter)
	}
	if err := r.consumeAll(ctx, e); err != nil || e.removed {
		return err
	}
	if !e.isNew && !e.changed {
		return s.accept(ev, ev.enter)
	}
	if err := r.build(ctx, e); err != nil {
		return err
	}
	return s.accept(ev, e.lots)
}

// consumeAll applies the consumptions of an entry that have not been applied yet.
func (r *run) consumeAll(ctx context.Context, e *entry) error {
	for _, position := range slices.Sorted(maps.Keys(e.consumptions)) {
		c := e.consumptions[position]
		s := r.sessions[c.Pool]
		if c.done || s == nil || c.OrderKey < s.from {
			continue
		}
		for !c.done && s.next < len(s.events) {
			if err := r.step(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// build computes the lines and the lots of an entry from what it consumed.
func (r *run) build(ctx context.Context, e *entry) error {
	if e.built || e.removed {
		return nil
	}
	if err := r.consumeAll(ctx, e); err != nil {
		return err
	}
	answers := make([]posting.Answer, len(e.Plan.LotRequests))
	for i := range e.Plan.LotRequests {
		uses, err := r.usesOf(ctx, e, i)
		if err != nil {
			return err
		}
		answers[i] = answer(uses)
	}
	var err error
	if e.result, err = e.Plan.Entry(answers); err != nil {
		return err
	}
	e.built = true
	r.createLots(e)
	return nil
}

// usesOf returns the uses of a consumption of an entry: computed, or as stored if its pool is not affected.
func (r *run) usesOf(ctx context.Context, e *entry, position int) ([]lots.Use, error) {
	c := e.consumptions[position]
	if c != nil && c.done {
		return c.after, nil
	}
	if c == nil {
		stored, err := lots.ConsumptionsOfEntry(ctx, r.tx, e.EntryID)
		if err != nil {
			return nil, err
		}
		for _, k := range stored {
			if k.Position != position {
				continue
			}
			rows, err := lots.UsesAt(ctx, r.tx, k.Pool, k.OrderKey)
			if err != nil {
				return nil, err
			}
			c = &consumption{Consumption: k, stored: rows, before: lots.Effective(rows)}
			e.consumptions[position] = c
		}
	}
	if c == nil {
		return nil, fmt.Errorf("replay: consumption %d of the journal entry %s is not stored", position, e.EntryID)
	}
	c.after, c.done = c.before, true
	return c.before, lots.ReadMarks(ctx, r.tx, c.before)
}

// refuse returns the reason why an entry is refused, or nil if it is a new one that may be left out.
func (r *run) refuse(e *event, reason error) error {
	if !e.entry.isNew {
		return reason
	}
	if fault.Refused(reason) {
		r.refused[e.entry.key] = reason
	}
	skip := r.options.SkipRefused && len(e.entry.consumptions) == 1 && len(e.consumption.events()) == 1
	if !skip || fault.KindOf(reason) != fault.Conflict {
		return reason
	}
	e.entry.removed, e.consumption.done = true, true
	return nil
}

// explain converts an error of the engine into one that names the transaction, the pool and the next step.
func (r *run) explain(ctx context.Context, s *session, e *event, err error) error {
	who := cmp.Or(e.entry.Label, "the transaction "+e.consumption.TransactionID)
	if !e.entry.isNew {
		if failed := r.loadEffect(ctx, s, e.entry); failed == nil && e.entry.Label != "" {
			who = e.entry.Label
		}
	}
	var short *lot.Shortage
	var picks *lot.PickError
	if errors.As(err, &short) {
		r.short = e.entry.key
	}
	switch {
	case (short != nil || errors.As(err, &picks)) && !actor.From(ctx).Sees(s.LegalEntityID):
		return errNoAccess()
	case short != nil:
		return fault.ConflictAt([]fault.Field{{Name: "quantity", Message: fmt.Sprintf("%s %s are missing", short.Missing, s.AssetType)}},
			"%s consumes %s %s, but only %s are available at that time in %s: %s %s are missing. Import and post the missing "+
				"acquisitions first, or set short_disposal of the legal entity to zero_basis",
			who, short.Quantity, s.AssetType, short.Held, r.describePool(ctx, s.Pool), short.Missing, s.AssetType)
	case picks != nil:
		var fields []fault.Field
		for _, f := range picks.Faults {
			name := "selections"
			if f.Index >= 0 {
				name = fmt.Sprintf("selections[%d]", f.Index)
			}
			fields = append(fields, fault.Field{Name: name, Message: f.Message})
		}
		return fault.ConflictAt(fields, "the lots selected for %s do not fit: %s", who, picks.Faults[0].Message)
	}
	return fmt.Errorf("replay: pool %s: %w", s.Key, err)
}

// describePool returns the name of a pool for messages.
func (r *run) describePool(ctx context.Context, p *lots.Pool) string {
	name := r.books.Entities[p.LegalEntityID].Name
	switch {
	case p.Parked():
		return "the account " + r.books.Accounts[p.LedgerAccountID].String() + " of " + name
	case p.Wide():
		return "all sources of " + name
	}
	if found, err := source.FindSomeUnchecked(ctx, r.tx, []string{p.SourceID}); err == nil {
		return "the source " + found[p.SourceID].Name + " of " + name
	}
	return "the source " + p.SourceID + " of " + name
}
