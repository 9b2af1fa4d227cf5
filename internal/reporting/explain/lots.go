package explain

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

var lotColumns = []string{"remaining_basis", "remaining_quantity", "quantity", "cost_basis", "unit_cost", "price", "market_value",
	"unrealized_gain_loss"}

// lot explains a figure of one lot.
func (i *inquiry) lot(ctx context.Context) error {
	l, end, err := i.holdings.TaxLot(ctx, i.q.AssetID, i.q.AsOf)
	if err != nil {
		return err
	}
	if err := i.showLotChain(ctx, l.ID); err != nil {
		return err
	}
	i.out.Lots[0].RemainingQuantity, i.out.Lots[0].RemainingBasis = l.RemainingQuantity, l.RemainingBasis
	i.out.Price = l.Worth.Price
	column := func(name string) *Query { return i.q.with("column", name) }
	before := useFilter{lotID: l.ID, until: end}
	switch i.q.Column {
	case "quantity":
		i.lotItself(l.Quantity, l.AssetType)
	case "cost_basis":
		i.lotItself(l.CostBasis, l.Currency)
	case "remaining_quantity":
		i.out.setValue(l.RemainingQuantity, l.AssetType)
		i.out.add("quantity", l.Quantity, column("quantity"), NoList)
		i.out.add("consumed", l.RemainingQuantity.Sub(l.Quantity), nil, Dispositions)
		return i.listUses(ctx, before, func(u Use) money.Decimal { return u.Quantity.Neg() })
	case "remaining_basis":
		i.out.setValue(l.RemainingBasis, l.Currency)
		total, _, err := sumUses(ctx, i.tx, before)
		if err != nil {
			return err
		}
		i.out.add("cost basis", l.CostBasis, column("cost_basis"), NoList)
		i.out.add("consumed", total["cost_basis"].Neg(), nil, Dispositions)
		i.out.addRemainder("adjustment to the average cost of the pool")
		return i.listUses(ctx, before, func(u Use) money.Decimal { return u.Basis.Neg() })
	case "unit_cost":
		i.out.setValue(l.UnitCost, perUnit(l.Currency, l.AssetType))
		i.out.add(fmt.Sprintf("%s / %s %s", l.CostBasis.Fixed(l.Currency), l.Quantity, l.AssetType), l.UnitCost, column("cost_basis"), NoList)
	case "price":
		i.explainPrice(l.Worth, l.AssetType, l.Currency)
	case "market_value":
		i.explainValue(l.Worth, l.RemainingQuantity, l.AssetType, l.Currency, column("remaining_quantity"))
	case "unrealized_gain_loss":
		i.out.Value, i.out.Unit = l.Unrealized, l.Currency
		if l.Unrealized != nil {
			i.out.add("market value", *l.Worth.Value, column("market_value"), NoList)
			i.out.add("remaining basis", l.RemainingBasis.Neg(), column("remaining_basis"), NoList)
		}
	}
	return nil
}

// lotItself explains the initial figures of a lot.
func (i *inquiry) lotItself(value money.Decimal, unit string) {
	i.out.setValue(value, unit)
	i.out.Lots[0].Amount = &value
	label := map[string]string{"manual": "entered manually", "transaction": "acquired",
		"move": "carried over from the parent lot"}[i.out.Lots[0].Origin]
	i.out.add(label, value, nil, Lots)
}

// perUnit returns the unit of a price.
func perUnit(currency, asset string) string { return currency + "/" + asset }

// noPrice is the formula of a figure that is unknown for lack of a price.
func noPrice(w holdings.Worth, asset, currency string) string {
	return fmt.Sprintf("unknown: no price of %s in %s is stored for %s or the day before", asset, currency, clock.Format(w.At))
}

// explainPrice explains a price.
func (i *inquiry) explainPrice(w holdings.Worth, asset, currency string) {
	i.out.Unit, i.out.Price = perUnit(currency, asset), w.Price
	if w.Price == nil {
		i.out.Formula = noPrice(w, asset, currency)
		return
	}
	i.out.Value = &w.Price.Value
	i.out.add("stored price", w.Price.Value, nil, NoList)
}

// explainValue explains a value as quantity times price.
func (i *inquiry) explainValue(w holdings.Worth, quantity money.Decimal, asset, currency string, of *Query) {
	i.out.Value, i.out.Unit, i.out.Price = w.Value, currency, w.Price
	switch {
	case w.Value == nil:
		i.out.Formula = noPrice(w, asset, currency)
	case w.Price != nil:
		i.out.add(fmt.Sprintf("%s %s at %s", quantity, asset, w.Price.Value), *w.Value, of, NoList)
	}
}

// chainMax bounds how many origins of a lot are followed.
const chainMax = 100

// showLotChain shows a lot and the lots it came from, up to the first that was acquired or that the actor may not see.
func (i *inquiry) showLotChain(ctx context.Context, lotID string) error {
	for lotID != "" && len(i.out.Lots) < chainMax {
		l, err := lots.Find(ctx, i.tx, lotID)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		i.out.Lots = append(i.out.Lots, lotOf(l))
		lotID = l.ParentID
	}
	return nil
}

// showLotsOf shows the lots that an entry created and the uses that it made.
func (i *inquiry) showLotsOf(ctx context.Context, entryID string) error {
	made, err := lots.OfEntries(ctx, i.tx, entryID)
	if err != nil {
		return err
	}
	who := actor.From(ctx)
	for _, l := range made {
		if who.Sees(l.LegalEntityID) {
			i.out.Lots = append(i.out.Lots, lotOf(l))
		}
	}
	taken, err := lots.UsesOfEntry(ctx, i.tx, entryID)
	if err != nil {
		return err
	}
	taken = slices.DeleteFunc(taken, func(u lots.Use) bool { return !who.Sees(u.LegalEntityID) })
	added, err := realized.OfUses(ctx, i.tx, taken)
	for _, u := range taken {
		use := useOf(u)
		use.BookGain = u.Gain.Add(added[u.ID])
		i.out.Uses = append(i.out.Uses, use)
	}
	return err
}

func lotOf(l lots.Lot) Lot {
	return Lot{
		ID: l.ID, AssetType: l.AssetType, LegalEntityID: l.LegalEntityID, SourceID: l.SourceID, LedgerAccountID: l.LedgerAccountID,
		AcquiredAt: l.AcquiredAt, Quantity: l.Quantity,
		RemainingQuantity: l.RemainingQuantity, CostBasis: l.CostBasis, RemainingBasis: l.RemainingBasis, Currency: l.Currency,
		Origin: string(l.Origin), ParentID: l.ParentID,
		JournalEntryID: l.JournalEntryID, TransactionID: l.TransactionID,
	}
}

func useOf(u lots.Use) Use {
	return Use{
		ID: u.ID, Kind: u.Kind, LotID: u.LotID, AssetType: u.AssetType, LegalEntityID: u.LegalEntityID, JournalEntryID: u.JournalEntryID,
		TransactionID: u.TransactionID, TransactionType: u.TransactionType,
		Date: u.AccountingDate, DisposedAt: u.DisposedAt, Quantity: u.Quantity, Basis: u.Basis, Proceeds: u.Proceeds, Fee: u.Fee,
		Gain: u.Gain, Currency: u.Currency, Term: u.Term,
		Method: u.Method, Correction: u.Correction,
	}
}
