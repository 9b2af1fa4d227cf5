package booking

import (
	"cmp"
	"context"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Draw makes the lines of a draft anew, as lots, prices and the chart are now.
func (s *Service) Draw(ctx context.Context, tx *db.Tx, draft journal.Entry) ([]journal.LineParams, func(context.Context, *db.Tx,
	journal.Entry) error, error) {
	if draft.TransactionID == "" {
		return nil, nil, nil
	}
	post := func(t *transaction.Transaction) { t.Status, t.JournalEntryID = transaction.Posted, draft.ID }
	stored, err := selectBooking(ctx, tx, draft.ID)
	if err != nil {
		return nil, nil, err
	}
	if stored == nil { // its lines were written by hand
		return nil, func(ctx context.Context, tx *db.Tx, posted journal.Entry) error {
			return s.point(ctx, tx, posted, post)
		}, nil
	}
	if stored.Type == string(transaction.Unknown) {
		return nil, nil, fault.Conflictf("what is not known is not posted: delete the draft and say what %s is", draft.TransactionID)
	}
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	e, err := remake(ctx, tx, b, stored)
	if err != nil {
		return nil, nil, err
	}
	replay := asset.NewReplay(tx, b, loader(b), false)
	e.work.EntryID = draft.ID
	replay.Add(draft.ID, e.work)
	if err := replay.Run(ctx); err != nil {
		return nil, nil, err
	}
	return linesOf(replay.Entry(draft.ID)), func(ctx context.Context, tx *db.Tx, posted journal.Entry) error {
		refs, _, err := s.rebook(ctx, tx, replay.Changes())
		if err != nil {
			return err
		}
		refs[draft.ID] = refOf(posted)
		if err := updateInput(ctx, tx, draft.ID, e); err != nil {
			return err
		}
		if err := s.write(ctx, tx, b, replay, refs); err != nil {
			return err
		}
		return s.point(ctx, tx, posted, post)
	}, nil
}

// Edited refuses lines by hand where they follow from lots; of any other draft the lines are those that were written from then on.
func (s *Service) Edited(ctx context.Context, tx *db.Tx, e journal.Entry) error {
	if err := firm(e); err != nil {
		return err
	}
	stored, err := selectBooking(ctx, tx, e.ID)
	if err != nil || stored == nil {
		return err
	}
	moves, err := stored.moves()
	if err != nil {
		return err
	}
	if moves {
		return fault.ConflictAt([]fault.Field{{Name: "lines", Message: "follow from lots"}},
			"the lines of %s follow from the lots it moves: change its date, memo or tags, or delete or reverse it and book the "+
				"transaction anew", e.SequenceNumber())
	}
	if e.Status == journal.Draft {
		return deleteBooking(ctx, tx, e.ID)
	}
	return nil
}

// moves tells that a booking takes or makes lots.
func (r *bookingRow) moves() (bool, error) {
	w, err := r.work()
	in, out := w.Input.In, w.Input.Out
	return len(w.Input.Fees) > 0 || in != nil && in.Asset.Lots || out != nil && out.Asset.Lots, err
}

// Discarded frees the transaction of a draft.
func (s *Service) Discarded(ctx context.Context, tx *db.Tx, draft journal.Entry) error {
	if draft.TransactionID == "" {
		return nil
	}
	if err := s.point(ctx, tx, draft, func(t *transaction.Transaction) { t.JournalEntryID = "" }); err != nil {
		return err
	}
	return deleteBooking(ctx, tx, draft.ID)
}

// firm refuses to change what brings another entry to what it cost after all: it follows from lots alone.
func firm(e journal.Entry) error {
	if e.OriginatedBy != journal.ByTrueUp {
		return nil
	}
	return fault.Conflictf(
		"the entry %s trues up that of the transaction %s and stands and falls with it: reverse or correct that one instead",
		e.SequenceNumber(), transaction.SequenceNumber(e.TransactionNo))
}

// Undone gives back what an entry took, takes away what it made, and lets everything after it happen again.
func (s *Service) Undone(ctx context.Context, tx *db.Tx, was, by journal.Entry, cascade bool) error {
	if err := firm(was); err != nil {
		return err
	}
	unposted := by.ID == was.ID
	if unposted && was.TransactionID != "" {
		if ups, err := journal.TrueUps(ctx, tx, was.TransactionID); err != nil || len(ups) > 0 {
			return cmp.Or(err, fault.Conflictf("the entry %s is trued up: reverse it instead", was.SequenceNumber()))
		}
	}
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return err
	}
	made, err := asset.OfEntry(ctx, tx, was.ID)
	if err != nil {
		return err
	}
	for _, l := range made {
		switch {
		case l.Origin == asset.Manual:
			return fault.Conflictf("the entry %s is that of the opening asset %s: change or delete the asset instead", was.SequenceNumber(), l.ID)
		case !cascade && !l.RemainingQuantity.Equal(l.Quantity):
			return fault.Conflictf("%s of the %s %s that the entry %s brought in is used by later entries: reverse those first, or "+
				"reverse this one with cascade=replay",
				l.Quantity.Sub(l.RemainingQuantity), l.Quantity, l.AssetType, was.SequenceNumber())
		}
	}
	replay := asset.NewReplay(tx, b, loader(b), false)
	if err := replay.Remove(ctx, was.ID); err != nil {
		return err
	}
	if err := replay.Run(ctx); err != nil {
		return err
	}
	changes := replay.Changes()
	if unposted && len(changes) > 0 {
		return fault.Conflictf("%d later entries take other lots without the entry %s: reverse it instead", len(changes), was.SequenceNumber())
	}
	refs, _, err := s.rebook(ctx, tx, changes)
	if err != nil {
		return err
	}
	refs[was.ID] = asset.Ref{EntryID: by.ID, AccountingDate: by.AccountingDate, PeriodID: by.PeriodID, Correct: by.PeriodID != was.PeriodID}
	if unposted {
		refs[was.ID] = refOf(was)
	}
	if err := s.write(ctx, tx, b, replay, refs); err != nil {
		return err
	}
	if was.TransactionID == "" {
		return nil
	}
	if !unposted {
		if err := s.undoTrueUps(ctx, tx, was, by); err != nil {
			return err
		}
	}
	return s.point(ctx, tx, was, func(t *transaction.Transaction) {
		t.Status = transaction.Pending
		if !unposted {
			t.JournalEntryID = ""
		}
	})
}

