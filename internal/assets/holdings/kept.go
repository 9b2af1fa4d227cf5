package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
)

// KeepPrices returns the prices that a closing of a period keeps: one for each asset that a legal entity holds at its end. It is a
// building block for package period.
func KeepPrices(ctx context.Context, tx *db.Tx, month period.Period, legalEntityIDs []string) ([]period.KeptPrice, error) {
	if len(legalEntityIDs) == 0 {
		return nil, nil
	}
	held, err := Positions(ctx, tx, month.Key, Filter{LegalEntityIDs: legalEntityIDs})
	if err != nil {
		return nil, err
	}
	var of []entityAsset
	var wanted []assetCurrency
	known := map[entityAsset]bool{}
	for _, p := range held {
		o := entityAsset{p.LegalEntityID, p.AssetType}
		if !known[o] {
			known[o], of, wanted = true, append(of, o), append(wanted, assetCurrency{p.AssetType, p.Currency})
		}
	}
	prices, err := pricesAt(ctx, tx, month.End.Add(-time.Millisecond), wanted)
	if err != nil {
		return nil, err
	}
	out := make([]period.KeptPrice, len(of))
	for i, o := range of {
		out[i] = period.KeptPrice{LegalEntityID: o.legalEntityID, AssetType: o.asset}
		if p := prices[wanted[i]]; p != nil {
			out[i].Price, out[i].PriceID, out[i].At, out[i].Origin = &p.Value, p.ID, p.At, string(p.Origin)
			if t := p.Translated; t != nil {
				out[i].Translated = &period.KeptTranslation{Currency: t.Currency, Price: t.Stored, Rate: t.Rate, Date: t.Date}
			}
		}
	}
	return out, nil
}

// KeepAdjustments returns the adjustments that a closing of a period keeps: one for each position, at its end, of an asset that a legal
// entity has adjusted. Later events can delete or replace the lots that they belong to. It is a building block for package period.
func KeepAdjustments(ctx context.Context, tx *db.Tx, month period.Period, legalEntityIDs []string) ([]period.KeptAdjustment, error) {
	if len(legalEntityIDs) == 0 {
		return nil, nil
	}
	held, err := Positions(ctx, tx, month.Key, Filter{LegalEntityIDs: legalEntityIDs})
	if err != nil || len(held) == 0 {
		return nil, err
	}
	entities, err := snapshot.Entities(ctx, tx)
	if err != nil {
		return nil, err
	}
	s := &scope{entities: entities}
	adjusted, err := s.adjustments(ctx, tx, month, held)
	var out []period.KeptAdjustment
	for _, p := range held {
		if amount, there := adjusted[[6]string(p.key())]; there {
			out = append(out, period.KeptAdjustment{KeptPosition: p.kept(), Amount: amount})
		}
	}
	return out, err
}

// kept returns the position by which its adjustment is kept.
func (p Position) kept() period.KeptPosition {
	k := period.KeptPosition{LegalEntityID: p.LegalEntityID, AssetType: p.AssetType, SourceID: p.SourceID, Chain: p.Chain,
		TokenID: p.TokenID}
	if p.SourceID == "" {
		k.LedgerAccountID = p.LedgerAccountID
	}
	return k
}

// keptAmounts are kept adjustments by asset and position.
type keptAmounts map[entityAsset]map[period.KeptPosition]money.Decimal

// keptAdjustments reads the adjustments that were kept when a period was closed.
func keptAdjustments(ctx context.Context, tx *db.Tx, periodID string, f Filter) (keptAmounts, error) {
	kept, err := period.KeptAdjustments(ctx, tx, periodID, f.LegalEntityIDs, f.AssetTypes)
	out := keptAmounts{}
	for _, k := range kept {
		o := entityAsset{k.LegalEntityID, k.AssetType}
		if out[o] == nil {
			out[o] = map[period.KeptPosition]money.Decimal{}
		}
		out[o][k.KeptPosition] = k.Amount
	}
	return out, err
}

// split returns the kept adjustments of the positions of an asset, and reports whether there are any.
func (a keptAmounts) split(o entityAsset, places []Position) ([]money.Decimal, bool) {
	amounts, there := a[o]
	parts := make([]money.Decimal, len(places))
	for i, p := range places {
		parts[i] = amounts[p.kept()]
	}
	return parts, there
}

// pricesAtEnd returns the prices by which holdings are valued at the end of a period, or now if it is not over: those that were kept when
// the period was closed, otherwise those that are stored.
func (s *scope) pricesAtEnd(ctx context.Context, tx *db.Tx, month period.Period, wanted []entityAsset) (
	map[entityAsset]*price.Price, error) {
	var entities []string
	for _, w := range wanted {
		entities = append(entities, w.legalEntityID)
	}
	out := map[entityAsset]*price.Price{}
	if len(entities) == 0 {
		return out, nil
	}
	kept, err := period.KeptPrices(ctx, tx, month.ID, entities)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		out[entityAsset{k.LegalEntityID, k.AssetType}] = keptPrice(k, s.entity(k.LegalEntityID).BaseCurrency)
	}
	var rest []assetCurrency
	var of []entityAsset
	for _, w := range wanted {
		if _, is := out[w]; !is {
			rest, of = append(rest, assetCurrency{w.asset, s.entity(w.legalEntityID).BaseCurrency}), append(of, w)
		}
	}
	prices, err := pricesAt(ctx, tx, valuedAt(month, tx.Now()), rest)
	for i, w := range of {
		out[w] = prices[rest[i]]
	}
	return out, err
}

// keptPrice returns a kept price as a price in a currency, nil if there was none.
func keptPrice(k period.KeptPrice, currency string) *price.Price {
	if k.Price == nil {
		return nil
	}
	out := &price.Price{ID: k.PriceID, AssetType: k.AssetType, Currency: currency, At: k.At, Value: *k.Price, Origin: price.Origin(k.Origin)}
	if t := k.Translated; t != nil {
		out.Translated = &price.Translation{Currency: t.Currency, Stored: t.Price, Rate: t.Rate, Date: t.Date}
	}
	return out
}
