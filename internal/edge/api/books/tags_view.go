package books

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Tag is a label.
type Tag struct {
	ID        string  `json:"id" doc:"Identifier: tag_ and 26 characters."`
	Name      string  `json:"name" maxLength:"100" doc:"Name; unique among tags of the same kind." example:"Hetzner Online"`
	Kind      string  `json:"kind" enum:"supplier,customer,department,project,custom" doc:"Kind of tag."`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt *string `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// CreateTag describes a new tag.
type CreateTag struct {
	Name string `json:"name" minLength:"1" maxLength:"100" doc:"Name. Leading and trailing spaces are removed." example:"Hetzner Online"`
	Kind string `json:"kind" enum:"supplier,customer,department,project,custom" doc:"Kind of tag."`
}

// UpdateTag changes a tag.
type UpdateTag struct {
	Name *string `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"Name. Leading and trailing spaces are removed." example:"Hetzner Online"`
	Kind *string `json:"kind,omitempty" enum:"supplier,customer,department,project,custom" doc:"Kind of tag."`
}

// TransformSchema requires at least one property.
func (UpdateTag) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}
