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
	// Draw gives the lines that a draft has now, nil where they are its own, and what is to be done once it is posted with them.
	Draw(ctx context.Context, tx *db.Tx, draft Entry) (lines []LineParams, posted func(context.Context, *db.Tx, Entry) error, err error)
	// Edited is told that the lines of a draft are to be others.
	Edited(ctx context.Context, tx *db.Tx, draft Entry) error
	// Discarded is told that a draft is no more.
	Discarded(ctx context.Context, tx *db.Tx, draft Entry) error
	// Undone is told that a posted entry was undone, by its reversal or by becoming a draft. Only with cascade may that
	// change entries that rest on it.
	Undone(ctx context.Context, tx *db.Tx, was, by Entry, cascade bool) error
	// Replaced is told that a posted entry was reversed and corrected by another, with other lines or with its own.
	Replaced(ctx context.Context, tx *db.Tx, was, reversal, by Entry, lines bool) error
}

// noSubledger is the subledger of a journal whose entries are all written by hand.
type noSubledger struct{}

func (noSubledger) FindTransaction(context.Context, *db.Tx, string) error {
	return fault.Missing("transaction")
}

func (noSubledger) Draw(context.Context, *db.Tx, Entry) ([]LineParams, func(context.Context, *db.Tx, Entry) error, error) {
	return nil, nil, nil
}
func (noSubledger) Edited(context.Context, *db.Tx, Entry) error                       { return nil }
func (noSubledger) Discarded(context.Context, *db.Tx, Entry) error                    { return nil }
func (noSubledger) Undone(context.Context, *db.Tx, Entry, Entry, bool) error          { return nil }
func (noSubledger) Replaced(context.Context, *db.Tx, Entry, Entry, Entry, bool) error { return nil }

// AttachSubledger sets the subledger. It is called once, before the service is used.
func (s *Service) AttachSubledger(l Subledger) { s.subledger = l }

// composing gives what entries are made with in a transaction that is under way.
func (s *Service) composing(ctx context.Context, tx *db.Tx) (*composer, error) {
	b, err := snapshot.Lock(ctx, tx)
	return &composer{b, actor.From(ctx), tx.Now(), &review{}}, err
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
	found, err := selectSome(ctx, tx, entryIDs)
	out := make(map[string]Entry, len(found))
	for _, e := range found {
		out[e.ID] = e
	}
	return out, err
}

// Undo reverses a posted entry on its own date without asking what stands behind it, and gives the reversal. It is a
// building block for who does.
func (s *Service) Undo(ctx context.Context, tx *db.Tx, e Entry) (Entry, error) {
	return s.UndoOn(ctx, tx, e, e.AccountingDate)
}

// UndoOn does it on another date.
func (s *Service) UndoOn(ctx context.Context, tx *db.Tx, e Entry, at time.Time) (Entry, error) {
	c, err := s.composing(ctx, tx)
	if err != nil {
		return e, err
	}
	if err := c.undoable(e); err != nil {
		return e, err
	}
	reversal := e.mirrored("")
	reversal.AccountingDate = at
	return s.append(ctx, tx, c, e, reversal)
}

// Restate undoes a posted entry and posts it anew with other lines, and gives the new one. It asks nobody what stands
// behind it: it is a building block for who knows.
func (s *Service) Restate(ctx context.Context, tx *db.Tx, e Entry, lines []LineParams) (Entry, error) {
	reversal, err := s.Undo(ctx, tx, e)
	if err != nil {
		return e, err
	}
	description := Corrected(e, UpdateParams{})
	description.Lines = lines
	if e.IntendedDate != nil { // it stays where it is, also when the month it was meant for is open again
		description.AccountingDate, description.IntendedDate = e.AccountingDate.Format(instant), e.IntendedDate.Format(instant)
	}
	again, err := s.Append(ctx, tx, reversal, description)
	return again.Entry, err
}

// Undoable refuses what cannot be reversed. It is a building block.
func (s *Service) Undoable(ctx context.Context, tx *db.Tx, e Entry) error {
	c, err := s.composing(ctx, tx)
	if err != nil {
		return err
	}
	return c.undoable(e)
}

// Corrected describes what replaces an entry.
func Corrected(e Entry, p UpdateParams) CreateParams {
	out := p.over(e)
	out.OriginatedBy, out.Status, out.AutoEntity = ByCorrection, Posted, e.AutoEntity
	return out
}

// Append posts an entry behind a reversal. It is a building block.
func (s *Service) Append(ctx context.Context, tx *db.Tx, reversal Entry, p CreateParams) (Guided, error) {
	c, err := s.composing(ctx, tx)
	if err != nil {
		return Guided{}, err
	}
	e, err := c.redo(ctx, tx, Entry{AutoEntity: p.AutoEntity, LegalEntityID: p.LegalEntityID, Classification: p.Classification}, p)
	if err != nil {
		return Guided{}, err
	}
	if e, err = s.append(ctx, tx, c, reversal, e); err != nil {
		return Guided{}, err
	}
	return guided(e, c.books), nil
}

// Redraft gives a draft other lines. It is a building block.
func (s *Service) Redraft(ctx context.Context, tx *db.Tx, e Entry, lines []LineParams) (Entry, error) {
	c, err := s.composing(ctx, tx)
	if err != nil {
		return e, err
	}
	description := e.params()
	description.Lines = lines
	after, err := c.redo(ctx, tx, e, description)
	if err != nil {
		return e, err
	}
	after.UpdatedAt = tx.Now()
	record(ctx, tx, "journal_entry.updated", e, after)
	return after, replace(ctx, tx, e, after)
}

// Opens finds where a posting on a date would fall, and makes its month if need be. It is a building block.
func (s *Service) Opens(ctx context.Context, tx *db.Tx, at time.Time, entities ...string) (date time.Time, periodID string, err error) {
	c, err := s.composing(ctx, tx)
	if err != nil {
		return at, "", err
	}
	month, date := c.open(at, entities)
	if err := c.err(); err != nil {
		return at, "", err
	}
	if p, there := c.books.Period(month.Key()); there {
		return date, p.ID, nil
	}
	periods, err := period.Ensure(ctx, tx, month)
	for _, p := range periods { // all there are
		if p.Holds(date) {
			return date, p.ID, err
		}
	}
	return at, "", err
}

// IsClosed tells that an entry stands in a month that is closed for one of its legal entities. It is a building block.
func (s *Service) IsClosed(ctx context.Context, tx *db.Tx, e Entry) (bool, error) {
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
