package treasury_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/treasury"
)

// properties returns the names of the properties of a type on the wire, sorted.
func properties(t reflect.Type) (out []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			out = append(out, properties(f.Type)...)
		case name != "" && name != "-":
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func TestTheClientHasEveryPropertyOfConnections(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]any{
		{treasury.Connection{}, client.Connection{}},
		{treasury.AuthorizationAttempt{}, client.AuthorizationAttempt{}},
		{treasury.ConnectionRun{}, client.ConnectionRun{}},
		{treasury.Provider{}, client.Provider{}},
		{treasury.ProviderField{}, client.ProviderField{}},
		{treasury.SetUpProvider{}, client.SetUpProvider{}},
		{treasury.CreateConnection{}, client.CreateConnection{}},
		{treasury.UpdateConnection{}, client.UpdateConnection{}},
	} {
		api, own := properties(reflect.TypeOf(pair[0])), properties(reflect.TypeOf(pair[1]))
		if !slices.Equal(api, own) || len(api) == 0 {
			t.Errorf("%T:\nthe API has    %v\nthe client has %v", pair[1], api, own)
		}
	}
}
