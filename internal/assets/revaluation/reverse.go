package revaluation

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// Reverse reverses a run: the entries that it posted or kept are reversed, and the period is as if it had not been measured.
// Only the last run of a period can be reversed, only while the period is open, and only if no run of a later period has built on it.
func (s *Service) Reverse(ctx context.Context, runID string) (after Run, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		before, err := find(ctx, tx, b, runID)
		if err != nil {
			return err
		}
		if err := before.loadRows(ctx, tx); err != nil {
			return err
		}
		if err := requireFullAccess(ctx, tx, runID); err != nil {
			return err
		}
		var entities []string
		for _, p := range before.Parts {
			if p.Status != Posted {
				return fault.Conflictf("the revaluation is %s for %s, %s: reverse the last one of the period", p.Status,
					b.Entities[p.LegalEntityID].Name, p.Kind)
			}
			entities = append(entities, p.LegalEntityID)
		}
		if before.PeriodKey <= b.ClosedThrough(entities...) {
			return fault.Conflictf("the period %s is closed: reopen it, or let the next revaluation correct it", before.PeriodKey)
		}
		if err := requireNoLaterRun(ctx, tx, b, before); err != nil {
			return err
		}
		after = before
		if err := s.reverseEntries(ctx, tx, before); err != nil {
			return err
		}
		now := tx.Now()
		after.ReversedAt, after.Parts = &now, slices.Clone(before.Parts)
		for n := range after.Parts {
			after.Parts[n].Status = Reversed
		}
		if err := setReversed(ctx, tx, runID, now); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "revaluation.reversed", ResourceType: noun, ResourceID: runID, Before: before.facts(),
			After: after.facts()})
		return nil
	})
	return after, err
}

// requireNoLaterRun returns an error if a run of a later period is in force for a part of a run. It measured what the run left, so that
// its entries would no longer agree with the reports on disposals.
func requireNoLaterRun(ctx context.Context, tx *db.Tx, b *snapshot.Books, r Run) error {
	for _, p := range r.Parts {
		later, err := selectLastRun(ctx, tx, p.LegalEntityID, p.Kind, r.PeriodKey)
		if err != nil {
			return err
		}
		if len(later) > 0 {
			return fault.Conflictf("the revaluation of %s builds on that of %s for %s, %s: reverse %s first with "+
				"POST /v1/revaluations/%[5]s/reverse, or run %[2]s again instead of reversing it",
				later[0].PeriodKey, r.PeriodKey, b.Entities[p.LegalEntityID].Name, p.Kind, later[0].ID)
		}
	}
	return nil
}

// requireFullAccess returns an error of kind Forbidden if the actor may not see all legal entities of a run.
func requireFullAccess(ctx context.Context, tx *db.Tx, runID string) error {
	parts, err := selectParts(ctx, tx, []string{runID})
	for _, p := range parts {
		if !actor.From(ctx).Sees(p.LegalEntityID) {
			return fault.Forbiddenf("the revaluation %s %s", runID, actor.NeedsUnlimited)
		}
	}
	return err
}

// explainEntry says which run made an entry, or kept it last. The entry is undone only with the run: by itself, the next run would
// post it anew, and if the entry were then posted again, the adjustment would be there twice.
func explainEntry(ctx context.Context, tx *db.Tx, e journal.Entry) (string, error) {
	run, err := selectRunOf(ctx, tx, e.ID)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return "was made by a revaluation: run its period again with POST /v1/revaluations", nil
	case err != nil:
		return "", err
	}
	again := "run the period " + run.PeriodKey + " again with POST /v1/revaluations"
	if e.Status == journal.Draft {
		return "was made by the revaluation " + run.ID + " and unposted: delete the draft, and " + again, nil
	}
	return "was made by the revaluation " + run.ID + " of " + run.PeriodKey + ": reverse that with POST /v1/revaluations/" + run.ID +
		"/reverse, or " + again, nil
}

// reverseEntries reverses the entries of a run, except those that an earlier version let users reverse or delete.
func (s *Service) reverseEntries(ctx context.Context, tx *db.Tx, r Run) error {
	for _, i := range r.Items {
		if i.EntryID == "" {
			continue
		}
		e, err := journal.FindUnchecked(ctx, tx, i.EntryID)
		switch {
		case fault.KindOf(err) == fault.NotFound: // it was unposted and deleted
			continue
		case err != nil:
			return err
		case e.Status != journal.Posted || e.NextID != "":
			continue
		}
		if _, err := s.journal.ReverseInTx(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}
