package lots

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// picksMax is the maximum number of lots that may be selected for one disposal.
const picksMax = 1000

// Selection is the lots that a user selected for a disposal before it was posted. Without picks there is none.
type Selection struct {
	TransactionID string
	Picks         []lot.Pick
	By            string
	At            *time.Time
}

// facts returns what audit records and events contain of a selection.
func (c Selection) facts() map[string]any {
	if len(c.Picks) == 0 {
		return nil
	}
	list := make([]map[string]any, len(c.Picks))
	for i, p := range c.Picks {
		list[i] = map[string]any{"asset_id": p.Lot, "quantity": p.Quantity}
	}
	return map[string]any{"transaction_id": c.TransactionID, "selections": list, "created_by": db.OrNull(c.By),
		"created_at": clock.Format(*c.At)}
}

func (c Selection) hasPicks(picks []lot.Pick) bool {
	if len(c.Picks) != len(picks) {
		return false
	}
	for i, p := range picks {
		if c.Picks[i].Lot != p.Lot || !c.Picks[i].Quantity.Equal(p.Quantity) {
			return false
		}
	}
	return true
}

// Selections returns the lots that were selected for transactions, in the order in which they are consumed. It is a
// building block.
func Selections(ctx context.Context, tx *db.Tx, transactionIDs []string) (map[string][]lot.Pick, error) {
	return selectPicks(ctx, tx, transactionIDs)
}

// Selection returns the selection for a transaction.
func (s *Service) Selection(ctx context.Context, transactionID string) (c Selection, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := transaction.Find(ctx, tx, transactionID); err != nil {
			return err
		}
		c, err = selectSelection(ctx, tx, transactionID)
		return err
	})
	return c, err
}

// SelectLots stores the lots that a disposal will consume, in place of an earlier selection. Without picks it deletes the
// selection. If nothing changes, nothing is written.
func (s *Service) SelectLots(ctx context.Context, transactionID string, picks []lot.Pick) (after Selection, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		if err := validateSelection(ctx, tx, b, transactionID, picks); err != nil {
			return err
		}
		before, err := selectSelection(ctx, tx, transactionID)
		if err != nil {
			return err
		}
		if after = before; before.hasPicks(picks) {
			return nil
		}
		after = Selection{TransactionID: transactionID, Picks: picks}
		if len(picks) > 0 {
			now := tx.Now()
			after.By, after.At = cmp.Or(who.UserID, who.APIKeyID), &now
		}
		if err := replaceSelection(ctx, tx, after); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{
			Action: "lot_selection.stored", ResourceType: "lot_selection", ResourceID: transactionID,
			Before: nilIfEmpty(before.facts()), After: nilIfEmpty(after.facts()), Object: after,
		})
		return nil
	})
	return after, err
}

// nilIfEmpty returns the facts, or nil if there are none.
func nilIfEmpty(facts map[string]any) any {
	if facts == nil {
		return nil
	}
	return facts
}

// validatePicks returns every fault that picks have by themselves.
func validatePicks(picks []lot.Pick) (faults fault.List) {
	if len(picks) > picksMax {
		faults.Addf("selections", "must have at most %d items", picksMax)
	}
	first := map[string]int{}
	for i, p := range picks {
		if p.Quantity.Sign() <= 0 {
			faults.Addf(fmt.Sprintf("selections[%d].quantity", i), "must be positive")
		}
		if other, twice := first[p.Lot]; twice {
			faults.Addf(fmt.Sprintf("selections[%d].asset_id", i), "is the same as in selections[%d]", other)
		} else {
			first[p.Lot] = i
		}
	}
	return faults
}

// validateSelection returns an error with every reason why lots cannot be selected for a transaction.
func validateSelection(ctx context.Context, tx *db.Tx, b *snapshot.Books, transactionID string, picks []lot.Pick) error {
	faults := validatePicks(picks)
	t, err := transaction.Find(ctx, tx, transactionID)
	if err := faults.MergeMissing(err, "transaction_id"); err != nil {
		return err
	}
	if err == nil {
		if err := faults.Merge(validateSelectable(t)); err != nil {
			return err
		}
	}
	if len(picks) == 0 {
		return faults.Err()
	}
	ids := make([]string, len(picks))
	for i, p := range picks {
		ids[i] = p.Lot
	}
	found, err := ByID(ctx, tx, ids)
	if err != nil {
		return err
	}
	lots := make(map[string]Lot, len(found))
	for _, l := range found {
		lots[l.ID] = l
	}
	for i, id := range ids {
		if l, there := lots[id]; !there || !actor.From(ctx).Sees(l.LegalEntityID) {
			faults.AddMissing(Noun, fmt.Sprintf("selections[%d].asset_id", i))
		}
	}
	if err := faults.Err(); err != nil {
		return err
	}
	if err := validateMethod(b, t.Source.LegalEntityID, t.At); err != nil {
		return err
	}
	return validatePickedLots(b, t, picks, lots)
}

