package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/bursarhq/bursar/internal/edge/api"
)

// published holds the compiled schemas of the published description. It is the same for all services of a test binary, except for the
// version, so that it is parsed once.
var published struct {
	sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by their place in the description
}

// descriptionURL is the address of the description for the compiler.
const descriptionURL = "mem:///openapi"

// publishedSchema returns a schema of the published description by its place. It validates as JSON Schema 2020-12 says, formats included.
func publishedSchema(a *api.API, at string) (*jsonschema.Schema, error) {
	published.Lock()
	defer published.Unlock()
	if published.compiler == nil {
		c, err := compileDescription(a)
		if err != nil {
			return nil, err
		}
		published.compiler, published.schemas = c, map[string]*jsonschema.Schema{}
	}
	schema := published.schemas[at]
	if schema == nil {
		var err error
		if schema, err = published.compiler.Compile(descriptionURL + "#" + at); err != nil {
			return nil, fmt.Errorf("the description has no valid schema at %s: %w", at, err)
		}
		published.schemas[at] = schema
	}
	return schema, nil
}

// compileDescription returns a compiler of the schemas in the description.
func compileDescription(a *api.API) (*jsonschema.Compiler, error) {
	text, err := a.OpenAPI()
	if err != nil {
		return nil, err
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "decimal", Validate: validateDecimal})
	return c, c.AddResource(descriptionURL, document)
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// validateDecimal returns an error for a string that is not a decimal.
func validateDecimal(v any) error {
	if text, ok := v.(string); ok && !decimal.MatchString(text) {
		return fmt.Errorf("not a decimal")
	}
	return nil
}

// escaped is made once, because every answer needs it.
var escaped = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")

// pointer returns the JSON pointer of a place.
func pointer(steps ...string) string {
	var out strings.Builder
	for _, step := range steps {
		out.WriteString("/" + escaped.Replace(step))
	}
	return out.String()
}
