package assets

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// assetPath is the parameter of operations on one lot.
type assetPath struct {
	ID string `path:"asset_id" minLength:"1" maxLength:"64" doc:"Identifier of the lot."`
}

func (h handlers) listAssets(ctx context.Context, in *struct {
	wire.Paging
	LegalEntityIDs  []string `query:"legal_entity_ids" maxItems:"100" doc:"Return only lots of these legal entities."`
	AssetTypes      []string `query:"asset_types" maxItems:"100" doc:"Return only lots of these asset symbols; case-sensitive."`
	SourceIDs       []string `query:"source_ids" maxItems:"100" doc:"Return only lots held at these sources, given by their identifiers or those of their accounts."`
	LedgerAccountID string   `query:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Return only lots whose cost is on this ledger account."`
	Chain           string   `query:"chain" minLength:"1" maxLength:"64" doc:"Return only lots on this blockchain; case-insensitive."`
	TransactionID   string   `query:"transaction_id" minLength:"1" maxLength:"64" doc:"Return only lots acquired by this transaction."`
	IsManual        *bool    `query:"is_manual" doc:"true: only lots created by hand. false: only lots acquired by transactions."`
	HasRemaining    *bool    `query:"has_remaining" doc:"true: only lots with a remaining quantity. false: only lots that have been consumed."`
}) (wire.List[Asset], error) {
	found, err := h.app.Lots.List(ctx, lots.Filter{
		LegalEntityIDs:  in.LegalEntityIDs,
		AssetTypes:      in.AssetTypes,
		SourceIDs:       in.SourceIDs,
		LedgerAccountID: in.LedgerAccountID,
		Chain:           in.Chain,
		TransactionID:   in.TransactionID,
		Manual:          in.IsManual,
		Open:            in.HasRemaining,
	}, in.Request())
	return wire.ListOf(found, viewAsset), err
}

func (h handlers) getAsset(ctx context.Context, in *struct{ assetPath }) (wire.Data[Asset], error) {
	lot, err := h.app.Lots.Get(ctx, in.ID)
	return wire.DataOf(viewAsset(lot)), err
}

func (h handlers) createAsset(ctx context.Context, in *struct{ Body CreateAsset }) (wire.Data[Asset], error) {
	b := in.Body
	var faults fault.List
	p := opening.CreateParams{
		AssetType:       b.AssetType,
		Quantity:        wire.ParseDecimal(&faults, "quantity", b.Quantity),
		CostBasis:       wire.ParseDecimal(&faults, "cost_basis", b.CostBasis),
		LegalEntityID:   b.LegalEntityID,
		LedgerAccountID: b.LedgerAccountID,
		SourceID:        b.SourceID,
		DateReceived:    b.DateReceived,
		Currency:        b.Currency,
		Chain:           b.Chain,
	}
	if err := faults.Err(); err != nil {
		return wire.Data[Asset]{}, err
	}
	lot, err := h.app.Assets.Create(ctx, p)
	return wire.DataOf(viewAsset(lot)), err
}

func (h handlers) updateAsset(ctx context.Context, in *struct {
	assetPath
	Body UpdateAsset
}) (wire.Data[Asset], error) {
	b := in.Body
	var faults fault.List
	read := func(field string, text *string) *money.Decimal {
		if text == nil {
			return nil
		}
		return new(wire.ParseDecimal(&faults, field, *text))
	}
	p := opening.UpdateParams{
		LedgerAccountID: b.LedgerAccountID,
		CostBasis:       read("cost_basis", b.CostBasis),
		Quantity:        read("quantity", b.Quantity),
		LegalEntityID:   b.LegalEntityID,
	}
	if err := faults.Err(); err != nil {
		return wire.Data[Asset]{}, err
	}
	lot, err := h.app.Assets.Update(ctx, in.ID, p)
	return wire.DataOf(viewAsset(lot)), err
}

