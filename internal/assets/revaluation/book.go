package revaluation

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
)

// book posts the entries of a run, and reverses those of earlier runs that it replaces.
func (s *Service) book(ctx context.Context, tx *db.Tx, r *Run) error {
	var fresh []journal.CreateParams
	var indexes []int // of their items
	for n, i := range r.Items {
		if i.ReplacedID != "" {
			if err := s.replace(ctx, tx, *r, &r.Items[n]); err != nil {
				return err
			}
		} else if i.Outcome == EntryPosted {
			fresh, indexes = append(fresh, i.entry(*r)), append(indexes, n)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	posted, err := s.journal.CreateInTx(ctx, tx, fresh, func(int) string { return "" })
	for n, e := range posted {
		r.Items[indexes[n]].EntryID = e.ID
	}
	return err
}

// replace reverses the entry that an earlier run posted for an item, and posts a replacement if there is something to book.
func (s *Service) replace(ctx context.Context, tx *db.Tx, r Run, i *Item) error {
	was, err := journal.FindUnchecked(ctx, tx, i.ReplacedID)
	if err != nil {
		return err
	}
	reversal, err := s.journal.ReverseInTx(ctx, tx, was)
	if err != nil || len(i.Lines) == 0 {
		return err
	}
	again, err := s.journal.PostReplacement(ctx, tx, reversal, i.entry(r))
	i.EntryID = again.ID
	return err
}

// dateOf returns the accounting date of entries of a kind: the last instant of the period, or of an adoption its first one.
func (r Run) dateOf(k Kind) time.Time {
	if k == Adoption {
		return r.begins
	}
	return r.AsOf
}

// entry returns the parameters of the entry of an item. Lines on accounts whose balance is measured have a quantity of zero, because
// only its value in the base currency changes.
func (i Item) entry(r Run) journal.CreateParams {
	what := map[Kind]string{Adoption: "Adoption of fair value for %s", FairValue: "Fair value of %s", Revaluation: "Revaluation of %s",
		Impairment: "Impairment of %s",
		Exchange:   "%s at the closing rate", UnitBalance: "Balances in %s at the closing price"}[i.Kind]
	out := journal.CreateParams{
		LegalEntityID: i.LegalEntityID, AccountingDate: clock.Format(r.dateOf(i.Kind)), Memo: fmt.Sprintf(what, i.Unit) + ", " +
			r.PeriodKey, Status: journal.Posted,
		OriginatedBy: journal.ByRevaluation, Lines: make([]journal.LineParams, len(i.Lines)),
	}
	for n, l := range i.Lines {
		out.Lines[n] = journal.LineParams{LedgerAccountID: l.AccountID, Side: l.Side, Amount: l.Amount.String()}
		if l.Role == "" {
			out.Lines[n].Unit, out.Lines[n].Quantity = i.Unit, &money.Decimal{}
		}
	}
	return out
}
