package booking

import (
	"cmp"
	"context"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// ForeignAccounts returns those of some ledger accounts that belong to sources of legal entities outside the actor's key, and to none of
// its own.
func (s *Service) ForeignAccounts(ctx context.Context, tx *db.Tx, accountIDs []string) (map[string]bool, error) {
	return source.ForeignAccounts(ctx, tx, accountIDs)
}

// BeforePost returns the lines of a draft, computed with the lots, prices and chart of now, and a function to call after it is
// posted.
func (s *Service) BeforePost(ctx context.Context, tx *db.Tx, draft journal.Entry) ([]journal.LineParams, func(context.Context, *db.Tx,
	journal.Entry) error, error) {
	if draft.TransactionID == "" {
		return nil, nil, nil
	}
	post := func(t *transaction.Transaction) { t.Status, t.JournalEntryID = transaction.Posted, draft.ID }
	stored, err := selectBooking(ctx, tx, draft.ID)
	if err != nil {
		return nil, nil, err
	}
	if stored == nil { // a user wrote its lines
		return nil, func(ctx context.Context, tx *db.Tx, posted journal.Entry) error {
			return s.editTransactions(ctx, tx, posted, post)
		}, nil
	}
	if stored.Type == string(transaction.Unknown) {
		return nil, nil, fault.Conflictf("a transaction of type UNKNOWN cannot be posted: delete the draft and book %s as another type",
			draft.TransactionID)
	}
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	e, err := rebuild(ctx, tx, b, stored)
	if err != nil {
		return nil, nil, err
	}
	r := replay.New(tx, b, loader(b), replay.Options{})
	e.effect.EntryID = draft.ID
	r.Add(draft.ID, e.effect)
	outcome, err := r.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	settled, err := newSettler(tx, b).settle(ctx, &e.effect, outcome.Added[draft.ID].Entry)
	if err != nil {
		return nil, nil, explain(err, "")
	}
	return linesOf(settled), func(ctx context.Context, tx *db.Tx, posted journal.Entry) error {
		refs, _, err := s.rebook(ctx, tx, outcome.Changes)
		if err != nil {
			return err
		}
		refs[draft.ID] = refOf(posted)
		if err := updateInput(ctx, tx, draft.ID, e); err != nil {
			return err
		}
		if err := s.write(ctx, tx, b, outcome, refs); err != nil {
			return err
		}
		return s.editTransactions(ctx, tx, posted, post)
	}, nil
}

// unknownRefusal is why a draft of a transaction of unknown type cannot be posted.
const unknownRefusal = "a transaction of type UNKNOWN cannot be posted: delete the draft and book the transaction as another type"

// PostRefusals returns why drafts cannot be posted, as far as their lots do not have to be computed: the type is UNKNOWN.
func (s *Service) PostRefusals(ctx context.Context, tx *db.Tx, draftIDs []string) (map[string]string, error) {
	rows, err := selectBookings(ctx, tx, draftIDs)
	out := map[string]string{}
	for _, r := range rows {
		if r.Type == string(transaction.Unknown) {
			out[r.EntryID] = unknownRefusal
		}
	}
	return out, err
}

// BeforeLinesChange returns an error if a user edits lines that are computed from lots.
func (s *Service) BeforeLinesChange(ctx context.Context, tx *db.Tx, e journal.Entry) error {
	if err := refuseOpening(ctx, tx, e); err != nil {
		return err
	}
	stored, err := selectBooking(ctx, tx, e.ID)
	if err != nil || stored == nil {
		return err
	}
	moves, err := stored.hasLots()
	if err != nil {
		return err
	}
	if moves {
		return fault.ConflictAt([]fault.Field{{Name: "lines", Message: "follow from lots"}},
			"the lines of %s follow from the lots it moves: change its date, memo or tags, or delete or reverse it and book the "+
				"transaction again", e.SequenceNumber())
	}
	return nil
}

// DetachDraft deletes the booking of a draft, which keeps the edited lines from then on.
func (s *Service) DetachDraft(ctx context.Context, tx *db.Tx, draft journal.Entry) error {
	return deleteBooking(ctx, tx, draft.ID)
}

// hasLots reports whether a booking consumes or creates lots.
func (r *bookingRow) hasLots() (bool, error) {
	effect, err := r.effect()
	in, out := effect.Input.In, effect.Input.Out
	return len(effect.Input.Fees) > 0 || in != nil && in.Asset.Lots || out != nil && out.Asset.Lots, err
}

// BeforeDelete releases the transactions of a draft that is deleted.
func (s *Service) BeforeDelete(ctx context.Context, tx *db.Tx, draft journal.Entry) error {
	if draft.TransactionID == "" {
		return nil
	}
	if err := s.editTransactions(ctx, tx, draft, func(t *transaction.Transaction) { t.JournalEntryID = "" }); err != nil {
		return err
	}
	return deleteBooking(ctx, tx, draft.ID)
}

// explainTrueUp says what a true-up, which is computed from lots, belongs to.
func explainTrueUp(_ context.Context, _ *db.Tx, e journal.Entry) (string, error) {
	return "is a true-up of the entry of the transaction " + transaction.SequenceNumber(e.TransactionNo) +
		": reverse or correct that entry instead", nil
}

// refuseOpening returns an error for the entry of an opening balance, which changes only with its lot.
func refuseOpening(ctx context.Context, tx *db.Tx, e journal.Entry) error {
	if e.TransactionID != "" {
		return nil
	}
	created, err := lots.OfEntries(ctx, tx, e.ID)
	if err != nil || len(created) == 0 {
		return err
	}
	return fault.Conflictf("the entry %[1]s belongs to the opening balance %[2]s: change or delete that asset instead "+
		"(PATCH or DELETE /v1/assets/%[2]s)", e.SequenceNumber(), created[0].ID)
}

// AfterUndo restores what an entry consumed, deletes the lots it created, and recomputes everything after it.
func (s *Service) AfterUndo(ctx context.Context, tx *db.Tx, was, by journal.Entry, cascade bool) error {
	if err := refuseOpening(ctx, tx, was); err != nil {
		return err
	}
	unposted := by.ID == was.ID
	if unposted && was.TransactionID != "" {
		if ups, err := journal.TrueUps(ctx, tx, was.TransactionID); err != nil || len(ups) > 0 {
			return cmp.Or(err, fault.Conflictf("the entry %s has true-ups and cannot be unposted: reverse it instead", was.SequenceNumber()))
		}
	}
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return err
	}
	if err := requireUnsettled(ctx, tx, b, was, by); err != nil {
		return err
	}
	created, err := lots.OfEntries(ctx, tx, was.ID)
	if err != nil {
		return err
	}
	for _, l := range created {
		if !cascade && !l.RemainingQuantity.Equal(l.Quantity) {
			return fault.Conflictf("%s of the %s %s that the entry %s brought in is used by later entries: reverse those first, or "+
				"send {\"cascade\":\"replay\"} with the reversal of this one",
				l.Quantity.Sub(l.RemainingQuantity), l.Quantity, l.AssetType, was.SequenceNumber())
		}
	}
	r := replay.New(tx, b, loader(b), replay.Options{})
	r.Remove(was.ID)
	outcome, err := r.Run(ctx)
	if err != nil {
		return err
	}
	if n := len(outcome.Changes); unposted && n > 0 {
		return fault.Conflictf("%d later entries would consume other lots without the entry %s: reverse it instead of unposting it", n,
			was.SequenceNumber())
	}
	refs, _, err := s.rebook(ctx, tx, outcome.Changes)
	if err != nil {
		return err
	}
	refs[was.ID] = refOf(was).UndoneBy(refOf(by))
	if unposted {
		refs[was.ID] = refOf(was)
	}
	if err := s.write(ctx, tx, b, outcome, refs); err != nil {
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
	return s.editTransactions(ctx, tx, was, func(t *transaction.Transaction) {
		t.Status = transaction.Pending
		if !unposted {
			t.JournalEntryID = ""
		}
	})
}

// undoTrueUps reverses the true-ups of an entry on the date of its reversal, where its lots are given back.
func (s *Service) undoTrueUps(ctx context.Context, tx *db.Tx, was, reversal journal.Entry) error {
	all, err := journal.TrueUps(ctx, tx, was.TransactionID)
	if err != nil {
		return err
	}
	ctx = actor.With(ctx, unlimited(actor.From(ctx)))
	for _, t := range all {
		if _, err := s.journal.ReverseInTxOn(ctx, tx, t, reversal.AccountingDate); err != nil {
			return err
		}
	}
	return nil
}

// AfterCorrect moves the lots and transactions of an entry to the entry that corrected it.
func (s *Service) AfterCorrect(ctx context.Context, tx *db.Tx, was, reversal, by journal.Entry, lines bool) error {
	if err := refuseOpening(ctx, tx, was); err != nil {
		return err
	}
	if by.PeriodID != was.PeriodID && was.TransactionID != "" {
		if ups, err := journal.TrueUps(ctx, tx, was.TransactionID); err != nil || len(ups) > 0 {
			return cmp.Or(err, fault.Conflictf("the entry %s has true-ups and cannot move to another period: reverse it and book the transaction "+
				"again", was.SequenceNumber()))
		}
	}
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return err
	}
	if err := requireUnsettled(ctx, tx, b, was, reversal); err != nil {
		return err
	}
	if err := lots.ReplaceEntry(ctx, tx, refOf(was), refOf(reversal), refOf(by)); err != nil || was.TransactionID == "" {
		return err
	}
	if err := s.editTransactions(ctx, tx, was, func(t *transaction.Transaction) { t.JournalEntryID = by.ID }); err != nil || lines {
		return err
	}
	return copyBooking(ctx, tx, was.ID, by.ID)
}
