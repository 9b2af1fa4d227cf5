package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

var jsonTexts = []string{
	`{"a":1}`, `[1, 2.5e3, -0, "x\u00e9\n\"", true, false, null, {}, []]`, `"\ud83d\ude00"`, `{"a":{"b":[{"c":"d"}]}}`,
	" 1\n", `{"":""}`, `"é"`, `[[],{}]`, `1E-2`, `-0.0`,
}

func TestWhatIsJSONIsReadAsEncodingJSONReadsIt(t *testing.T) {
	t.Parallel()
	for _, text := range jsonTexts {
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if v, err := Parse([]byte(text)); err != nil || !reflect.DeepEqual(v, want) {
			t.Errorf("%s is %#v, %v", text, v, err)
		}
	}
}

func TestWhatIsNoJSONOrMeansTwoThingsIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, ` `, `{"a":1,}`, `[1,]`, `{`, `[`, `"`, `"\`, `"\"`, `"\x"`, `01`, `1.`, `.5`, `+1`, `1e999`, `nul`, `truex`, `{"a":1}x`,
		`{"a" 1}`, `{a:1}`, `{"a":1 "b":2}`, `[1 2]`, `-`, "\"\x01\"", "\x00", "1\x00",
		`{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, `"\u0000"`, `"\ud83d"`, "\"\xff\"", strings.Repeat("[", depthMax+2) + strings.Repeat("]", depthMax+2),
	} {
		if v, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q was taken for %#v", text, v)
		}
	}
}

// FuzzParse holds the parser against encoding/json: what it takes, that takes too and understands alike.
func FuzzParse(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse(text)
		if err != nil {
			return
		}
		var want any
		if err := json.Unmarshal(text, &want); err != nil || !reflect.DeepEqual(v, want) {
			t.Fatalf("%q is %#v, encoding/json says %#v, %v", text, v, want, err)
		}
	})
}
