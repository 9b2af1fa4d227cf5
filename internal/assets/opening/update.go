package opening

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// UpdateParams are changes to an opening balance; nil leaves a field as it is.
type UpdateParams struct {
	LedgerAccountID *string
	CostBasis       *money.Decimal
	Quantity        *money.Decimal
	LegalEntityID   *string
}

// apply returns the lot with the changes. What was consumed of it stays consumed.
func (p UpdateParams) apply(l lots.Lot) lots.Lot {
	consumed := l.Consumed()
	if p.LedgerAccountID != nil {
		l.LedgerAccountID = *p.LedgerAccountID
	}
	if p.CostBasis != nil {
		l.CostBasis = *p.CostBasis
	}
	if p.Quantity != nil {
		l.Quantity = *p.Quantity
	}
	if p.LegalEntityID != nil {
		l.LegalEntityID = *p.LegalEntityID
	}
	if l.RemainingQuantity = l.Quantity.Sub(consumed); consumed.IsZero() {
		l.RemainingBasis = l.CostBasis
	}
	return l
}

// Update changes an opening balance, its entry, and every entry that consumed it. If nothing changes, nothing is written.
func (s *Service) Update(ctx context.Context, assetID string, p UpdateParams) (h lots.Held, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		before, err := lots.Find(ctx, tx, assetID)
		if err != nil {
			return err
		}
		if err := requireManual(&before); err != nil {
			return err
		}
		after, err := p.resolve(ctx, tx, b, before)
		if err != nil {
			return err
		}
		if err := markPending(ctx, tx, &after); err != nil {
			return err
		}
		if !sameParams(&before, &after) {
			if err := s.change(ctx, tx, b, before, after); err != nil {
				return err
			}
		}
		h, err = lots.Show(ctx, tx, assetID)
		return err
	})
	return h, err
}

// sameParams reports whether two lots agree in everything that an update can change.
func sameParams(a, b *lots.Lot) bool {
	return a.LegalEntityID == b.LegalEntityID && a.LedgerAccountID == b.LedgerAccountID && a.CostBasis.Equal(b.CostBasis) &&
		a.Quantity.Equal(b.Quantity) && a.BasisPending == b.BasisPending
}

// resolve returns the lot with the changes, or an error with all of their faults.
func (p UpdateParams) resolve(ctx context.Context, tx *db.Tx, b *snapshot.Books, before lots.Lot) (lots.Lot, error) {
	after, consumed, o := p.apply(before), before.Consumed(), &fault.List{}
	if after.Quantity.Sign() > 0 && after.Quantity.Cmp(consumed) < 0 {
		o.AddConflictf("quantity", "%s of the asset are consumed already: the quantity cannot be less", consumed)
	}
	moved, elsewhere := after.LegalEntityID != before.LegalEntityID, after.LedgerAccountID != before.LedgerAccountID
	if moved && !consumed.IsZero() {
		o.AddConflictf("legal_entity_id", "%s of the asset are consumed already: it cannot move to another legal entity. Move what is "+
			"left by an INTERCOMPANY TRANSFER", consumed)
		moved, after.LegalEntityID = false, before.LegalEntityID // so that only the other fields are checked
	}
	// What was consumed left the old account. If the rest moved to another one, a replay that gives it back would leave
	// both accounts wrong.
	if elsewhere && !consumed.IsZero() {
		o.AddConflictf("ledger_account_id", "%s of the asset are consumed already: it cannot move to another ledger account", consumed)
	}
	var heldAt source.Source // fields that do not change are not checked again
	if moved || elsewhere {
		sources, err := source.FindSomeUnchecked(ctx, tx, []string{before.SourceID})
		if err != nil {
			return after, err
		}
		heldAt = sources[before.SourceID]
	}
	return after, validateLot(ctx, tx, o, b, &after, heldAt)
}

// change stores validated changes.
func (s *Service) change(ctx context.Context, tx *db.Tx, b *snapshot.Books, before, after lots.Lot) error {
	now := tx.Now()
	after.UpdatedAt = &now
	change := s.correct
	if before.LegalEntityID != after.LegalEntityID {
		change = s.moveToEntity
	}
	if err := change(ctx, tx, b, before, &after); err != nil {
		return err
	}
	recordAudit(ctx, tx, "asset.updated", &before, &after)
	return nil
}

// moveToEntity makes the lot an opening balance of another legal entity.
func (s *Service) moveToEntity(ctx context.Context, tx *db.Tx, b *snapshot.Books, before lots.Lot, after *lots.Lot) error {
	if err := requireOpenBooks(b, after.LegalEntityID); err != nil {
		return err
	}
	if err := s.remove(ctx, tx, b, before); err != nil {
		return err
	}
	entered, err := s.postOpening(ctx, tx, after)
	if err != nil {
		return err
	}
	return s.save(ctx, tx, b, replay.Opening{After: after, Entered: entered})
}

// correct updates the opening entry to match the changed lot: it is corrected, posted for the first time, or reversed.
func (s *Service) correct(ctx context.Context, tx *db.Tx, b *snapshot.Books, before lots.Lot, after *lots.Lot) error {
	c, err := s.correctEntry(ctx, tx, b, before, after)
	if err != nil {
		return err
	}
	c.Before, c.After = &before, after
	return s.save(ctx, tx, b, c)
}

// correctEntry does so, and returns when the lot is no longer counted as it was, and when it is counted as it is.
func (s *Service) correctEntry(ctx context.Context, tx *db.Tx, b *snapshot.Books, before lots.Lot,
	after *lots.Lot) (replay.Opening, error) {
	free := after.CostBasis.IsZero()
	if !free && before.JournalEntryID != "" {
		return s.restate(ctx, tx, after)
	}
	c, err := s.reverse(ctx, tx, b, before)
	if err != nil {
		return c, err
	}
	if free {
		after.JournalEntryID, after.OpenedIn = "", c.Left.PeriodID
		c.Entered = lots.Dated{PeriodID: c.Left.PeriodID}
		return c, nil
	}
	if err := requireOpenBooks(b, after.LegalEntityID); err != nil {
		return c, err
	}
	c.Entered, err = s.postOpening(ctx, tx, after)
	return c, err
}

// restate corrects the opening entry of a lot.
func (s *Service) restate(ctx context.Context, tx *db.Tx, l *lots.Lot) (c replay.Opening, err error) {
	e, err := journal.FindUnchecked(ctx, tx, l.JournalEntryID)
	if err != nil {
		return c, err
	}
	lines, err := openingLines(ctx, tx, l)
	if err != nil {
		return c, err
	}
	made, err := s.entries.Restate(ctx, tx, e, lines)
	l.JournalEntryID = made.ID
	return replay.Opening{Stored: datedAs(e), Left: datedAs(made), Entered: datedAs(made)}, err
}
