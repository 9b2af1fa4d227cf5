package asset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Replay lets things happen to pools, also late, and finds out what that changes about everything after them. It
// writes nothing before Write.
type Replay struct {
	tx      *db.Tx
	books   *snapshot.Books
	load    Loader
	lenient bool

	sessions map[string]*session
	works    map[string]*work
	touched  []*work // new, removed or changed, in the order in which that was found out
	dirty    map[string]dirt
	fresh    map[string][]*event // what is new, by pool
	altered  map[string]Lot
	dropped  map[string]bool
	byHand   []handled
	culprit  string
	tolerant bool
	refused  map[string]error
	deeds    []func(context.Context) error // what was asked for
	early    map[string]dirt               // pools that turned out to be concerned
}

// Culprit is the key of the added entry that Run refused, nothing where another one was to blame.
func (r *Replay) Culprit() string { return r.culprit }

type dirt struct {
	pool pool
	from Place
}

// NewReplay begins one. A lenient one is a look at what would be: nothing is refused for want of lots.
func NewReplay(tx *db.Tx, b *snapshot.Books, load Loader, lenient bool) *Replay {
	r := &Replay{tx: tx, books: b, load: load, lenient: lenient, early: map[string]dirt{}}
	r.begin()
	return r
}

// begin forgets everything that happened.
func (r *Replay) begin() {
	r.sessions, r.works, r.dirty, r.fresh = map[string]*session{}, map[string]*work{}, map[string]dirt{}, map[string][]*event{}
	r.altered, r.dropped, r.touched, r.byHand = map[string]Lot{}, map[string]bool{}, nil, nil
	r.refused, r.culprit = map[string]error{}, ""
}

// workOf gives the work of an entry, at first without its plan.
func (r *Replay) workOf(entryID string) *work {
	w := r.works[entryID]
	if w == nil {
		w = &work{key: entryID, taken: map[int]*taken{}}
		w.EntryID = entryID
		r.works[entryID] = w
	}
	return w
}

func (r *Replay) soil(p pool, from Place) {
	if d, there := r.dirty[p.Key]; !there || from < d.from {
		r.dirty[p.Key] = dirt{p, from}
	}
}

// Add lets a new entry happen. Its key names it until it has an id.
func (r *Replay) Add(key string, w Work) {
	r.deeds = append(r.deeds, func(context.Context) error { r.add(key, w); return nil })
	r.add(key, w)
}

func (r *Replay) add(key string, w Work) {
	n := &work{Work: w, key: key, loaded: true, isNew: true, taken: map[int]*taken{}}
	r.works[key] = n
	r.touched = append(r.touched, n)
	for i, t := range w.Plan.Takes {
		p := poolOf(r.books, t.From, t.Asset, w.Apart)
		k := &taken{take: takeOf(&n.Work, i, t, p)}
		if w.stays(r.books, t) {
			k.kind = relocate
			k.aim(&n.Work)
		}
		k.settle()
		n.taken[i] = k
		r.fresh[p.Key] = append(r.fresh[p.Key], &event{place: k.place, work: n, take: k})
		r.soil(p, k.place)
	}
	if p, place, enters := w.arrival(r.books); enters {
		r.fresh[p.Key] = append(r.fresh[p.Key], &event{place: place, work: n})
		r.soil(p, place)
	}
}

// Remove lets an entry never have happened.
func (r *Replay) Remove(ctx context.Context, entryID string) error {
	do := func(ctx context.Context) error { return r.remove(ctx, entryID) }
	r.deeds = append(r.deeds, do)
	return do(ctx)
}

