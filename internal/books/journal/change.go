package journal

import (
	"context"
	"reflect"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// change runs a use case on an existing entry while it holds the lock on the organization state.
func (s *Service) change(ctx context.Context, entryID string,
	do func(ctx context.Context, tx *db.Tx, c *composer, e Entry) (Entry, error)) (g Guided, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		e, err := FindToChange(ctx, tx, entryID)
		if err != nil {
			return err
		}
		c := &composer{b, who, tx.Now(), &validation{}}
		if e, err = do(ctx, tx, c, e); err != nil {
			return err
		}
		guided, err := s.guide(ctx, tx, c.books, []Entry{e})
		if err == nil {
			g = guided[0]
		}
		return err
	})
	return g, err
}

// record writes an audit record of a change to an entry.
func record(ctx context.Context, tx *db.Tx, action string, before, after Entry) {
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: "journal_entry", ResourceID: before.ID, Before: before.facts(),
		After: after.facts(), State: after.state(), Dependents: after.hasDependents(), Object: after})
}

// hasDependents reports whether the subledger stores something with an entry in the same database transaction: from what the entry of a
// transaction was computed.
func (e Entry) hasDependents() bool { return e.TransactionID != "" }

// UpdateParams are the requested changes; nil leaves a part unchanged.
type UpdateParams struct {
	LegalEntityID  *string
	AccountingDate *string
	Memo           *string
	TagIDs         *[]string
	Lines          *[]LineParams
}

// applyTo returns the params of an entry with the changes applied.
func (p UpdateParams) applyTo(e Entry) CreateParams {
	out := e.params()
	if p.LegalEntityID != nil {
		out.LegalEntityID = *p.LegalEntityID
		if p.Lines == nil { // lines of the entry's legal entity change with it
			for i := range out.Lines {
				if out.Lines[i].LegalEntityID == e.LegalEntityID {
					out.Lines[i].LegalEntityID = ""
				}
			}
		}
	}
	if p.AccountingDate != nil {
		out.AccountingDate, out.Opening = *p.AccountingDate, false
	}
	if p.Memo != nil {
		out.Memo = *p.Memo
	}
	if p.TagIDs != nil {
		out.TagIDs = *p.TagIDs
	}
	if p.Lines != nil {
		out.Lines = *p.Lines
	}
	return out
}

// params returns the request that would create the entry.
func (e Entry) params() CreateParams {
	out := CreateParams{
		LegalEntityID: e.LegalEntityID, AccountingDate: e.AccountingDate.Format(instantLayout), Opening: period.IsOpening(e.AccountingDate),
		Memo: e.Memo, TagIDs: e.TagIDs, OriginatedBy: e.OriginatedBy,
		TransactionID: e.TransactionID, TransactionNo: e.TransactionNo, Classification: e.Classification,
		Lines: make([]LineParams, len(e.Lines)),
	}
	if e.IntendedDate != nil {
		out.AccountingDate, out.Opening = e.IntendedDate.Format(instantLayout), period.IsOpening(*e.IntendedDate)
	}
	for i, l := range e.Lines {
		out.Lines[i] = LineParams{LedgerAccountID: l.LedgerAccountID, Side: l.Side, Amount: l.Amount.String(), Currency: l.Currency,
			LegalEntityID: l.LegalEntityID, Memo: l.Memo, TagIDs: l.TagIDs, Base: nil, Unit: l.Unit, Quantity: l.Quantity}
		if e.followsFromTransaction() { // those of the entry are added again, and may change
			out.Lines[i].TagIDs = slices.DeleteFunc(slices.Clone(l.TagIDs), func(tag string) bool { return slices.Contains(e.TagIDs, tag) })
		}
		if l.Unit == l.Currency { // derived from the currency, which the request may change
			out.Lines[i].Unit, out.Lines[i].Quantity = "", nil
		}
	}
	return out
}

// instantLayout is RFC 3339 with as many fractional digits as the time has.
const instantLayout = "2006-01-02T15:04:05.999999999Z07:00"

