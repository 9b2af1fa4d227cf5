package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// sourcePath is the parameter of operations on one source.
type sourcePath struct {
	ID string `path:"source_id" minLength:"1" maxLength:"64" doc:"The source: its own id (src_), or that of the wallet, exchange account or bank account it stands for"`
}

func (a *API) listSources(ctx context.Context, in *struct {
	paging
	Type           string   `query:"source_type" enum:"wallet,exchange,bank,card,other" doc:"Only sources of this type"`
	LegalEntityIDs []string `query:"legal_entity_ids" maxItems:"100" doc:"Sources of these legal entities"`
	Chain          string   `query:"chain" minLength:"1" maxLength:"64" doc:"Only wallets on this chain, in capitals or not"`
	Search         string   `query:"search" minLength:"1" maxLength:"200" doc:"Only sources with this in their name or address, in capitals or not"`
}) (List[Source], error) {
	f := source.Filter{Type: source.Type(in.Type), LegalEntityIDs: in.LegalEntityIDs, Chain: in.Chain, Search: in.Search}
	sources, err := a.app.Sources.List(ctx, f, in.request())
	return listOf(sources, viewSource), err
}

func (a *API) getSource(ctx context.Context, in *struct{ sourcePath }) (Data[Source], error) {
	s, err := a.app.Sources.Get(ctx, in.ID)
	return Data[Source]{viewSource(s)}, err
}

func (a *API) createSource(ctx context.Context, in *struct{ Body CreateSource }) (Data[Source], error) {
	b := in.Body
	s, err := a.app.Sources.Create(ctx, source.CreateParams{
		Type: source.Type(b.Type), Name: b.Name, LegalEntityID: b.LegalEntityID, LedgerAccountID: b.LedgerAccountID,
		Chain: b.Chain.Value, Address: b.Address.Value, Currency: b.Currency.Value, Provider: b.Provider,
	})
	return Data[Source]{viewSource(s)}, err
}

func (a *API) updateSource(ctx context.Context, in *struct {
	sourcePath
	Body UpdateSource
}) (Data[Source], error) {
	b := in.Body
	s, err := a.app.Sources.Update(ctx, in.ID, source.UpdateParams{
		Name: b.Name, LegalEntityID: b.LegalEntityID, LedgerAccountID: b.LedgerAccountID,
		Chain: b.Chain.orEmpty(), Address: b.Address.orEmpty(), Currency: b.Currency.orEmpty(),
	})
	return Data[Source]{viewSource(s)}, err
}

func (a *API) deleteSource(ctx context.Context, in *struct{ sourcePath }) (Data[Deleted], error) {
	id, err := a.app.Sources.Delete(ctx, in.ID)
	return Data[Deleted]{Deleted{id, true}}, err
}

func viewSource(s source.Guided) Source {
	return Source{
		ID: s.ID, AccountID: db.OrNull(s.AccountID), Type: string(
			s.Type), Name: s.Name, LegalEntityID: s.LegalEntityID, LedgerAccountID: s.LedgerAccountID,
		Chain: db.OrNull(s.Chain), Address: db.OrNull(s.Address), Currency: db.OrNull(s.Currency), Provider: s.Provider, Manual: s.Manual,
		Guidance: Guidance{s.Guidance.Allowed, s.Guidance.Warnings,
			s.Guidance.Version}, CreatedAt: stamp(s.CreatedAt), UpdatedAt: stampOrNull(s.UpdatedAt),
	}
}
