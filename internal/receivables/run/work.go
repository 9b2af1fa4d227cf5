package run

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	// readMax is how many results are read at a time.
	readMax = 1000
	// outdatedMax is how often decisions may be outdated when they are to be applied, before deposits are decided while others wait.
	outdatedMax = 3
	// lockedMax is how many deposits are then decided at a time, and the smallest batch after decisions were outdated.
	lockedMax = 10
	// decidedMax is how many batches are decided at a time at most: their deposits are compared with many of the same invoices, which are
	// read once. decidedAge is how long they may wait to be saved: what is not applied is not compared with its deposit again.
	decidedMax = 3
	decidedAge = 5 * time.Second
)

// errOutdated says that what deposits were matched with has changed, and errRefused that some cannot be applied: both decide them again.
var (
	errOutdated = errors.New("run: the decisions are outdated")
	errRefused  = errors.New("run: some deposits cannot be applied")
)

// work is a run in progress.
type work struct {
	*batchrun.Work[Run, runRow]
	s       *Service
	payers  *application.Payers
	refused map[string]string // by deposit: why it cannot be applied
	paid    map[string]bool   // invoices that a dry run would have paid
	limit   int               // how many deposits are decided at a time: fewer after decisions were outdated, because others write often
	decided batch             // what is decided and not saved yet
	next    *ahead            // what is decided while the last of that is saved; nil if nothing
	changes changes           // what others change meanwhile
}

func (s *Service) newWorker(w *batchrun.Work[Run, runRow]) batchrun.Worker {
	return &work{Work: w, s: s, payers: &application.Payers{}, refused: map[string]string{}, paid: map[string]bool{},
		limit: decidedMax * s.Batch}
}

// Begin reads, for a dry run, the invoices that it would have paid so far.
func (w *work) Begin(ctx context.Context, tx *db.Tx) error {
	if !w.Run.Dry {
		return nil
	}
	for above := int64(0); ; {
		found, err := selectResults(ctx, tx, ResultFilter{RunID: w.Run.ID, Outcome: Certain}, above, readMax)
		if err != nil {
			return err
		}
		for _, r := range found {
			above = r.Position
			for _, l := range r.Suggestions[0].Allocations {
				w.paid[l.InvoiceID] = true
			}
		}
		if len(found) < readMax {
			return nil
		}
	}
}

// Process applies the next deposits, or undoes what was applied.
func (w *work) Process(ctx context.Context, size int) (last bool, err error) {
	if w.Run.UndoesID != "" {
		return w.undoBatch(ctx, size)
	}
	last, err = w.applyBatch(ctx, min(size, w.limit))
	if err != nil || last {
		w.forget()
	}
	w.limit = min(2*w.limit, decidedMax*w.s.Batch)
	return last, err
}

// batch is what is decided about some deposits.
type batch struct {
	decisions []application.Decision
	at        application.Moment
	when      time.Time
	paid      map[string]bool // invoices that they pay, and those that were paid before and may not be stored as such
	last      bool            // there are no deposits after them
}

// applyBatch decides the next deposits and applies those that are certain. It reports whether they were the last ones.
//
// Deposits are decided before the database transaction that applies them, because others that write wait for that one. If something that
// they are matched with has changed in between, they are decided again, and in the end together with their application.
func (w *work) applyBatch(ctx context.Context, size int) (last bool, err error) {
	for outdated := 0; ; {
		var b batch
		if outdated < outdatedMax {
			b, err = w.take(ctx, size)
			if err == nil {
				err = w.save(ctx, func(context.Context, *db.Tx) (batch, error) { return b, nil })
			}
		} else {
			err = w.save(ctx, func(ctx context.Context, tx *db.Tx) (batch, error) {
				b, err = w.decideIn(ctx, tx, w.now(), min(size, lockedMax))
				return b, err
			})
		}
		if err == nil {
			return b.last, nil
		}
		decided := max(len(b.decisions), len(w.decided.decisions))
		w.forget() // the other decisions assumed that these are applied
		switch certain := certainOf(b.decisions); {
		case errors.Is(err, errOutdated):
			outdated++
			w.limit = max(lockedMax, decided/4)
			size = min(size, w.limit)
		case errors.Is(err, errRefused):
		case !fault.Refused(err) || len(certain) == 0:
			return b.last, err
		case len(certain) == 1:
			w.refused[certain[0].DepositID] = err.Error()
		default: // it is not known which of them cannot be applied
			size = max(1, len(b.decisions)/2)
		}
	}
}