// validateSelectable returns an error if lots cannot be selected for a transaction, or no longer.
func validateSelectable(t transaction.Transaction) error {
	conflict := func(format string, args ...any) error {
		text := fmt.Sprintf(format, args...)
		return fault.ConflictAt([]fault.Field{{Name: "transaction_id", Message: text}}, "%s: %s", t.SequenceNumber(), text)
	}
	switch {
	case transaction.IsInflow(t.Direction):
		return fault.Invalidf("transaction_id", "is an inflow: lots are selected for outflows only")
	case money.IsFiat(t.Asset()):
		return fault.Invalidf("transaction_id", "is in %s, and money has no lots", t.Asset())
	case t.Status == transaction.Posted:
		return conflict("is posted: unpost or correct its journal entry first")
	case t.Status == transaction.Spam:
		return conflict("is spam")
	case t.Crypto != nil && t.Crypto.TokenID != "":
		return conflict("is an NFT, whose lot need not be selected")
	case t.Quantity == nil:
		return conflict("has no quantity")
	}
	return nil
}

// validateMethod returns an error if the cost basis method of the legal entity selects the lots itself.
func validateMethod(b *snapshot.Books, legalEntityID string, at time.Time) error {
	day := calendar.DateOf(at, b.Zone)
	method := b.MethodOn(legalEntityID, day)
	if method == entity.MethodSpecificID {
		return nil
	}
	text := fmt.Sprintf(
		"on %s the cost basis method of %s is %s, which selects the lots itself: lots can only be selected under %s", day,
		b.Entities[legalEntityID].Name, method, entity.MethodSpecificID)
	return fault.ConflictAt([]fault.Field{{Name: "transaction_id", Message: text}}, "%s", text)
}

// validatePickedLots returns an error with every pick that does not fit the transaction.
func validatePickedLots(b *snapshot.Books, t transaction.Transaction, picks []lot.Pick, lots map[string]Lot) error {
	var faults fault.List
	var sum money.Decimal
	symbol, scope := t.Asset(), b.Entities[t.Source.LegalEntityID].CostBasisScope
	from := PoolOf(b, posting.Place{Source: t.Source.ID, Account: t.Source.LedgerAccountID, Entity: t.Source.LegalEntityID},
		posting.Asset{Symbol: symbol, Chain: chainOf(t)}, "")
	for i, p := range picks {
		sum = sum.Add(p.Quantity)
		l, at := lots[p.Lot], fmt.Sprintf("selections[%d].", i)
		since, err := l.heldSince()
		if err != nil {
			return err
		}
		switch {
		case l.AssetType != symbol || l.TokenID != "":
			faults.Addf(at+"asset_id", "is a lot of %s, but %s is of %s", l.AssetType, t.SequenceNumber(), symbol)
		case l.LegalEntityID != t.Source.LegalEntityID:
			faults.Addf(at+"asset_id", "is of another legal entity than %s", t.SequenceNumber())
		case l.SourceID == "":
			faults.Addf(at+"asset_id", "is in transit between two sources")
		case scope == entity.ScopeSource && l.SourceID != t.Source.ID:
			faults.Addf(at+"asset_id", "is held by another source than that of %s", t.SequenceNumber())
		case l.Pool != from.Key:
			faults.Addf(at+"asset_id", "is on another chain than %s, or on a separate ledger account", t.SequenceNumber())
		case since.After(t.At):
			faults.Addf(at+"asset_id", "has been held since %s, after %s of %s", clock.Format(since), t.SequenceNumber(), clock.Format(t.At))
		case p.Quantity.Cmp(l.RemainingQuantity) > 0:
			faults.Addf(at+"quantity", "is more than the %s that are left", l.RemainingQuantity)
		}
	}
	if !sum.Equal(*t.Quantity) {
		faults.Addf("selections", "add up to %s, but the quantity of %s is %s", sum, t.SequenceNumber(), t.Quantity)
	}
	return faults.Err()
}

// chainOf returns the chain of the lots of a transaction: its own, or that of its source.
func chainOf(t transaction.Transaction) string {
	if t.Crypto != nil && t.Crypto.Chain != "" {
		return strings.ToLower(t.Crypto.Chain)
	}
	return strings.ToLower(t.Source.Chain)
}
