package revaluation

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Reverse reverses a run: the entries that it posted or kept are reversed, and the period is as if it had not been measured.
// Only the last run of a period can be reversed, only while the period is open, and only if no other run has built on it.
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

// requireNoLaterRun returns an error if a run is in force that builds on a part of a run: one of a later period, or one of those that took
// lots over. It measured what the run left, so that its entries would no longer agree with the reports on disposals.
func requireNoLaterRun(ctx context.Context, tx *db.Tx, b *snapshot.Books, r Run) error {
	for _, p := range r.Parts {
		later, err := selectLastRun(ctx, tx, p.LegalEntityID, p.Kind, r.PeriodKey)
		if err != nil {
			return err
		}
		if len(later) > 0 {
			return errBuiltUpon(ctx, b, r, later[0], basis{p.LegalEntityID, p.Kind})
		}
	}
	return requireNoTaker(ctx, tx, b, r)
}

// basis is a kind of measurement of a legal entity that others build on.
type basis struct {
	legalEntityID string
	kind          Kind
}

// requireNoTaker returns an error if another run is in force that measured lots with what a run had adjusted them by: they were handed over
// to another legal entity, or became an asset that is measured in another way, since the run, and by no later one.
func requireNoTaker(ctx context.Context, tx *db.Tx, b *snapshot.Books, r Run) error {
	month, there := b.Period(r.PeriodKey)
	if !there {
		return nil
	}
	from, based := month.End, map[basis]time.Time{} // since when lots have what the run left
	for _, p := range r.Parts {
		if based[basis{p.LegalEntityID, p.Kind}] = month.End; p.Kind == Adoption {
			from, based[basis{p.LegalEntityID, FairValue}] = month.Start, month.Start
		}
	}
	given, err := realized.Handovers(ctx, tx, from, tx.Now(), nil)
	if err != nil {
		return err
	}
	for _, x := range given {
		giver, taker := basis{x.From.LegalEntityID, Kind(x.Kind)}, basis{x.To.LegalEntityID, Kind(x.As)}
		if since, is := based[giver]; !is || x.Date.Before(since) {
			continue
		}
		later, err := selectLastRun(ctx, tx, taker.legalEntityID, taker.kind, calendar.MonthOf(x.Date, b.Zone).Prev().Key())
		if err != nil {
			return err
		}
		if len(later) > 0 && later[0].ID != r.ID {
			return errBuiltUpon(ctx, b, r, later[0], taker)
		}
		if _, known := based[taker]; !known {
			based[taker] = x.Date
		}
	}
	return nil
}

// errBuiltUpon returns the error that another run builds on one, which is to be reversed first.
func errBuiltUpon(ctx context.Context, b *snapshot.Books, r Run, later runOfEntry, part basis) error {
	if !actor.From(ctx).Sees(part.legalEntityID) {
		return fault.Forbiddenf("the revaluation %s, on which another one builds, %s", r.ID, actor.NeedsUnlimited)
	}
	return fault.Conflictf("the revaluation of %s builds on that of %s for %s, %s: reverse %s first with "+
		"POST /v1/revaluations/%[5]s/reverse, or run %[2]s again instead of reversing it",
		later.PeriodKey, r.PeriodKey, b.Entities[part.legalEntityID].Name, part.kind, later.ID)
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
