package revaluation

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
)

// book makes the entries of a run: the reversals of those that no longer say what is so, and those that do.
func (s *Service) book(ctx context.Context, tx *db.Tx, plan *planner, r *Run) error {
	var entries []journal.CreateParams
	made := map[int]int{} // by item, the place of its entry
	for n, i := range r.Items {
		previous := ""
		if i.ReplacedID != "" {
			undo, err := reversal(ctx, tx, i.ReplacedID)
			if err != nil {
				return err
			}
			previous = undo.ID
			entries = append(entries, undo)
		}
		if i.Outcome == EntryPosted || i.Outcome == EntryReplaced {
			made[n] = len(entries)
			entries = append(entries, i.entry(*r, previous))
		}
	}
	if len(entries) == 0 {
		return nil
	}
	posted, err := s.journal.Enter(ctx, tx, entries, func(int) string { return "" })
	if err != nil {
		return err
	}
	for n, at := range made {
		r.Items[n].EntryID = posted[at].ID
	}
	return nil
}

// entry describes the entry of an item, behind the reversal of the one it replaces.
func (i Item) entry(r Run, previous string) journal.CreateParams {
	what := map[Kind]string{FairValue: "Fair value of %s", Revaluation: "Revaluation of %s", Impairment: "Impairment of %s", Exchange: "%s at the closing rate"}[i.Kind]
	out := journal.CreateParams{
		LegalEntityID: i.LegalEntityID, AccountingDate: clock.Format(r.AsOf), Memo: fmt.Sprintf(what, i.Unit) + ", " + r.PeriodKey, Status: journal.Posted,
		OriginatedBy: journal.ByRevaluation, PreviousID: previous, Lines: make([]journal.LineParams, len(i.Lines)),
	}
	for n, l := range i.Lines {
		out.Lines[n] = journal.LineParams{LedgerAccountID: l.AccountID, Side: l.Side, Amount: l.Amount.String()}
	}
	return out
}

// reversal describes the entry that undoes another of a run, at its own date.
func reversal(ctx context.Context, tx *db.Tx, entryID string) (journal.CreateParams, error) {
	e, err := journal.Find(ctx, tx, entryID)
	if err != nil {
		return journal.CreateParams{}, err
	}
	out := journal.CreateParams{
		ID: tx.NewID(id.JournalEntry), LegalEntityID: e.LegalEntityID, AccountingDate: clock.Format(e.AccountingDate), Memo: "Reversal of " + e.SequenceNumber() + ": " + e.Memo,
		Status: journal.Posted, OriginatedBy: journal.ByReversal, PreviousID: e.ID, Lines: make([]journal.LineParams, len(e.Lines)),
	}
	for n, l := range e.Lines {
		out.Lines[n] = journal.LineParams{LedgerAccountID: l.LedgerAccountID, Side: l.Side.Other(), Amount: l.Amount.String(), Currency: l.Currency, LegalEntityID: l.LegalEntityID, Base: l.Base}
	}
	return out, nil
}
