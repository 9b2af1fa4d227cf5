package wire

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// namedBy lists the inputs that name a record where they are not called after it, as transaction_id is after a transaction.
var namedBy = map[string][]string{
	"asset policy":      {"asset_type"},
	"document":          {"path"},
	"rule":              {"rule_id", "path"},
	"row of the report": {"row"},
	"version":           {"version"},
}

// namedMax is how many ids a message about a record that was not found repeats.
const namedMax = 5

// NameMissing adds to a NotFound error the ids that the request asked for: "transaction not found: txn_…". They come from the request
// and not from the use case, so that a record of another organization is reported like one that does not exist. It returns other errors
// unchanged.
func (d *Decoder) NameMissing(err error, r *http.Request, got Received) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.NotFound {
		return err
	}
	body := got.tree()
	named := *f
	if len(f.Fields) == 0 {
		noun := strings.TrimSuffix(f.Message, " not found")
		key := strings.ReplaceAll(strings.ToLower(noun), " ", "_")
		for _, name := range append([]string{key + "_id", key + "_ids"}, namedBy[noun]...) {
			if id := d.asked(name, r, body); id != "" {
				named.Message += ": " + id
				break
			}
		}
		return &named
	}
	named.Fields = make([]fault.Field, len(f.Fields))
	for i, field := range f.Fields {
		if id := d.asked(field.Name, r, body); id != "" && strings.HasSuffix(field.Message, "not found") {
			field.Message += ": " + id
			if len(f.Fields) == 1 {
				named.Message += ": " + id
			}
		}
		named.Fields[i] = field
	}
	return &named
}

// asked returns what a request has at a path such as lines[2].tag_ids, from its path, query or body, or "" if it has nothing there.
func (d *Decoder) asked(at string, r *http.Request, body any) string {
	for _, p := range d.params {
		switch {
		case p.name != at && !strings.HasPrefix(at, p.name+"["):
		case p.in == "path":
			return idText(r.PathValue(p.name))
		default:
			list := []any{}
			for _, value := range strings.Split(strings.Join(r.URL.Query()[p.name], ","), ",") {
				list = append(list, value)
			}
			return listText(valueAt(map[string]any{p.name: list}, at))
		}
	}
	return listText(valueAt(body, at))
}

// stepRe matches a step of a path: a name or an index in brackets.
var stepRe = regexp.MustCompile(`[^.\[\]]+`)

// valueAt returns the value at a path of a body, or nil if there is none.
func valueAt(v any, path string) any {
	for _, step := range stepRe.FindAllString(path, -1) {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(inner) {
				return nil
			}
			v = inner[i]
		default:
			return nil
		}
	}
	return v
}

// listText returns an id, or a short list of them, of which one was not found.
func listText(v any) string {
	list, ok := v.([]any)
	if !ok {
		text, _ := v.(string)
		return idText(text)
	}
	if len(list) > namedMax {
		return ""
	}
	texts := make([]string, len(list))
	for i, one := range list {
		text, _ := one.(string)
		if texts[i] = idText(text); texts[i] == "" {
			return ""
		}
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return "one of " + strings.Join(texts, ", ")
}

// idText returns an id as it is, and any other text in quotation marks.
func idText(text string) string {
	if text == "" || plainID.MatchString(text) {
		return text
	}
	return describeValue(text)
}

// plainID matches ids, symbols and paths of files.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,100}$`)

// tree returns the body of a request as far as it holds texts, or nil if it cannot be parsed.
func (r Received) tree() any {
	if r.form == nil {
		body, _ := Parse(r.Body)
		return body
	}
	parts := map[string]any{}
	for name, texts := range r.form.texts {
		parts[name] = texts[0]
	}
	return parts
}
