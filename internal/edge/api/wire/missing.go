package wire

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// namedBy lists the inputs that name a record where they are not called after it, as transaction_id is after a transaction.
var namedBy = map[string][]string{
	"asset policy":            {"asset_type"},
	"cash application":        {"application_id"},
	"cash application run":    {"undoes_run_id"},
	"document":                {"path"},
	"general ledger sync run": {"gl_sync_run_id"},
	"general ledger account":  {"gl_account_id"},
	"ledger account":          {"parent_account_id"},
	"legal entity":            {"parent_legal_entity_id"},
	"member":                  {"user_id"},
	"rule":                    {"path"},
	"transaction":             {"deposit_transaction_id"},
	"version":                 {"version"},
}

// rowNoun is what is not found if a report has no row for what was asked. Several inputs select a row together.
const rowNoun = "row of the report"

var rowInputs = []string{"row", "ledger_account_id", "journal_entry_id", "journal_line_id", "legal_entity_id", "source_id", "asset_type",
	"asset_id", "disposition_id", "revaluation_id"}

// namedMax is how many ids a message about a record that was not found repeats.
const namedMax = 5

// NameMissing adds to an error about records that do not exist the ids that the request asked for: "transaction not found: txn_…". They
// come from the request and not from the use case, so that a record of another organization is reported like one that does not exist. It
// returns other errors unchanged.
func (d *Decoder) NameMissing(err error, r *http.Request, got Received) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.NotFound && f.Kind != fault.Invalid {
		return err
	}
	body := d.tree(got)
	named := *f
	if len(f.Fields) == 0 && f.Kind == fault.NotFound {
		named.Message += d.askedFor(strings.TrimSuffix(f.Message, " not found"), r, body)
		return &named
	}
	named.Fields = make([]fault.Field, len(f.Fields))
	for i, field := range f.Fields {
		if id := listText(d.asked(field.Name, r, body)); id != "" && strings.HasSuffix(field.Message, "not found") {
			field.Message += ": " + id
			if i == 0 && f.Kind == fault.NotFound { // the message is about the first record
				named.Message += ": " + id + others(len(f.Fields)-1)
			}
		}
		named.Fields[i] = field
	}
	return &named
}

// others says how many more faults the fields of an error list.
func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more in fields", n)
}

// askedFor returns the ids of records of a kind in a request, to be added to a message.
func (d *Decoder) askedFor(noun string, r *http.Request, body any) string {
	if noun == rowNoun {
		var given []string
		for _, name := range rowInputs {
			if text := listText(d.asked(name, r, body)); text != "" {
				given = append(given, name+" "+text)
			}
		}
		return " for " + strings.Join(given, ", ")
	}
	var ids []string
	for _, name := range inputsFor(noun) {
		ids = append(ids, d.asked(name, r, body)...)
	}
	if text := listText(ids); text != "" {
		return ": " + text
	}
	return ""
}

// inputsFor returns the names of the inputs that may name a record of a kind.
func inputsFor(noun string) []string {
	key := strings.ReplaceAll(strings.ToLower(noun), " ", "_")
	return append([]string{key + "_id", key + "_ids"}, namedBy[noun]...)
}

// BlameMissing returns a NotFound error that names no field with the input of the request that named the record. It returns other errors
// unchanged, and also one for which no input, or more than one, comes into question. A record that the path names comes first, because use
// cases name the field of any other.
func (d *Decoder) BlameMissing(err error, r *http.Request, got Received) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.NotFound || len(f.Fields) > 0 {
		return err
	}
	noun, body := strings.TrimSuffix(f.Message, " not found"), d.tree(got)
	var names []string
	for _, name := range inputsFor(noun) {
		if slices.ContainsFunc(d.params, func(p param) bool { return p.in == "path" && p.name == name }) {
			return fault.MissingAt(noun, name)
		}
		if len(d.asked(name, r, body)) > 0 {
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		return err
	}
	return fault.MissingAt(noun, names[0])
}

// asked returns the texts that a request has at a path such as lines[2].tag_ids: those of its path, query or body.
func (d *Decoder) asked(at string, r *http.Request, body any) []string {
	for _, p := range d.params {
		switch {
		case p.name != at && !strings.HasPrefix(at, p.name+"["):
		case p.in == "path":
			return []string{r.PathValue(p.name)}
		case r.URL.Query().Has(p.name):
			list := []any{}
			for _, value := range strings.Split(strings.Join(r.URL.Query()[p.name], ","), ",") {
				list = append(list, value)
			}
			return textsOf(valueAt(map[string]any{p.name: list}, at))
		}
	}
	return textsOf(valueAt(body, at))
}

// textsOf returns a text, or the texts of a list.
func textsOf(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			out = append(out, textsOf(one)...)
		}
	}
	return out
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

// listText returns an id, or a short list of ids of which one was not found, or "" if there are none.
func listText(ids []string) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = QuoteUnlessID(id)
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	if more := len(texts) - namedMax; more > 0 {
		return fmt.Sprintf("one of %s and %d more", strings.Join(texts[:namedMax], ", "), more)
	}
	return "one of " + strings.Join(texts, ", ")
}

// QuoteUnlessID returns an id, a symbol, a path or a method as it is, and any other text in quotation marks.
func QuoteUnlessID(text string) string {
	if text == "" || plainID.MatchString(text) {
		return text
	}
	return describeValue(text)
}

// plainID matches ids, symbols and paths of files.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,100}$`)

// tree returns the body of a request as far as it holds texts, or nil if it cannot be parsed.
func (d *Decoder) tree(r Received) any {
	if r.form == nil {
		if d.body == nil {
			return nil
		}
		body, _ := d.rules.parse(r.Body, d.body.schema, nil)
		return body.value
	}
	parts := map[string]any{}
	for name, texts := range r.form.texts {
		parts[name] = texts[0]
	}
	return parts
}
