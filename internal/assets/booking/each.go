package booking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Outcome is what came of one request among many: the entry, or why there is none.
type Outcome struct {
	Made *Made
	Err  error
}

// Each makes entries of those requests that can be booked, as Create would of just these, and says of the others why
// not. They change nothing. It is a building block.
func (s *Service) Each(ctx context.Context, tx *db.Tx, ps []Params) ([]Outcome, error) {
	b, err := s.books.Of(ctx, tx)
	if err != nil {
		return nil, err
	}
	m, err := newBuilder(ctx, tx, b, ps...)
	if err != nil {
		return nil, err
	}
	r := &sieve{Service: s, tx: tx, books: b, all: make([]*request, len(ps)), faults: map[*request]error{}}
	for i, p := range ps {
		q := &request{Params: p, index: i, key: fmt.Sprintf("new %d", i)}
		if err := r.blame(q, m.ready(ctx, q)); err != nil {
			return nil, err
		}
		r.all[i] = q
	}
	kept, replay, err := r.sift(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Outcome, len(ps))
	if len(kept) > 0 {
		made, err := s.enter(ctx, tx, b, kept, replay)
		if err != nil {
			return nil, err
		}
		for i, q := range kept {
			out[q.index].Made = &made[i]
		}
	}
	for i, q := range r.all {
		if out[i].Made == nil {
			out[i].Err = cmp.Or(r.faults[q], r.short[q], r.twice[q])
		}
	}
	return out, nil
}

// sieve leaves of many requests those that can be booked. What each follows from is found once; only lots are gone through again.
type sieve struct {
	*Service
	tx     *db.Tx
	books  *snapshot.Books
	all    []*request
	faults map[*request]error // whatever becomes of the others
	short  map[*request]error // among those that were left
	twice  map[*request]error // because of another that is left
}

// blame keeps the fault of a request; what is not one of its own ends all.
func (r *sieve) blame(q *request, err error) error {
	if err != nil && !fault.Refused(err) {
		return err
	}
	if err != nil {
		r.faults[q] = err
	}
	return nil
}

// sift gives the requests that can be booked, and what they do to lots. Whoever was refused for want of lots gets
// another chance when somebody else is refused for another reason.
func (r *sieve) sift(ctx context.Context) ([]*request, *asset.Replay, error) {
	for {
		r.short = map[*request]error{}
		kept, replay, err := r.take(ctx)
		if err != nil {
			return nil, nil, err
		}
		before := len(r.faults)
		for _, q := range kept {
			if err := r.blame(q, r.draw(ctx, r.tx, r.books, q, replay)); err != nil {
				return nil, nil, err
			}
		}
		if len(r.faults) == before {
			err = r.review(ctx, kept)
		}
		if err != nil || len(r.faults) == before {
			return kept, replay, err
		}
	}
}

// left are the requests that nothing stands against so far. Of two for one transaction the first is tried.
func (r *sieve) left() []*request {
	r.twice = map[*request]error{}
	out := slices.DeleteFunc(slices.Clone(r.all), func(q *request) bool { return r.faults[q] != nil || r.short[q] != nil })
	for {
		i, earlier := again(out)
		if i < 0 {
			return out
		}
		r.twice[out[i]] = out[i].bookedBy(out[earlier])
		out = slices.Delete(out, i, i+1)
	}
}

// take lets requests happen to lots, and leaves out those that cannot.
func (r *sieve) take(ctx context.Context) ([]*request, *asset.Replay, error) {
	for {
		left := r.left()
		replay, blamed, err := r.try(ctx, left)
		if err == nil {
			return left, replay, nil
		}
		if !fault.Refused(err) {
			return nil, nil, err
		}
		for _, q := range left {
			if why := blamed[q.key]; why != nil {
				r.short[q] = why
			}
		}
		if len(blamed) > 0 {
			continue
		}
		before := len(r.short)
		if failed := r.halve(ctx, left); failed != nil || len(r.short) == before { // somebody is to blame, or this would not end
			return nil, nil, cmp.Or(failed, err)
		}
	}
}

