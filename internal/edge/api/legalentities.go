package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
)

// legalEntityPath is the parameter of operations on one legal entity.
type legalEntityPath struct {
	ID string `path:"legal_entity_id" minLength:"1" maxLength:"64" doc:"The legal entity"`
}

func (a *API) listLegalEntities(ctx context.Context, in *struct{ paging }) (List[LegalEntity], error) {
	entities, err := a.app.Entities.List(ctx, in.request())
	return listOf(entities, viewLegalEntity), err
}

func (a *API) getLegalEntity(ctx context.Context, in *struct{ legalEntityPath }) (Data[LegalEntityDetail], error) {
	d, err := a.app.Entities.Get(ctx, in.ID)
	return Data[LegalEntityDetail]{viewLegalEntityDetail(d)}, err
}

func (a *API) createLegalEntity(ctx context.Context, in *struct{ Body CreateLegalEntity }) (Data[LegalEntityDetail], error) {
	b := in.Body
	d, err := a.app.Entities.Create(ctx, entity.CreateParams{
		Name: b.Name, BaseCurrency: b.BaseCurrency, Country: b.Country.Value, ParentID: b.ParentLegalEntityID.Value,
		OwnershipPercent: b.OwnershipPercent.Value,
		CostBasisMethod:  b.CostBasisMethod, CostBasisFrom: b.CostBasisFrom.Value, CostBasisScope: b.CostBasisScope, Measurement: b.Measurement,
		FiscalYearStartMonth: b.FiscalYearStartMonth,
		Framework:            b.Framework, FeeTreatment: b.FeeTreatment, ShortDisposal: b.ShortDisposal,
		IntercompanyBasis: b.IntercompanyBasis, LoansOut: b.LoansOut,
	})
	return Data[LegalEntityDetail]{viewLegalEntityDetail(d)}, err
}

func (a *API) updateLegalEntity(ctx context.Context, in *struct {
	legalEntityPath
	Body UpdateLegalEntity
}) (Data[LegalEntityDetail], error) {
	b := in.Body
	d, err := a.app.Entities.Update(ctx, in.ID, entity.UpdateParams{
		Name: b.Name, BaseCurrency: b.BaseCurrency, Country: b.Country.orEmpty(), ParentID: b.ParentLegalEntityID.orEmpty(),
		OwnershipPercent: b.OwnershipPercent.orEmpty(),
		CostBasisMethod:  b.CostBasisMethod, CostBasisFrom: b.CostBasisFrom.orEmpty(), CostBasisScope: b.CostBasisScope,
		Measurement:          b.Measurement,
		FiscalYearStartMonth: b.FiscalYearStartMonth,
		Framework:            b.Framework, FeeTreatment: b.FeeTreatment, ShortDisposal: b.ShortDisposal,
		IntercompanyBasis: b.IntercompanyBasis, LoansOut: b.LoansOut,
	})
	return Data[LegalEntityDetail]{viewLegalEntityDetail(d)}, err
}

func (a *API) deleteLegalEntity(ctx context.Context, in *struct{ legalEntityPath }) (Data[Deleted], error) {
	err := a.app.Entities.Delete(ctx, in.ID)
	return Data[Deleted]{Deleted{in.ID, true}}, err
}

func viewLegalEntity(e entity.LegalEntity) LegalEntity {
	return LegalEntity{
		ID: e.ID, Name: e.Name, BaseCurrency: e.BaseCurrency, Country: db.OrNull(e.Country), ParentLegalEntityID: db.OrNull(e.ParentID),
		OwnershipPercent: decimalOrNull(e.OwnershipPercent), CostBasisMethod: e.CostBasisMethod, CostBasisFrom: db.OrNull(e.CostBasisFrom),
		CostBasisScope: e.CostBasisScope, Measurement: e.Measurement, FiscalYearStartMonth: e.FiscalYearStartMonth,
		Framework: e.Framework, FeeTreatment: e.FeeTreatment, ShortDisposal: e.ShortDisposal, IntercompanyBasis: e.IntercompanyBasis,
		LoansOut:  e.LoansOut,
		CreatedAt: stamp(e.CreatedAt), UpdatedAt: stampOrNull(e.UpdatedAt),
	}
}

func viewLegalEntityDetail(d entity.Detail) LegalEntityDetail {
	out := LegalEntityDetail{viewLegalEntity(d.LegalEntity), make([]CostBasisElection, len(d.History))}
	for i, e := range d.History {
		out.CostBasisHistory[i] = CostBasisElection{e.Method, e.Scope, db.OrNull(e.From), stamp(e.CreatedAt)}
	}
	return out
}
