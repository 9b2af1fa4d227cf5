package treasury

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// sourcePath is the parameter of operations on one source.
type sourcePath struct {
	ID string `path:"source_id" minLength:"1" maxLength:"64" doc:"Identifier of the source (src_), or of its wallet, exchange account or bank account."`
}

func (h handlers) listSources(ctx context.Context, in *struct {
	wire.Paging
	Type           string   `query:"source_type" enum:"wallet,exchange,bank,card,other" doc:"Return only sources of this type."`
	LegalEntityIDs []string `query:"legal_entity_ids" maxItems:"100" doc:"Return only sources of these legal entities."`
	Chain          string   `query:"chain" minLength:"1" maxLength:"64" doc:"Return only wallets on this blockchain; case-insensitive."`
	Search         string   `query:"search" minLength:"1" maxLength:"200" doc:"Return only sources with this text in their name or address; case-insensitive."`
}) (wire.List[Source], error) {
	f := source.Filter{Type: source.Type(in.Type), LegalEntityIDs: in.LegalEntityIDs, Chain: in.Chain, Search: in.Search}
	sources, err := h.app.Sources.List(ctx, f, in.Request())
	return wire.ListOf(sources, viewSource), err
}

func (h handlers) getSource(ctx context.Context, in *struct{ sourcePath }) (wire.Data[Source], error) {
	s, err := h.app.Sources.Get(ctx, in.ID)
	return wire.DataOf(viewSource(s)), err
}

func (h handlers) listSourceBalances(ctx context.Context, in *struct {
	sourcePath
	wire.Paging
}) (wire.List[SourceBalance], error) {
	balances, err := h.app.Holdings.SourceBalances(ctx, in.ID, in.Request())
	return wire.ListOf(balances, viewSourceBalance), err
}

func viewSourceBalance(b holdings.SourceBalance) SourceBalance {
	text := func(quantity money.Decimal) string { return quantity.Fixed(b.AssetType) }
	v := SourceBalance{AssetType: b.AssetType, Chain: db.OrNull(b.Chain), TokenID: db.OrNull(b.TokenID), LedgerAccountID: b.LedgerAccountID,
		Book: text(b.Quantity)}
	if o := b.Observed; o != nil {
		v.Observed, v.ObservedAt = new(text(o.Quantity)), new(wire.Timestamp(o.At))
		v.BookAtObserved, v.Difference = new(text(o.Book)), new(text(o.Difference()))
	}
	return v
}

func (h handlers) createSource(ctx context.Context, in *struct{ Body CreateSource }) (wire.Data[Source], error) {
	b := in.Body
	s, err := h.app.Sources.Create(ctx, source.CreateParams{
		Type:            source.Type(b.Type),
		Name:            b.Name,
		LegalEntityID:   b.LegalEntityID,
		LedgerAccountID: b.LedgerAccountID,
		Chain:           b.Chain.Value,
		Address:         b.Address.Value,
		Currency:        b.Currency.Value,
		Provider:        b.Provider,
	})
	return wire.DataOf(viewSource(s)), err
}

func (h handlers) updateSource(ctx context.Context, in *struct {
	sourcePath
	Body UpdateSource
}) (wire.Data[Source], error) {
	b := in.Body
	s, err := h.app.Sources.Update(ctx, in.ID, source.UpdateParams{
		Name:            b.Name,
		LegalEntityID:   b.LegalEntityID,
		LedgerAccountID: b.LedgerAccountID,
		Chain:           b.Chain.OrZero(),
		Address:         b.Address.OrZero(),
		Currency:        b.Currency.OrZero(),
	})
	return wire.DataOf(viewSource(s)), err
}

func (h handlers) deleteSource(ctx context.Context, in *struct{ sourcePath }) (wire.Data[wire.Deleted], error) {
	id, err := h.app.Sources.Delete(ctx, in.ID)
	return wire.DeletedOf(id), err
}

func viewSource(s source.Guided) Source {
	return Source{
		ID:              s.ID,
		AccountID:       db.OrNull(s.AccountID),
		Type:            string(s.Type),
		Name:            s.Name,
		LegalEntityID:   s.LegalEntityID,
		LedgerAccountID: s.LedgerAccountID,
		Chain:           db.OrNull(s.Chain),
		Address:         db.OrNull(s.Address),
		Currency:        db.OrNull(s.Currency),
		Provider:        s.Provider,
		Manual:          s.Manual,
		Guidance:        wire.Guidance{AllowedActions: s.Guidance.Allowed, Warnings: s.Guidance.Warnings, Version: s.Guidance.Version},
		CreatedAt:       wire.Timestamp(s.CreatedAt),
		UpdatedAt:       wire.TimestampOrNull(s.UpdatedAt),
	}
}

func (h handlers) syncSource(ctx context.Context, in *struct{ sourcePath }) (wire.Data[Connection], error) {
	c, err := h.app.Connections.RequestSyncOfSource(ctx, in.ID)
	return dataOfConnection(ctx, c), err
}
