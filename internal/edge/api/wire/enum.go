package wire

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/rules/posting"
)

// transactionTypes is the placeholder in enum tags for all transaction types.
const transactionTypes = "{transaction_types}"

// CompleteEnum completes the values of a schema that are not in the tag of its field: it replaces the placeholder for the transaction
// types, and adds null if the schema allows null, because in JSON Schema a value must have the right type and be one of the values.
func CompleteEnum(s *huma.Schema) {
	if slices.Contains(s.Enum, any(transactionTypes)) {
		s.Enum = nil
		for _, t := range posting.Types {
			s.Enum = append(s.Enum, string(t))
		}
		s.PrecomputeMessages()
	}
	if s.Nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		s.Enum = append(slices.Clip(s.Enum), nil)
	}
}
