package tenancy

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Preferences are what a user has set, by name.
type Preferences map[string]json.RawMessage

// Schema describes an object whose properties are any JSON.
func (Preferences) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "What you have set, by name. Values are any JSON."}
}

// Preference is something that a user has set.
type Preference struct {
	Name  string          `json:"name" doc:"Name of the preference."`
	Value json.RawMessage `json:"value" doc:"Value: any JSON."`
}

// SetPreference sets a preference.
type SetPreference struct {
	Value json.RawMessage `json:"value" doc:"Value: any JSON, with at most 16384 bytes."`
}
