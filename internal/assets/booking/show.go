package booking

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Get returns an entry with the lots it consumed, or, for a draft, those it would consume now.
func (s *Service) Get(ctx context.Context, entryID string) (m Booked, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		var b *snapshot.Books
		if m.Guided, b, err = journal.FindGuided(ctx, tx, entryID); err != nil {
			return err
		}
		if m.Status == journal.Posted {
			guided := []journal.Guided{m.Guided}
			if err := s.journal.ForbidUndoing(ctx, tx, b, guided); err != nil {
				return err
			}
			m.Guided = guided[0]
			m.Lots, err = lots.UsesOfEntry(ctx, tx, entryID)
			m.Lots = slices.DeleteFunc(m.Lots, func(u lots.Use) bool { return !actor.From(ctx).Sees(u.LegalEntityID) })
			return err
		}
		if m.Partial {
			return nil
		}
		return s.previewDraft(ctx, tx, b, &m)
	})
	return m, err
}

// missingWarnings returns a warning for each asset of which a draft would consume more than is held.
func missingWarnings(uses []lots.Use) (warnings []string) {
	of := map[string]money.Decimal{}
	for _, u := range uses {
		if u.LotID == "" && u.SourceID != "" && u.Kind != lots.Relocated { // something that was never parked is not missing
			of[u.AssetType] = of[u.AssetType].Add(u.Quantity)
		}
	}
	for _, symbol := range slices.Sorted(maps.Keys(of)) {
		warnings = append(warnings, of[symbol].String()+" "+symbol+
			" are missing at that time: import and post the missing acquisitions before posting this draft")
	}
	return warnings
}

// previewDraft adds the lots that a draft would consume now, and warnings of what would prevent its posting.
func (s *Service) previewDraft(ctx context.Context, tx *db.Tx, b *snapshot.Books, m *Booked) error {
	if m.TransactionID == "" {
		return nil
	}
	stored, err := selectBooking(ctx, tx, m.ID)
	if err != nil || stored == nil {
		return err
	}
	e, err := rebuild(ctx, tx, b, stored)
	var added replay.Added
	var refused error
	if err == nil {
		added, refused, err = tryEffect(ctx, tx, b, &e.effect)
	}
	switch {
	case err == nil:
	case fault.Refused(err):
		m.Guidance.ForbidPosting(err.Error())
		return nil
	default:
		return err
	}
	m.Lots = added.Uses
	m.Guidance.Warnings = append(m.Guidance.Warnings, missingWarnings(m.Lots)...)
	if refused != nil {
		m.Guidance.ForbidPosting(refused.Error())
	}
	if lines := difference(linesOf(added.Entry), paramsOf(m.Lines)); len(lines) > 0 {
		m.Guidance.Warnings = append(m.Guidance.Warnings,
			"the draft would consume other lots now than when it was created: posting recomputes its lines")
	}
	return nil
}
