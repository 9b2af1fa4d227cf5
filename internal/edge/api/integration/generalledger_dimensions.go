package integration

import (
	"context"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/integration/glsync"
)

// GLDimensionValue is a value of a dimension of a general ledger.
type GLDimensionValue struct {
	ConnectionID  string `json:"connection_id" doc:"Connection to the general ledger."`
	DimensionID   string `json:"dimension_id" doc:"Identifier of the dimension in the general ledger."`
	DimensionName string `json:"dimension_name" doc:"Name of the dimension." example:"Department"`
	ValueID       string `json:"value_id" doc:"Identifier of the value: gld_ and 26 characters."`
	ExternalID    string `json:"external_id" doc:"Identifier of the value in the general ledger."`
	Name          string `json:"name" doc:"Name of the value." example:"Engineering"`
	Active        bool   `json:"active" doc:"Whether lines can have it. false: it is inactive in the general ledger, or no longer exists there."`
	CreatedAt     string `json:"created_at" format:"date-time" doc:"When it was first read."`
}

// GLTagMapping is a tag with the value of a dimension of a general ledger that stands for it.
type GLTagMapping struct {
	TagID          string                        `json:"tag_id" doc:"Tag."`
	Name           string                        `json:"name" doc:"Name of the tag."`
	Kind           string                        `json:"kind" enum:"supplier,customer,department,project,custom" doc:"Kind of the tag."`
	ConnectionID   string                        `json:"connection_id" doc:"Connection to the general ledger."`
	Status         string                        `json:"status" enum:"mapped,unmapped,unusable" doc:"unmapped: lines with the tag are sent without a value for it. unusable: the general ledger does not accept the value that it is mapped to, so that entries with the tag cannot be sent."`
	DimensionValue wire.OrNull[GLDimensionValue] `json:"dimension_value" doc:"Value that lines with the tag have in the general ledger; null if none."`
	Suggestions    []GLDimensionValue            `json:"suggestions" doc:"Values with the name of the tag, those of a dimension that is called as its kind first. Empty once it is mapped."`
	UpdatedAt      *string                       `json:"updated_at" format:"date-time" doc:"When it was mapped last; null if it is not mapped."`
}

// SetGLTagMapping maps a tag.
type SetGLTagMapping struct {
	ConnectionID string           `json:"connection_id,omitempty" minLength:"1" maxLength:"64" doc:"Connection to the general ledger. It may be omitted if there is one only."`
	DimensionID  wire.Opt[string] `json:"dimension_id" minLength:"1" maxLength:"500" doc:"Dimension of the general ledger. Null, together with value_id, removes the mapping."`
	ValueID      wire.Opt[string] `json:"value_id" minLength:"1" maxLength:"64" doc:"Value of the dimension that lines with the tag are to have. Null, together with dimension_id, removes the mapping."`
}

func (h handlers) listGLDimensions(ctx context.Context, in *struct {
	wire.Paging
	ConnectionID string `query:"connection_id" minLength:"1" maxLength:"64" doc:"Only values of this general ledger."`
	Active       *bool  `query:"active" doc:"true: only values that lines can have. false: only the others."`
	Search       string `query:"search" minLength:"1" maxLength:"200" doc:"Only values with this text in their name or that of their dimension; case-insensitive."`
}) (wire.List[GLDimensionValue], error) {
	found, err := h.app.GeneralLedger.Values(ctx, glsync.ValueFilter{ConnectionID: in.ConnectionID, Active: in.Active, Search: in.Search},
		in.Request())
	return wire.ListOf(found, viewGLDimensionValue), err
}

func viewGLDimensionValue(v glsync.Value) GLDimensionValue {
	return GLDimensionValue{ConnectionID: v.ConnectionID, DimensionID: v.Dimension, DimensionName: v.DimensionName, ValueID: v.ID,
		ExternalID: v.ExternalID, Name: v.Name, Active: v.Active, CreatedAt: wire.Timestamp(v.CreatedAt)}
}

func (h handlers) listGLTagMappings(ctx context.Context, in *struct {
	wire.Paging
	ConnectionID string `query:"connection_id" minLength:"1" maxLength:"64" doc:"General ledger. It may be omitted if there is one only."`
}) (wire.List[GLTagMapping], error) {
	found, err := h.app.GeneralLedger.TagMappings(ctx, glsync.TagMappingFilter{ConnectionID: in.ConnectionID}, in.Request())
	return wire.ListOf(found, viewGLTagMapping), err
}

func viewGLTagMapping(m glsync.TagMapping) GLTagMapping {
	v := GLTagMapping{TagID: m.Tag.ID, Name: m.Tag.Name, Kind: string(m.Tag.Kind), ConnectionID: m.ConnectionID, Status: string(m.Status()),
		Suggestions: []GLDimensionValue{}, UpdatedAt: wire.TimestampOrNull(m.UpdatedAt)}
	if m.Value.ID != "" {
		v.DimensionValue.Value = new(viewGLDimensionValue(m.Value))
	}
	for _, s := range m.Suggestions {
		v.Suggestions = append(v.Suggestions, viewGLDimensionValue(s))
	}
	return v
}

func (h handlers) setGLTagMapping(ctx context.Context, in *struct {
	TagID string `path:"tag_id" minLength:"1" maxLength:"64" doc:"Identifier of the tag."`
	Body  SetGLTagMapping
}) (wire.Data[GLTagMapping], error) {
	m, err := h.app.GeneralLedger.MapTag(ctx, in.TagID, glsync.MapTagParams{ConnectionID: in.Body.ConnectionID,
		Dimension: in.Body.DimensionID.Value, ValueID: in.Body.ValueID.Value})
	return wire.DataOf(viewGLTagMapping(m)), err
}
