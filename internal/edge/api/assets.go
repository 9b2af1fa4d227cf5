package api

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// assetPath is the parameter of operations on one asset.
type assetPath struct {
	ID string `path:"asset_id" minLength:"1" maxLength:"64" doc:"The asset"`
}

func (a *API) listAssets(ctx context.Context, in *struct {
	paging
	LegalEntityIDs  []string `query:"legal_entity_ids" maxItems:"100" doc:"Assets of these legal entities"`
	AssetTypes      []string `query:"asset_types" maxItems:"100" doc:"Assets of these types, written as they are"`
	SourceIDs       []string `query:"source_ids" maxItems:"100" doc:"Assets that are held at these sources, each by its own id or that of its account"`
	LedgerAccountID string   `query:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Assets whose cost stands on this account"`
	Chain           string   `query:"chain" minLength:"1" maxLength:"64" doc:"Assets on this chain, in capitals or not"`
	TransactionID   string   `query:"transaction_id" minLength:"1" maxLength:"64" doc:"What this transaction brought"`
	IsManual        *bool    `query:"is_manual" doc:"Only what somebody entered, or only what transactions brought"`
	HasRemaining    *bool    `query:"has_remaining" doc:"Only assets of which something is left, or only those that are used up"`
}) (List[Asset], error) {
	found, err := a.app.Lots.List(ctx, lots.Filter{
		LegalEntityIDs: in.LegalEntityIDs, AssetTypes: in.AssetTypes, SourceIDs: in.SourceIDs, LedgerAccountID: in.LedgerAccountID,
		Chain:         in.Chain,
		TransactionID: in.TransactionID, Manual: in.IsManual, Open: in.HasRemaining,
	}, in.request())
	return listOf(found, viewAsset), err
}

func (a *API) getAsset(ctx context.Context, in *struct{ assetPath }) (Data[Asset], error) {
	h, err := a.app.Lots.Get(ctx, in.ID)
	return Data[Asset]{viewAsset(h)}, err
}

func (a *API) createAsset(ctx context.Context, in *struct{ Body CreateAsset }) (Data[Asset], error) {
	b := in.Body
	var faults fault.List
	p := opening.CreateParams{
		AssetType: b.AssetType, Quantity: amount(&faults, "quantity", b.Quantity), CostBasis: amount(&faults, "cost_basis",
			b.CostBasis), LegalEntityID: b.LegalEntityID,
		LedgerAccountID: b.LedgerAccountID, SourceID: b.SourceID, DateReceived: b.DateReceived, Currency: b.Currency, Chain: b.Chain,
	}
	if err := faults.Err(); err != nil {
		return Data[Asset]{}, err
	}
	h, err := a.app.Assets.Create(ctx, p)
	return Data[Asset]{viewAsset(h)}, err
}

func (a *API) updateAsset(ctx context.Context, in *struct {
	assetPath
	Body UpdateAsset
}) (Data[Asset], error) {
	b := in.Body
	var faults fault.List
	read := func(field string, text *string) *money.Decimal {
		if text == nil {
			return nil
		}
		return new(amount(&faults, field, *text))
	}
	p := opening.UpdateParams{LedgerAccountID: b.LedgerAccountID, CostBasis: read("cost_basis", b.CostBasis),
		Quantity: read("quantity", b.Quantity), LegalEntityID: b.LegalEntityID}
	if err := faults.Err(); err != nil {
		return Data[Asset]{}, err
	}
	h, err := a.app.Assets.Update(ctx, in.ID, p)
	return Data[Asset]{viewAsset(h)}, err
}

func (a *API) deleteAsset(ctx context.Context, in *struct{ assetPath }) (Data[Deleted], error) {
	err := a.app.Assets.Delete(ctx, in.ID)
	return Data[Deleted]{Deleted{in.ID, true}}, err
}

