package journal

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Subledger is what entries are made from: the transactions they record and the lots they move. It lives in packages above the journal,
// which calls it inside the database transaction that changes an entry.
type Subledger interface {
	// FindTransaction returns an error of kind NotFound unless the transaction exists and the actor may see it.
	FindTransaction(ctx context.Context, tx *db.Tx, transactionID string) error
	// BeforePost gives the lines that a draft has now, nil where they are its own, and what is to be done once it is posted with them.
	BeforePost(ctx context.Context, tx *db.Tx, draft Entry) (lines []LineParams, posted func(context.Context, *db.Tx, Entry) error, err error)
	// BeforeLinesChange is told that the lines of a draft are to be others.
	BeforeLinesChange(ctx context.Context, tx *db.Tx, draft Entry) error
	// BeforeDelete is told that a draft is no more.
	BeforeDelete(ctx context.Context, tx *db.Tx, draft Entry) error
	// AfterUndo is told that a posted entry was undone, by its reversal or by becoming a draft. Only with cascade may that
	// change entries that rest on it.
	AfterUndo(ctx context.Context, tx *db.Tx, was, by Entry, cascade bool) error
	// AfterCorrect is told that a posted entry was reversed and corrected by another, with other lines or with its own.
	AfterCorrect(ctx context.Context, tx *db.Tx, was, reversal, by Entry, lines bool) error
}

// noSubledger is the subledger of a journal whose entries are all written by hand.
type noSubledger struct{}

func (noSubledger) FindTransaction(context.Context, *db.Tx, string) error {
	return fault.Missing("transaction")
}

func (noSubledger) BeforePost(context.Context, *db.Tx, Entry) ([]LineParams, func(context.Context, *db.Tx, Entry) error, error) {
	return nil, nil, nil
}
func (noSubledger) BeforeLinesChange(context.Context, *db.Tx, Entry) error                { return nil }
func (noSubledger) BeforeDelete(context.Context, *db.Tx, Entry) error                     { return nil }
func (noSubledger) AfterUndo(context.Context, *db.Tx, Entry, Entry, bool) error           { return nil }
func (noSubledger) AfterCorrect(context.Context, *db.Tx, Entry, Entry, Entry, bool) error { return nil }

// AttachSubledger sets the subledger. It is called once, before the service is used.
func (s *Service) AttachSubledger(l Subledger) { s.subledger = l }

// newComposer gives what entries are made with in a transaction that is under way.
func (s *Service) newComposer(ctx context.Context, tx *db.Tx) (*composer, error) {
	b, err := snapshot.Lock(ctx, tx)
	return &composer{b, actor.From(ctx), tx.Now(), &validation{}}, err
}

// FindUnchecked gives an entry with its lines, whoever asks. It is a building block.
func FindUnchecked(ctx context.Context, tx *db.Tx, entryID string) (Entry, error) {
	return selectEntry(ctx, tx, entryID)
}

// FindSomeUnchecked gives entries with their lines by their ids, whoever asks. It is a building block.
func FindSomeUnchecked(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]Entry, error) {
	if len(entryIDs) == 0 {
		return nil, nil
	}
	found, err := selectEntries(ctx, tx, entryIDs)
	out := make(map[string]Entry, len(found))
	for _, e := range found {
		out[e.ID] = e
	}
	return out, err
}

// ReverseInTx reverses a posted entry on its own date without asking what stands behind it, and gives the reversal. It is a
// building block for who does.
func (s *Service) ReverseInTx(ctx context.Context, tx *db.Tx, e Entry) (Entry, error) {
	return s.ReverseInTxOn(ctx, tx, e, e.AccountingDate)
}

// ReverseInTxOn does it on another date.
func (s *Service) ReverseInTxOn(ctx context.Context, tx *db.Tx, e Entry, at time.Time) (Entry, error) {
	c, err := s.newComposer(ctx, tx)
	if err != nil {
		return e, err
	}
	if err := c.requireReversible(e); err != nil {
		return e, err
	}
	reversal := e.reversalDraft("")
	reversal.AccountingDate = at
	return s.appendToChain(ctx, tx, c, e, reversal)
}

