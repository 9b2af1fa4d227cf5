package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// validated has a property for each kind of limit in the descriptions of requests.
type validated struct {
	Code    string   `json:"code,omitempty" minLength:"2" maxLength:"3"`
	Name    string   `json:"name,omitempty" minLength:"1" maxLength:"1200"`
	Country string   `json:"country,omitempty" pattern:"^[A-Z]{2}$" patternDescription:"two capital letters"`
	Rate    string   `json:"rate,omitempty" pattern:"^[0-9]+$"`
	Kind    string   `json:"kind,omitempty" enum:"fair_value,fx"`
	Count   int64    `json:"count,omitempty" minimum:"1" maximum:"1000000"`
	Step    int64    `json:"step,omitempty" multipleOf:"5"`
	Share   float64  `json:"share,omitempty" exclusiveMinimum:"0" exclusiveMaximum:"0.5"`
	Draft   bool     `json:"draft,omitempty"`
	Day     string   `json:"day,omitempty" format:"date"`
	Time    string   `json:"time,omitempty" format:"date-time"`
	Tags    []string `json:"tags,omitempty" minItems:"1" maxItems:"2" uniqueItems:"true"`
	Lines   []struct {
		Amount string `json:"amount" format:"decimal"`
	} `json:"lines,omitempty" maxItems:"1000"`
	Nested *struct {
		Scopes []string `json:"scopes" uniqueItems:"true"`
	} `json:"nested,omitempty"`
}

func TestMessagesAboutInputsStateTheLimitAndTheValue(t *testing.T) {
	t.Parallel()
	UseStrictSchemas()
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[validated](), true, "")
	for body, want := range map[string]string{
		`{"code": "EUROS"}`:                     ".code must have at most 3 characters, but has 5",
		`{"code": "E"}`:                         ".code must have at least 2 characters, but has 1",
		`{"name": ""}`:                          ".name must not be empty",
		`{"name": 12}`:                          ".name must be a string, but is the number 12",
		`{"name": {}}`:                          ".name must be a string, but is an object",
		`{"name": null}`:                        ".name must not be null",
		`{"country": "at"}`:                     `.country must be two capital letters, but is "at"`,
		`{"rate": "x"}`:                         `.rate must match the pattern ^[0-9]+$, but is "x"`,
		`{"kind": "mine"}`:                      `.kind must be one of fair_value, fx, but is "mine"`,
		`{"count": 0}`:                          ".count must be at least 1, but is 0",
		`{"count": 2000000}`:                    ".count must be at most 1,000,000, but is 2,000,000",
		`{"count": 1.5}`:                        ".count must be an integer, but is the number 1.5",
		`{"count": "1"}`:                        `.count must be an integer, but is "1"`,
		`{"step": 7}`:                           ".step must be a multiple of 5, but is 7",
		`{"share": 0}`:                          ".share must be greater than 0, but is 0",
		`{"share": 0.5}`:                        ".share must be less than 0.5, but is 0.5",
		`{"draft": "yes"}`:                      `.draft must be true or false, but is "yes"`,
		`{"day": "31.01.2026"}`:                 `.day must be a date such as 2026-01-31, but is "31.01.2026"`,
		`{"time": "2026-01-31"}`:                `.time must be a date and time such as 2026-01-31T09:30:00Z, but is "2026-01-31"`,
		`{"time": "9999-12-31T23:59:59.9999Z"}`: `.time must be in the years 1 to 9999 in UTC, but is "9999-12-31T23:59:59.9999Z"`,
		`{"time": "9999-12-31T23:59:59-14:00"}`: `.time must be in the years 1 to 9999 in UTC, but is "9999-12-31T23:59:59-14:00"`,
		`{"time": ""}`:                          ".time must be a date and time such as 2026-01-31T09:30:00Z, but is empty",
		`{"tags": []}`:                          ".tags must not be empty",
		`{"tags": ["a","b","c"]}`:               ".tags must have at most 2 items, but has 3",
		`{"tags": ["a","a"]}`:                   ".tags must not contain the same item twice",
		`{"tags": "a"}`:                         `.tags must be a list, but is "a"`,
		`{"tags": [{}, {}]}`:                    ".tags[0] must be a string, but is an object; .tags[1] must be a string, but is an object",
		`{"tags": [["a"], 1]}`:                  ".tags[0] must be a string, but is a list; .tags[1] must be a string, but is the number 1",
		`{"nested": {"scopes": [[]]}}`:          ".nested.scopes[0] must be a string, but is a list",
		`{"nested": {}}`:                        ".nested.scopes is required",
		`{"lines": [[]]}`:                       ".lines[0] must be an object, but is a list",
		`{"lines": [{"amount": true}]}`:         ".lines[0].amount must be a decimal string, but is true",
		`{"surprise": 1}`:                       ".surprise is not a property of this request",
		`[]`:                                    " must be an object, but is a list",
		`{"kind": "` + strings.Repeat("é", 70) + `"}`: `.kind must be one of fair_value, fx, but is "` + strings.Repeat("é", 60) + `…"`,
	} {
		var v any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		if got := joinFields(Validate(registry, schema, v)); got != want {
			t.Errorf("%s\n  is %s\nwant %s", body, got, want)
		}
	}
}

func joinFields(fields []fault.Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.Name + " " + f.Message
	}
	return strings.Join(parts, "; ")
}

func TestIntegersAreReadExactly(t *testing.T) {
	t.Parallel()
	UseStrictSchemas()
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[struct {
		Any   int64 `json:"any,omitempty"`
		Most  int64 `json:"most,omitempty" maximum:"9007199254740991"`
		Fives int64 `json:"fives,omitempty" multipleOf:"5"`
	}](), true, "")
	rules := newRules(registry)
	for text, want := range map[string]string{
		`{"any":9007199254740993}`:     "",
		`{"any":-9223372036854775808}`: "",
		`{"any":9223372036854775808}`:  "any is out of range: the number 9223372036854775808",
		`{"most":9007199254740991}`:    "",
		`{"most":9007199254740993}`:    "most must be at most 9,007,199,254,740,991, but is 9,007,199,254,740,993",
		`{"fives":9007199254740995}`:   "",
		`{"fives":9007199254740993}`:   "fives must be a multiple of 5, but is 9,007,199,254,740,993",
	} {
		read, err := rules.parse([]byte(text), schema, nil)
		found, _ := rules.validate(schema, read.value)
		got := strings.TrimPrefix(joinFields(found), ".")
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "the request is not valid: ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if again, _ := json.Marshal(read.value); want == "" && string(again) != text {
			t.Errorf("%s was read as %s", text, again)
		}
	}
}
