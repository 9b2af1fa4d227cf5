package wire

import (
	"cmp"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// ColumnsSchema returns the schema of an object that holds the name of a column for each field of a file. Words describes the fields whose
// names do not describe themselves.
func ColumnsSchema[F ~string](fields []F, words map[F]string) *huma.Schema {
	most := 500
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, f := range fields {
		s.Properties[string(f)] = &huma.Schema{
			Type:        huma.TypeString,
			MaxLength:   &most,
			Description: "Column of the " + cmp.Or(words[f], strings.ReplaceAll(string(f), "_", " ")) + ".",
		}
	}
	s.PrecomputeMessages()
	return s
}
