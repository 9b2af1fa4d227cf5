package api

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
)

// samples are what readers recognize, by property, type and property, or format; others are made up from the schema. A property's own
// example tag comes before all of these, so that whoever adds one need not come here.
var samples = map[string]any{
	"ClassificationRun.filter": map[string]any{"start_date": "2026-10-01", "end_date": "2026-10-31"}, "rules_revision": "17",
	"Organization.name": "Acme Labs", "APIKey.name": "Month-end export", "Member.name": "Ada Okafor", "name": "Example", "scope": "apis.read",
	"timezone": "Europe/Zurich", "email": "ada@acme.example", "updated_at": sampleTime, "limit": 10,
	"next_cursor": "ARBrN2ZQcTl4VnRtMkRhWWVXBDQyMDA",
	"APIKey.key":  "bur_ZkT9vRw2mXqLs8HdNc6JyPf3BgUaE7tKoWi5CrV4xQa", "last_four": "4xQa",
	"action": "organization.updated", "resource_type": "organization", "AuditEntry.before": map[string]string{"name": "Acme"},
	"AuditEntry.after": map[string]string{"name": "Acme Labs"},
	"date-time":        sampleTime, "date": "2026-01-31", "decimal": "1200.50", "uri": "https://acme.example/",
	"hash": sampleHash("entry 42"), "previous_hash": sampleHash("entry 41"), "head_hash": sampleHash("entry 42"),
}

const sampleTime = "2026-01-31T09:30:00.000Z"

func sampleHash(of string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(of))) }

var idText = regexp.MustCompile(`\b([a-z]+)_ and 26 characters`)

// prefixesOf learns the prefixes of ids from what the views say of theirs; the rest are of things that have no view.
func prefixesOf(registry huma.Registry) map[string]string {
	found := map[string]string{"user": string(id.User), "request": string(id.Request), "legal_entity": string(id.LegalEntity),
		"resource": string(id.Organization)}
	for name, schema := range registry.Map() {
		if own := schema.Properties["id"]; own != nil && idText.MatchString(own.Description) {
			found[strings.ToLower(strings.Join(wordsOf(name), "_"))] = idText.FindStringSubmatch(own.Description)[1]
		}
	}
	return found
}

// sampler makes up examples for one operation, as JSON text because its objects keep their order.
type sampler struct {
	docs
	subject string   // an id like the one the path ends with
	above   []string // the objects around
	nth     int      // the place in a list, so that its items differ
}

func (d docs) sampler(op *huma.Operation) sampler {
	s := sampler{docs: d}
	for _, p := range op.Parameters {
		if p.In == "path" {
			s.subject = s.id(p.Name, p.Description)
		}
	}
	return s
}

func (s sampler) id(name, description string) string {
	if m := idText.FindStringSubmatch(description); m != nil {
		return wire.ExampleID(m[1])
	}
	kind, ok := strings.CutSuffix(name, "_id")
	for more := ok; more; _, kind, more = strings.Cut(kind, "_") { // deposit_transaction_id is a transaction's
		if prefix := s.prefixes[kind]; prefix != "" {
			return wire.ExampleID(prefix)
		}
	}
	if name == "id" {
		return s.subject
	}
	return ""
}

func (s sampler) value(owner, name string, schema *huma.Schema) string {
	target, _ := s.resolve(schema)
	if text := s.fitting(schema, s.known(owner, name, schema)); text != "" {
		return text
	}
	_, inner := s.resolve(s.element(schema))
	endless := inner != "" && slices.Contains(s.above, inner)
	switch {
	case target.Type == huma.TypeArray && endless:
		return "[]"
	case target.Type == huma.TypeArray:
		items := make([]string, max(1, *cmp.Or(target.MinItems, new(int))))
		for s.nth = range items {
			items[s.nth] = s.value(owner, strings.TrimSuffix(name, "s"), target.Items)
		}
		return "[" + strings.Join(items, ",") + "]"
	case target.Type == huma.TypeObject && !endless:
		return s.object(schema)
	case target.Type == "" || schema.Nullable || target.Nullable:
		return "null"
	}
	return s.fitting(schema, s.made(name, target))
}