func (a *API) listAssetDispositions(ctx context.Context, in *struct {
	assetPath
	paging
}) (List[AssetDisposition], error) {
	found, err := a.app.Lots.Dispositions(ctx, in.ID, in.request())
	return listOf(found, viewAssetDisposition), err
}

func (a *API) getLotSelection(ctx context.Context, in *struct {
	TransactionID string `query:"transaction_id" required:"true" minLength:"1" maxLength:"64" doc:"The transaction"`
}) (Data[LotSelection], error) {
	c, err := a.app.Lots.Selection(ctx, in.TransactionID)
	return Data[LotSelection]{viewLotSelection(c)}, err
}

func (a *API) storeLotSelection(ctx context.Context, in *struct{ Body StoreLotSelection }) (Data[LotSelection], error) {
	var faults fault.List
	picks := make([]lot.Pick, len(in.Body.Selections))
	for i, s := range in.Body.Selections {
		picks[i] = lot.Pick{Lot: s.AssetID, Quantity: amount(&faults, fmt.Sprintf("selections[%d].quantity", i), s.Quantity)}
	}
	if err := faults.Err(); err != nil {
		return Data[LotSelection]{}, err
	}
	c, err := a.app.Lots.SelectLots(ctx, in.Body.TransactionID, picks)
	return Data[LotSelection]{viewLotSelection(c)}, err
}

func viewAsset(h lots.Held) Asset {
	return Asset{
		ID: h.ID, AssetType: h.AssetType, Quantity: h.Quantity.String(), RemainingQuantity: h.RemainingQuantity.String(),
		CostBasis:          h.CostBasis.Fixed(h.Currency),
		RemainingCostBasis: h.RemainingBasis.Fixed(h.Currency), Currency: h.Currency, DateReceived: new(
			stamp(h.AcquiredAt)), Chain: db.OrNull(h.Chain), TokenID: db.OrNull(h.TokenID),
		LegalEntityID: h.LegalEntityID, LedgerAccountID: h.LedgerAccountID, TransactionID: db.OrNull(
			h.TransactionID), SourceID: db.OrNull(h.Account),
		JournalEntryID: db.OrNull(h.JournalEntryID), ParentAssetID: db.OrNull(
			h.ParentID), IsManual: h.Origin == lots.Manual, BasisPending: h.BasisPending, Provisional: h.Provisional,
		CreatedAt: new(stamp(h.CreatedAt)), UpdatedAt: stampOrNull(h.UpdatedAt),
	}
}

func viewAssetDisposition(u lots.Disposition) AssetDisposition {
	out := AssetDisposition{
		ID: u.ID, Kind: u.Kind, AssetID: u.LotID, AssetType: u.AssetType, SourceID: db.OrNull(
			u.Account), LegalEntityID: u.LegalEntityID, DateAcquired: stamp(u.AcquiredAt),
		DateDisposed: stamp(u.DisposedAt), TransactionType: u.TransactionType, Quantity: u.Quantity.String(), Proceeds: u.Proceeds.Fixed(
			u.Currency), Fee: u.Fee.Fixed(u.Currency),
		CostBasis: u.Basis.Fixed(u.Currency), GainLoss: u.Gain.Fixed(
			u.Currency), Currency: u.Currency, Method: u.Method, IsCorrection: u.Correction,
		TransactionID: db.OrNull(u.TransactionID), JournalEntryID: u.JournalEntryID,
	}
	if u.Realizes() {
		out.Term, out.DaysHeld = db.OrNull(u.Term), &u.Days
	}
	return out
}

func viewLotSelection(c lots.Selection) LotSelection {
	out := LotSelection{TransactionID: c.TransactionID, Selections: make([]LotSelected, len(c.Picks)), CreatedBy: db.OrNull(c.By),
		CreatedAt: stampOrNull(c.At)}
	for i, p := range c.Picks {
		out.Selections[i] = LotSelected{p.Lot, p.Quantity.String()}
	}
	return out
}
