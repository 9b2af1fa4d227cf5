package booking

import (
	"context"
	"reflect"

	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// CorrectParams describe a correction of the entry of a transaction; empty fields stay as they are.
type CorrectParams struct {
	Type            string
	LedgerAccountID *string
	Splits          []Split // instead of LedgerAccountID; nil keeps those of the entry unless LedgerAccountID is given
	OffsetAccountID *string
	Update          journal.UpdateParams // date, memo and tags
}

// Correct reverses the posted entry of a transaction and books the transaction again, as another type or to another
// account.
func (s *Service) Correct(ctx context.Context, entryID string, p CorrectParams) (m Booked, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		m, err = s.correctBooking(ctx, tx, entryID, p)
		return err
	})
	return m, err
}

func (s *Service) correctBooking(ctx context.Context, tx *db.Tx, entryID string, p CorrectParams) (Booked, error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return Booked{}, err
	}
	was, err := journal.FindToChange(ctx, tx, entryID)
	if err != nil {
		return Booked{}, err
	}
	stored, err := selectBooking(ctx, tx, entryID)
	if err != nil {
		return Booked{}, err
	}
	if err := s.journal.RequireReversible(ctx, tx, was); err != nil {
		return Booked{}, err
	}
	if err := s.journal.RequireUnprotected(ctx, tx, was); err != nil {
		return Booked{}, err
	}
	if stored == nil {
		if err := refuseOpening(ctx, tx, was); err != nil {
			return Booked{}, err
		}
		return Booked{}, fault.Conflictf("the entry %s does not follow from a transaction: correct its lines", was.SequenceNumber())
	}
	q := &request{key: "new"}
	if q.Params, err = p.apply(stored); err != nil {
		return Booked{}, err
	}
	m, err := newBuilder(ctx, tx, b, q.Params)
	if err != nil {
		return Booked{}, err
	}
	m.rebooked = entryID
	if err := m.validateCorrection(ctx, q, p.Update); err != nil {
		return Booked{}, err
	}
	if p.Type == string(posting.Unknown) {
		return Booked{}, fault.ConflictAt([]fault.Field{{Name: "transaction_type", Message: "is UNKNOWN"}},
			"a posted transaction cannot be corrected to the type UNKNOWN")
	}
	if q.event, err = m.build(ctx, q.Params, ""); err != nil {
		return Booked{}, err
	}
	r := replay.New(tx, b, loader(b), replay.Options{})
	r.Replace(entryID, q.key, q.event.effect)
	outcome, err := r.Run(ctx)
	if err != nil {
		return Booked{}, err
	}
	q.entry = journal.CorrectionParams(was, p.Update)
	q.entry.Classification = q.Type
	if err := s.setLines(ctx, newSettler(tx, b), q, outcome); err != nil {
		return Booked{}, err
	}
	return s.replace(ctx, tx, b, was, q, outcome)
}

// apply returns the parameters of the booking with the changes.
func (p CorrectParams) apply(r *bookingRow) (Params, error) {
	before, err := r.params()
	if err != nil {
		return before, err
	}
	out := before
	out.AutoPost = true
	if p.Type != "" {
		out.Type = p.Type
	}
	if p.LedgerAccountID != nil {
		out.LedgerAccountID, out.Splits = *p.LedgerAccountID, nil
	}
	if p.Splits != nil {
		out.Splits = p.Splits
		if p.LedgerAccountID == nil {
			out.LedgerAccountID = ""
		}
	}
	if p.OffsetAccountID != nil {
		out.OffsetAccountID = *p.OffsetAccountID
	}
	// The rule is kept if the type and the accounts are still those that it set.
	if r.RuleID != nil && out.Type == before.Type && out.LedgerAccountID == before.LedgerAccountID &&
		out.OffsetAccountID == before.OffsetAccountID && reflect.DeepEqual(out.Splits, before.Splits) {
		out.RuleID, out.RuleVersion = *r.RuleID, *r.RuleVersion
	}
	return out, nil
}

// replace posts the reversal and the replacement.
func (s *Service) replace(ctx context.Context, tx *db.Tx, b *snapshot.Books, was journal.Entry, q *request,
	outcome *replay.Outcome) (Booked, error) {
	reversal, err := s.journal.ReverseInTx(ctx, tx, was)
	if err != nil {
		return Booked{}, err
	}
	if err := s.undoTrueUps(ctx, tx, was, reversal); err != nil {
		return Booked{}, err
	}
	guided, err := s.journal.PostReplacement(ctx, tx, reversal, q.entry)
	if err != nil {
		return Booked{}, err
	}
	if err := requireUnsettled(ctx, tx, b, was, reversal); err != nil {
		return Booked{}, err
	}
	refs, changes, err := s.rebook(ctx, tx, outcome.Changes)
	if err != nil {
		return Booked{}, err
	}
	refs[was.ID] = refOf(was).UndoneBy(refOf(reversal))
	refs[q.key] = refOf(guided.Entry)
	row, err := q.event.row(guided.ID, q.Params)
	if err != nil {
		return Booked{}, err
	}
	if err := insertBookings(ctx, tx, []bookingRow{row}); err != nil {
		return Booked{}, err
	}
	if err := s.write(ctx, tx, b, outcome, refs); err != nil {
		return Booked{}, err
	}
	if _, err := transaction.Save(ctx, tx, q.event.edits(guided.Entry, q.Params)); err != nil {
		return Booked{}, err
	}
	return Booked{Guided: guided, Lots: q.uses, Changes: changes}, nil
}

// validateCorrection returns an error with every fault of a correction that can be found before the new entry is computed.
func (m builder) validateCorrection(ctx context.Context, q *request, u journal.UpdateParams) error {
	checked := *q
	checked.Params.TagIDs = u.TagIDs
	if checked.AccountingDate = ""; u.AccountingDate != nil {
		checked.AccountingDate = *u.AccountingDate
	}
	return m.validateRequest(ctx, &checked)
}
