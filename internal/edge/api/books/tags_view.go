package books

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Tag is a mark on the wire.
type Tag struct {
	ID        string  `json:"id" doc:"tag_ and 26 characters"`
	Name      string  `json:"name" maxLength:"100" doc:"What it says; no two tags of a kind say the same" example:"Hetzner Online"`
	Kind      string  `json:"kind" enum:"supplier,customer,department,project,custom" doc:"What it stands for"`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When it was made"`
	UpdatedAt *string `json:"updated_at" format:"date-time" doc:"When it was last changed"`
}

// CreateTag describes a new tag.
type CreateTag struct {
	Name string `json:"name" minLength:"1" maxLength:"100" doc:"What it says; spaces around it are dropped" example:"Hetzner Online"`
	Kind string `json:"kind" enum:"supplier,customer,department,project,custom" doc:"What it stands for"`
}

// UpdateTag are the changes asked for.
type UpdateTag struct {
	Name *string `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"What it says; spaces around it are dropped" example:"Hetzner Online"`
	Kind *string `json:"kind,omitempty" enum:"supplier,customer,department,project,custom" doc:"What it stands for"`
}

// TransformSchema asks for at least one change.
func (UpdateTag) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}
