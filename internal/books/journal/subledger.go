package journal

import (
	"cmp"
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Subledger keeps the transactions that entries book and the lots that they move. Packages above the journal implement it. The journal
// calls its hooks inside the database transaction that changes an entry; an error from a hook rolls the change back.
type Subledger interface {
	// FindTransaction returns an error of kind NotFound unless the transaction exists and the actor may see it.
	FindTransaction(ctx context.Context, tx *db.Tx, transactionID string) error
	// ForeignAccounts returns those of some ledger accounts that belong to sources of legal entities outside the actor's key, and to none
	// of its own.
	ForeignAccounts(ctx context.Context, tx *db.Tx, accountIDs []string) (map[string]bool, error)
	// BeforePost is called before a draft is posted. It returns the lines to post, or nil to post those of the draft, and a function to
	// call after posting, or nil.
	BeforePost(ctx context.Context, tx *db.Tx, draft Entry) (lines []LineParams, posted func(context.Context, *db.Tx, Entry) error, err error)
	// PostRefusals returns why drafts cannot be posted as they are, by their ids, as far as that is known without computing their lots.
	PostRefusals(ctx context.Context, tx *db.Tx, draftIDs []string) (map[string]string, error)
	// UndoRefusals returns why posted entries cannot be undone, by their ids, as far as that is known without computing lots. It reads what
	// it needs for all of them at once.
	UndoRefusals(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []Undo) (map[string]UndoRefusal, error)
	// BeforeLinesChange is called before the lines or the legal entity of a draft are edited, or those of a posted entry corrected.
	BeforeLinesChange(ctx context.Context, tx *db.Tx, draft Entry) error
	// DetachDraft is called when the lines or the legal entity of a draft are about to be replaced by those that a user sent: the draft
	// no longer follows from its transaction.
	DetachDraft(ctx context.Context, tx *db.Tx, draft Entry) error
	// BeforeDelete is called before a draft is deleted.
	BeforeDelete(ctx context.Context, tx *db.Tx, draft Entry) error
	// AfterUndo is called after an entry was reversed or unposted: by is the reversal, or the draft that the entry became. Only if
	// cascade is set may it change entries that depend on the entry.
	AfterUndo(ctx context.Context, tx *db.Tx, was, by Entry, cascade bool) error
	// AfterCorrect is called after an entry was corrected: by is the replacement, and lines reports whether its lines or legal entity
	// were changed.
	AfterCorrect(ctx context.Context, tx *db.Tx, was, reversal, by Entry, lines bool) error
}

// Undo asks whether a posted entry can be undone.
type Undo struct {
	Entry Entry
	At    time.Time // where its reversal would be posted
}

// UndoRefusal is why an entry can be neither reversed nor unposted, or why it can be reversed, but not unposted. A text is empty if it can.
type UndoRefusal struct{ Undo, Unpost string }

// noSubledger is the subledger of a journal without transactions.
type noSubledger struct{}

func (noSubledger) FindTransaction(context.Context, *db.Tx, string) error {
	return fault.Missing("transaction")
}

func (noSubledger) ForeignAccounts(context.Context, *db.Tx, []string) (map[string]bool, error) {
	return nil, nil
}

func (noSubledger) BeforePost(context.Context, *db.Tx, Entry) ([]LineParams, func(context.Context, *db.Tx, Entry) error, error) {
	return nil, nil, nil
}
func (noSubledger) PostRefusals(context.Context, *db.Tx, []string) (map[string]string, error) {
	return nil, nil
}
func (noSubledger) UndoRefusals(context.Context, *db.Tx, *snapshot.Books, []Undo) (map[string]UndoRefusal, error) {
	return nil, nil
}
func (noSubledger) BeforeLinesChange(context.Context, *db.Tx, Entry) error                { return nil }
func (noSubledger) DetachDraft(context.Context, *db.Tx, Entry) error                      { return nil }
func (noSubledger) BeforeDelete(context.Context, *db.Tx, Entry) error                     { return nil }
func (noSubledger) AfterUndo(context.Context, *db.Tx, Entry, Entry, bool) error           { return nil }
func (noSubledger) AfterCorrect(context.Context, *db.Tx, Entry, Entry, Entry, bool) error { return nil }

// AttachSubledger sets the subledger. It is called once, before the service is used.
func (s *Service) AttachSubledger(l Subledger) { s.subledger = l }

// Explain says in words what made an entry that cannot be changed by itself, and what to do instead. The words follow the number of
// the entry.
type Explain func(ctx context.Context, tx *db.Tx, e Entry) (string, error)

// Protect declares that entries of an origin change only with what made them: users cannot reverse, correct, unpost, edit or post one
// by itself. The building blocks for other packages, such as ReverseInTx, can. It is called before the service is used.
func (s *Service) Protect(origin string, explain Explain) { s.protected[origin] = explain }

// RequireUnprotected returns an error for an entry that changes only with what made it. It runs in the caller's transaction.
func (s *Service) RequireUnprotected(ctx context.Context, tx *db.Tx, e Entry) error {
	explain, protected := s.protected[e.OriginatedBy]
	if !protected {
		return nil
	}
	why, err := explain(ctx, tx, e)
	return cmp.Or(err, fault.Conflictf("the entry %s %s", e.SequenceNumber(), why))
}

// newComposer returns a composer for the caller's transaction.
func (s *Service) newComposer(ctx context.Context, tx *db.Tx) (*composer, error) {
	b, err := snapshot.Lock(ctx, tx)
	return &composer{b, actor.From(ctx), tx.Now(), &validation{}}, err
}

// FindUnchecked returns an entry with its lines without checking that the actor may see it. It runs in the caller's transaction.
func FindUnchecked(ctx context.Context, tx *db.Tx, entryID string) (Entry, error) {
	return selectEntry(ctx, tx, entryID)
}

// FindSomeUnchecked returns entries with their lines, by id, without checking that the actor may see them. It runs in the caller's
// transaction.
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

// ReverseInTx reverses a posted entry on its own date and returns the reversal. It does not call the subledger, which
// uses it. It runs in the caller's transaction.
func (s *Service) ReverseInTx(ctx context.Context, tx *db.Tx, e Entry) (Entry, error) {
	return s.ReverseInTxOn(ctx, tx, e, e.AccountingDate)
}

// ReverseInTxOn is ReverseInTx with another date for the reversal.
func (s *Service) ReverseInTxOn(ctx context.Context, tx *db.Tx, e Entry, at time.Time) (Entry, error) {
	c, err := s.newComposer(ctx, tx)
	if err != nil {
		return e, err
	}
	if err := c.requireReversible(ctx, tx, e); err != nil {
		return e, err
	}
	reversal := e.reversalDraft("")
	reversal.AccountingDate = at
	return s.appendToChain(ctx, tx, c, e, reversal)
}

// ReverseWhenOpen is ReverseInTx, but on the present date if the period of the entry is closed.
func (s *Service) ReverseWhenOpen(ctx context.Context, tx *db.Tx, e Entry) (Entry, error) {
	at := e.AccountingDate
	closed, err := s.InClosedPeriod(ctx, tx, e)
	if err != nil {
		return e, err
	}
	if closed {
		at = tx.Now()
	}
	return s.ReverseInTxOn(ctx, tx, e, at)
}

// UndoInTx reverses a posted entry with its effects on lots and transactions, and returns the reversal: on the date of the entry, or now
// if its period is closed. It does not change entries that depend on it: it returns an error of kind Conflict if there are any. It runs in
// the caller's transaction.
func (s *Service) UndoInTx(ctx context.Context, tx *db.Tx, e Entry) (Entry, error) {
	reversal, err := s.ReverseWhenOpen(ctx, tx, e)
	if err != nil {
		return e, err
	}
	return reversal, s.subledger.AfterUndo(ctx, tx, e, reversal, false)
}

// Restate reverses a posted entry, posts a replacement with other lines, and returns the replacement. It does not call the
// subledger, which uses it. It runs in the caller's transaction.
func (s *Service) Restate(ctx context.Context, tx *db.Tx, e Entry, lines []LineParams) (Entry, error) {
	reversal, err := s.ReverseInTx(ctx, tx, e)
	if err != nil {
		return e, err
	}
	description := CorrectionParams(e, UpdateParams{})
	description.Lines = lines
	if _, protected := s.protected[e.OriginatedBy]; protected { // the replacement, too, changes only with what made the entry
		description.OriginatedBy = e.OriginatedBy
	}
	if e.IntendedDate != nil { // the replacement stays in the same period, even if the requested one is open again
		description.AccountingDate, description.IntendedDate = e.AccountingDate.Format(instantLayout), e.IntendedDate.Format(instantLayout)
		description.Opening = false
	}
	again, err := s.PostReplacement(ctx, tx, reversal, description)
	return again.Entry, err
}

// RequireReversible returns an error for an entry that cannot be reversed. It runs in the caller's transaction.
func (s *Service) RequireReversible(ctx context.Context, tx *db.Tx, e Entry) error {
	c, err := s.newComposer(ctx, tx)
	if err != nil {
		return err
	}
	return c.requireReversible(ctx, tx, e)
}

// CorrectionParams returns the params of the replacement of an entry.
func CorrectionParams(e Entry, p UpdateParams) CreateParams {
	out := p.applyTo(e)
	out.OriginatedBy, out.Status, out.AutoEntity = ByCorrection, Posted, e.AutoEntity
	return out
}

// PostReplacement posts an entry as the successor of a reversal. It runs in the caller's transaction.
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

// ReplaceDraftLines replaces the lines of a draft. It runs in the caller's transaction.
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

// ResolvePostingPeriod returns the date and period that an entry would get if it were posted on a date, and creates the period if
// it does not exist. It runs in the caller's transaction.
func (s *Service) ResolvePostingPeriod(ctx context.Context, tx *db.Tx, at time.Time, entities ...string) (
	date time.Time, periodID string, err error) {
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
	for _, p := range periods {
		if p.Contains(date) {
			return date, p.ID, err
		}
	}
	return at, "", err
}

// InClosedPeriod reports whether an entry lies in a period that is closed for one of its legal entities. It runs in the caller's
// transaction.
func (s *Service) InClosedPeriod(ctx context.Context, tx *db.Tx, e Entry) (bool, error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return false, err
	}
	p, _ := b.PeriodOfEntry(e.PeriodID)
	return p.Key <= b.ClosedThrough(e.entities()...), nil
}

// TransactionsWithTrueUps returns those of some transactions that have true-ups which are posted and not reversed. It runs in the caller's
// transaction.
func TransactionsWithTrueUps(ctx context.Context, tx *db.Tx, transactionIDs []string) (map[string]bool, error) {
	if len(transactionIDs) == 0 {
		return nil, nil
	}
	found, err := selectWithTrueUps(ctx, tx, transactionIDs)
	out := make(map[string]bool, len(found))
	for _, id := range found {
		out[id] = true
	}
	return out, err
}

// TrueUps returns the true-ups of a transaction that are posted and not reversed. It runs in the caller's transaction.
func TrueUps(ctx context.Context, tx *db.Tx, transactionID string) ([]Entry, error) {
	return selectTrueUps(ctx, tx, transactionID)
}
