package wire

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestAPropertyIsLeftOutOfAnObject(t *testing.T) {
	t.Parallel()
	for _, object := range []string{
		`{}`,
		`{"guidance":1}`,
		`{"guidance":{"a":[1,2,{"guidance":"}"}],"b":"\\\""},"id":"x"}`,
		`{"id":"x","guidance":{"warnings":["a \"quoted\", text"]}}`,
		`{"id":"x","guidance":null,"more":{"guidance":"stays"}}`,
		`{"id":"guidance","list":["guidance",{"guidance":1}]}`,
		`{"id":"\"guidance\":","text":"{,\"guidance\":[","guidance":"\\"}`,
		`{"a":1,"guidance":[],"b":[[]],"c":"é"}`,
	} {
		var want map[string]any
		if err := json.Unmarshal([]byte(object), &want); err != nil {
			t.Fatal(err)
		}
		delete(want, "guidance")
		cut := cutProperties([]byte(object), []string{"guidance"})
		if cut[len(cut)-1] == '}' && len(cut) > 1 && cut[len(cut)-2] == ',' {
			t.Errorf("%s: a comma is left at the end: %s", object, cut)
		}
		var got map[string]any
		if err := json.Unmarshal(cut, &got); err != nil {
			t.Errorf("%s: %v: %s", object, err, cut)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s", object, cut)
		}
	}
}
