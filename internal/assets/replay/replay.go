package replay

import (
	"context"
	"errors"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Replay collects changes to the histories of pools. Run computes their effect.
type Replay struct {
	tx       *db.Tx
	books    *snapshot.Books
	load     Loader
	options  Options
	requests []func(context.Context, *run) error
}

// Options determine how a replay handles entries that must be refused.
type Options struct {
	// Preview computes the effect of a draft: nothing is refused for lack of lots.
	Preview bool
	// SkipRefused leaves out added entries that are refused, if they have a single consumption, to find out what else is
	// refused. The outcome is then valid for Refused only.
	SkipRefused bool
}

// Loader returns the effects of stored entries, by their IDs.
type Loader func(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]Effect, error)

// New returns a replay without changes.
func New(tx *db.Tx, b *snapshot.Books, load Loader, options Options) *Replay {
	return &Replay{tx: tx, books: b, load: load, options: options}
}

// Add adds a new entry. The key identifies it until it has an ID.
func (p *Replay) Add(key string, e Effect) {
	p.requests = append(p.requests, func(_ context.Context, r *run) error { r.add(key, e); return nil })
}

// Remove removes a stored entry.
func (p *Replay) Remove(entryID string) {
	p.requests = append(p.requests, func(ctx context.Context, r *run) error { return r.remove(ctx, entryID) })
}

// Replace adds a new entry in place of a stored one. Lots that both create keep their IDs.
func (p *Replay) Replace(entryID, key string, e Effect) {
	p.requests = append(p.requests, func(ctx context.Context, r *run) error { return r.replace(ctx, entryID, key, e) })
}

// SetOpening creates, changes or deletes an opening balance.
func (p *Replay) SetOpening(c Opening) {
	p.requests = append(p.requests, func(_ context.Context, r *run) error {
		r.setOpening(c)
		return nil
	})
}

// errTooLate reports that something changed on which an event that was applied already relied: the pool should have been
// opened earlier.
var errTooLate = errors.New("replay: a pool was opened too late")

// Run computes the effect of the changes. It writes nothing. If it returns an error, only Refused of the outcome is valid.
//
// If lots are parked that are missing elsewhere at the same time, it looks for another order of the moves at one instant, in which what
// arrived before the transaction that it came from was booked takes the lots of that.
//
// An actor that is limited to legal entities cannot change the books of others: an effect on an entry with lines of others is Forbidden,
// except in a preview.
func (p *Replay) Run(ctx context.Context) (*Outcome, error) {
	out, missing, err := p.attempt(ctx, true)
	if err == nil && missing {
		if other, missing, err := p.attempt(ctx, false); err == nil && !missing {
			out = other
		}
	}
	if err == nil && !p.options.Preview {
		err = out.requireAccess(actor.From(ctx))
	}
	return out, err
}

// requireAccess requires that an actor has access to the legal entities of all entries that change.
func (o *Outcome) requireAccess(who actor.Actor) error {
	for _, c := range o.Changes {
		if slices.ContainsFunc(c.Entry.Lines, func(l posting.Line) bool { return !who.Sees(l.Entity) }) {
			return errNoAccess()
		}
	}
	return nil
}

func errNoAccess() error {
	return fault.Forbiddenf("it changes which lots later entries use, and one of them " + actor.NeedsUnlimited)
}

// attempt computes the effect of the changes, and reports whether lots are missing on an account that others are parked on. Unless it is
// lenient, it refuses an order of moves in which lots are missing, though they were missing before.
func (p *Replay) attempt(ctx context.Context, lenient bool) (_ *Outcome, missing bool, _ error) {
	known := map[string]staleRange{} // pools that turned out to be affected
	var order choices
	for range attemptsMax {
		r := newRun(p)
		r.lenient, r.returns = lenient, order.returns()
		err := r.compute(ctx, known)
		if err == nil {
			return r.outcome(), r.parksWhatIsMissing(), nil
		}
		var found *cycle
		news := r.mergeStale(known)
		switch {
		case errors.As(err, &found):
			if order = append(order, choice{options: found.options}); len(found.options) == 0 && !order.next() {
				return &Outcome{}, false, errCycle()
			}
		case errors.Is(err, errTooLate):
			if !news && !order.next() {
				return &Outcome{}, false, errCycle()
			}
		case r.short != "" && fault.Refused(err) && len(order) > 0:
			if order.involves(r.short) {
				err = errCycle()
			}
			if !order.next() {
				return &Outcome{Refused: r.refused}, false, err
			}
		default:
			return &Outcome{Refused: r.refused}, false, err
		}
	}
	return &Outcome{}, false, errCycle()
}

// staleRange is the part of the history of a pool that changes: everything from an order key on.
type staleRange struct {
	pool lots.Pool
	from lot.OrderKey
}

// Opening is a change to an opening balance.
type Opening struct {
	Before, After *lots.Lot  // nil for a new lot, nil for a deleted one
	Stored        lots.Dated // of the entry of the lot before
	Left          lots.Dated // when the lot before is no longer counted
	Entered       lots.Dated // when the lot after is
}

