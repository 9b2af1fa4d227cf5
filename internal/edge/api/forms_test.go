package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime/multipart"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

func isForm(r wire.Route) bool {
	return r.Operation.RequestBody != nil && r.Operation.RequestBody.Content["multipart/form-data"] != nil
}

// twice is a part that is sent again.
type twice struct{ value any }

// formOf encodes properties as the parts of a form: strings as they are and other values as JSON. The part named file is a file.
func formOf(body map[string]any) (text, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(body)) {
		value := body[name]
		if again, ok := value.(twice); ok {
			value = again.value
			writePart(w, name, value)
		}
		writePart(w, name, value)
	}
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

func writePart(w *multipart.Writer, name string, value any) {
	text, ok := value.(string)
	if !ok {
		encoded, _ := json.Marshal(value)
		text = string(encoded)
	}
	if name != "file" {
		_ = w.WriteField(name, text)
		return
	}
	part, _ := w.CreateFormFile(name, "sample.csv")
	_, _ = part.Write([]byte(text))
}

// part expects that faulty values of one part of a form are refused.
func (r refusal) part(p place) {
	r.Helper()
	with := func(what string, value any) {
		r.Helper()
		r.send(p.String()+" "+what, p.String(), r.own.with(p.steps, value).request(r.route, r.tenant.Key))
	}
	if p.required {
		with("missing", absent{})
	}
	if value, there := r.own.at(p.steps); there {
		with("twice", twice{value})
	}
	if p.schema.Format == "binary" {
		return
	}
	with("with a NUL", "a\x00b")
	with("not UTF-8", "a\xffb")
	switch p.schema.Type {
	case huma.TypeBoolean:
		for _, value := range []string{"", "1", "yes", "TRUE", "null"} {
			with(value, value)
		}
	case huma.TypeObject:
		for _, value := range []string{"", "x", "{", "[]", "null", "1", `{"a":1}{}`} {
			with(value, value)
		}
		r.send(p.String()+" with an unknown property", place{steps: p.within("surprise")}.String(), r.own.with(p.within("surprise"),
			1).request(r.route, r.tenant.Key))
	case huma.TypeString:
		switch {
		case len(p.schema.Enum) > 0:
			with("none of the values", "surprise")
			with("empty", "")
		case p.schema.MaxLength != nil:
			with("too long", strings.Repeat("é", *p.schema.MaxLength+1))
		default:
			r.Errorf("%s has no limit", p)
		}
		if p.schema.MinLength != nil && *p.schema.MinLength > 0 {
			with("empty", "")
		}
	default:
		r.Errorf("%s is a %s: teach the matrix what is faulty there", p, p.schema.Type)
	}
}