// try lets some requests happen, and says who is to blame if that cannot be.
func (r *sieve) try(ctx context.Context, some []*request) (*asset.Replay, map[string]error, error) {
	replay := newReplay(r.tx, r.books, some)
	replay.Tolerate()
	err := replay.Run(ctx)
	blamed := replay.Refused()
	if key := replay.Culprit(); err != nil && key != "" && fault.Refused(err) {
		blamed[key] = err
	}
	for _, why := range blamed {
		err = cmp.Or(err, why)
	}
	if err == nil {
		err = r.leavesClosed(ctx, r.tx, some, replay)
	}
	return replay, blamed, err
}

// halve finds out whose fault it is that others stand against: in the order in which things happened, as many as can are taken together.
func (r *sieve) halve(ctx context.Context, left []*request) error {
	var good []*request
	var add func(more []*request) error
	add = func(more []*request) error {
		_, _, err := r.try(ctx, slices.Concat(good, more))
		switch {
		case err == nil:
			good = append(good, more...)
			return nil
		case !fault.Refused(err):
			return err
		case len(more) == 1:
			r.short[more[0]] = err
			return nil
		}
		return errors.Join(add(more[:len(more)/2]), add(more[len(more)/2:]))
	}
	ordered := slices.DeleteFunc(slices.Clone(left), func(q *request) bool { return q.event == nil })
	slices.SortStableFunc(ordered, func(a, b *request) int { return a.event.first.At.Compare(b.event.first.At) })
	if len(ordered) == 0 {
		return nil
	}
	return add(ordered)
}

// review asks the journal about all entries, and about those alone that it names.
func (r *sieve) review(ctx context.Context, kept []*request) error {
	place := func(i int) string { return fmt.Sprintf("%d.", i) }
	_, err := r.journal.Look(ctx, r.tx, entriesOf(kept), place)
	var f *fault.Error
	if err == nil || !errors.As(err, &f) || !fault.Refused(err) {
		return err
	}
	named := map[string]bool{}
	for _, field := range f.Fields {
		at, _, _ := strings.Cut(field.Name, ".")
		named[at+"."] = true
	}
	before := len(r.faults)
	for i, q := range kept {
		if !named[place(i)] {
			continue
		}
		_, err := r.journal.Look(ctx, r.tx, entriesOf([]*request{q}), func(int) string { return "" })
		if err := r.blame(q, err); err != nil {
			return err
		}
	}
	if len(r.faults) == before {
		return err
	}
	return nil
}

// open refuses what is dated in a closed period, if it is to be.
func (m builder) open(q *request) error {
	if !q.OpenOnly {
		return nil
	}
	at, err := time.Parse(time.RFC3339, q.entry.AccountingDate)
	if err != nil {
		if at, err = calendar.StartOfDay(q.entry.AccountingDate, m.books.Zone); err != nil {
			return nil // the journal says what is wrong with it
		}
	}
	in := q.event.work.Input
	entities := []string{q.entry.LegalEntityID, in.Target.Entity}
	for _, l := range []*posting.Leg{in.Out, in.In} {
		if l != nil {
			entities = append(entities, l.Entity)
		}
	}
	month := calendar.MonthOf(at, m.books.Zone).Key()
	if month > m.books.ClosedThrough(entities...) {
		return nil
	}
	return closed(q.at+"accounting_date", month)
}

func closed(field, period string) error {
	return fault.ConflictAt([]fault.Field{{Name: field, Message: "the period " + period + " is closed"}}, "the period %s is closed", period)
}

// leavesClosed refuses what would change an entry of a closed period, if any of the requests asks for that.
func (s *Service) leavesClosed(ctx context.Context, tx *db.Tx, all []*request, replay *asset.Replay) error {
	if !slices.ContainsFunc(all, func(q *request) bool { return q.OpenOnly }) {
		return nil
	}
	changes := replay.Changes()
	entries, err := journal.FindSomeUnchecked(ctx, tx, idsOf(changes))
	if err != nil {
		return err
	}
	b, err := s.books.Of(ctx, tx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		e := entries[c.EntryID]
		is, err := s.journal.IsClosed(ctx, tx, e)
		if err != nil {
			return err
		}
		if p, _ := b.PeriodByID(e.PeriodID); is {
			return fault.ConflictAt([]fault.Field{{Name: "transaction_id", Message: "changes the lots of the entry " + e.SequenceNumber() +
				", whose period " + p.Key + " is closed"}},
				"it changes the lots of the entry %s, whose period %s is closed", e.SequenceNumber(), p.Key)
		}
	}
	return nil
}
