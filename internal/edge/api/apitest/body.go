package apitest

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime/multipart"
	"slices"
)

// Twice is the value of a part that is sent two times.
type Twice struct{ Value any }

// Form encodes properties as the parts of a form: strings as they are and other values as JSON. The part named file is a file.
func Form(body map[string]any) (text, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(body)) {
		value := body[name]
		if again, ok := value.(Twice); ok {
			value = again.Value
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

// Absent is the value of a property that is left out.
type Absent struct{}

// Decoded returns a body as decoded JSON. It shares nothing with the body, which may use any Go types.
func Decoded(body map[string]any) map[string]any {
	if body == nil {
		return map[string]any{}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// With returns a copy of a body with a value at a place, which is a path of names and indexes. The value may be Absent.
func With(body map[string]any, place []any, value any) map[string]any {
	return put(Decoded(body), place, value).(map[string]any)
}

func put(v any, steps []any, value any) any {
	if len(steps) == 0 {
		return value
	}
	switch step := steps[0].(type) {
	case string:
		object, _ := v.(map[string]any)
		if object == nil { // the body does not have the object
			object = map[string]any{}
		}
		if object[step] = put(object[step], steps[1:], value); object[step] == (Absent{}) {
			delete(object, step)
		}
		return object
	case int:
		list := v.([]any)
		list[step] = put(list[step], steps[1:], value)
	}
	return v
}