func (r *Replay) remove(ctx context.Context, entryID string) error {
	w := r.workOf(entryID)
	w.removed = true
	takes, err := selectTakesOf(ctx, r.tx, entryID)
	if err != nil {
		return err
	}
	if w.was, err = selectLotsOf(ctx, r.tx, entryID); err != nil {
		return err
	}
	if len(takes)+len(w.was) == 0 {
		delete(r.works, entryID)
		return nil
	}
	r.touched = append(r.touched, w)
	for _, t := range takes {
		r.soil(pool{Key: t.pool}, t.place)
	}
	for _, l := range w.was {
		r.soil(pool{Key: l.Pool}, l.Place)
	}
	return nil
}

// Replace lets an entry have been another one. The lots it made keep their names where they are still made.
func (r *Replay) Replace(ctx context.Context, entryID, key string, w Work) error {
	do := func(ctx context.Context) error { return r.replace(ctx, entryID, key, w) }
	r.deeds = append(r.deeds, do)
	return do(ctx)
}

func (r *Replay) replace(ctx context.Context, entryID, key string, w Work) error {
	if err := r.remove(ctx, entryID); err != nil {
		return err
	}
	r.add(key, w)
	if old := r.works[entryID]; old != nil {
		n := r.works[key]
		n.was, n.wasOf, old.was = old.was, entryID, nil
	}
	return nil
}

// Put lets a lot that somebody entered be there; before is what it was until now, nil for a new one, and after nil
// takes it away. Each counts in an accounting period.
func (r *Replay) Put(before, after *Lot, left, entered string) {
	r.deeds = append(r.deeds, func(context.Context) error { r.put(before, after, left, entered); return nil })
	r.put(before, after, left, entered)
}

func (r *Replay) put(before, after *Lot, left, entered string) {
	r.byHand = append(r.byHand, handled{before, after, left, entered})
	if before != nil {
		r.soil(pool{Key: before.Pool}, before.Place)
		if after == nil || after.Pool != before.Pool || after.Place != before.Place {
			r.dropped[before.ID] = true
		} else {
			r.altered[before.ID] = *after
		}
	}
	if after == nil || before != nil && !r.dropped[before.ID] {
		return
	}
	fresh := *after
	w := r.workOf(after.JournalEntryID)
	r.fresh[after.Pool] = append(r.fresh[after.Pool], &event{place: after.Place, work: w, enter: []*Lot{&fresh}})
	r.soil(poolOf(r.books, after.place(), after.asset(), ""), after.Place)
}

// errTooLate says that something changed that others had rested on already, at the same instant: the pool it comes
// from should have been opened before.
var errTooLate = errors.New("asset: it happened too late")

// Run lets everything happen. Where it turns out on the way that something should have happened earlier, it begins
// again with what it knows by then.
func (r *Replay) Run(ctx context.Context) error {
	for {
		err := r.run(ctx)
		if !errors.Is(err, errTooLate) {
			return err
		}
		if !r.learn() {
			return fault.Conflictf("transfers at the same instant go in a circle, and none of them can be first")
		}
		r.begin()
		for _, do := range r.deeds {
			if err := do(ctx); err != nil {
				return err
			}
		}
		for _, d := range r.early {
			r.soil(d.pool, d.from)
		}
	}
}

// learn remembers which pools were opened, and tells whether that is news.
func (r *Replay) learn() (news bool) {
	for key, s := range r.sessions {
		if d, known := r.early[key]; !known || s.from < d.from {
			r.early[key], news = dirt{*s.pool, s.from}, true
		}
	}
	return news
}

func (r *Replay) run(ctx context.Context) error {
	for _, key := range slices.Sorted(maps.Keys(r.dirty)) {
		if _, err := r.activate(ctx, r.dirty[key].pool, r.dirty[key].from); err != nil {
			return err
		}
	}
	for {
		var first *session
		for _, s := range r.sessions {
			if s.next < len(s.events) && (first == nil || s.events[s.next].place < first.events[first.next].place ||
				s.events[s.next].place == first.events[first.next].place && s.Key < first.Key) {
				first = s
			}
		}
		if first == nil {
			break
		}
		if err := r.step(ctx, first); err != nil {
			return err
		}
	}
	for _, w := range r.touched {
		if err := r.build(ctx, w); err != nil {
			return err
		}
	}
	for _, s := range r.sessions {
		s.left()
	}
	return nil
}

