package journal

import (
	"context"
	"slices"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// ReverseParams describe a reversal; what is empty follows from the entry.
type ReverseParams struct {
	AccountingDate string
	Memo           string
	Cascade        bool // entries that rest on the lots it made may change
}

// Reverse undoes a posted entry by another one with its lines turned around, and gives that one.
func (s *Service) Reverse(ctx context.Context, entryID string, p ReverseParams) (Guided, error) {
	return s.change(ctx, entryID, func(ctx context.Context, tx *db.Tx, c *composer, e Entry) (Entry, error) {
		if err := c.requireReversible(e); err != nil {
			return e, err
		}
		reversal := e.reversalDraft(p.Memo)
		if p.AccountingDate != "" {
			reversal.AccountingDate = c.parseDate("accounting_date", p.AccountingDate)
			if err := c.err(); err != nil {
				return e, err
			}
		} else if month, _ := c.postingMonth(e.AccountingDate, e.entities()); month != c.month(e.AccountingDate) {
			reversal.AccountingDate = c.now // its own month is closed, so the reversal belongs to the present
		}
		made, err := s.appendToChain(ctx, tx, c, e, reversal)
		if err != nil {
			return e, err
		}
		return made, s.subledger.AfterUndo(ctx, tx, e, made, p.Cascade)
	})
}

// Correct undoes a posted entry and posts it anew as it should have been, and gives the new one.
func (s *Service) Correct(ctx context.Context, entryID string, p UpdateParams) (Guided, error) {
	return s.change(ctx, entryID, func(ctx context.Context, tx *db.Tx, c *composer, e Entry) (Entry, error) {
		if err := c.requireReversible(e); err != nil {
			return e, err
		}
		description := p.applyTo(e)
		description.OriginatedBy = ByCorrection
		if p.Lines != nil || p.LegalEntityID != nil {
			if err := s.subledger.BeforeLinesChange(ctx, tx, e); err != nil {
				return e, err
			}
		}
		replacement, err := c.recompose(ctx, tx, Entry{Classification: e.Classification}, description)
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

// requireReversible refuses what cannot be reversed: a draft, an entry that is reversed already, a reversal, what stands on an archived account.
func (c *composer) requireReversible(e Entry) error {
	switch {
	case e.Status != Posted:
		return fault.Conflictf("the entry %s is a draft: edit or delete it", e.SequenceNumber())
	case e.NextID != "":
		return fault.Conflictf("the entry %s is reversed already, by %s: work on the last entry of its chain", e.SequenceNumber(), e.NextID)
	case e.OriginatedBy == ByReversal:
		return fault.Conflictf("the entry %s is a reversal, which cannot be reversed or corrected: make a new entry", e.SequenceNumber())
	}
	return c.requireNoArchivedAccounts(e)
}

// requireNoArchivedAccounts refuses to change what stands on an account that was archived since, which has no balance and no drafts.
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

// reversalDraft is the draft of an entry's reversal: the same lines turned around, at the amounts that were booked.
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

// MemoMax bounds a memo.
const MemoMax = 2000

// appendToChain posts an entry and hangs it behind the tail of a chain.
func (s *Service) appendToChain(ctx context.Context, tx *db.Tx, c *composer, tail, e Entry) (Entry, error) {
	e.PreviousID, e.NextID = tail.ID, ""
	if err := c.postCreatingPeriods(ctx, tx, s, &e); err != nil {
		return e, err
	}
	h, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return e, err
	}
	e.assignIdentity(tx, h.EntryNumber+1)
	before := tail
	tail.NextID, tail.UpdatedAt = e.ID, tx.Now()
	addEntry(ctx, tx, h, e, &tail)
	if e.OriginatedBy == ByReversal {
		record(ctx, tx, "journal_entry.reversed", before, tail)
	}
	return e, nil
}
