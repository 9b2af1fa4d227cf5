package wire

import "testing"

func TestHalfACharacterIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"\ud83d\ude00"`: "😀", `"a\n\u00e9"`: "a\né", `"\\ud800"`: `\ud800`, `"\ufffd"`: "\ufffd",
		`"\ud800"`: "", `"x\udc00"`: "", `"\ud800\u0041"`: "", `"\ud83d\ud83d\ude00"`: "", `"\ud800\\ude00"`: "",
	} {
		got, err := Parse([]byte(text))
		if want == "" && err == nil || want != "" && got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
