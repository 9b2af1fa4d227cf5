package booking

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Get gives an entry with its lots: those it took, or, of a draft, those it would take now.
func (s *Service) Get(ctx context.Context, entryID string) (m Made, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		var b *snapshot.Books
		if m.Guided, b, err = journal.Show(ctx, tx, entryID); err != nil {
			return err
		}
		if m.Status == journal.Posted {
			m.Lots, err = asset.UsesOf(ctx, tx, entryID)
			return err
		}
		return s.preview(ctx, tx, b, &m)
	})
	return m, err
}

// missing warns of what a draft would take and is not there.
func missing(lots []asset.Use) (warnings []string) {
	of := map[string]money.Decimal{}
	for _, u := range lots {
		if u.LotID == "" && u.SourceID != "" && u.Kind != asset.Relocated { // what was never parked is not missed
			of[u.AssetType] = of[u.AssetType].Add(u.Quantity)
		}
	}
	for _, symbol := range slices.Sorted(maps.Keys(of)) {
		warnings = append(warnings, of[symbol].String()+" "+symbol+
			" are missing at that time: bring in and post what is missing before posting this")
	}
	return warnings
}

// preview looks at the lots a draft would take, and warns of what would prevent its posting.
func (s *Service) preview(ctx context.Context, tx *db.Tx, b *snapshot.Books, m *Made) error {
	if m.TransactionID == "" {
		return nil
	}
	stored, err := selectBooking(ctx, tx, m.ID)
	if err != nil || stored == nil {
		return err
	}
	e, err := remake(ctx, tx, b, stored)
	look := asset.NewReplay(tx, b, loader(b), true)
	if err == nil {
		look.Add(m.ID, e.work)
		err = look.Run(ctx)
	}
	switch kind := fault.KindOf(err); {
	case err == nil:
	case kind == fault.Conflict || kind == fault.Invalid || kind == fault.NotFound:
		m.Guidance.Warnings = append(m.Guidance.Warnings, err.Error())
		return nil
	default:
		return err
	}
	m.Lots = look.Slices(m.ID)
	m.Guidance.Warnings = append(m.Guidance.Warnings, missing(m.Lots)...)
	if lines := difference(linesOf(look.Entry(m.ID)), paramsOf(m.Lines)); len(lines) > 0 {
		m.Guidance.Warnings = append(m.Guidance.Warnings, "other lots would be taken now than when it was drafted: posting makes its lines anew")
	}
	return nil
}