func (h handlers) deleteAsset(ctx context.Context, in *struct{ assetPath }) (wire.Data[wire.Deleted], error) {
	err := h.app.Assets.Delete(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

func (h handlers) listAssetDispositions(ctx context.Context, in *struct {
	assetPath
	wire.Paging
}) (wire.List[AssetDisposition], error) {
	found, err := h.app.Lots.Dispositions(ctx, in.ID, in.Request())
	if err != nil {
		return wire.List[AssetDisposition]{}, err
	}
	uses := make([]lots.Use, len(found.Items))
	for i, d := range found.Items {
		uses[i] = d.Use
	}
	booked, err := h.app.Holdings.BookGains(ctx, uses)
	if err != nil {
		return wire.List[AssetDisposition]{}, err
	}
	out := wire.ListOf(found, viewAssetDisposition)
	for i, gain := range booked {
		out.Data[i].BookGain = gain.Fixed(uses[i].Currency)
	}
	return out, nil
}

func (h handlers) getLotSelection(ctx context.Context, in *struct {
	TransactionID string `query:"transaction_id" required:"true" minLength:"1" maxLength:"64" doc:"Identifier of the transaction."`
}) (wire.Data[LotSelection], error) {
	c, err := h.app.Lots.Selection(ctx, in.TransactionID)
	return wire.DataOf(viewLotSelection(c)), err
}

func (h handlers) storeLotSelection(ctx context.Context, in *struct{ Body StoreLotSelection }) (wire.Data[LotSelection], error) {
	var faults fault.List
	picks := make([]lot.Pick, len(in.Body.Selections))
	for i, s := range in.Body.Selections {
		picks[i] = lot.Pick{Lot: s.AssetID, Quantity: wire.ParseDecimal(&faults, fmt.Sprintf("selections[%d].quantity", i), s.Quantity)}
	}
	if err := faults.Err(); err != nil {
		return wire.Data[LotSelection]{}, err
	}
	c, err := h.app.Lots.SelectLots(ctx, in.Body.TransactionID, picks)
	return wire.DataOf(viewLotSelection(c)), err
}

func viewAsset(h lots.Held) Asset {
	return Asset{
		ID:                 h.ID,
		AssetType:          h.AssetType,
		Quantity:           h.Quantity.String(),
		RemainingQuantity:  h.RemainingQuantity.String(),
		CostBasis:          h.CostBasis.Fixed(h.Currency),
		RemainingCostBasis: h.RemainingBasis.Fixed(h.Currency),
		Currency:           h.Currency,
		DateReceived:       new(wire.Timestamp(h.AcquiredAt)),
		Chain:              db.OrNull(h.Chain),
		TokenID:            db.OrNull(h.TokenID),
		LegalEntityID:      h.LegalEntityID,
		LedgerAccountID:    h.LedgerAccountID,
		TransactionID:      db.OrNull(h.TransactionID),
		SourceID:           db.OrNull(h.Account),
		JournalEntryID:     db.OrNull(h.JournalEntryID),
		ParentAssetID:      db.OrNull(h.ParentID),
		IsManual:           h.Origin == lots.Manual,
		BasisPending:       h.BasisPending,
		Provisional:        h.Provisional,
		CreatedAt:          new(wire.Timestamp(h.CreatedAt)),
		UpdatedAt:          wire.TimestampOrNull(h.UpdatedAt),
	}
}

// viewAssetDisposition leaves out the gain in the books.
func viewAssetDisposition(u lots.Disposition) AssetDisposition {
	out := AssetDisposition{
		ID:              u.ID,
		Kind:            u.Kind,
		AssetID:         u.LotID,
		AssetType:       u.AssetType,
		SourceID:        db.OrNull(u.Account),
		LegalEntityID:   u.LegalEntityID,
		DateAcquired:    wire.Timestamp(u.AcquiredAt),
		DateDisposed:    wire.Timestamp(u.DisposedAt),
		TransactionType: cmp.Or(u.TransactionType, journal.Unclassified), // earlier versions stored none for reversals
		Quantity:        u.Quantity.String(),
		Proceeds:        u.Proceeds.Fixed(u.Currency),
		Fee:             u.Fee.Fixed(u.Currency),
		CostBasis:       u.Basis.Fixed(u.Currency),
		GainLoss:        u.Gain.Fixed(u.Currency),
		TaxGain:         u.Gain.Fixed(u.Currency),
		Currency:        u.Currency,
		Method:          u.Method,
		IsCorrection:    u.Correction,
		TransactionID:   db.OrNull(u.TransactionID),
		JournalEntryID:  u.JournalEntryID,
	}
	if u.Realizes() {
		out.Term, out.DaysHeld = db.OrNull(u.Term), &u.Days
	}
	return out
}

func viewLotSelection(c lots.Selection) LotSelection {
	out := LotSelection{
		TransactionID: c.TransactionID,
		Selections:    make([]LotSelected, len(c.Picks)),
		CreatedBy:     db.OrNull(c.By),
		CreatedAt:     wire.TimestampOrNull(c.At),
	}
	for i, p := range c.Picks {
		out.Selections[i] = LotSelected{p.Lot, p.Quantity.String()}
	}
	return out
}