// point is where a run is, from which its next deposits are decided.
type point struct {
	run     Run
	refused map[string]string
	paid    map[string]bool
}

// now is the point at which the run is.
func (w *work) now() point { return point{w.Run, maps.Clone(w.refused), w.paid} }

// take returns decisions about the next deposits, about as many as size says. If there are none left, it decides more, while others may
// write. While the last of them are saved, the ones after them are decided.
func (w *work) take(ctx context.Context, size int) (b batch, err error) {
	if len(w.decided.decisions) == 0 && w.next != nil {
		w.next.wait()
		w.decided, err = w.next.batch, w.next.err
		w.next = nil
	}
	if err == nil && (len(w.decided.decisions) == 0 || w.DB.Clock().Now().Sub(w.decided.when) > decidedAge) {
		w.decided, err = w.decideFrom(ctx, w.now(), max(size, w.limit))
	}
	if err != nil {
		return b, err
	}
	b = w.decided
	if len(b.decisions) <= size {
		w.decideAhead(ctx, b, size)
		return b, nil
	}
	b.decisions, b.last = b.decisions[:size], false
	return b, nil
}

// forget forgets what is decided and not saved.
func (w *work) forget() {
	w.next.wait()
	w.decided, w.next = batch{}, nil
}

func (w *work) decideFrom(ctx context.Context, from point, size int) (b batch, err error) {
	err = w.DB.ReadInTurn(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err = w.decideIn(ctx, tx, from, size)
		return err
	})
	return b, err
}

func (w *work) decideIn(ctx context.Context, tx *db.Tx, from point, size int) (b batch, err error) {
	b.when = tx.Now()
	deposits, err := transaction.ListUnpostedAfter(ctx, tx, from.run.Filter, from.run.At, from.run.UpTo, size)
	if err != nil {
		return b, err
	}
	b.paid = maps.Clone(from.paid)
	b.decisions, b.at, err = w.s.decide(ctx, tx, application.DecideParams{Payers: w.payers, MinConfidence: from.run.MinConfidence,
		Paid: b.paid, Refused: from.refused}, deposits)
	b.last = len(deposits) < size && len(b.decisions) == len(deposits)
	return b, err
}

// certainOf returns the decisions that are to be applied.
func certainOf(all []application.Decision) (out []*application.Decision) {
	for n := range all {
		if all[n].Certain {
			out = append(out, &all[n])
		}
	}
	return out
}

// save applies what is certain in a batch, and stores its results and the progress of the run, in one database transaction.
func (w *work) save(ctx context.Context, decided func(context.Context, *db.Tx) (batch, error)) error {
	var b batch
	var state *orgstate.State
	err := w.Save(ctx, func(ctx context.Context, tx *db.Tx, after *Run) (err error) {
		if state, err = orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if b, err = decided(ctx, tx); err != nil {
			return err
		}
		defer w.Pace.Measure(len(b.decisions))()
		results := make([]Result, len(b.decisions))
		for n, d := range b.decisions {
			results[n] = resultOf(d)
		}
		if !after.Dry {
			outdated, err := w.changes.outdate(ctx, tx, b.at, state.AuditSequence)
			if err == nil {
				err = w.apply(ctx, tx, b, outdated, results)
			}
			if err != nil {
				return err
			}
		}
		return store(ctx, tx, after, results)
	})
	if err != nil {
		return err
	}
	w.changes.ours(state.AuditSequence)
	w.decided.decisions = w.decided.decisions[min(len(b.decisions), len(w.decided.decisions)):]
	if w.Run.Dry {
		maps.Copy(w.paid, paidBy(b.decisions))
	}
	return nil
}

// apply applies what is certain, and notes it in the results.
func (w *work) apply(ctx context.Context, tx *db.Tx, b batch, outdated bool, results []Result) error {
	certain := certainOf(b.decisions)
	if len(certain) == 0 {
		return nil
	}
	if outdated {
		return errOutdated
	}
	made, refused, err := w.s.apply(ctx, tx, certain)
	if errors.Is(err, application.ErrOutdated) {
		return errOutdated
	}
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		maps.Copy(w.refused, refused)
		return errRefused
	}
	at := 0
	for n := range results {
		if results[n].Outcome == Certain {
			results[n].Outcome, results[n].ApplicationID = Applied, made[at].ID
			at++
		}
	}
	return nil
}

// store stores results, which follow those that the run has.
func store(ctx context.Context, tx *db.Tx, after *Run, results []Result) error {
	for n := range results {
		after.Add(&results[n].Result)
	}
	return insertResults(ctx, tx, after.ID, results)
}