// known are values somebody chose.
func (s sampler) known(owner, name string, schema *huma.Schema) []any {
	for _, verb := range []string{"Create", "Update", "New"} {
		owner = strings.TrimPrefix(owner, verb)
	}
	target, _ := s.resolve(schema)
	return append(slices.Concat(schema.Examples, target.Examples), samples[owner+"."+name], samples[name], s.id(name, schema.Description))
}

// made are values that follow from the schema alone.
func (s sampler) made(name string, target *huma.Schema) []any {
	list := []any{target.Default}
	if n := len(target.Enum); n > 0 {
		list = append(list, target.Enum[s.nth%n])
	}
	words := strings.ReplaceAll(name, "_", " ")
	return append(list, samples[target.Format], words, 42, true, target.Minimum, target.Maximum)
}

// fitting is the first value that the schema accepts.
func (s sampler) fitting(schema *huma.Schema, values []any) string {
	for _, v := range values {
		text := wire.Encode(v)
		if tree, err := wire.Parse(text); err == nil && tree != nil && tree != "" && len(wire.Validate(s.registry, schema, tree)) == 0 {
			return string(text)
		}
	}
	return ""
}

func (s sampler) object(schema *huma.Schema) string {
	target, name := s.resolve(schema)
	s.above, s.nth = append(slices.Clip(s.above), name), 0
	chosen := slices.DeleteFunc(s.names(schema), func(n string) bool {
		return len(target.Required) > 0 && !slices.Contains(target.Required, n)
	})
	if !s.answer && len(target.Required) == 0 {
		chosen = chosen[:min(1, len(chosen))] // who tries a change as it stands should not change everything
	}
	for i, n := range chosen {
		chosen[i] = strconv.Quote(n) + ":" + s.value(name, n, target.Properties[n])
	}
	return "{" + strings.Join(chosen, ",") + "}"
}

// parts are those of a form that must be there, as options of curl.
func (s sampler) parts(schema *huma.Schema) (words []string) {
	target, name := s.resolve(schema)
	for _, n := range s.names(schema) {
		property, _ := s.resolve(target.Properties[n])
		if !slices.Contains(target.Required, n) {
			continue
		}
		var v any
		_ = json.Unmarshal([]byte(s.value(name, n, target.Properties[n])), &v)
		text := plainText(v)
		if property.Format == "binary" {
			text = "@" + text
		}
		words = append(words, "-F "+n+"="+text)
	}
	return words
}

// needed are the parameters that none of an operation's requests does without, though each of them does without some.
var needed = map[string][]string{"explainFigure": {"ledger_account_id", "accounting_period_id"}}

// curl is the operation as a command that runs as it stands.
func (s sampler) curl(op *huma.Operation) string {
	command, address, query := "curl -X "+op.Method, op.Path, url.Values{}
	words := []string{"", `-H "` + keyHeader + `: $BURSAR_API_KEY"`}
	for _, p := range op.Parameters {
		var v any
		_ = json.Unmarshal([]byte(s.value("", p.Name, p.Schema)), &v)
		switch {
		case p.In == "path":
			address = strings.ReplaceAll(address, "{"+p.Name+"}", url.PathEscape(plainText(v)))
		case p.In == "query" && (p.Required || p.Name == "limit" || slices.Contains(needed[op.OperationID], p.Name)):
			query.Set(p.Name, plainText(v))
		case p.Name == idempotency.Header:
			words = append(words, `-H "`+p.Name+`: $(uuidgen)"`)
		}
	}
	switch {
	case op.Method != http.MethodGet && len(query) > 0:
		address += "?" + query.Encode()
	case op.Method == http.MethodGet && len(query) > 0:
		command, words = "curl -G", append(words, "-d '"+query.Encode()+"'")
	case op.Method == http.MethodGet:
		command = "curl"
	}
	switch {
	case op.RequestBody == nil:
	case op.RequestBody.Content[wire.FormType] != nil:
		words = append(words, s.parts(op.RequestBody.Content[wire.FormType].Schema)...)
	default:
		body := pretty([]byte(s.value("", "", schemaOf(op.RequestBody.Content))))
		words = append(words, "-H 'Content-Type: application/json'", "-d '"+strings.NewReplacer("'", `'\''`, "\n", "\n  ").Replace(body)+"'")
	}
	words[0] = command + " '" + docsBase + address + "'"
	return strings.Join(words, " \\\n  ")
}
