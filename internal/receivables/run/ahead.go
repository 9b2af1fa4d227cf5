package run

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// ahead is what is decided while what was decided before is saved.
type ahead struct {
	done chan struct{}
	batch
	err error
}

// wait waits until the batch is decided. It may be nil.
func (a *ahead) wait() {
	if a != nil {
		<-a.done
	}
}

// decideAhead begins to decide the deposits after those of a batch, as if that was applied. It does so only if batches are full: smaller
// ones mean that others write, which need the processors and may outdate the decisions.
func (w *work) decideAhead(ctx context.Context, before batch, size int) {
	if before.last || size < w.s.Batch {
		return
	}
	from := w.now()
	end := before.decisions[len(before.decisions)-1].Deposit
	from.run.At = &transaction.Position{At: end.At, Number: end.Number}
	if from.paid = before.paid; !from.run.Dry { // what was paid before that is stored already
		from.paid = paidBy(before.decisions)
	}
	next, limit := &ahead{done: make(chan struct{})}, w.limit
	w.next = next
	go func() {
		defer close(next.done)
		defer func() { // a panic must not end the service: nobody else would recover in this goroutine
			if p := recover(); p != nil {
				next.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		next.batch, next.err = w.decideFrom(ctx, from, limit)
	}()
}

// paidBy returns the invoices that are paid when decisions are applied.
func paidBy(all []application.Decision) map[string]bool {
	out := make(map[string]bool, len(all))
	for _, d := range certainOf(all) {
		for _, l := range d.Suggestions[0].Allocations {
			out[l.InvoiceID] = true
		}
	}
	return out
}

// changes tells changes by others, which outdate decisions, from those of the run itself.
type changes struct {
	known  application.Moment // up to here, changes by others are known
	others application.Moment // they all were before this
}

// ours notes that all changes since outdate was called, up to a record of the audit log, are those of the run.
func (c *changes) ours(sequence int64) { c.known = application.Moment(sequence) }

// outdate reports whether others have changed something since decisions were made that these depend on. The organization is locked, and
// its audit log ends with a record.
func (c *changes) outdate(ctx context.Context, tx *db.Tx, decided application.Moment, end int64) (bool, error) {
	found, err := max(c.known, decided).Outdated(ctx, tx)
	if found {
		c.others = application.Moment(end)
	}
	return decided < c.others, err
}