// recompose composes an entry from params and gives it the number, ids and times of another entry.
func (c *composer) recompose(ctx context.Context, tx *db.Tx, was Entry, p CreateParams) (Entry, error) {
	e := c.compose(p)
	if err := resolveTags(ctx, tx, c.validation, []Entry{e}, func(int) string { return "" }); err != nil {
		return e, err
	}
	if err := c.err(); err != nil {
		return e, err
	}
	e.ID, e.Number, e.CreatedAt, e.UpdatedAt, e.AutoEntity, e.Classification =
		was.ID, was.Number, was.CreatedAt, was.UpdatedAt, was.AutoEntity && e.LegalEntityID == was.LegalEntityID, was.Classification
	for i := range e.Lines {
		e.Lines[i].ID = tx.NewID(id.JournalLine)
		if i < len(was.Lines) { // a line that keeps its position keeps its id
			e.Lines[i].ID = was.Lines[i].ID
		}
	}
	return e, nil
}

// recomposeSent is recompose for lines that a user sent or keeps, which cannot be on accounts of others.
func (s *Service) recomposeSent(ctx context.Context, tx *db.Tx, c *composer, was Entry, p CreateParams) (Entry, error) {
	e, err := c.recompose(ctx, tx, was, p)
	if err != nil {
		return e, err
	}
	if err := s.requireOwnAccounts(ctx, tx, c.validation, []Entry{e}, func(int) string { return "" }); err != nil {
		return e, err
	}
	return e, c.err()
}

// Update edits a draft. It writes nothing if nothing changes.
func (s *Service) Update(ctx context.Context, entryID string, p UpdateParams) (Guided, error) {
	return s.change(ctx, entryID, func(ctx context.Context, tx *db.Tx, c *composer, e Entry) (Entry, error) {
		if e.Status != Draft {
			return e, fault.Conflictf("the entry %s is posted and cannot be edited: correct it instead", e.SequenceNumber())
		}
		if err := s.RequireUnprotected(ctx, tx, e); err != nil {
			return e, err
		}
		if p.Lines != nil || p.LegalEntityID != nil {
			if err := s.subledger.BeforeLinesChange(ctx, tx, e); err != nil {
				return e, err
			}
		}
		after, err := s.recomposeSent(ctx, tx, c, e, p.applyTo(e))
		if err != nil || reflect.DeepEqual(e.facts(), after.facts()) {
			return after, err
		}
		if p.Lines != nil || p.LegalEntityID != nil {
			if err := s.subledger.DetachDraft(ctx, tx, e); err != nil {
				return e, err
			}
		}
		after.UpdatedAt = tx.Now()
		record(ctx, tx, "journal_entry.updated", e, after)
		return after, updateDraft(ctx, tx, e, after)
	})
}

// Delete deletes a draft. Its number is not used again.
func (s *Service) Delete(ctx context.Context, entryID string) error {
	_, err := s.change(ctx, entryID, func(ctx context.Context, tx *db.Tx, _ *composer, e Entry) (Entry, error) {
		if e.Status != Draft {
			return e, fault.Conflictf("the entry %s is posted and cannot be deleted: reverse it instead", e.SequenceNumber())
		}
		if err := s.subledger.BeforeDelete(ctx, tx, e); err != nil {
			return e, err
		}
		before := e
		e.Status, e.Lines, e.UpdatedAt = deleted, nil, tx.Now()
		audit.Record(ctx, tx, audit.Change{Action: "journal_entry.deleted", ResourceType: "journal_entry", ResourceID: e.ID,
			Before: before.facts(), State: e.state(), Dependents: e.hasDependents()})
		return e, markDeleted(ctx, tx, before, e)
	})
	return err
}