// undoTrueUps reverses what brought an entry to what it cost after all, on the date of its reversal: there its lots are given back.
func (s *Service) undoTrueUps(ctx context.Context, tx *db.Tx, was, reversal journal.Entry) error {
	all, err := journal.TrueUps(ctx, tx, was.TransactionID)
	if err != nil {
		return err
	}
	ctx = actor.With(ctx, unlimited(actor.From(ctx)))
	for _, t := range all {
		if _, err := s.journal.UndoOn(ctx, tx, t, reversal.AccountingDate); err != nil {
			return err
		}
	}
	return nil
}

// Replaced lets lots and transactions know the entry that corrected theirs.
func (s *Service) Replaced(ctx context.Context, tx *db.Tx, was, reversal, by journal.Entry, lines bool) error {
	if err := firm(was); err != nil {
		return err
	}
	if by.PeriodID != was.PeriodID && was.TransactionID != "" {
		if ups, err := journal.TrueUps(ctx, tx, was.TransactionID); err != nil || len(ups) > 0 {
			return cmp.Or(err, fault.Conflictf("the entry %s is trued up and stays in its period: reverse it and book the transaction anew",
				was.SequenceNumber()))
		}
	}
	if err := asset.Renamed(ctx, tx, refOf(was), refOf(reversal), refOf(by)); err != nil || was.TransactionID == "" {
		return err
	}
	if err := s.point(ctx, tx, was, func(t *transaction.Transaction) { t.JournalEntryID = by.ID }); err != nil || lines {
		return err
	}
	return copyBooking(ctx, tx, was.ID, by.ID)
}
