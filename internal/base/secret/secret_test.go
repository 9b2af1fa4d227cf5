package secret

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hidden is also looked for in hexadecimal, as %x would write it.
const hidden = "hunter2-correct-horse"

type public struct{ Key Text }

type private struct{ key Text }

type nested struct {
	inner  private
	keys   []Text
	byName map[string]Text
	any    any
	at     *Text
}

func sample() (Text, nested) {
	text := New(hidden)
	return text, nested{inner: private{text}, keys: []Text{text}, byName: map[string]Text{"k": text}, any: text, at: &text}
}

func mustHide(t *testing.T, how, out string) {
	t.Helper()
	for _, form := range []string{hidden, fmt.Sprintf("%x", hidden), fmt.Sprintf("%X", hidden), fmt.Sprintf("%d", []byte(hidden)),
		fmt.Sprintf("%#v", []byte(hidden)), "hunter2"} {
		if strings.Contains(out, strings.Trim(form, "[]")) {
			t.Errorf("%s shows the secret: %s", how, out)
		}
	}
}

func TestEveryVerbPrintsTheMask(t *testing.T) {
	t.Parallel()
	text, _ := sample()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%c", "%U", "%t", "%e", "%10s", "%-20v",
		"%.3s", "%z"} {
		for _, arg := range []any{text, &text} {
			if got := fmt.Sprintf(verb, arg); got != mask {
				t.Errorf("%s of %T prints %q", verb, arg, got)
			}
		}
	}
	if text.String() != mask || text.GoString() != mask || fmt.Sprint(Text{}) != mask {
		t.Errorf("printed %s", text.String())
	}
}

func TestVerbsThatSkipMethodsShowNothing(t *testing.T) {
	t.Parallel()
	text, _ := sample()
	for _, verb := range []string{"%p", "%w", "%T", "%!", "no verb at all"} {
		mustHide(t, verb, fmt.Sprintf(verb, text))
	}
}

func TestASecretInAnUnexportedFieldStaysHidden(t *testing.T) {
	t.Parallel()
	text, deep := sample()
	anonymous := struct{ k Text }{text}
	for _, value := range []any{anonymous, &anonymous, private{text}, deep, &deep, []private{{text}}, map[string]private{"a": {text}}} {
		mustHide(t, "fmt", fmt.Sprintf("%+v %#v", value, value))
		for _, verb := range []string{"%v", "%s", "%q", "%x", "%d"} {
			mustHide(t, verb, fmt.Sprintf(verb, value))
		}
	}
	if got := fmt.Sprintf("%+v", public{text}); got != "{Key:[secret]}" {
		t.Errorf("an exported field prints %s", got)
	}
}

func TestReflectionFindsNoCharacters(t *testing.T) {
	t.Parallel()
	text, deep := sample()
	var dump strings.Builder
	walk(&dump, reflect.ValueOf(text))
	walk(&dump, reflect.ValueOf(&deep))
	mustHide(t, "reflection", dump.String())
	if !strings.Contains(dump.String(), "func") {
		t.Errorf("the walk did not reach the storage: %s", dump.String())
	}
}

// walk dumps a value as debug printers do: through pointers, interfaces and
// unexported fields, without calling a method.
func walk(out *strings.Builder, value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		walk(out, value.Elem())
	case reflect.Struct:
		for _, field := range value.Fields() {
			walk(out, field)
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			walk(out, value.Index(i))
		}
	case reflect.Map:
		for entry := value.MapRange(); entry.Next(); {
			walk(out, entry.Value())
		}
	default:
		fmt.Fprintf(out, "%s %s\n", value.Kind(), value.String())
	}
}

func TestEncodingIsAnErrorThatDoesNotShowTheSecret(t *testing.T) {
	t.Parallel()
	text, deep := sample()
	for name, encode := range map[string]func() ([]byte, error){
		"json":         func() ([]byte, error) { return json.Marshal(text) },
		"json pointer": func() ([]byte, error) { return json.Marshal(&text) },
		"json field":   func() ([]byte, error) { return json.Marshal(public{text}) },
		"json map":     func() ([]byte, error) { return json.Marshal(map[string]any{"k": text}) },
		"json empty":   func() ([]byte, error) { return json.Marshal(Text{}) },
		"xml":          func() ([]byte, error) { return xml.Marshal(public{text}) },
		"text":         text.MarshalText,
		"binary":       text.MarshalBinary,
		"gob": func() ([]byte, error) {
			var out bytes.Buffer
			err := gob.NewEncoder(&out).Encode(public{text})
			return out.Bytes(), err
		},
	} {
		out, err := encode()
		if err == nil || !strings.Contains(err.Error(), errEncode.Error()) {
			t.Errorf("%s gives %s, %v", name, out, err)
			continue
		}
		mustHide(t, name, string(out)+err.Error())
	}
	if value, err := text.Value(); value != nil || !errors.Is(err, errEncode) {
		t.Errorf("the database gets %v, %v", value, err)
	}
	// Unexported fields are skipped by encoding/json, so nothing fails here.
	out, err := json.Marshal(struct {
		Name string
		deep nested
	}{"n", deep})
	if err != nil || string(out) != `{"Name":"n"}` {
		t.Errorf("unexported fields marshal to %s, %v", out, err)
	}
}

func TestLogsShowTheMask(t *testing.T) {
	t.Parallel()
	text, deep := sample()
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"json": func(out *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(out, nil) },
		"text": func(out *bytes.Buffer) slog.Handler { return slog.NewTextHandler(out, nil) },
	} {
		var out bytes.Buffer
		log := slog.New(handler(&out))
		log.Info("plain", "key", text, "pointer", &text)
		if strings.Count(out.String(), mask) != 2 {
			t.Errorf("%s log: %s", name, out.String())
		}
		log.With("key", text).WithGroup("g").Info("nested", "public", public{text}, "private", private{text}, "deep", deep, "list",
			[]Text{text}, "map", map[string]Text{"k": text})
		mustHide(t, name+" log", out.String())
	}
}

func TestTemplatesDoNotShowTheSecret(t *testing.T) {
	t.Parallel()
	text, deep := sample()
	page := template.Must(template.New("").Parse(`<p title="{{.T}}">{{.T}}</p>{{printf "%s %v" .T .D}}{{.D}}`))
	var out strings.Builder
	err := page.Execute(&out, map[string]any{"T": text, "D": deep})
	if err != nil {
		t.Fatal(err)
	}
	mustHide(t, "template", out.String())
}

func TestRevealGivesTheSecretBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if New(a).Reveal() != a || New(a).IsZero() != (a == "") {
			t.Fatalf("%q reveals %q", a, New(a).Reveal())
		}
		if !New(a).Equal(New(a)) || New(a).Equal(New(b)) != (a == b) {
			t.Fatalf("%q and %q compare wrongly", a, b)
		}
	})
	var zero Text
	if zero.Reveal() != "" || !zero.IsZero() || !zero.Equal(New("")) || zero.Equal(New("x")) {
		t.Error("the zero value is not the empty secret")
	}
}
