package books

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// legalEntityPath is the parameter of operations on one legal entity.
type legalEntityPath struct {
	ID string `path:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Identifier of the legal entity."`
}

func (h handlers) listLegalEntities(ctx context.Context, in *struct{ wire.Paging }) (wire.List[LegalEntity], error) {
	entities, err := h.app.Entities.List(ctx, in.Request())
	return wire.ListOf(entities, func(e entity.LegalEntity) LegalEntity { return viewLegalEntity(actor.From(ctx), e) }), err
}

func (h handlers) getLegalEntity(ctx context.Context, in *struct{ legalEntityPath }) (wire.Data[LegalEntityDetail], error) {
	d, err := h.app.Entities.Get(ctx, in.ID)
	return wire.DataOf(viewLegalEntityDetail(actor.From(ctx), d)), err
}

func (h handlers) createLegalEntity(ctx context.Context, in *struct{ Body CreateLegalEntity }) (wire.Data[LegalEntityDetail], error) {
	b := in.Body
	d, err := h.app.Entities.Create(ctx, entity.CreateParams{
		Name:                 b.Name,
		BaseCurrency:         b.BaseCurrency,
		Country:              b.Country.Value,
		ParentID:             b.ParentLegalEntityID.Value,
		OwnershipPercent:     b.OwnershipPercent.Value,
		CostBasisMethod:      b.CostBasisMethod,
		CostBasisFrom:        b.CostBasisFrom.Value,
		CostBasisScope:       b.CostBasisScope,
		Measurement:          b.Measurement,
		FiscalYearStartMonth: b.FiscalYearStartMonth,
		Framework:            b.Framework,
		FeeTreatment:         b.FeeTreatment,
		ShortDisposal:        b.ShortDisposal,
		IntercompanyBasis:    b.IntercompanyBasis,
		LoansOut:             b.LoansOut,
	})
	return wire.DataOf(viewLegalEntityDetail(actor.From(ctx), d)), err
}

func (h handlers) updateLegalEntity(ctx context.Context, in *struct {
	legalEntityPath
	Body UpdateLegalEntity
}) (wire.Data[LegalEntityDetail], error) {
	b := in.Body
	d, err := h.app.Entities.Update(ctx, in.ID, entity.UpdateParams{
		Name:                 b.Name,
		BaseCurrency:         b.BaseCurrency,
		Country:              b.Country.OrZero(),
		ParentID:             b.ParentLegalEntityID.OrZero(),
		OwnershipPercent:     b.OwnershipPercent.OrZero(),
		CostBasisMethod:      b.CostBasisMethod,
		CostBasisFrom:        b.CostBasisFrom.OrZero(),
		CostBasisScope:       b.CostBasisScope,
		Measurement:          b.Measurement,
		MeasurementFrom:      b.MeasurementFrom.OrZero(),
		FiscalYearStartMonth: b.FiscalYearStartMonth,
		Framework:            b.Framework,
		FeeTreatment:         b.FeeTreatment,
		ShortDisposal:        b.ShortDisposal,
		IntercompanyBasis:    b.IntercompanyBasis,
		LoansOut:             b.LoansOut,
	})
	return wire.DataOf(viewLegalEntityDetail(actor.From(ctx), d)), err
}

func (h handlers) deleteLegalEntity(ctx context.Context, in *struct{ legalEntityPath }) (wire.Data[wire.Deleted], error) {
	err := h.app.Entities.Delete(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

// viewLegalEntity returns a legal entity as an actor may see it: without a parent that the actor's key has no access to.
func viewLegalEntity(who actor.Actor, e entity.LegalEntity) LegalEntity {
	if e.ParentID != "" && !who.Sees(e.ParentID) {
		e.ParentID, e.OwnershipPercent = "", nil
	}
	return LegalEntity{
		ID:                   e.ID,
		Name:                 e.Name,
		BaseCurrency:         e.BaseCurrency,
		Country:              db.OrNull(e.Country),
		ParentLegalEntityID:  db.OrNull(e.ParentID),
		OwnershipPercent:     wire.DecimalOrNull(e.OwnershipPercent),
		CostBasisMethod:      e.CostBasisMethod,
		CostBasisFrom:        db.OrNull(e.CostBasisFrom),
		CostBasisScope:       e.CostBasisScope,
		Measurement:          e.Measurement,
		MeasurementFrom:      db.OrNull(e.MeasurementFrom),
		FiscalYearStartMonth: e.FiscalYearStartMonth,
		Framework:            e.Framework,
		FeeTreatment:         e.FeeTreatment,
		ShortDisposal:        e.ShortDisposal,
		IntercompanyBasis:    e.IntercompanyBasis,
		LoansOut:             e.LoansOut,
		CreatedAt:            wire.Timestamp(e.CreatedAt),
		UpdatedAt:            wire.TimestampOrNull(e.UpdatedAt),
	}
}

func viewLegalEntityDetail(who actor.Actor, d entity.Detail) LegalEntityDetail {
	out := LegalEntityDetail{viewLegalEntity(who, d.LegalEntity), make([]CostBasisElection, len(d.History)),
		make([]MeasurementElection, len(d.Measurements))}
	for i, e := range d.History {
		out.CostBasisHistory[i] = CostBasisElection{e.Method, e.Scope, db.OrNull(e.From), wire.Timestamp(e.CreatedAt)}
	}
	for i, m := range d.Measurements {
		out.MeasurementHistory[i] = MeasurementElection{m.Measurement, db.OrNull(m.From), wire.Timestamp(m.CreatedAt)}
	}
	return out
}
