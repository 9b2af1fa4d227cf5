package glsync

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	// preparedTogether is how many attempts are begun in one database transaction.
	preparedTogether = 200
	// storedTogether and storedAfter say when the outcomes of attempts are stored: after so many, or so long.
	storedTogether = 100
	storedAfter    = 200 * time.Millisecond
	// triesMax is how often an attempt is made whose outcome stays unknown, although others succeed.
	triesMax = givesUpAfter
)

// item is an attempt that was begun: what is about to be done is stored.
type item struct {
	attempt Attempt
	row     journalRow
	entry   journal.Entry
	again   bool // it was begun by an earlier worker, so that a request may have been sent
	prior   bool // an earlier run was about to send the same journal under the same key, and had no answer
}

// outcome is what came of an item.
type outcome struct {
	item
	posted    Posted
	unstrayed bool // the strays are gone
	removed   bool // what stood there is gone
	unsure    bool // the push was refused, and nobody knows whether the journal is there all the same
	err       error
}

// send executes the attempts that were planned, several at a time. The first failure that is not due to an entry ends it, when the requests
// under way have been answered.
func (w *work) send(ctx context.Context) error {
	first, err := w.interrupted(ctx)
	if err != nil {
		return err
	}
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	stop, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go w.watch(ctx, lose, cancel)
	items, outcomes := make(chan item), make(chan outcome, preparedTogether)
	writes := &sync.Mutex{} // the producer and the collector both change the run
	var workers sync.WaitGroup
	sessions := make([]Ledger, w.provider.Together)
	for n := range sessions { // before any of them is used
		sessions[n] = w.open()
	}
	for _, session := range sessions {
		workers.Go(func() {
			for i := range items {
				o := perform(ctx, session, i)
				if o.general() { // before this worker gets another item
					cancel(o.err)
				}
				outcomes <- o
			}
		})
	}
	var producer sync.WaitGroup
	producer.Go(func() {
		defer close(items)
		if err := w.produce(stop, writes, first, items); err != nil {
			cancel(err)
		}
	})
	go func() {
		producer.Wait()
		workers.Wait()
		close(outcomes)
	}()
	if err := w.collect(ctx, writes, outcomes, cancel); err != nil {
		cancel(err)
		for range outcomes { // until all have ended
		}
		return err
	}
	if cause := context.Cause(stop); cause != nil && !errors.Is(cause, errCancelled) {
		return cause
	}
	return nil
}

var errCancelled = errors.New("glsync: the run was cancelled")

// interrupted returns the attempts that an earlier worker has begun and not ended.
func (w *work) interrupted(ctx context.Context) (out []item, err error) {
	err = w.db.Read(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if err := w.load(ctx, tx); err != nil {
			return err
		}
		attempts, err := selectAttempts(ctx, tx, w.run.ID, AttemptFilter{Status: AttemptPending}, 0, 1<<20)
		if err != nil {
			return err
		}
		entries, rows, err := w.recordsOf(ctx, tx, attempts)
		for _, a := range attempts {
			if at := slices.IndexFunc(rows[a.EntryID], func(r journalRow) bool { return r.Part == a.part }); at >= 0 {
				out = append(out, item{attempt: a, row: rows[a.EntryID][at], entry: entries[a.EntryID], again: true})
			}
		}
		return err
	})
	return out, err
}

// recordsOf reads the entries of attempts, and what was sent of them.
func (w *work) recordsOf(ctx context.Context, tx *db.Tx, attempts []Attempt) (map[string]journal.Entry, map[string][]journalRow, error) {
	ids := make([]string, len(attempts))
	for n, a := range attempts {
		ids[n] = a.EntryID
	}
	entries, err := journal.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return nil, nil, err
	}
	rows, err := w.rowsOf(ctx, tx, ids)
	return entries, rows, err
}

