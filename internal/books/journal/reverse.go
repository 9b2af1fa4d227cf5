package journal

import (
	"context"
	"slices"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// ReverseParams describe a reversal; empty fields are derived from the entry.
type ReverseParams struct {
	AccountingDate string
	Memo           string
	Cascade        bool // entries that consumed the lots it created may change
}

// Reverse posts a reversal of a posted entry, with debits and credits exchanged, and returns it.
func (s *Service) Reverse(ctx context.Context, entryID string, p ReverseParams) (Guided, error) {
	return s.change(ctx, entryID, func(ctx context.Context, tx *db.Tx, c *composer, e Entry) (Entry, error) {
		if err := c.requireReversible(ctx, tx, e); err != nil {
			return e, err
		}
		if err := s.RequireUnprotected(ctx, tx, e); err != nil {
			return e, err
		}
		reversal := e.reversalDraft(p.Memo)
		if p.AccountingDate != "" {
			reversal.AccountingDate = c.parseDate("accounting_date", p.AccountingDate)
			if err := c.err(); err != nil {
				return e, err
			}
		} else if month, _ := c.postingMonth(e.AccountingDate, e.entities()); month != c.month(e.AccountingDate) {
			reversal.AccountingDate = c.now // the period of the entry is closed
		}
		made, err := s.appendToChain(ctx, tx, c, e, reversal)
		if err != nil {
			return e, err
		}
		return made, s.subledger.AfterUndo(ctx, tx, e, made, p.Cascade)
	})
}

// Correct reverses a posted entry, posts a replacement with the changes, and returns the replacement.
func (s *Service) Correct(ctx context.Context, entryID string, p UpdateParams) (Guided, error) {
	return s.change(ctx, entryID, func(ctx context.Context, tx *db.Tx, c *composer, e Entry) (Entry, error) {
		if err := c.requireReversible(ctx, tx, e); err != nil {
			return e, err
		}
		if err := s.RequireUnprotected(ctx, tx, e); err != nil {
			return e, err
		}
		description := p.applyTo(e)
		description.OriginatedBy = ByCorrection
		if p.Lines != nil || p.LegalEntityID != nil {
			if err := s.subledger.BeforeLinesChange(ctx, tx, e); err != nil {
				return e, err
			}
		}
		replacement, err := s.recomposeSent(ctx, tx, c, Entry{Classification: e.Classification}, description)
		if err != nil {
			return e, err
		}
		reversal, err := s.appendToChain(ctx, tx, c, e, e.reversalDraft(""))
		if err != nil {
			return e, err
		}
		made, err := s.appendToChain(ctx, tx, c, reversal, replacement)
		if err != nil {
			return e, err
		}
		return made, s.subledger.AfterCorrect(ctx, tx, e, reversal, made, p.Lines != nil || p.LegalEntityID != nil)
	})
}

// requireReversible returns an error for an entry that cannot be reversed: a draft, an entry that is reversed already, a
// reversal, or an entry on an archived account.
func (c *composer) requireReversible(ctx context.Context, tx *db.Tx, e Entry) error {
	switch {
	case e.Status != Posted:
		return fault.Conflictf("the entry %s is a draft: edit or delete it", e.SequenceNumber())
	case e.NextID != "":
		next := []Guided{{Entry: e}}
		if err := blankNeighbors(ctx, tx, next); err != nil {
			return err
		}
		by := ""
		if next[0].NextID != "" { // the replacement of a reversed entry may belong to another legal entity
			by = ", by " + e.NextID
		}
		return fault.Conflictf("the entry %s is reversed already%s: work on the last entry of its chain", e.SequenceNumber(), by)
	case e.OriginatedBy == ByReversal:
		return fault.Conflictf("the entry %s is a reversal, which cannot be reversed or corrected: create a new entry", e.SequenceNumber())
	}
	return c.requireNoArchivedAccounts(e)
}

// requireNoArchivedAccounts returns an error for an entry on an archived account, which must not get a balance or a draft
// again.
func (c *composer) requireNoArchivedAccounts(e Entry) error {
	var where []fault.Field
	for _, i := range e.linesOnArchived(c.books) {
		where = append(where, fault.Field{Name: "lines[" + strconv.Itoa(i) + "].ledger_account_id", Message: "is archived"})
	}
	if len(where) == 0 {
		return nil
	}
	return fault.ConflictAt(where, "the entry %s is on an account that is archived: unarchive it first", e.SequenceNumber())
}

// reversalDraft returns the draft of the reversal of an entry: the same lines and amounts, with debits and credits
// exchanged. An empty memo is derived from the entry.
func (e Entry) reversalDraft(memo string) Entry {
	out := e
	out.ID, out.Status, out.OriginatedBy, out.PostedAt, out.IntendedDate = "", Draft, ByReversal, nil, nil
	out.Memo = memo
	if memo == "" {
		out.Memo = "Reversal of " + e.SequenceNumber()
		if e.Memo != "" {
			out.Memo += ": " + e.Memo
		}
		if runes := []rune(out.Memo); len(runes) > MemoMax {
			out.Memo = string(runes[:MemoMax])
		}
	}
	out.Lines = slices.Clone(e.Lines)
	for i := range out.Lines {
		out.Lines[i].Side = out.Lines[i].Side.Other()
	}
	return out
}

// recordLink records that an entry was followed by another one in its chain: by its reversal, or, if it is a reversal, by the replacement.
func recordLink(ctx context.Context, tx *db.Tx, next, before, after Entry) {
	action := "journal_entry.updated"
	if next.OriginatedBy == ByReversal {
		action = "journal_entry.reversed"
	}
	record(ctx, tx, action, before, after)
}

// MemoMax is the maximum length of a memo in characters.
const MemoMax = 2000

// appendToChain posts an entry and links it as the successor of the last entry of a chain.
func (s *Service) appendToChain(ctx context.Context, tx *db.Tx, c *composer, tail, e Entry) (Entry, error) {
	e.PreviousID, e.NextID = tail.ID, ""
	if err := c.postCreatingPeriods(ctx, tx, s, &e); err != nil {
		return e, err
	}
	state, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return e, err
	}
	e.assignIdentity(tx, state.EntryNumber+1)
	before := tail
	tail.NextID, tail.UpdatedAt = e.ID, tx.Now()
	addEntry(ctx, tx, state, e, &tail)
	recordLink(ctx, tx, e, before, tail)
	return e, nil
}