// run is one attempt to compute a replay.
type run struct {
	*Replay
	stale    map[string]staleRange // by pool
	sessions map[string]*session   // by pool
	entries  map[string]*entry     // by key, which is the ID for a stored entry
	touched  []*entry              // added, removed or changed, in the order in which the run found out
	added    map[string][]*event   // events that are new, by pool
	altered  map[string]lots.Lot   // opening balances that stay at their order key
	dropped  map[string]bool       // opening balances that are deleted or enter elsewhere
	openings []Opening
	refused  map[string]error   // errors of added entries
	returns  map[string]returns // of entries whose lots arrive among the moves of the instant or after them, by key
	stack    []*session         // those in which an event is being applied, each because the one before waits for it
	short    string             // the entry that is refused for lack of lots, by key
	lenient  bool               // lots may be missing in an order of moves if they were missing before
}

func newRun(p *Replay) *run {
	return &run{
		Replay: p, stale: map[string]staleRange{}, sessions: map[string]*session{}, entries: map[string]*entry{},
		added: map[string][]*event{}, altered: map[string]lots.Lot{}, dropped: map[string]bool{}, refused: map[string]error{},
	}
}

// markStale records that a pool changes from an order key on.
func (r *run) markStale(p lots.Pool, from lot.OrderKey) {
	if s, found := r.stale[p.Key]; !found || from < s.from {
		r.stale[p.Key] = staleRange{p, from}
	}
}

// mergeStale adds the pools that were opened, or that have to be opened earlier, to the known ones, and reports whether any was new.
func (r *run) mergeStale(known map[string]staleRange) (news bool) {
	for key, s := range r.sessions {
		r.markStale(*s.Pool, s.from)
		if k, found := known[key]; !found || r.stale[key].from < k.from {
			known[key], news = staleRange{*s.Pool, r.stale[key].from}, true
		}
	}
	return news
}

// entry returns the state of a stored entry, at first without its effect.
func (r *run) entry(entryID string) *entry {
	e := r.entries[entryID]
	if e == nil {
		e = &entry{key: entryID, consumptions: map[int]*consumption{}}
		e.EntryID = entryID
		r.entries[entryID] = e
	}
	return e
}

func (r *run) add(key string, effect Effect) {
	e := &entry{Effect: effect, key: key, loaded: true, isNew: true, consumptions: map[int]*consumption{}}
	r.entries[key] = e
	r.touched = append(r.touched, e)
	for i, t := range effect.Plan.LotRequests {
		p := lots.PoolOf(r.books, t.From, t.Asset, effect.SeparateAccountID)
		c := newConsumption(&e.Effect, i, t, p)
		if effect.staysInPool(r.books, t) {
			c.Kind = lots.Relocated
			c.setDestination(&e.Effect)
		}
		c.setOrderKey()
		e.consumptions[i] = c
		r.added[p.Key] = append(r.added[p.Key], &event{key: c.OrderKey, entry: e, consumption: c})
		r.markStale(p, c.OrderKey)
	}
	if p, key, enters := r.arrival(e); enters {
		r.added[p.Key] = append(r.added[p.Key], &event{key: key, entry: e})
		r.markStale(p, key)
	}
}

func (r *run) remove(ctx context.Context, entryID string) error {
	e := r.entry(entryID)
	e.removed = true
	consumptions, err := lots.ConsumptionsOfEntry(ctx, r.tx, entryID)
	if err != nil {
		return err
	}
	if e.before, err = lots.OfEntries(ctx, r.tx, entryID); err != nil {
		return err
	}
	if len(consumptions)+len(e.before) == 0 {
		delete(r.entries, entryID)
		return nil
	}
	r.touched = append(r.touched, e)
	for _, c := range consumptions {
		r.markStale(lots.Pool{Key: c.Pool}, c.OrderKey)
	}
	for _, l := range e.before {
		r.markStale(lots.Pool{Key: l.Pool}, l.OrderKey)
	}
	return nil
}

func (r *run) replace(ctx context.Context, entryID, key string, effect Effect) error {
	if err := r.remove(ctx, entryID); err != nil {
		return err
	}
	r.add(key, effect)
	if old := r.entries[entryID]; old != nil {
		e := r.entries[key]
		e.before, e.beforeEntryID, old.before = old.before, entryID, nil
	}
	return nil
}

func (r *run) setOpening(c Opening) {
	r.openings = append(r.openings, c)
	if c.Before != nil {
		r.markStale(lots.Pool{Key: c.Before.Pool}, c.Before.OrderKey)
		if c.After == nil || c.After.Pool != c.Before.Pool || c.After.OrderKey != c.Before.OrderKey {
			r.dropped[c.Before.ID] = true
		} else {
			r.altered[c.Before.ID] = *c.After
		}
	}
	if c.After == nil || c.Before != nil && !r.dropped[c.Before.ID] {
		return
	}
	l := *c.After
	e := r.entry(l.JournalEntryID)
	r.added[l.Pool] = append(r.added[l.Pool], &event{key: l.OrderKey, entry: e, enter: []*lots.Lot{&l}})
	r.markStale(l.PoolIn(r.books), l.OrderKey)
}
