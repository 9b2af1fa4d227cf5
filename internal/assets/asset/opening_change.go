package asset

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// UpdateParams are the changes asked for; nil leaves a field as it is.
type UpdateParams struct {
	LedgerAccountID *string
	CostBasis       *money.Decimal
	Quantity        *money.Decimal
	LegalEntityID   *string
}

func (p UpdateParams) over(l Lot) Lot {
	taken := l.taken()
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
	if l.RemainingQuantity = l.Quantity.Sub(taken); taken.IsZero() {
		l.RemainingBasis = l.CostBasis
	}
	return l
}

// Update changes an asset that was entered by hand, its entry, and everything that was taken from it. What changes nothing writes nothing.
func (s *Service) Update(ctx context.Context, assetID string, p UpdateParams) (h Held, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := s.books.Of(ctx, tx)
		if err != nil {
			return err
		}
		before, err := Find(ctx, tx, assetID)
		if err != nil {
			return err
		}
		if err := before.byHand(); err != nil {
			return err
		}
		after, err := p.settle(ctx, tx, b, before)
		if err != nil {
			return err
		}
		if !same(before, after) {
			if err := s.change(ctx, tx, b, before, after); err != nil {
				return err
			}
		}
		h, err = get(ctx, tx, assetID)
		return err
	})
	return h, err
}

// same tells that nothing of a lot that may be changed by hand is another.
func same(a, b Lot) bool {
	return a.LegalEntityID == b.LegalEntityID && a.LedgerAccountID == b.LedgerAccountID && a.CostBasis.Equal(b.CostBasis) &&
		a.Quantity.Equal(b.Quantity)
}

// settle gives the lot with the changes in it, or says everything that stands against them.
func (p UpdateParams) settle(ctx context.Context, tx *db.Tx, b *snapshot.Books, before Lot) (Lot, error) {
	after, taken, o := p.over(before), before.taken(), &objections{}
	if after.Quantity.Sign() > 0 && after.Quantity.Cmp(taken) < 0 {
		o.conflict("quantity", "%s of the asset were taken already: it cannot be less", taken)
	}
	moved, elsewhere := after.LegalEntityID != before.LegalEntityID, after.LedgerAccountID != before.LedgerAccountID
	if moved && !taken.IsZero() {
		o.conflict("legal_entity_id", "%s of the asset were taken already: it cannot become that of another legal entity", taken)
	}
	// What was taken left the old account. Were the rest on another one, taking it back, as late transactions do, would leave both wrong.
	if elsewhere && !taken.IsZero() {
		o.conflict("ledger_account_id", "%s of the asset were taken already, from the account it is on: it stays there", taken)
	}
	var holder source.Source // what stands already is not questioned
	if moved || elsewhere {
		sources, err := source.FindSomeUnchecked(ctx, tx, []string{before.SourceID})
		if err != nil {
			return after, err
		}
		holder = sources[before.SourceID]
	}
	return after, after.check(ctx, tx, o, b, holder)
}

// change carries out changes that were checked.
func (s *Service) change(ctx context.Context, tx *db.Tx, b *snapshot.Books, before, after Lot) error {
	now := tx.Now()
	after.UpdatedAt = &now
	change := s.correct
	if before.LegalEntityID != after.LegalEntityID {
		change = s.reopen
	}
	if err := change(ctx, tx, b, before, &after); err != nil {
		return err
	}
	record(ctx, tx, "asset.updated", &before, &after)
	return nil
}

// reopen lets another legal entity begin with the lot.
func (s *Service) reopen(ctx context.Context, tx *db.Tx, b *snapshot.Books, before Lot, after *Lot) error {
	opening, err := openingOf(ctx, tx, b, after.LegalEntityID)
	if err != nil {
		return err
	}
	if err := isOpen(b, after.LegalEntityID, opening); err != nil {
		return err
	}
	if err := s.drop(ctx, tx, b, before); err != nil {
		return err
	}
	periodID, err := s.open(ctx, tx, after, opening)
	if err != nil {
		return err
	}
	return s.ledger.hand(ctx, tx, b, nil, after, "", periodID)
}

// correct makes the opening entry what the lot says now: another one, or one at last, or none any more.
func (s *Service) correct(ctx context.Context, tx *db.Tx, b *snapshot.Books, before Lot, after *Lot) error {
	left, entered, err := s.restated(ctx, tx, b, before, after)
	if err != nil {
		return err
	}
	return s.ledger.hand(ctx, tx, b, &before, after, left, entered)
}

// restated is the accounting periods in which the lot no longer counts as it was, and counts as it is.
func (s *Service) restated(ctx context.Context, tx *db.Tx, b *snapshot.Books, before Lot, after *Lot) (left, entered string, err error) {
	free := after.CostBasis.IsZero()
	if !free && before.JournalEntryID != "" {
		left, err = s.restate(ctx, tx, after)
		return left, left, err
	}
	if left, err = s.reverse(ctx, tx, b, before); err != nil {
		return "", "", err
	}
	if free {
		after.JournalEntryID, after.OpenedIn = "", left
		return left, left, nil
	}
	entered, err = s.begin(ctx, tx, b, after)
	return left, entered, err
}

// begin posts what a lot without an entry cost after all.
func (s *Service) begin(ctx context.Context, tx *db.Tx, b *snapshot.Books, l *Lot) (periodID string, err error) {
	opening, err := openingOf(ctx, tx, b, l.LegalEntityID)
	if err != nil {
		return "", err
	}
	if err := isOpen(b, l.LegalEntityID, opening); err != nil {
		return "", err
	}
	return s.open(ctx, tx, l, opening)
}

// restate corrects the entry of a lot.
func (s *Service) restate(ctx context.Context, tx *db.Tx, l *Lot) (periodID string, err error) {
	e, err := journal.FindUnchecked(ctx, tx, l.JournalEntryID)
	if err != nil {
		return "", err
	}
	lines, err := l.lines(ctx, tx)
	if err != nil {
		return "", err
	}
	made, err := s.entries.Restate(ctx, tx, e, lines)
	l.JournalEntryID = made.ID
	return made.PeriodID, err
}