// step lets the next thing happen to a pool.
func (r *Replay) step(ctx context.Context, s *session) error {
	if s.busy {
		return fault.Conflictf("transfers of %s at the same instant go in a circle, and none of them can be first", s.AssetType)
	}
	s.busy = true
	defer func() { s.busy = false }()
	e := s.events[s.next]
	if e.take != nil {
		if err := r.request(ctx, s, e); err != nil {
			return err
		}
	} else if err := r.enter(ctx, s, e); err != nil {
		return err
	}
	s.next++
	s.last = max(s.last, e.place)
	return nil
}

func (r *Replay) request(ctx context.Context, s *session, e *event) error {
	if e.take.kind == relocate && !e.take.aimed() {
		if err := r.fill(ctx, s, e.work); err != nil {
			return err
		}
		e.take.aim(&e.work.Work)
	}
	if err := s.apply(e.take); err != nil {
		return r.skip(e, r.refusal(ctx, s, e, err))
	}
	e.take.done = true
	if e.work.isNew || sameUses(e.take.old, e.take.new) {
		return nil
	}
	return r.change(ctx, s, e.work)
}

// change notes that an entry took other lots than it had. Where that changes what it makes, the pool of that is opened.
func (r *Replay) change(ctx context.Context, s *session, w *work) error {
	if w.built {
		return errTooLate
	}
	if w.changed {
		return nil
	}
	w.changed = true
	r.touched = append(r.touched, w)
	if err := r.fill(ctx, s, w); err != nil {
		return err
	}
	p, place, enters := w.arrival(r.books)
	if !enters {
		return nil
	}
	to := r.sessions[p.Key]
	if to == nil || !to.begun() {
		_, err := r.activate(ctx, p, place)
		return err
	}
	if to.passed(place) {
		return errTooLate
	}
	return nil
}

// fill brings the plan of an entry that is there, and those of some that come after it in the pool: where one takes
// other lots, the next ones mostly do too. The more often that is so, the more are brought.
func (r *Replay) fill(ctx context.Context, s *session, w *work) error {
	if w.loaded {
		return nil
	}
	s.ahead = min(max(1, 2*s.ahead), aheadMax)
	batch := map[string]*work{w.EntryID: w}
	for i := s.next; i < len(s.events) && len(batch) < s.ahead; i++ {
		if e := s.events[i]; e.take != nil && !e.work.loaded && !e.work.isNew {
			batch[e.work.EntryID] = e.work
		}
	}
	ids := slices.Sorted(maps.Keys(batch))
	loaded, err := r.load(ctx, r.tx, ids)
	if err != nil {
		return err
	}
	lots, err := selectLotsOf(ctx, r.tx, ids...)
	if err != nil {
		return err
	}
	for id, one := range batch {
		found, there := loaded[id]
		if !there {
			return fmt.Errorf("asset: nothing is known of what entry %s follows from", id)
		}
		one.Work, one.loaded = found, true
	}
	for _, l := range lots {
		batch[l.JournalEntryID].was = append(batch[l.JournalEntryID].was, l)
	}
	return nil
}

// aheadMax bounds how many plans are brought at once.
const aheadMax = 500

// enter lets the lots of an entry enter a pool, once what they are made of has left the others.
func (r *Replay) enter(ctx context.Context, s *session, e *event) error {
	w := e.work
	if len(e.enter) > 0 && e.enter[0].Origin == Manual {
		return s.accept(e, e.enter)
	}
	if err := r.ensure(ctx, w); err != nil || w.removed {
		return err
	}
	if !w.isNew && !w.changed {
		return s.accept(e, e.enter)
	}
	if err := r.build(ctx, w); err != nil {
		return err
	}
	return s.accept(e, w.lots)
}