// produce begins attempts and hands them to the workers, until none is left or the context ends.
func (w *work) produce(ctx context.Context, writes *sync.Mutex, first []item, items chan<- item) error {
	position := int64(0)
	for {
		for _, i := range first {
			if ctx.Err() != nil {
				return nil
			}
			select {
			case items <- i:
			case <-ctx.Done():
				return nil
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		writes.Lock()
		next, last, err := w.begin(ctx, position)
		cancelled := w.run.CancelRequested
		writes.Unlock()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case cancelled || last == 0:
			return nil
		}
		first, position = next, last
	}
}

// begin stores what the next attempts are about to do, and returns them with the position of the last one, which is 0 if none is left.
func (w *work) begin(ctx context.Context, after int64) (out []item, last int64, err error) {
	err = w.write(ctx, func(ctx context.Context, tx *db.Tx) error {
		out, last = nil, 0
		if w.run.CancelRequested {
			return nil
		}
		attempts, err := selectAttempts(ctx, tx, w.run.ID, AttemptFilter{Status: Planned}, after, preparedTogether)
		if err != nil || len(attempts) == 0 {
			return err
		}
		last = attempts[len(attempts)-1].Position
		entries, rows, err := w.recordsOf(ctx, tx, attempts)
		if err != nil {
			return err
		}
		if err := w.load(ctx, tx); err != nil {
			return err
		}
		var changed []journalRow
		for n := range attempts {
			a := &attempts[n]
			i, is := w.intend(tx, a, entries[a.EntryID], rows[a.EntryID])
			if !is {
				continue
			}
			if a.Action != CheckOnly {
				now := tx.Now()
				a.AttemptedAt = &now
				changed = append(changed, i.row)
			}
			a.Status = AttemptPending
			i.attempt = *a
			out = append(out, i)
		}
		if err := upsertJournals(ctx, tx, changed); err != nil {
			return err
		}
		return upsertAttempts(ctx, tx, attempts)
	})
	return out, last, err
}

// intend returns an attempt with what is to be stored before it is made. It reports whether it is still to be made.
func (w *work) intend(tx *db.Tx, a *Attempt, e journal.Entry, rows []journalRow) (i item, is bool) {
	i.entry = e
	if a.Action == CheckOnly {
		at := slices.IndexFunc(rows, func(r journalRow) bool { return r.Part == a.part && r.State == present })
		if at >= 0 {
			i.row = rows[at]
			w.concernSent(a, e, i.row)
			return i, true
		}
	} else {
		decisions := w.maker.decide(e, rows)
		at := slices.IndexFunc(decisions, func(d decision) bool { return d.part == a.part && d.Action != "" })
		if at >= 0 && len(decisions[at].problems) == 0 {
			a.Action = decisions[at].Action
			i.row, i.prior = w.intention(a, e, decisions[at])
			w.concernSent(a, e, i.row)
			return i, true
		}
	}
	w.run.Done++
	w.run.Counts[string(Skipped)]++
	a.Status, a.Error = Skipped, "the entry has changed since the run was planned"
	return i, false
}

// intention returns what is stored before a request: the journal that is about to be sent, under a key that no other has. It reports
// whether an earlier run was about to send it.
func (w *work) intention(a *Attempt, e journal.Entry, d decision) (r journalRow, prior bool) {
	r = journalRow{Book: w.run.book, EntryID: e.ID, Part: d.part, Number: e.Number}
	if d.row != nil {
		r = *d.row
	}
	r.ConnectionID = w.run.ConnectionID
	if r.Next != nil && (a.Action == Remove || !decode[Journal](*r.Next).same(d.journal)) {
		r.Strays, r.Next = new(encode(append(r.strays(), decode[Journal](*r.Next)))), nil
	}
	prior = r.Next != nil
	if a.Action != Remove && !prior {
		r.Revision++
		d.journal.Key = keyOf(e.ID, d.part, r.Revision)
		r.Next = new(encode(d.journal))
	}
	if r.ExternalID == nil && a.Action != Remove {
		r.Date = d.journal.Date
	}
	r.State = uncertain
	return r, prior
}

// perform makes an attempt.
func perform(ctx context.Context, l Ledger, i item) (o outcome) {
	o.item = i
	if i.attempt.Action == CheckOnly {
		o.posted, o.err = l.Get(ctx, *i.row.ExternalID)
		return o
	}
	for _, stray := range i.row.strays() {
		p, err := l.Find(ctx, stray)
		if err == nil {
			err = l.Remove(ctx, p)
		}
		if err != nil && fault.KindOf(err) != fault.NotFound {
			o.err = err
			return o
		}
	}
	o.unstrayed = true
	if i.row.ExternalID != nil {
		if o.err = l.Remove(ctx, i.row.posted()); o.err != nil {
			return o
		}
		o.removed = true
	}
	if i.attempt.Action != Remove {
		o.push(ctx, l, decode[Journal](*i.row.Next))
	}
	return o
}

// push sends a journal. If it is refused, it may be there all the same, because its answer was lost and looking for it was refused. Only
// the general ledger can tell.
func (o *outcome) push(ctx context.Context, l Ledger, j Journal) {
	if o.posted, o.err = l.Push(ctx, j); o.err == nil || o.general() {
		return
	}
	switch found, err := l.Find(ctx, j); {
	case err == nil:
		o.posted, o.err = found, nil
	case fault.KindOf(err) != fault.NotFound:
		o.unsure = true
	}
}

// collect stores outcomes in batches until there are no more. When the run is cancelled it has no more begun.
func (w *work) collect(ctx context.Context, writes *sync.Mutex, outcomes <-chan outcome, stop context.CancelCauseFunc) error {
	tick := time.NewTicker(storedAfter)
	defer tick.Stop()
	var batch []outcome
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		writes.Lock()
		defer writes.Unlock()
		err := w.store(ctx, batch)
		if err == nil && w.run.CancelRequested {
			stop(errCancelled)
		}
		batch = nil
		return err
	}
	for {
		select {
		case o, more := <-outcomes:
			if !more {
				return flush()
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if batch = append(batch, o); len(batch) < storedTogether {
				continue
			}
		case <-tick.C:
		}
		if err := flush(); err != nil {
			return err
		}
	}
}

// general reports whether an outcome is no fault of the entry, so that others would fail as well.
func (o outcome) general() bool {
	switch fault.KindOf(o.err) {
	case fault.Unavailable, fault.RateLimited, fault.Unauthorized, fault.Forbidden, fault.Internal:
		return o.err != nil
	}
	return false
}