// Post posts a draft. It validates the draft again, because accounts, periods and rates may have changed since.
func (s *Service) Post(ctx context.Context, entryID string) (Guided, error) {
	return s.change(ctx, entryID, func(ctx context.Context, tx *db.Tx, c *composer, e Entry) (Entry, error) {
		if e.Status != Draft {
			return e, fault.Conflictf("the entry %s is posted already", e.SequenceNumber())
		}
		if err := s.RequireUnprotected(ctx, tx, e); err != nil {
			return e, err
		}
		return s.postDraft(ctx, tx, c, e)
	})
}

func (s *Service) postDraft(ctx context.Context, tx *db.Tx, c *composer, e Entry) (Entry, error) {
	c.stored = true
	description := e.params()
	lines, posted, err := s.subledger.BeforePost(ctx, tx, e)
	if err != nil {
		return e, err
	}
	if lines != nil {
		description.Lines = lines
	}
	after, err := c.recompose(ctx, tx, e, description)
	if err != nil {
		return e, err
	}
	if lines != nil { // they may differ from those of the draft
		if err := updateDraft(ctx, tx, e, after); err != nil {
			return e, err
		}
	}
	if err := c.postCreatingPeriods(ctx, tx, s, &after); err != nil {
		return e, err
	}
	after.UpdatedAt = tx.Now()
	pendingOf(tx).addMovement(after, false)
	record(ctx, tx, "journal_entry.posted", e, after)
	if err := updatePosting(ctx, tx, after); err != nil || posted == nil {
		return after, err
	}
	return after, posted(ctx, tx, after)
}

// postCreatingPeriods posts a composed entry and creates the periods it needs.
func (c *composer) postCreatingPeriods(ctx context.Context, tx *db.Tx, s *Service, e *Entry) error {
	missing, err := c.post(ctx, tx, e)
	if err != nil {
		return err
	}
	if err := c.err(); err != nil || len(missing) == 0 {
		return err
	}
	if err := requirePeriods(ctx, tx, missing); err != nil {
		return err
	}
	if c.books, err = snapshot.Lock(ctx, tx); err != nil {
		return err
	}
	e.PeriodID = periodOf(c.books, e.AccountingDate)
	return nil
}

// Unpost turns a posted entry back into a draft. It refuses an entry that is part of a chain or lies in a closed period.
func (s *Service) Unpost(ctx context.Context, entryID string) (Guided, error) {
	return s.change(ctx, entryID, func(ctx context.Context, tx *db.Tx, c *composer, e Entry) (Entry, error) {
		in, _ := c.books.PeriodOfEntry(e.PeriodID)
		switch {
		case e.Status != Posted:
			return e, fault.Conflictf("the entry %s is a draft already", e.SequenceNumber())
		case s.protected[e.OriginatedBy] != nil:
			return e, s.RequireUnprotected(ctx, tx, e)
		case e.PreviousID != "" || e.NextID != "":
			return e, fault.Conflictf("the entry %s is part of a chain of corrections: reverse it instead", e.SequenceNumber())
		case in.Key <= c.books.ClosedThrough(e.entities()...):
			return e, fault.Conflictf("the period %s is closed: reverse the entry instead", in.Key)
		}
		if err := c.requireNoArchivedAccounts(e); err != nil {
			return e, err
		}
		pendingOf(tx).addMovement(e, true)
		after := e
		after.Status, after.PostedAt, after.UpdatedAt = Draft, nil, tx.Now()
		if e.IntendedDate != nil { // a draft has the date that was requested
			after.AccountingDate, after.IntendedDate = *e.IntendedDate, nil
			after.PeriodID = periodOf(c.books, after.AccountingDate)
		}
		after.Lines = make([]Line, len(e.Lines))
		for i, l := range e.Lines {
			after.Lines[i] = l
			after.Lines[i].Base, after.Lines[i].Rates = nil, ""
		}
		record(ctx, tx, "journal_entry.unposted", e, after)
		if err := s.subledger.AfterUndo(ctx, tx, e, after, false); err != nil {
			return e, err
		}
		return after, updatePosting(ctx, tx, after)
	})
}