// ensure lets the requests of an entry happen that did not yet.
func (r *Replay) ensure(ctx context.Context, w *work) error {
	for _, position := range slices.Sorted(maps.Keys(w.taken)) {
		k := w.taken[position]
		s := r.sessions[k.pool]
		if k.done || s == nil || k.place < s.from {
			continue
		}
		for !k.done && s.next < len(s.events) {
			if err := r.step(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// build makes the lines and the lots of an entry from what it took.
func (r *Replay) build(ctx context.Context, w *work) error {
	if w.built || w.removed {
		return nil
	}
	if err := r.ensure(ctx, w); err != nil {
		return err
	}
	answers := make([]posting.Answer, len(w.Plan.Takes))
	for i := range w.Plan.Takes {
		uses, err := r.usesOf(ctx, w, i)
		if err != nil {
			return err
		}
		answers[i] = answer(uses)
	}
	var err error
	if w.result, err = w.Plan.Entry(answers); err != nil {
		return err
	}
	w.built = true
	r.makeLots(w)
	return nil
}

// usesOf is what a request took, now or, where nothing has changed, before.
func (r *Replay) usesOf(ctx context.Context, w *work, position int) ([]Use, error) {
	k := w.taken[position]
	if k != nil && k.done {
		return k.new, nil
	}
	if k == nil {
		takes, err := selectTakesOf(ctx, r.tx, w.EntryID)
		if err != nil {
			return nil, err
		}
		for _, t := range takes {
			if t.position != position {
				continue
			}
			rows, err := selectUsesAt(ctx, r.tx, t.pool, t.place)
			if err != nil {
				return nil, err
			}
			k = &taken{take: t, rows: rows, old: effective(rows)}
			w.taken[position] = k
		}
	}
	if k == nil {
		return nil, fmt.Errorf("asset: entry %s has no request %d", w.EntryID, position)
	}
	k.new, k.done = k.old, true
	return k.old, nil
}

// refusal says what a shortage is about.
func (r *Replay) refusal(ctx context.Context, s *session, e *event, err error) error {
	if e.work.isNew {
		r.culprit = e.work.key
	}
	who := cmp.Or(e.work.Label, "the transaction "+e.take.transactionID)
	if !e.work.isNew {
		if failed := r.fill(ctx, s, e.work); failed == nil && e.work.Label != "" {
			who = e.work.Label
		}
	}
	var short *lot.Shortage
	var picks *lot.PickError
	switch {
	case errors.As(err, &short):
		return fault.ConflictAt([]fault.Field{{Name: "quantity", Message: fmt.Sprintf("%s %s are missing", short.Missing, s.AssetType)}},
			"%s takes %s %s, and %s has %s at that time: %s %s are missing. Bring in and post what is missing first, or let the legal "+
				"entity's short_disposal be zero_basis",
			who, short.Quantity, s.AssetType, r.scope(ctx, s.pool), short.Held, short.Missing, s.AssetType)
	case errors.As(err, &picks):
		var fields []fault.Field
		for _, f := range picks.Faults {
			name := "selections"
			if f.Index >= 0 {
				name = fmt.Sprintf("selections[%d]", f.Index)
			}
			fields = append(fields, fault.Field{Name: name, Message: f.Message})
		}
		return fault.ConflictAt(fields, "the lots chosen for %s do not fit: %s", who, picks.Faults[0].Message)
	}
	return fmt.Errorf("pool %s: %w", s.Key, err)
}

// Entry is what became of a new entry.
func (r *Replay) Entry(key string) posting.Entry { return r.works[key].result }

// Slices is what a new entry took, and Missing what was not there.
func (r *Replay) Slices(key string) (uses []Use) {
	w := r.works[key]
	for _, position := range slices.Sorted(maps.Keys(w.taken)) {
		uses = append(uses, w.taken[position].new...)
	}
	return uses
}
