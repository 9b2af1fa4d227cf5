package booking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// BatchResult is the result of one request of CreateEach: the entry, or the reason why there is none.
type BatchResult struct {
	Booked *Booked
	Err    error
}

// CreateEach books the requests that can be booked, as Create would without the others, and returns an error for each of the
// others. It is a building block.
func (s *Service) CreateEach(ctx context.Context, tx *db.Tx, ps []Params) ([]BatchResult, error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	m, err := newBuilder(ctx, tx, b, ps...)
	if err != nil {
		return nil, err
	}
	r := &batchFilter{Service: s, tx: tx, books: b, all: make([]*request, len(ps)), faults: map[*request]error{}}
	for i, p := range ps {
		q := &request{Params: p, index: i, key: fmt.Sprintf("new %d", i)}
		if err := r.recordFault(q, m.prepareRequest(ctx, q)); err != nil {
			return nil, err
		}
		r.all[i] = q
	}
	kept, outcome, err := r.filter(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]BatchResult, len(ps))
	if len(kept) > 0 {
		made, err := s.enter(ctx, tx, b, kept, outcome)
		if err != nil {
			return nil, err
		}
		for i, q := range kept {
			out[q.index].Booked = &made[i]
		}
	}
	for i, q := range r.all {
		if out[i].Booked == nil {
			out[i].Err = cmp.Or(r.faults[q], r.shortages[q], r.duplicates[q])
		}
	}
	return out, nil
}

// batchFilter finds the requests of a batch that can be booked. Their transactions are looked up once; only lots are computed
// again when a request is left out.
type batchFilter struct {
	*Service
	tx         *db.Tx
	books      *snapshot.Books
	all        []*request
	faults     map[*request]error // faults that do not depend on other requests
	shortages  map[*request]error // refused for lack of lots, given the requests that remain
	duplicates map[*request]error // for a transaction that a remaining request books
}

// recordFault records an error that refuses a request, and returns any other error.
func (r *batchFilter) recordFault(q *request, err error) error {
	if err != nil && !fault.Refused(err) {
		return err
	}
	if err != nil {
		r.faults[q] = err
	}
	return nil
}

// filter returns the requests that can be booked, and their effect on lots. Requests that were refused for lack of lots are
// tried again when another one is refused for another reason.
func (r *batchFilter) filter(ctx context.Context) ([]*request, *replay.Outcome, error) {
	for {
		r.shortages = map[*request]error{}
		kept, outcome, err := r.bookable(ctx)
		if err != nil {
			return nil, nil, err
		}
		before := len(r.faults)
		balances := newSettler(r.tx, r.books)
		for _, q := range byTime(kept) {
			if err := r.recordFault(q, r.setLines(ctx, balances, q, outcome)); err != nil {
				return nil, nil, err
			}
		}
		if len(r.faults) == before {
			err = r.review(ctx, kept)
		}
		if err != nil || len(r.faults) == before {
			return kept, outcome, err
		}
	}
}

// remaining returns the requests that are not refused so far. Of two for one transaction the first remains.
func (r *batchFilter) remaining() []*request {
	r.duplicates = map[*request]error{}
	out := slices.DeleteFunc(slices.Clone(r.all), func(q *request) bool { return r.faults[q] != nil || r.shortages[q] != nil })
	for {
		i, earlier := duplicate(out)
		if i < 0 {
			return out
		}
		r.duplicates[out[i]] = out[i].bookedBy(out[earlier])
		out = slices.Delete(out, i, i+1)
	}
}

// bookable returns the requests whose lots can be consumed, and their effect on lots.
func (r *batchFilter) bookable(ctx context.Context) ([]*request, *replay.Outcome, error) {
	for {
		left := r.remaining()
		outcome, refused, err := r.simulate(ctx, left)
		if err == nil {
			return left, outcome, nil
		}
		if !fault.Refused(err) {
			return nil, nil, err
		}
		for _, q := range left {
			if reason := refused[q.key]; reason != nil {
				r.shortages[q] = reason
			}
		}
		if len(refused) > 0 {
			continue
		}
		before := len(r.shortages)
		if failed := r.bisect(ctx, left); failed != nil || len(r.shortages) == before { // otherwise the loop would not end
			return nil, nil, cmp.Or(failed, err)
		}
	}
}

// simulate computes requests together, and returns the errors of those that are refused.
func (r *batchFilter) simulate(ctx context.Context, some []*request) (*replay.Outcome, map[string]error, error) {
	outcome, err := newReplay(r.tx, r.books, some, replay.Options{SkipRefused: true}).Run(ctx)
	for _, reason := range outcome.Refused {
		err = cmp.Or(err, reason)
	}
	if err == nil {
		err = r.requireOpenChanges(ctx, r.tx, some, outcome.Changes)
	}
	return outcome, outcome.Refused, err
}

// bisect finds the requests that are refused because of stored entries. In the order of the transactions it adds as many as
// can be booked together, and splits the rest in halves.
func (r *batchFilter) bisect(ctx context.Context, left []*request) error {
	var good []*request
	var add func(more []*request) error
	add = func(more []*request) error {
		_, _, err := r.simulate(ctx, slices.Concat(good, more))
		switch {
		case err == nil:
			good = append(good, more...)
			return nil
		case !fault.Refused(err):
			return err
		case len(more) == 1:
			r.shortages[more[0]] = err
			return nil
		}
		return errors.Join(add(more[:len(more)/2]), add(more[len(more)/2:]))
	}
	ordered := byTime(left)
	if len(ordered) == 0 {
		return nil
	}
	return add(ordered)
}

// review has the journal validate all entries together, and then each faulty one by itself.
func (r *batchFilter) review(ctx context.Context, kept []*request) error {
	place := func(i int) string { return fmt.Sprintf("%d.", i) }
	err := r.journal.Validate(ctx, r.tx, entriesOf(kept), place)
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
		err := r.journal.Validate(ctx, r.tx, entriesOf([]*request{q}), func(int) string { return "" })
		if err := r.recordFault(q, err); err != nil {
			return err
		}
	}
	if len(r.faults) == before {
		return err
	}
	return nil
}

// requireOpenPeriod returns an error for an OpenOnly request that is dated in a closed period.
func (m builder) requireOpenPeriod(q *request) error {
	if !q.OpenOnly {
		return nil
	}
	at, err := time.Parse(time.RFC3339, q.entry.AccountingDate)
	if err != nil {
		if at, err = calendar.StartOfDay(q.entry.AccountingDate, m.books.Zone); err != nil {
			return nil // the journal reports the invalid date
		}
	}
	in := q.event.effect.Input
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
	return closedError(q.prefix+"accounting_date", month)
}

func closedError(field, period string) error {
	return fault.ConflictAt([]fault.Field{{Name: field, Message: "the period " + period + " is closed"}}, "the period %s is closed", period)
}

// requireOpenChanges returns an error if an entry of a closed period would change, and one of the requests is OpenOnly.
func (s *Service) requireOpenChanges(ctx context.Context, tx *db.Tx, all []*request, changes []replay.Change) error {
	if !slices.ContainsFunc(all, func(q *request) bool { return q.OpenOnly }) {
		return nil
	}
	entries, err := journal.FindSomeUnchecked(ctx, tx, idsOf(changes))
	if err != nil {
		return err
	}
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		e := entries[c.EntryID]
		is, err := s.journal.InClosedPeriod(ctx, tx, e)
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
