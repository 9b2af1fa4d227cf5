package asset

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/area/source"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
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
		shown, err := get(ctx, tx, assetID)
		if err != nil {
			return err
		}
		before := shown.Lot
		if err := before.byHand(); err != nil {
			return err
		}
		after, err := p.settle(ctx, tx, b, before)
		if err != nil {
			return err
		}
		if c := changesOf(before, after); c != (changes{}) {
			if err := s.change(ctx, tx, b, before, after, c); err != nil {
				return err
			}
		}
		h, err = get(ctx, tx, assetID)
		return err
	})
	return h, err
}

// changes is what of a lot becomes another.
type changes struct{ entity, amounts, account bool }

func changesOf(before, after Lot) changes {
	return changes{
		before.LegalEntityID != after.LegalEntityID, !before.CostBasis.Equal(after.CostBasis) || !before.Quantity.Equal(after.Quantity),
		before.LedgerAccountID != after.LedgerAccountID,
	}
}

// settle gives the lot with the changes in it, or says everything that stands against them.
func (p UpdateParams) settle(ctx context.Context, tx *db.Tx, b *books.Books, before Lot) (Lot, error) {
	after := p.over(before)
	c, taken, o := changesOf(before, after), before.taken(), &objections{}
	sources, err := source.Some(ctx, tx, []string{before.SourceID})
	if err != nil {
		return after, err
	}
	if after.Quantity.Sign() > 0 && after.Quantity.Cmp(taken) < 0 {
		o.conflict("quantity", "%s of the asset were taken already: it cannot be less", taken)
	}
	if c.entity && !taken.IsZero() {
		o.conflict("legal_entity_id", "%s of the asset were taken already: it cannot become that of another legal entity", taken)
	}
	holder := sources[before.SourceID]
	if !c.account && !c.entity {
		holder = source.Source{} // what stands already is not questioned
	}
	return after, after.check(ctx, tx, o, b, holder)
}

// change carries out changes that were checked. Where nothing was taken, or another cost is the matter, the opening entry is corrected; where only
// the account is another one for what is left, that is moved there now.
func (s *Service) change(ctx context.Context, tx *db.Tx, b *books.Books, before, after Lot, c changes) (err error) {
	now := tx.Now()
	after.UpdatedAt = &now
	switch taken := !before.taken().IsZero(); {
	case c.entity:
		err = s.reopen(ctx, tx, b, before, &after)
	case taken && c.account:
		if c.amounts {
			return fault.ConflictAt([]fault.Field{{Name: "ledger_account_id", Message: "part of the asset was taken already"}},
				"part of the asset was taken already: change its account by itself, after its cost or quantity")
		}
		err = s.reclassify(ctx, tx, before, after)
	default:
		err = s.correct(ctx, tx, b, before, &after)
	}
	if err != nil {
		return err
	}
	record(ctx, tx, "asset.updated", &before, &after)
	return s.ledger.Alter(ctx, tx, before, after)
}

// reopen lets another legal entity begin with the lot.
func (s *Service) reopen(ctx context.Context, tx *db.Tx, b *books.Books, before Lot, after *Lot) error {
	opening, err := openingOf(ctx, tx, b, after.LegalEntityID)
	if err != nil {
		return err
	}
	if err := isOpen(b, after.LegalEntityID, opening); err != nil {
		return err
	}
	if err := s.reverse(ctx, before); err != nil {
		return err
	}
	after.JournalEntryID, err = s.open(ctx, tx, *after, opening)
	return err
}

// correct makes the opening entry what the lot says now: another one, or one at last, or none any more.
func (s *Service) correct(ctx context.Context, tx *db.Tx, b *books.Books, before Lot, after *Lot) error {
	switch {
	case before.JournalEntryID == "":
		opening, err := openingOf(ctx, tx, b, after.LegalEntityID)
		if err != nil {
			return err
		}
		if !after.CostBasis.IsZero() {
			if err := isOpen(b, after.LegalEntityID, opening); err != nil {
				return err
			}
		}
		after.JournalEntryID, err = s.open(ctx, tx, *after, opening)
		return err
	case after.CostBasis.IsZero():
		after.JournalEntryID = ""
		return s.reverse(ctx, before)
	}
	was, err := journal.Find(ctx, tx, before.JournalEntryID)
	if err != nil {
		return err
	}
	if was.Lines[0].LedgerAccountID != before.LedgerAccountID {
		return fault.Conflictf("the asset was moved to another account when part of it was taken already: its cost and quantity stay as they are")
	}
	lines, err := after.lines(ctx, tx)
	if err != nil {
		return err
	}
	memo := after.memo()
	made, err := s.entries.Correct(ctx, before.JournalEntryID, journal.UpdateParams{Lines: &lines, Memo: &memo})
	after.JournalEntryID = made.ID
	return err
}

// reclassify moves the cost of what is left from one account to another, now.
func (s *Service) reclassify(ctx context.Context, tx *db.Tx, before, after Lot) error {
	if before.RemainingBasis.IsZero() {
		return nil
	}
	_, err := s.enter(ctx, tx, journal.CreateParams{
		LegalEntityID: before.LegalEntityID, AccountingDate: tx.Now().Format(time.RFC3339Nano), OriginatedBy: journal.ByOpening,
		Memo: "Reclassification: " + before.RemainingQuantity.String() + " " + before.AssetType,
		Lines: []journal.LineParams{
			before.line(book.Debit, after.LedgerAccountID, before.RemainingBasis), before.line(book.Credit, before.LedgerAccountID, before.RemainingBasis),
		},
	})
	return err
}