// Restate undoes a posted entry and posts it anew with other lines, and gives the new one. It asks nobody what stands
// behind it: it is a building block for who knows.
func (s *Service) Restate(ctx context.Context, tx *db.Tx, e Entry, lines []LineParams) (Entry, error) {
	reversal, err := s.ReverseInTx(ctx, tx, e)
	if err != nil {
		return e, err
	}
	description := CorrectionParams(e, UpdateParams{})
	description.Lines = lines
	if e.IntendedDate != nil { // it stays where it is, also when the month it was meant for is open again
		description.AccountingDate, description.IntendedDate = e.AccountingDate.Format(instantLayout), e.IntendedDate.Format(instantLayout)
	}
	again, err := s.PostReplacement(ctx, tx, reversal, description)
	return again.Entry, err
}

// RequireReversible refuses what cannot be reversed. It is a building block.
func (s *Service) RequireReversible(ctx context.Context, tx *db.Tx, e Entry) error {
	c, err := s.newComposer(ctx, tx)
	if err != nil {
		return err
	}
	return c.requireReversible(e)
}

// CorrectionParams describes what replaces an entry.
func CorrectionParams(e Entry, p UpdateParams) CreateParams {
	out := p.applyTo(e)
	out.OriginatedBy, out.Status, out.AutoEntity = ByCorrection, Posted, e.AutoEntity
	return out
}

// PostReplacement posts an entry behind a reversal. It is a building block.
func (s *Service) PostReplacement(ctx context.Context, tx *db.Tx, reversal Entry, p CreateParams) (Guided, error) {
	c, err := s.newComposer(ctx, tx)
	if err != nil {
		return Guided{}, err
	}
	e, err := c.recompose(ctx, tx, Entry{AutoEntity: p.AutoEntity, LegalEntityID: p.LegalEntityID, Classification: p.Classification}, p)
	if err != nil {
		return Guided{}, err
	}
	if e, err = s.appendToChain(ctx, tx, c, reversal, e); err != nil {
		return Guided{}, err
	}
	return withGuidance(e, c.books), nil
}

// ReplaceDraftLines gives a draft other lines. It is a building block.
func (s *Service) ReplaceDraftLines(ctx context.Context, tx *db.Tx, e Entry, lines []LineParams) (Entry, error) {
	c, err := s.newComposer(ctx, tx)
	if err != nil {
		return e, err
	}
	description := e.params()
	description.Lines = lines
	after, err := c.recompose(ctx, tx, e, description)
	if err != nil {
		return e, err
	}
	after.UpdatedAt = tx.Now()
	record(ctx, tx, "journal_entry.updated", e, after)
	return after, updateDraft(ctx, tx, e, after)
}

// ResolvePostingPeriod finds where a posting on a date would fall, and makes its month if need be. It is a building block.
func (s *Service) ResolvePostingPeriod(ctx context.Context, tx *db.Tx, at time.Time, entities ...string) (date time.Time, periodID string, err error) {
	c, err := s.newComposer(ctx, tx)
	if err != nil {
		return at, "", err
	}
	month, date := c.postingMonth(at, entities)
	if err := c.err(); err != nil {
		return at, "", err
	}
	if p, there := c.books.Period(month.Key()); there {
		return date, p.ID, nil
	}
	periods, err := period.Ensure(ctx, tx, month)
	for _, p := range periods { // all there are
		if p.Contains(date) {
			return date, p.ID, err
		}
	}
	return at, "", err
}

// InClosedPeriod tells that an entry stands in a month that is closed for one of its legal entities. It is a building block.
func (s *Service) InClosedPeriod(ctx context.Context, tx *db.Tx, e Entry) (bool, error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return false, err
	}
	p, _ := b.PeriodByID(e.PeriodID)
	return p.Key <= b.ClosedThrough(e.entities()...), nil
}

// TrueUps gives the entries that brought those of a transaction to what it cost after all. It is a building block.
func TrueUps(ctx context.Context, tx *db.Tx, transactionID string) ([]Entry, error) {
	return selectTrueUps(ctx, tx, transactionID)
}
