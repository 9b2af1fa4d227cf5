package tenancy

import "encoding/json"

// Preference is something that a user has set.
type Preference struct {
	Name  string          `json:"name" doc:"Name of the preference."`
	Value json.RawMessage `json:"value" doc:"Value: any JSON."`
}

// SetPreference sets a preference.
type SetPreference struct {
	Value json.RawMessage `json:"value" doc:"Value: any JSON, with at most 16384 bytes."`
}
