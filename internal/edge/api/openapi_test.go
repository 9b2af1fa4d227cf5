package api_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"go.yaml.in/yaml/v3"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

var update = flag.Bool("update", false, "write the golden files anew")

// described returns an API for reading its description only: its database does not exist.
func described(t *testing.T) *api.API {
	t.Helper()
	d, err := db.Open(db.Config{URL: "postgres://nobody@127.0.0.1:1/none"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return api.New(app.New(d, nil), api.Config{Version: "golden"})
}

func TestOpenAPIFileIsWhatTheRoutesSay(t *testing.T) {
	t.Parallel()
	const golden = "../../../api/openapi.yaml"
	got, err := described(t).OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("api/openapi.yaml is stale: run `make openapi` and commit it (%v)", err)
	}
}

func TestOpenAPIDocumentsEveryFieldParameterAndAnswer(t *testing.T) {
	t.Parallel()
	a := described(t)
	ids := map[string]bool{}
	for _, r := range a.Routes() {
		where := r.Method + " " + r.Path
		if r.Operation.Summary == "" || r.Operation.Description == "" || ids[r.Operation.OperationID] {
			t.Errorf("%s: no summary, no description, or its id %s is taken", where, r.Operation.OperationID)
		}
		ids[r.Operation.OperationID] = true
		for _, p := range r.Operation.Parameters {
			if p.Description == "" {
				t.Errorf("%s: parameter %s says nothing", where, p.Name)
			}
		}
		for _, status := range []string{"400", "401", "403", "404", "429", "500", "503"} {
			if r.Operation.Responses[status] == nil {
				t.Errorf("%s: no answer %s", where, status)
			}
		}
	}
	for name, schema := range a.Registry().Map() {
		for property, p := range schema.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s says nothing", name, property)
			}
		}
	}
}

// In JSON Schema, null must be among the values of an enum to be allowed, whatever the type says.
func TestOpenAPIEnumsOfNullableValuesContainNull(t *testing.T) {
	t.Parallel()
	text, err := described(t).OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var spec any
	if err := yaml.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	found := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			kinds, _ := v["type"].([]any)
			if values, ok := v["enum"].([]any); ok && slices.Contains(kinds, any("null")) {
				if found++; !slices.Contains(values, nil) {
					t.Errorf("%s may be null, but its enum has only %v", at, values)
				}
			}
			for name, inner := range v {
				walk(at+"."+name, inner)
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s[%d]", at, i), inner)
			}
		}
	}
	walk("", spec)
	if found < 13 {
		t.Errorf("only %d nullable enums were found", found)
	}
}

func TestOpenAPIListsTheTransactionTypesWhereverThereIsOne(t *testing.T) {
	t.Parallel()
	a := described(t)
	found := 0
	check := func(where string, s *huma.Schema) {
		if s.Items != nil {
			s = s.Items
		}
		found++
		for _, kind := range posting.Types {
			if !slices.Contains(s.Enum, any(string(kind))) {
				t.Errorf("%s does not list %s", where, kind)
			}
		}
	}
	for name, schema := range a.Registry().Map() {
		for property, p := range schema.Properties {
			if property == "transaction_type" || property == "transaction_types" || property == "classification" {
				if !strings.HasPrefix(name, "ImportMapping") { // the name of a column
					check(name+"."+property, p)
				}
			}
		}
	}
	for _, r := range a.Routes() {
		for _, p := range r.Operation.Parameters {
			switch p.Name {
			case "transaction_types":
				check(r.String(), p.Schema)
			case "sequence_numbers":
				if p.Schema.Items.Pattern != `^OT-\d+$` {
					t.Errorf("%s: sequence_numbers have the pattern %q", r, p.Schema.Items.Pattern)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d were found", found)
	}
}

// A pattern in a message means nothing to most people.
func TestOpenAPIPatternsAreDescribedInWords(t *testing.T) {
	t.Parallel()
	a := described(t)
	check := func(where string, s *huma.Schema) {
		if s.Items != nil {
			s = s.Items
		}
		if s.Pattern != "" && s.PatternDescription == "" {
			t.Errorf("%s has the pattern %s without a description", where, s.Pattern)
		}
	}
	for name, schema := range a.Registry().Map() {
		for property, p := range schema.Properties {
			check(name+"."+property, p)
		}
	}
	for _, r := range a.Routes() {
		for _, p := range r.Operation.Parameters {
			check(r.String()+" "+p.Name, p.Schema)
		}
	}
}

func TestOpenAPIReferencesAllResolve(t *testing.T) {
	t.Parallel()
	a := described(t)
	spec, err := a.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	references := regexp.MustCompile(`#/components/schemas/(\w+)`).FindAllStringSubmatch(string(spec), -1)
	for _, m := range references {
		if a.Registry().Map()[m[1]] == nil {
			t.Errorf("%s points nowhere", m[0])
		}
	}
	if len(references) == 0 {
		t.Error("there are no references, so nothing was tested")
	}
}

func TestOpenAPIDeclaresServersAndTagsAndHasNoUnusedSchema(t *testing.T) {
	t.Parallel()
	a := described(t)
	text, err := a.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Servers []struct{ URL, Description string }
		Tags    []struct{ Name, Description string }
	}
	if err := yaml.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	if len(spec.Servers) == 0 || spec.Servers[0].URL == "" {
		t.Error("no server is declared")
	}
	declared := map[string]bool{}
	for _, tag := range spec.Tags {
		if tag.Description == "" || declared[tag.Name] {
			t.Errorf("tag %q has no description, or is declared twice", tag.Name)
		}
		declared[tag.Name] = true
	}
	for _, r := range a.Routes() {
		if !declared[r.Tag] {
			t.Errorf("%s: tag %q is not declared", r, r.Tag)
		}
	}
	for name := range a.Registry().Map() {
		if !bytes.Contains(text, []byte("#/components/schemas/"+name+`"`)) {
			t.Errorf("schema %s is not used", name)
		}
	}
}

// unidiomatic lists wordings that the description must not use, with what to write instead.
var unidiomatic = map[string]string{
	`\btakes? (no )?(new )?lines\b`:    "can be posted to",
	`\btaken from\b`:                   "consumed from",
	`(?i)\bcanceled\b`:                 "cancelled",
	`(?i)\bpropos(e|ed|es|als?)\b`:     "suggest, suggestion",
	`\d[eE]\+\d`:                       "a number without an exponent",
	`(?i)\bexpected (string|length)\b`: "a sentence",
}

func TestOpenAPITextsFollowOneStyle(t *testing.T) {
	t.Parallel()
	a := described(t)
	sentence := func(where, text string) {
		if text != "" && !strings.HasSuffix(text, ".") {
			t.Errorf("%s: %q should end with a full stop", where, text)
		}
		for pattern, better := range unidiomatic {
			if regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("%s: %q should say %s", where, text, better)
			}
		}
	}
	for _, r := range a.Routes() {
		if strings.Contains(r.Operation.Summary, ".") {
			t.Errorf("%s: the summary %q should be a phrase without a full stop", r, r.Operation.Summary)
		}
		sentence(r.String(), r.Operation.Description)
		for _, p := range r.Operation.Parameters {
			sentence(r.String()+" "+p.Name, p.Description)
		}
	}
	for name, schema := range a.Registry().Map() {
		for property, p := range schema.Properties {
			sentence(name+"."+property, p.Description)
		}
	}
}
