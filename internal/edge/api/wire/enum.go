package wire

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// placeholders stand for values in enum tags.
var placeholders = map[any][]any{
	"{transaction_types}": texts(posting.Types),
	"{gl_blockers}":       texts(glsync.BlockerCodes),
}

func texts[T ~string](all []T) []any {
	out := make([]any, len(all))
	for n, one := range all {
		out[n] = string(one)
	}
	return out
}

// CompleteEnum completes the values of a schema that are not in the tag of its field: it replaces a placeholder by the values for which it
// stands, and adds null if the schema allows null, because in JSON Schema a value must have the right type and be one of the values.
func CompleteEnum(s *huma.Schema) {
	if len(s.Enum) > 0 && placeholders[s.Enum[0]] != nil {
		s.Enum = placeholders[s.Enum[0]]
		s.PrecomputeMessages()
	}
	if s.Nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		s.Enum = append(slices.Clip(s.Enum), nil)
	}
}
