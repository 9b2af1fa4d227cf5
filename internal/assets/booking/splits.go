package booking

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Split is a part of the amount that is booked to the target: an amount in the base currency of the legal entity, a
// percentage, or a quantity of what moved. The texts of the others are empty.
type Split struct {
	LedgerAccountID           string
	Amount, Percent, Quantity string
	Memo                      string
	TagIDs                    []string
}

// splitField returns the name of a field of a split.
func splitField(at string, i int, field string) string {
	return fmt.Sprintf("%ssplits[%d].%s", at, i, field)
}

// validateSplits collects the faults of the splits that follow from the splits themselves.
func (p Params) validateSplits(faults *fault.List, at string) {
	if len(p.Splits) == 0 {
		return
	}
	if p.LedgerAccountID != "" {
		faults.Addf(at+"splits", "cannot be combined with ledger_account_id, which they replace")
	}
	shares := make([]posting.SplitText, len(p.Splits))
	for i, s := range p.Splits {
		shares[i] = posting.SplitText{Amount: s.Amount, Percent: s.Percent, Quantity: s.Quantity}
		switch {
		case s.LedgerAccountID == "":
			faults.Addf(splitField(at, i, "ledger_account_id"), "is required")
		case len(slices.Compact(slices.Sorted(slices.Values(s.TagIDs)))) < len(s.TagIDs):
			faults.Addf(splitField(at, i, "tag_ids"), "must not name a tag twice")
		}
	}
	posting.ValidateShares(faults, at, shares, false)
}

// postingSplits returns the splits for rules/posting. They must be valid.
func (p Params) postingSplits() []posting.Split {
	var out []posting.Split
	for _, s := range p.Splits {
		split := posting.Split{Account: s.LedgerAccountID, Memo: s.Memo, TagIDs: s.TagIDs}
		for _, part := range []struct {
			text string
			to   **money.Decimal
		}{{s.Amount, &split.Amount}, {s.Percent, &split.Percent}, {s.Quantity, &split.Quantity}} {
			if part.text != "" {
				value := money.MustParse(part.text)
				*part.to = &value
			}
		}
		out = append(out, split)
	}
	return out
}

// splitsOf returns stored splits as parameters.
func splitsOf(stored []posting.Split) []Split {
	var out []Split
	for _, s := range stored {
		split := Split{LedgerAccountID: s.Account, Memo: s.Memo, TagIDs: s.TagIDs}
		for _, part := range []struct {
			value *money.Decimal
			to    *string
		}{{s.Amount, &split.Amount}, {s.Percent, &split.Percent}, {s.Quantity, &split.Quantity}} {
			if part.value != nil {
				*part.to = part.value.String()
			}
		}
		out = append(out, split)
	}
	return out
}

// validateSplitTargets returns an error with every split whose account or amount cannot be used. The account of a source that can
// hold what moved, or a clearing account, makes a movement a transfer, which is booked by itself. What a source cannot hold was
// bought from it or sold to it, and that can be a part of the amount: a sale to a bank account, less a fee.
func (m builder) validateSplitTargets(ctx context.Context, p Params, e *event, at string) error {
	var faults fault.List
	entity := m.books.Entities[e.first.Source.LegalEntityID]
	for i, s := range p.Splits {
		field := splitField(at, i, "ledger_account_id")
		a := m.books.Accounts[s.LedgerAccountID]
		sources, err := m.sourcesOf(ctx, a.ID)
		if err != nil {
			return err
		}
		carries, err := m.hasLots(ctx, entity.ID, a.ID)
		if err != nil {
			return err
		}
		held, err := m.heldAs(ctx, entity.ID, a.ID, e.first.Asset())
		if err != nil {
			return err
		}
		switch {
		case a.ID == p.OffsetAccountID:
			faults.Addf(field, "is the account of the source itself")
		case len(sources) > 0 && !isExchange(sources, entity.ID, e.first.Asset()):
			faults.AddConflictf(field, "the ledger account %s belongs to the source %s: a transfer is booked without splits", a, sources[0].Name)
		case a.Clearing && a.ID != m.books.Roles()[posting.Suspense]:
			faults.AddConflictf(field, "the ledger account %s is a clearing account: a transfer is booked without splits", a)
		case carries || held.Lots:
			faults.AddConflictf(field, "the ledger account %s carries lots: choose another account", a)
		}
		if symbol := e.first.Asset(); !money.IsFiat(symbol) && a.AssetType != "" && a.AssetType != symbol {
			faults.Addf(field, "the ledger account %s is for %s, not for %s", a, a.AssetType, symbol)
		}
		if s.Amount != "" && !money.MustParse(s.Amount).RoundTo(entity.BaseCurrency).Equal(money.MustParse(s.Amount)) {
			faults.Addf(splitField(at, i, "amount"), "must be in %s, with no more decimal places than that has", entity.BaseCurrency)
		}
	}
	return faults.Err()
}

// isExchange reports whether an asset that moves to or from some sources of a legal entity is sold or bought, because none can hold it.
func isExchange(sources []source.Source, legalEntityID, symbol string) bool {
	return !money.IsFiat(symbol) && holdingOf(sources) == posting.HoldsMoney &&
		!slices.ContainsFunc(sources, func(s source.Source) bool { return s.LegalEntityID != legalEntityID })
}

// requireSplitTags returns an error with every tag of a split that does not exist.
func (m builder) requireSplitTags(ctx context.Context, p Params, at string) error {
	var tags []string
	for _, s := range p.Splits {
		tags = append(tags, s.TagIDs...)
	}
	if len(tags) == 0 {
		return nil
	}
	found, err := tag.ExistingIDs(ctx, m.tx, tags)
	if err != nil {
		return err
	}
	var faults fault.List
	for i, s := range p.Splits {
		for n, id := range s.TagIDs {
			if !slices.Contains(found, id) {
				faults.AddMissing("tag", splitField(at, i, fmt.Sprintf("tag_ids[%d]", n)))
			}
		}
	}
	return faults.Err()
}
