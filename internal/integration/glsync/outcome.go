package glsync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
)

// store stores outcomes in one database transaction.
func (w *work) store(ctx context.Context, batch []outcome) error {
	ended := 0
	err := w.write(ctx, func(ctx context.Context, tx *db.Tx) error {
		ended = 0
		attempts, rows := make([]Attempt, 0, len(batch)), make([]journalRow, 0, len(batch))
		for _, o := range batch {
			news := o.settle(tx)
			if attempts = append(attempts, o.attempt); o.attempt.Action != CheckOnly || news {
				rows = append(rows, o.row)
			}
			if o.attempt.Status == AttemptPending {
				continue
			}
			ended++
			w.run.Done++
			w.run.Counts[string(o.attempt.Status)]++
			if o.attempt.Action != CheckOnly {
				announce(ctx, tx, o.entry, o.attempt, o.row.synced())
			}
		}
		w.run.Error = ""
		if err := upsertJournals(ctx, tx, rows); err != nil {
			return err
		}
		return upsertAttempts(ctx, tx, attempts)
	})
	if err == nil && ended > 0 {
		w.claim.Progressed(ended)
	}
	return err
}

// synced returns what is shown of a row with its entry.
func (r journalRow) synced() *journal.Synced {
	return &journal.Synced{Present: r.ExternalID != nil, FirstAt: r.FirstAt, LastAt: r.LastAt, RemovedAt: r.RemovedAt}
}

// settle computes what is stored of an outcome. It reports whether a comparison has found something new.
func (o *outcome) settle(tx *db.Tx) (news bool) {
	if o.attempt.Action == CheckOnly {
		return o.compare(tx)
	}
	now := tx.Now()
	if o.unstrayed {
		o.row.Strays = nil
	}
	if o.removed {
		o.row.gone(now)
	}
	switch {
	case o.err == nil:
		o.attempt.Status, o.attempt.Error = Succeeded, ""
		if o.attempt.Action != Remove {
			o.row.stood(o.posted, decode[Journal](*o.row.Next), now)
			o.attempt.ExternalID, o.row.Next = o.posted.ID, nil
		}
	case o.general():
		if o.attempt.tries++; o.attempt.tries < triesMax || fault.KindOf(o.err) == fault.Unauthorized {
			return false // what is stored says what may have happened
		}
		o.attempt.Status = AttemptFailed
		o.attempt.Error = cut("nobody knows whether the general ledger has it, which the next run finds out: "+o.err.Error(), errorMax)
		return false
	default:
		o.attempt.Status, o.attempt.Error = AttemptFailed, cut(o.err.Error(), errorMax)
		switch {
		case o.row.Next == nil:
		case !o.prior && !o.again && !o.unsure:
			o.row.Next = nil // it was never sent, or is not there
		default:
			o.row.Strays, o.row.Next = new(encode(append(o.row.strays(), decode[Journal](*o.row.Next)))), nil
		}
		if o.unsure {
			o.attempt.Error = cut("it may be in the general ledger all the same, which the next run finds out: "+o.err.Error(), errorMax)
		}
		if o.removed {
			o.attempt.Error = cut("what was there has been removed, but its replacement was refused: "+o.err.Error(), errorMax)
		}
	}
	o.row.settle()
	return false
}

// compare computes what is stored of a comparison, and reports whether what stands in the general ledger differs from before.
func (o *outcome) compare(tx *db.Tx) (news bool) {
	sent := decode[Journal](db.OrEmpty(o.row.Content))
	o.attempt.ExternalID = db.OrEmpty(o.row.ExternalID)
	switch {
	case fault.KindOf(o.err) == fault.NotFound && o.err != nil:
		o.attempt.Status, o.attempt.Error = Missing, "it was deleted or voided in the general ledger; the next run sends it again"
		o.row.gone(tx.Now())
		o.row.settle()
		return o.row.drifted(&drift{At: tx.Now(), Missing: true, LegalEntityIDs: o.attempt.entities})
	case o.general():
		if o.attempt.tries++; o.attempt.tries >= triesMax {
			o.attempt.Status, o.attempt.Error = AttemptFailed, cut(o.err.Error(), errorMax)
		}
	case o.err != nil:
		o.attempt.Status, o.attempt.Error = AttemptFailed, cut(o.err.Error(), errorMax)
	default:
		o.attempt.Status, o.attempt.Changes = Equal, sent.differences(o.posted.Journal)
		if len(o.attempt.Changes) == 0 {
			return o.row.drifted(nil)
		}
		o.attempt.Status = Changed
		return o.row.drifted(&drift{At: tx.Now(), Changes: o.attempt.Changes, LegalEntityIDs: o.attempt.entities})
	}
	return false
}

// differences returns what differs in the general ledger. What it does not tell is not compared, and neither are texts, which it may
// shorten.
func (j Journal) differences(there Journal) (out []Difference) {
	differ := func(field, sent, found string) {
		if found != "" && sent != found {
			out = append(out, Difference{field, cut(sent, errorMax), cut(found, errorMax)})
		}
	}
	differ("date", j.Date, there.Date)
	differ("currency", j.Currency, there.Currency)
	if len(there.Lines) > 0 {
		ours := j.dimensionsSent()
		differ("lines", j.amounts(ours), there.amounts(ours))
	}
	return out
}

// dimensionsSent returns the dimensions of which the journal has values, sorted. Others in the general ledger are its own.
func (j Journal) dimensionsSent() (out []string) {
	for _, l := range j.Lines {
		out = slices.AppendSeq(out, maps.Keys(l.Dimensions))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// amounts describes the lines of a journal with their values of some dimensions, whatever their order.
func (j Journal) amounts(dimensions []string) string {
	out := make([]string, len(j.Lines))
	for n, l := range j.Lines {
		side := "credit"
		if l.Debit {
			side = "debit"
		}
		out[n] = fmt.Sprintf("%s %s %s", l.Account, side, l.Amount.Fixed(j.Currency))
		for _, d := range dimensions {
			if value, has := l.Dimensions[d]; has {
				out[n] += " " + d + "=" + value
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
